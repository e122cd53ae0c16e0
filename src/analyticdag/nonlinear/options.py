"""The parameters of `NonlinearDAG`, checked before anything is trained.

`None` for a parameter means what the model was published with; a parameter that the chosen model
does not have is refused, never ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._parameters import (
    as_float,
    choice,
    file_name,
    number,
    seed_of,
    shown,
    verbosity,
    whole,
)
from analyticdag.errors import ParameterError
from analyticdag.functions import AnalyticFunction, Truncated, as_function
from analyticdag.knowledge import Knowledge, as_knowledge
from analyticdag.optimize.trace import Status

AUTO = "auto"  # as the variance: the data choose
VARIANCES = {"gran-dag": ("constant", "learned"), "mlp": ("equal", "constant")}
MODELS = tuple(VARIANCES)
# How the linear estimator calls the same assumptions, so that reports say the same of both.
LOSSES = {
    "equal": "likelihood-ev",
    "constant": "likelihood-nv",
    "learned": "likelihood-learned",
}
DTYPES = ("float64", "float32")
MANY_COLUMNS = 50  # from here on GraN-DAG selects neighbours first
LEVEL = 1e-3  # of the pruning tests
_LAMBDA1, _THRESHOLD = 0.01, 0.1  # with pruning to follow; DAGMA's package has 0.02 and 0.3
_NOT_FINITE = "the objective became infinite or NaN; look for outliers in X, or use dtype='float64'"
# What to do about a fit that did not converge, in terms of the parameters each model has.
ADVICE = {
    ("gran-dag", Status.MAX_STEPS): "all steps were used before the graph was acyclic and the "
    "held-out rows stopped gaining; raise max_steps",
    ("mlp", Status.MAX_STEPS): "the last stage used all its steps while the objective was still "
    "changing; raise max_steps",
    ("gran-dag", Status.DIVERGED): _NOT_FINITE,
    ("mlp", Status.DIVERGED): f"{_NOT_FINITE}, or raise lambda1",
    ("gran-dag", Status.CYCLES_LEFT): "training ended with a cycle, so the weakest edges on cycles "
    "were dropped (see removed_edges_); raise max_steps",
    ("mlp", Status.CYCLES_LEFT): "the last stage left a cycle, so the weakest edges on cycles were "
    "dropped (see removed_edges_); raise lambda1 or w_threshold, or use refine=True",
    ("mlp", Status.STEP_VANISHED): "no step lowered the objective, at the limit of the precision "
    "or at the edge of the constraint's domain; use dtype='float64', or raise lambda1",
}
_STEPS = {"gran-dag": 100_000, "mlp": 5_000}


@dataclass(frozen=True, eq=False)
class NetworkOptions:
    """What was asked for, in the form the fit uses; `level` None means no pruning.

    `variance` is AUTO until the data have chosen.
    """

    model: str
    function: AnalyticFunction | Truncated
    variance: str
    hidden_units: int
    lambda1: float
    w_threshold: float
    neighbours: bool
    refine: bool
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
    def of(cls, estimator: Any, n_features: int) -> NetworkOptions:
        """Check every parameter of a NonlinearDAG that is to learn from `n_features` columns."""
        _check_choices(estimator)
        model, many = estimator.model, n_features >= MANY_COLUMNS
        return cls(
            model=model,
            function=as_function(estimator.constraint),
            variance=_variance(model, estimator.variance),
            hidden_units=_count("hidden_units", estimator.hidden_units, 10),
            lambda1=_number("lambda1", estimator.lambda1, _LAMBDA1),
            w_threshold=_number("w_threshold", estimator.w_threshold, _THRESHOLD),
            neighbours=_flag("neighbours", estimator.neighbours, many and model == "gran-dag"),
            refine=_flag("refine", estimator.refine, model == "mlp"),
            level=_level(estimator.pruning),
            max_steps=_count("max_steps", estimator.max_steps, _STEPS[model]),
            knowledge=as_knowledge(estimator.knowledge),
            dtype=estimator.dtype,
            device="auto" if estimator.device is None else str(estimator.device),
            seed=seed_of(estimator.random_state),
            verbose=verbosity(estimator.verbose),
            checkpoint=file_name("checkpoint", estimator.checkpoint),
        )


def _check_choices(estimator: Any) -> None:
    choice("model", estimator.model, MODELS)
    choice("dtype", estimator.dtype, DTYPES)
    if estimator.model == "gran-dag":
        for name in ("lambda1", "w_threshold"):
            if getattr(estimator, name) is not None:
                raise ParameterError(
                    f"{name} belongs to model='mlp', and gran-dag has no such penalty or "
                    f"threshold; leave {name}=None, or use pruning to get fewer edges"
                )


def _variance(model: str, variance: Any) -> str:
    if variance is None:
        return VARIANCES[model][0]
    choices = (AUTO, *VARIANCES[model])
    if not isinstance(variance, str) or variance not in choices:
        raise ParameterError(
            f"variance must be one of {choices} for model={model!r}, not {variance!r}"
        )
    return variance


def _level(pruning: Any) -> float | None:
    """Return the level of the pruning tests: True means the published one."""
    if isinstance(pruning, bool):
        return LEVEL if pruning else None
    if not isinstance(pruning, Real) or not 0.0 < as_float(pruning) <= 1.0:
        raise ParameterError(
            "pruning must be True, False for no pruning, or a level above 0 and at most 1, "
            f"not {shown(pruning)}"
        )
    return float(pruning)


def _flag(name: str, value: Any, default: bool) -> bool:
    if value is not None and not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True, False or None, not {shown(value)}")
    return default if value is None else bool(value)


def _count(name: str, value: Any, default: int) -> int:
    return default if value is None else whole(name, value, 1)


def _number(name: str, value: Any, default: float) -> float:
    return default if value is None else number(name, value)
