"""`edges_`: described by the fit, judged when somebody first asks for them.

How probable an edge is takes three short searches (`probabilities.py`). Of 200 columns that is as
much time as the fit of 100,000 rows needs for all else, and many fits (for a score, a prediction,
another graph) are never asked. No rows are needed for it, so that it can be done later. Only where
the shape of the noise claims directions the fit asks itself: it claims those of probable edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from analyticdag._redundant import NOTHING_REDUNDANT
from analyticdag._threads import one_blas_thread
from analyticdag._typing import BoolArray
from analyticdag.fitting.edges import FIXED_IN_CLASS, Edge, FixedBy
from analyticdag.fitting.statistics import Statistics
from analyticdag.linear.learn import Learned
from analyticdag.linear.probabilities import Probabilities
from analyticdag.linear.shape import told
from analyticdag.noise_shape import SURE

# Why an edge points as it does, where the score says how sure that is.
_BY_SCORE = (
    FixedBy.COLLIDER,
    FixedBy.ORIENTATION_RULES,
    FixedBy.INTERVENTIONS,
    FixedBy.EQUAL_VARIANCES,
)


class Judge(Protocol):
    """What says how probable the edges of a graph are, in the order of its matrix."""

    @property
    def adjacency(self) -> BoolArray: ...  # noqa: D102
    @property
    def excess(self) -> float: ...  # noqa: D102
    @property
    def probabilities(self) -> Probabilities: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class UntiedJudge:
    """A judge that is not asked about columns which determine each other.

    The score would be sure of an edge between them: it explains its target to the last digit.
    """

    judge: Judge
    tied: BoolArray

    @property
    def adjacency(self) -> BoolArray:
        """The edges of the graph."""
        return self.judge.adjacency

    @property
    def excess(self) -> float:
        """By what evidence is divided."""
        return self.judge.excess

    @property
    def probabilities(self) -> Probabilities:
        """How probable the edges are, NaN between columns that determine each other."""
        found = self.judge.probabilities
        both = (found.joined, found.directed)
        return Probabilities(*(np.where(self.tied, np.nan, one) for one in both))


class HasJudgedEdges:
    """An estimator whose edges are judged when they are first asked for."""

    _edges: tuple[Edge, ...]
    _judge: Judge | None

    @property
    def edges_(self) -> tuple[Edge, ...]:
        """What is known about every edge; how probable it is, is found out at the first look."""
        if "_edges" not in vars(self):
            raise AttributeError("edges_ is there after a fit: call fit first")
        judge, edges = self._judge, self._edges  # in this order: another thread may set both
        if judge is None:
            return edges
        with one_blas_thread():
            self.edges_ = edges = _judged(edges, judge)
        return edges

    @edges_.setter
    def edges_(self, edges: tuple[Edge, ...]) -> None:
        self._edges, self._judge = edges, None


def untied(judge: Judge | None, statistics: Statistics) -> Judge | None:
    """Return the judge that is not asked about columns which determine each other."""
    if judge is None or statistics.redundant == NOTHING_REDUNDANT:
        return judge
    return UntiedJudge(judge, statistics.redundant.tied(len(statistics.names)))


def with_sure_claims(learned: Learned, judge: Judge | None) -> Learned:
    """Return what was learned, with directions by the shape of noise at probable edges only."""
    shaped = learned.shaped
    if shaped is None:
        return learned
    if judge is not None and shaped.claims:
        shaped = shaped.where(~(judge.probabilities.joined < SURE))
    choice = learned.choice and replace(learned.choice, shape=told(shaped))
    return replace(learned, shaped=shaped, choice=choice)


def _judged(edges: tuple[Edge, ...], judge: Judge) -> tuple[Edge, ...]:
    """Return the edges with their probabilities; a known direction is as sure as its edge."""
    places, found = np.argwhere(judge.adjacency).tolist(), judge.probabilities
    return tuple(_with(edge, i, j, found) for edge, (i, j) in zip(edges, places, strict=True))


def _with(edge: Edge, i: int, j: int, found: Probabilities) -> Edge:
    joined, directed = float(found.joined[i, j]), None
    if np.isnan(joined):
        return edge
    if edge.fixed_by is FixedBy.KNOWLEDGE:
        directed = joined
    elif edge.fixed_by in _BY_SCORE and not _against_score(edge):
        directed = float(found.directed[i, j])
        directed = None if np.isnan(directed) else directed
    return edge._replace(probability=joined, direction_probability=directed)


def _against_score(edge: Edge) -> bool:
    """Whether the noise turned an edge that the covariances had fixed the other way."""
    return edge.fixed_by in FIXED_IN_CLASS and edge.margin is not None
