"""One start on its way through the search, and several of them on threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from analyticdag._threads import one_blas_thread, our_threads
from analyticdag._typing import BoolArray, IntArray
from analyticdag.search.hubs import revisit_hubs
from analyticdag.search.kernels import Stop
from analyticdag.search.local import DRAWS
from analyticdag.search.records import PATIENT
from analyticdag.search.setting import Graph, Search, Setting

T = TypeVar("T")
U = TypeVar("U")

# The iterated search runs in rounds of d / 2 disturbances, until a round gains nothing. As it was
# first written; no trial of other values is on record.
ROUNDS = 6
# With equal variances: the residual variance, in noise variances, that calls for a local search
# (three standard errors at 1,000 rows; docs/design/order-search.md),
SUSPICIOUS = 1.15
# and how many faint parents a regression may take that is only tried. What a node cannot explain
# must not be explained by hundreds of accidents.
PATIENCE = 2
# How often the waiting thread looks whether it was interrupted, in seconds.
LOOK = 0.1


@dataclass(frozen=True, eq=False)
class Run:
    """One start on its way."""

    label: str
    graph: Graph
    initial: float
    local: float
    iterated: float
    seconds: float


def open_search(setting: Setting, order: IntArray, stop: Stop) -> Search:
    """Memory for a search from `order`, with the parents that order gives."""
    search = Search(setting, order, stop)
    search.fit(search.graph.order, np.arange(len(order)), setting.rules())
    revisit_hubs(search)
    return search


def search_locally(setting: Setting, label: str, order: IntArray, stop: Stop) -> Run:
    """Parents for the order, then local search."""
    began = time.perf_counter()
    search = open_search(setting, order, stop)
    initial, nodes = search.graph.score(setting), np.array(order)
    if setting.equal and not setting.thorough:
        nodes = nodes[suspects(setting, search.graph)[nodes]]
    search.descend(nodes, setting.rules(patience=PATIENCE if setting.equal else PATIENT))
    local = search.graph.score(setting)
    return Run(label, search.graph, initial, local, local, time.perf_counter() - began)


def suspects(setting: Setting, graph: Graph) -> BoolArray:
    """Nodes that a better place may be found for, with equal variances.

    Where the order is right, residual variances are at the noise level. A node above it stands too
    early, or one of its children too late: that may be a parent of it.
    """
    assert setting.noise is not None
    suspicious: BoolArray = graph.residuals(setting) > SUSPICIOUS * setting.noise
    parents = graph.parents[:, : graph.count.max()]
    used = np.arange(parents.shape[1]) < graph.count[:, None]
    return suspicious | (suspicious[np.where(used, parents, 0)] & used).any(axis=1)


def search_on(setting: Setting, run: Run, rng: np.random.Generator, stop: Stop) -> Run:
    """Iterated local search from where a run stands."""
    began = time.perf_counter()
    d = len(run.graph.order)
    search = open_search(setting, run.graph.order, stop)
    rules = setting.rules(patience=PATIENCE if setting.equal else PATIENT)
    for _ in range(ROUNDS):
        if search.disturb(rng.random((max(d // 2, 1), DRAWS)), rules) >= 0.0:
            break
    graph = search.graph
    if graph.score(setting) > run.local:  # cannot get worse but for rounding
        graph = run.graph
    seconds = run.seconds + time.perf_counter() - began
    return replace(run, graph=graph, iterated=graph.score(setting), seconds=seconds)


def in_threads(
    function: Callable[[T], U], items: Iterable[T], n_jobs: int | None, stop: Stop
) -> list[U]:
    """[function(item) for item in items], on up to n_jobs threads (None: as many as there are).

    An interrupt reaches the waiting thread at once; it asks the others to stop and waits for them.
    """

    def with_one_blas_thread(item: T) -> U:
        with one_blas_thread():
            return function(item)

    with our_threads(n_jobs) as threads, ThreadPoolExecutor(max_workers=threads) as pool:
        futures = [pool.submit(with_one_blas_thread, item) for item in items]
        try:
            while wait(futures, timeout=LOOK).not_done:
                pass
            return [future.result() for future in futures]
        except BaseException:
            stop.asked = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
