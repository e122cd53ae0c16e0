"""A graph under search, what follows from one that was found, and the best parts of several.

Where two graphs differ in separate places, the better of each is taken (`best_parts`). The score is
a sum over nodes. Where no cycle can come of it, each node takes its parents from the one graph or
from the other, whichever lowers the score. A cycle can only arise inside a strongly connected
component of the two graphs taken together; there, nodes that a differing edge joins decide
together, and a cycle that remains is refused. Edges that one class leaves open are first turned as
the other graph has them, so that only real differences are left (`aligned`).

Local optima mostly differ in a few small places, and each of them has got some right. That is what
starting again cannot use: it has to get all of them right at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import is_dag, strong_components
from analyticdag.least_squares import Regressions, regressions_of
from analyticdag.moments import Moments
from analyticdag.search import kernels
from analyticdag.search.kernels import Stop
from analyticdag.search.setting import Setting
from analyticdag.search.steps.given import GAIN
from analyticdag.search.steps.local import DRAWS

# With equal variances: the residual variance, in noise variances, that calls for a local search
# (three standard errors, sqrt(2 / n) each, at 1,000 rows; docs/design/order-search.md).
SUSPICIOUS = 1.15


@dataclass(frozen=True, eq=False)
class Graph:
    """An order with parents, as the kernels left it."""

    order: IntArray
    count: IntArray
    parents: IntArray
    value: FloatArray

    @property
    def adjacency(self) -> BoolArray:
        """The graph as a (d, d) mask."""
        d, most = len(self.order), int(self.count.max(initial=0))
        used = np.arange(most) < self.count[:, None]
        edges = np.zeros((d, d), np.bool_)
        edges[self.parents[:, :most][used], np.repeat(np.arange(d), self.count)] = True
        return edges

    def residuals(self, setting: Setting) -> FloatArray:
        """Residual variances, for equal variances."""
        assert setting.noise is not None
        misfit = self.value - setting.price * self.count
        return misfit * (setting.noise / setting.moments.samples_of)

    def score(self, setting: Setting) -> float:
        """Score of the whole graph; with equal variances, with the noise level that fits it."""
        if not setting.equal:
            return float(self.value.sum())
        n = setting.moments.samples_of
        pooled = max(np.average(self.residuals(setting), weights=n), np.finfo(float).tiny)
        return float(n.sum() * np.log(pooled) + setting.price * self.count.sum())


class Search:
    """A graph under search, and the memory that kernels need for it."""

    def __init__(self, setting: Setting, order: IntArray, stop: Stop) -> None:
        self.setting, self.data, self.stop = setting, setting.data, stop
        self.memory = setting.memory(order)
        table = self.memory.state.arrays
        self.graph = Graph(*(table[name] for name in ("order", "count", "parents", "value")))
        self.link, self.spread = table["link"], table["spread"]

    def fit(self, nodes: IntArray, ends: IntArray, rules: kernels.Rules) -> None:
        """Parents from scratch: of nodes[k] among the first ends[k] of the order."""
        memory = self.memory
        kernels.fit(self.data, rules, memory.state, memory.mover, nodes, ends, self.stop)

    def descend(self, nodes: IntArray, rules: kernels.Rules) -> float:
        """Put these nodes where the score is lowest, and whom that concerns; the change."""
        nothing = np.empty((0, DRAWS))
        return kernels.search(self.data, rules, self.memory, nodes, nothing, self.stop)

    def disturb(self, draws: FloatArray, rules: kernels.Rules) -> float:
        """One disturbance for each row of uniform numbers; the change."""
        nobody = np.empty(0, np.int64)
        return kernels.search(self.data, rules, self.memory, nobody, draws, self.stop)

    def move(self, node: int, place: int, rules: kernels.Rules) -> float:
        """Put a node at a place of the order (ANYWHERE: the best); the change."""
        return kernels.move_node(self.data, rules, self.memory, node, place, self.stop)

    def give_parents(self, node: int, parents: IntArray, rules: kernels.Rules) -> None:
        """Give a node exactly these parents."""
        memory = self.memory
        kernels.give_parents(self.data, rules, memory.state, memory.mover, node, parents)

    def offer(self, node: int, parents: IntArray, end: int, rules: kernels.Rules) -> None:
        """Give a node these parents, shrunk and grown, if that lowers its score."""
        memory = self.memory
        kernels.offer(self.data, rules, memory.state, memory.mover, node, parents, end, self.stop)


def suspects(setting: Setting, graph: Graph) -> BoolArray:
    """Nodes that a better place may be found for, with equal variances.

    Where the order is right, residual variances are at the noise level. A node above it stands too
    early, or one of its children too late: that may be a parent of it.
    """
    assert setting.noise is not None
    suspicious: BoolArray = graph.residuals(setting) > SUSPICIOUS * setting.noise
    parents = graph.parents[:, : graph.count.max()]
    used = np.arange(parents.shape[1]) < graph.count[:, None]
    return suspicious | (suspicious[np.where(used, parents, 0)] & used).any(axis=1)


def least_squares(setting: Setting, graph: Graph, moments: Moments) -> list[Regressions]:
    """Every node on its parents, in the units of the moments."""
    edges = graph.adjacency
    if setting.required is not None:
        edges |= setting.required  # a required parent that others determine is in no regression
    return list(regressions_of(moments, edges))


def best_parts(setting: Setting, graphs: list[BoolArray]) -> BoolArray:
    """Put the better parts of further graphs into the first one."""
    best = graphs[0]
    for other in graphs[1:]:
        best = _grafted(setting, best, aligned(setting, other, best))
    return best


def aligned(setting: Setting, graph: BoolArray, like: BoolArray) -> BoolArray:
    """Turn edges of a graph as another has them, where that leaves the class as it is.

    An edge i -> j can be turned if i and j have the same parents but for i itself.
    """
    graph, turned = graph.copy(), True
    while turned:
        turned = False
        for i, j in np.argwhere(graph & like.T & _may_turn(setting, graph)).tolist():
            parents = graph[:, j].copy()
            parents[i] = False
            if np.array_equal(parents, graph[:, i]):
                graph[i, j], graph[j, i], turned = False, True, True
    return graph


def _may_turn(setting: Setting, graph: BoolArray) -> BoolArray:
    may = np.ones_like(graph)
    if setting.forbidden is not None:
        may &= ~setting.forbidden.T
    if setting.required is not None:
        may &= ~setting.required
    return may


def _grafted(setting: Setting, graph: BoolArray, other: BoolArray) -> BoolArray:
    """Take over the parts of another graph that lower the score, the best first."""
    differ = graph != other
    nodes = np.flatnonzero(differ.any(axis=0))
    if not len(nodes):
        return graph
    _, circle = strong_components(graph | other)
    joined = (differ | differ.T) & (circle[:, None] == circle)
    n_parts, part = connected_components(joined[np.ix_(nodes, nodes)], directed=False)
    gains = setting.values(graph, nodes) - setting.values(other, nodes)
    by_part = np.bincount(part, gains, minlength=n_parts)
    for k in np.argsort(-by_part, kind="stable")[: int((by_part > GAIN).sum())].tolist():
        mixed, own = graph.copy(), nodes[part == k]
        mixed[:, own] = other[:, own]
        graph = mixed if is_dag(mixed) else graph
    return graph
