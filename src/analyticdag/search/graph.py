"""A graph under search, and what follows from one that was found: score, suspects, weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.least_squares import regressions_of, weights_on_parents
from analyticdag.moments import Moments
from analyticdag.search import kernels
from analyticdag.search.kernels import Stop
from analyticdag.search.local import DRAWS
from analyticdag.search.records import COLLINEAR
from analyticdag.search.setting import Setting

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
        misfit = self.value - setting.penalty * self.count
        return misfit * (setting.noise / setting.moments.samples_of)

    def score(self, setting: Setting) -> float:
        """Score of the whole graph; with equal variances, with the noise level that fits it."""
        if not setting.equal:
            return float(self.value.sum())
        n = setting.moments.samples_of
        pooled = max(np.average(self.residuals(setting), weights=n), np.finfo(float).tiny)
        return float(n.sum() * np.log(pooled) + setting.penalty * self.count.sum())


class Search:
    """A graph under search, and the memory that kernels need for it."""

    def __init__(self, setting: Setting, order: IntArray, stop: Stop) -> None:
        self.setting, self.data, self.stop = setting, setting.data, stop
        self.memory = kernels.Memory(order, setting.cap + 1)
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


def least_squares(setting: Setting, graph: Graph, moments: Moments) -> FloatArray:
    """Weights of every node on its parents, in the units of the moments."""
    edges = graph.adjacency
    if setting.required is not None:
        edges |= setting.required  # a required parent that others determine is in no regression
    return weights_on_parents(moments, edges)


def edge_gains(setting: Setting, W: FloatArray) -> FloatArray:
    """What each edge of a graph with weights W gains, its price not counted."""
    d, samples, gains = len(W), setting.moments.samples_of, [np.empty(0)]
    own = setting.moments.covariances[setting.moments.of, np.arange(d), np.arange(d)]
    for found in regressions_of(setting.moments, W != 0.0):
        n = samples[found.nodes, None].astype(np.float64)
        worth = found.slopes**2 / found.precisions
        if setting.noise is None:
            left = np.maximum(own[found.nodes] - found.explained, COLLINEAR * own[found.nodes])
            gains.append((n * np.log1p(worth / left[:, None])).ravel())
        else:
            gains.append((n * worth / setting.noise).ravel())
    return np.concatenate(gains)
