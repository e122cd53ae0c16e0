"""`Columns`, the exact minimiser: column by column, to a tolerance, with exact zeros.

`minimise_columns` solves a stage with (weighted) least squares. The Gaussian likelihoods are
reached through it: with the noise variances held fixed they are weighted least squares, so
variances and weights are brought up to date in turn. (The log|det(I - W)| of GOLEM is zero on every
DAG; keeping cycles away is left to the constraint.)
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from analyticdag._parameters import whole
from analyticdag._typing import Array, BoolArray, FloatArray, IntArray
from analyticdag.errors import DataError, OutsideDomainError, ParameterError
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.losses import LeastSquares, loss_traits, noise_variances
from analyticdag.optimize.columns.descents import Descent, UnitVariances, descent_for
from analyticdag.optimize.path import StageResult, Traits, check_path
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage, check_positive
from analyticdag.optimize.trace import Stop
from analyticdag.progress import Step

# Variances that move by less than this fraction are settled.
_SETTLED = 1e-3
# A visit to one column costs the square of the order, some fifty times over: at this order half a
# million operations, as much as its regression in a graph of a hundred nodes.
_MOST_ORDER = 100
# A warm start outside the domain gets a domain this much larger than it needs.
_ROOM = 1.1
# Sweeps from one that visits all columns to the next, and from a fresh inverse to the next. Full
# sweeps twice as often give graphs as good, and are no faster (docs/design/column-path.md).
_FULL_EVERY = 4
_REFRESH_EVERY = 8
_DECIMALS = 6  # of the logarithms by which columns are ranked: beyond is rounding
_NOTHING = 1e-9  # of a variance of one: what is left of a column that others determine

logger = logging.getLogger(__name__)


def objection(function: AnalyticFunction | Truncated) -> str | None:
    """Say why the columns cannot be solved with this function, if they cannot."""
    if isinstance(function, Truncated):
        return (
            "the column-wise minimiser needs a function of the class F, and a truncated series is "
            "a polynomial outside of it; use Adam"
        )
    if function.pole_order > _MOST_ORDER:
        return (
            f"a constraint of order {function.pole_order} would keep the exact path busy for days: "
            f"its cost grows with the square of the order; use an order of at most {_MOST_ORDER}, "
            "or solver='adam'"
        )
    return None


@dataclass(frozen=True)
class Columns:
    """Column-wise descent on the stage objective.

    Parameters
    ----------
    tol : relative change of the objective in a sweep below which a stage is done.
    max_sweeps : sweeps over all columns in one stage.
    max_rounds : updates of the noise variances in one stage, for the likelihood losses.
    schedule : the stages of the path; None for `Schedule.gentle()`.
    start : where the path begins: "variance" (None too), which is parents among columns of smaller
        variance, "zero", or weights like `weights_`, of an earlier fit for instance.
    """

    tol: float = 1e-4
    max_sweeps: int = 100
    max_rounds: int = 10
    schedule: Schedule | None = None
    start: str | FloatArray | None = field(default=None, compare=False)

    traits: ClassVar[Traits] = Traits(
        schedule=Schedule.gentle(), start="variance", any_loss=False, objection=objection
    )

    def __post_init__(self) -> None:
        check_positive("tol", self.tol)
        whole("max_sweeps", self.max_sweeps, 1)
        whole("max_rounds", self.max_rounds, 1)
        check_path(self.schedule, self.start)

    def minimise(self, problem: Problem, W: Array, stage: Stage, number: int) -> StageResult:
        """Solve one stage from W; s is raised where W would be outside the domain."""
        loss = problem.loss
        loss_traits(type(loss)).check_weighted()
        if (against := objection(problem.function)) is not None:
            raise ParameterError(against)
        variances, here = noise_variances(loss, W), stage
        n_sweeps, n_rounds, settled = 0, 0, False
        while n_rounds < self.max_rounds and n_sweeps < stage.max_steps and not settled:
            most = min(self.max_sweeps, stage.max_steps - n_sweeps)
            # With the variances held fixed, every loss is least squares with weights.
            fixed = replace(problem, loss=LeastSquares(loss.S, 1.0 / variances))  # type: ignore[attr-defined]
            try:
                result = minimise_columns(fixed, W, here, tol=self.tol, max_sweeps=most)
            except OutsideDomainError as outside:
                here = replace(here, s=here.s * _ROOM * outside.spectral_radius / outside.radius)
                continue
            used, here = here, stage
            W, n_sweeps, n_rounds = result.weights, n_sweeps + result.n_sweeps, n_rounds + 1
            before, variances = variances, noise_variances(loss, W)
            settled = bool(np.all(np.abs(variances - before) <= _SETTLED * before))
        reason = Stop.TOLERANCE if settled and result.converged else Stop.MAX_STEPS
        record = problem.record(W, used, number, n_sweeps, reason)
        return StageResult(W, (replace(record, s=stage.s),), n_sweeps)


@dataclass(frozen=True)
class ColumnsResult:
    """What one stage came to."""

    weights: FloatArray
    objectives: tuple[float, ...]  # at the start and after each sweep, never increasing
    n_sweeps: int
    converged: bool


def minimise_columns(
    problem: Problem, W0: FloatArray, stage: Stage, *, tol: float = 1e-4, max_sweeps: int = 100
) -> ColumnsResult:
    """Minimise the objective of a stage from W0, one column after the other.

    The loss is least squares, with a weight w_j > 0 (for instance 1/σ_j²) for each column where it
    has weights. The objective never rises from sweep to sweep.
    """
    loss, function = problem.loss, problem.function.scaled(stage.s)
    assert isinstance(loss, LeastSquares)
    assert isinstance(function, AnalyticFunction)
    S, W0 = np.asarray(loss.S, float), np.asarray(W0, float)
    weights = np.ones(len(S)) if loss.weights is None else np.asarray(loss.weights, float)
    allowed = np.asarray(problem.allowed, bool) & ~np.eye(len(W0), dtype=bool)
    _check(S, W0, allowed, weights)
    objective = problem.objective(W0, stage)
    # To the kernels an edge that may not be is one of infinite price.
    penalty = np.where(allowed, problem.prices(W0), np.inf)
    scaled = UnitVariances.of(S, stage.mu * weights, stage.mu * penalty)
    descent = descent_for(function, scaled, scaled.inward(W0))
    WT, objectives, converged = descend(descent, objective, tol, max_sweeps)
    return ColumnsResult(scaled.outward(WT), tuple(objectives), len(objectives) - 1, converged)


def _check(S: FloatArray, W0: FloatArray, allowed: BoolArray, weights: FloatArray) -> None:
    if S.shape != W0.shape:
        raise DataError(f"S and W0 must be square and alike, got {S.shape} and {W0.shape}")
    if not (np.isfinite(S).all() and np.isfinite(W0).all()):
        raise DataError("S or W0 has NaN or infinite entries; impute or drop those columns")
    if weights.shape != (len(S),) or not np.all((weights > 0) & (weights < np.inf)):
        raise ParameterError("weights must be one finite number above 0 for each column")
    if (W0[~allowed] != 0).any():
        raise ParameterError(
            "W0 has weights where allowed is False or on the diagonal; set them to 0"
        )


def descend(
    descent: Descent,
    objective: float,
    tol: float,
    max_sweeps: int,
) -> tuple[FloatArray, list[float], bool]:
    """Sweep until a full sweep wins less than tol times the objective.

    Between full sweeps only the columns that still move are visited. Returns the weights, the
    objective after each sweep and whether the tolerance was reached. Where rounding carried W out
    of the domain, these are as they were when it was last known to be inside.
    """
    objectives, converged = [objective], False
    safe, n_safe = descent.WT.copy(), 0
    d = len(safe)
    for sweep in range(max_sweeps):
        enough = tol * descent.finer * abs(objectives[-1])
        restless = descent.weight * descent.decrease > enough / d
        full = sweep % _FULL_EVERY == 0 or not restless.any()
        if sweep % _REFRESH_EVERY == 0:
            if not descent.refresh():
                return safe, objectives[: n_safe + 1], False
            safe[:], n_safe = descent.WT, sweep
        columns = best_explained_first(descent)
        won = descent.sweep(columns if full else columns[restless[columns]])
        objectives.append(objectives[-1] - won)
        logger.debug(Step("sweep", sweep + 1, max_sweeps, objectives[-1], exact=False))
        converged = bool(full and won <= enough)
        if converged:
            break
    if not descent.refresh():
        return safe, objectives[: n_safe + 1], False
    return descent.WT, objectives, converged


def best_explained_first(descent: Descent) -> IntArray:
    """The columns by what is left of them.

    In a cycle, the column that is visited first loses most of its weights. That should be a column
    of which less is left than its noise: it is explained by its own effects, so its weights are the
    ones to go.
    """
    WT, Q = descent.WT, descent.Q
    left = descent.S.diagonal() + np.sum(WT * (Q - 2.0 * descent.S), axis=1)
    logs = np.log(descent.weight * np.maximum(left, _NOTHING))
    # Neither rounding errors nor the place in the table may rank what is equal, such as columns of
    # variance one at the start: they are shuffled, always in the same way.
    shuffled = np.random.default_rng(0).permutation(len(WT))
    return shuffled[np.argsort(np.round(logs, _DECIMALS)[shuffled], kind="stable")]
