"""How far the rows are from linear equations with independent noise, as a floor on effects.

If the model holds, what is left of one column says nothing about what is left of another: neither
its size about the other's size, nor its size about the other's value. Where equations bend, where
rows of several populations are pooled, both show. And they make edges: pairs that nothing joins
have small partial correlations that no number of rows takes away. So `min_effect="auto"` is

    floor = 5 · sqrt(size-size · size-value)

with the root mean square correlations over all pairs of columns, less what chance gives. The factor
is from simulated violations with own seeds (docs/design/order-search.md): there partial
correlations of false edges reached that size. It is zero where the rows agree with the model, and
tails or codes alone, which make no edges, show in one of the two only. Nor does skewed noise make
edges, but an edge turned the wrong way then leaves dependent residuals; what skewness can explain
is taken off.
"""

from __future__ import annotations

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.fitting.statistics import Statistics

FACTOR = 5.0
LARGEST = 0.2  # a floor above this would hide what anybody would call an effect
# Rows looked at, evenly spread over the table; more would not change what is read from them.
_ROWS = 10_000
_FEWEST = 50
_BLOCK = 256  # columns whose correlations are held at a time
_TAIL = 3.0  # residuals further out count as this many deviations: a few rows must not decide
_STANDARD_ERRORS = 2.0
# Correlation of size and value, for each unit of skewness, that wrong directions explain: at most
# 0.031 with exponential and 0.020 with Gumbel noise, own seeds.
_SKEWED = 0.035


def effect_floor(statistics: Statistics, W: FloatArray) -> float:
    """Return the partial correlation below which edges may be due to misfit; zero if none."""
    residuals = _residuals(statistics, W)
    if residuals is None or residuals.shape[1] < 2:
        return 0.0
    values = _unit(residuals)
    sizes = _unit(np.abs(residuals))
    skewness = np.mean(residuals**3, axis=0) / np.mean(residuals**2, axis=0) ** 1.5
    explained = _SKEWED**2 * float(np.mean(skewness**2))
    size_value = max(_beyond_chance(values, sizes) - explained, 0.0)
    product = _beyond_chance(sizes, sizes) * size_value
    return float(min(FACTOR * product**0.25, LARGEST))


def _residuals(statistics: Statistics, W: FloatArray) -> FloatArray | None:
    """Return standardised residuals of the columns that vary, in some undisturbed rows."""
    rows = statistics.rows
    if rows is not None and statistics.perturbed is not None:
        rows = rows[~statistics.perturbed.any(axis=1)]
    if rows is not None and statistics.unseen is not None:
        rows = rows[~np.isnan(rows).any(axis=1)]  # there are gaps
    if rows is None or len(rows) < _FEWEST:
        return None
    rows = rows[:: max(len(rows) // _ROWS, 1)]
    centred = rows - rows.mean(axis=0)
    left = (centred - centred @ W)[:, ~statistics.constant]
    left -= left.mean(axis=0)
    deviation = left.std(axis=0)
    kept = deviation > 0.0
    clipped: FloatArray = np.clip(left[:, kept] / deviation[kept], -_TAIL, _TAIL)
    return clipped


def _unit(values: FloatArray) -> FloatArray:
    centred = values - values.mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    unit: FloatArray = centred / np.where(size > 0.0, size, 1.0)
    return unit


def _beyond_chance(left: FloatArray, right: FloatArray) -> float:
    """Return the mean square correlation between different columns, less what chance explains."""
    n, d = left.shape
    total = -float(np.sum(np.einsum("ij,ij->j", left, right) ** 2))
    for first in range(0, d, _BLOCK):  # a table of all pairs would be the largest of a fit
        total += float(np.sum((left[:, first : first + _BLOCK].T @ right) ** 2))
    pairs = d * (d - 1)
    chance = (1.0 + _STANDARD_ERRORS * np.sqrt(2.0 / pairs)) / n
    return max(total / pairs - chance, 0.0)
