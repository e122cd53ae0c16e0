"""Where the noise speaks against a class: edges turned that all of its members have the same way.

A search by covariances can end in a wrong class: a weak effect is missed, and a collider comes of
it. With noise that is not Gaussian it shows: the shapes alone would have an edge turned, or what is
left of an effect depends on its cause. Such edges are turned, the best turn first. The covariances
choose the parents that both ends get then, among the nodes next to them: one joins or leaves at a
time, while -n/2 · log(variance left) - price/2 · parents improves. Graphs are compared by both: the
score of the covariances plus the gains of the shapes, row by row, as for a claim (`evidence`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.knowledge import EdgeMasks
from analyticdag.least_squares import regressions
from analyticdag.losses import VARIANCE_FLOOR
from analyticdag.moments import Moments
from analyticdag.noise_shape.evidence import Preference, dependent_causes, preference
from analyticdag.noise_shape.local import Family, LocalGains, family_in
from analyticdag.noise_shape.turning import Arc


@dataclass(frozen=True, eq=False)
class _Turn:
    """An edge, the families that its ends get when it is turned, and how much better these are."""

    arc: Arc
    families: list[Family]
    better: Preference


@dataclass(frozen=True, eq=False)
class Reviser:
    """Turns edges of a graph, but for those at columns that have no shape of noise.

    `price` is that of an edge in the score of the search.
    """

    gains: LocalGains
    masks: EdgeMasks
    no_shape: BoolArray
    price: float

    def revise(self, graph: BoolArray) -> tuple[BoolArray, dict[Arc, float]]:
        """Return a graph without edges that the noise clearly wants turned; what was turned, by
        which margin."""
        graph = graph.copy()
        turned: dict[Arc, float] = {}
        turns = self._turns(graph, np.ones(len(graph), dtype=bool))
        while clear := [arc for arc, one in turns.items() if one.better.is_clear]:
            i, j = max(clear, key=lambda arc: turns[arc].better.gained)
            turns[i, j] = best = self._turn(graph, i, j)  # other turns may have changed it
            if not best.better.is_clear:
                continue
            changed = _near(graph, i, j)
            for node, parents in best.families:
                graph[:, node] = False
                graph[list(parents), node] = True
            changed |= _near(graph, i, j)
            turned.pop((i, j), None)
            turned[j, i] = best.better.margin
            kept = {arc: one for arc, one in turns.items() if not changed[list(arc)].any()}
            turns = kept | self._turns(graph, changed)
        return graph, turned

    def _turns(self, graph: BoolArray, nodes: BoolArray) -> dict[Arc, _Turn]:
        """Turn each edge at some nodes that is suspect."""
        may = graph & ~self.masks.required & self.masks.allowed.T & (nodes[:, None] | nodes)
        may &= ~(self.no_shape[:, None] | self.no_shape)
        arcs = [(int(i), int(j)) for i, j in np.argwhere(may)]
        return {arc: self._turn(graph, *arc) for arc in self._suspect(graph, arcs)}

    def _suspect(self, graph: BoolArray, arcs: list[Arc]) -> list[Arc]:
        """Return edges that the shapes alone would have turned, or whose noise is dependent."""
        own = {node: family_in(graph, node) for arc in arcs for node in arc}
        new = {(i, j): (_with(own[i], j), _without(own[j], i)) for i, j in arcs}
        self.gains.prepare([*own.values(), *(one for pair in new.values() for one in pair)])
        total = self.gains.total
        return [
            (i, j)
            for i, j in arcs
            if sum(map(total, new[i, j])) > total(own[i]) + total(own[j])
            or i in dependent_causes(self.gains, own[j])
        ]

    def _turn(self, graph: BoolArray, i: int, j: int) -> _Turn:
        """Turn i -> j, let both choose parents anew, and compare."""
        near = _near(graph, i, j)
        stays = graph.copy()
        stays[:, [i, j]] = self.masks.required[:, [i, j]]
        if j in _after(stays, i):  # edges that have to stay lead there another way
            return _Turn((i, j), [], Preference(0.0, 0.0))
        stays[j, i] = True
        old = [family_in(graph, node) for node in (i, j)]
        new = [self._chosen(stays, near, one) for one in old]
        self.gains.prepare([*old, *new])
        (after_i, after_j), (before_i, before_j) = (map(self._of_rows, of) for of in (new, old))
        return _Turn((i, j), new, preference(after_i + after_j - before_i - before_j))

    def _chosen(self, stays: BoolArray, near: BoolArray, family: Family) -> Family:
        """Choose the parents of a node anew, among those near it, beginning with what it has.

        None of them comes after it by the edges that stay, so no cycle arises.
        """
        node, old = family
        may = self.masks.allowed[:, node] & ~self.masks.required[:, node]
        may[_after(stays, node)] = False
        begin = stays[:, node].copy()
        begin[list(old)] |= may[list(old)]
        most = len(may) if self.masks.max_parents is None else self.masks.max_parents
        moments, free = self.gains.moments, np.flatnonzero(near & may)
        parents = choose_parents(moments, node, np.flatnonzero(begin), free, self.price, most)
        return node, tuple(parents.tolist())

    def _of_rows(self, family: Family) -> FloatArray:
        """Return what every row contributes to the score of a family."""
        node, parents = family
        places = np.array(parents, dtype=np.int64)
        moments = self.gains.moments
        even = score(moments, node, places, self.price) / moments.samples_of[node]
        u = self.gains.residuals(np.array([node]), places[None])[0]
        rows: FloatArray = even + (1.0 - u**2) / 2.0
        if self.gains.used is not None:
            rows *= self.gains.used[node]
        rows += self.gains.of_rows(family)
        return rows


def _after(graph: BoolArray, node: int) -> IntArray:
    """Return a node and all that it leads to."""
    # A sparse matrix for scipy's search would take longer to make than all of this.
    reached, front = np.zeros(len(graph), dtype=bool), np.array([node])
    while len(front):
        reached[front] = True
        front = np.flatnonzero(graph[front].any(axis=0) & ~reached)
    return np.flatnonzero(reached)


def _near(graph: BoolArray, i: int, j: int) -> BoolArray:
    """Mark the nodes joined to either of two."""
    return np.any(graph[:, [i, j]] | graph[[i, j]].T, axis=1)


def _with(family: Family, parent: int) -> Family:
    return family[0], tuple(sorted((*family[1], parent)))


def _without(family: Family, parent: int) -> Family:
    return family[0], tuple(one for one in family[1] if one != parent)


def score(moments: Moments, node: int, parents: IntArray, price: float) -> float:
    """Return the score of a node with these parents, beyond that of the node without any."""
    own = moments.own_variances[node]
    if not len(parents) or own <= 0.0:
        return 0.0
    explained = regressions(moments, np.array([node]), parents[None]).explained[0]
    share = max(1.0 - explained / own, VARIANCE_FLOOR)
    return float(-(moments.samples_of[node] * np.log(share) + price * len(parents)) / 2.0)


def choose_parents(
    moments: Moments, node: int, parents: IntArray, free: IntArray, price: float, most: int
) -> IntArray:
    """Return the best parents that are found from these on.

    Those in `free` may leave, and join while there are fewer than `most`; if there are more, some
    have to leave.
    """
    n, met = moments.samples_of[node], set[tuple[int, ...]]()
    while tuple(parents) not in met:
        met.add(tuple(parents))
        leaving = np.isin(parents, free)
        joining = np.setdiff1d(free, parents) if len(parents) < most else free[:0]
        lost, won = _shares(moments, node, parents, joining)
        better = np.r_[price - n * np.log1p(lost[leaving]), -n * np.log1p(-won) - price]
        if not len(better) or (better.max() <= 0.0 and len(parents) <= most):
            return parents
        step = np.r_[parents[leaving], joining][better.argmax()]
        parents = np.setxor1d(parents, [step])
    return parents  # of near copies rounding says that joining and leaving are both better


def _shares(
    moments: Moments, node: int, parents: IntArray, joining: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return by what share of itself the variance left rises without each of the parents, and falls
    with each that joins them."""
    S = moments.covariance_of(node)
    found = regressions(moments, np.array([node]), parents[None])
    inverse, slopes, floor = found.inverse[0], found.slopes[0], VARIANCE_FLOOR * S.diagonal()
    left = max(S[node, node] - found.explained[0], floor[node], np.finfo(float).tiny)
    across = S[np.ix_(joining, parents)]
    link = S[joining, node] - across @ slopes
    spread = S[joining, joining] - np.einsum("ck,ck->c", across @ inverse, across)
    # A node that the parents determine explains nothing more.
    more = np.where(spread > floor[joining], link**2 / np.maximum(spread, floor[joining]), 0.0)
    return slopes**2 / found.precisions[0] / left, np.minimum(more / left, 1.0 - VARIANCE_FLOOR)
