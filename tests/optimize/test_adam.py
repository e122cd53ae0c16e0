"""Adam: the published update, both ways of leaving the domain, masks, exact zeros, array kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import ParameterError
from analyticdag.functions import named
from analyticdag.losses import LeastSquares
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Stage
from analyticdag.optimize.trace import Stop

D = 5


def covariance() -> Any:
    """The covariance of a chain of unit noises, each node 1.5 times the one before."""
    back = np.linalg.inv(np.eye(D) - 1.5 * np.eye(D, k=1))
    return back.T @ back


def problem(
    *,
    constraint: str = "order-2",
    lambda1: float = 0.05,
    S: Any = None,
    allowed: Any = None,
    required: Any = None,
    make: Any = np.asarray,
) -> Problem:
    S = covariance() if S is None else S
    allowed = ~np.eye(D, dtype=bool) if allowed is None else allowed
    required = np.zeros((D, D), dtype=bool) if required is None else required
    masks = make(allowed), make(required)
    return Problem(LeastSquares(make(S)), named(constraint), lambda1, *masks)


def zeros() -> Any:
    return np.zeros((D, D))


def test_the_steps_are_those_of_published_adam() -> None:
    """Against Adam written out as in DAGMA's package, order-1 at s = 1, inside the domain."""
    S, mu, lambda1, lr = covariance(), 0.5, 0.05, 1e-3
    W, m, v = zeros(), 0.0, 0.0
    for t in range(1, 51):
        push = 2 * W * np.linalg.inv(np.eye(D) - W * W).T
        G = mu * (S @ W - S + lambda1 * np.sign(W)) * (1 - np.eye(D)) + push
        m, v = 0.99 * m + 0.01 * G, 0.999 * v + 0.001 * G**2
        W = W - lr * (m / (1 - 0.99**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    stage = Stage(mu, max_steps=50)
    result = Adam(learning_rate=lr).minimise(problem(constraint="order-1"), zeros(), stage, 0)
    np.testing.assert_allclose(result.weights, W, atol=1e-10)


def test_it_stops_at_the_tolerance_and_says_so() -> None:
    stage = Stage(1.0, max_steps=20_000, tol=1e-4)
    result = Adam(1e-2, check_every=200).minimise(problem(), zeros(), stage, 3)
    last = result.records[-1]
    assert last.reason is Stop.TOLERANCE
    assert last.stage == 3
    assert last.step == result.n_steps < 20_000


def test_it_says_when_the_steps_run_out() -> None:
    result = Adam().minimise(problem(), zeros(), Stage(1.0, max_steps=20), 0)
    assert result.records[-1].reason is Stop.MAX_STEPS
    assert result.n_steps == 20


def test_a_descent_lowers_the_objective() -> None:
    stage = Stage(1.0, max_steps=500)
    start = problem().record(zeros(), stage, 0, 0).objective
    result = Adam(1e-2).minimise(problem(), zeros(), stage, 0)
    assert result.records[-1].objective < start


def test_records_on_request_hold_what_they_say() -> None:
    task, stage = problem(), Stage(0.7, 0.9, max_steps=100)
    result = Adam(record_every=30).minimise(task, zeros(), stage, 1)
    assert [r.step for r in result.records] == [30, 60, 90, 100]
    assert [r.reason for r in result.records] == [None, None, None, Stop.MAX_STEPS]
    last, W = result.records[-1], result.weights
    h, G = Acyclicity(named("order-2").scaled(0.9)).value_and_gradient(W)
    loss, L = task.loss.value_and_gradient(W)
    assert last.h == pytest.approx(float(h))
    assert last.loss == pytest.approx(loss)
    assert last.constraint_gradient_norm == pytest.approx(np.linalg.norm(G))
    assert last.loss_gradient_norm == pytest.approx(np.linalg.norm(L - np.diag(np.diag(L))))
    assert last.objective == pytest.approx(0.7 * (loss + 0.05 * np.abs(W).sum()) + float(h))
    assert (last.mu, last.s, last.s_used) == (0.7, 0.9, pytest.approx(0.9))


@pytest.mark.parametrize("proximal", [False, True])
@pytest.mark.parametrize("on_leaving", ["reset", "restart"])
def test_edges_that_are_not_allowed_are_never_there(on_leaving: Any, proximal: bool) -> None:
    allowed = np.triu(np.ones((D, D)), 1)
    start = np.full((D, D), 0.1) * allowed
    result = Adam(1e-2, on_leaving=on_leaving, proximal=proximal).minimise(
        problem(allowed=allowed), start, Stage(1.0, max_steps=200), 0
    )
    assert not result.weights[allowed == 0].any()
    assert result.weights[allowed == 1].any()


def test_no_diagonal_entry_ever() -> None:
    result = Adam(1e-2).minimise(problem(), zeros(), Stage(1.0, max_steps=200), 0)
    assert not np.diag(result.weights).any()


def test_proximal_gives_exact_zeros_and_a_subgradient_does_not() -> None:
    stage, task = Stage(1.0, max_steps=3000), problem(lambda1=0.3)
    plain = Adam(1e-2).minimise(task, zeros(), stage, 0).weights
    exact = Adam(1e-2, proximal=True).minimise(task, zeros(), stage, 0).weights
    off = ~np.eye(D, dtype=bool)
    assert np.count_nonzero(plain[off]) == off.sum()
    assert 0 < np.count_nonzero(exact) < off.sum() - 5


def test_the_penalty_spares_required_edges() -> None:
    required = np.zeros((D, D), dtype=bool)
    required[0, 1] = True
    for proximal in (False, True):
        task = problem(lambda1=100.0, required=required, allowed=~np.tri(D, dtype=bool))
        stage = Stage(1.0, max_steps=2000)
        W = Adam(1e-2, proximal=proximal).minimise(task, zeros(), stage, 0).weights
        assert W[0, 1] == pytest.approx(1.5, abs=0.05)
        assert np.abs(W[0, 2]) < 0.05


def outside() -> Any:
    """Weights with a two-cycle of spectral radius 1.44, outside the domain at s = 1."""
    W = zeros()
    W[0, 1] = W[1, 0] = 1.2
    return W


def test_reset_goes_on_from_outside_and_notes_the_s_it_used() -> None:
    result = Adam(record_every=1).minimise(problem(), outside(), Stage(1.0, max_steps=3), 0)
    first = result.records[0]
    assert first.s == 1.0
    radius = np.abs(np.linalg.eigvals(result.weights**2)).max()
    assert result.records[-1].s_used == pytest.approx(radius + 0.2, abs=1e-3)


def test_reset_comes_back_into_the_domain() -> None:
    stage = Stage(1e-3, max_steps=2000)
    result = Adam(1e-2).minimise(problem(), outside(), stage, 0)
    assert result.records[-1].s_used == pytest.approx(1.0)


def test_restart_raises_s_until_the_start_fits() -> None:
    stage = Stage(1e-3, max_steps=10)
    result = Adam(on_leaving="restart").minimise(problem(), outside(), stage, 0)
    assert result.records[-1].s == pytest.approx(1.5)
    assert result.records[-1].reason is Stop.MAX_STEPS


def test_restart_counts_the_steps_it_wasted() -> None:
    """At s <= 0.9 leaving the domain starts the stage anew."""
    W = zeros()
    W[0, 1] = W[1, 0] = 0.9
    task = problem(S=np.ones((D, D)) * 50.0 + np.eye(D), constraint="order-1", lambda1=0.0)
    result = Adam(0.1, on_leaving="restart").minimise(task, W, Stage(10.0, 0.9, max_steps=8), 0)
    assert result.records[-1].s > 0.9
    assert result.n_steps > 8


def test_restart_shortens_the_step_at_large_s() -> None:
    W = zeros()
    W[0, 1] = W[1, 0] = 0.9
    task = problem(S=np.ones((D, D)) * 50.0 + np.eye(D), constraint="order-1", lambda1=0.0)
    result = Adam(0.5, on_leaving="restart").minimise(task, W, Stage(10.0, 1.0, max_steps=5), 0)
    assert result.records[-1].s == 1.0
    assert result.n_steps == 5
    assert np.abs(np.linalg.eigvals(result.weights**2)).max() < 1.0


@pytest.mark.parametrize("on_leaving", ["reset", "restart"])
@pytest.mark.parametrize("make", [torch.from_numpy, array_api_strict.asarray])
def test_other_array_kinds_take_the_same_steps(make: Any, on_leaving: Any) -> None:
    adam, stage = Adam(1e-2, on_leaving=on_leaving, proximal=True), Stage(1.0, max_steps=25)
    start = np.abs(outside()) / 2
    expected = adam.minimise(problem(), start, stage, 0)
    result = adam.minimise(problem(make=make), make(start.copy()), stage, 0)
    assert type(result.weights) is type(make(start))
    np.testing.assert_allclose(np.asarray(result.weights), expected.weights, atol=1e-9)
    assert result.records[-1].objective == pytest.approx(expected.records[-1].objective)


def test_single_precision_stays_single() -> None:
    make = lambda array: np.asarray(array, dtype=np.float32)  # noqa: E731
    result = Adam().minimise(problem(make=make), make(zeros()), Stage(1.0, max_steps=5), 0)
    assert result.weights.dtype == np.float32


def test_the_start_is_not_changed() -> None:
    start = np.triu(np.full((D, D), 0.1), 1)
    before = start.copy()
    for on_leaving in ("reset", "restart"):
        Adam(on_leaving=on_leaving).minimise(problem(), start, Stage(1.0, max_steps=5), 0)
        np.testing.assert_array_equal(start, before)


@pytest.mark.parametrize("on_leaving", ["reset", "restart"])
@pytest.mark.parametrize("constraint", ["exponential", "order-2"])
def test_weights_too_large_to_compute_with_end_the_stage(constraint: str, on_leaving: Any) -> None:
    adam = Adam(1e160, on_leaving=on_leaving)
    result = adam.minimise(problem(constraint=constraint), zeros(), Stage(1.0, max_steps=50), 0)
    assert result.records[-1].reason is Stop.NOT_FINITE
    assert np.isfinite(result.weights).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be a positive number, not 0.0"),
        ({"betas": (0.9, 1.0)}, r"betas must be two numbers in \[0, 1\)"),
        ({"betas": (0.9,)}, r"betas must be two numbers in \[0, 1\)"),
        ({"check_every": 0}, "at least 1"),
        ({"record_every": 0}, "at least 1"),
        ({"on_leaving": "ignore"}, "one of .'reset', 'restart'., not 'ignore'"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(Adam(), **changes)


@pytest.mark.parametrize("lambda1", [-1.0, float("inf"), "a"])
def test_a_bad_penalty_is_refused(lambda1: Any) -> None:
    with pytest.raises(ParameterError, match="lambda1 must be a number of at least 0"):
        problem(lambda1=lambda1)
