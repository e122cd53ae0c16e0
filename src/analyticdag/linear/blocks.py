"""Graphs with categories: how probable their edges are, and the ladder of their prices.

    judge_of(fit, learned)              as `probabilities.py`, for graphs of columns and of blocks
    ladder_task(fit, learned)           as `ladder.py`, for both

Gaps are those of the search, in the reading of discrete columns that was taken. What an edge
between k and l columns gains has k·l degrees of freedom under chance; it is compared as the
gain of a single column that chance exceeds as rarely (`search.price.as_single`). The curves are
learnt on mixed tables of their own (docs/figures/mixed_probabilities.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.graphs import topological_order
from analyticdag.least_squares import NodeColumns
from analyticdag.linear.ladder import LadderTask, Rung
from analyticdag.linear.learn import Learned
from analyticdag.linear.prepare import Fit
from analyticdag.linear.probabilities import (
    SUREST,
    EdgeJudge,
    Probabilities,
    edge_judge,
    gaps_of,
    is_judged,
)
from analyticdag.linear.readings import varying
from analyticdag.linear.refine import SearchTable
from analyticdag.moments import Moments
from analyticdag.search import BlockResult, LevelCounts, search_blocks, search_counts
from analyticdag.search.blocks import BlockSetting, make_block_setting
from analyticdag.search.counts import make_count_setting
from analyticdag.search.price import as_single
from analyticdag.search.setting import Setting

# Level and slope of the one curve, slope of the other, by docs/figures/mixed_probabilities.py.
JOINED, DIRECTED = (0.437, 1.403), 0.809
# The same for graphs by counts, by docs/figures/count_probabilities.py.
COUNTED, COUNTED_DIRECTED = (-0.111, 0.745), 0.554


@dataclass(frozen=True, eq=False)
class BlockTable:
    """The columns of a reading, node after node, in an order that does not depend on places."""

    table: SearchTable
    moments: Moments
    sizes: IntArray

    @classmethod
    def of(cls, fit: Fit, learned: Learned) -> BlockTable:
        """Take the reading that the graph was found with."""
        reading, table = learned.reading, SearchTable.of(fit)
        assert reading is not None
        ordered, columns = reading.design.in_order(table.order)
        return cls(table, varying(reading, fit).in_order(columns), ordered.sizes)


@dataclass(frozen=True, eq=False)
class MixedEvidence:
    """What speaks for the edges of a graph with categories, as (d, d) matrices.

    `joined` is the root of what an edge gains, as a single column, less that of its price; `turned`
    the root of what the graph would cost with the edge turned or left out.
    """

    joined: FloatArray
    turned: FloatArray

    def probabilities(self, joined: tuple[float, float], directed: float) -> Probabilities:
        """Return what the curves with these constants make of it."""
        p = np.minimum(expit(joined[0] + joined[1] * self.joined), SUREST)
        return Probabilities(p, p * expit(directed * self.turned))


@dataclass(frozen=True, eq=False)
class NodeJudge(ABC):
    """What probabilities of a graph of nodes are made from; the setting has these in `order`."""

    setting: Setting
    order: IntArray
    adjacency: BoolArray
    open_edges: BoolArray
    excess: ClassVar[float] = 1.0  # misfit is not looked at
    curves: ClassVar[tuple[tuple[float, float], float]]

    @classmethod
    def of(cls, fit: Fit, learned: Learned, setting: Setting, order: IntArray) -> Self:
        """Judge the graph that was learned."""
        adjacency = learned.finished.adjacency
        return cls(setting, order, adjacency, fit.open_edges(adjacency))

    def evidence(self) -> MixedEvidence:
        """Return what speaks for the edges; NaN where one is required."""
        gaps = gaps_of(self.setting, self.order, self.adjacency, self.open_edges)
        joined = np.where(np.isinf(gaps.apart), np.nan, self._worth(gaps.apart))
        return MixedEvidence(joined, np.sqrt(gaps.turned * self._held))

    @property
    def _held(self) -> FloatArray | float:
        """The share of the evidence for each edge that rows with both ends hold."""
        return 1.0

    @abstractmethod
    def _worth(self, apart: FloatArray) -> FloatArray:
        """Return `joined` of the evidence, by what the score rises by without the edges."""

    @cached_property
    def probabilities(self) -> Probabilities:
        """How probable the edges are."""
        return self.evidence().probabilities(*self.curves)


@dataclass(frozen=True, eq=False)
class MixedJudge(NodeJudge):
    """Of a graph with categories."""

    setting: BlockSetting
    curves = JOINED, DIRECTED

    def _worth(self, apart: FloatArray) -> FloatArray:
        back = np.argsort(self.order)
        sizes, prices = self.setting.nodes.sizes[back], self.setting.prices[np.ix_(back, back)]
        gains = as_single((apart + prices) * self._held, np.outer(sizes, sizes))
        return np.sqrt(gains) - np.sqrt(self.setting.price)

    @property
    def _held(self) -> FloatArray | float:
        back, held = np.argsort(self.order), self.setting.held
        return 1.0 if held is None else held[np.ix_(back, back)]


@dataclass(frozen=True, eq=False)
class CountJudge(NodeJudge):
    """Of a graph by counts."""

    curves = COUNTED, COUNTED_DIRECTED

    def _worth(self, apart: FloatArray) -> FloatArray:
        return np.sqrt(apart)


def judge_of(fit: Fit, learned: Learned) -> EdgeJudge | NodeJudge | None:
    """Return what says how probable the edges are, in the reading of discrete columns taken."""
    if not (learned.has_blocks or learned.counts is not None):
        return edge_judge(learned.within(fit), learned)
    if not is_judged(fit, learned):
        return None
    if learned.counts is not None:
        table = SearchTable.of(fit)
        counted = make_count_setting(
            learned.counts.in_order(table.order), learned.price, table.masks
        )
        return CountJudge.of(fit, learned, counted, table.order)
    blocks = BlockTable.of(learned.within(fit), learned)
    setting = make_block_setting(blocks.moments, blocks.sizes, learned.price, blocks.table.masks)
    return MixedJudge.of(fit, learned, setting, blocks.table.order)


def ladder_task(fit: Fit, learned: Learned) -> LadderTask | None:
    """Return what the ladder is made from, in the reading that was taken."""
    if learned.counts is not None:
        return CountLadderTask.of_counts(fit, learned, learned.counts)
    if learned.has_blocks:
        return MixedLadderTask.of_blocks(learned.within(fit), learned)
    return LadderTask.of(learned.within(fit), learned)


@dataclass(frozen=True, eq=False)
class NodeLadderTask(LadderTask, ABC):
    """A ladder of graphs of `nodes`, in an order that does not depend on their places."""

    nodes: IntArray

    def _order(self) -> IntArray:
        return self.nodes

    def _search(
        self, price: float, order: IntArray, starts: dict[str, IntArray]
    ) -> tuple[Rung, IntArray]:
        found = self._found(
            starts=starts,
            price=price,
            effort=0.0,  # from these starts alone
            masks=self.masks.in_order(order),
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        back = np.argsort(order)
        adjacency = found.adjacency[np.ix_(back, back)] | self.masks.required
        return self._rung(price, found.score, adjacency), topological_order(found.adjacency)

    @abstractmethod
    def _found(self, **asked: Any) -> BlockResult:
        """Return what the search finds."""


@dataclass(frozen=True, eq=False)
class MixedLadderTask(NodeLadderTask):
    """A ladder of graphs with categories: `moments` and `sizes` are of the nodes."""

    sizes: IntArray
    strongest: float

    @classmethod
    def of_blocks(cls, fit: Fit, learned: Learned) -> Self | None:
        """Return the task of a fit with categories, in the reading that was taken."""
        blocks = BlockTable.of(fit, learned)
        own = {"nodes": blocks.table.order, "sizes": blocks.sizes, "strongest": _strongest(blocks)}
        return cls.of(fit, learned, blocks.moments, **own)

    def _most(self) -> float:
        return self.strongest

    def _found(self, **asked: Any) -> BlockResult:
        return search_blocks(self.moments, self.sizes, **asked)


@dataclass(frozen=True, eq=False)
class CountLadderTask(NodeLadderTask):
    """A ladder of graphs by counts; `moments` only know how many rows were counted."""

    counts: LevelCounts

    @classmethod
    def of_counts(cls, fit: Fit, learned: Learned, counts: LevelCounts) -> Self | None:
        """Return the task of a fit by counts."""
        order = SearchTable.of(fit).order
        moments = Moments.shared(np.eye(len(order)), counts.n_samples)
        return cls.of(fit, learned, moments, nodes=order, counts=counts.in_order(order))

    def _most(self) -> float:
        graph = self.weights[np.ix_(self.nodes, self.nodes)] != 0.0
        return float(self.counts.single_gains(graph).max(initial=0.0))

    def _found(self, **asked: Any) -> BlockResult:
        return search_counts(self.counts, **asked)


def _strongest(blocks: BlockTable) -> float:
    """Return what the strongest pair gains without any other, as a single column."""
    R, node = correlations(blocks.moments.S), NodeColumns(blocks.sizes).node
    np.fill_diagonal(R, 0.0)
    R[node[:, None] == node] = 0.0
    best = float(np.abs(R).max(initial=0.0))
    gain = -blocks.moments.n_samples * math.log(max(1.0 - best**2, 1e-10))
    return float(as_single(np.array(gain), np.array(1)))
