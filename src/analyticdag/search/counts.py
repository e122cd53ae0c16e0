"""The search where every node is discrete and is scored by counts (`steps/counts.py`).

    LevelCounts.of(levels)          a table of levels, as the kernels read it
    search_counts(counts, ...)      the best graph over all orders

It is the search of `engine.py` with another task. Parents may act together in any way: every
combination of them has shares of its own, so an edge costs the more the more parents there are. The
*price* that a search speaks of is that of an edge between two yes/no nodes without other parents.
By default naming a parent costs 2 log d, the description length of one of d nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.knowledge import EdgeMasks
from analyticdag.moments import Moments
from analyticdag.search import kernels
from analyticdag.search.blocks import BlockResult, block_result
from analyticdag.search.engine import Work, local_runs, silent
from analyticdag.search.price import as_single, checked_effect, effect_price
from analyticdag.search.setting import Setting, checked_knowledge
from analyticdag.search.steps.counts import FRACTION, MOST_STATES, cost
from analyticdag.search.steps.given import PATIENT
from analyticdag.search.steps.records import SLOTS

__all__ = ["CountSetting", "LevelCounts", "make_count_setting", "search_counts"]

# A table has a cell for every combination there could be, up to so many for each row that differs;
# beyond, combinations that come are numbered first.
_CELLS_PER_ROW = 4
# Rows times the third power of the nodes up to which pairs of parents are looked at: half a second
# for the searches from all starts (40 nodes and 2,000 rows, 1.3e8, took 0.46 instead of 0.18 s).
_MOST_PAIRED = 2e8


class Kept:
    """Scores that were counted before, under their keys; no part of what is pickled."""

    def __init__(self) -> None:
        self.keys, self.values = np.zeros((2, SLOTS), np.int64)
        self.keys[0] = 1  # the slot of an empty key holds no score

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        return Kept, ()


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The levels of all nodes: rows that differ, and how often each comes."""

    X: NDArray[np.uint8]  # (nodes, rows)
    times: IntArray
    levels: IntArray
    codes: IntArray  # random numbers: of the nodes as parents, and of those whose score it is
    kept: Kept

    @classmethod
    def of(cls, levels: IntArray) -> LevelCounts:
        """Count the rows of a table; the levels of a column are 0, 1, ... up to 255."""
        cells = np.ascontiguousarray(levels, np.uint8)
        as_one = cells.view(np.dtype((np.void, cells.shape[1]))).ravel()
        _, first, times = np.unique(as_one, return_index=True, return_counts=True)
        return cls(
            np.ascontiguousarray(cells[first].T),
            times.astype(np.int64),
            cells.max(axis=0).astype(np.int64) + 1,
            np.random.default_rng(0).integers(1, 2**62, (2, cells.shape[1])),
            Kept(),
        )

    def __reduce__(self) -> tuple[type[LevelCounts], tuple[Any, ...]]:
        return type(self), (self.X, self.times, self.levels, self.codes, self.kept)

    def in_order(self, order: IntArray) -> LevelCounts:
        """Return the nodes in another order; scores that are kept stay."""
        X, codes = np.ascontiguousarray(self.X[order]), self.codes[:, order]
        return replace(self, X=X, levels=self.levels[order], codes=codes)

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.times.sum())

    @property
    def room(self) -> int:
        """Cells that a table of counts may have; one for the node alone always has room."""
        most = int(self.levels.max())
        return len(self.times) * max(most, _CELLS_PER_ROW) + most**2

    @property
    def pairs(self) -> bool:
        """Whether two parents may come at once, where neither is worth it alone: not in tables so
        large that looking at all pairs would take longer than the search."""
        return len(self.times) * len(self.levels) ** 3 <= _MOST_PAIRED

    @cached_property
    def n_log_n(self) -> IntArray:
        """Of every whole number up to the number of rows, in FRACTIONs."""
        numbers = np.arange(self.n_samples + 1, dtype=np.float64)
        return np.rint(numbers * np.log(np.maximum(numbers, 1.0)) * FRACTION).astype(np.int64)

    @cached_property  # kernels point to it
    def code(self) -> IntArray:
        """Of the nodes as parents, and zero for nobody."""
        return np.append(self.codes[0], 0)

    @cached_property
    def target_code(self) -> IntArray:
        """Of the nodes whose score it is."""
        return np.ascontiguousarray(self.codes[1])

    @property
    def single(self) -> float:
        """What an edge between two yes/no nodes costs, its naming left out."""
        n = float(self.n_samples)
        return 2.0 * (cost(n, 4.0) - 2.0 * cost(n, 2.0))

    def table(self, node: int, parents: IntArray) -> tuple[IntArray, IntArray]:
        """Return a row of each combination of some parents, and in it the counts of a node."""
        number = np.zeros(len(self.times), np.int64)
        for p in parents.tolist():
            number = number * self.levels[p] + self.X[p]
            if number.max() > len(number):  # keep the numbers small
                number = np.unique(number, return_inverse=True)[1]
        _, first, number = np.unique(number, return_index=True, return_inverse=True)
        own = int(self.levels[node])
        size = len(first) * own
        found = np.bincount(number * own + self.X[node], self.times, minlength=size)
        return first, found.astype(np.int64).reshape(-1, own)

    def misfit(self, node: int, parents: IntArray) -> float:
        """-2 log likelihood of a node with some parents."""
        table = self.table(node, parents)[1]
        left = self.n_log_n[table.sum(axis=1)].sum() - self.n_log_n[table].sum()
        return float(2.0 * left / FRACTION)

    def cost(self, node: int, parents: IntArray) -> float:
        """What the shares of a node cost, in every combination of some parents."""
        n = float(self.n_samples)
        states = min(float(np.prod(self.levels[parents].astype(np.float64))), MOST_STATES)
        return 2.0 * (cost(n, states * float(self.levels[node])) - cost(n, states))

    def gains(self, graph: BoolArray) -> FloatArray:
        """What -2 log likelihood would rise by without each edge of a graph; zero elsewhere."""
        gains = np.zeros(graph.shape)
        for i, j in np.argwhere(graph).tolist():
            parents = np.flatnonzero(graph[:, j])
            gains[i, j] = self.misfit(j, parents[parents != i]) - self.misfit(j, parents)
        return np.maximum(gains, 0.0)

    def single_gains(self, graph: BoolArray) -> FloatArray:
        """The gains, as those of single columns that accidents exceed as rarely."""
        kinds = self.levels.astype(np.float64)
        combinations = np.prod(np.where(graph, kinds[:, None], 1.0), axis=0) / kinds[:, None]
        freedom = np.maximum(np.outer(kinds - 1.0, kinds - 1.0) * combinations, 1.0)
        return np.where(graph, as_single(self.gains(graph), freedom), 0.0)

    def strengths(self, graph: BoolArray) -> FloatArray:
        """The strengths of the edges, between 0 and 1, as those of correlations."""
        return np.sqrt(-np.expm1(-self.gains(graph) / self.n_samples))


@dataclass(frozen=True, eq=False, kw_only=True)
class CountSetting(Setting):
    """The task where nodes are scored by counts; `price` is what naming a parent costs.

    Covariances are not looked at, and `moments` only know how many rows there are.
    """

    counts: LevelCounts

    @property
    def edge_costs(self) -> FloatArray:
        """What every edge costs where there are no other parents."""
        n, kinds = float(self.n_samples), self.counts.levels.tolist()
        alone = {k: cost(n, float(k)) for k in set(kinds)}
        pairs = [[cost(n, float(k * m)) - alone[k] - alone[m] for m in kinds] for k in kinds]
        return 2.0 * np.array(pairs) + self.price

    def rules(self, noise: float | None = None, patience: int = PATIENT) -> kernels.Rules:
        """What a parent must be worth."""
        costs = np.ascontiguousarray(self.edge_costs)
        return kernels.Rules(self.price, noise, self.share, self.cap, patience, costs)

    @property
    def data(self) -> kernels.Data:
        """Levels, rows and knowledge for the kernels."""
        return kernels.Data(**self.given(np.arange(self.n_nodes)), counts=self.counts)

    def memory(self, order: IntArray) -> kernels.Memory:
        """What the kernels work on."""
        return kernels.Memory(order, self.cap + 1, None, self.counts)

    def value(self, node: int, parents: IntArray) -> float:
        """Score of a node with some parents."""
        paid = self.counts.cost(node, parents) + self.price * len(parents)
        return self.counts.misfit(node, parents) + paid

    def values(self, graph: BoolArray, nodes: IntArray) -> FloatArray:
        """Return the scores of some nodes."""
        return np.array([self.value(k, np.flatnonzero(graph[:, k])) for k in nodes.tolist()])


def make_count_setting(
    counts: LevelCounts, price: float | None = None, masks: EdgeMasks | None = None
) -> CountSetting:
    """Check what is known about the edges, and return all that a search needs.

    The price is that of an edge between yes/no nodes; None: as the number of nodes says.
    """
    d, n = len(counts.levels), counts.n_samples
    forbidden, required, cap = checked_knowledge(masks, d, d)
    naming = 2.0 * math.log(d) if price is None else max(price - counts.single, 0.0)
    moments = Moments.shared(np.eye(d), n)
    return CountSetting(moments, forbidden, required, naming, None, cap, counts=counts)


def search_counts(
    counts: LevelCounts,
    *,
    starts: Mapping[str, ArrayLike],
    price: float | None = None,
    min_effect: float = 0.0,
    effort: float = 1.0,
    masks: EdgeMasks | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> BlockResult:
    """Search over orders of discrete nodes; arguments are those of `search_orders`.

    Without `effort` the search is a local one from these starts. Ctrl-C ends the search with the
    best graph so far, once there is one.
    """
    d, n = len(counts.levels), counts.n_samples
    price = counts.single + 2.0 * math.log(d) if price is None else price
    price = max(price, effect_price(checked_effect(min_effect), n, equal=False))
    setting = make_count_setting(counts, price, masks)
    stop, tell = kernels.Stop(), progress or silent
    work = Work(setting.moments, dict(starts), random_state, n_jobs, effort, tell, stop)
    tell(f"search over {d} discrete nodes by counts, from {', '.join(starts)}")
    runs = local_runs(setting, starts, n_jobs, stop)
    if effort:
        runs = work.iterated(setting, runs)
    return block_result(runs, work, price)
