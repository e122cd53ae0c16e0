from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from matrices import weights
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyticdag._components import cyclic_members
from analyticdag._kernels import order_gradient, star
from analyticdag.spectral import cyclic_components, dominance_scaling, spectral_radius

few = settings(max_examples=40, deadline=None)


@few
@given(W=weights(max_nodes=25))
def test_components_agree_with_scipy(W: np.ndarray) -> None:
    _, labels = connected_components(csr_array(W), connection="strong")
    expected = {
        frozenset(np.flatnonzero(labels == label).tolist())
        for label in np.unique(labels)
        if (labels == label).sum() > 1 or W[labels == label][:, labels == label].any()
    }
    assert {frozenset(c.tolist()) for c in cyclic_components(W)} == expected


def test_a_deep_graph_needs_no_recursion() -> None:
    chain = np.diag(np.ones(2999), 1)
    assert cyclic_components(chain) == []
    chain[2999, 0] = 1.0
    members, starts = cyclic_members(chain)
    assert sorted(members) == list(range(3000))
    assert starts.tolist() == [0, 3000]


@few
@given(W=weights(max_nodes=12))
def test_radius_agrees_with_the_eigenvalues(W: np.ndarray) -> None:
    A = W * W
    exact = np.max(np.abs(np.linalg.eigvals(A)))
    if not cyclic_components(A):
        exact = 0.0  # eigenvalues of a nilpotent matrix are noise
    assert spectral_radius(A) == pytest.approx(exact, rel=1e-8)
    assert spectral_radius(array_api_strict.asarray(A)) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("period", [2, 3, 5])
def test_radius_of_periodic_and_badly_scaled_graphs(period: int) -> None:
    A = np.roll(np.eye(period), 1, axis=1)
    A[0, 1 % period] = 1e30
    assert spectral_radius(A) == pytest.approx(1e30 ** (1 / period), rel=1e-9)


def test_radius_of_nothing() -> None:
    assert spectral_radius(np.zeros((3, 3))) == 0.0
    assert spectral_radius(np.diag(np.full(5, 1e18), 1)) == 0.0
    assert spectral_radius(np.array([[0.3]])) == 0.3


@few
@given(W=weights(max_nodes=12))
def test_a_scaling_proves_what_it_says(W: np.ndarray) -> None:
    A = W * W
    v, proved = dominance_scaling(A, 1.0)
    if proved:
        scaled = A if v is None else A * v / v[:, None]
        assert scaled.sum(axis=1).max() < 1.0
        assert spectral_radius(A) < 1.0
    else:
        assert spectral_radius(A) > 0.5 or A.max() > 1.0


def test_scaling_tames_huge_entries() -> None:
    A = np.diag(np.full(9, 1e18), 1)
    A[9, 0] = 1e-170
    v, proved = dominance_scaling(A, 1.0)
    assert proved
    assert (A * v / v[:, None]).max() < 1


@few
@given(W=weights(max_nodes=12))
def test_star_is_the_resolvent(W: np.ndarray) -> None:
    A = W * W
    Y = 0.7 * A / max(spectral_radius(A), 0.1)
    R = Y.copy()
    log_det = star(R)
    M = np.linalg.inv(np.eye(len(Y)) - Y)
    np.testing.assert_allclose(R + np.eye(len(Y)), M, rtol=1e-8, atol=1e-8 * np.abs(M).max())
    assert log_det == pytest.approx(-np.linalg.slogdet(np.eye(len(Y)) - Y)[1], abs=1e-9)


def test_star_sees_the_edge_of_its_domain() -> None:
    assert star(np.array([[1.0]])) == -1.0
    assert star(np.array([[0.0, 2.0], [0.6, 0.0]])) == -1.0


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_order_gradient_against_plain_numpy(order: int) -> None:
    rng = np.random.default_rng(order)
    W = rng.normal(size=(6, 6)) * 0.2
    members, starts = cyclic_members(W)
    gradient = np.zeros_like(W)
    value = order_gradient(W, members, starts, 0.8, order, gradient)
    M = np.linalg.inv(np.eye(6) - W * W / 0.8)
    n = order - 1
    expected = np.trace(np.linalg.matrix_power(M, n)) - 6 if n else np.linalg.slogdet(M)[1]
    slope = max(n, 1) / 0.8 * np.linalg.matrix_power(M, n + 1)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient, 2 * W * slope.T)
