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
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.graphs import topological_order
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
from analyticdag.search.counts import CountSetting, make_count_setting
from analyticdag.search.price import as_single

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
class MixedJudge:
    """What probabilities of a graph with categories are made from; the setting has its nodes in
    `order`."""

    setting: BlockSetting
    order: IntArray
    adjacency: BoolArray
    open_edges: BoolArray
    excess: float = 1.0  # misfit is not looked at

    def evidence(self) -> MixedEvidence:
        """Return what speaks for the edges; NaN where one is required."""
        back, price = np.argsort(self.order), self.setting.price
        sizes, prices = self.setting.nodes.sizes[back], self.setting.prices[np.ix_(back, back)]
        gaps = gaps_of(self.setting, self.order, self.adjacency, self.open_edges)
        gains = as_single(gaps.apart + prices, np.outer(sizes, sizes))
        joined = np.where(np.isinf(gaps.apart), np.nan, np.sqrt(gains) - np.sqrt(price))
        return MixedEvidence(joined, np.sqrt(gaps.turned))

    @cached_property
    def probabilities(self) -> Probabilities:
        """How probable the edges are."""
        return self.evidence().probabilities(JOINED, DIRECTED)


def mixed_judge(fit: Fit, learned: Learned) -> MixedJudge | None:
    """Return what the probabilities are made from; None where there are none."""
    if not is_judged(fit, learned):
        return None
    seen, price = BlockTable.of(fit, learned), learned.trace.edge_price(learned.loss.name)
    setting = make_block_setting(seen.moments, seen.sizes, price, seen.table.masks)
    adjacency = learned.finished.adjacency
    return MixedJudge(setting, seen.table.order, adjacency, fit.open_edges(adjacency))


@dataclass(frozen=True, eq=False)
class CountJudge:
    """What probabilities of a graph by counts are made from; the setting has its nodes in
    `order`."""

    setting: CountSetting
    order: IntArray
    adjacency: BoolArray
    open_edges: BoolArray
    excess: float = 1.0  # misfit is not looked at

    @classmethod
    def of(cls, fit: Fit, learned: Learned, counts: LevelCounts) -> CountJudge | None:
        """Return what the probabilities are made from; None where there are none."""
        if not is_judged(fit, learned):
            return None
        table, price = SearchTable.of(fit), learned.trace.edge_price(learned.loss.name)
        setting = make_count_setting(counts.in_order(table.order), price, table.masks)
        adjacency = learned.finished.adjacency
        return cls(setting, table.order, adjacency, fit.open_edges(adjacency))

    def evidence(self) -> MixedEvidence:
        """Return what the score rises by without the edges, as roots; NaN where one is required."""
        gaps = gaps_of(self.setting, self.order, self.adjacency, self.open_edges)
        joined = np.where(np.isinf(gaps.apart), np.nan, np.sqrt(gaps.apart))
        return MixedEvidence(joined, np.sqrt(gaps.turned))

    @cached_property
    def probabilities(self) -> Probabilities:
        """How probable the edges are."""
        return self.evidence().probabilities(COUNTED, COUNTED_DIRECTED)


def judge_of(fit: Fit, learned: Learned) -> EdgeJudge | MixedJudge | CountJudge | None:
    """Return what says how probable the edges are, in the reading of discrete columns taken."""
    if learned.counts is not None:
        return CountJudge.of(fit, learned, learned.counts)
    if learned.has_blocks:
        return mixed_judge(fit, learned)
    return edge_judge(learned.seen or fit, learned)


def ladder_task(fit: Fit, learned: Learned) -> LadderTask | None:
    """Return what the ladder is made from, in the reading that was taken."""
    if learned.counts is not None:
        return CountLadderTask.from_counts(fit, learned, learned.counts)
    if learned.has_blocks:
        return MixedLadderTask.of(fit, learned)
    return LadderTask.of(learned.seen or fit, learned)


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


def _given(fit: Fit, learned: Learned, moments: Moments) -> dict[str, Any]:
    """Return what a ladder of nodes has from that of columns."""
    plain = LadderTask.of(fit, learned)
    assert plain is not None
    given = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return given | {"moments": moments, "weights": learned.finished.adjacency.astype(np.float64)}


@dataclass(frozen=True, eq=False)
class MixedLadderTask(NodeLadderTask):
    """A ladder of graphs with categories: `moments` and `sizes` are of the nodes."""

    sizes: IntArray
    strongest: float

    @classmethod
    def of(cls, fit: Fit, learned: Learned) -> MixedLadderTask:
        """Return the task of a fit with categories, in the reading that was taken."""
        seen = BlockTable.of(fit, learned)
        given = _given(fit, learned, seen.moments)
        return cls(**given, nodes=seen.table.order, sizes=seen.sizes, strongest=_strongest(seen))

    def _most(self) -> float:
        return self.strongest

    def _found(self, **asked: Any) -> BlockResult:
        return search_blocks(self.moments, self.sizes, **asked)


@dataclass(frozen=True, eq=False)
class CountLadderTask(NodeLadderTask):
    """A ladder of graphs by counts; `moments` only know how many rows were counted."""

    counts: LevelCounts

    @classmethod
    def from_counts(cls, fit: Fit, learned: Learned, counts: LevelCounts) -> CountLadderTask:
        """Return the task of a fit by counts."""
        order = SearchTable.of(fit).order
        given = _given(fit, learned, Moments.shared(np.eye(len(order)), counts.n_samples))
        return cls(**given, nodes=order, counts=counts.in_order(order))

    def _most(self) -> float:
        graph = self.weights[np.ix_(self.nodes, self.nodes)] != 0.0
        return float(self.counts.single_gains(graph).max(initial=0.0))

    def _found(self, **asked: Any) -> BlockResult:
        return search_counts(self.counts, **asked)


def _strongest(seen: BlockTable) -> float:
    """Return what the strongest pair gains without any other, as a single column."""
    R, node = correlations(seen.moments.S), np.repeat(np.arange(len(seen.sizes)), seen.sizes)
    np.fill_diagonal(R, 0.0)
    R[node[:, None] == node] = 0.0
    best = float(np.abs(R).max(initial=0.0))
    gain = -seen.moments.n_samples * math.log(max(1.0 - best**2, 1e-10))
    return float(as_single(np.array(gain), np.array(1)))
