"""Algorithm 2: follow the path of minimisers while mu and s shrink.

    for each stage of the schedule:
        weights = minimiser.minimise(problem, weights, stage)     # a warm start from the last stage

The paper's method is `Schedule.paper()` times `Adam()`; another minimiser of the same stages is a
class with the one method of `Minimiser`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

from analyticdag._typing import Array
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import STATUS_OF_STOP, Status, Stop, Trace, TraceRecord

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class StageResult:
    """What a minimiser returns: weights, records (the last says why it stopped), steps taken."""

    weights: Array
    records: tuple[TraceRecord, ...]
    n_steps: int


class Minimiser(Protocol):
    """Solves one stage from a warm start."""

    def minimise(self, problem: Problem, W: Array, stage: Stage, number: int) -> StageResult:
        """Return the weights at which stage `number` was left; W itself is not changed."""
        ...


@dataclass(frozen=True, eq=False)
class PathResult:
    """The end of a path: its weights, what happened, and whether it may be called a success."""

    weights: Array
    trace: Trace
    status: Status
    n_steps: int


def follow(
    problem: Problem, schedule: Schedule, minimiser: Minimiser, start: Array, *, verbose: int = 0
) -> PathResult:
    """Run the minimiser through the stages of the schedule, from `start`."""
    weights, trace, n_steps = start * problem.allowed, Trace(), 0
    for number, stage in enumerate(schedule.stages):
        result = minimiser.minimise(problem, weights, stage, number)
        weights, n_steps = result.weights, n_steps + result.n_steps
        trace = trace.extended(result.records)
        last = result.records[-1]
        if verbose:
            logger.info(
                "stage %d of %d: mu=%g s=%g objective=%.6g h=%.3g after %d steps: %s",
                number + 1,
                len(schedule.stages),
                stage.mu,
                last.s_used,
                last.objective,
                last.h,
                result.n_steps,
                last.reason.value if last.reason else "",
            )
        if last.reason is Stop.NOT_FINITE:
            break  # warm-starting from NaN would hide where it went wrong
    reason = trace.records[-1].reason
    status = Status.DIVERGED if reason is None else STATUS_OF_STOP[reason]
    return PathResult(weights, trace, status, n_steps)
