"""One start on its way through the search, and several of them on threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from analyticdag._threads import one_blas_thread, our_threads
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.interventions import Moments
from analyticdag.search.hubs import revisit_hubs
from analyticdag.search.local import DRAWS, search
from analyticdag.search.setting import Desk, Graph, Setting, new_desk
from analyticdag.search.store import fit

T = TypeVar("T")
U = TypeVar("U")

# The iterated search runs in rounds of d / 2 disturbances, until a round gains nothing.
ROUNDS = 6
# With equal variances: the residual variance, in noise variances, that calls for a local search,
SUSPICIOUS = 1.15
# and how many faint parents a regression may take that is only tried.
PATIENCE = 2


@dataclass(frozen=True)
class Run:
    """One start on its way."""

    label: str
    graph: Graph
    initial: float
    local: float
    iterated: float
    seconds: float


def open_desk(setting: Setting, order: IntArray) -> Desk:
    """Memory for a search from `order`, with the parents that order gives."""
    desk = new_desk(setting, order)
    fit(desk.task, desk.mover, desk.graph.order, np.arange(len(order)))
    revisit_hubs(setting, desk)
    return desk


def search_locally(setting: Setting, label: str, order: IntArray) -> Run:
    """Parents for the order, then local search."""
    began = time.perf_counter()
    desk = open_desk(setting, order)
    initial, nodes = desk.graph.score(setting), np.array(order)
    if setting.noise is not None:
        if not setting.thorough:
            nodes = nodes[suspects(setting, desk.graph)[nodes]]
        # What a node cannot explain must not be explained by hundreds of accidents.
        desk.patience[0] = PATIENCE
    search(desk.task, desk.mover, desk.passed, nodes, np.empty((0, DRAWS)))
    local = desk.graph.score(setting)
    return Run(label, desk.graph, initial, local, local, time.perf_counter() - began)


def suspects(setting: Setting, graph: Graph) -> BoolArray:
    """Nodes that a better place may be found for, with equal variances.

    Where the order is right, residual variances are at the noise level. A node above it stands too
    early, or one of its children too late: that may be a parent of it.
    """
    assert setting.noise is not None
    suspicious: BoolArray = graph.residuals(setting) > SUSPICIOUS * setting.noise
    used = np.arange(graph.parents.shape[1]) < graph.count[:, None]
    return suspicious | (suspicious[np.where(used, graph.parents, 0)] & used).any(axis=1)


def search_on(setting: Setting, run: Run, rng: np.random.Generator) -> Run:
    """Iterated local search from where a run stands."""
    began = time.perf_counter()
    d = len(run.graph.order)
    desk = open_desk(setting, run.graph.order)
    nobody = np.empty(0, np.int64)
    for _ in range(ROUNDS):
        draws = rng.random((max(d // 2, 1), DRAWS))
        if search(desk.task, desk.mover, desk.passed, nobody, draws) >= 0.0:
            break
    graph = desk.graph
    if graph.score(setting) > run.local:  # cannot get worse but for rounding
        graph = run.graph
    seconds = run.seconds + time.perf_counter() - began
    return replace(run, graph=graph, iterated=graph.score(setting), seconds=seconds)


def in_threads(function: Callable[[T], U], items: Iterable[T], n_jobs: int | None) -> list[U]:
    """[function(item) for item in items], on up to n_jobs threads (None: as many as there are)."""

    def limited(item: T) -> U:
        with one_blas_thread():
            return function(item)

    with our_threads(n_jobs) as workers, ThreadPoolExecutor(max_workers=workers) as pool:
        return list(pool.map(limited, items))


def least_squares(setting: Setting, graph: Graph, moments: Moments) -> FloatArray:
    """Weights of every node on its parents, in the units of the moments."""
    d, count = len(graph.order), graph.count
    W = np.zeros((d, d))
    for k in np.unique(count[count > 0]).tolist():
        nodes = np.flatnonzero(count == k)
        parents = np.sort(graph.parents[nodes, :k], axis=1)
        among, with_node = setting.moments.of_parents(nodes, parents)
        W[parents, nodes[:, None]] = np.linalg.solve(among, with_node[:, :, None])[:, :, 0]
    for j in np.flatnonzero((setting.required & (W == 0.0)).any(axis=0)).tolist():
        # Required, though collinear with the others: they share the weight.
        R = setting.moments.covariance_of(j)
        pa = np.flatnonzero(setting.required[:, j] | (W[:, j] != 0.0))
        W[pa, j] = np.linalg.lstsq(R[np.ix_(pa, pa)], R[pa, j], rcond=None)[0]
    if setting.equal:
        return W
    sd = np.sqrt(moments.variances)
    W *= np.divide(1.0, sd, out=np.zeros((d, d)), where=sd > 0) * np.diag(sd)
    return W
