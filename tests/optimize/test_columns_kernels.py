"""Each compiled kernel of the column solver against a few lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from analyticdag.optimize.columns.barrier import (
    constraint_slopes,
    constraint_value,
    slope_and_curvature,
)
from analyticdag.optimize.columns.coordinates import best_size
from analyticdag.optimize.columns.newton import cholesky_solve
from analyticdag.optimize.columns.sweep import (
    Block,
    power_rows,
    rank_one_update,
    rows_without_column,
)

S_SCALE = 0.9
MIXTURES = [[1.0], [0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 2.0], [0.5, 1.0, 0.0, 0.0, 3.0]]


def random_weights(rng, d=6, radius=0.5, density=0.6):
    W = rng.normal(size=(d, d)) * (rng.random((d, d)) < density)
    np.fill_diagonal(W, 0.0)
    return W * np.sqrt(radius * S_SCALE / np.abs(np.linalg.eigvals(W * W)).max())


def inverse(W):
    return np.linalg.inv(np.eye(len(W)) - W * W / S_SCALE)


def constraint(W, alpha):
    M = inverse(W)
    traces = [np.trace(np.linalg.matrix_power(M, n)) - len(W) for n in range(1, len(alpha))]
    return alpha[0] * np.linalg.slogdet(M)[1] + np.dot(alpha[1:], traces)


def rows_of(W, j, n):
    """(row j of N^(k+1))/s for k < n, N the inverse without column j."""
    without = W.copy()
    without[:, j] = 0.0
    N = inverse(without)
    return np.array([np.linalg.matrix_power(N, k + 1)[j] / S_SCALE for k in range(n)]).T


@pytest.mark.parametrize("alpha", MIXTURES)
def test_value_is_what_the_column_adds_to_the_traces(alpha):
    alpha, rng = np.array(alpha), np.random.default_rng(1)
    W, j = random_weights(rng), 2
    t = rows_of(W, j, len(alpha)).T @ W[:, j] ** 2
    without = W.copy()
    without[:, j] = 0.0
    expected = constraint(W, alpha) - constraint(without, alpha)
    assert constraint_value(alpha, t, np.empty_like(t)) == pytest.approx(expected, rel=1e-10)


def test_value_outside_the_domain_is_infinite():
    t = np.array([1.0 - 1e-9, 0.3])
    assert constraint_value(np.array([0.0, 1.0]), t, np.empty(2)) == np.inf


@pytest.mark.parametrize("alpha", MIXTURES)
def test_slopes_and_curvature_are_finite_differences(alpha):
    alpha = np.array(alpha)
    t = np.array([0.4, 0.7, 0.2, 0.5, 0.3])[: len(alpha)]
    row = np.array([0.3, 0.1, 0.6, 0.2, 0.5])[: len(alpha)]
    c, slopes, step = np.empty_like(t), np.empty_like(t), 1e-4
    constraint_slopes(alpha, t, c, slopes)
    low, mid, high = (constraint_value(alpha, t + x * row, c) for x in (-step, 0.0, step))
    slope, curvature = slope_and_curvature(alpha, t, row, c)
    assert slope == pytest.approx((high - low) / (2 * step), rel=1e-5)
    assert slopes @ row == pytest.approx(slope, rel=1e-12)
    assert curvature == pytest.approx((high - 2 * mid + low) / step**2, rel=1e-4)


@pytest.mark.parametrize("alpha", MIXTURES)
def test_best_size_is_the_root(alpha):
    alpha = np.array(alpha)
    base = np.array([0.2, 0.3, 0.1, 0.2, 0.1])[: len(alpha)]
    row = np.array([0.5, 0.2, 0.4, 0.1, 0.3])[: len(alpha)]
    c = np.empty_like(base)

    def excess(x):
        return x * (1.3 + 2 * 0.7 * slope_and_curvature(alpha, base + row * x * x, row, c)[0]) - 2.0

    root = brentq(excess, 0.0, np.sqrt(0.8 / 0.5) * (1 - 1e-9))
    for start in (0.0, 0.1, 1.0):
        x = best_size(alpha, base, row, 0.7, 1.3, 2.0, start, np.empty((5, len(alpha))))
        assert x == pytest.approx(root, rel=1e-3)


def test_cholesky_solves_from_the_upper_triangle():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(9, 7))
    H, y = X.T @ X, rng.normal(size=7)
    solution = y.copy()
    assert cholesky_solve(np.triu(H), solution)
    np.testing.assert_allclose(solution, np.linalg.solve(H, y), rtol=1e-9)
    assert not cholesky_solve(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_rows_follow_pending_updates(n):
    rng = np.random.default_rng(3)
    W = random_weights(rng, density=1.0)
    d, columns = len(W), np.array([4, 1, 3])
    MT = np.ascontiguousarray(inverse(W).T)
    G = np.array([np.linalg.matrix_power(MT.T, i + 1)[columns] for i in range(n)])
    block = Block(G, np.empty((3, d)), np.empty((n, 3, d)))
    images, rows, pending = np.empty((n, d)), np.empty((d, n)), 0
    for position, j in enumerate(columns):
        power_rows(j, position, block, pending, images)
        rows_without_column(images, W[:, j].copy(), S_SCALE, np.empty(n), rows)
        np.testing.assert_allclose(rows, rows_of(W, j, n), rtol=1e-9, atol=1e-12)
        old = W[:, j].copy()
        W[:, j] *= rng.uniform(0.5, 1.2, d)
        pending = rank_one_update(MT, block, pending, S_SCALE, old, W[:, j].copy())
    assert pending == 3
    np.testing.assert_allclose(MT.T + block.P.T @ block.R[0], inverse(W), rtol=1e-9, atol=1e-12)
