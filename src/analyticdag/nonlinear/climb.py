"""Improve a DAG edge by edge: add, drop or turn the one that lowers the score most.

The score is BIC, of regressions on splines (`surfaces`), with one noise variance for all columns or
one for each. A network fits all edges of the graph at once, from one start; this weighs every edge
of every graph it passes. So the networks' graph is where it starts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.knowledge import Constraints
from analyticdag.nonlinear.surfaces import Fits, Surfaces

_LEAST_GAIN = 1e-6  # of a move, in units of log-likelihood: less may be rounding
_TURN = 2


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


def climb(
    surfaces: Surfaces, start: BoolArray, constraints: Constraints, *, pooled: bool
) -> Climbed:
    """Move from the DAG `start` to better ones until there is none."""
    adjacency = start.copy()
    nodes = [surfaces.fits(t, np.flatnonzero(adjacency[:, t])) for t in range(surfaces.d)]
    n_moves = 0
    while True:
        gain, flips = _best_move(adjacency, nodes, surfaces.n, constraints, pooled)
        if gain < _LEAST_GAIN:
            return Climbed(adjacency, _score(nodes, surfaces.n, pooled), n_moves)
        for i, t in flips:
            adjacency[i, t] = not adjacency[i, t]
            nodes[t] = surfaces.fits(t, np.flatnonzero(adjacency[:, t]))
        n_moves += 1


def _score(nodes: list[Fits], n: int, pooled: bool) -> float:
    left = np.array([node.left for node in nodes])
    misfit = len(left) * math.log(left.sum()) if pooled else float(np.log(left).sum())
    return 0.5 * (n * misfit + math.log(n) * sum(node.functions for node in nodes))


def _best_move(
    adjacency: BoolArray, nodes: list[Fits], n: int, constraints: Constraints, pooled: bool
) -> tuple[float, list[tuple[int, int]]]:
    """Return the gain of the best move, and the entries of the matrix that it flips."""
    may_add, may_drop, may_turn = _legal_moves(adjacency, constraints)
    now = np.array([node.left for node in nodes])
    used = np.array([node.functions for node in nodes])
    added = _misfit(np.column_stack([node.left_added for node in nodes]), now, pooled)
    dropped = _misfit(np.column_stack([node.left_dropped for node in nodes]), now, pooled)
    more = np.column_stack([node.functions_added for node in nodes]) - used
    fewer = np.column_stack([node.functions_dropped for node in nodes]) - used

    def gain(change: FloatArray, functions: FloatArray, legal: BoolArray) -> FloatArray:
        change = np.where(legal, change, np.inf)
        misfit = len(now) * np.log1p(change / now.sum()) if pooled else change
        return -0.5 * (n * misfit + math.log(n) * functions)

    gains = np.stack(
        [
            gain(added, more, may_add),
            gain(dropped, fewer, may_drop),
            gain(dropped + added.T, fewer + more.T, may_turn),
        ]
    )
    kind, i, t = (int(index) for index in np.unravel_index(np.argmax(gains), gains.shape))
    return float(gains[kind, i, t]), [(i, t), (t, i)] if kind == _TURN else [(i, t)]


def _misfit(left: FloatArray, now: FloatArray, pooled: bool) -> FloatArray:
    """How much worse each node fits: in sums of squares if these are pooled, else in logs."""
    change: FloatArray = left - now if pooled else np.log(left / now)
    return change


def _legal_moves(
    adjacency: BoolArray, constraints: Constraints
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Which edges can be added, dropped and turned: no cycle, nothing against knowledge."""
    below = _descendants(adjacency)
    most = len(adjacency) if constraints.max_parents is None else constraints.max_parents
    welcome = constraints.allowed & (adjacency.sum(axis=0) < most)
    may_drop = adjacency & ~constraints.required
    # With a second way from i to t, the turned edge t -> i would close a cycle.
    second_way = adjacency @ below
    return welcome & ~adjacency & ~below.T, may_drop, may_drop & welcome.T & ~second_way


def _descendants(adjacency: BoolArray) -> BoolArray:
    """Return whether each node leads to each other one."""
    below = adjacency
    while True:
        further = below | (below @ below)
        if (further == below).all():
            return below
        below = further
