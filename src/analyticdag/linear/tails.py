"""Links that a few rows make: what gaps, and the ranks of all rows, leave of the evidence.

The gain of an edge, -n log(1 - r²) with the partial correlation r, is evidence if no row weighs
much more than others. With heavy tails one row that is far out in two columns makes r large, and a
hundred independent columns have thousands of pairs for it to happen in. So an edge i -> j is looked
at a second time, by what is left of both columns:

    z = what the other parents of j leave of i,   u = what they leave of j
    ranked = -n log(1 - s²),   s = correlation of the normal scores of z and of u

Normal scores have no outliers, so that accidents gain by them what they should whatever the tails
are. On normal columns s and r agree, and where an effect is real, s sees it in all rows. The share
of the gain that is left (`backed`, at most one) multiplies the evidence for the edge; an edge whose
evidence does not pay its price any more is none (`learn.py` searches again without it).

Looked at are edges between columns that both have heavier tails than chance gives to normal ones,
and whose kurtoses, multiplied, are not small beside n: by that factor over n the squares of
accidents have heavier tails than a chi-square. How it was compared
with robust standard errors is told in docs/what-the-data-can-tell.md.

Where columns have gaps, fewer rows than are counted may hold both ends of an edge, and an accident
gains more by it than a chi-square: only the share that is held (`Moments.held`) is evidence. On own
tables the rows that hold the other parents too did no better, and lost more true links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.rows import evenly
from analyticdag.fitting.statistics import Statistics
from analyticdag.least_squares import regressions_of
from analyticdag.linear.choice import GAUSSIAN, Residuals
from analyticdag.losses import VARIANCE_FLOOR
from analyticdag.moments import Moments

# Product of two kurtoses over n, up to which tails are light: on own tables without links no false
# edge had less than 0.29.
_LIGHT = 0.1
_STANDARD_ERRORS = 4.0  # by which kurtoses of heavy tails exceed a Gaussian's
_FEWEST = 10  # rows that ranks are made of
# A dependence that so many rows show so clearly (a squared standard score) needs no more of them.
_GLANCE, _CLEAR = 2_000, 50.0
_TINY = float(np.finfo(float).tiny)
_PERFECT = 1.0 - 1e-12  # squared correlations above differ from one by rounding only


@dataclass(frozen=True, eq=False)
class _Edges:
    """The edges into one node: slopes and the inverse of the parents' covariance."""

    node: int
    parents: IntArray
    inverse: FloatArray
    slopes: FloatArray
    left: float  # of the node's variance
    correlations: FloatArray  # partial ones, squared

    def leftovers(self, a: int, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the other parents leave of parent a, and of the node (the last column)."""
        causes = columns[:, :-1]
        z = causes @ (self.inverse[:, a] / self.inverse[a, a])
        return z, columns[:, -1] - causes @ self.slopes + self.slopes[a] * z


class Tails:
    """What the rows of a fit say about the edges of graphs, given by their weights.

    The last answer is kept: the graph of a fit is asked about twice.
    """

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._last: tuple[FloatArray, FloatArray | None] | None = None

    def backed(self, W: FloatArray) -> FloatArray | None:
        """Return the (d, d) shares of the evidence that are left; None where all is left."""
        last = self._last
        if last is None or last[0] is not W:
            self._last = last = (W, _shares(self._statistics, W))
        return last[1]

    def unpaid(self, W: FloatArray, price: float, *, equal: bool) -> BoolArray | None:
        """Return the edges whose evidence, what is left of it, does not pay; None if all do.

        With equal variances gains are counted in units of the variance that all have.
        """
        shares, moments = self.backed(W), self._statistics.moments
        if shares is None:
            return None
        left = self._statistics.residual_variances(W) if equal else None
        noise = None if left is None else float(np.average(left, weights=moments.samples_of))
        gains = edge_gains(moments, W != 0.0, noise)
        dropped: BoolArray = (shares < 1.0) & (gains * shares < price)
        return dropped if dropped.any() else None


def _shares(statistics: Statistics, W: FloatArray) -> FloatArray | None:
    held = statistics.moments.held
    shares = np.ones_like(W) if held is None else np.where(W != 0.0, held, 1.0)
    heavy = None if statistics.rows is None else _heavy(statistics, W)
    if heavy is None or statistics.rows is None:
        return shares if (shares < 1.0).any() else None
    ask = partial(_lower_shares, statistics=statistics, W=W, heavy=heavy, shares=shares)
    statistics.rows.ask(ask)
    return shares


def edge_gains(moments: Moments, graph: BoolArray, noise: float | None) -> FloatArray:
    """Return what each edge gains in the regression of its node, as a (d, d) matrix.

    In units of the `noise` variance, or (None) of what is left of each node.
    """
    gains = np.zeros(graph.shape)
    for edges in _edges(moments, graph):
        worth = edges.correlations / (1.0 - edges.correlations)
        gain = np.log1p(worth) if noise is None else worth * edges.left / noise
        gains[edges.parents, edges.node] = moments.samples_of[edges.node] * gain
    return gains


def _heavy(statistics: Statistics, W: FloatArray) -> BoolArray | None:
    """Return the edges between columns with tails that matter beside so many rows, if any."""
    left = Residuals(statistics, W)
    kurtosis, n = np.maximum(left.kurtosis, left.columns.kurtosis), statistics.moments.samples_of
    tails = kurtosis > GAUSSIAN + _STANDARD_ERRORS * np.sqrt(24.0 / n)
    if tails.sum() < 2:
        return None
    heavy: BoolArray = (W != 0.0) & np.outer(tails, tails)
    heavy &= np.outer(kurtosis, kurtosis) > _LIGHT * n
    return heavy if heavy.any() else None


def _edges(moments: Moments, graph: BoolArray) -> Iterator[_Edges]:
    """Yield the edges into each node that has parents."""
    for found in regressions_of(moments, graph):
        own = moments.own_variances[found.nodes]
        left = np.maximum(own - found.explained, VARIANCE_FLOOR * own)
        worth = found.slopes**2 / found.precisions
        squares = np.minimum(worth / (worth + left[:, None]), _PERFECT)
        yield from map(
            _Edges, found.nodes.tolist(), found.parents, found.inverse, found.slopes, left, squares
        )


def _lower_shares(
    rows: FloatArray,
    weights: FloatArray | None,
    *,
    statistics: Statistics,
    W: FloatArray,
    heavy: BoolArray,
    shares: FloatArray,
) -> None:
    share = np.ones(len(rows)) if weights is None else weights
    for edges in _edges(statistics.moments, W != 0.0):
        asked = np.flatnonzero(heavy[edges.parents, edges.node])
        if not len(asked):
            continue
        columns = rows[:, [*edges.parents, edges.node]]
        used = np.isfinite(columns).all(axis=1)
        if statistics.perturbed is not None:
            used &= ~statistics.perturbed[:, edges.node]
        if used.sum() < _FEWEST:
            continue
        for a in asked.tolist():
            ranked = _ranked(edges, a, columns[used], share[used])
            gain = -np.log1p(-edges.correlations[a])
            shares[edges.parents[a], edges.node] *= ranked / max(gain, ranked, _TINY)


def _ranked(edges: _Edges, a: int, columns: FloatArray, share: FloatArray) -> float:
    """Return what an edge gains by normal scores, per row; of many rows some may be enough."""
    gain = 0.0
    for most in (_GLANCE, len(columns)):
        some = evenly(np.arange(len(columns)), most)
        z, u = (normal_scores(x, share[some]) for x in edges.leftovers(a, columns[some]))
        gain = -float(np.log1p(-min(_correlation(z, u, share[some]) ** 2, _PERFECT)))
        if gain * share[some].sum() > _CLEAR or len(some) == len(columns):
            break
    return gain


def normal_scores(x: FloatArray, share: FloatArray | None = None) -> FloatArray:
    """Return the normal quantiles of ranks, weighted or not; equal values have equal ones."""
    _, place = np.unique(x, return_inverse=True)
    mass = np.bincount(place, share)
    scores: FloatArray = ndtri((np.cumsum(mass) - mass / 2.0) / mass.sum())[place]
    return scores


def _correlation(x: FloatArray, y: FloatArray, share: FloatArray) -> float:
    x, y = x - np.average(x, weights=share), y - np.average(y, weights=share)
    size = float(np.sqrt((x * x @ share) * (y * y @ share)))
    return float(x * y @ share) / size if size > 0.0 else 0.0
