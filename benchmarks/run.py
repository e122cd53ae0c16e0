"""Run the cells of a plan that have no record yet.

Cells are independent, so they run in any order and in parallel. Only this process writes: a cell
hands its record back, and it counts when it is on the disk. Killing the run loses at most the
cells that were running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.cell import run_cell
from benchmarks.cluster import run_on_cluster
from benchmarks.isolate import run_isolated
from benchmarks.plan import Cell, Plan
from benchmarks.records import Record, RecordFile, recorded
from benchmarks.timing import Forecast

__all__ = ["Progress", "Report", "pending", "run"]


@dataclass(frozen=True)
class Report:
    """A cell was finished: its record, how many of the plan's cells are done, the time left."""

    record: Record
    done: int
    total: int
    seconds_left: float


Progress = Callable[[Report], None]


def run(
    plan: Plan,
    out: Path,
    *,
    n_jobs: int = 1,
    scheduler: str | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> list[Record]:
    """Run what is left of ``plan`` and return the records made now.

    Records go to ``out/<plan>.jsonl``. With ``retry`` cells that failed are run again. With limits
    in the plan, or ``n_jobs`` other than 1, each cell has a process of its own. With the address
    of a Dask ``scheduler`` the cells run on its workers instead of here.
    """
    finished: list[Record] = []
    with RecordFile(out / f"{plan.name}.jsonl") as file:
        before = recorded(out, plan.name)
        cells = pending(plan, before, retry=retry)
        forecast = Forecast(cells, before)
        done = len(plan.cells) - len(cells)
        for record in _run_all(plan, cells, n_jobs, scheduler):
            file.append(record)
            finished.append(record)
            left = forecast.after(record)
            if progress is not None:
                progress(Report(record, done + len(finished), len(plan.cells), left))
    return finished


def pending(plan: Plan, records: list[Record], *, retry: bool = False) -> list[Cell]:
    """The cells that still have to be run; a failed cell is finished unless ``retry``.

    First repeats come first: a run that is stopped early has something of every setting.
    """
    done = {record["key"] for record in records if not retry or record["exit"] == "ok"}
    left = [cell for cell in plan.cells if cell.key not in done]
    return sorted(left, key=lambda cell: cell.repeat)


def _run_all(plan: Plan, cells: list[Cell], n_jobs: int, scheduler: str | None) -> Iterator[Record]:
    """Records as they come, in the order in which cells finish."""
    if not cells:
        return
    if scheduler is not None:
        yield from run_on_cluster(cells, plan.limits, scheduler)
        return
    if n_jobs == 1 and not plan.limits.need_a_process:
        for cell in cells:
            yield run_cell(cell, plan.limits.threads)
        return
    # Threads that wait for processes: the processes do the work and carry the limits.
    pool = Parallel(n_jobs=n_jobs, backend="threading", return_as="generator_unordered")
    yield from pool(delayed(run_isolated)(cell, plan.limits) for cell in cells)
