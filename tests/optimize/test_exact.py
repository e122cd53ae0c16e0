"""The exact minimiser of a stage: never worse than Adam, exact zeros, masks, larger domains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analyticdag.errors import ParameterError
from analyticdag.functions import Inverse, Truncated, named
from analyticdag.losses import EqualVariances, LeastSquares, Logistic, Loss, UnequalVariances
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.columns import Columns, starting_weights
from analyticdag.optimize.path import PathState, follow
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import Status, Stop

D = 5
FREE = ~np.eye(D, dtype=bool)


def covariance() -> Any:
    back = np.linalg.inv(np.eye(D) - 1.5 * np.eye(D, k=1))
    return back.T @ back


def problem(
    loss: Loss | None = None, *, lambda1: float = 0.05, allowed: Any = FREE, required: Any = None
) -> Problem:
    loss = LeastSquares(covariance()) if loss is None else loss
    return Problem(loss, named("order-2"), lambda1, allowed, required)


def test_it_goes_below_where_adam_stopped() -> None:
    stage = Stage(0.1, max_steps=2000, tol=1e-9)
    adam = Adam(1e-2).minimise(problem(), np.zeros((D, D)), stage, 0)
    exact = Columns().minimise(problem(), adam.weights, stage, 0)
    assert exact.records[-1].objective <= adam.records[-1].objective
    assert exact.records[-1].reason is Stop.TOLERANCE


def test_it_leaves_exact_zeros_and_forbidden_edges_alone() -> None:
    allowed = np.triu(FREE)
    W = (
        Columns()
        .minimise(problem(allowed=allowed, lambda1=0.3), np.zeros((D, D)), Stage(1.0), 0)
        .weights
    )
    assert not W[allowed == 0].any()
    assert np.count_nonzero(W) == D - 1


def test_the_penalty_spares_required_edges() -> None:
    required = np.zeros((D, D), dtype=bool)
    required[0, 1] = True
    task = problem(lambda1=100.0, required=required, allowed=np.triu(FREE))
    W = Columns().minimise(task, np.zeros((D, D)), Stage(1.0), 0).weights
    assert W[0, 1] == pytest.approx(1.5, abs=1e-3)
    assert np.count_nonzero(W) == 1


def test_a_warm_start_outside_gets_a_larger_domain_and_the_record_says_so() -> None:
    W = np.zeros((D, D))
    W[0, 1] = W[1, 0] = 1.2
    record = Columns().minimise(problem(), W, Stage(1.0, 0.9), 2).records[-1]
    assert record.s == 0.9
    assert record.s_used == pytest.approx(1.1 * 1.44)
    assert record.stage == 2


@pytest.mark.parametrize("equal", [True, False])
def test_likelihoods_settle_on_their_own_variances(equal: bool) -> None:
    loss = (EqualVariances if equal else UnequalVariances)(covariance())
    allowed = np.triu(FREE)
    task = problem(loss, allowed=allowed, lambda1=0.0)
    result = Columns().minimise(task, np.zeros((D, D)), Stage(1.0), 0)
    np.testing.assert_allclose(result.weights, 1.5 * np.eye(D, k=1), atol=1e-3)
    assert result.records[-1].reason is Stop.TOLERANCE


def test_it_says_when_sweeps_run_out() -> None:
    record = (
        Columns(max_sweeps=1, tol=1e-12)
        .minimise(problem(), np.zeros((D, D)), Stage(1.0), 0)
        .records[-1]
    )
    assert record.reason is Stop.MAX_STEPS


def test_a_path_of_it_ends_at_the_graph() -> None:
    start = starting_weights(covariance(), 100)
    end = follow(problem(), Schedule.gentle(), Columns(), PathState(start))
    np.testing.assert_array_equal(end.weights != 0, np.eye(D, k=1) != 0)
    assert end.status is Status.CONVERGED


def test_a_polynomial_is_refused() -> None:
    task = replace(problem(), function=Truncated(Inverse(), 3))
    with pytest.raises(ParameterError, match="polynomial outside of it; use Adam"):
        Columns().minimise(task, np.zeros((D, D)), Stage(1.0), 0)


def test_a_loss_without_a_covariance_is_refused() -> None:
    task = problem(Logistic(np.ones((3, D))))
    with pytest.raises(ParameterError, match="does not say that it is least squares"):
        Columns().minimise(task, np.zeros((D, D)), Stage(1.0), 0)


def test_the_steps_of_a_stage_limit_the_sweeps() -> None:
    result = Columns().minimise(problem(), np.zeros((D, D)), Stage(1.0, max_steps=1), 0)
    assert result.n_steps == 1
    assert result.records[-1].reason is Stop.MAX_STEPS


@pytest.mark.parametrize("likelihood", [EqualVariances, UnequalVariances])
def test_the_steps_of_a_stage_limit_the_sweeps_of_all_rounds(likelihood: Any) -> None:
    """Few rows and many columns: variances that never settle, as in a table of 30 x 2,500."""
    X = np.random.default_rng(0).normal(size=(8, 40))
    loss = likelihood(np.cov(X.T, bias=True))
    task = Problem(loss, named("order-2"), 0.05, ~np.eye(40, dtype=bool), None)
    path = follow(task, Schedule.gentle().with_steps(2), Columns(), PathState(np.zeros((40, 40))))
    assert len(path.trace.stages()) == 8
    assert all(record.step <= 2 for record in path.trace)
    assert path.n_steps <= 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tol": -1.0}, "tol must be a positive number"),
        ({"max_sweeps": 0}, "max_sweeps must be a whole number of at least 1, not 0"),
        ({"max_rounds": "a"}, "max_rounds must be a whole number"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Columns(**changes)
