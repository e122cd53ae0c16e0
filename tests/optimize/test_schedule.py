"""Schedules: the paper's preset to the letter, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from analyticdag.errors import ParameterError
from analyticdag.optimize.schedule import Schedule, Stage


def test_the_papers_preset() -> None:
    stages = Schedule.paper().stages
    assert [stage.mu for stage in stages] == pytest.approx([1.0, 0.1, 0.01, 1e-3, 1e-4])
    assert [stage.s for stage in stages] == [1.0, 0.9, 0.8, 0.7, 0.6]
    assert [stage.max_steps for stage in stages] == [30_000] * 4 + [60_000]
    assert {stage.tol for stage in stages} == {1e-6}


def test_the_gentle_preset_passes_through_the_papers_stages() -> None:
    gentle = {(round(stage.mu, 9), round(stage.s, 9)) for stage in Schedule.gentle().stages}
    assert {(round(stage.mu, 9), stage.s) for stage in Schedule.paper().stages} < gentle
    mus = [stage.mu for stage in Schedule.gentle().stages]
    assert mus == sorted(mus, reverse=True)


def test_geometric() -> None:
    schedule = Schedule.geometric(s=[1.0, 2.0], mu=4.0, factor=0.5, max_steps=7, tol=1e-3)
    assert schedule == Schedule([Stage(4.0, 1.0, 7, 1e-3), Stage(2.0, 2.0, 7, 1e-3)])


def test_with_steps_changes_the_steps_only() -> None:
    short = Schedule.paper().with_steps(10)
    assert {stage.max_steps for stage in short.stages} == {10}
    assert [stage.mu for stage in short.stages] == [stage.mu for stage in Schedule.paper().stages]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mu": 0.0}, "mu must be a positive number, not 0.0"),
        ({"mu": float("inf")}, "mu must be a positive number"),
        ({"mu": "1"}, "mu must be a positive number, not '1'"),
        ({"mu": 1.0, "s": -1.0}, "s must be a positive number"),
        ({"mu": 1.0, "tol": 0.0}, "tol must be a positive number"),
        ({"mu": 1.0, "max_steps": 0}, "max_steps must be a whole number"),
        ({"mu": 1.0, "max_steps": 1e4}, "max_steps must be a whole number"),
    ],
)
def test_a_bad_stage_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Stage(**arguments)


def test_a_schedule_needs_stages() -> None:
    with pytest.raises(ParameterError, match="at least one stage"):
        Schedule([])
    with pytest.raises(ParameterError, match="made of Stage objects"):
        Schedule([0.5])  # type: ignore[list-item]
