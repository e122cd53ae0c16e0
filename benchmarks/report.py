"""Pages with tables in them that are made from records, and from nothing else.

A page is prose with blocks between two comments; the first says what belongs there:

    <!-- bench methods engine-path -->
    ... anything here is replaced ...
    <!-- bench end -->

| block              | is                                                                      |
|--------------------|-------------------------------------------------------------------------|
| `paper PLAN`       | the paper's table, measured and printed (`paper.tables`)                |
| `metrics PLAN M …` | a table for each metric M, a row for each setting                       |
| `methods PLAN M …` | a table for each setting, a row for each method                         |
| `means PLAN M … over AXES` | metrics averaged over axes of the plan (`means.py`)             |
| `speed PLAN BASE`  | how many times faster than BASE each method was                         |
| `growth PLAN M`    | the exponent of d in metric M, fitted for each method                   |
| `paired PLAN M A < B` | is M smaller for A than for B: a paired test (`paired.py`)           |
| `gaps PLAN`        | what failed and why, what is old, what was not run, and how to run it   |
| `figure PLAN KIND` | a figure, once there are records to draw it from                        |
| `finding KEY`      | a chart of the summary with its sentence (`findings`)                   |
| `facts`            | the findings as a table, for README and home page                       |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from analyticdag.errors import DataError
from benchmarks.figures import can_draw, figure_name
from benchmarks.findings import facts_table, finding_text
from benchmarks.growth import growth_table
from benchmarks.means import means_table
from benchmarks.paired import paired_table
from benchmarks.paper import group_of, paper_tables
from benchmarks.plan import load_plan
from benchmarks.records import Record, RecordFile, pack_records, recorded
from benchmarks.render import failures, method_tables, metric_table, speed_table
from benchmarks.select import command, planned_records
from benchmarks.summary import latest, table

__all__ = ["fill", "pack", "rebuild"]

_BLOCK = re.compile(r"(<!-- bench (?!end)(.*?) -->\n)(.*?)(<!-- bench end -->)", re.DOTALL)
_METRICS = ("shd", "shd_cpdag", "tpr", "fdr", "f1", "seconds", "peak_rss_mib")


def rebuild(pages: Path) -> list[Path]:
    """Fill every page of a folder from ``pages/records``; the pages that changed."""
    changed = []
    for page in [*sorted(pages.glob("*.md")), *_front_pages(pages)]:
        before = page.read_text(encoding="utf-8")
        after = fill(before, pages / "records")
        if after != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page)
    return changed


def _front_pages(pages: Path) -> list[Path]:
    """Return the home page and the README above a folder of pages, where there are any."""
    fronts = (pages.parent / "index.md", pages.parent.parent / "README.md")
    return [page for page in fronts if page.is_file() and "<!-- bench" in page.read_text("utf-8")]


def fill(text: str, folder: Path) -> str:
    """The text with every block made anew from the records of a folder."""

    def replacement(match: re.Match[str]) -> str:
        if "<!-- bench" in match[3]:
            raise DataError(f"the block {match[2]!r} has no end; close it with <!-- bench end -->")
        return f"{match[1]}\n{_block(match[2], folder)}\n\n{match[4]}"

    filled = _BLOCK.sub(replacement, text)
    if filled.count("<!-- bench") != 2 * filled.count("<!-- bench end -->"):
        raise DataError("a page has a block without an end; close it with <!-- bench end -->")
    return filled


def pack(folder: Path, into: Path) -> dict[str, int]:
    """Add the records of a folder to ``into/PLAN.jsonl.gz``; how many each plan now has."""
    files = [*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")]
    counts = {}
    for plan in sorted({file.name.split(".jsonl")[0] for file in files}):
        fresh = recorded(folder, plan)
        # The lock: a run that is writing into the same folder must not lose its file.
        with RecordFile(into / f"{plan}.jsonl") as plain:
            kept = latest([*recorded(into, plan), *fresh])
            pack_records(into / f"{plan}.jsonl.gz", kept)
            plain.path.unlink()  # its records are in the packed file now
        counts[plan] = len(kept)
    return counts


def _block(order: str, folder: Path) -> str:
    kind, *arguments = order.split()
    if kind in ("facts", "finding"):
        return finding_text(arguments[0], folder) if arguments else facts_table(folder)
    if kind not in _KINDS or not arguments:
        raise DataError(f"no block is called {order!r}; known: {', '.join(_KINDS)}, each of a plan")
    plan, *rest = arguments
    records = planned_records(folder, plan)
    if not records and kind not in ("gaps", "figure"):
        return _NOTHING
    return _KINDS[kind](plan, records, rest)


def _figure(plan: str, records: Sequence[Record], rest: Sequence[str]) -> str:
    kind = " ".join(rest)
    if not can_draw(kind, plan, records):
        return _NOTHING
    return f"![{load_plan(plan).title}: {kind}](figures/{figure_name(plan, kind)}.svg)"


def _gaps(plan: str, records: Sequence[Record], rest: Sequence[str]) -> str:
    """What is not in the tables, why, and how to get it."""
    done = {record["key"] for record in records}
    cells = load_plan(plan).cells
    all_of = Counter(cell.method.name for cell in cells)
    left = Counter(cell.method.name for cell in cells if cell.key not in done)
    rows = [
        [name, f"{count} of {all_of[name]}", f"`{command(plan, method=name)}`"]
        for name, count in left.items()
    ]
    parts = [f"Ran without a result:\n\n{text}" for text in failures(records)]
    parts += _old(records)
    if rows:
        parts.append(
            "Not run on our two cores, and the command that runs it:\n\n"
            + table(["method", "cells not run", "command"], rows)
        )
    parts = parts or ["Every cell of the plan was run and has a result."]
    return "\n\n".join([*parts, *_days(records)])


def _days(records: Sequence[Record]) -> list[str]:
    """When the records were made: a change of the code after it is not in them."""
    days = sorted(record["started"][:10] for record in records)
    return [f"Records of {' to '.join(sorted({days[0], days[-1]}))}."] if days else []


def _old(records: Sequence[Record]) -> list[str]:
    """The methods of our engine with cells from before its last change: a line for each change."""
    ours = [record for record in records if group_of(record) == "engine"]
    return [line for change in _CHANGES if (line := _older(ours, *change))]


def _older(ours: Sequence[Record], what: str, day: str, estimator: bool) -> str:
    old = [
        record["method"]
        for record in ours
        if (record["call"] == "analyticdag") == estimator and record["started"] < day
    ]
    names = ", ".join(f"{name} ({n} cell{'s' * (n > 1)})" for name, n in Counter(old).items())
    return f"Older than {what}, of {day[:10]}: {names}." if names else ""


# When our methods last changed what they find: what, when, and whether of the whole estimator or
# of its parts alone.
_CHANGES = (
    ("the engine's last change", "2026-11-16T20:28:25+00:00", False),
    (
        "the estimator's last change (ranks where rows ask for them; no links that a few rows "
        "make; graphs of Gaussian tables are the same)",
        "2026-11-18T22:01:52+00:00",
        True,
    ),
)
_NOTHING = "Not run yet."
_KINDS: Mapping[str, Callable[[str, Sequence[Record], Sequence[str]], str]] = {
    "paper": lambda plan, records, rest: paper_tables(plan, records),
    "metrics": lambda plan, records, rest: "\n\n".join(
        metric_table(records, metric) for metric in rest or _METRICS
    ),
    "means": lambda plan, records, rest: means_table(records, rest),
    "methods": lambda plan, records, rest: method_tables(records, rest or _METRICS),
    "speed": lambda plan, records, rest: speed_table(records, " ".join(rest)),
    "growth": lambda plan, records, rest: growth_table(records, rest),
    "paired": lambda plan, records, rest: paired_table(
        records, rest, {cell.method.name for cell in load_plan(plan).cells}
    ),
    "gaps": _gaps,
    "figure": _figure,
}
