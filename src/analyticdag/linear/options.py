"""The estimator's parameters, checked before the first iteration.

`Options.of(estimator)` reads them; a value that cannot be used, or a combination that makes no
sense, is refused with the reason. Nothing is swapped for something else, and options do not change
once they are made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analyticdag._parameters import (
    choice,
    file_name,
    flag,
    jobs,
    number,
    seed_of,
    shown,
    verbosity,
    whole,
)
from analyticdag.errors import ParameterError
from analyticdag.extended_bic import edge_price
from analyticdag.functions import AnalyticFunction, Truncated, as_function
from analyticdag.knowledge import Knowledge, as_knowledge
from analyticdag.losses import LossClass, LossTraits, loss_class, loss_traits
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.columns import Columns
from analyticdag.optimize.path import Minimiser, is_minimiser, schedule_of, traits_of
from analyticdag.tables.gaps import MISSING_RULES

COVARIANCES = ("auto", "sample", "rank")

# What a solver is called, and how it follows a path, if it does.
SOLVERS: dict[str, type[Adam | Columns] | None] = {
    "auto": Columns,
    "fast": Columns,
    "adam": Adam,
    "order": None,
}
# What lambda1 is where nobody says: as first written, between the paper's 0.1 and the 0.03 of
# DAGMA's package; no trial of other values is on record. Log-odds are paid for by bits, of which a
# row has few: on tables of 0 and 1 with own seeds 0.01 to 0.02 had the fewest errors.
LAMBDA1, _LAMBDA1_BINARY = 0.05, 0.01
# Stand-ins while the data choose; nothing depends on them.
_UNUSED = {"lambda1": LAMBDA1, "w_threshold": 0.3}
# More than any data can pay for an edge, and its price is still a number.
_MOST_PRICE = 1e100
# Eight thousand further starts of the search: more than that is a mistake, and would not end.
_MOST_EFFORT = 1000.0
# Names that lambda1 takes instead of a number, and the criterion each stands for.
CRITERIA = {"auto": "ebic", "ebic": "ebic", "cv": "cv", "stars": "stars"}


@dataclass(frozen=True, eq=False)
class Options:
    """What was asked for, in the form the fit uses; no minimiser means no path."""

    loss: LossClass | None  # None: "auto", equal or unequal variances
    function: AnalyticFunction | Truncated
    lambda1: float
    w_threshold: float
    criterion: str | None  # how lambda1 is to be chosen
    choose_threshold: bool
    minimiser: Minimiser | None
    auto: bool  # the path joins only where it can matter
    gamma: float | None  # None: chosen by the data
    min_effect: float | None  # None: by the misfit of the rows
    effort: float
    refine: bool
    knowledge: Knowledge
    candidates: Any
    standardize: bool
    seed: int
    n_jobs: int | None
    verbose: int
    checkpoint: Path | None
    missing: str
    covariance: str

    @property
    def to_choose(self) -> bool:
        """Whether lambda or the threshold are left to the data."""
        return self.criterion is not None or self.choose_threshold

    def price(self, n_samples: int, n_nodes: int) -> float | None:
        """Return what an edge costs in the search, by `gamma`; None where the data choose."""
        return None if self.gamma is None else edge_price(n_samples, n_nodes, self.gamma)

    @property
    def traits(self) -> LossTraits:
        """What the loss says about itself; "auto" assumes nothing yet."""
        return LossTraits("auto") if self.loss is None else loss_traits(self.loss)

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

    def check_rows(self) -> None:
        """Refuse what needs rows, where there is only a covariance."""
        if self.covariance == "rank":
            raise ParameterError(
                "covariance='rank' is made from rows, and fit_covariance has none; use fit, or "
                "covariance='sample'"
            )

    def check_gaps(self) -> None:
        """Refuse what needs every cell of its rows, where some are missing."""
        if self.missing == "drop":
            return
        if self.needs_rows:
            raise ParameterError(
                f"{self.needs_rows} needs rows without gaps, and missing='em' has only their "
                "moments; use missing='drop' (--missing drop)"
            )

    def check_weights(self) -> None:
        """Refuse what takes every row for one."""
        wants = "covariance='rank'" if self.covariance == "rank" else self.needs_rows
        if wants:
            raise ParameterError(
                f"{wants} goes by single rows, which have no weights there; repeat the "
                "rows instead of sample_weight"
            )

    def check_batches(self) -> None:
        """Refuse what needs all rows at once, where they come batch by batch."""
        if self.needs_rows:
            raise ParameterError(
                f"{self.needs_rows} needs all rows at once, and batches are only added up; pass "
                "one table, or some of the rows"
            )
        if self.missing == "em":
            raise ParameterError(
                "missing='em' needs all rows at once, and batches are only added up; use "
                "missing='drop', or pass one table with some of the rows"
            )

    @property
    def needs_rows(self) -> str:
        """What was asked for that sums over the rows are not enough for; nothing if they are."""
        if self.criterion in ("cv", "stars"):
            return f"lambda1={self.criterion!r}"
        return f"loss={self.traits.name!r}" if self.traits.needs_rows else ""

    @classmethod
    def of(cls, estimator: Any) -> Options:
        """Check every parameter of an AnalyticDAG."""
        loss = None if _is_auto(estimator.loss) else loss_class(estimator.loss)
        binary = loss is not None and loss_traits(loss).binary
        # No score of the search goes with bits: there is nothing to refine.
        refine = flag("refine", estimator.refine) and not binary
        lambda1 = estimator.lambda1
        if lambda1 is None:
            lambda1 = _LAMBDA1_BINARY if binary else LAMBDA1
        auto = _is_auto(estimator.solver)
        options = cls(
            loss=loss,
            function=as_function(estimator.constraint),
            lambda1=_number("lambda1", lambda1, list(CRITERIA)),
            w_threshold=_number("w_threshold", estimator.w_threshold, ["auto"]),
            # The search decides about edges: what it ignores is not worth choosing.
            criterion=None if refine else _criterion(lambda1),
            choose_threshold=isinstance(estimator.w_threshold, str) and not refine,
            minimiser=_minimiser("adam" if auto and binary else estimator.solver),
            auto=auto and not binary,
            gamma=_gamma(estimator.gamma),
            min_effect=_min_effect(estimator.min_effect),
            effort=number("effort", estimator.effort, most=_MOST_EFFORT),
            refine=refine,
            knowledge=as_knowledge(estimator.knowledge),
            candidates=estimator.candidates,
            standardize=flag("standardize", estimator.standardize),
            seed=seed_of(estimator.random_state),
            n_jobs=jobs("threads", estimator.n_jobs, "as many as BLAS may use"),
            verbose=verbosity(estimator.verbose),
            checkpoint=file_name("checkpoint", estimator.checkpoint),
            missing=choice("missing", estimator.missing, MISSING_RULES),
            covariance=choice("covariance", estimator.covariance, COVARIANCES),
        )
        _check_loss(options)
        _check_solver(options)
        return options


def settled(estimator: Any) -> dict[str, Any]:
    """Return what parameters stood for that a fit left to the loss or to the data."""
    binary = estimator.loss_traits_.binary
    found: dict[str, Any] = {"covariance": estimator.covariance_}
    if estimator.lambda1 is None:
        found["lambda1"] = _LAMBDA1_BINARY if binary else LAMBDA1
    if not binary:
        return found
    is_auto = _is_auto(estimator.solver)
    return found | {"refine": False} | ({"solver": "adam"} if is_auto else {})


def solver_with(
    solver: str | Minimiser | None, *, max_steps: int | None = None, start: str | None = None
) -> str | Minimiser:
    """Return a solver with at most `max_steps` steps in every stage, and with another start."""
    if max_steps is None and start is None:
        return "auto" if solver is None else solver
    minimiser = _minimiser("auto" if solver is None else solver)
    if minimiser is None:
        raise ParameterError(
            f"solver={solver!r} follows no path, so it has no steps and no start; use 'fast'"
        )
    changes: dict[str, Any] = {} if start is None else {"start": start}
    if max_steps is not None:
        steps = whole("max_steps", max_steps, 1)
        changes["schedule"] = schedule_of(minimiser).with_steps(steps)
    return replace(minimiser, **changes)  # type: ignore[type-var]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _number(name: str, value: Any, words: list[str]) -> float:
    """Return a number, or the default for one that the data are asked to choose."""
    if isinstance(value, str) and value in words:
        return _UNUSED[name]
    return number(name, value, most=_MOST_PRICE, instead=f" or one of {words}")


def _criterion(lambda1: Any) -> str | None:
    return CRITERIA.get(lambda1) if isinstance(lambda1, str) else None


def _gamma(gamma: Any) -> float | None:
    if gamma is None or _is_auto(gamma):
        return None
    return number("gamma", gamma, most=_MOST_PRICE, instead=" or 'auto'")


def _min_effect(min_effect: Any) -> float | None:
    if _is_auto(min_effect):
        return None
    return number("min_effect", min_effect, 0.0, 0.99, instead=" or 'auto'")


def _minimiser(solver: Any) -> Minimiser | None:
    if isinstance(solver, str) and solver in SOLVERS:
        named = SOLVERS[solver]
        return None if named is None else named()
    if not is_minimiser(solver):
        raise ParameterError(
            f"solver must be one of {tuple(SOLVERS)}, an Adam(...) or a Columns(...), "
            f"or another object with a method 'minimise', not {shown(solver)}"
        )
    return solver


def _check_solver(options: Options) -> None:
    """Refuse what the solver cannot do."""
    if options.minimiser is not None:
        against = traits_of(options.minimiser).objection(options.function)
        if against is not None:
            raise ParameterError(against)
        return
    if not options.refine:
        raise ParameterError(
            "solver='order' is the order search itself, and refine=False would leave nothing to "
            "do; use refine=True, or solver='fast' for the path alone"
        )
    if options.checkpoint is not None:
        raise ParameterError(
            "checkpoint keeps the state of a path, and solver='order' has none; use checkpoint=None"
        )


def _any_loss(minimiser: Minimiser) -> bool:
    return traits_of(minimiser).any_loss


def _check_loss(options: Options) -> None:
    """Refuse what the loss cannot do."""
    if options.loss is None:
        return
    traits, minimiser = options.traits, options.minimiser
    if traits.binary and (minimiser is None or not _any_loss(minimiser)):
        raise ParameterError(
            f"loss={traits.name!r} is for the path of Adam: leave solver at 'auto', or use 'adam'; "
            "the default loss='auto' takes 0/1 columns as they are"
        )
    if options.refine and traits.score is None:
        raise ParameterError(
            f"loss={traits.name!r} cannot be refined: no score of the order search goes with it "
            "(LossTraits.score); use refine=False"
        )
    if minimiser is not None and not _any_loss(minimiser):
        traits.check_weighted()
    if options.standardize and traits.binary:
        raise ParameterError(
            f"loss={traits.name!r} needs 0/1 data, which standardize=True would undo; drop one of "
            "them"
        )
    if options.covariance == "rank" and traits.binary:
        raise ParameterError(
            f"loss={traits.name!r} reads 0/1 rows and no correlations, so covariance='rank' would "
            "do nothing; use covariance='sample'"
        )
    if options.to_choose and traits.binary:
        chosen = "lambda1" if options.criterion else "w_threshold"
        raise ParameterError(
            f"choosing {chosen} compares Gaussian likelihoods; give a number with "
            f"loss={traits.name!r}"
        )
