"""Every law on every minimiser of the registry, and every one in the estimator."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from minimisers import MINIMISERS, Slope

from analyticdag import AnalyticDAG
from analyticdag.errors import ParameterError
from analyticdag.functions import Inverse, Truncated, named
from analyticdag.losses import LeastSquares, covariance
from analyticdag.optimize.path import Traits, traits_of
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.simulate import simulate

every_minimiser = pytest.mark.parametrize("name", MINIMISERS)
DATA = simulate("ER2", n_nodes=6, n_samples=300, seed=2).data
STAGE = Stage(0.1, max_steps=400)


def problem(constraint: str = "order-2") -> Problem:
    allowed = ~np.eye(6, dtype=bool)
    allowed[0, 1] = False
    return Problem(LeastSquares(covariance(DATA)), named(constraint), 0.05, allowed)


def start() -> Any:
    return 0.1 * problem().allowed


@every_minimiser
@pytest.mark.parametrize("constraint", ["exponential", "order-1", "order-3"])
def test_it_goes_downhill_where_it_may_and_says_why_it_stopped(name: str, constraint: str) -> None:
    W, before = start(), start()
    equation = problem(constraint)
    result = MINIMISERS[name].minimise(equation, W, STAGE, 3)
    np.testing.assert_array_equal(W, before)
    last = result.records[-1]
    assert last.reason is not None
    assert last.stage == 3
    assert result.n_steps >= last.step >= 1
    assert last.objective < equation.record(W, STAGE, 3, 0).objective
    assert last.objective == pytest.approx(equation.record(result.weights, STAGE, 3, 0).objective)
    assert not result.weights[~equation.allowed].any()


@every_minimiser
def test_it_is_repeatable(name: str) -> None:
    first, second = (MINIMISERS[name].minimise(problem(), start(), STAGE, 0) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)


def test_a_minimiser_without_traits_has_the_defaults() -> None:
    assert traits_of(Slope()) == Traits()
    assert Traits().schedule == Schedule.paper()


class Picky(Slope):
    """Says about itself what it cannot do, and where it likes to begin."""

    traits = Traits(
        schedule=Schedule.geometric(s=[0.9]),
        start="variance",
        any_loss=False,
        objection=lambda f: None if f.pole_order < 3 else "no poles above the second",
    )


def test_what_it_says_about_itself_is_heeded() -> None:
    model = AnalyticDAG(solver=Picky(), refine=False, loss="mse", lambda1=0.05).fit(DATA)
    assert model.trace_.start == "variance"
    assert [record.s for record in model.trace_.records] == [0.9]
    with pytest.raises(ParameterError, match="no poles above the second"):
        AnalyticDAG(solver=Picky(), constraint="order-3").fit(DATA)
    with pytest.raises(ParameterError, match="is for the path of Adam: leave solver"):
        AnalyticDAG(solver=Picky(), loss="logistic", refine=False).fit(DATA > 0)


def test_rows_go_to_who_takes_every_loss() -> None:
    X = (DATA > 0).astype(float)
    model = AnalyticDAG(solver=Slope(), loss="logistic", refine=False, lambda1=0.01).fit(X)
    assert nx.is_directed_acyclic_graph(model.graph_)


def test_the_columns_refuse_a_polynomial_before_they_begin() -> None:
    with pytest.raises(ParameterError, match="a polynomial outside of it; use Adam"):
        AnalyticDAG(solver="fast", constraint=Truncated(Inverse(), 4)).fit(DATA)


@pytest.mark.parametrize("solver", [Slope, object(), "slope", None])
def test_what_cannot_minimise_is_refused(solver: Any) -> None:
    with pytest.raises(ParameterError, match="or another object with a method 'minimise'"):
        AnalyticDAG(solver=solver).fit(DATA)
