"""Each kernel of the column solver, interpreted, against a few lines of NumPy; then as built."""

from __future__ import annotations

import numpy as np
import pytest
from stages import solved

from analyticdag.functions import Exponential, Inverse, Logarithm
from analyticdag.optimize.columns import (
    column,
    descents,
    elastic,
    resolvent,
    walks,
)
from analyticdag.optimize.columns.barrier import constraint_slopes, constraint_value
from analyticdag.optimize.columns.cholesky import cholesky_solve
from analyticdag.optimize.columns.elastic import (
    Net,
    coordinate_pass,
    newton_step,
    solve_elastic_net,
)
from analyticdag.optimize.columns.resolvent import (
    Block,
    power_rows,
    rank_one_update,
    remove_column,
)
from analyticdag.optimize.columns.walks import walk_rows

SCALE = 0.9
MIXTURES = [[1.0], [0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 2.0], [0.5, 1.0, 0.0, 0.0, 3.0]]


def random_weights(rng, d=6, radius=0.5, density=0.6):
    W = rng.normal(size=(d, d)) * (rng.random((d, d)) < density)
    np.fill_diagonal(W, 0.0)
    return W * np.sqrt(radius * SCALE / np.abs(np.linalg.eigvals(W * W)).max())


def without(W, j):
    W = W.copy()
    W[:, j] = 0.0
    return W


def inverse(W):
    return np.linalg.inv(np.eye(len(W)) - W * W / SCALE)


def constraint(W, alpha):
    M = inverse(W)
    traces = [np.trace(np.linalg.matrix_power(M, n)) - len(W) for n in range(1, len(alpha))]
    return alpha[0] * np.linalg.slogdet(M)[1] + np.dot(alpha[1:], traces)


def resolvent_rows(W, j, n):
    N = inverse(without(W, j))
    return np.array([np.linalg.matrix_power(N, k + 1)[j] / SCALE for k in range(n)])


@pytest.mark.parametrize("alpha", MIXTURES)
def test_value_is_what_the_column_adds_to_the_traces(alpha):
    alpha, W, j = np.array(alpha), random_weights(np.random.default_rng(1)), 2
    t = resolvent_rows(W, j, len(alpha)) @ W[:, j] ** 2
    value = constraint_value(alpha, t, len(t), 0.0, 1e-6, np.empty_like(t))
    expected = constraint(W, alpha) - constraint(without(W, j), alpha)
    assert value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "function", [Exponential(), Inverse() ** 2, Logarithm() + Exponential(0.5)]
)
def test_walks_give_the_trace_of_any_function(function):
    W, j = random_weights(np.random.default_rng(2), radius=0.3), 3
    s, terms = function.scale, 200
    alpha = function.scaled(1 / s).coefficients(terms)
    V, t = np.empty((terms, len(W))), np.zeros(terms)
    size = walk_rows((W * W).reshape(-1), s, j, alpha, V.reshape(-1), len(W), terms)
    assert size < terms
    t[:size] = V[:size] @ W[:, j] ** 2
    value = constraint_value(alpha, t, size, 0.0, 1e-6, np.empty(terms))
    both = [
        sum(term.value(np.linalg.eigvals(X * X)).sum() for term in function.terms).real
        for X in (W, without(W, j))
    ]
    assert value == pytest.approx(both[0] - both[1], rel=1e-9)


def test_value_at_the_edge_of_the_domain_is_infinite():
    alpha, c = np.array([0.0, 1.0, 1.0]), np.empty(3)
    assert constraint_value(alpha, np.array([1.0 - 1e-9, 0.3, 0.1]), 3, 0.0, 1e-6, c) == np.inf
    assert constraint_value(alpha, np.array([0.0, 0.7, 0.4]), 3, 1.0, 1e-6, c) == np.inf
    assert constraint_value(alpha, np.array([0.0, 0.7, 0.2]), 3, 1.0, 1e-6, c) < np.inf


@pytest.mark.parametrize("alpha", MIXTURES)
def test_slopes_are_finite_differences(alpha):
    alpha, step = np.array(alpha), 1e-6
    t = np.array([0.4, 0.7, 0.2, 0.5, 0.3])[: len(alpha)]
    c, slopes = np.empty_like(t), np.empty_like(t)
    constraint_slopes(alpha, t, len(t), c, slopes)
    for k, direction in enumerate(np.eye(len(t))):
        high, low = (
            constraint_value(alpha, t + x * direction, len(t), 0.0, 1e-6, c) for x in (step, -step)
        )
        assert slopes[k] == pytest.approx((high - low) / (2 * step), rel=1e-6)


def elastic_net(seed, d=8, worth=1e-14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, d)) @ rng.normal(size=(d, d))
    S = np.corrcoef(X.T)
    net = Net(S.reshape(-1), d)
    net.ridge[:] = rng.exponential(0.3, d)
    net.lam, net.target, net.worth = np.full(d, 0.1), S[0].copy(), worth
    net.lam[0] = np.inf
    net.b[:] = 0.0
    net.q = S @ net.b
    return S, net


def elastic_value(S, net):
    b, support = net.b, net.b != 0
    penalty = net.lam[support] @ np.abs(b[support])
    return 0.5 * b @ S @ b - S[0] @ b + penalty + 0.5 * net.ridge @ (b * b)


@pytest.mark.parametrize("seed", range(5))
def test_elastic_net_meets_its_optimality_conditions(seed):
    S, net = elastic_net(seed)
    solve_elastic_net(net)
    b = net.b
    np.testing.assert_allclose(net.q, S @ b, atol=1e-12)
    gradient = S @ b - S[0] + net.ridge * b
    support = b != 0
    assert 0 < support.sum() < 8
    np.testing.assert_allclose(gradient[support], -0.1 * np.sign(b[support]), atol=1e-6)
    assert np.all(np.abs(gradient[~support])[1:] <= 0.1 + 1e-6)
    assert b[0] == 0


@pytest.mark.parametrize("seed", range(5))
def test_passes_and_steps_return_the_decrease(seed):
    S, net = elastic_net(seed)
    net.b[1:] = np.random.default_rng(seed).normal(size=7)
    net.q = S @ net.b
    for worth in (1e-3, 1e-8):
        before, net.worth = elastic_value(S, net), worth
        won = coordinate_pass(net, 0.0)
        won += newton_step(net)
        assert won >= 0
        assert before - elastic_value(S, net) == pytest.approx(won, rel=1e-9, abs=1e-12)


def test_cholesky_solves_from_the_upper_triangle():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(9, 7))
    H, y = X.T @ X, rng.normal(size=7)
    solution = y.copy()
    assert cholesky_solve(np.triu(H).reshape(-1), solution, 7)
    np.testing.assert_allclose(solution, np.linalg.solve(H, y), rtol=1e-9)
    assert not cholesky_solve(np.array([1.0, 2.0, 2.0, 1.0]), np.ones(2), 2)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_rows_follow_pending_updates(n):
    rng = np.random.default_rng(3)
    W = random_weights(rng, density=1.0)
    d, columns = len(W), np.array([4, 1, 3])
    MT = np.ascontiguousarray(inverse(W).T)
    G = np.array([np.linalg.matrix_power(MT.T, i + 1)[columns] for i in range(n)])
    P, R = np.empty((3, d)), np.empty((n, 3, d))
    block = Block(3, *(array.reshape(-1) for array in (MT, G, P, R)))
    V, pending, net = np.empty((n, d)), 0, Net(np.eye(d).reshape(-1), d)
    for position, j in enumerate(columns):
        power_rows(j, position, block, pending, V.reshape(-1), d, n)
        remove_column(V.reshape(-1), W[:, j].copy(), SCALE, np.empty(n), d, n)
        np.testing.assert_allclose(V, resolvent_rows(W, j, n), rtol=1e-9, atol=1e-12)
        old = W[:, j].copy()
        W[:, j] *= rng.uniform(0.5, 1.2, d)
        net.b[:] = W[:, j]
        pending = rank_one_update(block, pending, SCALE, old, net)
    assert pending == 3
    np.testing.assert_allclose(MT.T + P.T @ R[0], inverse(W), rtol=1e-9, atol=1e-12)
    net.b[:] = old
    assert rank_one_update(block, 2, SCALE, old, net) == 2


@pytest.mark.parametrize("function", [Logarithm(), Inverse(), Inverse() ** 3, Exponential()])
def test_a_stage_is_the_same_interpreted(function, monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 7)) @ np.triu(rng.normal(size=(7, 7)))
    S = X.T @ X / len(X)

    def stage():
        return solved(S, np.zeros_like(S), function, mu=0.1, lambda1=0.02, max_sweeps=20)

    built = stage()
    for piece in (column, elastic, resolvent, walks):
        for name in {"Equation", "State", "Column", "Net", "Block"} & set(vars(piece)):
            monkeypatch.setattr(descents, name, getattr(piece, name))
    monkeypatch.setattr(descents, "resolvent_block", resolvent.resolvent_block)
    monkeypatch.setattr(descents, "walk_block", walks.walk_block)
    plain = stage()
    assert built.n_sweeps == plain.n_sweeps
    np.testing.assert_array_equal(built.weights != 0, plain.weights != 0)
    np.testing.assert_allclose(built.weights, plain.weights, rtol=1e-9, atol=1e-12)
