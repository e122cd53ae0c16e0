"""Graphs with categories: how probable their edges are, and the ladder of their prices.

    probabilities_of(fit, learned)      as `probabilities.py`, for graphs of columns and of blocks
    ladder_task(fit, learned)           as `ladder.py`, for both

Gaps are those of the search over blocks, in the reading of discrete columns that was taken. What an
edge between k and l columns gains has k·l degrees of freedom under chance; it is compared as the
gain of a single column that chance exceeds as rarely (`search.price.as_single`). The curves are
learnt on mixed tables of their own (docs/figures/mixed_probabilities.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import expit

from analyticdag._typing import FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.graphs import topological_order
from analyticdag.linear.ladder import LadderTask, Rung
from analyticdag.linear.learn import Learned
from analyticdag.linear.prepare import Fit
from analyticdag.linear.probabilities import (
    LARGEST,
    SUREST,
    Probabilities,
    edge_probabilities,
)
from analyticdag.linear.readings import varying
from analyticdag.linear.refine import SearchTable
from analyticdag.moments import Moments
from analyticdag.search import search_blocks
from analyticdag.search.blocks import make_block_setting
from analyticdag.search.gaps import edge_gaps
from analyticdag.search.price import as_single, gamma_of

# Level and slope of the one curve, slope of the other, by docs/figures/mixed_probabilities.py.
JOINED, DIRECTED = (0.115, 0.933), 0.773


@dataclass(frozen=True, eq=False)
class BlockTable:
    """The columns of a reading, node after node, in an order that does not depend on places."""

    table: SearchTable
    moments: Moments
    sizes: IntArray

    @classmethod
    def of(cls, fit: Fit, learned: Learned) -> BlockTable:
        """Take the reading that the graph was found with."""
        design, reading, table = fit.design, learned.reading, SearchTable.of(fit)
        assert design is not None
        assert reading is not None
        ordered, columns = design.in_order(table.order)
        return cls(table, varying(reading.moments, fit).in_order(columns), ordered.sizes)


@dataclass(frozen=True, eq=False)
class MixedEvidence:
    """What speaks for the edges of a graph with categories, as (d, d) matrices.

    `joined` is the root of what an edge gains, as a single column, less that of its price; `turned`
    the root of what the graph would cost with the edge turned or left out.
    """

    joined: FloatArray
    turned: FloatArray


def mixed_evidence(fit: Fit, learned: Learned) -> MixedEvidence | None:
    """Return what speaks for the edges; None of too large a graph. NaN where one is required."""
    adjacency = learned.finished.adjacency
    size = int(adjacency.sum()) * len(adjacency)
    if not size or size > LARGEST * max(fit.options.effort, 1.0):
        return None
    seen, price = BlockTable.of(fit, learned), learned.trace.edge_price(learned.loss.name)
    table, masks = seen.table, seen.table.masks
    known = masks.allowed, masks.required, masks.max_parents
    setting = make_block_setting(seen.moments, seen.sizes, price, *known)
    own = np.ascontiguousarray(adjacency[np.ix_(table.order, table.order)])
    gaps = edge_gaps(setting, own, topological_order(own))
    gains = as_single(gaps.apart + setting.prices, np.outer(seen.sizes, seen.sizes))
    joined = np.where(np.isinf(gaps.apart), np.nan, np.sqrt(gains) - np.sqrt(price))
    turned = table.back_matrix(gaps.turned)
    turned[fit.open_edges(adjacency)] = 0.0
    return MixedEvidence(table.back_matrix(joined), np.sqrt(turned))


def probabilities_of(fit: Fit, learned: Learned) -> Probabilities | None:
    """Return how probable the edges are, in the reading of discrete columns that was taken."""
    if learned.has_blocks:
        return mixed_probabilities(fit, learned)
    return edge_probabilities(learned.seen or fit, learned)


def ladder_task(fit: Fit, learned: Learned) -> LadderTask | None:
    """Return what the ladder is made from, in the reading that was taken."""
    if learned.has_blocks:
        return MixedLadderTask.of(fit, learned)
    return LadderTask.of(learned.seen or fit, learned)


def mixed_probabilities(fit: Fit, learned: Learned) -> Probabilities | None:
    """Return how probable the edges of a graph with categories are; None of too large a graph."""
    evidence = mixed_evidence(fit, learned)
    if evidence is None:
        return None
    joined = np.minimum(expit(JOINED[0] + JOINED[1] * evidence.joined), SUREST)
    return Probabilities(joined, joined * expit(DIRECTED * evidence.turned), 1.0)


@dataclass(frozen=True, eq=False)
class MixedLadderTask(LadderTask):
    """A ladder of graphs with categories: `moments` and `sizes` are of `nodes`, in their order."""

    nodes: IntArray
    sizes: IntArray
    strongest: float

    @classmethod
    def of(cls, fit: Fit, learned: Learned) -> MixedLadderTask:
        """Return the task of a fit with categories, in the reading that was taken."""
        seen = BlockTable.of(fit, learned)
        plain = LadderTask.of(fit, learned)
        assert plain is not None
        given = {field.name: getattr(plain, field.name) for field in fields(plain)}
        given |= {"moments": seen.moments, "weights": learned.finished.adjacency.astype(np.float64)}
        return cls(**given, nodes=seen.table.order, sizes=seen.sizes, strongest=_strongest(seen))

    def _order(self) -> IntArray:
        return self.nodes

    def _most(self) -> float:
        return self.strongest

    def _search(
        self, price: float, order: IntArray, starts: dict[str, IntArray]
    ) -> tuple[Rung, IntArray]:
        masks, n = self.masks.in_order(order), self.moments.n_samples
        found = search_blocks(
            self.moments,
            self.sizes,
            starts=starts,
            gamma=gamma_of(price, n, len(order)),
            effort=0.0,  # from these starts alone
            **vars(masks),  # allowed, required, max_parents
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        back = np.argsort(order)
        adjacency = found.adjacency[np.ix_(back, back)] | self.masks.required
        return self._rung(price, found.score, adjacency), topological_order(found.adjacency)


def _strongest(seen: BlockTable) -> float:
    """Return what the strongest pair gains without any other, as a single column."""
    R, node = correlations(seen.moments.S), np.repeat(np.arange(len(seen.sizes)), seen.sizes)
    np.fill_diagonal(R, 0.0)
    R[node[:, None] == node] = 0.0
    best = float(np.abs(R).max(initial=0.0))
    gain = -seen.moments.n_samples * math.log(max(1.0 - best**2, 1e-10))
    return float(as_single(np.array(gain), np.array(1)))
