"""The parameters of `NonlinearDAG`, checked before anything is trained.

`None` for a parameter means what the model was published with; a parameter that the chosen model
does not have is refused, never ignored.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from analyticdag.errors import ParameterError
from analyticdag.functions import AnalyticFunction, Truncated, as_function
from analyticdag.knowledge import Knowledge
from analyticdag.linear.options import check_type, seed_of

VARIANCES = {"gran-dag": ("constant", "learned"), "mlp": ("equal", "constant")}
MODELS = tuple(VARIANCES)
DTYPES = ("float64", "float32")
MANY_COLUMNS = 50  # from here on GraN-DAG selects neighbours first
LEVEL = 1e-3  # of the pruning tests
_LAMBDA1, _THRESHOLD = 0.01, 0.1  # with pruning to follow; DAGMA's package has 0.02 and 0.3
_STEPS = {"gran-dag": 100_000, "mlp": 5_000}


@dataclass(frozen=True, eq=False)
class Options:
    """What was asked for, in the form the fit uses; `level` None means no pruning."""

    model: str
    function: AnalyticFunction | Truncated
    variance: str
    hidden_units: int
    lambda1: float
    w_threshold: float
    neighbours: bool
    level: float | None
    max_steps: int
    knowledge: Knowledge
    dtype: str
    device: str
    seed: int
    verbose: int
    checkpoint: Path | None

    @property
    def standardises(self) -> bool:
        """Whether columns are scaled first: always, unless the scales are the point."""
        return self.variance != "equal"

    @classmethod
    def of(cls, estimator: Any, n_features: int) -> Options:
        """Check every parameter of a NonlinearDAG that is to learn from `n_features` columns."""
        _check_choices(estimator)
        model, many = estimator.model, n_features >= MANY_COLUMNS
        knowledge = Knowledge() if estimator.knowledge is None else estimator.knowledge
        check_type("knowledge", knowledge, Knowledge)
        return cls(
            model=model,
            function=as_function(estimator.constraint),
            variance=_variance(model, estimator.variance),
            hidden_units=_count("hidden_units", estimator.hidden_units, 10),
            lambda1=_number("lambda1", estimator.lambda1, _LAMBDA1, math.inf),
            w_threshold=_number("w_threshold", estimator.w_threshold, _THRESHOLD, math.inf),
            neighbours=_flag("neighbours", estimator.neighbours, many and model == "gran-dag"),
            level=_level(estimator.pruning),
            max_steps=_count("max_steps", estimator.max_steps, _STEPS[model]),
            knowledge=knowledge,
            dtype=estimator.dtype,
            device=str(estimator.device),
            seed=seed_of(estimator.random_state),
            verbose=int(estimator.verbose),
            checkpoint=None if estimator.checkpoint is None else Path(estimator.checkpoint),
        )


def _check_choices(estimator: Any) -> None:
    for name, choices in (("model", MODELS), ("dtype", DTYPES)):
        if getattr(estimator, name) not in choices:
            raise ParameterError(
                f"{name} must be one of {choices}, not {getattr(estimator, name)!r}"
            )
    if estimator.model == "gran-dag":
        for name in ("lambda1", "w_threshold"):
            if getattr(estimator, name) is not None:
                raise ParameterError(
                    f"{name} belongs to model='mlp', and gran-dag has no such penalty or "
                    f"threshold; leave {name}=None, or use pruning to get fewer edges"
                )
    if not isinstance(estimator.checkpoint, str | os.PathLike | None):
        raise ParameterError(
            f"checkpoint must be the name of a file or None, not {estimator.checkpoint!r}"
        )


def _variance(model: str, variance: Any) -> str:
    if variance is None:
        return VARIANCES[model][0]
    if variance not in VARIANCES[model]:
        raise ParameterError(
            f"variance must be one of {VARIANCES[model]} for model={model!r}, not {variance!r}"
        )
    return str(variance)


def _level(pruning: Any) -> float | None:
    """Return the level of the pruning tests: True means the published one."""
    if isinstance(pruning, bool):
        return LEVEL if pruning else None
    return _number("pruning", pruning, LEVEL, 1.0)


def _flag(name: str, value: Any, default: bool) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ParameterError(f"{name} must be True, False or None, not {value!r}")
    return default if value is None else value


def _count(name: str, value: Any, default: int) -> int:
    if value is None:
        return default
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)


def _number(name: str, value: Any, default: float, most: float) -> float:
    if value is None:
        return default
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value <= most or math.isinf(value):
        upper = "" if math.isinf(most) else f" and at most {most:g}"
        raise ParameterError(f"{name} must be a number of at least 0{upper}, not {value!r}")
    return float(value)
