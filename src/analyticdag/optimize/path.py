"""Algorithm 2: follow the path of minimisers while mu and s shrink.

    for each stage of the schedule:
        weights = minimiser.minimise(problem, weights, stage)     # a warm start from the last stage

What happens inside a stage goes to the logger at level DEBUG; `verbose` reports its end, at INFO.

The paper's method is `Schedule.paper()` times `Adam()`; another minimiser of the same stages is a
class with the one method of `Minimiser`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from analyticdag._threads import one_blas_thread
from analyticdag._typing import Array
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import STATUS_OF_STOP, Status, Trace, TraceRecord

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
class PathState:
    """Where a path stands: `stage` is the number of the stage that comes next."""

    weights: Array
    trace: Trace = field(default_factory=Trace)
    n_steps: int = 0
    stage: int = 0

    @property
    def status(self) -> Status:
        """Whether the last stage may be called a success."""
        reason = self.trace.records[-1].reason if len(self.trace) else None
        return Status.DIVERGED if reason is None else STATUS_OF_STOP[reason]


def follow(
    problem: Problem,
    schedule: Schedule,
    minimiser: Minimiser,
    start: PathState,
    *,
    on_stage: Callable[[PathState], None] | None = None,
    verbose: int = 0,
) -> PathState:
    """Run the minimiser through the stages that `start` has not behind it.

    `on_stage` is called with the state after every stage.
    """
    state = replace(start, weights=start.weights * problem.allowed)
    for stage in schedule.stages[start.stage :]:
        if state.trace.records and state.status is Status.DIVERGED:
            break  # warm-starting from NaN would hide where it went wrong
        logger.debug("stage %d of %d begins", state.stage + 1, len(schedule.stages))
        with one_blas_thread():
            result = minimiser.minimise(problem, state.weights, stage, state.stage)
        state = PathState(
            weights=result.weights,
            trace=state.trace.extended(result.records),
            n_steps=state.n_steps + result.n_steps,
            stage=state.stage + 1,
        )
        if verbose:
            _report(result, len(schedule.stages))
        if on_stage is not None:
            on_stage(state)
    return state


def _report(result: StageResult, n_stages: int) -> None:
    last = result.records[-1]
    logger.info(
        "stage %d of %d: mu=%g s=%g objective=%.6g h=%.3g after %d steps: %s",
        last.stage + 1,
        n_stages,
        last.mu,
        last.s_used,
        last.objective,
        last.h,
        result.n_steps,
        last.reason.value if last.reason else "still running",
    )
