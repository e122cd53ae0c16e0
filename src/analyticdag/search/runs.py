"""One start on its way through the search, and several of them on threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.search.local import DRAWS, descend_from_everywhere, iterate
from analyticdag.search.store import initialise
from analyticdag.search.tables import Bench, Task, make_bench, make_tables, make_task

T = TypeVar("T")
U = TypeVar("U")

# The iterated search runs in rounds of d / 2 disturbances, until a round gains nothing.
ROUNDS = 6


@dataclass(frozen=True)
class Setting:
    """The task in the form kernels want it; shared by all starts."""

    S: FloatArray
    forbidden: BoolArray
    required: BoolArray
    n_samples: int
    penalty: float
    equal: bool
    cap: int

    @property
    def price(self) -> float:
        """Share of the residual variance (equal: of the noise) a parent must explain."""
        relative = self.penalty / self.n_samples
        return relative if self.equal else -float(np.expm1(-relative))


@dataclass(frozen=True)
class Graph:
    """An order with parents, as the kernels left it."""

    order: IntArray
    count: IntArray
    parents: IntArray
    value: FloatArray

    @property
    def total(self) -> float:
        """Sum of the nodes' scores."""
        return float(self.value.sum())


@dataclass(frozen=True)
class Run:
    """One start on its way."""

    label: str
    graph: Graph
    initial: float
    local: float
    seconds: float


def open_task(setting: Setting, order: IntArray) -> tuple[Graph, Task, Bench, Bench]:
    """Memory for a search from `order`, with the parents that order gives."""
    d, cap = len(order), setting.cap
    graph = Graph(
        order=np.array(order, np.int64),
        count=np.zeros(d, np.int64),
        parents=np.empty((d, cap + 1), np.int64),
        value=np.zeros(d),
    )
    task = make_task(
        setting.S,
        setting.forbidden,
        setting.required,
        float(setting.n_samples),
        setting.penalty,
        setting.price,
        setting.equal,
        cap,
        (graph.order, graph.count, graph.parents, graph.value),
    )
    make_tables(task)
    mover, passed = make_bench(d, cap), make_bench(d, cap)
    initialise(task, mover)
    return graph, task, mover, passed


def search_locally(setting: Setting, label: str, order: IntArray) -> Run:
    """Parents for the order, then local search."""
    began = time.perf_counter()
    graph, task, mover, passed = open_task(setting, order)
    initial = graph.total
    descend_from_everywhere(task, mover, passed)
    return Run(label, graph, initial, graph.total, time.perf_counter() - began)


def search_on(setting: Setting, run: Run, rng: np.random.Generator) -> Run:
    """Iterated local search from where a run stands."""
    began = time.perf_counter()
    d = len(run.graph.order)
    graph, task, mover, passed = open_task(setting, run.graph.order)
    for _ in range(ROUNDS):
        if iterate(task, mover, passed, rng.random((max(d // 2, 1), DRAWS))) >= 0.0:
            break
    if graph.total > run.graph.total:  # cannot get worse but for rounding
        graph = run.graph
    return replace(run, graph=graph, seconds=run.seconds + time.perf_counter() - began)


def in_threads(function: Callable[[T], U], items: Iterable[T], n_jobs: int | None) -> list[U]:
    """[function(item) for item in items], on up to n_jobs threads (None: all processors)."""
    with ThreadPoolExecutor(max_workers=max(1, n_jobs or os.cpu_count() or 1)) as pool:
        return list(pool.map(function, items))


def least_squares(setting: Setting, graph: Graph, S: FloatArray) -> FloatArray:
    """Weights of every node on its parents, in the units of S."""
    d = len(S)
    W = np.zeros((d, d))
    sd = np.sqrt(np.diag(S))
    for j in range(d):
        chosen = set(graph.parents[j, : graph.count[j]].tolist())
        pa = np.array(sorted(chosen | set(np.flatnonzero(setting.required[:, j]).tolist())), int)
        if len(pa) > 0:
            R = setting.S
            solved = np.linalg.lstsq(R[np.ix_(pa, pa)], R[pa, j], rcond=None)[0]
            W[pa, j] = solved if setting.equal else solved * sd[j] / np.where(sd[pa] > 0, sd[pa], 1)
    return W
