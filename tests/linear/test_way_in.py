"""The way into a fit: few parameters, few frames, options that stay as they are."""

from __future__ import annotations

import inspect
import sys
from dataclasses import FrozenInstanceError
from types import FrameType
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import ParameterError
from analyticdag.linear.options import Options, solver_with
from analyticdag.optimize import Adam, Columns, Schedule
from analyticdag.simulate import simulate

X = simulate("ER1", n_nodes=5, n_samples=100, seed=0).data


def test_the_estimator_keeps_what_every_user_may_want() -> None:
    parameters = inspect.signature(AnalyticDAG).parameters
    named = list(parameters)
    assert len(named) <= 19
    text = inspect.getdoc(AnalyticDAG) or ""
    lines = text[text.index("Parameters\n") : text.index("Notes\n")].strip().splitlines()[2:]
    assert [line.partition(" : ")[0] for line in lines] == named


def test_a_parameter_that_never_was_is_refused_as_python_does() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        AnalyticDAG(colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("solver", "changes", "message"),
    [
        (Adam, {"schedule": [1.0]}, "schedule must be a Schedule or None, not list"),
        (Columns, {"schedule": "paper"}, "schedule must be a Schedule or None, not str"),
        (Adam, {"start": "random"}, "start must be one of .*'zero', 'variance'"),
        (Adam, {"dtype": "float16"}, "dtype must be one of .None, 'float64', 'float32'"),
        (Adam, {"device": 3}, "device must be a name such as 'cpu'"),
    ],
)
def test_solvers_check_what_they_are_given(solver: Any, changes: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        solver(**changes)


def test_a_named_solver_takes_steps_and_a_start() -> None:
    assert solver_with(None) == "auto"
    assert solver_with("order") == "order"
    changed = solver_with("adam", max_steps=7, start="variance")
    assert isinstance(changed, Adam)
    assert changed.schedule == Schedule.paper().with_steps(7)
    assert changed.start == "variance"
    assert isinstance(solver_with("auto", start="zero"), Columns)
    with pytest.raises(ParameterError, match="solver='order' follows no path"):
        solver_with("order", max_steps=7)
    with pytest.raises(ParameterError, match="max_steps must be a whole number of at least 1"):
        solver_with("fast", max_steps=0)


def frames_above(frame: FrameType | None) -> list[str]:
    """The functions of the package on the way to a frame, outermost first."""
    found = []
    while frame is not None:
        if "analyticdag" in frame.f_code.co_filename and "tests" not in frame.f_code.co_filename:
            found.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return found[::-1]


def test_a_default_fit_reaches_its_first_arithmetic_in_nine_frames() -> None:
    """The first arithmetic of the objective: the value of the loss, in the first stage."""
    seen: list[list[str]] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and not seen and frame.f_code.co_qualname == "LeastSquares.value":
            seen.append(frames_above(frame))

    sys.setprofile(watch)
    try:
        AnalyticDAG().fit(X)
    finally:
        sys.setprofile(None)
    assert seen, "no path was followed"
    assert len(seen[0]) <= 9, seen[0]
    assert seen[0][0] == "AnalyticDAG.fit"


def test_options_do_not_change_once_made() -> None:
    options = Options.of(AnalyticDAG())
    with pytest.raises(FrozenInstanceError):
        options.lambda1 = 1.0  # type: ignore[misc]
    source = inspect.getsource(sys.modules["analyticdag.linear.learn"])
    assert "replace(options" not in source
    assert np.isfinite(options.lambda1)
