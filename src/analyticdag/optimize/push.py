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

A push keeps its scratch from one call to the next: fresh memory for every product costs a sixth of
a step with 500 nodes. What it returns is the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import cycle
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import is_numpy_array

from analyticdag._arrays import times_transposed
from analyticdag._typing import Array
from analyticdag.acyclicity import Acyclicity
from analyticdag.algorithm1 import Reset
from analyticdag.functions import AnalyticFunction, Exponential
from analyticdag.optimize.halves import Halves

Push: TypeAlias = Callable[[Array], Array]
_Matrix: TypeAlias = Any  # a NumPy matrix, in this module

# Taylor coefficients of exp, in rows of four. With Y¹⁶ of norm 0.8¹⁶ at most the rest is below
# 2e-15.
_TAYLOR = np.array([1.0 / math.factorial(k) for k in range(16)]).reshape(4, 4)
_TAYLOR_NORM = 0.8
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
    if not (is_numpy_array(W) and W.dtype == np.float64):
        return careful
    if f.order is not None:
        return _order_push(f, f.order, len(W), careful, 1.0 - share)
    exponential = Exponential(f.scale)
    return _exponential_push(exponential, len(W), careful) if f == exponential else careful


def _gradient_by(constraint: Acyclicity, reset: Reset) -> Push:
    return lambda W: constraint.adaptive(W, reset)[1]


def _order_push(f: AnalyticFunction, order: int, d: int, careful: Push, distance: float) -> Push:
    inverse_scale, slope = 1.0 / f.scale, 2.0 * f.coefficient(1)
    M, *spare = np.empty((3, d, d))
    halves = Halves(M)

    def push(W: _Matrix) -> _Matrix:
        np.multiply(W, inverse_scale, out=M)
        np.multiply(M, W, out=M)
        # An infinite or missing number need not reach the diagonal, where the elimination looks.
        if not (halves.invert() and math.isfinite(M.max(initial=0.0))):
            return careful(W)
        if distance and not _clear_of_edge(M, distance):
            return careful(W)
        return times_transposed(W, _power(M, order, spare), slope)

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


def _power(M: _Matrix, n: int, spare: list[_Matrix]) -> _Matrix:
    """Return Mⁿ, n ≥ 1, by squaring, in one of two spare matrices (or M itself)."""
    P, into = M, cycle(spare)
    for bit in f"{n:b}"[1:]:
        P = np.matmul(P, P, out=next(into))
        if bit == "1":
            P = np.matmul(P, M, out=next(into))
    return P


def _exponential_push(f: AnalyticFunction, d: int, careful: Push) -> Push:
    inverse_scale, slope = 1.0 / f.scale, 2.0 * f.coefficient(1)
    powers, rows = np.empty((4, d, d)), np.empty((4, d, d))

    def push(W: _Matrix) -> _Matrix:
        Y = np.multiply(W, inverse_scale, out=powers[0])
        Y *= W
        if not _norm(Y) < _LARGE_NORM:
            return careful(W)
        return times_transposed(W, _exponential(powers, rows), slope)

    return push


def _exponential(powers: _Matrix, rows: _Matrix) -> _Matrix:
    """Return exp(Y) for Y = powers[0] ≥ 0: a Taylor polynomial of four rows, then squarings.

    All terms are non-negative, so the rest is at most Y¹⁶/16!·exp(Y) in every entry: the norm of
    Y¹⁶ says how often to halve Y. A nearly acyclic Y has few long walks: with 500 nodes the
    sixteenth root of that norm is a tenth of the norm of Y. `powers` and `rows` are scratch; the
    result is in one of them.
    """
    Y, Y2, Y3, Y4 = powers
    np.matmul(Y, Y, out=Y2)
    np.matmul(Y2, Y, out=Y3)
    np.matmul(Y2, Y2, out=Y4)
    walks = np.ones(len(Y))
    for _ in range(4):
        walks = walks @ Y4  # in the end the column sums of Y¹⁶
    size = float(walks.max(initial=0.0)) ** (1.0 / 16.0)
    squarings = max(0, math.ceil(math.log2(size / _TAYLOR_NORM))) if size > 0.0 else 0
    coefficients = _TAYLOR * 0.5 ** (squarings * np.arange(4))
    Y4 *= 0.5 ** (4 * squarings)
    d = len(Y)
    by_entry = rows.reshape(4, d * d)
    np.matmul(coefficients[:, 1:], powers[:3].reshape(3, d * d), out=by_entry)
    by_entry[:, :: d + 1] += coefficients[:, :1]
    E, into = rows[3], cycle((Y, Y2))
    for row in rows[2::-1]:
        E = np.matmul(E, Y4, out=next(into))
        E += row
    for _ in range(squarings):
        E = np.matmul(E, E, out=next(into))
    return E


def _norm(Y: _Matrix) -> float:
    """Return the largest column sum of Y ≥ 0."""
    return float(Y.sum(axis=0).max(initial=0.0))
