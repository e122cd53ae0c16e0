"""The plain NumPy of docs/algorithms.md is the oracle of the real Algorithms 1 and 2."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag.acyclicity import Acyclicity
from analyticdag.algorithm1 import OUTSIDE, SHORT_SERIES
from analyticdag.functions import named
from analyticdag.losses import LeastSquares, covariance
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.path import PathState, follow
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule
from analyticdag.simulate import simulate

PAGE = Path(__file__).resolve().parent.parent / "docs" / "algorithms.md"
ORDERS = (1, 2, 3, 4, 7)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The functions of the page."""
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def weights(radius: float, d: int = 8) -> Any:
    """Dense cyclic weights, the spectral radius of A = W∘W as given."""
    W = np.random.default_rng(5).normal(size=(d, d)) * (1.0 - np.eye(d))
    return W * np.sqrt(radius / np.abs(np.linalg.eigvals(W * W)).max())


# 256 terms leave 1e-6 at 0.947: these are well inside, inside only without a limit, and outside.
@pytest.mark.parametrize("radius", [0.1, 0.9, 0.98, 1.3, 6.0])
@pytest.mark.parametrize("s", [1.0, 0.6])
@pytest.mark.parametrize("order", ORDERS)
def test_algorithm_1(page: dict[str, Any], order: int, s: float, radius: float) -> None:
    W = weights(radius * s)
    constraint = Acyclicity(named(f"order-{order}", s))
    limit = np.inf if order == 1 else 200
    for terms, rule in ((np.inf, OUTSIDE), (limit, SHORT_SERIES)):
        h, gradient, used = page["algorithm_1"](W, s, order, terms)
        ours, our_gradient, our_s = constraint.adaptive(W, rule)
        assert our_s == pytest.approx(used, rel=1e-9)
        assert ours == pytest.approx(h, rel=1e-9)
        np.testing.assert_allclose(our_gradient, gradient, rtol=1e-8)


def test_the_rules_differ_next_to_a_strong_pole_only() -> None:
    for order in ORDERS:
        constraint, W = Acyclicity(named(f"order-{order}")), weights(0.98)
        resets = [constraint.adaptive(W, rule)[2] != 1.0 for rule in (OUTSIDE, SHORT_SERIES)]
        assert resets == [False, order > 1]


@pytest.mark.parametrize("order", ORDERS)
def test_algorithm_2(page: dict[str, Any], order: int) -> None:
    S = covariance(simulate("ER2", n_nodes=8, n_samples=200, seed=1).data)
    scales, steps, rate = (1.0, 0.8, 0.6), 150, 3e-2
    expected = page["algorithm_2"](S, order, 0.05, steps, rate, scales)

    allowed = ~np.eye(len(S), dtype=bool)
    problem = Problem(LeastSquares(S), named(f"order-{order}"), 0.05, allowed)
    schedule = Schedule.geometric(s=scales, max_steps=steps, tol=1e-300)
    minimiser = Adam(learning_rate=rate, check_every=steps)
    path = follow(problem, schedule, minimiser, PathState(np.zeros_like(S)))
    assert path.n_steps == 3 * steps
    assert np.abs(expected).max() > 0.5
    # Rounding grows from step to step: 450 of them turn 1e-16 into less than 1e-8.
    np.testing.assert_allclose(path.weights, expected, atol=1e-8)
