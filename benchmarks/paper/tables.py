"""The paper's tables as it prints them, with what we measured: SHD, mean ± std over the draws.

Two tables, because they are evidence for two things. *The paper's method*, Adam from zero: does
the paper repeat? And *the engine*, our exact path and order search: what does a user get? The line
below each has what the paper prints for the same constraint. In both, the ratio is our best mean
over the paper's best mean, whatever method each comes from, and the best baseline is the best of
all methods that are not ours. A table of which nothing was run is left out.

Its Table 3 is one setting with many methods: a line for each. Its Table 4 is one data set: a line
for each constraint in each precision, both distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from benchmarks.paper.figures import Figure, paper_figures
from benchmarks.records import Record
from benchmarks.render import methods_of, settings_of
from benchmarks.summary import Summary, format_number, setting_of, summarise, table

__all__ = ["group_of", "paper_tables"]

Group: TypeAlias = Literal["paper", "engine", "baseline"]
_TITLES: Mapping[Group, str] = {
    "paper": "The paper's method: Adam from zero",
    "engine": "The engine",
}
_KEYS = ("graph", "noise", "nodes")
_OURS = {"analyticdag", "path", "search", "start"}


def group_of(record: Record) -> Group:
    """Whose method is it: the paper's (Adam from zero), our engine's, or a baseline."""
    if record["call"] not in _OURS:
        return "baseline"
    options: Mapping[str, Any] = record["options"]
    by_adam = record["call"] == "path" and not {"start"} & set(options)
    return "paper" if by_adam and options.get("solver", "adam") == "adam" else "engine"


def paper_tables(plan: str, records: Sequence[Record], metric: str = "shd") -> str:
    """The tables of a plan that repeats one of the paper's."""
    if plan == "paper-table-4":
        return _by_precision(paper_figures(plan), records)
    figures = [figure for figure in paper_figures(plan) if figure.metric == metric]
    if plan == "paper-table-3":
        return _by_method(figures, records, metric)
    return "\n\n".join(
        f"### {title}\n\n{_table(figures, records, metric, group)}"
        for group, title in _TITLES.items()
        if any(group_of(record) == group for record in records)
    )


def _table(figures: Sequence[Figure], records: Sequence[Record], metric: str, group: Group) -> str:
    ours = [record for record in records if group_of(record) == group]
    printed = {figure.method for figure in figures}
    shown = [
        name
        for name in methods_of(records)
        # The paper prints peers, such as DAGMA, beside its own: so does the table that repeats it.
        if name in methods_of(ours) or (group == "paper" and name in printed)
    ]
    rows: list[list[str]] = []
    for setting in settings_of(records):
        here = [record for record in records if setting_of(record) == setting]
        printed_here = [figure for figure in figures if _matches(figure, dict(setting))]
        if any(group_of(record) == group for record in here):
            rows += _rows(here, printed_here, shown, metric, group)
    return table([*_KEYS, "", *shown, "paper's best", "ratio", "best baseline", "seeds"], rows)


def _rows(
    records: Sequence[Record],
    figures: Sequence[Figure],
    shown: Sequence[str],
    metric: str,
    group: Group,
) -> list[list[str]]:
    """One setting: what was measured and, for the paper's methods, what it prints."""
    found = {
        name: summarise([r for r in records if r["method"] == name], metric)
        for name in methods_of(records)
    }
    groups = {record["method"]: group_of(record) for record in records}
    seeds = max(found[name].n_run for name in shown if name in found)
    best = _best((name, found[name]) for name in shown if groups.get(name) == group)
    rival = _best((name, one) for name, one in found.items() if groups[name] == "baseline")
    target = min(figures, key=lambda figure: figure.mean, default=None)
    ratio = "" if best is None or target is None else format_number(best[1] / target.mean)
    setting = dict(setting_of(records[0]))
    measured = [
        *(str(setting.get(key, "")) for key in _KEYS),
        "measured",
        *(found.get(name, Summary((), ())).text(seeds) for name in shown),
        f"{target.text()} ({target.method})" if target else "",
        ratio,
        f"{format_number(rival[1])} ({rival[0]})" if rival else "",
        str(seeds),
    ]
    printed = ["", "", "", "paper", *(_printed(figures, name) for name in shown), "", "", "", "10"]
    return [measured, printed]


def _printed(figures: Sequence[Figure], method: str) -> str:
    """What the paper prints for a method."""
    return next((figure.text() for figure in figures if figure.method == _in_paper(method)), "")


def _in_paper(method: str) -> str:
    """The paper's method that this is another way to run."""
    return method.removeprefix("fast-").removesuffix(", compiled")


def _by_method(figures: Sequence[Figure], records: Sequence[Record], metric: str) -> str:
    """One setting: each method that was run or that the paper has, measured and printed."""
    run = methods_of(records)
    others = {figure.method for figure in figures} - set(map(_in_paper, run))
    rows = []
    for name in (*run, *sorted(others)):
        found = summarise([record for record in records if record["method"] == name], metric)
        rows.append([name, found.text(found.n_run), _printed(figures, name), str(found.n_run)])
    return table(["method", "measured", "paper", "seeds"], rows)


def _by_precision(figures: Sequence[Figure], records: Sequence[Record]) -> str:
    """One data set: each constraint in each precision, measured and printed."""
    rows = []
    for name in methods_of(records):
        runs = [record for record in records if record["method"] == name]
        options = runs[0]["options"]
        # What the paper calls GraN-DAG is GraN-DAG under its own constraint.
        called = options["constraint"].replace("exponential", "gran-dag")
        row = [options["constraint"], options["dtype"]]
        for metric in ("shd", "shd_cpdag"):
            printed = next(
                figure.text()
                for figure in figures
                if (figure.method, figure.precision, figure.metric)
                == (called, options["dtype"], metric)
            )
            row += [summarise(runs, metric).text(len(runs)), printed]
        rows.append([*row, str(len(runs))])
    head = ["constraint", "precision", "SHD", "paper's SHD", "SHD-CPDAG", "paper's SHD-CPDAG"]
    return table([*head, "seeds"], rows)


def _best(entries: Iterable[tuple[str, Summary]]) -> tuple[str, float] | None:
    means = [(name, mean) for name, one in entries if (mean := one.mean) is not None]
    return min(means, key=lambda entry: entry[1], default=None)


def _matches(figure: Figure, setting: Mapping[str, object]) -> bool:
    return all(getattr(figure, key) == setting.get(key) for key in _KEYS)
