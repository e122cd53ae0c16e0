from __future__ import annotations

import numpy as np
import pytest
from matrices import inside
from registry import FUNCTIONS

from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import DataError, OutsideDomainError, ParameterError
from analyticdag.functions import AnalyticFunction, Exponential, Inverse, Logarithm, Truncated
from analyticdag.matrix_functions import MatrixPieces, expm1, polynomial
from analyticdag.nonconvexity import (
    hessian,
    hessian_product,
    hessian_spectral_radius,
    truncation_bound,
)

every_function = pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS.keys())


def matrix(d: int, radius: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return inside(rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.6), min(radius, 1.0)) ** 2


def proposition_6(f: AnalyticFunction, A: np.ndarray, terms: int = 150) -> np.ndarray:
    """K sum_i i c_i sum_j (A^j)^T ⊗ A^(i-2-j), on vectors that stack columns."""
    d = len(A)
    powers = [np.linalg.matrix_power(A, i) for i in range(terms)]
    c = f.coefficients(terms)
    total = sum(
        i * c[i] * np.kron(powers[j].T, powers[i - 2 - j])
        for i in range(2, terms)
        for j in range(i - 1)
    )
    return commutation(d) @ total


def commutation(d: int) -> np.ndarray:
    return np.eye(d * d).reshape(d, d, d, d).transpose(1, 0, 2, 3).reshape(d * d, d * d)


@every_function
def test_hessian_is_proposition_6(f: AnalyticFunction) -> None:
    A = matrix(3, f.radius)
    K = commutation(3)  # between stacking columns and stacking rows
    np.testing.assert_allclose(hessian(f, A), K @ proposition_6(f, A) @ K, rtol=1e-8, atol=1e-9)


@every_function
def test_product_is_the_derivative_of_the_gradient(f: AnalyticFunction) -> None:
    A = matrix(6, f.radius) + 0.01 * f.scale
    E = np.random.default_rng(1).normal(size=A.shape)
    step = 1e-6 * f.scale
    gradients = [Acyclicity(f).evaluate(A + sign * step * E)[1] for sign in (1, -1)]
    expected = (gradients[0] - gradients[1]) / (2 * step)
    product = hessian_product(f, A, E)
    np.testing.assert_allclose(product, expected, rtol=1e-4, atol=1e-6 * np.abs(product).max())


@every_function
@pytest.mark.parametrize("d", [1, 2, 5])
def test_spectral_radius_matrix_free_and_dense(f: AnalyticFunction, d: int) -> None:
    A = matrix(d, f.radius)
    dense = np.max(np.abs(np.linalg.eigvalsh(hessian(f, A))))
    assert hessian_spectral_radius(f, A) == pytest.approx(dense, rel=1e-6)


@pytest.mark.parametrize("s", [0.6, 1.0, 3.0])
@pytest.mark.parametrize("d", [3, 12])
def test_exponential_logarithm_inverse_are_ordered(s: float, d: int) -> None:
    A = matrix(d, 1.0) * s
    levels = [hessian_spectral_radius(f(s), A) for f in (Exponential, Logarithm, Inverse)]
    assert levels == sorted(levels)
    assert levels[0] < levels[2]


def test_commutation_changes_the_spectral_radius() -> None:
    # The paper says it does not; without K the Hessian of a nilpotent A would look harmless.
    A = np.array([[0.0, 3.0], [0.0, 0.0]])
    H = hessian(Inverse(), A)
    without = np.max(np.abs(np.linalg.eigvals(commutation(2) @ H)))
    assert without == pytest.approx(2.0, abs=1e-3)
    assert hessian_spectral_radius(Inverse(), A) > 10


@every_function
@pytest.mark.parametrize("degree", [0, 2, 6])
def test_truncation_bound_bounds(f: AnalyticFunction, degree: int) -> None:
    A = matrix(5, f.radius)
    pieces = MatrixPieces(A, "lu")
    kept = pieces.truncated_trace(Truncated(f, degree)) if degree else 0.0
    tail = float(pieces.trace(f) - kept)
    bound = truncation_bound(f, A, degree)
    assert 0 < tail <= bound < np.inf


def test_truncation_bound_is_zero_when_nothing_is_cut() -> None:
    assert truncation_bound(Inverse(), np.diag(np.full(4, 50.0), 1), 4) == 0.0


def test_expm1_and_polynomial_against_references() -> None:
    from scipy.linalg import expm

    A = matrix(40, 1.0) * 30
    np.testing.assert_allclose(expm1(A) + np.eye(40), expm(A), rtol=1e-10)
    coefficients = np.array([0.5, 2.0, 0.25, 3.0, 1.0, 0.0, 7.0])
    expected = sum(c * np.linalg.matrix_power(A, i + 1) for i, c in enumerate(coefficients))
    np.testing.assert_allclose(polynomial(coefficients, A), expected, rtol=1e-12)
    np.testing.assert_array_equal(polynomial(np.array([]), A), 0 * A)


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="hessian_product"):
        hessian(Inverse(), np.zeros((61, 61)))
    with pytest.raises(DataError, match="shape"):
        hessian_product(Inverse(), np.zeros((3, 3)), np.zeros((2, 2)))
    with pytest.raises(DataError, match="negative"):
        hessian(Inverse(), -np.eye(3))
    with pytest.raises(OutsideDomainError):
        hessian(Inverse(), 2 * np.ones((3, 3)))
    with pytest.raises(OutsideDomainError):
        truncation_bound(Inverse(), 2 * np.ones((3, 3)), 2)
    with pytest.raises(ParameterError, match="degree"):
        truncation_bound(Inverse(), np.zeros((3, 3)), -1)
