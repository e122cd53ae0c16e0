"""Figures from records, as SVG and PNG: what grows how, what is worth its time.

| kind             | shows                                                                     |
|------------------|---------------------------------------------------------------------------|
| `shd-nodes`      | SHD against the number of nodes, with the paper's figures                 |
| `seconds-nodes`  | time against the number of nodes, with the fitted exponent                |
| `memory-nodes`   | peak memory against the number of nodes, with the fitted exponent         |
| `seconds-samples`| time against the number of rows                                           |
| `pareto`         | SHD against time; the line joins what nothing beats in both               |
| `gradient-norms` | norm of the constraint's gradient along the path, stage by stage          |
| `stage-ends`     | the same norm at the end of each stage, a panel for each size              |

Matplotlib is imported when a figure is drawn, and comes with the extra `bench`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from analyticdag.errors import ParameterError
from benchmarks.growth import along, curve, exponent
from benchmarks.optional import optional
from benchmarks.paper.figures import paper_figures
from benchmarks.plan import shipped_plans
from benchmarks.records import Record
from benchmarks.render import methods_of, settings_of
from benchmarks.select import planned_records
from benchmarks.summary import setting_of, summarise

__all__ = ["can_draw", "draw", "draw_all", "figure_name"]

_COLOURS = ["#1b6ca8", "#c8553d", "#2a9d8f", "#e9a13b", "#6a4c93", "#4f5d75", "#b5179e", "#7f9c3b"]
_MARKS = "os^vDPX*<>hp"
_PRINTED = {"dagma": ":", "order-4": "--"}  # of the paper's figures, and how they are drawn
_COSTS = {
    "seconds-nodes": ("seconds", "nodes", "seconds"),
    "memory-nodes": ("peak_rss_mib", "nodes", "peak memory, MiB"),
    "seconds-samples": ("seconds", "samples", "seconds"),
}
_WANTED: Mapping[str, Sequence[str]] = {
    "paper-table-1": ("shd-nodes", "seconds-nodes", "pareto"),
    "paper-table-2": ("shd-nodes", "seconds-nodes", "pareto"),
    "paper-table-3": ("pareto",),
    "paper-small": ("pareto",),
    "engine-path": ("pareto",),
    "engine-unequal": ("pareto",),
    "engine-hard": ("pareto",),
    "scaling": ("seconds-nodes", "memory-nodes", "seconds-samples"),
    "gradient-norms": ("gradient-norms",),
    "gradient-norms-1000": ("stage-ends",),
}


def figure_name(plan: str, kind: str) -> str:
    """The name of a figure's files, without their ending."""
    return plan if plan == kind else f"{plan}-{kind}"


def can_draw(kind: str, plan: str, records: Sequence[Record]) -> bool:
    """Whether there are records enough for a figure that shows something."""
    if kind not in _DRAWINGS:
        raise ParameterError(f"no figure is called {kind!r}; known: {', '.join(_DRAWINGS)}")
    finished = [record for record in records if record["exit"] == "ok"]
    if kind in _COSTS or kind == "shd-nodes":
        metric, key = _COSTS[kind][:2] if kind in _COSTS else ("shd", "nodes")
        series = along(finished, key)
        measured = [curve(series, method, metric, key)[0] for method in methods_of(series)]
        return len({place for places in measured for place in places}) > 1
    return len(methods_of(finished)) > 1


def draw_all(pages: Path) -> list[Path]:
    """Draw every figure that the records in ``pages/records`` allow into ``pages/figures``."""
    written = []
    for plan in shipped_plans():
        records = planned_records(pages / "records", plan)
        for kind in _WANTED.get(plan, ()):
            if can_draw(kind, plan, records):
                written += draw(kind, plan, records, pages / "figures")
    return written


def draw(kind: str, plan: str, records: Sequence[Record], folder: Path) -> list[Path]:
    """Draw one figure; the same records give the same bytes."""
    mpl = optional("matplotlib", "matplotlib", "plots")
    plt = optional("matplotlib.pyplot", "matplotlib", "plots")
    finished = [record for record in records if record["exit"] == "ok"]
    folder.mkdir(parents=True, exist_ok=True)
    look = {"svg.hashsalt": "analyticdag", "svg.fonttype": "none", "font.size": 9}
    with mpl.rc_context({**look, "axes.spines.top": False, "axes.spines.right": False}):
        figure = _DRAWINGS[kind](plt, kind, plan, finished)
        name = figure_name(plan, kind)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", metadata={"Software": None}, dpi=110)
        plt.close(figure)
    return [folder / f"{name}.svg", folder / f"{name}.png"]


def _style(methods: Sequence[str], method: str) -> dict[str, Any]:
    place = methods.index(method)
    return {
        "color": _COLOURS[place % len(_COLOURS)],
        "marker": _MARKS[place % len(_MARKS)],
        "markersize": 4,
    }


def _panels(
    plt: Any, count: int, labels: Sequence[str], width: float = 2.9
) -> tuple[Any, list[Any]]:
    """One row of panels, and room on the right for one legend with these labels."""
    legend = 0.6 + 0.07 * max(map(len, labels))
    size = (width * count + legend, max(3.2, 0.4 + 0.175 * len(labels)))
    figure, axes = plt.subplots(1, count, figsize=size, layout="constrained", squeeze=False)
    return figure, list(axes[0])


def _legend(figure: Any, axes: Sequence[Any]) -> None:
    """One legend for all panels, each label once."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries, loc="outside right center", frameon=False, fontsize=8)


def _shd_nodes(plt: Any, kind: str, plan: str, records: Sequence[Record]) -> Any:
    here = [record for record in records if record["setting"].get("noise") == "gaussian"]
    graphs = list(dict.fromkeys(record["setting"]["graph"] for record in here))
    # A method with one size has no curve.
    methods = [m for m in methods_of(here) if m != "empty" and len(curve(here, m, "shd")[0]) > 1]
    printed = [f for f in paper_figures(plan) if f.noise == "gaussian" and f.method in _PRINTED]
    figure, axes = _panels(plt, len(graphs), [*methods, "paper: order-4"])
    for axis, graph in zip(axes, graphs, strict=True):
        own = [record for record in here if record["setting"]["graph"] == graph]
        for method in methods:
            axis.plot(*curve(own, method, "shd"), label=method, **_style(methods, method))
        for name, dashes in _PRINTED.items():
            line = [(f.nodes, f.mean) for f in printed if (f.graph, f.method) == (graph, name)]
            axis.plot(*zip(*line, strict=True), dashes, color="black", label=f"paper: {name}")
        axis.set_title(f"{graph}, gaussian", fontsize=9)
        axis.set(xlabel="nodes", xscale="log")
        axis.set_yscale("symlog", linthresh=1.0)
        axis.set_ylim(bottom=0)
        _mark_sizes(axis, {record["setting"]["nodes"] for record in own})
    axes[0].set_ylabel("SHD")
    _legend(figure, axes)
    return figure


def _cost(plt: Any, kind: str, plan: str, records: Sequence[Record]) -> Any:
    metric, key, words = _COSTS[kind]
    series = along(records, key)
    methods = [name for name in methods_of(series) if name != "empty"]
    figure, axes = _panels(plt, 1, [f"{name}  ~ d^2.0" for name in methods], width=4.2)
    for method in methods:
        places, means = curve(series, method, metric, key)
        slope = exponent(places, means) if key == "nodes" else None
        label = method if slope is None else f"{method}  ~ d^{slope:.1f}"
        axes[0].plot(places, means, label=label, **_style(methods, method))
    axes[0].set_title(_short_words(setting_of(series[0]), key), fontsize=9)
    axes[0].set(xlabel=key, ylabel=words, xscale="log", yscale="log")
    _mark_sizes(axes[0], {record["setting"][key] for record in series})
    _legend(figure, axes)
    return figure


def _mark_sizes(axis: Any, sizes: set[int]) -> None:
    """Mark the sizes that were run, not powers of ten."""
    axis.set_xticks(sorted(sizes), [f"{size:,}" for size in sorted(sizes)], rotation=45)
    axis.minorticks_off()


def _pareto(plt: Any, kind: str, plan: str, records: Sequence[Record]) -> Any:
    methods = [name for name in methods_of(records) if name != "empty"]
    settings = _busiest(records, 3)
    figure, axes = _panels(plt, len(settings), methods, width=3.2)
    for axis, setting in zip(axes, settings, strict=True):
        own = [record for record in records if setting_of(record) == setting]
        # Without the scale only the equivalence class can be found.
        distance = "shd_cpdag" if dict(setting).get("standardize") else "shd"
        points = {}
        for method in methods:
            mine = [record for record in own if record["method"] == method]
            seconds, shd = (summarise(mine, metric).mean for metric in ("seconds", distance))
            if seconds is not None and shd is not None:
                points[method] = (seconds, shd)
                axis.plot(seconds, shd, linestyle="none", label=method, **_style(methods, method))
        axis.set_title(_short_words(setting, "samples"), fontsize=8)
        axis.set(xlabel="seconds", xscale="log", ylabel=distance.upper().replace("_", "-"))
        front = _front(points.values())
        decades = _decades([seconds for seconds, _ in points.values()])
        axis.set_xlim(decades)
        # To the edge of the panel: also a method that beats all others has a line.
        front.append((decades[1], front[-1][1]))
        axis.step(*zip(*front, strict=True), where="post", color="0.75", zorder=0)
        axis.set_yscale("symlog", linthresh=1.0)
        axis.set_ylim(-0.3, 1.6 * max(shd for _, shd in points.values()) + 1)
    _legend(figure, axes)
    return figure


def _busiest(records: Sequence[Record], count: int) -> list[tuple[tuple[str, object], ...]]:
    """The settings in which most methods finished, in the order of the plan."""
    settings = settings_of(records)
    finished = {
        setting: len({r["method"] for r in records if setting_of(r) == setting})
        for setting in settings
    }
    chosen = sorted(settings, key=lambda setting: -finished[setting])[:count]
    return [setting for setting in settings if setting in chosen]


def _short_words(setting: tuple[tuple[str, object], ...], left_out: str) -> str:
    """A setting as a title: what is true by its name, numbers with theirs."""
    words = [
        str(value) if isinstance(value, str) else key if value is True else f"{key} {value}"
        for key, value in setting
        if key != left_out
    ]
    return ", ".join(words)


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """The powers of ten around the values: a logarithmic axis then has labels that fit."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _front(points: Any) -> list[tuple[float, float]]:
    """The points that no other beats in both time and distance."""
    front: list[tuple[float, float]] = []
    for seconds, shd in sorted(points):
        if not front or shd < front[-1][1]:
            front.append((seconds, shd))
    return front


def _gradient_norms(plt: Any, kind: str, plan: str, records: Sequence[Record]) -> Any:
    largest = max(record["setting"]["nodes"] for record in records)
    own = [record for record in records if record["setting"]["nodes"] == largest]
    stages = sorted({stage for record in own for stage in record["metrics"]["trace"]["stage"]})
    methods = methods_of(own)
    figure, axes = _panels(plt, len(stages), methods, width=2.3)
    for axis, stage in zip(axes, stages, strict=True):
        for record in own:
            trace = record["metrics"]["trace"]
            at = [i for i, number in enumerate(trace["stage"]) if number == stage]
            line = {**_style(methods, record["method"]), "marker": "", "label": record["method"]}
            steps = [trace["step"][i] / 1000 for i in at]
            axis.plot(steps, [trace["constraint"][i] for i in at], **line)
        axis.set_title(f"stage {stage + 1}", fontsize=9)
        axis.set(xlabel="thousand steps", yscale="log")
    axes[0].set_ylabel(f"norm of the gradient of h, {largest} nodes")
    _legend(figure, axes)
    return figure


def _stage_ends(plt: Any, kind: str, plan: str, records: Sequence[Record]) -> Any:
    methods, sizes = methods_of(records), sorted({r["setting"]["nodes"] for r in records})
    figure, axes = _panels(plt, len(sizes), methods)
    for axis, size in zip(axes, sizes, strict=True):
        for record in (r for r in records if r["setting"]["nodes"] == size):
            ends = [value for name, value in record["metrics"].items() if name.startswith("end_")]
            look = _style(methods, record["method"])
            axis.plot(range(1, len(ends) + 1), ends, label=record["method"], **look)
        axis.set_title(f"{size} nodes", fontsize=9)
        axis.set(xlabel="end of stage", yscale="log")
    axes[0].set_ylabel("norm of the gradient of h")
    _legend(figure, axes)
    return figure


_DRAWINGS: Mapping[str, Callable[[Any, str, str, Sequence[Record]], Any]] = {
    "shd-nodes": _shd_nodes,
    **dict.fromkeys(_COSTS, _cost),
    "pareto": _pareto,
    "gradient-norms": _gradient_norms,
    "stage-ends": _stage_ends,
}
