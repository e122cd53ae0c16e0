"""The order search from end to end: starts, local search from each, iteration of the best, weights.

Every start gets parents and a local search. With the scale-free score the best `ITERATED` of them
go on to the iterated search; with equal variances the layered order hardly leaves anything to do,
unless there are fewer rows than nodes (`starts_disagree`) or weak effects are common (`price.py`):
then all starts are searched again, every node of them.
Starts are independent, so they run on threads (kernels release the interpreter lock), and nothing
depends on how many threads there are: random numbers derive from the seed and the start's label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._threads import in_threads
from analyticdag._typing import FloatArray, IntArray
from analyticdag.extended_bic import gamma_of
from analyticdag.graphs import topological_order
from analyticdag.knowledge import EdgeMasks
from analyticdag.least_squares import weights_of
from analyticdag.moments import Moments
from analyticdag.orders import consistent_order
from analyticdag.search.graph import Graph, Search, best_parts, least_squares, suspects
from analyticdag.search.hubs import revisit_hubs
from analyticdag.search.kernels import Stop
from analyticdag.search.price import Floor, cautious_price, fair_price
from analyticdag.search.setting import (
    ScoreName,
    Setting,
    checked_covariance,
    checked_order,
    graph_score,
    make_setting,
)
from analyticdag.search.starts import cheap_starts, named_rng, with_noise
from analyticdag.search.steps.local import DRAWS

# With equal variances and fewer rows than nodes, graphs up to this size are searched on. ER2, own
# seeds: 50 rows of 200 nodes 34 errors instead of 50; 100 of 400 20.5 instead of 21.5; 200 of 800
# the same graph for seven times the time.
FEW_ROWS_NODES = 500
# How many of the starts go on to the iterated search; and in graphs of so many nodes or more. What
# four are worth is said below.
ITERATED, ITERATED_LARGE = 4, 2
LARGE = 200
# The iterated search runs in rounds of d / 2 disturbances, until a round gains nothing. It begins
# anew from random orders until the best score was reached so many times, or so many further starts
# (times `effort`; fewer in large graphs) were made. On 28 tables of 50 to 100 nodes this ends 1.5
# above the best score known, with one barren start from two 5.2, FLOP with 20 restarts 5.5 and five
# times the processor time (docs/design/order-search.md).
ROUNDS = 10
RETURNS = 3
FURTHER_STARTS = 4
COMBINED = "combined"  # label of runs that began with the best parts of others
# Scores of runs that met in one class differ by rounding only.
SAME = 1e-9
# Effects are weak where they speak for a price this much lower. As first written; no trial of other
# values is on record.
NOTICEABLE = 0.5
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
    gamma: float  # the extended BIC's, of this price
    min_effect: float  # no edge has a smaller partial correlation
    start: str
    returns: int  # runs that ended at this score
    contributions: tuple[Contribution, ...]
    interrupted: bool = False  # by Ctrl-C: the best so far


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a search went on; `best` is the best graph so far."""

    def __init__(self, best: SearchResult) -> None:
        super().__init__("the search was interrupted; `best` is the best graph so far")
        self.best = best


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
    price: float | None = None,
    min_effect: float | Callable[[FloatArray], float] = 0.0,
    effort: float = 1.0,
    masks: EdgeMasks | None = None,
    moments: Moments | None = None,
    starts: Mapping[str, ArrayLike] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> SearchResult:
    """Search over orders of the variables for the graph with the lowest score.

    `S` is the covariance of n_samples rows. `price` is what an edge costs in the score, None lets
    the data choose it (`price.py`); no edge has a partial correlation below `min_effect`,
    which may be a function of the weights of a first graph, found at a cautious price.
    `effort` is a factor on how often the search may begin anew until its best score has come back.
    `masks` say which edges may and must be there; required ones stay, and orders respect them.
    `moments` gives nodes covariances of their own, where interventions left
    some of the rows out of their equations. `starts` maps labels to orders to start from (None:
    cheap ones); equal variances add an order of their own.
    `n_jobs` threads are used, all processors if None; the result does not depend on it. `progress`
    is told what happens, in words. Ctrl-C raises `Interrupted`, a KeyboardInterrupt that holds the
    best graph so far, once every start was searched.
    """
    cov = checked_covariance(S)
    moments = moments or Moments.shared(cov, n_samples)
    automatic = price is None
    price = cautious_price(len(cov)) if price is None else price
    least = Floor(min_effect, n_samples, score == "equal")
    setting = make_setting(moments, score, max(price, least.price), masks)
    stop = Stop()
    setting, layered = with_noise(setting, stop)
    if layered is not None:
        starts = {"layered": layered, **(starts or {})}
    elif starts is None:
        starts = cheap_starts(setting, random_state)
    work = Work(moments, dict(starts), random_state, n_jobs, effort, progress or silent, stop)
    work.tell(f"order search from {len(starts)} starts: {', '.join(starts)}")
    runs = local_runs(setting, starts, n_jobs, stop)
    first, regressions = runs[0], least_squares(setting, runs[0].graph, moments)
    W = weights_of(regressions, len(cov))
    least = least.after(W)
    gains = setting.gains_in(regressions, moments)
    fair = least.excess * fair_price(gains / least.excess, price, len(cov))
    final = max(fair if automatic else price, least.price)
    weak = max(fair, least.price) < setting.price - NOTICEABLE
    if final > setting.price or (weak and (automatic or setting.equal)):
        work.tell(f"the price of an edge is {final:.1f}" + ", as weak effects are common" * weak)
        setting = replace(setting, price=final, thorough=setting.equal and weak)
        if not setting.equal:
            work.starts["cautious"] = runs[0].graph.order
        runs = local_runs(setting, work.starts, n_jobs, stop)
    if layered is None or starts_disagree(setting, runs):
        runs = work.iterated(setting, runs)
    W = W if runs[0] is first else work.weights(setting, runs)
    if work.interrupted:
        raise Interrupted(work.result(setting, least, runs, W))
    return work.result(setting, least, runs, W)


@dataclass(eq=False)
class Work:
    """What the parts of one search share."""

    moments: Moments
    starts: dict[str, ArrayLike]
    random_state: int | None
    n_jobs: int | None
    effort: float
    tell: Callable[[str], None]
    stop: Stop
    interrupted: bool = False

    def weights(self, setting: Setting, runs: list[Run]) -> FloatArray:
        """Weights of the best graph."""
        return weights_of(least_squares(setting, runs[0].graph, self.moments), setting.n_nodes)

    def iterated(self, setting: Setting, runs: list[Run]) -> list[Run]:
        """Iterated search from the best runs, then from random orders, until the best comes back.

        All runs, best first; after an interrupt as far as they came.
        """
        known = runs
        try:
            for ended in self._rounds(setting, runs):
                known = ended
        except KeyboardInterrupt:
            self.interrupted = True
        return sorted(known, key=rank)

    def _rounds(self, setting: Setting, runs: list[Run]) -> Iterator[list[Run]]:
        """All runs, after each round of searches."""
        d = setting.n_nodes
        many = ITERATED if d < LARGE else ITERATED_LARGE
        self.tell(f"iterated search from {', '.join(run.label for run in runs[:many])}")
        ended, waiting = self._search_on(setting, runs[:many]), runs[many:]
        ended += self._combined(setting, ended, 1)
        yield ended + waiting
        # Orders that ignore the scale are of no use where it is known.
        share = 0.0 if setting.equal else min(1.0, LARGE / 2.0 / d)
        budget = round(FURTHER_STARTS * self.effort * share)
        for first in range(0, budget, many):
            if returns(ended) >= RETURNS:
                break
            labels = [f"further-{k + 1}" for k in range(first, min(first + many, budget))]
            orders = {name: self._rng(name).permutation(setting.n_nodes) for name in labels}
            new = self._search_on(setting, local_runs(setting, orders, self.n_jobs, self.stop))
            new += self._combined(setting, [min(ended, key=rank), *new], first // many + 2)
            ended += new
            yield ended + waiting

    def _search_on(self, setting: Setting, runs: list[Run]) -> list[Run]:
        return in_threads(
            lambda run: search_on(setting, run, self._rng(run.label), self.stop),
            runs,
            self.n_jobs,
            self.stop,
        )

    def _combined(self, setting: Setting, ended: list[Run], number: int) -> list[Run]:
        """Search on from the best parts of all runs, where they are better than the best run."""
        # Runs with one score met in one class, and have nothing to give to each other.
        distinct = {rank(run)[0]: run for run in sorted(ended, key=rank, reverse=True)}
        graphs = [distinct[score].graph.adjacency for score in sorted(distinct)]
        mixed = graphs[0] if setting.equal else best_parts(setting, graphs)
        if mixed is graphs[0]:
            return []
        order = {f"{COMBINED}-{number}": topological_order(mixed)}
        return self._search_on(setting, local_runs(setting, order, self.n_jobs, self.stop))

    def _rng(self, label: str) -> np.random.Generator:
        return named_rng(self.random_state, label)

    def result(
        self, setting: Setting, floor: Floor, runs: list[Run], W: FloatArray
    ) -> SearchResult:
        """The best run, with weights W, and what is to be known about it."""
        price = setting.price
        score: ScoreName = "equal" if setting.equal else "unequal"
        return SearchResult(
            weights=W,
            order=runs[0].graph.order,
            score=graph_score(self.moments, W, score=score, price=price),
            price=price,
            gamma=gamma_of(price, self.moments.n_samples, setting.n_nodes),
            min_effect=floor.known,
            start=runs[0].label,
            returns=returns(runs),
            contributions=tuple(contribution(run) for run in runs),
            interrupted=self.interrupted,
        )


def silent(message: str) -> None:
    """Tell nobody."""


def rank(run: Run) -> tuple[float, str]:
    """The better the lower; runs that met are in the order of their names."""
    return round(run.iterated, TIES), run.label


def returns(runs: list[Run]) -> int:
    """How many starts ended at the best score; one, if only a combination of them did."""
    best = min(run.iterated for run in runs)
    there = [run for run in runs if run.iterated - best <= SAME * max(abs(best), 1.0)]
    return max(sum(not run.label.startswith(COMBINED) for run in there), 1)


def starts_disagree(setting: Setting, runs: list[Run]) -> bool:
    """Whether, with fewer rows than nodes, equal variances led different starts to different ends.

    With more rows the layered order hardly leaves anything to do; with so few it is often wrong.
    """
    few = setting.n_samples < setting.n_nodes <= FEW_ROWS_NODES
    return few and len({round(run.local, TIES) for run in runs}) > 1


def local_runs(
    setting: Setting, starts: Mapping[str, ArrayLike], n_jobs: int | None, stop: Stop
) -> list[Run]:
    """Local search from every start, best first."""
    labelled = [
        (label, consistent_order(checked_order(order, setting.n_nodes, label), setting.required))
        for label, order in starts.items()
    ]
    runs = in_threads(lambda start: search_locally(setting, *start, stop), labelled, n_jobs, stop)
    return sorted(runs, key=lambda run: (round(run.local, TIES), run.label))


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
    search.descend(nodes, setting.trial_rules())
    local = search.graph.score(setting)
    return Run(label, search.graph, initial, local, local, time.perf_counter() - began)


def search_on(setting: Setting, run: Run, rng: np.random.Generator, stop: Stop) -> Run:
    """Iterated local search from where a run stands."""
    began = time.perf_counter()
    d = len(run.graph.order)
    search = open_search(setting, run.graph.order, stop)
    rules = setting.trial_rules()
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
    price: float,
    score: ScoreName = "unequal",
    masks: EdgeMasks | None = None,
) -> FloatArray:
    """Weights of every node on its parents: those among its predecessors that lower the score."""
    cov = checked_covariance(S)
    moments = Moments.shared(cov, n_samples)
    setting = make_setting(moments, score, price, masks)
    stop = Stop()
    setting, _ = with_noise(setting, stop)
    start = consistent_order(checked_order(order, len(cov), "order"), setting.required)
    (search,) = in_threads(lambda begin: open_search(setting, begin, stop), [start], 1, stop)
    return weights_of(least_squares(setting, search.graph, moments), len(cov))


def contribution(run: Run) -> Contribution:
    """The record of a finished run."""
    edges = int(run.graph.count.sum())
    return Contribution(run.label, run.initial, run.local, run.iterated, edges, run.seconds)
