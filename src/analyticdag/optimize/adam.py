"""The paper's minimiser: Adam on the stage objective, one evaluation of the constraint a step.

    minimise:  repeat                                        (once, or as often as DAGMA restarts)
                   descend:  repeat
                                 gradient of mu·[loss + lambda1·‖W‖₁] + h
                                 Adam step
                             until the objective stalls, checked every `check_every` steps

What to do when W leaves the domain of the constraint is a choice, `on_leaving`:

* "reset", Algorithm 1: evaluate that step with s reset to ρ(A) + 0.1·order, and go on (for orders
  two and above already next to the edge, see `algorithm1.py`);
* "restart", DAGMA: halve the step until W is inside again, or, at small s and at the first step,
  start the stage anew with s raised by 0.1 and half the learning rate.

Everything in the loop is of the array kind of W and stays on its device. The constraint's own
domain test is the one thing that a step must know on the host; all else is read at check points.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from array_api_compat import array_namespace

from analyticdag._arrays import quiet
from analyticdag._parameters import choice, shown, whole
from analyticdag._typing import Array, FloatArray
from analyticdag.algorithm1 import OUTSIDE, SHORT_SERIES
from analyticdag.errors import DataError, OutsideDomainError, ParameterError
from analyticdag.optimize.path import StageResult, Traits, check_path
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.push import Push, push_of
from analyticdag.optimize.schedule import Schedule, Stage, check_positive
from analyticdag.optimize.trace import Stop, TraceRecord
from analyticdag.optimize.update import update_of
from analyticdag.progress import Step

logger = logging.getLogger(__name__)

# DAGMA's constants: below this s a stage is restarted, by this much s is raised, and a learning
# rate this small means that no step is left.
_RESTART_BELOW = 0.9
_RAISE = 0.1
_NO_STEP = 1e-16


@dataclass(frozen=True)
class Adam:
    """Adam with the paper's settings.

    Parameters
    ----------
    learning_rate, betas : as published: 3e-4, and 0.99 / 0.999.
    check_every : steps between two looks at the objective.
    on_leaving : "reset" (Algorithm 1) or "restart" (DAGMA).
    proximal : take the l1 penalty as a proximal step, which gives exact zeros; a subgradient
        never does.
    record_every : also record the state every so many steps; None for the ends of stages only.
    schedule : the stages of the path; None for `Schedule.paper()`.
    start : where the path begins: "zero" (None too), "variance" (parents among columns of smaller
        variance), or weights like `weights_`, of an earlier fit for instance.
    device : None or "cpu" for NumPy, "cuda" or another Torch device.
    dtype : None or "float64", or "float32".
    """

    learning_rate: float = 3e-4
    betas: tuple[float, float] = (0.99, 0.999)
    check_every: int = 1000
    on_leaving: Literal["reset", "restart"] = "reset"
    proximal: bool = False
    record_every: int | None = None
    schedule: Schedule | None = None
    start: str | FloatArray | None = field(default=None, compare=False)
    device: str | None = None
    dtype: str | None = None

    traits: ClassVar[Traits] = Traits(any_array=True)

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        match self.betas:
            case (int() | float() as first, int() | float() as second):
                inside = 0 <= first < 1 and 0 <= second < 1
            case _:
                inside = False
        if not inside:
            raise ParameterError(f"betas must be two numbers in [0, 1), not {self.betas!r}")
        whole("check_every", self.check_every, 1)
        if self.record_every is not None:
            whole("record_every", self.record_every, 1)
        check_path(self.schedule, self.start)
        choice("dtype", self.dtype, (None, "float64", "float32"))
        if not isinstance(self.device, str | None):
            raise ParameterError(
                f"device must be a name such as 'cpu' or 'cuda', or None, not {shown(self.device)}"
            )
        choice("on_leaving", self.on_leaving, ("reset", "restart"))

    def minimise(self, problem: Problem, W: Array, stage: Stage, number: int) -> StageResult:
        """Solve one stage from W."""
        with quiet():  # a run that overflows is stopped and says so
            if self.on_leaving == "restart":
                return self._minimise_with_restarts(problem, W, stage, number)
            descent = _Descent(self, problem, W, stage, number)
            descent.run(push_of(problem.constraint(stage.s), W, SHORT_SERIES))
            return descent.result()

    def _minimise_with_restarts(
        self, problem: Problem, W: Array, stage: Stage, number: int
    ) -> StageResult:
        """DAGMA's way: from W again, with a larger domain and a smaller step, until it fits."""
        settings, n_wasted = self, 0
        while True:
            descent = _Descent(settings, problem, W, stage, number)
            if descent.run(push_of(problem.constraint(stage.s), W, None)):
                return descent.result(n_wasted)
            n_wasted += descent.step
            settings = replace(settings, learning_rate=settings.learning_rate / 2.0)
            stage = replace(stage, s=stage.s + _RAISE)


class _Descent:
    """One run of Adam through a stage: the state that its steps share."""

    def __init__(
        self, settings: Adam, problem: Problem, W: Array, stage: Stage, number: int
    ) -> None:
        self.settings, self.problem, self.stage, self.number = settings, problem, stage, number
        self.W, self.origin, self.step = W, W, 0
        self.learning_rate = settings.learning_rate
        mu_allowed = problem.masked(stage.mu * array_namespace(W).ones_like(W))
        self.update = update_of(W, problem.prices(W), mu_allowed, settings.betas, settings.proximal)
        self.records: list[TraceRecord] = []

    def run(self, push: Push) -> bool:
        """Step until there is a reason to stop; False when the stage has to be restarted."""
        previous = math.inf
        while True:
            try:
                self._advance(push)
            except OutsideDomainError:
                if self.step == 0 or self.stage.s <= _RESTART_BELOW:
                    return False
                if not self._shorten():
                    self.records.append(self._record(Stop.NO_STEP_LEFT))
                    return True
                continue
            except (DataError, ArithmeticError):  # the weights are too large for the arithmetic
                self.W = self.origin
                self.records.append(self._record(Stop.NOT_FINITE))
                return True
            if self.step % self.settings.check_every == 0 or self.step == self.stage.max_steps:
                record = self._record()
                self._report(record)
                reason = self._reason_to_stop(previous, record.objective)
                if reason is not None:
                    self.records.append(replace(record, reason=reason))
                    return True
                previous = record.objective
            if self.settings.record_every and self.step % self.settings.record_every == 0:
                self.records.append(self._record())

    def result(self, n_wasted: int = 0) -> StageResult:
        """Return where the run ended; `n_wasted` steps of abandoned runs are counted too."""
        return StageResult(self.W, tuple(self.records), n_wasted + self.step)

    def _advance(self, push: Push) -> None:
        """Take one Adam step, by the gradients of the constraint and of the loss."""
        pushed = push(self.W)
        G = self.problem.loss.gradient(self.W)
        self.step += 1
        self.origin = self.W
        self.W = self.update.advance(self.W, G, pushed, self.learning_rate)

    def _shorten(self) -> bool:
        """Repeat the last step half as long; False when nothing is left of it."""
        self.learning_rate /= 2.0
        if self.learning_rate <= _NO_STEP:
            self.W = self.origin
            return False
        self.W = self.update.move(self.origin, self.learning_rate)
        return True

    def _reason_to_stop(self, previous: float, objective: float) -> Stop | None:
        if not math.isfinite(objective):
            return Stop.NOT_FINITE
        if math.isfinite(previous) and abs(previous - objective) <= self.stage.tol * abs(previous):
            return Stop.TOLERANCE
        return Stop.MAX_STEPS if self.step >= self.stage.max_steps else None

    def _report(self, record: TraceRecord) -> None:
        logger.debug(
            Step("step", self.step, self.stage.max_steps, record.objective, float(record.h))
        )

    def _record(self, reason: Stop | None = None) -> TraceRecord:
        rule = SHORT_SERIES if self.settings.on_leaving == "reset" else OUTSIDE
        return self.problem.record(self.W, self.stage, self.number, self.step, reason, rule)
