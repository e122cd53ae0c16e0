"""Records as a run would leave them, made up: tables and figures need no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cell import describe
from benchmarks.plan import Cell, load_plan
from benchmarks.records import Record, pack_records


def made_up(cell: Cell, **metrics: Any) -> Record:
    """A record of a cell that finished."""
    return finished(cell) | {"exit": "ok", "reason": "", "metrics": metrics}


def failed(cell: Cell, exit_: str, reason: str) -> Record:
    """A record of a cell that did not."""
    return finished(cell) | {"exit": exit_, "reason": reason, "metrics": {}}


def finished(cell: Cell) -> Record:
    cost = {"wall_seconds": 1.0, "cpu_seconds": 1.0, "peak_rss_mib": 300.0, "isolated": True}
    return describe(cell) | cost | {"warnings": [], "threads": {}}


def cells_of(plan: str, **wanted: Any) -> list[Cell]:
    """The cells of a shipped plan with these settings; ``method`` and ``repeat`` count as such."""
    return [
        cell
        for cell in load_plan(plan).cells
        if all(
            {"method": cell.method.name, "repeat": cell.repeat, **cell.setting}.get(key) == value
            for key, value in wanted.items()
        )
    ]


def some_records(plan: str, **wanted: Any) -> list[Record]:
    """A record for each of these cells, with numbers that grow with the size."""
    records = []
    for number, cell in enumerate(cells_of(plan, **wanted)):
        d = int(cell.setting["nodes"])
        metrics = {"shd": number % 7, "shd_cpdag": 1, "tpr": 0.9, "fdr": 0.1, "f1": 0.9}
        cost = {"seconds": 1e-6 * d**2 * (1 + number % 3), "cpu_seconds": 1.0}
        records.append(made_up(cell, **metrics, **cost))
    return records


def keep(pages: Path, plan: str, records: list[Record]) -> None:
    """Put records where a report finds them."""
    pack_records(pages / "records" / f"{plan}.jsonl.gz", records)
