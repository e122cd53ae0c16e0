"""BLAS is limited while a solver runs, gets back what it had, and nobody uses too many threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from analyticdag import AnalyticDAG, _threads
from analyticdag._threads import one_blas_thread, our_threads
from analyticdag.functions import Inverse
from analyticdag.losses import LeastSquares, covariance
from analyticdag.optimize.path import PathState, StageResult, follow
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.simulate import simulate

X = simulate("ER1", n_nodes=6, n_samples=200, seed=1).data


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in ThreadpoolController().info() if _is_blas(pool)}


def _is_blas(pool: dict[str, Any]) -> bool:
    return pool["user_api"] == "blas"


@pytest.mark.parametrize("before", [1, 2, 3])
def test_blas_gets_back_what_it_had(before: int) -> None:
    with threadpool_limits(before, user_api="blas"):
        with one_blas_thread():
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == {before}


def test_an_error_does_not_leave_blas_limited() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(RuntimeError), our_threads(None):
            raise RuntimeError
        assert blas_threads() == {2}
        with our_threads(2) as threads:
            assert threads == min(2, joblib.cpu_count())


def test_the_last_solver_to_leave_lifts_the_limit() -> None:
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()
    seen = {}

    def first() -> None:
        with one_blas_thread():
            first_in.set()
            second_in.wait()
        first_out.set()

    def second() -> None:
        first_in.wait()
        with one_blas_thread():
            second_in.set()
            first_out.wait()
            seen["alone"] = blas_threads()

    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(2) as pool:
            for done in (pool.submit(first), pool.submit(second)):
                done.result()
        assert seen["alone"] == {1}
        assert blas_threads() == {2}


def test_solvers_share_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "cpu_count", lambda: 4)
    monkeypatch.setattr(_threads, "effective_n_jobs", lambda n: 4 if n == -1 else n)
    with threadpool_limits(3, user_api="blas"):
        with our_threads(None) as first, our_threads(None) as second, our_threads(8) as third:
            assert (first, second, third) == (3, 1, 1)
        with our_threads(8) as alone:  # never more than there are processors
            assert alone == 4
        with our_threads(2) as asked:
            assert asked == 2


class Watcher:
    """A minimiser that looks at BLAS and gives up."""

    def __init__(self) -> None:
        self.seen: list[set[int]] = []

    def minimise(self, problem: Problem, W: Any, stage: Stage, number: int) -> StageResult:
        self.seen.append(blas_threads())
        raise KeyboardInterrupt


def test_a_minimiser_runs_with_one_blas_thread() -> None:
    every = np.ones((6, 6), dtype=bool)
    problem = Problem(LeastSquares(covariance(X)), Inverse(), 0.1, every)
    watcher = Watcher()
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(KeyboardInterrupt):
            follow(problem, Schedule.gentle(), watcher, PathState(np.zeros((6, 6))))
        assert blas_threads() == {2}
    assert watcher.seen == [{1}]


def _fit_and_look(seed: int) -> tuple[int, set[int]]:
    rows = np.random.default_rng(seed).permutation(X)
    before = blas_threads()
    model = AnalyticDAG().fit(rows)
    assert blas_threads() == before
    with our_threads(None) as threads:
        assert threads <= max(before)
    return int(model.adjacency_matrix_.sum()), before


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_in_processes_and_in_threads(backend: str) -> None:
    with threadpool_limits(2, user_api="blas"):
        fits = joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(_fit_and_look if backend == "loky" else _fit)(seed) for seed in range(4)
        )
        assert blas_threads() == {2}
    assert len({fit[0] for fit in fits}) == 1


def _fit(seed: int) -> tuple[int]:
    rows = np.random.default_rng(seed).permutation(X)
    return (int(AnalyticDAG().fit(rows).adjacency_matrix_.sum()),)


def test_fits_in_dask_workers() -> None:
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 1, "threads_per_worker": 2, "processes": False}
    with threadpool_limits(2, user_api="blas"):
        with distributed.Client(dashboard_address=None, **settings) as client:
            found = client.gather(client.map(_fit, range(4), pure=False))
        assert blas_threads() == {2}
    assert len(set(found)) == 1
