"""Losses: the formula, the gradient against finite differences, every array kind, the domains."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from scipy import special, stats
from scipy.optimize import approx_fprime

from analyticdag.errors import DataError
from analyticdag.losses import (
    EqualVariances,
    LeastSquares,
    Logistic,
    Loss,
    UnequalVariances,
    covariance,
    residual_variances,
)


def table(n: int = 40, d: int = 4, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3.0


def weights(d: int = 4, seed: int = 1) -> Any:
    W = np.random.default_rng(seed).normal(scale=0.4, size=(d, d))
    np.fill_diagonal(W, 0.0)
    return W


def bits(n: int = 40, d: int = 4) -> Any:
    return (np.random.default_rng(2).random((n, d)) < 0.4).astype(float)


# Every law below runs on every loss; a new loss is tested by being added here.
LOSSES: dict[str, Loss] = {
    "mse": LeastSquares(covariance(table())),
    "likelihood-ev": EqualVariances(covariance(table())),
    "likelihood-nv": UnequalVariances(covariance(table())),
    "logistic": Logistic(bits()),
    "weighted": LeastSquares(covariance(table()), np.array([1.0, 2.0, 0.5, 3.0])),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_is_that_of_the_value(name: str) -> None:
    loss, W = LOSSES[name], weights()
    numeric = approx_fprime(W.ravel(), lambda w: loss.value(w.reshape(4, 4)), 1e-7)
    np.testing.assert_allclose(loss.gradient(W).ravel(), numeric, atol=2e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_value_and_gradient_agree_with_each_alone(name: str) -> None:
    loss, W = LOSSES[name], weights()
    value, gradient = loss.value_and_gradient(W)
    assert value == pytest.approx(loss.value(W))
    np.testing.assert_allclose(gradient, loss.gradient(W), atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("kind", ["torch", "strict"])
def test_other_array_kinds_give_the_same_numbers(name: str, kind: str) -> None:
    make = torch.from_numpy if kind == "torch" else array_api_strict.asarray
    W = weights()
    given = {field: array for field, array in vars(LOSSES[name]).items() if array is not None}
    other = type(LOSSES[name])(**{field: make(array) for field, array in given.items()})
    value, gradient = other.value_and_gradient(make(W))
    assert type(gradient) is type(make(W))
    assert value == pytest.approx(LOSSES[name].value(W))
    np.testing.assert_allclose(np.asarray(gradient), LOSSES[name].gradient(W), atol=1e-12)


def test_least_squares_is_the_mean_squared_residual() -> None:
    X, W = table(), weights()
    centred = X - X.mean(axis=0)
    expected = ((centred - centred @ W) ** 2).sum() / (2 * len(X))
    assert LeastSquares(covariance(X)).value(W) == pytest.approx(expected)


def test_residual_variances_are_those_of_the_residuals() -> None:
    X, W = table(), weights()
    np.testing.assert_allclose(
        residual_variances(covariance(X), W), (X - X @ W).var(axis=0), rtol=1e-10
    )


@pytest.mark.parametrize("equal", [True, False])
def test_likelihood_is_that_of_the_implied_gaussian(equal: bool) -> None:
    X, W = table(), weights()
    S = covariance(X)
    v = residual_variances(S, W)
    noise = np.diag(np.full(4, v.mean()) if equal else v)
    back = np.linalg.inv(np.eye(4) - W)
    implied = stats.multivariate_normal(X.mean(axis=0), back.T @ noise @ back)
    value = (EqualVariances if equal else UnequalVariances)(S).value(W)
    assert value == pytest.approx(-implied.logpdf(X).mean())


def test_likelihood_is_infinite_where_the_model_is_singular() -> None:
    W = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert UnequalVariances(np.eye(2)).value(W) == math.inf


def test_likelihood_stays_finite_when_a_node_is_fully_explained() -> None:
    S = np.ones((2, 2))
    W = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert math.isfinite(UnequalVariances(S).value(W))


def test_logistic_is_the_bernoulli_likelihood() -> None:
    X, W = bits(), weights()
    shares = X.mean(axis=0)
    p = special.expit(special.logit(shares) + (X - shares) @ W)
    expected = -(X * np.log(p) + (1 - X) * np.log(1 - p)).sum() / len(X)
    assert Logistic(X).value(W) == pytest.approx(expected)
    assert Logistic(X[:5], shares).value(0 * W) == pytest.approx(
        -np.log(np.where(X[:5] == 1, shares, 1 - shares)).sum() / 5
    )


def test_a_rate_of_its_own_is_no_cause() -> None:
    X = np.array([[0, 0], [0, 1], [0, 1], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1.0]])
    np.testing.assert_allclose(
        Logistic(X).gradient(np.zeros((2, 2)))[[0, 1], [1, 0]], 0, atol=1e-15
    )


def test_logistic_survives_huge_weights() -> None:
    W = 1e5 * weights()
    assert math.isfinite(Logistic(bits()).value(W))
    assert np.isfinite(Logistic(bits()).gradient(W)).all()


def test_logistic_refuses_other_data_and_names_the_columns() -> None:
    X = bits()
    X[3, 2] = 0.5
    with pytest.raises(DataError, match=r"needs 0/1 data, but columns \[2\]"):
        Logistic(X)


def test_likelihood_refuses_a_constant_column() -> None:
    with pytest.raises(DataError, match="drop the constant columns"):
        EqualVariances(np.diag([1.0, 0.0]))


def test_a_covariance_must_be_square() -> None:
    with pytest.raises(DataError, match=r"square matrix, .* got shape \(2, 3\)"):
        LeastSquares(np.ones((2, 3)))
