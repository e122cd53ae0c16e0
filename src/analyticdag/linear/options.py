"""The estimator's parameters, checked before the first iteration.

`Options.of(estimator)` reads them; a value that cannot be used, or a combination that makes no
sense, is refused with the reason. Nothing is swapped for something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from analyticdag._parameters import (
    choice,
    file_name,
    flag,
    number,
    seed_of,
    shown,
    verbosity,
)
from analyticdag.errors import ParameterError
from analyticdag.functions import AnalyticFunction, Truncated, as_function
from analyticdag.knowledge import Knowledge
from analyticdag.linear.starts import Start
from analyticdag.losses import COVARIANCE_LOSSES
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.exact import Columns
from analyticdag.optimize.path import Minimiser, Traits, is_minimiser, traits_of
from analyticdag.optimize.schedule import Schedule

LOSSES = ("auto", *COVARIANCE_LOSSES, "logistic")
# Losses that read the scale of the columns: on standardised data they have nothing to go by.
SCALE_LOSSES = ("mse", "likelihood-ev")
SOLVERS = ("auto", "fast", "adam", "order")
# What lambda1 and w_threshold are where the data are asked to choose, and nothing depends on it.
_UNUSED = {"lambda1": 0.05, "w_threshold": 0.3}
# Names that lambda1 takes instead of a number, and the criterion each stands for.
CRITERIA = {"auto": "ebic", "ebic": "ebic", "cv": "cv", "stars": "stars"}


@dataclass(frozen=True, eq=False)
class Options:
    """What was asked for, in the form the fit uses; no minimiser means no path."""

    loss: str
    function: AnalyticFunction | Truncated
    lambda1: float
    w_threshold: float
    criterion: str | None  # how lambda1 is to be chosen
    choose_threshold: bool
    minimiser: Minimiser | None
    auto: bool  # the path joins only where it can matter
    gamma: float | None  # None: by the rule
    refine: bool
    schedule: Schedule
    start: Start
    knowledge: Knowledge
    candidates: Any
    standardize: bool
    seed: int
    n_jobs: int | None
    verbose: int
    checkpoint: Path | None

    @property
    def to_choose(self) -> bool:
        """Whether lambda or the threshold are left to the data."""
        return self.criterion is not None or self.choose_threshold

    def check_interventions(self) -> None:
        """Refuse what cannot tell the rows of one column from those of another."""
        if not self.refine:
            raise ParameterError(
                "with interventions every column has rows of its own, but a path sees one "
                "covariance for all; use refine=True, which lets the path be a start only"
            )
        if isinstance(self.candidates, str):
            raise ParameterError(
                f"candidates={self.candidates!r} takes all rows for undisturbed; with "
                "interventions give a mask or None"
            )

    @classmethod
    def of(cls, estimator: Any) -> Options:
        """Check every parameter of an AnalyticDAG."""
        _check_choices(estimator)
        _check_kinds(estimator)
        _check_combination(estimator)
        _check_selection(estimator)
        knowledge = Knowledge() if estimator.knowledge is None else estimator.knowledge
        minimiser = _minimiser(estimator.solver)
        schedule = preset_schedule(minimiser) if estimator.schedule is None else estimator.schedule
        check_type("knowledge", knowledge, Knowledge)
        check_type("schedule", schedule, Schedule)
        function = as_function(estimator.constraint)
        _check_function(minimiser, function)
        return cls(
            loss=estimator.loss,
            function=function,
            lambda1=_number("lambda1", estimator.lambda1, list(CRITERIA)),
            w_threshold=_number("w_threshold", estimator.w_threshold, ["auto"]),
            # The search decides about edges: what it ignores is not worth choosing.
            criterion=None if estimator.refine else _criterion(estimator.lambda1),
            choose_threshold=_is_text(estimator.w_threshold) and not estimator.refine,
            minimiser=minimiser,
            auto=_is_text(estimator.solver) and estimator.solver == "auto",
            gamma=_gamma(estimator.gamma),
            refine=bool(estimator.refine),
            schedule=schedule,
            start=Start.of(estimator.start, _default_start(minimiser)),
            knowledge=knowledge,
            candidates=estimator.candidates,
            standardize=bool(estimator.standardize),
            seed=seed_of(estimator.random_state),
            n_jobs=_jobs(estimator.n_jobs),
            verbose=verbosity(estimator.verbose),
            checkpoint=file_name("checkpoint", estimator.checkpoint),
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _number(name: str, value: Any, words: list[str]) -> float:
    """Return the default for a value that the data are asked to choose."""
    if _is_text(value) and value in words:
        return _UNUSED[name]
    return number(name, value, instead=f" or one of {words}")


def _criterion(lambda1: Any) -> str | None:
    return CRITERIA.get(lambda1) if _is_text(lambda1) else None


def _gamma(gamma: Any) -> float | None:
    if gamma is None or (_is_text(gamma) and gamma == "auto"):
        return None
    return number("gamma", gamma, instead=" or 'auto'")


def _minimiser(solver: Any) -> Minimiser | None:
    if not isinstance(solver, str):
        given: Minimiser | None = solver
        return given
    named: dict[str, Minimiser | None] = {
        "auto": Columns(),
        "adam": Adam(),
        "fast": Columns(),
        "order": None,
    }
    return named[solver]


def preset_schedule(solver: Any) -> Schedule:
    """Return the stages that a solver, by its name or as a minimiser, gets by default."""
    minimiser = _minimiser(solver)
    return Schedule.gentle() if minimiser is None else traits_of(minimiser).schedule


def _default_start(minimiser: Minimiser | None) -> str | None:
    return None if minimiser is None else traits_of(minimiser).start


def _check_function(minimiser: Minimiser | None, function: AnalyticFunction | Truncated) -> None:
    against = None if minimiser is None else traits_of(minimiser).objection(function)
    if against is not None:
        raise ParameterError(against)


def _jobs(n_jobs: Any) -> int | None:
    is_count = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_count or n_jobs == 0 or abs(n_jobs) > 2**31):
        raise ParameterError(
            "n_jobs must be a number of threads, -1 for all processors, or None for as many as "
            f"BLAS may use, not {shown(n_jobs)}"
        )
    return None if n_jobs is None else int(n_jobs)


def _check_choices(estimator: Any) -> None:
    choice("loss", estimator.loss, LOSSES)
    named = isinstance(estimator.solver, str) and estimator.solver in SOLVERS
    if not named and not is_minimiser(estimator.solver):
        raise ParameterError(
            f"solver must be one of {SOLVERS}, an Adam(...) or a Columns(...), "
            f"or another object with a method 'minimise', not {shown(estimator.solver)}"
        )


def _check_kinds(estimator: Any) -> None:
    flag("refine", estimator.refine)
    flag("standardize", estimator.standardize)
    choice("dtype", estimator.dtype, (None, "float64", "float32"))
    if not isinstance(estimator.device, str | None):
        raise ParameterError(
            f"device must be a name such as 'cpu' or 'cuda', or None, not {shown(estimator.device)}"
        )


def _check_selection(estimator: Any) -> None:
    for name in ("lambda1", "w_threshold"):
        if not _is_text(getattr(estimator, name)):
            continue
        if estimator.loss == "logistic":
            raise ParameterError(
                f"{name}='auto' compares Gaussian likelihoods; give a number with loss='logistic'"
            )


def _check_combination(estimator: Any) -> None:
    on_cpu = estimator.device in (None, "cpu") and estimator.dtype in (None, "float64")
    minimiser = _minimiser(estimator.solver)
    able = Traits(any_loss=False) if minimiser is None else traits_of(minimiser)
    if estimator.solver == "order" and not estimator.refine:
        raise ParameterError(
            "solver='order' is the order search itself, and refine=False would leave nothing to "
            "do; use refine=True, or solver='fast' for the path alone"
        )
    if estimator.solver == "order" and estimator.checkpoint is not None:
        raise ParameterError(
            "checkpoint keeps the state of a path, and solver='order' has none; use checkpoint=None"
        )
    if not able.any_array and not on_cpu:
        raise ParameterError(
            "device and dtype are choices of the Adam path; the compiled solvers run on the CPU "
            "in double precision: use solver='adam', or leave both at None"
        )
    if estimator.loss != "logistic":
        return
    if estimator.refine:
        raise ParameterError(
            "loss='logistic' cannot be refined: the order search scores Gaussian noise; use "
            "refine=False"
        )
    if not able.any_loss:
        raise ParameterError(
            "loss='logistic' needs the rows at every step, and only Adam works with rows; use "
            "solver='adam'"
        )
    if estimator.standardize:
        raise ParameterError(
            "loss='logistic' needs 0/1 data, which standardize=True would undo; drop one of them"
        )


def check_type(name: str, value: Any, expected: type) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, expected):
        raise ParameterError(
            f"{name} must be a {expected.__name__} or None, not {type(value).__name__}"
        )
