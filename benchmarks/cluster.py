"""Cells on a Dask cluster: every worker runs them as a local run does, each in its own process.

The scheduler notices a worker that dies and gives its cells to another; a cell's record comes back
once, whichever worker made it. The workers need the package (and the peers) installed; they need
no shared disk, because only the process that asked writes records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyticdag.errors import AnalyticDAGError, ParameterError
from benchmarks.isolate import failure, run_isolated
from benchmarks.optional import optional
from benchmarks.plan import Cell, Limits
from benchmarks.records import Record

__all__ = ["ClusterError", "run_on_cluster"]

_PATIENCE = 60  # seconds until a scheduler or a first worker must have answered


class ClusterError(AnalyticDAGError):
    """The cluster went away while cells were running."""


def run_on_cluster(
    cells: list[Cell], limits: Limits, scheduler: str, patience: float = _PATIENCE
) -> Iterator[Record]:
    """Yield the records of the cells as the workers of the cluster at ``scheduler`` finish them."""
    distributed = optional("distributed", "dask[distributed]", "cluster")
    client = _connect(distributed, scheduler, patience)
    try:
        # Not pure: a cell that was retried must run, even if the cluster remembers its name.
        futures = client.map(run_isolated, cells, limits=limits, pure=False, retries=0)
        asked = dict(zip((future.key for future in futures), cells, strict=True))
        for future in distributed.as_completed(futures, loop=client.loop):
            yield _record(future, asked[future.key], limits)
            future.release()
    finally:
        client.close()


def _connect(distributed: Any, scheduler: str, patience: float) -> Any:
    try:
        client = distributed.Client(scheduler, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ParameterError(
            f"no Dask scheduler answers at {scheduler!r} ({error}); start one with 'dask "
            "scheduler' and give the address that it prints"
        ) from error
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        client.close()
        raise ParameterError(
            f"the Dask scheduler at {scheduler!r} has no worker; start some with 'dask worker "
            f"{scheduler}'"
        ) from None
    return client


def _record(future: Any, cell: Cell, limits: Limits) -> Record:
    """The record that came back, or one that says why none did."""
    if future.status == "finished":
        record: Record = future.result()
        return record
    if future.status in ("cancelled", "lost"):
        raise ClusterError(
            "the connection to the Dask scheduler was lost; finished cells are recorded: start "
            "the cluster and run again"
        )
    # Not its text, which names the machines of the cluster.
    reason = f"the cluster gave up on it: {type(future.exception()).__name__}"
    return failure(cell, "crash", reason, limits)
