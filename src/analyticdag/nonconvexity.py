"""How non-convex a constraint is, and what cutting its series costs.

The Hessian of tr f(A) in A maps a direction E to the derivative of the gradient f'(A)^T along
E. It is symmetric with non-negative entries, so its spectral radius is its largest eigenvalue;
the paper uses it to compare constraints. Dense for small d, as a product for large d.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from analyticdag._arrays import as_square_matrix
from analyticdag._typing import FloatArray
from analyticdag.errors import DataError, OutsideDomainError, ParameterError
from analyticdag.functions import AnalyticFunction
from analyticdag.matrix_functions import MatrixPieces, NotConvergentError
from analyticdag.spectral import spectral_radius

__all__ = ["hessian", "hessian_product", "hessian_spectral_radius", "truncation_bound"]

_DENSE_LIMIT = 60  # d^2 x d^2 numbers: 100 MB at 60 nodes


def hessian_product(function: AnalyticFunction, A: FloatArray, direction: FloatArray) -> FloatArray:
    """The Hessian of tr f at A >= 0 applied to a direction, without forming the Hessian."""
    A = _non_negative(A)
    E = np.asarray(direction, dtype=np.float64)
    if E.shape != A.shape or not np.isfinite(E).all():
        raise DataError(f"the direction must be finite and of A's shape {A.shape}, got {E.shape}")
    # The product is linear in E; each part is non-negative, where nothing cancels.
    plus, minus = np.maximum(E, 0), np.maximum(-E, 0)
    return sum(
        (sign * _derivative_along(function, A, part) for sign, part in ((1, plus), (-1, minus))),
        np.zeros_like(A),
    )


def _derivative_along(f: AnalyticFunction, A: FloatArray, E: FloatArray) -> FloatArray:
    """d/dt f'(A + tE)^T at 0: the upper right block of f' at [[A, E], [0, A]]."""
    if not E.any():
        return E
    d = len(A)
    block = np.block([[A, E], [np.zeros_like(A), A]])
    try:
        corner: FloatArray = (
            MatrixPieces(block, "doubling").matrix(f.derivative()).remainder[:d, d:]
        )
    except NotConvergentError:
        rho = spectral_radius(A)
        if rho >= f.radius:
            raise OutsideDomainError(rho, f.radius) from None
        raise DataError("the Hessian overflows; scale the entries of A down") from None
    return corner.T


def hessian(function: AnalyticFunction, A: FloatArray) -> FloatArray:
    """The d² × d² Hessian of tr f at A; entry (i, j) of a matrix is coordinate i*d + j."""
    A = _non_negative(A)
    d = len(A)
    if d > _DENSE_LIMIT:
        raise ParameterError(
            f"a dense Hessian of {d} nodes has {d**4:.1e} numbers; use hessian_product, "
            f"or at most {_DENSE_LIMIT} nodes"
        )
    columns = [_derivative_along(function, A, E.reshape(d, d)).ravel() for E in np.eye(d * d)]
    return np.array(columns).reshape(d * d, d * d)


def hessian_spectral_radius(function: AnalyticFunction, A: FloatArray) -> float:
    """rho of the Hessian at A: the level of non-convexity of the constraint there."""
    A = _non_negative(A)
    d = len(A)
    if d <= 2:
        return float(np.max(np.abs(np.linalg.eigvalsh(hessian(function, A))), initial=0.0))

    def product(e: FloatArray) -> FloatArray:
        return hessian_product(function, A, e.reshape(d, d)).ravel()

    operator = LinearOperator((d * d, d * d), matvec=product, dtype=np.float64)
    start = np.full(d * d, 1.0 / d)  # the leading eigenvector is non-negative
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def truncation_bound(function: AnalyticFunction, A: FloatArray, degree: int) -> float:
    """An upper bound on tr f(A) minus the trace of the series cut after ``degree``.

    A constant that serves every A of spectral radius below one does not exist (A need not be
    normal); this one is for the given A. With theta between rho(A) and the radius and
    v = (theta I - A)^-1 1 > 0, A is at most theta in the norm weighted by v, so the tail is
    at most d ||A^(degree+1)||_v sum_i c_(degree+1+i) theta^i.
    """
    A = _non_negative(A)
    if degree < 0:
        raise ParameterError(f"degree must be at least 0, got {degree}")
    rho, radius = spectral_radius(A), function.radius
    if not rho < radius:
        raise OutsideDomainError(rho, radius)
    theta = (rho + radius) / 2 if math.isfinite(radius) else 2 * rho + 1.0
    v = np.linalg.solve(theta * np.eye(len(A)) - A, np.ones(len(A)))
    power = np.linalg.matrix_power(A, degree + 1)
    norm = float(np.max(power @ v / v, initial=0.0))
    return len(A) * norm * _tail(function, degree + 1, theta)


def _tail(f: AnalyticFunction, first: int, theta: float) -> float:
    """sum_{i>=0} c_(first+i) theta^i, summed until the terms no longer count."""
    for count in (64, 512, 4096):
        terms = f.coefficients(first + count)[first:] * theta ** np.arange(count)
        if terms[-1] <= 1e-17 * terms.sum():
            return float(terms.sum())
    # Close to the radius the series is slow, and f(theta) far above what is subtracted.
    head = f.coefficients(first) @ theta ** np.arange(first) if first else 0.0
    return float((f(theta) - head) / theta**first)


def _non_negative(A: FloatArray) -> FloatArray:
    A = np.asarray(as_square_matrix(A, "A"), dtype=np.float64)
    if (A < 0).any():
        raise DataError("A has negative entries; pass W * W or absolute values")
    return A
