"""The column solver: descent, exact zeros, masks, scales, refusals; and its start."""

from __future__ import annotations

import numpy as np
import pytest
from stages import solved

from analyticdag.errors import DataError, OutsideDomainError, ParameterError
from analyticdag.functions import Exponential, Inverse, Logarithm
from analyticdag.graphs import is_dag
from analyticdag.optimize.columns import starting_weights
from analyticdag.optimize.columns.descents import UnitVariances, as_series, descent_for
from analyticdag.optimize.columns.minimise import best_explained_first

FUNCTIONS = {
    "order-1": Logarithm(0.9),
    "order-2": Inverse(0.9),
    "order-4": Inverse(0.9) ** 3,
    "exponential": Exponential(0.8),
    "user-made": Inverse(0.9) * Exponential(1.5) + Logarithm(1.2),
    "a sum": 0.5 * Logarithm(0.9) + Inverse(0.9) ** 2,
}

TROUBLES = ["large", "small", "mixed", "duplicate", "constant", "few rows"]


def covariance(rng, d=12, n=300, scales=None):
    W = np.triu(rng.uniform(0.5, 2, (d, d)) * rng.choice([-1, 1], (d, d)), 1)
    W *= rng.random((d, d)) < 0.3
    X = rng.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - W)
    X = X[:, rng.permutation(d)] * (1.0 if scales is None else scales)
    return np.cov(X.T, bias=True)


def inside(rng, d, radius=0.4):
    W = rng.normal(size=(d, d))
    np.fill_diagonal(W, 0.0)
    return W * np.sqrt(radius / np.abs(np.linalg.eigvals(W * W)).max())


def plain_objective(S, W, function, mu, lambda1, weights=1.0):
    eigenvalues = np.linalg.eigvals(W * W)
    h = sum(term.value(eigenvalues).sum() for term in function.terms).real
    E = np.eye(len(S)) - W
    losses = 0.5 * np.diag(E.T @ S @ E)
    return (
        mu * (np.sum(weights * losses) + lambda1 * np.abs(W).sum()) + h - function.constant * len(S)
    )


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mu", [1.0, 1e-2])
def test_objective_falls_from_sweep_to_sweep_and_is_the_plain_one(name, mu):
    rng = np.random.default_rng(0)
    S, function = covariance(rng), FUNCTIONS[name]
    W0 = inside(rng, len(S))
    result = solved(S, W0, function, mu=mu, lambda1=0.05)
    assert result.converged
    assert result.n_sweeps == len(result.objectives) - 1
    assert np.all(np.diff(result.objectives) <= 0)
    first, last = (plain_objective(S, W, function, mu, 0.05) for W in (W0, result.weights))
    assert result.objectives[0] == pytest.approx(first, rel=1e-9)
    assert result.objective == pytest.approx(last, rel=1e-9)
    assert result.objectives[-1] == pytest.approx(last, rel=1e-6)
    assert last < first


@pytest.mark.parametrize("name", FUNCTIONS)
def test_converges_to_a_stationary_point_with_exact_zeros(name):
    rng = np.random.default_rng(1)
    S, function, lambda1 = covariance(rng, d=8), FUNCTIONS[name], 0.2
    W = solved(
        S, np.zeros_like(S), function, mu=0.1, lambda1=lambda1, tol=1e-12, max_sweeps=500
    ).weights
    gradient = np.empty_like(S)
    for i, j in np.ndindex(S.shape):
        step = np.zeros_like(S)
        step[i, j] = 1e-5
        high, low = (plain_objective(S, W + x * step, function, 0.1, 0.0) for x in (1, -1))
        gradient[i, j] = (high - low) / 2e-5 / 0.1
    support = W != 0
    assert 0 < support.sum() < 40
    scale = S.diagonal().max()
    np.testing.assert_allclose(gradient[support], -lambda1 * np.sign(W[support]), atol=2e-3 * scale)
    zero = ~support & ~np.eye(len(S), dtype=bool)
    assert np.abs(gradient[zero]).max() < lambda1 + 2e-2 * scale


def test_masks_are_respected():
    rng = np.random.default_rng(2)
    S = covariance(rng)
    allowed = rng.random(S.shape) < 0.5
    result = solved(S, np.zeros_like(S), Inverse(), mu=0.1, lambda1=0.05, allowed=allowed)
    assert (result.weights[~allowed] == 0).all()
    assert (result.weights.diagonal() == 0).all()
    assert (result.weights != 0).any()


def test_unpenalised_weights_pay_no_l1():
    S = np.array([[1.0, 0.3], [0.3, 1.0]])
    free = np.array([[False, True], [False, False]])
    W = solved(S, np.zeros((2, 2)), Logarithm(), mu=1.0, lambda1=0.5, required=free).weights
    np.testing.assert_allclose(W, [[0, 0.3], [0, 0]], atol=1e-6)


def test_column_weights_multiply_the_loss_only():
    rng = np.random.default_rng(4)
    S = covariance(rng)
    weights = rng.uniform(0.2, 5, len(S))
    result = solved(S, np.zeros_like(S), Inverse(), mu=0.5, lambda1=0.1, weights=weights)
    plain = plain_objective(S, result.weights, Inverse(), 0.5, 0.1, weights)
    assert result.objective == pytest.approx(plain, rel=1e-9)
    assert result.objectives[-1] == pytest.approx(plain, rel=1e-6)


def test_same_data_same_answer():
    S = covariance(np.random.default_rng(5))
    one, two = (solved(S, np.zeros_like(S), Inverse(), mu=0.1, lambda1=0.05) for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)


@pytest.mark.parametrize("max_sweeps", [5, 8, 100])
@pytest.mark.parametrize("seed", [1, 3, 5])
def test_what_is_returned_is_inside_and_what_was_claimed(seed, max_sweeps):
    # The loss outweighs the constraint by far: the minimum is at the edge of the domain.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 20)) @ (np.eye(20) + rng.normal(size=(20, 20)))
    S = X.T @ X / len(X)
    result = solved(S, np.zeros_like(S), Logarithm(), mu=1e3, lambda1=0.01, max_sweeps=max_sweeps)
    assert np.isfinite(result.objective)
    assert result.objectives[-1] == pytest.approx(result.objective, rel=1e-6)
    assert result.objective < 0.95 * result.objectives[0]


def test_the_place_in_the_table_does_not_rank_columns():
    S = np.eye(30)
    problem = UnitVariances.of(S, np.ones(30), np.full((30, 30), 0.1))
    descent = descent_for(Inverse(), problem, np.zeros((30, 30)))
    descent.refresh()
    order = best_explained_first(descent)
    assert sorted(order) == list(range(30))
    assert abs(np.corrcoef(order, np.arange(30))[0, 1]) < 0.4


def test_the_best_explained_column_comes_first():
    X = np.random.default_rng(6).normal(size=(400, 3)) * [0.1, 3.0, 2.0]
    X[:, 0] += X[:, 1]
    problem = UnitVariances.of(X.T @ X / len(X), np.ones(3), np.full((3, 3), 0.1))
    W = np.zeros((3, 3))
    for weight, order in ((0.0, [2, 1, 0]), (1.0, [0, 2, 1])):
        W[1, 0] = weight
        descent = descent_for(Inverse(), problem, problem.inward(W))
        descent.refresh()
        assert best_explained_first(descent).tolist() == order


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    "trouble", ["large", "small", "mixed", "duplicate", "constant", "few rows"]
)
def test_survives_ill_conditioned_covariances(order, trouble):
    rng = np.random.default_rng(6)
    S = covariance(rng, n=5 if trouble == "few rows" else 300)
    scale = {"large": 1e9, "small": 1e-9, "mixed": 10.0 ** rng.integers(-4, 5, len(S))}
    D = np.ones(len(S)) * scale.get(trouble, 1.0)
    S = S * D * D[:, None]
    if trouble == "duplicate":
        S[:, 1], S[1, :] = S[:, 0], S[0, :]
        S[1, 1] = S[0, 0]
    if trouble == "constant":
        S[:, 1], S[1, :] = 0.0, 0.0
    function = Logarithm() if order == 1 else Inverse() ** (order - 1)
    W = starting_weights(S, 300)
    for mu in (1.0, 1e-2, 1e-4):
        result = solved(S, W, function, mu=mu, lambda1=0.05)
        W = result.weights
        assert np.isfinite(W).all()
        assert np.isfinite(result.objective)
        falls = np.diff(result.objectives)
        assert np.all(falls <= 0)
        assert result.objective <= result.objectives[0] * (1 + 1e-9)


def test_only_sums_of_orders_at_one_scale_have_a_series():
    alpha, s = as_series(2.0 * Inverse(0.5) ** 3 + Logarithm(0.5))
    np.testing.assert_array_equal(alpha, [1, 0, 0, 2])
    assert s == 0.5
    assert as_series(Inverse(0.5) + Inverse(0.6)) is None
    assert as_series(Inverse() * Logarithm()) is None
    assert as_series(Inverse() + Exponential()) is None


def test_refuses_what_it_cannot_use():
    S, W = np.eye(3), np.zeros((3, 3))
    arguments = {"mu": 1.0, "lambda1": 0.1}
    with pytest.raises(DataError, match="square and alike"):
        solved(S, np.zeros((2, 2)), Inverse(), **arguments)
    with pytest.raises(DataError, match="NaN"):
        solved(S * np.nan, W, Inverse(), **arguments)
    with pytest.raises(ParameterError, match="mu must be"):
        solved(S, W, Inverse(), **{**arguments, "mu": 0.0})
    with pytest.raises(ParameterError, match="lambda1"):
        solved(S, W, Inverse(), **{**arguments, "lambda1": -1.0})
    with pytest.raises(ParameterError, match="weights must be one finite"):
        solved(S, W, Inverse(), weights=np.zeros(3), **arguments)
    with pytest.raises(ParameterError, match="W0 has weights"):
        solved(S, W + np.eye(3) * 0.1, Inverse(), **arguments)
    with pytest.raises(OutsideDomainError):
        solved(S, 2 * (np.ones((3, 3)) - np.eye(3)), Inverse(), **arguments)


def test_start_is_a_dag_that_keeps_to_the_masks():
    rng = np.random.default_rng(8)
    S = covariance(rng)
    order = np.argsort(S.diagonal())
    required = np.zeros(S.shape, bool)
    required[order[-1], order[0]] = True  # against the variances
    allowed = (rng.random(S.shape) < 0.7) | required
    W = starting_weights(S, 300, allowed=allowed, required=required)
    assert is_dag(W != 0)
    assert (W[~allowed] == 0).all()
    assert W[order[-1], order[0]] != 0
    assert (starting_weights(S, 300, "zero") == 0).all()


def test_start_finds_the_parents_along_the_variances():
    rng = np.random.default_rng(9)
    x = rng.normal(size=2000)
    y = 2 * x + rng.normal(size=2000)
    z = 1.5 * y + rng.normal(size=2000)
    W = starting_weights(np.cov([z, x, y], bias=True), 2000)
    np.testing.assert_allclose(W, [[0, 0, 0], [0, 0, 2], [1.5, 0, 0]], atol=0.1)


def test_start_refuses_other_names():
    with pytest.raises(ParameterError, match="'zero' or 'variance'"):
        starting_weights(np.eye(2), 10, "random")
