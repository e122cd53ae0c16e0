"""f(A) for a non-negative matrix A: the pieces an analytic function is assembled from.

Every matrix here is kept as its *remainder*, G(A) - c0 I. Remainders of non-negative series
are sums of non-negative numbers, so nothing cancels: tr f(A) - c0 d keeps its relative
accuracy down to the smallest cycle, in single precision too. The pieces of one A (one inverse
per s, one exponential per s, their powers) are computed once and live as long as the call.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from analyticdag._arrays import (
    array_namespace,
    diagonal_of_product,
    epsilon,
    host_view,
    identity,
    quiet,
    set_diagonal,
)
from analyticdag._compiled import flat
from analyticdag._constraint.kernels import star
from analyticdag._terms import Atom, Term
from analyticdag._typing import Array, FloatArray
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.spectral import spectral_radius

__all__ = [
    "MatrixPieces",
    "NotConvergentError",
    "Shifted",
    "doubling",
    "eliminate",
    "expm1",
    "polynomial",
]

_BLOCK = 100  # rows that go to the compiled elimination at once; 64 is no faster
_TAYLOR_DEGREE = 16  # with norms up to 0.8 the first neglected term is below 1e-16
_TAYLOR_NORM = 0.8
_VANISHED = 1e-20  # Algorithm 1's constant; its residual tolerance of 1e-6 holds with room


class NotConvergentError(ArithmeticError):
    """The series diverges (or overflows) at this matrix. Never leaves the package."""


class Shifted(NamedTuple):
    """The matrix constant * I + remainder."""

    constant: float
    remainder: Array

    def __matmul__(self, other: Shifted) -> Shifted:
        a, R = self
        b, Q = other
        product = R @ Q
        if a:
            product += Q if a == 1 else a * Q
        if b:
            product += R if b == 1 else b * R
        return Shifted(a * b, product)

    def trace_with(self, other: Shifted) -> Array:
        """Trace of the product less its constant part, without forming the product."""
        xp = array_namespace(self.remainder)
        cross = xp.sum(self.remainder * other.remainder.T)
        return (
            cross
            + self.constant * _trace(other.remainder)
            + other.constant * _trace(self.remainder)
        )


class MatrixPieces:
    """The atoms of a function at one matrix A, each computed once."""

    def __init__(self, A: Array, method: str) -> None:
        self.A = A
        self._method = method
        self._resolvents: dict[float, tuple[Array, float | None]] = {}
        self._powers: dict[tuple[Atom, int], Shifted] = {}

    # -- pieces that atoms ask for

    def resolvent(self, s: float) -> Array:
        """(I - A/s)^-1 - I; NotConvergentError outside the domain."""
        return self._resolvent(s)[0]

    def expm1(self, s: float) -> Array:
        """exp(A/s) - I."""
        return expm1(self.A / s)

    def log(self, s: float) -> Array:
        """-log(I - A/s): square roots towards zero, then an integral of resolvents."""
        Y = self.A / s
        rho = _radius_below_one(Y)
        roots = 0
        while rho > 0.5:
            Y, rho, roots = self._half_log_argument(Y), 1 - math.sqrt(1 - rho), roots + 1
        # -log(I - Y) is the integral of Y (I - t Y)^-1 over t in (0, 1); Gauss–Legendre has
        # positive weights, so nothing cancels. The error is that of a Padé approximant.
        root = math.sqrt(1 - rho)
        rate = max((1 - root) / (1 + root), 1e-3)
        nodes, weights = np.polynomial.legendre.leggauss(
            2 + math.ceil(math.log(epsilon(Y)) / (2 * math.log(rate)))
        )
        total = 0 * Y
        for t, weight in zip(((nodes + 1) / 2).tolist(), (weights / 2).tolist(), strict=True):
            total = total + weight / t * self._remainder(t * Y)
        return 2.0**roots * total

    def _half_log_argument(self, Y: Array) -> Array:
        """X = I - (I - Y)^(1/2), so that log(I - Y) = 2 log(I - X), by cyclic reduction.

        Solves X^2 - 2X + Y = 0 with quadratic convergence and non-negative numbers only.
        """
        xp = array_namespace(Y)
        Z, P = 0 * Y, Y
        for _ in range(64):
            Q = (P + P @ self._remainder(Z)) / 2
            Z, P = Z + Q, Q @ Q
            if float(xp.max(P)) <= _VANISHED:
                break
        return (Y + Y @ self._remainder(Z / 2)) / 2

    def _remainder(self, Y: Array) -> Array:
        return _resolvent_of(Y, 1.0, self._method)[0]

    def log_det(self, s: float) -> Array:
        """-log det(I - A/s), the trace of the logarithm."""
        log_det = self._resolvent(s)[1]
        if log_det is not None:
            return log_det
        if host_view(self.A) is not None:
            return _resolvent_of(self.A, s, "lu")[1]
        xp = array_namespace(self.A)
        value = -xp.linalg.slogdet(identity(self.A) - self.A / s)[1]
        # 1 - u loses what is small beside 1; above this the loss is below 1e-3 of the value.
        return value if value > 1e3 * self.A.shape[0] * epsilon(self.A) else _trace(self.log(s))

    def trace_of(self, atom: Atom) -> Array:
        """Trace of the atom's remainder."""
        return _trace(self.power(atom, 1).remainder)

    def _resolvent(self, s: float) -> tuple[Array, float | None]:
        if s not in self._resolvents:
            self._resolvents[s] = _resolvent_of(self.A, s, self._method)
        return self._resolvents[s]

    # -- assembling a function from its terms

    def power(self, atom: Atom, n: int) -> Shifted:
        """atom(A) ** n, by halving n."""
        key = atom, n
        if key not in self._powers:
            if n == 1:
                self._powers[key] = Shifted(atom.constant, atom.remainder(self))
            else:
                self._powers[key] = self.power(atom, n // 2) @ self.power(atom, n - n // 2)
        return self._powers[key]

    def matrix(self, f: AnalyticFunction) -> Shifted:
        """f(A)."""
        parts = [self._term(term) for term in f.terms if term.factors]
        remainder = parts[0].remainder if len(parts) == 1 else sum(p.remainder for p in parts)
        return Shifted(f.constant, remainder)

    def trace(self, f: AnalyticFunction) -> Array:
        """tr f(A) - c0 d."""
        return sum(term.coefficient * self._term_trace(term) for term in f.terms if term.factors)

    def _term(self, term: Term) -> Shifted:
        product = reduce(Shifted.__matmul__, (self.power(a, n) for a, n in term.factors))
        c = term.coefficient
        return product if c == 1 else Shifted(c * product.constant, c * product.remainder)

    def _term_trace(self, term: Term) -> Array:
        *others, (atom, n) = term.factors
        if others:
            left = reduce(Shifted.__matmul__, (self.power(a, k) for a, k in others))
            return left.trace_with(self.power(atom, n))
        if n > 1:
            return self.power(atom, n // 2).trace_with(self.power(atom, n - n // 2))
        return atom.trace(self)

    # -- polynomials stand beside the class

    def truncated_trace(self, f: Truncated) -> Array:
        """tr f(A) - c0 d for a polynomial."""
        c = f.coefficients(f.degree + 1)
        return Shifted(float(c[1]), polynomial(c[2:], self.A)).trace_with(Shifted(0.0, self.A))

    def truncated_derivative(self, f: Truncated) -> Shifted:
        """f'(A) for a polynomial."""
        c = f.coefficients(f.degree + 1) * np.arange(f.degree + 1)
        return Shifted(float(c[1]), polynomial(c[2:], self.A))


def doubling(Y: Array) -> Array:
    """sum_{i>=1} Y^i, twice as many terms a round.

    This is how the published Algorithm 1 forms the inverse; its reset of s is in ``algorithm1.py``.

    The residual D (I - Y) - I that the algorithm tests is, up to its sign, the next power of
    Y, which the next round needs anyway. The published loop gives up after 2d terms, and so
    resets s for some matrices inside the domain; this one goes on until the power vanishes
    or grows without bound.
    """
    xp = array_namespace(Y)
    total, power, reach = Y, Y @ Y, 2
    with quiet():
        for _ in range(64):
            largest = float(xp.max(power))
            # A cycle of length L needs the L-th power, however small it is.
            if largest == 0 or (largest <= _VANISHED and reach >= Y.shape[0]):
                return total + power
            if not math.isfinite(largest):
                break
            reach *= 2
            total = total + power + total @ power
            power = power @ power
    raise NotConvergentError


def expm1(Y: Array) -> Array:
    """exp(Y) - I for Y >= 0: Taylor, then (1 + X)^2 - 1 = 2X + X^2, without subtraction.

    SciPy's and Torch's expm give exp(Y), where a small cycle is lost beside the identity.
    """
    xp = array_namespace(Y)
    norm = float(xp.max(xp.sum(Y, axis=1)))
    by_norm = math.ceil(math.log2(norm / _TAYLOR_NORM)) if norm > _TAYLOR_NORM else 0
    # A cycle of length L needs the L-th power: with 4 of its steps to a factor, the degree of
    # each factor is enough for it; with 16, most ways of sharing the steps out would be lost.
    by_length = math.ceil(math.log2(Y.shape[0] / 4))
    squarings = max(0, by_norm, by_length)
    X = polynomial(1.0 / np.cumprod(np.arange(1.0, _TAYLOR_DEGREE + 1)), Y / 2.0**squarings)
    with quiet():
        for _ in range(squarings):
            X = X @ X + 2 * X
    if not math.isfinite(float(xp.max(X))):
        raise NotConvergentError
    return X


def polynomial(coefficients: FloatArray, Y: Array) -> Array:
    """c_1 Y + c_2 Y^2 + … by Paterson–Stockmeyer: about 2 sqrt(degree) products."""
    width = max(1, math.ceil(math.sqrt(len(coefficients))))
    powers = [Y]
    while len(powers) < width:
        powers.append(powers[-1] @ Y)
    blocks = [
        sum(float(c) * P for c, P in zip(coefficients[i : i + width], powers, strict=False))
        for i in range(0, len(coefficients), width)
    ]
    *lower, highest = blocks or [0 * Y]
    return reduce(lambda high, low: high @ powers[-1] + low, reversed(lower), highest)


def eliminate(Y: np.ndarray[Any, Any]) -> float:
    """Replace Y >= 0 by (I - Y)^-1 - I and return -log det(I - Y): LU in blocks, without pivots.

    All walks within the first half, then those through it, by sums and products of
    non-negative numbers: nothing cancels, a pivot at or past 1 is the edge of the domain, and
    huge entries beside tiny ones do no harm. The work is in matrix products, which makes it
    faster than LAPACK's inverse.
    """
    n = len(Y)
    if n <= _BLOCK:
        block = np.array(Y, np.float64, order="C")
        log_det = star(flat(block), np.empty(n))
        if log_det < 0:
            raise NotConvergentError
        Y[:] = block
        return log_det
    half = n // 2
    A, B, C, D = Y[:half, :half], Y[:half, half:], Y[half:, :half], Y[half:, half:]
    log_det = eliminate(A)
    out = A @ B
    out += B  # from the first half into the second
    D += C @ out
    log_det += eliminate(D)
    back = C @ A
    back += C  # from the second half into the first
    np.matmul(out, D, out=B)
    B += out
    np.matmul(D, back, out=C)
    C += back
    A += B @ back
    return log_det


def _resolvent_of(A: Array, s: float, method: str) -> tuple[Array, float | None]:
    """(I - A/s)^-1 - I, and -log det(I - A/s) where it comes along."""
    host = host_view(A)
    if method == "doubling" or (method == "auto" and host is None):
        return doubling(A / s), None
    if host is None:
        M = _library_inverse(A / s)
        return set_diagonal(M, diagonal_of_product(A, M) / s), None
    R = np.divide(host, host.dtype.type(s), order="C")
    with quiet():
        log_det = eliminate(R)
    if not math.isfinite(R.max(initial=0.0)):
        raise NotConvergentError
    return R, log_det


def _library_inverse(Y: Array) -> Array:
    xp = array_namespace(Y)
    try:
        M = xp.linalg.inv(identity(Y) - Y)
    except (ValueError, RuntimeError):  # LinAlgError of NumPy and CuPy, of Torch
        raise NotConvergentError from None
    # Inside the domain M >= I. Outside, row sums weighted by Perron's vector are negative, so
    # one of them is; single entries may be, and stay tiny beside the largest.
    rows = xp.sum(M, axis=1)
    if not (math.isfinite(float(xp.max(rows))) and float(xp.min(rows)) > 0):
        raise NotConvergentError
    return M


def _trace(matrix: Array) -> Array:
    if isinstance(matrix, np.ndarray):
        return matrix.trace()
    return array_namespace(matrix).linalg.trace(matrix)


def _radius_below_one(Y: Array) -> float:
    """rho(Y), or a row sum where that is small enough already."""
    xp = array_namespace(Y)
    bound = float(xp.max(xp.sum(Y, axis=1)))
    rho = bound if bound <= 0.5 else min(bound, spectral_radius(Y))
    if not rho < 1:
        raise NotConvergentError
    return rho
