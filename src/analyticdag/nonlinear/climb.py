"""Improve a DAG edge by edge: add, drop or turn the one that lowers the score most.

The score is an extended BIC, of regressions on splines (`surfaces`): one noise variance for all
columns (pooled) or one for each, log n for every function and, because there are d columns to
choose parents from, 2 log d for every edge. A network fits all edges of the graph at once, from one
start; this weighs every edge of every graph it passes. So the networks' graph is where it starts.
`refine` is the search after the networks: its two starts and what it leaves in the trace.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.graphs import reachability
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear.options import LOSSES, NetworkOptions
from analyticdag.nonlinear.surfaces import Fits, Surfaces
from analyticdag.optimize.trace import SearchRecord

logger = logging.getLogger(__name__)

_LEAST_GAIN = 1e-6  # of a move: less may be rounding
_TURN = 2  # the third of the moves that `best_move` compares: add, drop, turn
_MOVES_PER_PAIR = 10  # generous: from no edges, a DAG takes one move for each of its edges


@dataclass(frozen=True, eq=False)
class Climbed:
    """A DAG that no single edge improves, its score (smaller is better), and the moves it took."""

    adjacency: BoolArray
    score: float
    n_moves: int

    @property
    def n_edges(self) -> int:
        """How many edges the DAG has."""
        return int(self.adjacency.sum())


def climb(surfaces: Surfaces, start: BoolArray, masks: EdgeMasks, *, pooled: bool) -> Climbed:
    """Move from the DAG `start` to better ones until there is none."""
    graph = _Graph(surfaces, start, masks, pooled)
    n_moves, score = 0, graph.score()
    # Every move lowers the score, so no graph comes twice; the bound is for what rounding may do.
    for _ in range(_MOVES_PER_PAIR * max(start.size, 1)):
        gain, flips = graph.best_move()
        if gain < _LEAST_GAIN:
            break
        graph.flip(flips)
        if graph.score() > score - 0.5 * _LEAST_GAIN:  # it was rounding after all
            graph.flip(flips)
            break
        n_moves, score = n_moves + 1, graph.score()
    return Climbed(graph.adjacency, score, n_moves)


class _Graph:
    """A DAG on its way, with what every node's regression is one edge away."""

    def __init__(
        self, surfaces: Surfaces, start: BoolArray, masks: EdgeMasks, pooled: bool
    ) -> None:
        self.adjacency = start.copy()
        self.surfaces = surfaces
        self.masks = masks
        self.pooled = pooled
        self.n = surfaces.n
        self.varying = int(np.count_nonzero(surfaces.count))
        self.edge_price = 2.0 * math.log(self.varying)
        self.nodes = [self._fitted(t) for t in range(surfaces.d)]

    def _fitted(self, t: int) -> Fits:
        """Regress a node, without its least useful parents where they are too many for the rows."""
        fits = self.surfaces.fits(t, np.flatnonzero(self.adjacency[:, t]))
        free = self.adjacency[:, t] & ~self.masks.required[:, t]
        while fits.too_many and free.any():
            weakest = int(np.argmin(np.where(free, fits.left_dropped, np.inf)))
            self.adjacency[weakest, t] = free[weakest] = False
            fits = self.surfaces.fits(t, np.flatnonzero(self.adjacency[:, t]))
        return fits

    def flip(self, entries: list[tuple[int, int]]) -> None:
        """Add or drop these edges."""
        for i, t in entries:
            self.adjacency[i, t] = not self.adjacency[i, t]
            self.nodes[t] = self.surfaces.fits(t, np.flatnonzero(self.adjacency[:, t]))

    def score(self) -> float:
        """The extended BIC."""
        left = np.array([node.left for node in self.nodes])
        misfit = self.varying * math.log(left.sum()) if self.pooled else float(np.log(left).sum())
        functions = sum(node.functions for node in self.nodes)
        price = math.log(self.n) * functions + self.edge_price * self.adjacency.sum()
        return float(self.n * misfit + price)

    def best_move(self) -> tuple[float, list[tuple[int, int]]]:
        """Return the gain of the best move, and the entries of the matrix that it flips."""
        nodes = self.nodes
        used = np.array([node.functions for node in nodes])
        added = self._change(np.column_stack([node.left_added for node in nodes]))
        dropped = self._change(np.column_stack([node.left_dropped for node in nodes]))
        more = np.column_stack([node.functions_added for node in nodes]) - used
        fewer = np.column_stack([node.functions_dropped for node in nodes]) - used
        may_add, may_drop, may_turn = _legal_moves(self.adjacency, self.masks)
        gains = np.stack(
            [
                self._gain(added, more, may_add) - self.edge_price,
                self._gain(dropped, fewer, may_drop) + self.edge_price,
                self._gain(dropped + added.T, fewer + more.T, may_turn),
            ]
        )
        kind, i, t = (int(index) for index in np.unravel_index(np.argmax(gains), gains.shape))
        return float(gains[kind, i, t]), [(i, t), (t, i)] if kind == _TURN else [(i, t)]

    def _change(self, left: FloatArray) -> FloatArray:
        """How much worse each node would fit: in sums of squares if pooled, else in logarithms."""
        now = np.array([node.left for node in self.nodes])
        return left - now if self.pooled else np.log(left / now)

    def _gain(self, change: FloatArray, functions: FloatArray, legal: BoolArray) -> FloatArray:
        change = np.where(legal, change, np.inf)
        if self.pooled:
            total = sum(node.left for node in self.nodes)
            change = self.varying * np.log1p(change / total)
        return -(self.n * change + math.log(self.n) * functions)


def _legal_moves(adjacency: BoolArray, masks: EdgeMasks) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Which edges can be added, dropped and turned: no cycle, nothing against knowledge."""
    below = reachability(adjacency) & ~np.eye(len(adjacency), dtype=bool)
    most = len(adjacency) if masks.max_parents is None else masks.max_parents
    welcome = masks.allowed & (adjacency.sum(axis=0) < most)
    may_drop = adjacency & ~masks.required
    # With a second way from i to t, the turned edge t -> i would close a cycle.
    second_way = adjacency @ below
    return welcome & ~adjacency & ~below.T, may_drop, may_drop & welcome.T & ~second_way


def refine(
    rows: FloatArray,
    varies: BoolArray,
    learned: BoolArray,
    options: NetworkOptions,
    masks: EdgeMasks,
) -> tuple[BoolArray, SearchRecord]:
    """Climb from the DAG that the networks learned and from no edges; the better end wins.

    Columns that do not vary are of no use to any other, but may have edges that are required.
    """
    surfaces = Surfaces(np.where(varies, rows, 0.0))
    pooled = options.variance == "equal"
    starts = {"networks": learned, "no edges": masks.required}
    ends = {}
    for label, start in starts.items():
        ends[label] = end = climb(surfaces, start, masks, pooled=pooled)
        if options.verbose:
            logger.info(
                "search from %s: score=%.6g with %d edges after %d moves",
                label,
                end.score,
                end.n_edges,
                end.n_moves,
            )
    winner = min(ends, key=lambda label: ends[label].score)  # the first, of equals
    record = SearchRecord(
        # There is no score for a variance that depends on the parents.
        loss=LOSSES["equal" if pooled else "constant"],
        score=ends[winner].score,
        start=winner,
        price=math.log(len(rows)) * int(surfaces.count.max()) + 2.0 * math.log(varies.sum()),
        contributions=tuple(
            {"start": label, "score": end.score, "moves": end.n_moves, "edges": end.n_edges}
            for label, end in ends.items()
        ),
    )
    return ends[winner].adjacency, record
