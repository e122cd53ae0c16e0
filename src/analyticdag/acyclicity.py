"""h(W) = tr f(A) - c0 d with A = W * W: zero exactly when W is a DAG, and its gradient.

``Acyclicity(f)`` works on NumPy, Torch and CuPy arrays, and answers in the same kind. Which way an
answer is computed depends on the matrix:

| W                                          | way                                           |
|--------------------------------------------|-----------------------------------------------|
| on a device                                | the whole matrix at once, ``_whole``          |
| in memory that the CPU can read            | by strongly connected components              |
|   without cycles                           | zero, at once                                 |
|   order-k, doubles, small components       | one compiled call, ``_small_components``      |
|   anything else                            | ``_component``, one after the other           |

and a component, or the whole matrix, is evaluated in ``_whole``: as it is (order-k on the CPU:
elimination works in any scaling), and otherwise, or where that fails, rescaled by a diagonal matrix
(``_in_benign_scaling``). A matrix for which both fail is outside the domain.

W that is too uneven to be squared (1e100 beside 1e-170), or to be multiplied along its paths, is
first rescaled by powers of two (``_rescaled``). Numbers of which that makes none are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from analyticdag._arrays import (
    array_namespace,
    as_square_matrix,
    host_view,
    identity,
    like,
    quiet,
    times_transposed,
)
from analyticdag._compiled import flat, readable
from analyticdag._constraint.kernels import order_gradient
from analyticdag._terms import Term
from analyticdag._typing import Array, IntArray
from analyticdag.algorithm1 import OUTSIDE, Reset, algorithm1
from analyticdag.errors import DataError, OutsideDomainError, ParameterError
from analyticdag.functions import AnalyticFunction, Truncated, as_function
from analyticdag.matrix_functions import MatrixPieces, NotConvergentError, Shifted
from analyticdag.spectral import (
    balancing_exponents,
    cyclic_components,
    cyclic_members,
    dominance_scaling,
    spectral_radius,
)

__all__ = ["Acyclicity"]

_METHODS = ("auto", "lu", "doubling")
_LOW_ORDER = 32  # the kernel multiplies once for each order, `MatrixPieces` squares
# Sizes of entries between which a matrix is evaluated as it is.
_EVEN = {
    np.dtype(np.float64): (1e-50, 1e50),
    np.dtype(np.float32): (1e-8, 1e8),
}
_SMALL = 128  # components up to this size go to the compiled kernel (measured)


@dataclass(frozen=True)
class Acyclicity:
    """The acyclicity constraint of an analytic function.

    ``method`` says how (I - A/s)^-1 is formed: by LU in blocks, by doubling the power series as
    in the paper, or ("auto") by whichever is faster, LU on the CPU and doubling elsewhere.
    """

    function: AnalyticFunction | Truncated
    method: str = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", as_function(self.function))
        if self.method not in _METHODS:
            raise ParameterError(f"method must be one of {_METHODS}, got {self.method!r}")

    def value(self, W: Any) -> Any:
        """h(W); OutsideDomainError when rho(A) reaches the radius.

        A cycle whose weights, squared and multiplied, are below 1e-308 is lost to the numbers and
        counts as zero (single precision on a device: 1e-38); `graphs.is_dag` looks at which
        weights are there.
        """
        return self.value_and_gradient(W)[0]

    def gradient(self, W: Any) -> Array:
        """dh/dW = 2 W * f'(A)^T."""
        return self.value_and_gradient(W)[1]

    def value_and_gradient(self, W: Any) -> tuple[Any, Array]:
        """h and its gradient in W, from the same pieces."""
        W = as_square_matrix(W, "W")
        host = host_view(W)
        if host is None:
            with quiet():
                value, slope = self._whole(W * W)
                return _checked(value, 2 * self._slope[0] * W * slope.T)
        value, gradient = self._by_components(host)
        return _number_like(value, W), like(gradient, W)

    def evaluate(self, A: Any) -> tuple[Any, Array]:
        """h and its gradient in A itself, for a non-negative A (neural models supply one)."""
        A = as_square_matrix(A, "A")
        xp = array_namespace(A)
        if bool(xp.any(A < 0)):
            raise DataError("A has negative entries; pass W * W or absolute values")
        host = host_view(A)
        value, slope = self._whole(A if host is None else host)
        slope = self._slope[0] * slope.T
        if not bool(xp.all(xp.isfinite(like(slope, A)))):
            raise DataError("the gradient in A overflows; scale the entries of A down")
        if host is None:
            return value, slope
        components = cyclic_components(host)
        if len(components) != 1 or len(components[0]) < len(host):
            # The gradient needs the paths between components, the value only the cycles.
            value = sum(float(self._whole(host[np.ix_(c, c)])[0]) for c in components)
        return _number_like(value, A), like(slope, A)

    def adaptive(self, W: Any, reset: Reset = OUTSIDE) -> tuple[Any, Array, float]:
        """Algorithm 1: value, gradient and the s used, reset to rho(A) + xi when outside."""
        return algorithm1(self, as_square_matrix(W, "W"), reset)

    def widened(self, outside: OutsideDomainError) -> Acyclicity:
        """The constraint with s reset to rho(A) + xi, for a matrix that was outside."""
        return OUTSIDE.widened(self, outside.spectral_radius)

    def scaled(self, s: float) -> Acyclicity:
        """The constraint of f(x/s), evaluated in the same way."""
        return Acyclicity(self.function.scaled(s), self.method)

    @cached_property
    def _slope(self) -> tuple[float, AnalyticFunction | None]:
        """f' as a number times a function: a factor need not pass over the matrix."""
        if isinstance(self.function, Truncated):
            return 1.0, None
        derivative = self.function.derivative()
        if len(derivative.terms) > 1:
            return 1.0, derivative
        term = derivative.terms[0]
        return term.coefficient, AnalyticFunction([Term(1.0, term.factors)])

    def _by_components(self, W: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        """h and its gradient where the CPU can read W: cyclic components only."""
        W = readable(W)
        members, starts = cyclic_members(W)
        if len(starts) == 2 and len(members) == len(W) > _SMALL:
            return self._component(W)
        gradient = np.zeros(W.shape, W.dtype)
        if len(members) == 0:
            return 0.0, gradient
        total = self._small_components(W, members, starts, gradient)
        if total is not None:
            return total, gradient
        total = 0.0
        for start, stop in pairwise(starts.tolist()):
            block = np.ix_(members[start:stop], members[start:stop])
            value, gradient[block] = self._component(W[block])
            total += value
        return total, gradient

    def _component(self, W: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        """h and its gradient of one component, in whatever precision and scaling it needs."""
        if _is_even(W):
            try:
                value, gradient = self._as_it_is(W)
            except DataError:
                pass  # an overflow
            else:
                # Without cycles worth a number; large entries may have hidden them from it.
                is_zero = value == 0 and W.dtype == np.float64 and np.abs(W).max() <= 1
                if _is_finite(value, gradient) and (value > 0 or is_zero):
                    return value, gradient
        if W.dtype == np.float64:
            return self._rescaled(W)
        value, gradient = self._component(W.astype(np.float64))
        with quiet():
            return _checked(value, gradient.astype(W.dtype))

    def _as_it_is(self, W: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        with quiet():
            value, slope = self._whole(W * W)
            return float(value), times_transposed(W, slope, 2 * self._slope[0])

    def _rescaled(self, W: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        """The same from D^-1 W D, which has the same h; D holds powers of two."""
        exponents = balancing_exponents(W)
        value, gradient = self._as_it_is(np.ldexp(W, exponents))
        with quiet():
            return _checked(value, np.ldexp(gradient, exponents))

    def _small_components(
        self,
        W: np.ndarray[Any, Any],
        members: IntArray,
        starts: IntArray,
        gradient: np.ndarray[Any, Any],
    ) -> float | None:
        """h by one compiled call, the gradient written in place; None where it does not apply."""
        order, s, coefficient = self._order_family
        largest = max((b - a for a, b in pairwise(starts.tolist())), default=0)
        is_quick = 0 < order <= _LOW_ORDER and largest <= _SMALL and self.method == "auto"
        if not (is_quick and W.dtype == np.float64 and _is_even(W)):
            return None
        scratch = np.empty(3 * largest**2)
        total = order_gradient(flat(W), len(W), flat(gradient), members, starts, s, order, scratch)
        if not (total > 0 and _is_finite(total, gradient)):
            gradient[:] = 0.0
            return None
        if coefficient != 1.0:
            gradient *= coefficient
        return coefficient * total

    @cached_property
    def _order_family(self) -> tuple[int, float, float]:
        """(k, s, c) when f is c times the paper's order-k; k = 0 otherwise."""
        f = self.function
        if f.order is None:
            return 0, 1.0, 1.0
        return f.order, f.scale, f.terms[0].coefficient

    def _whole(self, A: Array) -> tuple[Any, Array]:
        """tr f(A) - c0 d and f'(A), but for its factor."""
        if A.shape[0] == 0:
            return array_namespace(A).sum(A), A
        # Elimination works in any scaling; an exponential takes fewer squarings in a good one.
        eliminates = self._order_family[0] > 0 and self.method != "doubling"
        if eliminates and host_view(A) is not None:
            try:
                return self._evaluated(MatrixPieces(A, self.method))
            except NotConvergentError:
                pass  # outside the domain, or an overflow that scaling can avoid
        return self._in_benign_scaling(A)

    def _in_benign_scaling(self, A: Array) -> tuple[Any, Array]:
        """The same, with A made smaller first: tr f(D^-1 A D) = tr f(A) for any diagonal D."""
        v, proved = dominance_scaling(A, self.function.scale)
        if not proved and not bool(array_namespace(A).all(array_namespace(A).isfinite(A))):
            raise DataError("W * W overflows; scale the weights down")
        scaled = A if v is None else A * v[None, :] / v[:, None]
        try:
            value, slope = self._evaluated(MatrixPieces(scaled, self.method))
        except NotConvergentError:
            raise self._outside(A) from None
        return value, slope if v is None else slope * v[:, None] / v[None, :]

    def _evaluated(self, pieces: MatrixPieces) -> tuple[Any, Array]:
        if isinstance(self.function, Truncated):
            slope = pieces.truncated_derivative(self.function)
            return pieces.truncated_trace(self.function), _unshifted(slope)
        assert self._slope[1] is not None
        slope = pieces.matrix(self._slope[1])
        # The trace first: adding the identity writes into a matrix the pieces still hold.
        value = pieces.trace(self.function)
        return value, _unshifted(slope)

    def _outside(self, A: Array) -> OutsideDomainError | DataError:
        rho = spectral_radius(A)
        if rho >= self.function.radius:
            return OutsideDomainError(rho, self.function.radius)
        return DataError(
            f"f(A) overflows (rho(A) = {rho:g}); scale the weights down or use f.scaled(s)"
        )


def _is_even(W: np.ndarray[Any, Any]) -> bool:
    """Whether squares, and products of a few, of the entries of W keep their digits."""
    smallest, largest = _EVEN[W.dtype]
    size = np.abs(W)
    even = np.count_nonzero((size > smallest) & (size < largest))
    return even == np.count_nonzero(W)


def _is_finite(value: float, gradient: np.ndarray[Any, Any]) -> bool:
    """Whether both are numbers, whose squares are too."""
    return math.isfinite(value) and math.isfinite(np.vdot(gradient, gradient))


def _checked(value: Any, gradient: Array) -> tuple[Any, Array]:
    """Both as they are, if they are numbers."""
    xp = array_namespace(gradient)
    if not (math.isfinite(float(value)) and bool(xp.all(xp.isfinite(gradient)))):
        raise DataError("f(A) or its gradient overflows; scale the weights down or use f.scaled(s)")
    return value, gradient


def _unshifted(shifted: Shifted) -> Array:
    """constant * I + remainder; a NumPy remainder is written in place."""
    constant, matrix = shifted
    if isinstance(matrix, np.ndarray):
        matrix.reshape(-1)[:: len(matrix) + 1] += constant
        return matrix
    return matrix + constant * identity(matrix)


def _number_like(value: Any, template: Array) -> Any:
    """A Python float for NumPy, a zero-dimensional array of its own kind otherwise."""
    return float(value) if isinstance(template, np.ndarray) else like(float(value), template)
