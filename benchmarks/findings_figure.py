"""The charts of the findings: two panels each, once for light pages and once for dark ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.findings import FINDINGS, Finding
from benchmarks.optional import optional

__all__ = ["draw_findings"]

# The colours of light and of dark pages: ink, grid, then one for each method.
_LIGHT = ("#24292f", "#d8dce0", "#1b6ca8", "#c8553d", "#2a9d8f", "#b8862b", "#6a4c93", "#4f5d75")
_DARK = ("#dfe3e8", "#3a4047", "#6cb6f0", "#f0917b", "#5fcabb", "#e9c46a", "#b69ae0", "#a3b0c5")
_MARKS = "os^vDP"


def draw_findings(pages: Path) -> list[Path]:
    """Draw the charts that the records in ``pages/records`` allow into ``pages/figures``."""
    mpl = optional("matplotlib", "matplotlib", "plots")
    plt = optional("matplotlib.pyplot", "matplotlib", "plots")
    written = []
    for finding in FINDINGS:
        if not finding.records(pages / "records"):
            continue
        for colours, ending in ((_LIGHT, ""), (_DARK, "-dark")):
            path = pages / "figures" / f"summary-{finding.key}{ending}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            with mpl.rc_context(_look(colours[0])):
                figure = _chart(plt, finding, pages / "records", colours)
                figure.savefig(path, metadata={"Date": None}, transparent=True)
                plt.close(figure)
            written.append(path)
    return written


def _look(ink: str) -> dict[str, Any]:
    inked = ("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "text.color")
    look = {"svg.hashsalt": "analyticdag", "svg.fonttype": "none", "font.size": 10}
    spines = {"axes.spines.top": False, "axes.spines.right": False}
    return {**look, **spines, **dict.fromkeys(inked, ink)}


def _chart(plt: Any, finding: Finding, folder: Path, colours: tuple[str, ...]) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.1), layout="constrained")
    for axis, (metric, label) in zip(axes, finding.metrics.items(), strict=True):
        _panel(axis, finding.means(folder, metric), colours)
        axis.set_ylabel(label)
    axes[0].set_yscale("linear" if "seconds" not in next(iter(finding.metrics)) else "log")
    axes[1].set_yscale("log")
    if len(finding.methods) > 1:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=6, frameon=False)
    return figure


def _panel(axis: Any, means: Mapping[str, Mapping[Any, float]], colours: tuple[str, ...]) -> None:
    """Draw lines where the places are numbers of nodes, bars side by side where they are names."""
    places = list(dict.fromkeys(place for by_place in means.values() for place in by_place))
    axis.grid(axis="y", color=colours[1], linewidth=0.7)
    axis.set_axisbelow(True)
    numbers = all(isinstance(place, int) for place in places)
    for k, (shown, by_place) in enumerate(means.items()):
        if numbers:
            look = {"color": colours[2 + k], "marker": _MARKS[k], "markersize": 5, "label": shown}
            axis.plot(list(by_place), list(by_place.values()), **look)
        else:
            beside = (k - (len(means) - 1) / 2) * 0.8 / len(means)
            look = {"width": 0.7 / len(means), "color": colours[2 + k], "label": shown}
            axis.bar([places.index(p) + beside for p in by_place], list(by_place.values()), **look)
    if numbers:
        axis.set(xscale="log", xlabel="nodes")
        axis.set_xticks(places, [f"{p // 1000}k" if p >= 1000 else str(p) for p in places])
        axis.minorticks_off()
    else:
        tilt = {"rotation": 30, "ha": "right"} if len(places) > 4 else {}
        axis.set_xticks(range(len(places)), places, **tilt)
