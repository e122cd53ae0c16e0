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

from functools import partial

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
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
    if statistics.rows is None:
        return 0.0
    question = partial(_floor, W=W, constant=statistics.constant, perturbed=statistics.perturbed)
    return statistics.rows.ask(question)


def _floor(
    rows: FloatArray,
    weights: FloatArray | None,
    *,
    W: FloatArray,
    constant: BoolArray,
    perturbed: BoolArray | None,
) -> float:
    """Return the floor that some undisturbed rows without gaps ask for."""
    used = ~np.isnan(rows).any(axis=1)
    if perturbed is not None:
        used &= ~perturbed.any(axis=1)
    places = np.flatnonzero(used)
    places = places[:: max(len(places) // _ROWS, 1)]
    share = np.ones(len(places)) if weights is None else weights[places]
    residuals = _residuals(rows[places], share, W, ~constant)
    if share.sum() < _FEWEST or residuals.shape[1] < 2:
        return 0.0
    values = _unit(residuals, share)
    sizes = _unit(np.abs(residuals), share)
    square, cube = (np.average(residuals**power, axis=0, weights=share) for power in (2, 3))
    skewness = cube / square**1.5
    explained = _SKEWED**2 * float(np.mean(skewness**2))
    n = float(share.sum())
    size_value = max(_beyond_chance(values, sizes, n) - explained, 0.0)
    product = _beyond_chance(sizes, sizes, n) * size_value
    return float(min(FACTOR * product**0.25, LARGEST))


def _residuals(rows: FloatArray, share: FloatArray, W: FloatArray, varies: BoolArray) -> FloatArray:
    """Return standardised residuals of the columns that vary."""
    if share.sum() < _FEWEST:
        return rows[:, :0]
    centred = rows - np.average(rows, axis=0, weights=share)
    left = (centred - centred @ W)[:, varies]
    left -= np.average(left, axis=0, weights=share)
    deviation = np.sqrt(np.average(left**2, axis=0, weights=share))
    kept = deviation > 0.0
    clipped: FloatArray = np.clip(left[:, kept] / deviation[kept], -_TAIL, _TAIL)
    return clipped


def _unit(values: FloatArray, share: FloatArray) -> FloatArray:
    """Return columns whose products, row by row added up, are weighted correlations."""
    centred = values - np.average(values, axis=0, weights=share)
    centred *= np.sqrt(share)[:, None]
    size = np.linalg.norm(centred, axis=0)
    unit: FloatArray = centred / np.where(size > 0.0, size, 1.0)
    return unit


def _beyond_chance(left: FloatArray, right: FloatArray, n: float) -> float:
    """Return the mean square correlation between different columns, less what chance explains."""
    d = left.shape[1]
    total = -float(np.sum(np.einsum("ij,ij->j", left, right) ** 2))
    for first in range(0, d, _BLOCK):  # a table of all pairs would be the largest of a fit
        total += float(np.sum((left[:, first : first + _BLOCK].T @ right) ** 2))
    pairs = d * (d - 1)
    chance = (1.0 + _STANDARD_ERRORS * np.sqrt(2.0 / pairs)) / n
    return float(max(total / pairs - chance, 0.0))
