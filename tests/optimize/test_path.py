"""The path: stages in order, warm starts, and a status that never flatters."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from analyticdag.functions import named
from analyticdag.losses import LeastSquares
from analyticdag.optimize.path import PathState, StageResult, follow
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import Status, Stop

ALLOWED = ~np.eye(2, dtype=bool)
START = PathState(np.zeros((2, 2)))


def problem() -> Problem:
    return Problem(LeastSquares(np.eye(2)), named("order-1"), 0.1, ALLOWED)


@dataclass
class Adding:
    """A minimiser that adds 0.1 to one weight and stops as told."""

    reasons: list[Stop]
    starts: list[Any] = field(default_factory=list)

    def minimise(self, problem: Problem, W: Any, stage: Stage, number: int) -> StageResult:
        self.starts.append(W)
        W = W + np.array([[0.0, 0.1], [0.0, 0.0]])
        record = problem.record(W, stage, number, 7, self.reasons[number])
        return StageResult(W, (record,), 7)


SCHEDULE = Schedule.geometric(s=[1.0, 0.9, 0.8])


def test_every_stage_starts_where_the_last_ended() -> None:
    minimiser = Adding([Stop.MAX_STEPS, Stop.MAX_STEPS, Stop.TOLERANCE])
    result = follow(problem(), SCHEDULE, minimiser, START)
    assert [W[0, 1] for W in minimiser.starts] == pytest.approx([0.0, 0.1, 0.2])
    assert result.weights[0, 1] == pytest.approx(0.3)
    assert result.n_steps == 21
    assert [r.stage for r in result.trace.stages()] == [0, 1, 2]
    assert [r.mu for r in result.trace] == pytest.approx([1.0, 0.1, 0.01])


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (Stop.TOLERANCE, Status.CONVERGED),
        (Stop.MAX_STEPS, Status.MAX_STEPS),
        (Stop.NO_STEP_LEFT, Status.STEP_VANISHED),
    ],
)
def test_the_last_stage_decides_the_status(reason: Stop, status: Status) -> None:
    minimiser = Adding([Stop.TOLERANCE, Stop.TOLERANCE, reason])
    assert follow(problem(), SCHEDULE, minimiser, START).status is status


def test_a_diverged_stage_ends_the_path() -> None:
    minimiser = Adding([Stop.TOLERANCE, Stop.NOT_FINITE, Stop.TOLERANCE])
    result = follow(problem(), SCHEDULE, minimiser, START)
    assert result.status is Status.DIVERGED
    assert len(minimiser.starts) == 2


def test_the_start_loses_edges_that_are_not_allowed() -> None:
    minimiser = Adding([Stop.TOLERANCE])
    follow(problem(), Schedule([Stage(1.0)]), minimiser, PathState(np.ones((2, 2))))
    np.testing.assert_array_equal(minimiser.starts[0], ALLOWED)


def test_verbose_reports_every_stage(caplog: pytest.LogCaptureFixture) -> None:
    minimiser = Adding([Stop.TOLERANCE] * 3)
    with caplog.at_level(logging.INFO, logger="analyticdag"):
        follow(problem(), SCHEDULE, minimiser, START, verbose=1)
    assert [r.message[:12] for r in caplog.records] == [
        "stage 1 of 3",
        "stage 2 of 3",
        "stage 3 of 3",
    ]
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="analyticdag"):
        follow(problem(), SCHEDULE, minimiser, START)
    assert not caplog.records


def test_a_path_goes_on_from_any_state_to_the_same_end() -> None:
    states: list[PathState] = []
    reasons = [Stop.MAX_STEPS, Stop.MAX_STEPS, Stop.TOLERANCE]
    whole = follow(problem(), SCHEDULE, Adding(reasons), START, on_stage=states.append)
    assert [state.stage for state in states] == [1, 2, 3]
    for state in states:
        resumed = follow(problem(), SCHEDULE, Adding(reasons), state)
        np.testing.assert_array_equal(resumed.weights, whole.weights)
        assert resumed.trace == whole.trace
        assert resumed.n_steps == whole.n_steps
