"""One cell, run here and now: what it measured and what it cost, as a record.

Nothing a task raises escapes: an exception is an outcome, and the record says which.
"""

from __future__ import annotations

import platform
import time
import warnings
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

from analyticdag import __version__
from analyticdag.errors import MissingDependencyError
from benchmarks.memory import peak_rss_mib
from benchmarks.plan import Cell
from benchmarks.records import Record
from benchmarks.tasks import find_task

__all__ = ["describe", "run_cell"]

_WARNINGS_KEPT = 10
_LIBRARIES = ["numpy", "scipy", "scikit-learn"]
_PEERS = ["dagma", "flopsearch", "causal-learn", "CausalDisco", "xges", "pybnesian", "torch"]


def run_cell(cell: Cell, threads: int | None = None) -> Record:
    """Run the cell in this process and return its record, whatever happens."""
    record = describe(cell)
    wall, cpu = time.perf_counter(), time.process_time()
    with _limited(threads):
        record |= _watched(cell)
        record["threads"] = _threads()
    record["wall_seconds"] = time.perf_counter() - wall
    record["cpu_seconds"] = time.process_time() - cpu
    record["peak_rss_mib"] = peak_rss_mib()
    return record


def describe(cell: Cell) -> Record:
    """The part of a record that is known before the cell has run."""
    return {
        "key": cell.key,
        "plan": cell.plan,
        "task": cell.task,
        "setting": dict(cell.setting),
        "method": cell.method.name,
        "call": cell.method.call,
        "options": dict(cell.method.options),
        "repeat": cell.repeat,
        "seed": cell.seed,
        "place": cell.place,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "system": {"machine": platform.machine(), "os": platform.system()},
        "isolated": False,
    }


def _watched(cell: Cell) -> Record:
    """The outcome and what was warned about on the way, each warning once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = _outcome(cell)
    texts = dict.fromkeys(f"{entry.category.__name__}: {entry.message}" for entry in caught)
    return outcome | {"warnings": list(texts)[:_WARNINGS_KEPT]}


def _outcome(cell: Cell) -> Record:
    try:
        metrics = find_task(cell.task)(cell.setting, cell.method, cell.rng())
    except MissingDependencyError as error:
        return {"exit": "missing", "reason": str(error), "metrics": {}}
    except MemoryError as error:
        return {"exit": "memory", "reason": f"out of memory: {error}", "metrics": {}}
    except Exception as error:  # any failure of a method is a result about that method
        return {"exit": "error", "reason": f"{type(error).__name__}: {error}", "metrics": {}}
    return {"exit": "ok", "reason": "", "metrics": dict(metrics)}


def _limited(threads: int | None) -> AbstractContextManager[Any]:
    if threads is None:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(threads)
    return limits


def _threads() -> dict[str, int]:
    """Threads of every pool that is loaded: BLAS, OpenMP."""
    return {pool["internal_api"]: pool["num_threads"] for pool in threadpool_info()}


def _versions() -> dict[str, str]:
    found = {"analyticdag": __version__, "python": platform.python_version()}
    for name in (*_LIBRARIES, *_PEERS):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
