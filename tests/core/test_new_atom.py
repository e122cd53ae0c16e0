"""An atom written by the recipe of CONTRIBUTING gets everything right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matrices import inside

from analyticdag import AnalyticDAG, _terms
from analyticdag._typing import Array, FloatArray
from analyticdag.acyclicity import Acyclicity
from analyticdag.functions import AnalyticFunction, Exponential, Inverse, Logarithm
from analyticdag.optimize import Adam, Columns
from analyticdag.optimize.schedule import Schedule
from analyticdag.simulate import simulate

PAGE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def cube() -> AnalyticFunction:
    """The atom of the page as a function: (1 - x)^-3, with s = 1."""
    (recipe,) = re.findall(r"```python\n(class Cube.*?)```", PAGE.read_text("utf-8"), re.S)
    names: dict[str, Any] = {**vars(_terms), "Any": Any, "Array": Array, "FloatArray": FloatArray}
    exec(recipe, names)
    return AnalyticFunction([_terms.Term(1.0, ((names["Cube"](1.0), 1),))])


def test_algorithm_1_resets_s_by_the_order_of_its_pole(cube: AnalyticFunction) -> None:
    assert cube.pole_order == 4
    W = inside(np.random.default_rng(0).normal(size=(5, 5)), 1.32, share=1.0)
    assert Acyclicity(cube).adaptive(W)[2] == pytest.approx(1.72)


@pytest.mark.parametrize("s", [1.0, 0.05, 30.0])
def test_it_is_the_function_it_says_it_is(cube: AnalyticFunction, s: float) -> None:
    known, W = Inverse(s) ** 3, inside(np.random.default_rng(1).normal(size=(6, 6)), s)
    assert cube.scaled(s).pole_order == 4
    value, gradient = Acyclicity(cube.scaled(s)).value_and_gradient(W)
    expected, expected_gradient = Acyclicity(known).value_and_gradient(W)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10)


def test_it_combines_with_the_others(cube: AnalyticFunction) -> None:
    f = (cube * Exponential(2.0) + Logarithm()) ** 2
    assert f.pole_order == 7
    assert f.derivative().pole_order == 8
    known = (Inverse() ** 3 * Exponential(2.0) + Logarithm()) ** 2
    np.testing.assert_allclose(f.coefficients(9), known.coefficients(9))
    W = inside(np.random.default_rng(2).normal(size=(4, 4)), 1.0)
    assert Acyclicity(f).value(W) == pytest.approx(Acyclicity(known).value(W))


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
@pytest.mark.parametrize("solver", [Adam, Columns])
def test_every_solver_takes_it(cube: AnalyticFunction, solver: type[Adam | Columns]) -> None:
    data = simulate("ER1", n_nodes=5, n_samples=200, seed=0).data
    schedule = Schedule.geometric(s=[1.0, 0.9], max_steps=300)
    models = [
        AnalyticDAG(constraint=f, solver=solver(schedule=schedule), refine=False, lambda1=0.1)
        for f in (cube, Inverse() ** 3)
    ]
    first, second = (model.fit(data).weights_ for model in models)
    # Powers of the inverse have a faster way, which stops elsewhere within the same tolerance.
    np.testing.assert_allclose(first, second, atol=1e-3)
