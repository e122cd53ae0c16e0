"""The order search where some nodes are blocks of columns: starts, local search, disturbances.

The price of an edge between blocks of k and l columns buys k·l coefficients: the gain of an
accident is a chi-square with so many degrees of freedom, and its price is what such an accident
exceeds as rarely as that of a single column exceeds its own (`price.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._threads import in_threads
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.least_squares import block_log_det
from analyticdag.moments import Moments
from analyticdag.orders import consistent_order
from analyticdag.search import kernels
from analyticdag.search.engine import (
    FURTHER_STARTS,
    ITERATED,
    NOTICEABLE,
    RETURNS,
    ROUNDS,
    SAME,
    TIES,
    silent,
)
from analyticdag.search.local import REPAIRS, UNLIMITED
from analyticdag.search.price import (
    as_single,
    block_prices,
    cautious_price,
    checked_effect,
    effect_price,
    fair_price,
    gamma_of,
)
from analyticdag.search.setting import checked_knowledge, checked_order, edge_penalty
from analyticdag.search.starts import named_rng

# Nodes that one disturbance puts elsewhere, at most.
STEPS = 3
# What a disturbance may change, and what is put back.
STATE = ("order", "place", "parents", "count", "value", "stamp")


@dataclass(frozen=True)
class BlockResult:
    """The best graph of blocks; `gains` are what its edges are worth, by source and target."""

    adjacency: BoolArray
    gains: FloatArray
    score: float
    price: float  # of an edge between single columns
    gamma: float
    start: str
    returns: int
    ends: tuple[tuple[str, float, int], ...]  # start, score and edges of every run
    interrupted: bool = False  # by Ctrl-C: the best of the rounds that ended


@dataclass(frozen=True, eq=False)
class BlockTask:
    """Blocks of columns, and what is known about the edges between them."""

    moments: Moments  # of the columns
    sizes: IntArray
    forbidden: BoolArray
    required: BoolArray
    cap: int
    stop: kernels.Stop

    @property
    def first(self) -> IntArray:
        """The first column of each node."""
        ends: IntArray = np.cumsum(self.sizes)
        return ends - self.sizes

    def prices(self, price: float) -> FloatArray:
        """Prices of all edges, where one between single columns has this one."""
        return block_prices(price, self.sizes)

    def data(self, price: float) -> kernels.Blocks:
        """All of it for the kernels."""
        d, first = self.moments.S.shape[0], self.first
        return kernels.Blocks(
            np.ascontiguousarray(self.moments.covariances),
            self.moments.of[first] * (d * d),
            self.moments.samples_of[first].astype(np.float64),
            self.sizes,
            self.prices(price),
            self.forbidden,
            self.required,
            self.cap,
        )

    def columns(self, nodes: ArrayLike) -> IntArray:
        """The columns of some nodes."""
        parts = [self.first[k] + np.arange(self.sizes[k]) for k in np.asarray(nodes, np.int64)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def gains(self, adjacency: BoolArray) -> FloatArray:
        """What each edge of a graph is worth: n times what log det would rise without it."""
        gains = np.zeros(adjacency.shape)
        samples = self.moments.samples_of[self.first]
        for i, j in np.argwhere(adjacency).tolist():
            parents = np.flatnonzero(adjacency[:, j])
            without = parents[parents != i]
            S, own = self.moments.covariance_of(int(self.first[j])), self.columns([j])
            less, all_of_them = (block_log_det(S, own, self.columns(k)) for k in (without, parents))
            rise = less - all_of_them
            gains[i, j] = samples[j] * max(rise, 0.0)
        return gains


def make_task(
    moments: Moments,
    sizes: IntArray,
    allowed: BoolArray | None,
    required: BoolArray | None,
    max_parents: int | None,
) -> BlockTask:
    """Check what is known about the edges, and return all that a search needs."""
    d = len(sizes)
    forbidden, needed = checked_knowledge(allowed, required, max_parents, d)
    nothing = np.zeros((d, d), np.bool_)
    limit = d if max_parents is None else max_parents
    return BlockTask(
        moments,
        np.ascontiguousarray(sizes, np.int64),
        nothing.copy() if forbidden is None else np.array(forbidden),
        nothing if needed is None else needed,
        max(limit, 0 if needed is None else int(needed.sum(axis=0).max())),
        kernels.Stop(),
    )


def search_blocks(
    moments: Moments,
    sizes: IntArray,
    *,
    starts: Mapping[str, ArrayLike],
    gamma: float | Literal["auto"] = "auto",
    min_effect: float = 0.0,
    effort: float = 1.0,
    allowed: BoolArray | None = None,
    required: BoolArray | None = None,
    max_parents: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> BlockResult:
    """Search over orders of the blocks; arguments are those of `search_orders`.

    `moments` are those of the columns, block after block, scaled in any way. Ctrl-C ends the search
    with the best graph so far, once there is one.
    """
    d, n = len(sizes), moments.n_samples
    task = make_task(moments, sizes, allowed, required, max_parents)
    floor = effect_price(checked_effect(min_effect), n, equal=False)
    price = cautious_price(d) if isinstance(gamma, str) else edge_penalty(n, d, gamma)
    tell = progress or silent
    tell(f"search over {d} nodes, some of them blocks, from {', '.join(starts)}")
    price = max(price, floor)
    search, interrupted = _Searches(task, random_state, n_jobs), False
    runs = search.local(price, starts)
    try:
        if isinstance(gamma, str):
            fair = max(fair_price(_as_single(task, runs[0]), price, d), floor)
            if fair < price - NOTICEABLE:
                tell("weak effects are common: edges get cheaper")
                runs, price = search.local(fair, {**starts, "cautious": runs[0].order}), fair
        for ended in search.rounds(price, runs, effort):
            runs = ended
    except KeyboardInterrupt:
        interrupted = True
    best = runs[0]
    return BlockResult(
        adjacency=best.adjacency,
        gains=task.gains(best.adjacency),
        score=best.score,
        price=price,
        gamma=gamma_of(price, n, d),
        start=best.label,
        returns=_returns(runs),
        ends=tuple((run.label, run.score, int(run.adjacency.sum())) for run in runs),
        interrupted=interrupted,
    )


@dataclass(frozen=True, eq=False)
class _Run:
    label: str
    order: IntArray
    adjacency: BoolArray
    score: float


def _ranked(runs: list[_Run]) -> list[_Run]:
    return sorted(runs, key=lambda run: (round(run.score, TIES), run.label))


def _returns(runs: list[_Run]) -> int:
    best = runs[0].score
    return sum(run.score - best <= SAME * max(abs(best), 1.0) for run in runs)


@dataclass(frozen=True, eq=False)
class _Searches:
    """Searches from several orders, in threads; all runs are returned best first."""

    task: BlockTask
    random_state: int | None
    n_jobs: int | None

    def local(self, price: float, starts: Mapping[str, ArrayLike]) -> list[_Run]:
        """Local search from every start."""
        task, data, d = self.task, self.task.data(price), len(self.task.sizes)
        orders = [
            (label, consistent_order(checked_order(order, d, label), task.required))
            for label, order in starts.items()
        ]
        return self._all(lambda start: _search(task, data, *start), orders)

    def rounds(self, price: float, runs: list[_Run], effort: float) -> Iterator[list[_Run]]:
        """Disturb the best runs, then further ones, until the best score has come back."""
        many = round(ITERATED * min(effort, 1.0))
        ended, waiting = self._on(price, runs[:many]), runs[many:]
        yield _ranked(ended + waiting)
        d, rng = len(self.task.sizes), self.random_state
        for k in range(round(FURTHER_STARTS * effort)):
            if _returns(_ranked(ended)) >= RETURNS:
                break
            label = f"further-{k + 1}"
            ended += self._on(
                price, self.local(price, {label: named_rng(rng, label).permutation(d)})
            )
            yield _ranked(ended + waiting)

    def _on(self, price: float, runs: list[_Run]) -> list[_Run]:
        task, data = self.task, self.task.data(price)
        return self._all(
            lambda run: _search(
                task, data, run.label, run.order, named_rng(self.random_state, run.label)
            ),
            runs,
        )

    def _all(self, one: Callable[[Any], _Run], things: list[Any]) -> list[_Run]:
        return _ranked(in_threads(one, things, self.n_jobs, self.task.stop))


def _search(
    task: BlockTask,
    data: kernels.Blocks,
    label: str,
    order: IntArray,
    rng: np.random.Generator | None = None,
) -> _Run:
    """Local search; with random numbers, then disturbances: each is kept if it led to better."""
    d = len(order)
    graph = kernels.Ordered(order, task.sizes)
    kernels.fit_order(data, graph, task.stop)
    kernels.descend_blocks(data, graph, np.array(order), UNLIMITED, task.stop)
    for _ in range(ROUNDS):
        if rng is None or task.stop.asked:
            break
        gains = [_disturbed(task, data, graph, rng) for _ in range(max(d // 2, 1))]
        if not any(gains):
            break
    table = graph.arrays
    return _Run(label, table["order"].copy(), _adjacency(table), float(table["value"].sum()))


def _adjacency(table: Mapping[str, IntArray]) -> BoolArray:
    d = len(table["order"])
    adjacency = np.zeros((d, d), np.bool_)
    for j in range(d):
        adjacency[table["parents"][j, : table["count"][j]], j] = True
    return adjacency


def _disturbed(
    task: BlockTask, data: kernels.Blocks, graph: kernels.Ordered, rng: np.random.Generator
) -> bool:
    """Walk along edges, each node takes the place of the next; repair; whether the score fell."""
    table, d = graph.arrays, len(task.sizes)
    before = {name: table[name].copy() for name in STATE}
    x = int(rng.integers(d))
    for _ in range(int(rng.integers(1, STEPS + 1))):
        parents = table["parents"][x, : table["count"][x]]
        children = np.flatnonzero(_adjacency(table)[x])
        near = np.concatenate([parents, children])
        y = int(rng.choice(near)) if len(near) else int(rng.integers(d))
        kernels.move_to(data, graph, x, int(table["place"][y]), task.stop)
        x = y
    kernels.descend_blocks(data, graph, np.empty(0, np.int64), REPAIRS, task.stop)
    if table["value"].sum() < before["value"].sum() - 1e-6:
        return True
    for name in STATE:
        table[name][...] = before[name]
    return False


def _as_single(task: BlockTask, run: _Run) -> FloatArray:
    """The gains of all edges, as those of single columns."""
    freedom = np.outer(task.sizes, task.sizes)[run.adjacency]
    return as_single(task.gains(run.adjacency)[run.adjacency], freedom)
