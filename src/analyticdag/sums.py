"""Rows added up: what moments are made of, whether the rows come all at once or batch by batch.

    Sums.of_rows(X, weights)     count, mean, products of deviations, least and largest values
    a.merge(b)                   the same for the rows of both (Chan, Golub and LeVeque 1983)
    a.mapped(A, constants, m)    the same for other columns of these rows, linear in them

Batches of any size give the same sums up to rounding. Nothing is squared before it is centred, and
a mean is kept in two parts, so that a large offset costs no digits. Weights act like rows that are
repeated so often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analyticdag._tables import one_value
from analyticdag._typing import BoolArray, FloatArray

__all__ = ["Sums", "equal_rows_together", "products", "to_own_units", "unit_sizes"]

# Columns of a matrix that are worked on together: large ones must not be there twice.
_BLOCK = 256
# Cells of a table up to which sorting its rows takes a millisecond or two.
_SMALL = 100_000
# Rows are centred and multiplied in parts of so many cells (2 MB, which stay near the processor): a
# copy of a whole table that is large takes as long as the product, and parts of 8 MB take 15 % more
# than these. A part has more rows than columns, as products are added up.
_CELLS, _ROWS_PER_COLUMN = 2**18, 4


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over `n` rows, or over weights that add up to `n`.

    The mean is `origin` + `shift`, where the shift is what rounding left out of the origin.
    `products` are Σ (x - mean)(x - mean)' of the columns in units of `size`.
    """

    n: float
    origin: FloatArray
    shift: FloatArray
    products: FloatArray
    size: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of_rows(cls, X: FloatArray, weights: FloatArray | None = None) -> Sums:
        """Add up finite rows, at least one; a weight is positive."""
        low, high = X.min(axis=0), X.max(axis=0)
        origin, size = np.average(X, axis=0, weights=weights), unit_sizes(high - low)
        shift = np.average(X - origin, axis=0, weights=weights)
        n = float(len(X)) if weights is None else float(weights.sum())
        return cls(n, origin, shift, products(X, origin, size, weights), size, low, high)

    @classmethod
    def of_covariance(cls, S: FloatArray, mean: FloatArray, n: float) -> Sums:
        """Return sums that have this covariance and mean, for rows that are gone."""
        sd = np.sqrt(np.diag(S))
        size = unit_sizes(sd)
        scaled = S / size / size[:, None] * n
        return cls(n, mean, np.zeros_like(mean), scaled, size, mean - sd, mean + sd)

    def merge(self, other: Sums) -> Sums:
        """Return the sums over the rows of both."""
        size = np.maximum(self.size, other.size)
        n = self.n + other.n
        apart = (other.origin - self.origin) + (other.shift - self.shift)
        step = apart / size * np.sqrt(self.n / n * other.n)
        total = _in_units(self, size)
        total += _in_units(other, size)
        total += np.outer(step, step)
        return Sums(
            n,
            self.origin,
            self.shift + apart * (other.n / n),
            total,
            size,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def mapped(self, A: Any, constants: FloatArray, about: FloatArray) -> Sums:
        """Return the sums of the columns A (x - about) + constants; A is a sparse matrix.

        Their `low` and `high` are bounds then, and need not be values of any row.
        """
        up, down = A.maximum(0.0), A.minimum(0.0)
        below, above = self.low - about, self.high - about
        low = up @ below + down @ above + constants
        high = up @ above + down @ below + constants
        size = unit_sizes(high - low)
        units = A.multiply(self.size).multiply(1.0 / size[:, None]).tocsr()
        total = units @ (units @ self.products).T
        total = (total + total.T) / 2.0  # exactly symmetric, as the products are
        mean = A @ (self.origin - about)
        origin = mean + constants
        shift = A @ self.shift + (mean - (origin - constants))  # what rounding left out
        return Sums(self.n, origin, shift, total, size, low, high)

    def first(self, count: int) -> Sums:
        """Return the sums of the first columns."""
        if count == len(self.size):
            return self
        products, rest = self.products[:count, :count].copy(), (self.size, self.low, self.high)
        return Sums(
            self.n, self.origin[:count], self.shift[:count], products, *(v[:count] for v in rest)
        )

    @property
    def mean(self) -> FloatArray:
        """The mean of each column."""
        return self.origin + self.shift

    @property
    def covariance(self) -> FloatArray:
        """The covariance, divided by n as maximum likelihood has it."""
        return to_own_units(self.products / self.n, self.size)

    @property
    def constant(self) -> BoolArray:
        """Which columns hold one value only, up to rounding."""
        return one_value(self.low, self.high)


def unit_sizes(spread: FloatArray) -> FloatArray:
    """Return powers of two about as large as the columns spread: dividing by them rounds nothing.

    Two columns of very different size share one matrix; in these units the squares of both are
    numbers.
    """
    return np.exp2(np.round(np.log2(np.where(spread > 0.0, spread, 1.0))))


def equal_rows_together(
    X: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray | None]:
    """Return each row once, with its weight; a table that is large or repeats none as it is.

    Where rows are few for the columns rounding may decide between graphs: so rows with weights and
    the same rows repeated, in any order, have to give the same sums to the last bit.
    """
    if X.size > _SMALL:
        return X, weights
    distinct, places = np.unique(X, axis=0, return_inverse=True)
    if weights is None and len(distinct) == len(X):
        return X, None
    return distinct, np.bincount(places.ravel(), weights, len(distinct)).astype(np.float64)


def products(
    X: FloatArray, mean: FloatArray, size: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return Σ w (x - mean)(x - mean)' over the rows, of the columns in units of `size`."""
    rows = max(_CELLS // max(len(mean), 1), _ROWS_PER_COLUMN * len(mean), 1)
    total = _products(X[:rows], mean, size, weights if weights is None else weights[:rows])
    for first in range(rows, len(X), rows):
        part = slice(first, first + rows)
        total += _products(X[part], mean, size, weights if weights is None else weights[part])
    return total


def _products(
    X: FloatArray, mean: FloatArray, size: FloatArray, weights: FloatArray | None
) -> FloatArray:
    centred = X - mean
    centred /= size
    if weights is not None:
        centred *= np.sqrt(weights)[:, None]
    product: FloatArray = centred.T @ centred
    return product


def to_own_units(S: FloatArray, size: FloatArray) -> FloatArray:
    """Multiply a covariance of columns in units of `size` back, in place, and return it."""
    for first in range(0, len(size), _BLOCK):
        rows = slice(first, first + _BLOCK)
        S[rows] *= np.outer(size[rows], size)
    return S


def _in_units(sums: Sums, size: FloatArray) -> FloatArray:
    share = sums.size / size
    return sums.products * share * share[:, None]
