"""How far the rows are from linear equations with independent noise.

If the model holds, what is left of one column says nothing about what is left of another: neither
its size about the other's size, nor its size about the other's value. Where equations bend, where
rows of several populations are pooled, both show. And they make edges: pairs that nothing joins
have small partial correlations that no number of rows takes away. So do columns of few values:
what stands between two columns is not known exactly, and does not explain all that it should. The
size of such correlations is taken to be

    size² = 4 · min(size-size², size-value²) + 0.07 · mean of 1/values⁴

with the root mean square correlations over all pairs of columns, less what chance gives. The
factors are from simulated violations with own seeds (docs/design/order-search.md). It is zero where
the rows agree with the model; heavy tails alone, which make no edges, show in one of the two only.
Nor does skewed noise make edges, but an edge turned the wrong way then leaves dependent residuals;
what skewness can explain is taken off. The noise of a discrete column depends on its mean, and so
does the size of what is left of it: such columns are not judged. Both readings of them are rough
(`fitting/design.py`), so beside them the floor is never below 0.03.

`min_effect="auto"` is three times this size; an accident has it beside its standard error, and the
search judges gains by both (`search.price`).

The product of the two also lowers the probabilities of edges (`probabilities.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.fitting.rows import evenly
from analyticdag.fitting.statistics import Statistics
from analyticdag.search.price import SIZES

_T = TypeVar("_T")
Columns: TypeAlias = NDArray[np.float32]  # (d, n): one column after the other
# What the weaker of the two dependences, and coarse values, make of false partial correlations.
_DEPENDENT, _COARSE = 4.0, 0.07
# Beside discrete columns, own seeds, 100,000 rows, 15 columns: 2.5 false edges in `conditional`
# tables without it, 0.3 with it; `linear` ones have none either way, and at 0.05 lose edges.
LEAST_BESIDE_LEVELS = 0.03
LARGEST = 0.2  # a floor above this would hide what anybody would call an effect
# A column of no more values than this, each of them in this many rows on average, may hold codes.
FEW_VALUES, ROWS_PER_VALUE = 10, 5
# Rows looked at, evenly spread over the table; more would not change what is read from them.
_ROWS = 10_000
_GLANCE = 200  # rows in which most columns show more values than a few
_FEWEST = 50  # rows without gaps, below which nothing is said about them
_BLOCK = 256  # columns whose correlations are held at a time
_TAIL = 3.0  # residuals further out count as this many deviations: a few rows must not decide
_STANDARD_ERRORS = 2.0  # of a mean square correlation: what chance explains, generously
# Correlation of size and value, for each unit of skewness, that wrong directions explain: at most
# 0.031 with exponential and 0.020 with Gumbel noise, own seeds.
_SKEWED = 0.035


class Misfit:
    """What the rows of a fit say about graphs, given by their weights.

    The last answer is kept: the graph of a fit is asked about twice.
    """

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._last: tuple[FloatArray, BoolArray, _Seen | None] | None = None

    def floor(self, W: FloatArray) -> float:
        """Return the partial correlation below which edges may be due to misfit; zero if none."""
        varies, discrete = ~self._statistics.unjudged, self._statistics.discrete
        least = LEAST_BESIDE_LEVELS if discrete is not None and discrete.any() else 0.0
        found = self._seen(W, varies)
        if found is None:
            return least
        coarse = float(np.mean(found.coarse[varies] ** 2)) if varies.any() else 0.0
        size = float(np.sqrt(_DEPENDENT * min(found.dependences) + _COARSE * coarse))
        return float(min(max(SIZES * size, least), LARGEST))

    def dependence(self, W: FloatArray) -> float:
        """Return the product of the two root mean square correlations; zero without rows."""
        found = self._seen(W, ~self._statistics.constant)
        return 0.0 if found is None else float(np.sqrt(np.prod(found.dependences)))

    def _seen(self, W: FloatArray, varies: BoolArray) -> _Seen | None:
        """Ask the rows, unless that was the last question."""
        last = self._last
        if last is None or last[0] is not W or not np.array_equal(last[1], varies):
            found = _asked(self._statistics, partial(_look, W=W, varies=varies))
            self._last = last = (W, varies, found)
        return last[2]


@dataclass(frozen=True, eq=False)
class _Seen:
    """The two squared dependences, and how coarse every column is."""

    dependences: tuple[float, float]
    coarse: FloatArray


def few_valued(X: FloatArray) -> BoolArray:
    """Return which columns vary between a few values only."""
    most = min(FEW_VALUES, len(X) / ROWS_PER_VALUE)
    return np.array([1 < _n_values(column) <= most for column in X.T], dtype=bool)


def _n_values(column: FloatArray) -> int:
    """Count the values of a column; where a few rows have many already, of those rows alone."""
    glance = len(np.unique(column[:_GLANCE]))
    return glance if glance > FEW_VALUES else len(np.unique(column))


def _asked(statistics: Statistics, question: Callable[[FloatArray, FloatArray], _T]) -> _T | None:
    """Return the answer of some undisturbed rows without gaps; None where they are too few."""
    if statistics.rows is None:
        return None
    some = partial(
        _to_some, question=question, perturbed=statistics.perturbed, gaps=statistics.has_gaps
    )
    return statistics.rows.ask(some)


def _to_some(
    rows: FloatArray,
    weights: FloatArray | None,
    *,
    question: Callable[[FloatArray, FloatArray], _T],
    perturbed: BoolArray | None,
    gaps: bool,
) -> _T | None:
    # A table of marks would be a further pass.
    used = ~np.isnan(rows.sum(axis=1)) if gaps else np.ones(len(rows), dtype=bool)
    if perturbed is not None:
        used &= ~perturbed.any(axis=1)
    places = evenly(np.flatnonzero(used), _ROWS)
    if len(places) < len(rows):  # a copy takes as long as a question
        rows, weights = rows[places], None if weights is None else weights[places]
    share = np.ones(len(rows)) if weights is None else weights
    return None if share.sum() < _FEWEST else question(rows, share)


def _look(rows: FloatArray, share: FloatArray, *, W: FloatArray, varies: BoolArray) -> _Seen:
    residuals = _residuals(_centred(rows, share), share, W, varies)
    both = _dependences(residuals, _unit(np.abs(residuals), share), share)
    return _Seen(both, _coarse(rows))


def _coarse(rows: FloatArray) -> FloatArray:
    """Return one over the squared number of values of columns with few; zero for others."""
    coarse = np.zeros(rows.shape[1])
    for k in np.flatnonzero(few_valued(rows)):
        coarse[k] = 1.0 / len(np.unique(rows[:, k])) ** 2
    return coarse


def _dependences(residuals: Columns, sizes: Columns, share: FloatArray) -> tuple[float, float]:
    """Return how sizes go with sizes, and with values, of other columns: squared correlations."""
    judged = residuals.any(axis=1)
    if judged.sum() < 2:
        return 0.0, 0.0
    if not judged.all():
        residuals, sizes = residuals[judged], sizes[judged]
    n, values = float(share.sum()), _unit(residuals, share)
    part, square = (share / n).astype(np.float32), residuals * residuals
    skewness = ((square * residuals) @ part) / (square @ part) ** 1.5
    explained = _SKEWED**2 * float(np.mean(skewness**2))
    size_value = max(_beyond_chance(values, sizes, n) - explained, 0.0)
    return _beyond_chance(sizes, sizes, n), size_value


def _residuals(causes: FloatArray, share: FloatArray, W: FloatArray, varies: BoolArray) -> Columns:
    """Return standardised residuals, one column after the other; zero where nothing varies."""
    # Sparse, as most nodes have few parents.
    left = causes - sparse.csr_array(W.T) @ causes
    return _scaled(left, share, varies)


def _centred(rows: FloatArray, share: FloatArray) -> FloatArray:
    """Return the columns, one after the other, less their means."""
    columns = np.array(rows.T, order="C")  # a copy in any case: the rows are the caller's
    columns -= (columns @ share / share.sum())[:, None]
    return columns


def _scaled(centred: FloatArray, share: FloatArray, varies: BoolArray) -> Columns:
    """Divide columns by their standard deviations; nothing is further out than the tails.

    Seven digits are enough for what is read from them, and half the work.
    """
    deviation = np.sqrt([(x * x) @ share for x in centred] / share.sum())
    kept = varies & (deviation > 0.0)
    scaled: Columns = np.empty(centred.shape, np.float32)
    inverse = np.where(kept, 1.0 / np.where(kept, deviation, 1.0), 0.0)
    np.multiply(centred, inverse[:, None], out=scaled, casting="same_kind")
    return np.clip(scaled, -_TAIL, _TAIL, out=scaled)


def _unit(values: Columns, share: FloatArray) -> Columns:
    """Return columns whose products, row by row added up, are weighted correlations."""
    part = (share / share.sum()).astype(np.float32)
    unit: Columns = values - (values @ part)[:, None]
    if not (share == 1.0).all():
        unit *= np.sqrt(share).astype(np.float32)
    size = np.sqrt(np.einsum("ij,ij->i", unit, unit))
    unit /= np.where(size > 0.0, size, 1.0)[:, None]
    return unit


def _beyond_chance(left: Columns, right: Columns, n: float) -> float:
    """Return the mean square correlation between different columns, less what chance explains."""
    d = len(left)
    total = -float(np.sum(np.einsum("ij,ij->i", left, right, dtype=float) ** 2))
    for first in range(0, d, _BLOCK):  # a table of all pairs would be the largest of a fit
        total += float(np.sum((left[first : first + _BLOCK] @ right.T).astype(float) ** 2))
    pairs = d * (d - 1)
    chance = (1.0 + _STANDARD_ERRORS * np.sqrt(2.0 / pairs)) / n
    return float(max(total / pairs - chance, 0.0))
