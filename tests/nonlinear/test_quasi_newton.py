"""OWL-QN: the minimum of smooth plus l1, exact zeros, domains."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.linear_model import Lasso

from analyticdag.nonlinear.quasi_newton import minimise
from analyticdag.optimize.trace import Stop


def test_it_solves_the_lasso() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = X[:, :3] @ [1.0, -2.0, 0.5] + rng.normal(size=80)
    lasso = Lasso(alpha=0.2, fit_intercept=False, tol=1e-12).fit(X, y)
    design, target = torch.tensor(X), torch.tensor(y)

    def smooth(v: torch.Tensor) -> tuple[float, torch.Tensor]:
        residual = design @ v - target
        return float(residual @ residual) / 160.0, design.T @ residual / 80.0

    start = torch.zeros(12, dtype=torch.float64)
    found = minimise(smooth, start, torch.full_like(start, 0.2), max_steps=500, tol=1e-14)
    np.testing.assert_allclose(found.values, lasso.coef_, atol=1e-5)
    assert ((found.values == 0.0).numpy() == (lasso.coef_ == 0.0)).all()
    assert found.reason is Stop.TOLERANCE


def test_without_a_penalty_it_follows_a_curved_valley() -> None:
    def rosenbrock(v: torch.Tensor) -> tuple[float, torch.Tensor]:
        v = v.clone().requires_grad_()
        value = (1.0 - v[0]) ** 2 + 100.0 * (v[1] - v[0] ** 2) ** 2
        return float(value.detach()), torch.autograd.grad(value, v)[0]

    start = torch.tensor([-1.2, 1.0], dtype=torch.float64)
    found = minimise(rosenbrock, start, torch.zeros(2), max_steps=500, tol=1e-14)
    np.testing.assert_allclose(found.values, [1.0, 1.0], atol=1e-4)


def test_it_steps_back_from_the_edge_of_a_domain() -> None:
    def barrier(v: torch.Tensor) -> tuple[float, torch.Tensor]:
        if float(v[0]) >= 1.0:
            return math.inf, v
        return -3.0 * float(v[0]) - math.log(1.0 - float(v[0])), -3.0 + 1.0 / (1.0 - v)

    start = torch.zeros(1, dtype=torch.float64)
    found = minimise(barrier, start, torch.zeros(1), max_steps=100, tol=1e-12)
    assert float(found.values[0]) == pytest.approx(2.0 / 3.0, abs=1e-4)


def test_it_says_when_the_steps_ran_out_or_the_start_is_outside() -> None:
    def slow(v: torch.Tensor) -> tuple[float, torch.Tensor]:
        return float(v.cosh().sum()), v.sinh()

    start = torch.full((3,), 9.0, dtype=torch.float64)
    found = minimise(slow, start, torch.zeros(3), max_steps=1, tol=1e-12)
    assert (found.reason, found.n_steps) == (Stop.MAX_STEPS, 1)
    outside = minimise(lambda v: (math.inf, v), start, torch.zeros(3), max_steps=5, tol=1e-6)
    assert outside.reason is Stop.NOT_FINITE
