"""The order search from end to end: starts, local search from each, iteration of the best, weights.

Every start gets parents and a local search. With the scale-free score the best `ITERATED` of them
go on to the iterated search; with equal variances the layered order hardly leaves anything to do,
unless there are fewer rows than nodes (`starts_disagree`) or effects are weak (`faint`): then all
starts are searched again, every node of them.
Starts are independent, so they run on threads (kernels release the interpreter lock), and nothing
depends on how many threads there are: random numbers derive from the seed and the start's label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._threads import in_threads
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.moments import Moments
from analyticdag.orders import consistent_order
from analyticdag.search.graph import (
    FAINT_GAMMA,
    Graph,
    Search,
    least_squares,
    many_are_faint,
    suspects,
)
from analyticdag.search.hubs import revisit_hubs
from analyticdag.search.kernels import Stop
from analyticdag.search.local import DRAWS
from analyticdag.search.records import PATIENT
from analyticdag.search.setting import (
    ScoreName,
    Setting,
    checked_covariance,
    checked_order,
    default_gamma,
    edge_penalty,
    graph_score,
    make_setting,
)
from analyticdag.search.starts import cheap_starts, named_rng, with_noise

# With equal variances and fewer rows than nodes, graphs up to this size are searched on. ER2, own
# seeds: 50 rows of 200 nodes 34 errors instead of 50; 100 of 400 20.5 instead of 21.5; 200 of 800
# the same graph for seven times the time.
FEW_ROWS_NODES = 500
# How many of the starts go on to the iterated search.
ITERATED = 2
# The iterated search runs in rounds of d / 2 disturbances, until a round gains nothing. As it was
# first written; no trial of other values is on record.
ROUNDS = 6
# With equal variances: how many faint parents a regression may take that is only tried. What a node
# cannot explain must not be explained by hundreds of accidents.
TRIED_PATIENCE = 2
# Starts that meet in one graph differ by rounding, which must not rank them: decimals that count.
TIES = 6


@dataclass(frozen=True)
class Contribution:
    """What one start led to; scores are of the whole graph, smaller is better."""

    start: str
    initial: float  # parents for the start's own order
    local: float  # after the local search
    iterated: float  # after the iterated local search (the same for starts that did not qualify)
    edges: int
    seconds: float


@dataclass(frozen=True)
class SearchResult:
    """The best graph found; `weights[i, j]` is the least-squares weight of i -> j."""

    weights: FloatArray
    order: IntArray
    score: float
    price: float  # of an edge, in the score
    start: str
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, eq=False)
class Run:
    """One start on its way."""

    label: str
    graph: Graph
    initial: float
    local: float
    iterated: float
    seconds: float


def search_orders(
    S: ArrayLike,
    n_samples: int,
    *,
    score: ScoreName = "unequal",
    gamma: float | None = None,
    allowed: BoolArray | None = None,
    required: BoolArray | None = None,
    max_parents: int | None = None,
    moments: Moments | None = None,
    starts: Mapping[str, ArrayLike] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> SearchResult:
    """Search over orders of the variables for the graph with the lowest score.

    `S` is the covariance of n_samples rows. `allowed[i, j]` and `required[i, j]` speak about the
    edge i -> j; required edges stay, and orders respect them. `moments` gives nodes covariances of
    their own, where interventions left some of the rows out of their equations. `starts` maps
    labels to orders to start from (None: cheap ones); equal variances add an order of their own.
    `gamma` is the extended BIC's; None: the score's own, or a lower one where effects are weak.
    `n_jobs` threads are used, all processors if None; the result does not depend on it. `progress`
    is told what happens, in words.
    """
    cov = checked_covariance(S)
    wanted, gamma = gamma, default_gamma(score) if gamma is None else gamma
    tell = progress or (lambda message: None)
    moments = moments or Moments.shared(cov, n_samples)
    setting = make_setting(moments, score, gamma, allowed, required, max_parents)
    stop = Stop()
    setting, layered = with_noise(setting, stop)
    if layered is not None:
        starts = {"layered": layered, **(starts or {})}
    elif starts is None:
        starts = cheap_starts(setting, random_state)
    tell(f"order search from {len(starts)} starts: {', '.join(starts)}")
    runs = local_runs(setting, starts, n_jobs, stop)
    W = least_squares(setting, runs[0].graph, moments)
    if layered is not None and many_are_faint(setting, W):
        tell("many effects are weak: edges get cheaper, and every node is tried elsewhere")
        gamma = FAINT_GAMMA if wanted is None else wanted
        price = edge_penalty(n_samples, len(cov), gamma)
        setting = replace(setting, penalty=price, thorough=True)
        runs = local_runs(setting, starts, n_jobs, stop)
        W = least_squares(setting, runs[0].graph, moments)
    if layered is None or starts_disagree(setting, runs):
        tell(f"iterated search from {', '.join(run.label for run in runs[:ITERATED])}")
        runs = iterated_runs(setting, runs, random_state, n_jobs, stop)
        W = least_squares(setting, runs[0].graph, moments)
    return SearchResult(
        weights=W,
        order=runs[0].graph.order,
        score=graph_score(moments, W, score=score, gamma=gamma),
        price=setting.penalty,
        start=runs[0].label,
        contributions=tuple(contribution(run) for run in runs),
    )


def starts_disagree(setting: Setting, runs: list[Run]) -> bool:
    """Whether, with fewer rows than nodes, equal variances led different starts to different ends.

    With more rows the layered order hardly leaves anything to do; with so few it is often wrong.
    """
    few = setting.n_samples < len(setting.S) <= FEW_ROWS_NODES
    return few and len({round(run.local, TIES) for run in runs}) > 1


def local_runs(
    setting: Setting, starts: Mapping[str, ArrayLike], n_jobs: int | None, stop: Stop
) -> list[Run]:
    """Local search from every start, best first."""
    labelled = [
        (label, consistent_order(checked_order(order, len(setting.S), label), setting.required))
        for label, order in starts.items()
    ]
    runs = in_threads(lambda start: search_locally(setting, *start, stop), labelled, n_jobs, stop)
    return sorted(runs, key=lambda run: (round(run.local, TIES), run.label))


def iterated_runs(
    setting: Setting, runs: list[Run], random_state: int | None, n_jobs: int | None, stop: Stop
) -> list[Run]:
    """Iterated search from the best runs; all runs, best first."""
    leaders = in_threads(
        lambda run: search_on(setting, run, named_rng(random_state, run.label), stop),
        runs[:ITERATED],
        n_jobs,
        stop,
    )
    ended = leaders + runs[ITERATED:]
    return sorted(ended, key=lambda run: (round(run.iterated, TIES), run.label))


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
    search.descend(nodes, setting.rules(patience=TRIED_PATIENCE if setting.equal else PATIENT))
    local = search.graph.score(setting)
    return Run(label, search.graph, initial, local, local, time.perf_counter() - began)


def search_on(setting: Setting, run: Run, rng: np.random.Generator, stop: Stop) -> Run:
    """Iterated local search from where a run stands."""
    began = time.perf_counter()
    d = len(run.graph.order)
    search = open_search(setting, run.graph.order, stop)
    rules = setting.rules(patience=TRIED_PATIENCE if setting.equal else PATIENT)
    for _ in range(ROUNDS):
        if search.disturb(rng.random((max(d // 2, 1), DRAWS)), rules) >= 0.0:
            break
    graph = search.graph
    if graph.score(setting) > run.local:  # cannot get worse but for rounding
        graph = run.graph
    seconds = run.seconds + time.perf_counter() - began
    return replace(run, graph=graph, iterated=graph.score(setting), seconds=seconds)


def select_parents(
    S: ArrayLike,
    n_samples: int,
    order: ArrayLike,
    *,
    score: ScoreName = "unequal",
    gamma: float | None = None,
    allowed: BoolArray | None = None,
    required: BoolArray | None = None,
    max_parents: int | None = None,
) -> FloatArray:
    """Weights of every node on its parents: those among its predecessors that lower the score."""
    cov = checked_covariance(S)
    gamma = default_gamma(score) if gamma is None else gamma
    moments = Moments.shared(cov, n_samples)
    setting = make_setting(moments, score, gamma, allowed, required, max_parents)
    stop = Stop()
    setting, _ = with_noise(setting, stop)
    start = consistent_order(checked_order(order, len(cov), "order"), setting.required)
    (search,) = in_threads(lambda begin: open_search(setting, begin, stop), [start], 1, stop)
    return least_squares(setting, search.graph, moments)


def contribution(run: Run) -> Contribution:
    """The record of a finished run."""
    edges = int(run.graph.count.sum())
    return Contribution(run.label, run.initial, run.local, run.iterated, edges, run.seconds)
