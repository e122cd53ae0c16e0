"""`covariance="auto"`: do ranks describe the rows better than the numbers as they are?

    ranks_instead(fit, learned, recipe)     asked once a graph was learned from the numbers

Both readings of the numbers say how dense the rows should be. With r what is left of a column given
its parents, z its normal scores and v the variance that the parents' normal scores leave of them:

    the numbers as they are:    Σ_j log density of r
    ranks (nonparanormal):      Σ_j log density of column j  -  (log v + r_z²/v - z²)/2

Where equations are linear in the numbers the first is larger, whatever the shape of the noise;
where columns are products, saturate, or hold a few wild cells, the second is. Ranks are taken
only where the rows agree on it: by Vuong's test (1989), which compares the two sums row by row.

A column without parents is described alike by both. Discrete columns are not ranked (`prepare.py`),
nor compared; nor are columns of few values, whose density is that of their rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.rows import evenly
from analyticdag.fitting.statistics import Statistics
from analyticdag.least_squares import block_slopes
from analyticdag.linear.learn import Learned, learned_by_search
from analyticdag.linear.misfit import few_valued
from analyticdag.linear.prepare import Fit, prepared
from analyticdag.optimize.trace import Status
from analyticdag.tables.recipe import Recipe

# Standard errors by which ranks have to be better. On tables as in docs/figures/ranks.py with 1,000
# rows and other seeds, straight lines were below 1, tables where ranks make fewer errors above 11;
# with 200 rows a hundredth of wild cells gave 1 to 6.
CLEARLY = 3.0
# Rows that are looked at, evenly spread, and columns with parents: a limit on the time it takes.
_ROWS, _COLUMNS = 1000, 300
_FEWEST = 30  # rows of a column with its parents that can tell anything
# No density is sharper than this share of a column's spread: an atom must not decide by itself.
_SHARPEST = 0.05
# Standard errors by which skewness and kurtosis of a column that is not normal are off.
_NORMAL = 4.0
_TINY = float(np.finfo(float).tiny)


def ranks_instead(fit: Fit, learned: Learned, recipe: Recipe | None) -> tuple[Fit, Learned]:
    """Return what was learned, or what ranks say where these are better; and its fit."""
    try:
        if not _ranks_are_better(fit, learned):
            return fit, learned
        options = replace(fit.options, covariance="rank", checkpoint=None)
        ranked = prepared(fit.plain, recipe, options, fit.like)
        return ranked, learned_by_search(ranked)
    except KeyboardInterrupt:  # the graph that was learned is not thrown away
        return fit, replace(learned, status=Status.INTERRUPTED)


def _ranks_are_better(fit: Fit, learned: Learned) -> bool:
    """Whether ranks are free to be taken, and clearly better."""
    options, rows = fit.options, fit.statistics.rows
    if options.covariance != "auto" or not options.refine or learned.status is Status.INTERRUPTED:
        return False
    if options.traits.score == "equal" or not (options.auto or not options.minimiser):
        return False  # a loss that reads scales, or a path that was asked for
    if rows is None or not rows.whole or rows.weights is not None:
        return False
    graph, apart = learned.finished.adjacency, fit.statistics.unjudged
    return _advantage(fit.plain, graph, apart) > CLEARLY


def _advantage(statistics: Statistics, graph: BoolArray, apart: BoolArray) -> float:
    """Return by how many standard errors ranks describe the rows better; zero if nothing tells."""
    assert statistics.rows is not None
    chosen = evenly(np.arange(len(statistics.rows.values)), _ROWS)
    values = statistics.rows.values[chosen]
    perturbed = None if statistics.perturbed is None else statistics.perturbed[chosen]
    gains, apart = np.zeros(len(values)), apart | few_valued(values)
    odd = _not_normal(values) & ~apart
    nodes = graph.any(axis=0) & ~apart & ~graph[apart].any(axis=0) & (odd | graph[odd].any(axis=0))
    for j in evenly(np.flatnonzero(nodes), _COLUMNS).tolist():
        family = [j, *np.flatnonzero(graph[:, j]).tolist()]
        told = ~np.isnan(values[:, family]).any(axis=1)
        if perturbed is not None:
            told &= ~perturbed[:, j]
        if told.sum() >= max(_FEWEST, 3 * len(family)):
            gains[told] += _gain(values[told][:, family])
    scatter = float(gains.std())
    return 0.0 if scatter == 0.0 else float(gains.mean() / scatter * np.sqrt(len(gains)))


def _not_normal(values: FloatArray) -> BoolArray:
    """Return the columns that are not normal; on the others numbers and normal scores agree."""
    n = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    unit = (values - np.nanmean(values, axis=0)) / np.maximum(np.nanstd(values, axis=0), _TINY)
    skewness, kurtosis = np.nansum(unit**3, axis=0) / n, np.nansum(unit**4, axis=0) / n
    bent = np.abs(skewness) > _NORMAL * np.sqrt(6.0 / n)
    found: BoolArray = bent | (np.abs(kurtosis - 3.0) > _NORMAL * np.sqrt(24.0 / n))
    return found


def _gain(family: FloatArray) -> FloatArray:
    """Return for each row how much denser ranks say it is, of a column and then its parents."""
    family = family - family.mean(axis=0)
    order = np.argsort(family, axis=0, kind="stable")
    scores = _normal_scores(family, order)
    numbers, left = _left(family), _left(scores)
    z, v = scores[:, 0], max(float(left @ left) / len(left), _TINY)
    unit = max(float(z @ z) / len(z), _TINY)
    copula = 0.5 * (np.log(unit / v) + z**2 / unit - left**2 / v)
    ranked: FloatArray = _log_density(family[:, 0], order[:, 0]) + copula
    return ranked - _log_density(numbers, np.argsort(numbers, kind="stable"))


def _normal_scores(columns: FloatArray, order: IntArray) -> FloatArray:
    """Return normal scores of columns, given their order; those of equal values are one."""
    n = len(columns)
    quantiles = ndtri((np.arange(n) + 0.5) / n)
    scores = np.empty_like(columns)
    for k, places in enumerate(order.T):
        steps = np.flatnonzero(np.diff(columns[places, k], prepend=-np.inf))
        counts = np.diff(np.append(steps, n))
        scores[places, k] = np.repeat(np.add.reduceat(quantiles, steps) / counts, counts)
    return scores


def _left(family: FloatArray) -> FloatArray:
    """Return what least squares leaves of the first column."""
    own, others = np.array([0]), np.arange(1, family.shape[1])
    slopes = block_slopes(family.T @ family, others, own)
    return np.asarray(family[:, 0] - (family[:, 1:] @ slopes)[:, 0])


def _log_density(x: FloatArray, order: IntArray) -> FloatArray:
    """Return the log of the density at each point, by the distance to the √n-th next points."""
    points = _spread(x[order])
    n = len(points)
    step = int(np.sqrt(n))
    low, high = np.maximum(np.arange(n) - step, 0), np.minimum(np.arange(n) + step, n - 1)
    middle = float(points[(3 * n) // 4] - points[n // 4]) / 1.34  # of a normal: its deviation
    narrow = _SHARPEST * min(float(points.std()), middle or np.inf)
    width = np.maximum(points[high] - points[low], max(narrow, _TINY))
    found = np.empty(n)
    found[order] = np.log((high - low) / (n * width))
    return found


def _spread(ordered: FloatArray) -> FloatArray:
    """Spread equal values, as rounding makes them, over the room half way to their neighbours."""
    steps = np.flatnonzero(np.diff(ordered))
    if len(steps) in (0, len(ordered) - 1):
        return ordered
    values = ordered[np.concatenate(([0], steps + 1))]
    counts = np.diff(np.concatenate(([-1], steps, [len(ordered) - 1])))
    middles = (values[1:] + values[:-1]) / 2.0
    low = np.concatenate(([values[0] - (middles[0] - values[0])], middles))
    high = np.concatenate((middles, [values[-1] + (values[-1] - middles[-1])]))
    first = np.repeat(np.cumsum(counts) - counts, counts)
    share = (np.arange(len(ordered)) - first + 0.5) / np.repeat(counts, counts)
    return np.asarray(np.repeat(low, counts) + share * np.repeat(high - low, counts))
