"""Every recipe of CONTRIBUTING runs as written; `core/test_new_atom.py` has that of an atom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import NotConvergedWarning
from analyticdag.functions import Inverse
from analyticdag.losses import LeastSquares
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Stage
from analyticdag.optimize.trace import Stop
from analyticdag.simulate import simulate

PAGE = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"


def recipe(heading: str) -> dict[str, Any]:
    """Run the Python block under a heading and return its names."""
    (block,) = re.findall(
        rf"## {heading}\n(?:(?!\n## ).)*?```python\n(.*?)```", PAGE.read_text("utf-8"), re.S
    )
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    return names


@pytest.fixture(scope="module")
def chain() -> Any:
    W = np.diag([1.5, -1.2, 1.8], 1)
    noise = np.random.default_rng(0).normal(size=(2000, 4))
    return noise @ np.linalg.inv(np.eye(4) - W)


def test_a_loss(chain: Any) -> None:
    mine = recipe("Add a loss")["MyLoss"]
    S = np.cov(chain.T, bias=True)
    W = np.random.default_rng(1).normal(size=(4, 4)) / 4
    known = LeastSquares(S)
    assert mine(S).value(W) == pytest.approx(2 * known.value(W))
    np.testing.assert_allclose(mine(S).gradient(W), 2 * known.gradient(W))
    fitted = AnalyticDAG(loss=mine, solver="adam").fit(chain)
    assert fitted.loss_ == "mine"
    assert [(edge.source, edge.target) for edge in fitted.edges_] == [(0, 1), (1, 2), (2, 3)]


def test_a_minimiser(chain: Any) -> None:
    mine = recipe("Add a minimiser")["MyMinimiser"]
    with pytest.warns(NotConvergedWarning, match="used all its steps"):
        fitted = AnalyticDAG(solver=mine(), loss="mse", lambda1=0.05, refine=False).fit(chain)
    # Not down to the minimum: an edge too many may be left, none is missing.
    assert {(0, 1), (1, 2), (2, 3)} <= {(edge.source, edge.target) for edge in fitted.edges_}
    refined = AnalyticDAG(solver=mine(), loss="mse").fit(chain)
    assert [(edge.source, edge.target) for edge in refined.edges_] == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(("most_steps", "reason"), [(2, Stop.MAX_STEPS), (10_000, Stop.TOLERANCE)])
def test_a_minimiser_says_why_it_stopped(chain: Any, most_steps: int, reason: Stop) -> None:
    mine = recipe("Add a minimiser")["MyMinimiser"](most_steps)
    problem = Problem(LeastSquares(np.cov(chain.T)), Inverse(), 0.05, ~np.eye(4, dtype=bool))
    stage = Stage(mu=1.0, max_steps=20_000)
    assert mine.minimise(problem, np.zeros((4, 4)), stage, 0).records[-1].reason is reason


def test_a_method_of_the_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import methods

    monkeypatch.setattr(methods, "METHODS", dict(methods.METHODS))
    recipe("Add a benchmark method")
    X = simulate("ER2", n_nodes=5, n_samples=100, seed=0).data
    found = methods.METHODS["my-method"](X, 0, least=0.3)
    assert found.shape == (5, 5)
    assert np.any(found)
