"""Links that a few rows make: what the ranks of all rows leave of the evidence for an edge.

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
    correlations: FloatArray  # partial ones, squared

    def leftovers(self, a: int, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the other parents leave of parent a, and of the node (the last column)."""
        causes, slopes = columns[:, :-1], self.slopes.copy()
        slopes[a] = 0.0
        return causes @ (self.inverse[:, a] / self.inverse[a, a]), columns[:, -1] - causes @ slopes


def backed(statistics: Statistics, W: FloatArray) -> FloatArray:
    """Return the share of the evidence for each edge that is left by ranks; one where none is."""
    shares = np.ones_like(W)
    if statistics.rows is None or not W.any():
        return shares
    heavy = _heavy(statistics, W)
    if heavy.any():
        ask = partial(_put_shares, statistics=statistics, W=W, heavy=heavy, shares=shares)
        statistics.rows.ask(ask)
    return shares


def unpaid(statistics: Statistics, W: FloatArray, price: float, *, equal: bool) -> BoolArray:
    """Return the edges whose evidence, by ranks, does not pay their price.

    With equal variances gains are counted in units of the variance that all have.
    """
    shares = backed(statistics, W)
    lowered: BoolArray = shares < 1.0
    if not lowered.any():
        return lowered
    left, n = statistics.residual_variances(W), statistics.moments.samples_of
    noise, gains = float(np.average(left, weights=n)), np.zeros_like(W)
    for edges in _edges(statistics, W, left):
        worth = edges.correlations / (1.0 - edges.correlations)
        gain = worth * left[edges.node] / noise if equal else np.log1p(worth)
        gains[edges.parents, edges.node] = n[edges.node] * gain
    return lowered & (gains * shares < price)


def _heavy(statistics: Statistics, W: FloatArray) -> BoolArray:
    """Return the edges between columns with tails that matter beside so many rows."""
    left = Residuals(statistics, W)
    kurtosis, n = np.maximum(left.kurtosis, left.columns.kurtosis), statistics.moments.samples_of
    tails = kurtosis > GAUSSIAN + _STANDARD_ERRORS * np.sqrt(24.0 / n)
    heavy: BoolArray = (W != 0.0) & np.outer(tails, tails)
    heavy &= np.outer(kurtosis, kurtosis) > _LIGHT * n
    return heavy


def _edges(statistics: Statistics, W: FloatArray, left: FloatArray) -> Iterator[_Edges]:
    """Yield the edges into each node; `left` are the residual variances."""
    for found in regressions_of(statistics.moments, W != 0.0):
        worth = found.slopes**2 / found.precisions
        squares = np.minimum(worth / (worth + left[found.nodes, None]), _PERFECT)
        yield from map(
            _Edges, found.nodes.tolist(), found.parents, found.inverse, found.slopes, squares
        )


def _put_shares(
    rows: FloatArray,
    weights: FloatArray | None,
    *,
    statistics: Statistics,
    W: FloatArray,
    heavy: BoolArray,
    shares: FloatArray,
) -> None:
    share = np.ones(len(rows)) if weights is None else weights
    for edges in _edges(statistics, W, statistics.residual_variances(W)):
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
            shares[edges.parents[a], edges.node] = ranked / max(gain, ranked, _TINY)


def _ranked(edges: _Edges, a: int, columns: FloatArray, share: FloatArray) -> float:
    """Return what an edge gains by normal scores, per row; of many rows some may be enough."""
    gain = 0.0
    for most in (_GLANCE, len(columns)):
        some = evenly(np.arange(len(columns)), most)
        scores = (normal_scores(x, share[some]) for x in edges.leftovers(a, columns[some]))
        gain = -float(np.log1p(-min(_correlation(*scores, share[some]) ** 2, _PERFECT)))
        if gain * share[some].sum() > _CLEAR or len(some) == len(columns):
            break
    return gain


def normal_scores(x: FloatArray, share: FloatArray) -> FloatArray:
    """Return the normal quantiles of weighted ranks; equal values have equal ones."""
    _, place = np.unique(x, return_inverse=True)
    mass = np.bincount(place, share)
    scores: FloatArray = ndtri((np.cumsum(mass) - mass / 2.0) / mass.sum())[place]
    return scores


def _correlation(x: FloatArray, y: FloatArray, share: FloatArray) -> float:
    x, y = x - np.average(x, weights=share), y - np.average(y, weights=share)
    size = float(np.sqrt((x * x @ share) * (y * y @ share)))
    return float(x * y @ share) / size if size > 0.0 else 0.0
