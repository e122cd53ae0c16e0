"""Every law on every function of the registry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import dags, inside, weights
from registry import FUNCTIONS, KINDS, to_numpy

from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import DataError, OutsideDomainError, ParameterError
from analyticdag.functions import AnalyticFunction, Exponential, Inverse, Logarithm, Truncated
from analyticdag.graphs import is_dag
from analyticdag.spectral import spectral_radius

every_function = pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS.keys())
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
few = settings(max_examples=8, deadline=None)
METHODS = ("lu", "doubling")


def by_power_series(f: AnalyticFunction, W: np.ndarray, terms: int = 300) -> float:
    """tr f(A) - c0 d, term by term."""
    A, total = W * W, 0.0
    power = np.eye(len(A))
    for c in f.coefficients(terms)[1:]:
        power = power @ A
        total += c * np.trace(power)
    return total


@every_function
@every_kind
@few
@given(W=dags())
def test_zero_exactly_on_dags(f: AnalyticFunction, kind: object, W: np.ndarray) -> None:
    value, gradient = Acyclicity(f).value_and_gradient(kind(W))
    assert float(value) == 0.0
    assert not to_numpy(gradient).any()


@every_function
@every_kind
@few
@given(W=weights())
def test_positive_on_every_cyclic_support(f: AnalyticFunction, kind: object, W: np.ndarray) -> None:
    value = float(Acyclicity(f).value(kind(inside(W, f.radius if f.radius < 9 else 1.0))))
    assert (value > 0) == (not is_dag(W))


@every_function
@pytest.mark.parametrize("method", METHODS)
@few
@given(W=weights())
def test_agrees_with_the_power_series(f: AnalyticFunction, method: str, W: np.ndarray) -> None:
    W = inside(W, min(f.radius, 1.0))
    assert Acyclicity(f, method).value(W) == pytest.approx(by_power_series(f, W), rel=1e-10)


@every_function
@few
@given(W=weights(), seed=st.integers(0, 99))
def test_gradient_is_the_derivative(f: AnalyticFunction, W: np.ndarray, seed: int) -> None:
    h, W = Acyclicity(f), inside(W, min(f.radius, 1.0), share=0.4)
    direction = np.random.default_rng(seed).normal(size=W.shape) * (W != 0)
    step = 1e-6
    slope = (h.value(W + step * direction) - h.value(W - step * direction)) / (2 * step)
    assert np.sum(h.gradient(W) * direction) == pytest.approx(slope, rel=1e-6, abs=1e-8)


@every_function
@few
@given(W=weights(), seed=st.integers(0, 99))
def test_relabelling_changes_nothing(f: AnalyticFunction, W: np.ndarray, seed: int) -> None:
    h, W = Acyclicity(f), inside(W, min(f.radius, 1.0))
    p = np.random.default_rng(seed).permutation(len(W))
    value, gradient = h.value_and_gradient(W)
    moved_value, moved = h.value_and_gradient(W[np.ix_(p, p)])
    assert moved_value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(moved, gradient[np.ix_(p, p)], rtol=1e-9, atol=1e-12)


@every_function
@few
@given(W=weights(), seed=st.integers(0, 99))
def test_units_change_nothing(f: AnalyticFunction, W: np.ndarray, seed: int) -> None:
    h, W = Acyclicity(f), inside(W, min(f.radius, 1.0))
    units = 10.0 ** np.random.default_rng(seed).uniform(-4, 4, len(W))
    assert h.value(W * units / units[:, None]) == pytest.approx(h.value(W), rel=1e-9)


@every_function
@every_kind
@few
@given(W=weights())
def test_single_precision_is_close(f: AnalyticFunction, kind: object, W: np.ndarray) -> None:
    h, W = Acyclicity(f), inside(W, min(f.radius, 1.0))
    exact, exact_gradient = h.value_and_gradient(W)
    value, gradient = h.value_and_gradient(kind(W.astype(np.float32)))
    assert to_numpy(gradient).dtype == np.float32
    assert float(value) == pytest.approx(exact, rel=1e-4)
    scale = np.abs(exact_gradient).max(initial=1e-9)
    np.testing.assert_allclose(to_numpy(gradient), exact_gradient, atol=1e-4 * scale)


@every_function
@every_kind
@few
@given(W=weights())
def test_every_kind_of_array_gives_the_same(
    f: AnalyticFunction, kind: object, W: np.ndarray
) -> None:
    h, W = Acyclicity(f), inside(W, min(f.radius, 1.0))
    exact, exact_gradient = h.value_and_gradient(W)
    array = kind(W)
    value, gradient = h.value_and_gradient(array)
    assert type(gradient) is type(array)
    assert float(value) == pytest.approx(exact, rel=1e-10)
    np.testing.assert_allclose(to_numpy(gradient), exact_gradient, rtol=1e-8, atol=1e-10)


@every_function
@every_kind
@few
@given(W=weights())
def test_evaluate_is_the_same_constraint(f: AnalyticFunction, kind: object, W: np.ndarray) -> None:
    h, W = Acyclicity(f), inside(W, min(f.radius, 1.0))
    value, slope = h.evaluate(kind(W * W))
    assert float(value) == pytest.approx(h.value(W), rel=1e-9, abs=1e-15)
    np.testing.assert_allclose(2 * W * to_numpy(slope), h.gradient(W), rtol=1e-7, atol=1e-9)


@every_function
def test_evaluate_sees_paths_that_an_edge_would_close(f: AnalyticFunction) -> None:
    A = np.diag([0.1, 0.2], 1)
    step = 1e-6
    closed = A.copy()
    closed[2, 0] = step
    value, slope = Acyclicity(f).evaluate(A)
    assert value == 0
    assert slope[2, 0] == pytest.approx(Acyclicity(f).evaluate(closed)[0] / step, rel=1e-4)


@every_function
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 3, 7, 30])
def test_periodic_graphs(f: AnalyticFunction, method: str, length: int) -> None:
    weight = 0.7 * min(f.radius, 1.0)
    W = np.roll(np.eye(length), 1, axis=1) * np.sqrt(weight)
    lengths = np.arange(length, 400, length)  # the closed walks there are, one from each node
    expected = length * np.sum(f.coefficients(400)[lengths] * weight**lengths)
    tolerance = 1e-4 if length == 30 else 1e-9  # the exponential's series is 1e-36 by then
    assert Acyclicity(f, method).value(W) == pytest.approx(expected, rel=tolerance, abs=0)


@every_function
def test_a_chain_with_huge_weights_is_still_a_dag(f: AnalyticFunction) -> None:
    assert Acyclicity(f).value(np.diag(np.full(40, 1e18), 1)) == 0.0
    chain = np.diag(np.full(9, 1e9), 1)  # A holds 1e18
    chain[9, 0] = 1e-85  # and now a cycle of mean weight 10^-0.8
    assert Acyclicity(f).value(chain) == pytest.approx(10 * f.coefficient(10) * 1e-8, rel=1e-2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gap", [1e-1, 1e-3])
@pytest.mark.parametrize("size", [12, 60])
def test_close_to_the_radius(method: str, gap: float, size: int) -> None:
    rng = np.random.default_rng(0)
    W = inside(rng.normal(size=(size, size)), 1.0, share=1 - gap)
    eigenvalues = np.linalg.eigvals(W * W)
    assert Acyclicity(Logarithm(), method).value(W) == pytest.approx(
        -np.log1p(-eigenvalues).sum().real, rel=1e-9
    )
    for n in (1, 2, 3):
        exact = ((1 - eigenvalues) ** -n - 1).sum().real
        assert Acyclicity(Inverse() ** n, method).value(W) == pytest.approx(exact, rel=1e-8)


@every_function
@every_kind
def test_outside_the_radius_is_an_error(f: AnalyticFunction, kind: object) -> None:
    if not np.isfinite(f.radius):
        pytest.skip("the exponential converges everywhere")
    for share in (1 + 1e-9, 1.001, 5.0):
        W = np.sqrt(share * f.radius) * np.roll(np.eye(5), 1, axis=0)
        with pytest.raises(OutsideDomainError, match="adaptive") as caught:
            Acyclicity(f).value(kind(W))
        assert caught.value.spectral_radius == pytest.approx(share * f.radius, rel=1e-6)
        assert caught.value.radius == f.radius


@every_kind
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("size", [3, 70])
def test_algorithm_1_resets_s(kind: object, order: int, size: int) -> None:
    f = Logarithm(0.5) if order == 1 else Inverse(0.5) ** (order - 1)
    W = inside(np.random.default_rng(3).normal(size=(size, size)), 2.0, share=1.0)
    value, gradient, s = Acyclicity(f).adaptive(kind(W))
    assert s == pytest.approx(2.0 + 0.1 * order)
    expected, expected_gradient = Acyclicity(f.scaled(s / 0.5)).value_and_gradient(W)
    assert float(value) == pytest.approx(expected)
    np.testing.assert_allclose(to_numpy(gradient), expected_gradient, rtol=1e-6)


@every_function
def test_algorithm_1_keeps_s_inside(f: AnalyticFunction) -> None:
    W = inside(np.random.default_rng(4).normal(size=(6, 6)), min(f.radius, 1.0))
    value, gradient, s = Acyclicity(f).adaptive(W)
    assert s == f.scale
    assert value == Acyclicity(f).value(W)
    np.testing.assert_array_equal(gradient, Acyclicity(f).gradient(W))


@pytest.mark.parametrize("n_nodes", [10, 60, 150])
def test_components_of_every_size_add_up(n_nodes: int) -> None:
    rng = np.random.default_rng(n_nodes)
    W = np.triu(rng.normal(size=(2 * n_nodes, 2 * n_nodes)))
    blocks = [inside(rng.normal(size=(n_nodes, n_nodes)), 1.0) for _ in range(2)]
    W[:n_nodes, :n_nodes], W[n_nodes:, n_nodes:] = blocks
    for f in (Logarithm(), Inverse() ** 2, Exponential()):
        parts = sum(Acyclicity(f).value(block) for block in blocks)
        value, gradient = Acyclicity(f).value_and_gradient(W)
        assert value == pytest.approx(parts, rel=1e-9)
        assert not gradient[:n_nodes, n_nodes:].any()


def test_small_cycles_keep_their_value() -> None:
    W = np.zeros((60, 60))
    W[np.arange(59), np.arange(1, 60)] = 2.0
    W[30, 29] = 1e-12  # a 2-cycle of 4e-24 beside weights of size 4
    W[59, 0] = 1e-30
    for f, factor in ((Logarithm(), 1), (Inverse(), 2), (Inverse() ** 2, 4), (Exponential(), 1)):
        assert Acyclicity(f).value(W) == pytest.approx(factor * 4e-24, rel=1e-9)


@pytest.mark.parametrize("degree", [1, 3, 8])
def test_a_truncated_series_misses_longer_cycles(degree: int) -> None:
    h = Acyclicity(Truncated(Inverse(), degree))
    for length in (2, 5, 8):
        W = 1.5 * np.roll(np.eye(length), 1, axis=1)
        value, gradient = h.value_and_gradient(W)
        assert (value > 0) == (degree >= length)
        powers = sum(
            2.25**i * np.trace(np.linalg.matrix_power(W > 0, i)) for i in range(1, degree + 1)
        )
        assert value == pytest.approx(powers)
        step = 1e-6
        slope = (h.value(W + step * W) - h.value(W - step * W)) / (2 * step)
        assert np.sum(gradient * W) == pytest.approx(slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(4), "square"),
        (np.array([[0.0, np.nan], [0.0, 0.0]]), "NaN"),
        (np.array([[0.0, np.inf], [0.0, 0.0]]), "infinite"),
        (np.array([["a", "b"], ["c", "d"]]), "numbers"),
        (np.array([[None, 1], [1, None]]), "NaN|numbers"),
        (np.eye(2, dtype=complex), "real numbers"),
        ("text", "matrix of numbers"),
    ],
)
def test_bad_matrices_are_refused(W: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Acyclicity(Inverse()).value(W)


def test_other_refusals() -> None:
    with pytest.raises(ParameterError, match="method"):
        Acyclicity(Inverse(), "qr")
    with pytest.raises(DataError, match="negative"):
        Acyclicity(Inverse()).evaluate(-np.eye(2))
    with pytest.raises(DataError, match="overflows"):
        Acyclicity(Exponential()).value(1e3 * np.ones((3, 3)))
    with pytest.raises(DataError, match="overflows"):
        Acyclicity(Inverse()).evaluate(np.diag(np.full(39, 1e18), 1))


@every_function
def test_odd_but_legal_input(f: AnalyticFunction) -> None:
    h = Acyclicity(f)
    assert h.value([[0, 0.1], [0.2, 0]]) > 0
    assert h.value(np.array([[0, 1], [0, 0]])) == 0
    assert h.value(np.zeros((0, 0))) == 0
    assert h.value(np.zeros((1, 1))) == 0
    W = inside(np.random.default_rng(0).normal(size=(60, 60)), min(f.radius, 1.0))
    before = W.copy()
    assert h.value(np.asfortranarray(W)) == pytest.approx(h.value(W))
    assert h.value(np.repeat(W, 2, axis=1)[:, ::2]) == h.value(W)
    np.testing.assert_array_equal(W, before)


def test_names_stand_for_functions() -> None:
    assert Acyclicity("order-2") == Acyclicity(Inverse())


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
def test_gradient_norms_grow_with_the_order(order: int) -> None:
    # Proposition 5, for n = order - 1 and n + 1: induced norms for p = 1, 2, infinity.
    rng = np.random.default_rng(5)
    for _ in range(5):
        A = inside(rng.normal(size=(9, 9)), 1.0, share=rng.uniform(0.1, 0.95)) ** 2
        low = Acyclicity(f"order-{order}").evaluate(A)[1]
        high = Acyclicity(f"order-{order + 1}").evaluate(A)[1]
        assert spectral_radius(A) < 1
        for norm in (1, 2, np.inf):
            assert np.linalg.norm(low, norm) <= np.linalg.norm(high, norm)
