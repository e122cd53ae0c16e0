"""The gradient of the constraint at the pace of an inner loop.

`Acyclicity` answers any question about any matrix; a minimiser asks one question, a hundred
thousand times, about a small dense matrix, and there the care around the arithmetic costs more
than the arithmetic. For NumPy arrays and the paper's constraints this module does the bare
arithmetic,

    order-k:      ∇h = 2·c1·W∘(Mᵏ)ᵀ, M = (I - A/s)⁻¹
    exponential:  ∇h = 2·c1·W∘exp(A/s)ᵀ

with c1 the coefficient of x, and hands over to `Acyclicity` whatever is not plainly inside the
domain, by the rule of Algorithm 1 that it was given. Everything else (other functions, other array
kinds) goes to `Acyclicity` at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import is_numpy_array
from scipy.linalg import lapack

from analyticdag._typing import Array
from analyticdag.acyclicity import Acyclicity
from analyticdag.algorithm1 import Reset
from analyticdag.functions import AnalyticFunction, Exponential

Push: TypeAlias = Callable[[Array], Array]
_Matrix: TypeAlias = Any  # a NumPy matrix, in this module

# Rounding may leave entries of M this far below zero, relative to its largest.
_ROUNDING = 1e-12
# Taylor coefficients of exp, in rows of four: with norms up to 1/2 the rest is below 1e-15.
_TAYLOR = np.array([1.0 / math.factorial(k) for k in range(12)]).reshape(3, 4)
_TAYLOR_NORM = 0.5
# Products with M that may be spent on showing that W is clear of the edge.
_PRODUCTS = 16
# Above this norm an exponential is about to overflow: `Acyclicity` is asked, which rescales first.
_LARGE_NORM = 500.0


def push_of(constraint: Acyclicity, W: Array, reset: Reset | None) -> Push:
    """Return W -> ∇h(W) for arrays like W, with Algorithm 1's reset of s by the rule `reset`.

    Without a rule it raises OutsideDomainError outside the domain.
    """
    f = constraint.function
    share = 1.0 if reset is None else reset.share(f, W.shape[0])
    careful = constraint.gradient if reset is None else _gradient_by(constraint, reset)
    if not (is_numpy_array(W) and W.dtype == np.float64 and isinstance(f, AnalyticFunction)):
        return careful
    if f.order is not None:
        return _order_push(f, f.order, len(W), careful, 1.0 - share)
    return _exponential_push(f, careful) if f == Exponential(f.scale) else careful


def _gradient_by(constraint: Acyclicity, reset: Reset) -> Push:
    return lambda W: constraint.adaptive(W, reset)[1]


def _order_push(f: AnalyticFunction, order: int, d: int, careful: Push, distance: float) -> Push:
    inverse_scale, slope = 1.0 / f.scale, 2.0 * f.coefficient(1)
    # A full-size work array makes getri about a third faster; ask for its size once.
    lwork = int(lapack.dgetri_lwork(d)[0].real) if d else 1

    def push(W: _Matrix) -> _Matrix:
        scaled = W * -inverse_scale
        scaled *= W
        scaled.reshape(-1)[:: d + 1] += 1.0
        # The transpose of a C-ordered matrix is what LAPACK works on in place: all is transposed.
        factors, pivots, singular = lapack.dgetrf(scaled.T, overwrite_a=True)
        if singular:
            return careful(W)
        M, _ = lapack.dgetri(factors, pivots, lwork=lwork, overwrite_lu=True)
        lowest = M.min()
        if not (lowest >= 0.0 or lowest >= -_ROUNDING * M.max()):  # NaN fails both
            return careful(W)
        if distance and not _clear_of_edge(M, distance):
            return careful(W)
        G = _power(M.T, order).T * W
        G *= slope
        return G

    return push


def _clear_of_edge(M: _Matrix, distance: float) -> bool:
    """Whether ρ(A)/s is shown to be at most 1 - distance, given M = (I - A/s)⁻¹ ≥ 0.

    With v = M·u, u > 0: (A/s)·v = v - u, so ρ(A)/s ≤ 1 - min u/v. Repeating it makes it tight.
    """
    u = np.ones(len(M))
    for _ in range(_PRODUCTS):
        v = M @ u
        if (u >= distance * v).all():
            return True
        u = v / v.max()
    return False


def _power(M: _Matrix, n: int) -> _Matrix:
    """Return Mⁿ, n ≥ 1; squaring only pays from the fourth power on."""
    if n <= 3:
        return reduce(np.matmul, [M] * n)
    return np.linalg.matrix_power(M, n)


def _exponential_push(f: AnalyticFunction, careful: Push) -> Push:
    inverse_scale, slope = 1.0 / f.scale, 2.0 * f.coefficient(1)

    def push(W: _Matrix) -> _Matrix:
        Y = W * inverse_scale
        Y *= W
        norm = float(Y.sum(axis=0).max())
        if not norm < _LARGE_NORM:
            return careful(W)
        G = _exponential(Y, norm).T * W
        G *= slope
        return G

    return push


def _exponential(Y: _Matrix, norm: float) -> _Matrix:
    """Return exp(Y) for Y ≥ 0: a Taylor polynomial in three rows of four, then squarings."""
    squarings = max(0, math.ceil(math.log2(norm / _TAYLOR_NORM))) if norm > 0.0 else 0
    Y = Y * 0.5**squarings
    Y2 = Y @ Y
    Y3 = Y2 @ Y
    Y4 = Y2 @ Y2
    low, middle, high = (_row(c, Y, Y2, Y3) for c in _TAYLOR)
    E: _Matrix = (high @ Y4 + middle) @ Y4 + low
    for _ in range(squarings):
        E = E @ E
    return E


def _row(c: _Matrix, Y: _Matrix, Y2: _Matrix, Y3: _Matrix) -> _Matrix:
    """Return c0·I + c1·Y + c2·Y² + c3·Y³."""
    row = c[1] * Y
    row += c[2] * Y2
    row += c[3] * Y3
    row.reshape(-1)[:: len(Y) + 1] += c[0]
    return row
