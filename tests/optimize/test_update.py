"""Adam's step by kernels, as built and interpreted, against the step for arrays of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyticdag.functions import named
from analyticdag.losses import LeastSquares
from analyticdag.optimize import adam
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Stage
from analyticdag.optimize.update import Update, entries, kernels, step, update_of

D = 20  # with 400 entries, more than one stretch of the kernels


@pytest.fixture(params=[kernels, entries], ids=["as built", "interpreted"])
def _source(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("average", "move"):
        monkeypatch.setattr(step, name, getattr(request.param, name))


def settings(*, proximal: bool) -> tuple[Any, ...]:
    """Weights with zeros among them, a penalty for each edge, and edges that may not be."""
    rng = np.random.default_rng(1)
    W = rng.normal(size=(D, D)) * (rng.random((D, D)) < 0.7)
    allowed = rng.random((D, D)) < 0.8
    penalty = rng.choice([0.0, 0.1, 3.0], size=(D, D))
    return W * allowed, penalty, 0.3 * allowed, (0.9, 0.99), proximal


@pytest.mark.usefixtures("_source")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("proximal", [False, True])
def test_kernels_take_the_steps_of_plain_arrays(proximal: bool, order: Any) -> None:
    given = settings(proximal=proximal)
    plain, fast = Update(*given), update_of(*given)
    assert type(fast) is not Update
    rng, W = np.random.default_rng(2), given[0]
    for _ in range(5):
        G, pushed = rng.normal(size=(2, D, D))
        pushed *= W != 0.0
        before, there = W.copy(), [np.array(a, order=order) for a in (W, G, pushed)]
        W = plain.advance(W, G.copy(), pushed, 0.05)
        found = fast.advance(*there, 0.05)
        np.testing.assert_allclose(found, W, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(there[0], before)
        np.testing.assert_array_equal(found == 0.0, W == 0.0)
        shorter = plain.move(before, 0.025)
        np.testing.assert_allclose(fast.move(there[0], 0.025), shorter, rtol=1e-12, atol=1e-14)


def test_other_numbers_keep_the_plain_step() -> None:
    W, *rest = settings(proximal=False)
    assert type(update_of(W.astype(np.float32), *rest)) is Update


def task(constraint: str) -> tuple[Problem, Any]:
    """Twelve nodes in a chain, one edge not allowed, one free of the penalty; a start outside."""
    d = 12
    back = np.linalg.inv(np.eye(d) - 1.2 * np.eye(d, k=1))
    allowed, required = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
    allowed[0, 1], required[3, 4] = False, True
    problem = Problem(LeastSquares(back.T @ back), named(constraint), 0.05, allowed, required)
    return problem, np.random.default_rng(0).normal(size=(d, d)) * 0.35 * allowed


@pytest.mark.parametrize("proximal", [False, True])
@pytest.mark.parametrize("on_leaving", ["reset", "restart"])
@pytest.mark.parametrize("constraint", ["order-1", "order-2", "order-3", "order-4", "exponential"])
def test_a_stage_ends_where_plain_arrays_and_the_careful_constraint_end(
    constraint: str, on_leaving: Any, proximal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, start = task(constraint)
    solver = Adam(3e-3, on_leaving=on_leaving, proximal=proximal)
    stage = Stage(0.3, max_steps=600)
    fast = solver.minimise(problem, start, stage, 0)
    monkeypatch.setattr(adam, "update_of", Update)
    monkeypatch.setattr(adam, "push_of", careful)
    plain = solver.minimise(problem, start, stage, 0)
    np.testing.assert_allclose(fast.weights, plain.weights, atol=1e-8)
    assert fast.n_steps == plain.n_steps
    assert not fast.weights[0, 1].any()


def careful(constraint: Any, W: Any, reset: Any) -> Any:
    if reset is None:
        return constraint.gradient
    return lambda W: constraint.adaptive(W, reset)[1]
