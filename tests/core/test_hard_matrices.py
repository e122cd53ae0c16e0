"""Matrices on which a careless constraint is wrong without saying so."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from registry import KINDS, to_numpy

from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import DataError, OutsideDomainError
from analyticdag.functions import (
    AnalyticFunction,
    Exponential,
    Inverse,
    Logarithm,
    Truncated,
    named,
)
from analyticdag.matrix_functions import NotConvergentError, doubling, eliminate
from analyticdag.nonconvexity import hessian, truncation_bound
from analyticdag.spectral import spectral_radius

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def closed_chain(d: int, closing: float) -> np.ndarray:
    """A chain of weights 2 closed by a tiny edge; the cycle has weight ``closing`` in A."""
    W = np.diag(np.full(d - 1, 2.0), 1)
    W[d - 1, 0] = np.sqrt(closing) / 2.0 ** (d - 1)
    order = np.random.default_rng(d).permutation(d)
    return W[np.ix_(order, order)]


@pytest.mark.parametrize("d", [60, 150, 300])
@pytest.mark.parametrize("method", ["auto", "lu", "doubling"])
def test_a_long_chain_closed_by_a_tiny_edge(d: int, method: str) -> None:
    # Elimination with pivots exchanged rows here and lost the cycle in the chain's rounding.
    W = closed_chain(d, 1e-12)
    for order in (1, 2, 3):
        f = named(f"order-{order}")
        value, gradient = Acyclicity(f, method).value_and_gradient(W)
        assert value == pytest.approx(d * f.coefficient(d) * 1e-12, rel=1e-8, abs=0)
        # Every edge lies on the one cycle: W dh/dW is the same for all, 2 d c_d of its weight.
        push = (W * gradient)[W != 0]
        np.testing.assert_allclose(push, 2 * d * f.coefficient(d) * 1e-12, rtol=1e-8)


@pytest.mark.parametrize("f", [Inverse() * Exponential(), Logarithm() * Inverse()], ids=repr)
@pytest.mark.parametrize("d", [60, 150])
def test_products_on_a_long_chain(f: AnalyticFunction, d: int) -> None:
    value = Acyclicity(f).value(closed_chain(d, 1e-12))
    assert value == pytest.approx(d * f.coefficient(d) * 1e-12, rel=1e-6, abs=0)


@pytest.mark.parametrize("f", [Inverse(), Inverse() ** 2, Inverse() * Exponential()], ids=repr)
@pytest.mark.parametrize("method", ["auto", "lu", "doubling"])
@every_kind
def test_large_entries_do_not_hide_the_outside(
    f: AnalyticFunction, method: str, kind: object
) -> None:
    # rho is 1.5, but the negative entries of (I - A)^-1 are tiny beside its largest.
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = 1.5
    A[2, 3], A[3, 2] = 1e15, 1e-18
    A[1, 2] = A[3, 0] = 1e-30
    with pytest.raises(OutsideDomainError) as caught:
        Acyclicity(f, method).value(kind(np.sqrt(A)))
    assert caught.value.spectral_radius == pytest.approx(1.5)


@pytest.mark.parametrize("length", [2, 5, 9, 20])
def test_doubling_sees_cycles_of_tiny_weights(length: int) -> None:
    cycle = 1e-8 * np.roll(np.eye(length), 1, axis=1)
    assert np.trace(doubling(cycle)) == pytest.approx(length * 1e-8**length, rel=1e-12, abs=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [0, 1, 7, 130, 301])
def test_elimination_is_the_inverse(d: int, dtype: type) -> None:
    Y = np.random.default_rng(d).random((d, d)).astype(dtype) * dtype(1.8 / max(d, 2))
    R = Y.copy()
    log_det = eliminate(R)
    tolerance = 1e3 * max(d, 1) * float(np.finfo(dtype).eps)
    exact = np.linalg.inv(np.eye(d) - Y.astype(np.float64)) - np.eye(d)
    np.testing.assert_allclose(R, exact, rtol=tolerance)
    assert log_det == pytest.approx(-np.linalg.slogdet(np.eye(d) - Y)[1], rel=tolerance)
    if d:
        with pytest.raises(NotConvergentError):
            eliminate(Y / Y.max() + dtype(0.1))


@pytest.mark.parametrize("d", [100, 300])
def test_radius_where_the_perron_vector_underflows(d: int) -> None:
    A = 1e-3 * (np.eye(d, k=1) + np.eye(d, k=-1))
    A[0, 0] = 2.0
    assert spectral_radius(A) == pytest.approx(2 + 5e-7, rel=1e-9)
    assert Acyclicity(Inverse()).adaptive(np.sqrt(A))[2] == pytest.approx(2.2 + 5e-7)


@every_kind
@pytest.mark.parametrize("f", [Logarithm(), Exponential(), Truncated(Inverse(), 2)], ids=repr)
def test_no_nodes(f: AnalyticFunction, kind: object) -> None:
    nothing = kind(np.zeros((0, 0)))
    for value, gradient in (
        Acyclicity(f).value_and_gradient(nothing),
        Acyclicity(f).evaluate(nothing),
    ):
        assert float(value) == 0.0
        assert to_numpy(gradient).shape == (0, 0)
    assert hessian(Inverse(), np.zeros((0, 0))).shape == (0, 0)


@every_kind
@pytest.mark.parametrize("f", [Inverse(), Exponential(), Truncated(Inverse(), 3)], ids=repr)
def test_weights_whose_square_overflows(f: AnalyticFunction, kind: object) -> None:
    with pytest.raises(DataError, match=r"W \* W overflows"):
        Acyclicity(f).value(kind(np.array([[0.0, 1e200], [1e200, 0.0]])))


def test_matrix_and_object_arrays_are_read_as_arrays() -> None:
    W = np.array([[0.0, 0.5], [0.4, 0.0]])
    expected, slope = Acyclicity(Inverse()).evaluate(W)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.asmatrix(W)
    for other in (matrix, W.astype(object)):
        value, gradient = Acyclicity(Inverse()).evaluate(other)
        assert type(gradient) is np.ndarray
        assert value == expected
        np.testing.assert_array_equal(gradient, slope)


@pytest.mark.parametrize("f", [Inverse(), Logarithm(), Inverse() ** 2], ids=repr)
def test_truncation_bound_close_to_the_radius(f: AnalyticFunction) -> None:
    A = np.full((3, 3), (1 - 1e-7) / 3)
    tail = f(1 - 1e-7) - f.coefficients(6).sum()
    assert tail <= truncation_bound(f, A, 5) < 1e3 * tail


def test_library_inverse_of_other_arrays() -> None:
    W = 0.1 * np.random.default_rng(0).random((12, 12))
    value, gradient = Acyclicity(Inverse(), "lu").value_and_gradient(array_api_strict.asarray(W))
    expected, slope = Acyclicity(Inverse()).value_and_gradient(W)
    assert float(value) == pytest.approx(expected)
    np.testing.assert_allclose(to_numpy(gradient), slope)


def locked(array: np.ndarray) -> np.ndarray:
    """A copy that cannot be written, as a file in memory cannot."""
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("name", ["order-1", "order-2", "order-3", "exponential"])
@pytest.mark.parametrize("d", [2, 200])  # one compiled call, and one component after the other
def test_a_matrix_that_cannot_be_written(name: str, d: int) -> None:
    W = np.random.default_rng(d).normal(size=(d, d)) / (2 * d)
    h = Acyclicity(named(name))
    value, gradient = h.value_and_gradient(locked(W))
    assert value == h.value(W)
    np.testing.assert_array_equal(gradient, h.gradient(W))


def uneven_ring(d: int, step: float, closing: float) -> np.ndarray:
    """A chain of equal weights, and the edge that closes it."""
    W = np.diag(np.full(d - 1, step), 1)
    W[d - 1, 0] = closing
    return W


UNEVEN_FUNCTIONS = [
    Logarithm(),
    Inverse(),
    Inverse() ** 3,
    Exponential(),
    Inverse() * Exponential(),
]


@pytest.mark.parametrize("f", UNEVEN_FUNCTIONS, ids=repr)
@pytest.mark.parametrize("method", ["auto", "doubling"])
@pytest.mark.parametrize(
    ("d", "step", "closing"),
    [(2, 1e200, 1e-201), (3, 1e100, 1e-201), (10, 1e30, 1e-271), (10, 1e-30, 1e269)],
)
def test_weights_too_uneven_to_be_squared(
    f: AnalyticFunction, method: str, d: int, step: float, closing: float
) -> None:
    # In other units every edge has the same weight; squares of the given ones vanish or overflow.
    even = uneven_ring(d, 10 ** (-1 / d), 10 ** (-1 / d))
    expected, slope = Acyclicity(f, method).value_and_gradient(even)
    W = uneven_ring(d, step, closing)
    value, gradient = Acyclicity(f, method).value_and_gradient(W)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose((W * gradient)[W != 0], (even * slope)[W != 0], rtol=1e-9)


@pytest.mark.parametrize("f", UNEVEN_FUNCTIONS, ids=repr)
@pytest.mark.parametrize(("d", "step", "closing"), [(3, 1e100, 1e-170), (40, 1e18, 1e-300)])
def test_uneven_weights_far_outside_are_refused(
    f: AnalyticFunction, d: int, step: float, closing: float
) -> None:
    with pytest.raises((DataError, OutsideDomainError), match=r"rho\(A\) = 1(\.25893)?e\+20"):
        Acyclicity(f).value(uneven_ring(d, step, closing))


def test_uneven_weights_beside_a_plain_cycle() -> None:
    W = np.zeros((5, 5))
    W[:3, :3] = uneven_ring(3, 1e100, 1e-201)
    W[3, 4] = W[4, 3] = 0.5
    h = Acyclicity(Inverse())
    assert h.value(W) == pytest.approx(h.value(W[:3, :3]) + h.value(W[3:, 3:]))


def test_what_cannot_be_a_number_is_refused_on_a_device() -> None:
    # The squares are zero and infinity: their product is no number.
    W = array_api_strict.asarray(uneven_ring(3, 1e100, 1e-170))
    try:
        value, gradient = Acyclicity(Inverse() ** 3).value_and_gradient(W)
    except (DataError, OutsideDomainError):
        return
    assert np.isfinite(float(value))
    assert np.isfinite(to_numpy(gradient)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", [Inverse(), Inverse() ** 2, Exponential()], ids=repr)
def test_single_precision_turns_to_double(f: AnalyticFunction) -> None:
    h = Acyclicity(f)
    outside = np.triu(np.full((5, 5), 1e19), 1)
    outside[4, 0] = 1e-30
    with pytest.raises((DataError, OutsideDomainError), match="rho"):
        h.value(outside.astype(np.float32))
    faint = uneven_ring(4, 1e-7, 1e-7)
    assert h.value(faint.astype(np.float32)) == pytest.approx(h.value(faint), rel=1e-5, abs=0)


def test_a_high_order_takes_no_longer() -> None:
    W = np.array([[0.0, 0.05], [0.05, 0.0]])
    a = 0.0025 / 1e9  # of the eigenvalues: 2 ((1 - a²)^-n …) is n (n + 1) a² at first
    n = 999_999_998
    expected = 2 * np.sum([np.prod((n + np.arange(k)) / (1 + np.arange(k))) * a**k for k in (2, 4)])
    assert Acyclicity(named("order-999999999", 1e9)).value(W) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("f", [Logarithm(), Inverse(), Logarithm() * Inverse()], ids=repr)
def test_a_reset_of_s_beside_a_huge_radius(f: AnalyticFunction) -> None:
    W = 1e8 * np.random.default_rng(0).normal(size=(20, 20))
    value, gradient, s = Acyclicity(f).adaptive(W)
    assert value > 0
    assert np.isfinite(gradient).all()
    assert s == pytest.approx(spectral_radius(W * W) * (1 + 1e-6), rel=1e-9)
