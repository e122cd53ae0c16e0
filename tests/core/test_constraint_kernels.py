"""The constraint's kernels against plain NumPy: as they were built, and their source as it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from matrices import weights

from analyticdag._compiled import flat
from analyticdag._constraint import components, elimination, kernels
from analyticdag.spectral import cyclic_members, spectral_radius

few = settings(max_examples=40, deadline=None)
both = pytest.mark.parametrize("source", [kernels, elimination], ids=["as built", "interpreted"])


@both
@few
@given(W=weights(max_nodes=12))
def test_star_is_the_resolvent(source, W: np.ndarray) -> None:
    A = W * W
    Y = 0.7 * A / max(spectral_radius(A), 0.1)
    R = Y.copy()
    log_det = source.star(flat(R), np.empty(len(R)))
    M = np.linalg.inv(np.eye(len(Y)) - Y)
    np.testing.assert_allclose(R + np.eye(len(Y)), M, rtol=1e-8, atol=1e-8 * np.abs(M).max())
    assert log_det == pytest.approx(-np.linalg.slogdet(np.eye(len(Y)) - Y)[1], abs=1e-9)


@both
def test_star_sees_the_edge_of_its_domain(source) -> None:
    assert source.star(np.array([1.0]), np.empty(1)) == -1.0
    assert source.star(np.array([0.0, 2.0, 0.6, 0.0]), np.empty(2)) == -1.0


@both
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_order_gradient_against_plain_numpy(source, order: int) -> None:
    rng = np.random.default_rng(order)
    W = rng.normal(size=(6, 6)) * 0.2
    members, starts = cyclic_members(W)
    gradient, scratch = np.zeros_like(W), np.empty(3 * 36)
    value = source.order_gradient(flat(W), 6, flat(gradient), members, starts, 0.8, order, scratch)
    M = np.linalg.inv(np.eye(6) - W * W / 0.8)
    n = order - 1
    expected = np.trace(np.linalg.matrix_power(M, n)) - 6 if n else np.linalg.slogdet(M)[1]
    slope = max(n, 1) / 0.8 * np.linalg.matrix_power(M, n + 1)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient, 2 * W * slope.T)


@both
def test_the_transposed_product_goes_past_its_tiles(source) -> None:
    W, P = np.random.default_rng(0).normal(size=(2, 35, 35))
    result = np.empty_like(W)
    source.times_transposed(flat(W), flat(P), 35, 3.0, flat(result))
    np.testing.assert_allclose(result, 3.0 * W * P.T)


@few
@given(W=weights(max_nodes=12))
def test_components_are_the_same_interpreted(W: np.ndarray) -> None:
    n = len(W)
    answers = []
    for source in (kernels, components):
        members, starts = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
        edges = flat((W != 0).view(np.uint8))
        count = source.tarjan(edges, members, starts, np.zeros(6 * n, np.int64))
        answers.append((count, members[: starts[count]].tolist(), starts[: count + 1].tolist()))
    assert answers[0] == answers[1]
