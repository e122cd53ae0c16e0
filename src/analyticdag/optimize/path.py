"""Algorithm 2: follow the path of minimisers while mu and s shrink.

    for each stage of the schedule:
        weights = minimiser.minimise(problem, weights, stage)     # a warm start from the last stage

What happens inside a stage goes to the logger at level DEBUG; `verbose` reports its end, at INFO.

The paper's method is `Schedule.paper()` times `Adam()`; another minimiser of the same stages is any
object with the one method of `Minimiser`. What else the library asks of it, its `traits`, has
defaults.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias

from analyticdag._parameters import shown
from analyticdag._threads import one_blas_thread
from analyticdag._typing import Array
from analyticdag.errors import ParameterError
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import STATUS_OF_STOP, Status, Trace, TraceRecord
from analyticdag.progress import StageBegins, StageEnds

logger = logging.getLogger(__name__)

# Starts of a path that have a name: W = 0, and parents sorted by variance.
STARTS = ("zero", "variance")


@dataclass(frozen=True, eq=False)
class StageResult:
    """What a minimiser returns: weights, records (the last says why it stopped), steps taken."""

    weights: Array
    records: tuple[TraceRecord, ...]
    n_steps: int


class Minimiser(Protocol):
    """Solves one stage from a warm start."""

    def minimise(self, problem: Any, W: Array, stage: Stage, number: int) -> StageResult:
        """Return the weights at which stage `number` was left; W itself is not changed.

        `problem` is what the path was begun with: a `Problem`, or that of a network.
        """
        ...


Objection: TypeAlias = Callable[[AnalyticFunction | Truncated], str | None]


def no_objection(function: AnalyticFunction | Truncated) -> str | None:
    """Take every function."""
    return None


@dataclass(frozen=True)
class Traits:
    """What a minimiser says about itself; one without traits has these defaults.

    What a user may choose are attributes of the minimiser itself, if it has them: `schedule` and
    `start`, which stand before these, `device` and `dtype`.

    Parameters
    ----------
    schedule : the stages of its path where the user gives none.
    start : where its path begins by default.
    any_array : whether it takes every kind of array, precision and device; else NumPy's doubles.
    any_loss : whether it takes every loss; else only those that are least squares once noise
        variances are given (`LossTraits.variances`).
    objection : asked about the constraint's function: what speaks against it, or None.
    """

    schedule: Schedule = field(default_factory=Schedule.paper)
    start: Literal["zero", "variance"] = "zero"
    any_array: bool = False
    any_loss: bool = True
    objection: Objection = no_objection


def is_minimiser(candidate: Any) -> bool:
    """Whether this object (not its class) has a method `minimise`."""
    return callable(getattr(candidate, "minimise", None)) and not isinstance(candidate, type)


def traits_of(minimiser: Minimiser) -> Traits:
    """Return what the minimiser says about itself, or the defaults."""
    return getattr(minimiser, "traits", Traits())


def schedule_of(minimiser: Minimiser) -> Schedule:
    """Return the stages of its path: its own, or the default of its kind."""
    given: Schedule | None = getattr(minimiser, "schedule", None)
    return traits_of(minimiser).schedule if given is None else given


def start_of(minimiser: Minimiser) -> Any:
    """Return where its path begins, a name or weights: its own, or the default of its kind."""
    given = getattr(minimiser, "start", None)
    return traits_of(minimiser).start if given is None else given


def check_path(schedule: Any, start: Any) -> None:
    """Refuse what is no schedule, and a name that no start has; None is the default of a solver."""
    if not isinstance(schedule, Schedule | None):
        raise ParameterError(f"schedule must be a Schedule or None, not {type(schedule).__name__}")
    if isinstance(start, str) and start not in STARTS:
        raise ParameterError(f"start must be one of {STARTS} or weights, not {start!r}")


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
    problem: Any,
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
    state = replace(start, weights=problem.masked(start.weights))
    for stage in schedule.stages[start.stage :]:
        if state.trace.records and state.status is Status.DIVERGED:
            break  # warm-starting from NaN would hide where it went wrong
        logger.debug(StageBegins(state.stage + 1, len(schedule.stages)))
        with one_blas_thread():
            result = minimiser.minimise(problem, state.weights, stage, state.stage)
        if not isinstance(result, StageResult):
            raise ParameterError(
                f"minimise of solver {type(minimiser).__name__} must return a StageResult, not "
                f"{shown(result)}"
            )
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
        StageEnds(
            stage=last.stage + 1,
            n_stages=n_stages,
            mu=last.mu,
            s=last.s_used,
            objective=last.objective,
            h=last.h,
            n_steps=result.n_steps,
            reason=last.reason.value if last.reason else "still running",
        )
    )
