from __future__ import annotations

import numpy as np
import pytest

from analyticdag.errors import ParameterError
from analyticdag.graphs import is_dag
from analyticdag.metrics import compare
from analyticdag.simulate import simulate
from benchmarks.gradient_norms import gradient_norms
from benchmarks.learn import draw_problem
from benchmarks.methods import find_method
from benchmarks.parts import STARTS, composed_path, search_from, start_alone
from benchmarks.plan import Method

DRAWN = simulate("ER1", n_nodes=8, n_samples=500, seed=3)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")  # few steps
@pytest.mark.parametrize("name", STARTS)
def test_every_start_is_an_order_that_the_search_takes(name: str) -> None:
    order = STARTS[name](DRAWN.data, 0, 50)
    assert sorted(order) == list(range(8))
    weights, numbers = search_from(DRAWN.data, 0, starts=[name], steps=50)
    assert compare(DRAWN.weights, weights).shd_cpdag <= 2
    # "cautious" is this start's own graph, searched again at a lower price.
    assert numbers["start"] in (name, "cautious")


def test_an_unknown_start_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"no start is called \['oracle'\]; known: conditional"
    ):
        search_from(DRAWN.data, 0, starts=["oracle"])


def test_starts_are_what_they_say() -> None:
    assert not start_alone(DRAWN.data, 0, start="zero").any()
    guess = start_alone(DRAWN.data, 0)
    assert is_dag(guess)
    assert (np.abs(guess[guess != 0]) >= 0.3).all()


def test_a_composed_path_begins_where_it_is_told() -> None:
    few = {"steps": 1, "w_threshold": 0.0}
    from_zero, _ = composed_path(DRAWN.data, 0, **few)
    from_guess, numbers = composed_path(DRAWN.data, 0, start="variance", **few)
    assert np.abs(from_zero).max() < 0.01  # five steps of 3e-4
    assert np.abs(from_guess).max() > 0.3
    assert numbers["steps"] == 5


def test_a_plan_may_choose_the_start_and_its_own_constraint() -> None:
    path = find_method("path")
    own = "benchmarks.parts:USER_MADE"
    weights, numbers = path(DRAWN.data, 0, start="zero", constraint=own)
    assert is_dag(weights)
    assert numbers["status"] == "converged"
    with pytest.raises(ParameterError, match=r"start must be one of .* or weights, not 'oracle'"):
        path(DRAWN.data, 0, start="oracle")


def test_ranges_are_written_in_words() -> None:
    setting = {"graph": "ER2", "nodes": 30, "samples": 50}
    weak = {**setting, "weight_range": "0.1 to 0.5"}
    weights, _ = draw_problem(weak, np.random.default_rng(0))
    strength = np.abs(weights[weights != 0])
    assert strength.min() >= 0.1
    assert strength.max() <= 0.5
    for wrong in ("0.5..1.5", "1 to 2 to 3", "low to high"):
        with pytest.raises(ParameterError, match="noise_scale must be a number or 'LOW to HIGH'"):
            draw_problem({**setting, "noise_scale": wrong}, np.random.default_rng(0))
    draw_problem({**setting, "noise_scale": 2.0}, np.random.default_rng(0))


def test_gradient_norms_are_taken_every_so_many_steps() -> None:
    setting = {"graph": "ER1", "nodes": 6, "samples": 200}
    options = {"steps": 40, "every": 10, "lambda1": 0.1}
    found = gradient_norms(setting, Method("m", "order-2", options), np.random.default_rng(0))
    trace = found["trace"]
    assert {len(column) for column in trace.values()} == {len(trace["step"])}
    assert sorted(set(trace["stage"])) == [0, 1, 2, 3, 4]
    assert {10, 20, 30, 40} <= set(trace["step"])
    assert found["stage_4"] == pytest.approx(
        np.median([n for n, s in zip(trace["constraint"], trace["stage"], strict=True) if s == 4])
    )
    assert found["steps"] == 200
