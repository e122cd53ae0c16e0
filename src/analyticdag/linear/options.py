"""The estimator's parameters, checked before the first iteration.

`Options.of(estimator)` reads them; a value that cannot be used, or a combination that makes no
sense, is refused with the reason. Nothing is swapped for something else.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from analyticdag.errors import ParameterError
from analyticdag.functions import AnalyticFunction, Truncated, as_function
from analyticdag.knowledge import Knowledge
from analyticdag.losses import COVARIANCE_LOSSES
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.schedule import Schedule

LOSSES = (*COVARIANCE_LOSSES, "logistic")
# Losses that read the scale of the columns: on standardised data they have nothing to go by.
SCALE_LOSSES = ("mse", "likelihood-ev")


@dataclass(frozen=True, eq=False)
class Options:
    """What was asked for, in the form the fit uses."""

    loss: str
    function: AnalyticFunction | Truncated
    lambda1: float
    w_threshold: float
    minimiser: Adam
    schedule: Schedule
    knowledge: Knowledge
    candidates: Any
    standardize: bool
    verbose: int
    checkpoint: Path | None

    @classmethod
    def of(cls, estimator: Any) -> Options:
        """Check every parameter of an AnalyticDAG."""
        _check_choices(estimator)
        _check_combination(estimator)
        knowledge = Knowledge() if estimator.knowledge is None else estimator.knowledge
        schedule = Schedule.paper() if estimator.schedule is None else estimator.schedule
        _check_type("knowledge", knowledge, Knowledge)
        _check_type("schedule", schedule, Schedule)
        return cls(
            loss=estimator.loss,
            function=as_function(estimator.constraint),
            lambda1=_at_least_zero("lambda1", estimator.lambda1),
            w_threshold=_at_least_zero("w_threshold", estimator.w_threshold),
            minimiser=estimator.solver if isinstance(estimator.solver, Adam) else Adam(),
            schedule=schedule,
            knowledge=knowledge,
            candidates=estimator.candidates,
            standardize=bool(estimator.standardize),
            verbose=int(estimator.verbose),
            checkpoint=None if estimator.checkpoint is None else Path(estimator.checkpoint),
        )


def _check_choices(estimator: Any) -> None:
    if estimator.loss == "auto":
        raise ParameterError(f"loss='auto' is not available in this version; use one of {LOSSES}")
    if estimator.loss not in LOSSES:
        raise ParameterError(f"loss must be one of {LOSSES}, not {estimator.loss!r}")
    if estimator.solver in ("fast", "order"):
        raise ParameterError(
            f"solver={estimator.solver!r} is not available in this version; use 'adam'"
        )
    if estimator.solver != "adam" and not isinstance(estimator.solver, Adam):
        raise ParameterError(f"solver must be 'adam' or an Adam(...), not {estimator.solver!r}")
    if estimator.refine:
        raise ParameterError("refine=True is not available in this version; use refine=False")
    if not isinstance(estimator.checkpoint, str | os.PathLike | None):
        raise ParameterError(
            f"checkpoint must be the name of a file or None, not {estimator.checkpoint!r}"
        )


def _check_combination(estimator: Any) -> None:
    if estimator.loss == "logistic" and estimator.standardize:
        raise ParameterError(
            "loss='logistic' needs 0/1 data, which standardize=True would undo; drop one of them"
        )


def _check_type(name: str, value: Any, expected: type) -> None:
    if not isinstance(value, expected):
        raise ParameterError(
            f"{name} must be a {expected.__name__} or None, not {type(value).__name__}"
        )


def _at_least_zero(name: str, value: Any) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf:
        raise ParameterError(f"{name} must be a number of at least 0, not {value!r}")
    return float(value)
