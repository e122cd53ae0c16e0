"""Cells on a real Dask cluster: a worker is killed, and every cell is still there once."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyticdag.errors import MissingDependencyError, ParameterError
from benchmarks import cluster as module
from benchmarks.cluster import ClusterError, run_on_cluster
from benchmarks.plan import Limits, parse_plan
from benchmarks.records import read_records
from benchmarks.run import run

HERE = Path(__file__).resolve().parent

PLAN = """
task = "bench_tasks:name_the_worker"
methods = [{{ name = "m", file = "{workers}" }}]
time_limit = 120
[[settings]]
number = {numbers}
"""


@pytest.fixture
def dask_cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    # Workers and the processes of their cells find the tasks of this folder.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), *filter(None, sys.path)]))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.mark.slow
def test_a_killed_worker_loses_no_cell(dask_cluster: Any, tmp_path: Path) -> None:
    workers, out, numbers = tmp_path / "workers", tmp_path / "out", list(range(8))
    plan = parse_plan("p", PLAN.format(workers=workers, numbers=numbers))
    recorded_then: list[int] = []

    def kill_the_first() -> None:
        while not workers.exists() or "\n" not in workers.read_text():
            time.sleep(0.02)
        recorded_then.append(len(read_records(out)))
        os.kill(int(workers.read_text().split()[0]), signal.SIGKILL)

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    made = run(plan, out, scheduler=dask_cluster.scheduler_address)
    killer.join()
    assert recorded_then[0] < len(numbers)  # it was killed during the run, not after it
    records = read_records(out)
    assert sorted(record["setting"]["number"] for record in records) == numbers
    assert [record["exit"] for record in records] == ["ok"] * len(numbers)
    assert len(made) == len(numbers)
    assert run(plan, out, scheduler="tcp://nobody-is-asked:1") == []


class FakeFuture:
    """What a future looks like when its cell did not come back."""

    key = "k"

    def __init__(self, status: str) -> None:
        self.status = status

    def exception(self) -> Exception:
        return MemoryError("on tcp://some-machine:1")


def test_a_cell_that_the_cluster_gave_up_is_a_record() -> None:
    cell = parse_plan("p", PLAN.format(workers="x", numbers=1)).cells[0]
    record = module._record(FakeFuture("error"), cell, Limits())
    assert record["exit"] == "crash"
    assert record["reason"] == "the cluster gave up on it: MemoryError"
    with pytest.raises(ClusterError, match="finished cells are recorded"):
        module._record(FakeFuture("cancelled"), cell, Limits())


def test_a_scheduler_that_does_not_answer_is_named() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError, match="no Dask scheduler answers at 'tcp://localhost:9'"):
        list(run_on_cluster([], Limits(), "tcp://localhost:9", patience=0.5))


@pytest.mark.slow
def test_a_scheduler_without_workers_is_named() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(ParameterError, match="has no worker; start some with 'dask worker"),
    ):
        list(run_on_cluster([], Limits(), empty.scheduler_address, patience=0.5))


def test_without_dask_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install './benchmarks\[cluster\]'"):
        list(run_on_cluster([], Limits(), "tcp://localhost:9"))
