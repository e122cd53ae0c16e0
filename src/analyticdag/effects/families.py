"""What a graph by counts knows of every node: how often its levels came with those of its causes.

    Families.of(counts, values, edges)     counted once, with all nodes that may be causes
    Families.counts(node, causes)          the counts of its levels, for some causes
    after(tables, do, order)               the shares of all levels when some nodes are set

`after` goes through the nodes, causes first, with a list of *states*: the levels of those nodes
that still have effects to come, and how probable each state is. A node multiplies the states by its
levels; once the last effect of a node is dealt with, states that differ in nothing else are one. So
the shares are exact as long as there are no more than MOST_KEPT; of more, some are chosen, each by
its weight. `thrifty_order` is an order in which few nodes wait.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import reachability, topological_order
from analyticdag.search import LevelCounts

LevelArray = NDArray[np.uint8]

# More states are thinned: shares are then off by 0.003 at most (30 to 100 nodes, own seeds).
MOST_KEPT = 40_000
# Weights, states times draws: with 100 draws 10,000 states. All draws share the same states, so
# that thinning adds little to their spread.
_MOST_WEIGHTS = 1_000_000
# As many rows with the shares of the whole table are added to a combination, where single rows or
# draws are asked for: without, a combination that came once would be certain.
_PRIOR = 1.0


@dataclass(frozen=True, eq=False)
class Family:
    """How often each combination of the levels of some nodes came; the first is the effect."""

    nodes: IntArray  # the effect, then all that may cause it, in rising order
    cells: LevelArray  # (combinations, nodes)
    times: IntArray


@dataclass(frozen=True, eq=False)
class Families:
    """The counts of every node with all nodes that may cause it.

    `values` are what the levels 0, 1, ... of each node stand for in the table.
    """

    values: tuple[FloatArray, ...]
    every: tuple[Family, ...]

    @classmethod
    def of(cls, counts: LevelCounts, values: tuple[FloatArray, ...], edges: BoolArray) -> Families:
        """Count the families of a class of graphs, in which open edges are set both ways."""
        every = []
        for j in range(len(edges)):
            nodes = np.concatenate([[j], np.flatnonzero(edges[:, j])])
            cells, which = _distinct(counts.X[nodes].T)
            times = np.bincount(which, counts.times, minlength=len(cells)).astype(np.int64)
            every.append(Family(nodes, cells, times))
        return cls(values, tuple(every))

    def counts(self, node: int, causes: IntArray) -> FamilyCounts:
        """Return the counts of a node's levels in every combination of these causes that came."""
        family = self.every[node]
        chosen = 1 + np.searchsorted(family.nodes[1:], causes)
        combinations, which = _distinct(family.cells[:, chosen])
        table = np.zeros((len(combinations), len(self.values[node])))
        np.add.at(table, (which, family.cells[:, 0]), family.times)
        return FamilyCounts(causes, combinations, table)


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """Counts of a node's levels, (combinations, levels), for combinations of levels of causes."""

    causes: IntArray
    combinations: LevelArray
    table: FloatArray

    @property
    def overall(self) -> FloatArray:
        """The shares in all rows."""
        total: FloatArray = self.table.sum(axis=0)
        return total / total.sum()

    def shares(self) -> Shares:
        """Return the shares as the rows have them; in a combination that never came, overall."""
        return self._shares(np.vstack([self.table, self.overall])[:, :, None])

    def smoothed(self) -> Shares:
        """Return the shares with `_PRIOR` rows more, for predictions of single rows."""
        return self._shares(self._with_prior()[:, :, None])

    def drawn(self, n: int, rng: np.random.Generator) -> Shares:
        """Return n draws of what the shares could be, given the rows."""
        sizes = self._with_prior()
        return self._shares(rng.standard_gamma(sizes[:, :, None], (*sizes.shape, n)))

    def _with_prior(self) -> FloatArray:
        return np.vstack([self.table, np.zeros_like(self.overall)]) + _PRIOR * self.overall

    def _shares(self, sizes: FloatArray) -> Shares:
        return Shares(self.causes, self.combinations, sizes / sizes.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of a node's levels, (combinations, and one for any other; levels; draws)."""

    causes: IntArray
    combinations: LevelArray
    table: FloatArray

    def given(self, levels: LevelArray) -> FloatArray:
        """Return the shares, (rows, levels, draws), for rows of levels of the causes."""
        return self.table[_places(self.combinations, levels)]


def after(
    tables: Sequence[Shares], do: Mapping[int, FloatArray], order: Sequence[int]
) -> dict[int, FloatArray]:
    """Return the shares, (levels, draws), of nodes when some are given theirs from outside.

    `order` has causes first, and with a node all its causes.
    """
    last = {k: place for place, j in enumerate(order) if j not in do for k in tables[j].causes}
    n_draws, rng = tables[order[0]].table.shape[2], np.random.default_rng(0)
    states, weights = np.zeros((1, 0), np.uint8), np.ones((1, n_draws))
    waiting: list[int] = []  # whose levels the columns of the states are
    found: dict[int, FloatArray] = {}
    for place, j in enumerate(order):
        if j in do:
            shares = np.broadcast_to(do[j][None, :, None], (len(states), len(do[j]), n_draws))
        else:
            shares = tables[j].given(states[:, [waiting.index(k) for k in tables[j].causes]])
        joint = weights[:, None, :] * shares
        found[j] = joint.sum(axis=0)
        if j in last:
            levels = np.tile(np.arange(joint.shape[1], dtype=np.uint8), len(states))
            states = np.column_stack([np.repeat(states, joint.shape[1], axis=0), levels])
            weights, waiting = joint.reshape(-1, n_draws), [*waiting, j]
        kept = [at for at, k in enumerate(waiting) if last[k] > place]
        if len(kept) < len(waiting) or j in last:
            states, weights = _merged(states[:, kept], weights, rng)
            waiting = [waiting[at] for at in kept]
    return found


def _merged(
    states: LevelArray, weights: FloatArray, rng: np.random.Generator
) -> tuple[LevelArray, FloatArray]:
    """Return every state once; where they are too many, some of them."""
    distinct, which = _distinct(states)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(len(distinct)))
    summed = np.add.reduceat(weights[order], starts, axis=0)
    most = min(MOST_KEPT, _MOST_WEIGHTS // weights.shape[1])
    chosen, factors = _chosen(summed.mean(axis=1), most, rng)
    kept = summed[chosen] * factors[:, None]
    return distinct[chosen], kept / kept.sum(axis=0)  # the choice keeps the mean of the draws alone


def _chosen(
    weights: FloatArray, most: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return which states stay, at most so many, and by what their weights grow.

    Heavy ones stay as they are. Of light ones some are drawn, one in each of equal parts of their
    weight, and stand for the others (Fearnhead and Clifford 2003).
    """
    possible = np.flatnonzero(weights > 0.0)
    if len(possible) <= most:
        return possible, np.ones(len(possible))
    weights = weights[possible]
    rising = np.sort(weights)
    # If the k lightest are drawn from, so many of them stay, each with the weight of a part.
    parts = most - len(weights) + np.arange(1, len(weights) + 1)
    limits = np.where(parts > 0, np.cumsum(rising) / np.maximum(parts, 1), np.inf)
    k = int(np.flatnonzero(rising <= limits)[-1])
    limit, n_parts = float(limits[k]), int(parts[k])
    light, heavy = np.flatnonzero(weights <= rising[k]), np.flatnonzero(weights > rising[k])
    ends = np.cumsum(weights[light])
    places = np.minimum((np.arange(n_parts) + rng.random(n_parts)) * limit, ends[-1])
    stay, times = np.unique(light[np.searchsorted(ends, places)], return_counts=True)
    factors = np.concatenate([np.ones(len(heavy)), times * limit / weights[stay]])
    return possible[np.concatenate([heavy, stay])], factors


def thrifty_order(
    graph: BoolArray,
    n_levels: Sequence[int],
    do: Collection[int],
    wanted: BoolArray | slice = slice(None),
) -> list[int]:
    """Return some nodes and what they come from once others are set, causes first.

    The next is always a node which, with all that it still comes from, leaves the fewest states
    waiting for effects.
    """
    graph = graph.copy()
    graph[:, list(do)] = False
    reach = reachability(graph)
    left: BoolArray = np.asarray(reach[:, wanted].any(axis=1))
    graph &= left  # effects that nobody asks about do not wait
    arrows, sizes, ranks = graph.astype(np.float64), np.log(n_levels), _ranks(graph)
    order: list[int] = []
    while left.any():
        ahead = np.flatnonzero(left)
        done = ~left[:, None] | reach[:, ahead]  # [:, k]: what is done after the k-th of them
        waits = done & (arrows @ ~done > 0.0)
        # Among equals, the one with the fewest nodes still to do.
        best = ahead[int(np.argmin(sizes @ waits + 1e-6 * done.sum(axis=0)))]
        new = np.flatnonzero(left & reach[:, best])
        order += new[np.argsort(ranks[new])].tolist()
        left[new] = False
    return order


def _ranks(graph: BoolArray) -> IntArray:
    return np.argsort(topological_order(graph))


def _distinct(rows: LevelArray) -> tuple[LevelArray, IntArray]:
    """Return the rows that differ, in the order of their keys, and which of them each row is."""
    _, first, which = np.unique(_keys(rows), return_index=True, return_inverse=True)
    return rows[first], which


def _places(known: LevelArray, rows: LevelArray) -> IntArray:
    """Return the place of every row among known ones, which are in order; of others one beyond."""
    keys, own = _keys(known), _keys(rows)
    places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    return np.where(keys[places] == own, places, len(keys))


def _keys(rows: LevelArray) -> Any:
    """Return one key for each row."""
    cells = np.ascontiguousarray(rows) if rows.shape[1] else np.zeros((len(rows), 1), np.uint8)
    return cells.view(f"S{cells.shape[1]}").ravel()
