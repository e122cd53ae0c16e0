"""The exact minimiser: a stage solved column by column, to its tolerance, with exact zeros.

A thin layer over `optimize/columns`, which solves a stage with least squares in each column. The
Gaussian likelihoods are reached through it: with the noise variances held fixed they are weighted
least squares, so variances and weights are brought up to date in turn. (The log|det(I - W)| of
GOLEM is zero on every DAG; keeping cycles away is left to the constraint.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from analyticdag._typing import Array, FloatArray
from analyticdag.errors import OutsideDomainError, ParameterError
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.losses import (
    VARIANCE_FLOOR,
    GaussianLikelihood,
    LeastSquares,
    Loss,
    residual_variances,
)
from analyticdag.optimize.columns import ColumnsResult, minimise_columns
from analyticdag.optimize.path import StageResult, Traits
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule, Stage, check_count, check_positive
from analyticdag.optimize.trace import Stop

# Variances that move by less than this fraction are settled.
_SETTLED = 1e-3
# A visit to one column costs the square of the order, some fifty times over: at this order half a
# million operations, as much as its regression in a graph of a hundred nodes.
_MOST_ORDER = 100
# A warm start outside the domain gets a domain this much larger than it needs.
_ROOM = 1.1


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
    """

    tol: float = 1e-4
    max_sweeps: int = 100
    max_rounds: int = 10

    traits: ClassVar[Traits] = Traits(
        schedule=Schedule.gentle(), start="variance", any_loss=False, objection=objection
    )

    def __post_init__(self) -> None:
        check_positive("tol", self.tol)
        check_count("max_sweeps", self.max_sweeps)
        check_count("max_rounds", self.max_rounds)

    def minimise(self, problem: Problem, W: Array, stage: Stage, number: int) -> StageResult:
        """Solve one stage from W."""
        variances = _noise_variances(problem.loss, W)
        n_sweeps, settled, result = 0, False, None
        for _ in range(self.max_rounds):
            result = self._sweeps(problem, W, stage, variances)
            W, n_sweeps = result.weights, n_sweeps + result.n_sweeps
            before, variances = variances, _noise_variances(problem.loss, W)
            settled = bool(np.all(np.abs(variances - before) <= _SETTLED * before))
            if settled:
                break
        assert result is not None
        reason = Stop.TOLERANCE if settled and result.converged else Stop.MAX_STEPS
        record = problem.record(W, replace(stage, s=result.s), number, n_sweeps, reason)
        return StageResult(W, (replace(record, s=stage.s),), n_sweeps)

    def _sweeps(
        self,
        problem: Problem,
        W: Array,
        stage: Stage,
        variances: FloatArray,
    ) -> ColumnsResult:
        """Sweep with the variances held fixed; s is raised where W would be outside."""
        f, s = problem.function, stage.s
        if (against := objection(f)) is not None:
            raise ParameterError(against)
        assert isinstance(f, AnalyticFunction)  # what is left
        while True:
            try:
                result = minimise_columns(
                    _covariance(problem.loss),
                    W,
                    f.scaled(s),
                    mu=stage.mu,
                    lambda1=problem.lambda1,
                    allowed=problem.allowed > 0,
                    unpenalised=problem.penalised == 0,
                    column_weights=1.0 / variances,
                    tol=self.tol,
                    max_sweeps=min(self.max_sweeps, stage.max_steps),
                )
            except OutsideDomainError as outside:
                s *= _ROOM * outside.spectral_radius / outside.radius
            else:
                return replace(result, s=s)


def _covariance(loss: Loss) -> FloatArray:
    if isinstance(loss, LeastSquares | GaussianLikelihood):
        S: FloatArray = loss.S
        return S
    raise ParameterError(
        f"the column-wise minimiser works from a covariance, which {type(loss).__name__} does not "
        "have; use Adam"
    )


def _noise_variances(loss: Loss, W: FloatArray) -> FloatArray:
    """Return the variances that make the likelihood weighted least squares; one for the latter."""
    S = _covariance(loss)
    if not isinstance(loss, GaussianLikelihood):
        return np.ones(len(S))
    v = np.maximum(residual_variances(S, W), VARIANCE_FLOOR * np.diag(S))
    return np.full_like(v, v.mean()) if loss.equal_variances else v
