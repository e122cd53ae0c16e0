"""The public face of the column solver: check the arguments, choose the method, report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import DataError, ParameterError
from analyticdag.functions import AnalyticFunction
from analyticdag.optimize.columns.descents import descent_for
from analyticdag.optimize.columns.scaling import UnitVariances
from analyticdag.optimize.columns.stage import descend


@dataclass(frozen=True)
class ColumnsResult:
    """What one stage came to."""

    weights: FloatArray
    objective: float
    objectives: tuple[float, ...]  # at the start and after each sweep, never increasing
    n_sweeps: int
    converged: bool
    s: float


def stage_objective(
    S: FloatArray,
    W: FloatArray,
    function: AnalyticFunction,
    mu: float,
    penalty: FloatArray,
    column_weights: FloatArray,
) -> float:
    """mu·[Σ_j w_j·½(I - W)_j'S(I - W)_j + Σ_ij penalty_ij·|W_ij|] + h(W)."""
    E = np.eye(len(S)) - W
    losses = 0.5 * np.sum(E * (S @ E), axis=0)
    support = W != 0
    l1 = float(penalty[support] @ np.abs(W[support]))
    return mu * (float(column_weights @ losses) + l1) + float(Acyclicity(function).value(W))


def minimise_columns(
    S: FloatArray,
    W0: FloatArray,
    function: AnalyticFunction,
    *,
    mu: float,
    lambda1: float,
    allowed: BoolArray | None = None,
    unpenalised: BoolArray | None = None,
    column_weights: FloatArray | None = None,
    tol: float = 1e-4,
    max_sweeps: int = 100,
) -> ColumnsResult:
    """Minimise mu·[least squares + lambda1·‖W‖₁] + h(W) from W0, one column after the other.

    ``column_weights`` (w_j > 0, for instance 1/σ_j²) multiply the loss of each column, not its
    penalty. ``unpenalised`` marks weights the l1 penalty leaves alone. The objective never rises
    from sweep to sweep.
    """
    S, W0 = np.asarray(S, float), np.asarray(W0, float)
    penalty = _penalties(W0, lambda1, allowed, unpenalised)
    weights = np.ones(len(S)) if column_weights is None else np.asarray(column_weights, float)
    _check(S, W0, mu, penalty, weights)
    objective = stage_objective(S, W0, function, mu, penalty, weights)
    problem = UnitVariances.of(S, mu * weights, mu * penalty)
    descent = descent_for(function, problem, problem.inward(W0))
    WT, objectives, converged = descend(descent, objective, tol, max_sweeps)
    W = problem.outward(WT)
    return ColumnsResult(
        W,
        stage_objective(S, W, function, mu, penalty, weights),
        tuple(objectives),
        len(objectives) - 1,
        converged,
        function.scale,
    )


def _penalties(
    W0: FloatArray, lambda1: float, allowed: BoolArray | None, unpenalised: BoolArray | None
) -> FloatArray:
    """lambda1 by entry: inf where no edge may be, 0 where it costs nothing."""
    if not lambda1 >= 0:
        raise ParameterError(f"lambda1 must be 0 or more, got {lambda1}")
    penalty = np.full(W0.shape, float(lambda1))
    if unpenalised is not None:
        penalty[unpenalised] = 0.0
    if allowed is not None:
        penalty[~allowed] = np.inf
    np.fill_diagonal(penalty, np.inf)
    return penalty


def _check(
    S: FloatArray, W0: FloatArray, mu: float, penalty: FloatArray, weights: FloatArray
) -> None:
    if S.ndim != 2 or S.shape != W0.shape or S.shape[0] != S.shape[1]:
        raise DataError(f"S and W0 must be square and alike, got {S.shape} and {W0.shape}")
    if not (np.isfinite(S).all() and np.isfinite(W0).all()):
        raise DataError("S or W0 has NaN or infinite entries; impute or drop those columns")
    if not (0 < mu < np.inf):
        raise ParameterError(f"mu must be a finite number above 0, got {mu}")
    if weights.shape != (len(S),) or not np.all((weights > 0) & (weights < np.inf)):
        raise ParameterError("column_weights must be one finite number above 0 for each column")
    if (W0[np.isinf(penalty)] != 0).any():
        raise ParameterError(
            "W0 has weights where allowed is False or on the diagonal; set them to 0"
        )
