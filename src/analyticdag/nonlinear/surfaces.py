"""Regress a column on smooth functions of its parents, and of one parent more or less.

    x_t ≈ Σ_i g_i(x_i) + Σ_{i<j} b_ij·z_i·z_j

Each g_i is a cubic spline. z is the column squeezed into (-1, 1): products let the effect of one
parent depend on another, and outliers must not rule them. It is all least squares, so one
factorisation tells what every candidate would add.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.preprocessing import SplineTransformer

from analyticdag._typing import FloatArray, IntArray

_KNOTS = 4
_ROWS_FOR_CURVES = 150  # with fewer rows every g_i is a line
_ROWS_PER_FUNCTION = 5
_SQUEEZE = 1.5  # standard deviations at which tanh bends
# Functions have unit length. This much on the diagonal of their Gram matrix lets copies of a
# column share an effect instead of stopping the factorisation.
_RIDGE = 1e-8
_LEAST = 1e-7  # of a column's sum of squares that a regression can leave: above what the ridge does
DEGREE = 3
CUT = 1e-9  # singular values and eigenvalues below this share of the largest are rounding


def spline_basis(column: FloatArray, knots: int) -> FloatArray:
    """Return orthonormal, centred spline functions of a column; a line for fewer than 3 knots.

    A column of few values has no more functions than tell its values apart, one that does not vary
    has none.
    """
    values = np.unique(column)
    functions = (column - column.mean())[:, None]
    if len(values) >= 3 and knots >= 3:
        transformer = SplineTransformer(
            degree=DEGREE, knots=_places(column, values, knots)[:, None], include_bias=False
        )
        functions = transformer.fit_transform(column[:, None])
        functions = functions - functions.mean(axis=0)
    orthonormal, sizes, _ = np.linalg.svd(functions, full_matrices=False)
    return orthonormal[:, sizes > CUT * max(sizes[0], np.finfo(float).tiny)]


def _places(column: FloatArray, values: FloatArray, knots: int) -> FloatArray:
    """Return where the knots are: at quantiles, each once, or at values where these are few."""
    shares = np.linspace(0.0, 1.0, knots)
    places: FloatArray = np.unique(np.quantile(column, shares))
    if len(places) < min(knots, len(values)):
        places = np.unique(np.quantile(values, shares)) if len(values) > knots else values
    return places


@dataclass(frozen=True, eq=False)
class Fits:
    """What regressions leave of a column (sums of squares), and how many functions they use.

    `left_added[i]` is with parent i besides, infinite where that takes too many functions;
    `left_dropped[i]` is without parent i, infinite where i is none.
    """

    left: float
    functions: int
    left_added: FloatArray
    functions_added: IntArray
    left_dropped: FloatArray
    functions_dropped: IntArray
    too_many: bool  # functions for the rows there are


class Surfaces:
    """The functions of all columns of a table (n, d)."""

    def __init__(self, rows: FloatArray) -> None:
        self.n, self.d = rows.shape
        self._columns = (rows - rows.mean(axis=0)).T
        knots = _KNOTS if self.n >= _ROWS_FOR_CURVES else 2
        bases = [spline_basis(column, knots).T for column in rows.T]
        # How many functions each column has; shorter bases are filled up with zeros.
        self.count = np.array([len(basis) for basis in bases])
        self._splines = np.zeros((self.d, int(self.count.max()), self.n))
        for basis, place in zip(bases, self._splines, strict=True):
            place[: len(basis)] = basis
        spread = np.maximum(rows.std(axis=0), np.finfo(float).tiny)
        self._squeezed = np.tanh(self._columns / (_SQUEEZE * spread[:, None]))
        self._squeezed -= self._squeezed.mean(axis=1, keepdims=True)

    def fits(self, t: int, parents: IntArray) -> Fits:
        """Regress column t on its parents, on one of them less, and on one other column more."""
        k, column = len(parents), self._columns[t]
        least = max(_LEAST * float(column @ column), np.finfo(float).tiny)
        design, owners = self._design(parents)
        gram, moments = _gram(design), design @ column
        lower = linalg.cholesky(gram, lower=True)
        orthogonal = linalg.solve_triangular(lower, design, lower=True)
        residual = column - orthogonal.T @ (orthogonal @ column)
        left = float(column @ residual)  # with the ridge's share, as in all regressions below

        functions = int(self.count[parents].sum()) + k * (k - 1) // 2
        functions_added = functions + self.count + k
        possible = functions_added * _ROWS_PER_FUNCTION <= self.n
        possible[[t, *parents]] = False
        gains = _gains(self._candidates(parents), orthogonal, residual)
        left_added = np.where(possible, np.maximum(left - gains, least), np.inf)

        left_dropped = np.full(self.d, np.inf)
        for place, parent in enumerate(parents):
            others = (owners != place).all(axis=1)
            slopes = linalg.solve(gram[np.ix_(others, others)], moments[others], assume_a="pos")
            explained = float(moments[others] @ slopes)
            left_dropped[parent] = max(float(column @ column) - explained, left, least)
        return Fits(
            max(left, least),
            functions,
            left_added,
            functions_added,
            left_dropped,
            functions_dropped=functions - self.count - (k - 1),
            too_many=functions * _ROWS_PER_FUNCTION > self.n,
        )

    def _design(self, parents: IntArray) -> tuple[FloatArray, IntArray]:
        """All functions of a set of parents, and the one or two parents that each is of."""
        k, own = len(parents), self._splines.shape[1]
        first, second = np.triu_indices(k, 1)
        products = _unit(self._squeezed[parents[first]] * self._squeezed[parents[second]])
        design = np.concatenate([self._splines[parents].reshape(k * own, self.n), products])
        single = np.repeat(np.arange(k), own)
        return design, np.column_stack([[*single, *first], [*single, *second]]).astype(np.int64)

    def _candidates(self, parents: IntArray) -> FloatArray:
        """What each column would bring besides these parents: (d, functions, n)."""
        products = _unit(self._squeezed[:, None, :] * self._squeezed[parents])
        return np.concatenate([self._splines, products], axis=1)


def _unit(functions: FloatArray) -> FloatArray:
    """Centre functions and give them unit length."""
    centred = functions - functions.mean(axis=-1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=-1, keepdims=True)
    return centred / np.maximum(lengths, np.finfo(float).tiny)


def _gram(functions: FloatArray) -> FloatArray:
    gram: FloatArray = functions @ functions.swapaxes(-1, -2)
    return gram + _RIDGE * np.eye(functions.shape[-2])


def _gains(blocks: FloatArray, orthogonal: FloatArray, residual: FloatArray) -> FloatArray:
    """How much each block of functions takes off the residual sum of squares."""
    size = blocks.shape[:2]
    overlap = (blocks.reshape(-1, blocks.shape[2]) @ orthogonal.T).reshape(*size, -1)
    gram = _gram(blocks) - overlap @ overlap.swapaxes(-1, -2)
    moments = blocks @ residual
    slopes = np.linalg.solve(gram, moments[:, :, None])[:, :, 0]
    return np.maximum((moments * slopes).sum(axis=1), 0.0)
