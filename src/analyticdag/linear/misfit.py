"""How far the rows are from linear equations with independent noise.

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
is taken off. The noise of a discrete column depends on its mean, and so does the size of what is
left of it: such columns are not judged.

The same number, with columns of few values and noise whose size changes with a cause, lowers the
probabilities of edges (`probabilities.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.fitting.rows import evenly
from analyticdag.fitting.statistics import Statistics

_T = TypeVar("_T")
FACTOR = 5.0
LARGEST = 0.2  # a floor above this would hide what anybody would call an effect
# A column of no more values than this, each of them in this many rows on average, may hold codes.
FEW_VALUES, ROWS_PER_VALUE = 10, 5
# Rows looked at, evenly spread over the table; more would not change what is read from them.
_ROWS = 10_000
_FEWEST = 50
_BLOCK = 256  # columns whose correlations are held at a time
_TAIL = 3.0  # residuals further out count as this many deviations: a few rows must not decide
_STANDARD_ERRORS = 2.0
# Correlation of size and value, for each unit of skewness, that wrong directions explain: at most
# 0.031 with exponential and 0.020 with Gumbel noise, own seeds.
_SKEWED = 0.035


@dataclass(frozen=True, eq=False)
class Misfit:
    """What the rows show of a wrong model; all zero where they agree with it, or are not there.

    `dependence` is the product of the two root mean square correlations; `coarse` one over the
    squared number of values of columns with few; `spread[i, j]` the squared correlation between the
    size of column i and the size of what is left of column j, beyond chance.
    """

    dependence: float
    coarse: FloatArray
    spread: FloatArray

    @classmethod
    def none(cls, n_columns: int) -> Misfit:
        """Return no misfit, for rows that are not there."""
        return cls(0.0, np.zeros(n_columns), np.zeros((n_columns, n_columns)))


def effect_floor(statistics: Statistics, W: FloatArray) -> float:
    """Return the partial correlation below which edges may be due to misfit; zero if none."""
    dependence = _asked(statistics, partial(_dependence_of, W=W, varies=~statistics.unjudged))
    return 0.0 if dependence is None else float(min(FACTOR * dependence**0.5, LARGEST))


def misfit_of(statistics: Statistics, W: FloatArray) -> Misfit:
    """Return what the rows show of a wrong model, beside the graph with weights W."""
    found = _asked(statistics, partial(_misfit, W=W, varies=~statistics.constant))
    return Misfit.none(len(W)) if found is None else found


def few_valued(X: FloatArray) -> BoolArray:
    """Return which columns vary between a few values only."""
    counts = np.array([len(np.unique(column)) for column in X.T])
    few: BoolArray = (counts > 1) & (counts <= min(FEW_VALUES, len(X) / ROWS_PER_VALUE))
    return few


def _asked(statistics: Statistics, question: Callable[[FloatArray, FloatArray], _T]) -> _T | None:
    """Return the answer of some undisturbed rows without gaps; None where they are too few."""
    if statistics.rows is None:
        return None
    return statistics.rows.ask(partial(_to_some, question=question, perturbed=statistics.perturbed))


def _to_some(
    rows: FloatArray,
    weights: FloatArray | None,
    *,
    question: Callable[[FloatArray, FloatArray], _T],
    perturbed: BoolArray | None,
) -> _T | None:
    used = ~np.isnan(rows).any(axis=1)
    if perturbed is not None:
        used &= ~perturbed.any(axis=1)
    places = evenly(np.flatnonzero(used), _ROWS)
    share = np.ones(len(places)) if weights is None else weights[places]
    return None if share.sum() < _FEWEST else question(rows[places], share)


def _misfit(rows: FloatArray, share: FloatArray, *, W: FloatArray, varies: BoolArray) -> Misfit:
    """Return what these rows show."""
    residuals = _residuals(rows, share, W, varies)
    causes = _scaled(_centred(rows, share), share, varies)
    spread = (_unit(np.abs(causes), share).T @ _unit(np.abs(residuals), share)) ** 2
    chance = 2.0 * _STANDARD_ERRORS / share.sum()
    return Misfit(_dependence(residuals, share), _coarse(rows), np.maximum(spread - chance, 0.0))


def _coarse(rows: FloatArray) -> FloatArray:
    """Return one over the squared number of values of columns with few; zero for others."""
    coarse = np.zeros(rows.shape[1])
    for k in np.flatnonzero(few_valued(rows)):
        coarse[k] = 1.0 / len(np.unique(rows[:, k])) ** 2
    return coarse


def _dependence_of(
    rows: FloatArray, share: FloatArray, *, W: FloatArray, varies: BoolArray
) -> float:
    return _dependence(_residuals(rows, share, W, varies), share)


def _dependence(residuals: FloatArray, share: FloatArray) -> float:
    """Return the product of how sizes go with sizes, and with values, of other columns."""
    residuals = residuals[:, residuals.any(axis=0)]
    if residuals.shape[1] < 2:
        return 0.0
    values, sizes = _unit(residuals, share), _unit(np.abs(residuals), share)
    n, square = float(share.sum()), residuals * residuals
    skewness = (share @ (square * residuals)) / n / ((share @ square) / n) ** 1.5
    explained = _SKEWED**2 * float(np.mean(skewness**2))
    size_value = max(_beyond_chance(values, sizes, n) - explained, 0.0)
    return float(np.sqrt(_beyond_chance(sizes, sizes, n) * size_value))


def _residuals(rows: FloatArray, share: FloatArray, W: FloatArray, varies: BoolArray) -> FloatArray:
    """Return standardised residuals; zero for columns that do not vary."""
    centred = _centred(rows, share)
    return _scaled(_centred(centred - centred @ W, share), share, varies)


def _centred(values: FloatArray, share: FloatArray) -> FloatArray:
    centred: FloatArray = values - share @ values / share.sum()
    return centred


def _scaled(centred: FloatArray, share: FloatArray, varies: BoolArray) -> FloatArray:
    """Divide columns by their standard deviations; nothing is further out than the tails."""
    deviation = np.sqrt(share @ (centred * centred) / share.sum())
    kept = varies & (deviation > 0.0)
    scaled: FloatArray = centred * np.where(kept, 1.0 / np.where(kept, deviation, 1.0), 0.0)
    return np.clip(scaled, -_TAIL, _TAIL, out=scaled)


def _unit(values: FloatArray, share: FloatArray) -> FloatArray:
    """Return columns whose products, row by row added up, are weighted correlations."""
    unit = _centred(values, share)
    if not (share == 1.0).all():
        unit *= np.sqrt(share)[:, None]
    size = np.sqrt(np.einsum("ij,ij->j", unit, unit))
    unit /= np.where(size > 0.0, size, 1.0)
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
