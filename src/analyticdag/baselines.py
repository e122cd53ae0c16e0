"""What to compare with: published methods composed from our parts, and honest baselines.

| name                   | is                                                                  |
|------------------------|---------------------------------------------------------------------|
| `dagma`                | order-1 × the paper's schedule × Adam that restarts a stage outside |
| `golem`                | Gaussian likelihood × one stage, the exponential as a soft penalty  |
| `tmpi`                 | a truncated power series × the paper's schedule × Adam              |
| `notears`              | exponential × augmented Lagrangian × L-BFGS-B                       |
| `conditional_variance` | order by conditional variance, parents selected by BIC              |
| `sort_and_regress`     | order by variance, parents selected by BIC                          |
| `empty_graph`          | no edge at all                                                      |

Each takes a table X of shape (n, d) and returns weights of shape (d, d) that are a DAG. The
settings are those of the papers; `dagma`, `golem` and `tmpi` also take parameters of `AnalyticDAG`,
and `schedule`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from analyticdag._typing import FloatArray, IntArray
from analyticdag._validation import check_table
from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import ParameterError
from analyticdag.extended_bic import MODERATE, edge_price
from analyticdag.functions import Exponential, Inverse, Truncated
from analyticdag.graphs import nearest_dag
from analyticdag.linear import AnalyticDAG
from analyticdag.losses import LeastSquares, covariance
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.orders import conditional_variance_order, variance_order
from analyticdag.search import select_parents

__all__ = [
    "BASELINES",
    "conditional_variance",
    "dagma",
    "empty_graph",
    "golem",
    "notears",
    "sort_and_regress",
    "tmpi",
]


def dagma(X: FloatArray, **changes: Any) -> FloatArray:
    """DAGMA (Bello et al. 2022): log-det, s raised and the stage restarted outside the domain."""
    return _fitted(
        X,
        {"constraint": "order-1", "lambda1": 0.03, "solver": Adam(on_leaving="restart")},
        changes,
    )


def tmpi(X: FloatArray, *, degree: int = 15, **changes: Any) -> FloatArray:
    """TMPI (Zhang et al. 2022): the power series cut at `degree`, which misses longer cycles."""
    return _fitted(
        X, {"constraint": Truncated(Inverse(), degree), "lambda1": 0.03, "solver": Adam()}, changes
    )


def golem(X: FloatArray, *, equal_variances: bool = True, **changes: Any) -> FloatArray:
    """GOLEM (Ng et al. 2020): likelihood + 0.02·‖W‖₁ + 5·h in one stage, h the exponential's."""
    return _fitted(
        X,
        {
            "loss": "likelihood-ev" if equal_variances else "likelihood-nv",
            "constraint": "exponential",
            "lambda1": 0.02,
            "solver": Adam(
                learning_rate=1e-3,
                betas=(0.9, 0.999),
                # mu·[loss + penalty] + h is a fifth of their objective.
                schedule=Schedule([Stage(mu=1.0 / 5.0, max_steps=100_000)]),
            ),
        },
        changes,
    )


def notears(
    X: FloatArray,
    *,
    lambda1: float = 0.1,
    w_threshold: float = 0.3,
    h_tol: float = 1e-8,
    rho_max: float = 1e16,
    max_rounds: int = 100,
) -> FloatArray:
    """NOTEARS (Zheng et al. 2018): the augmented Lagrangian of the exponential constraint."""
    loss, constraint = LeastSquares(_covariance(X)), Acyclicity(Exponential())
    W = np.zeros_like(loss.S)
    rho, alpha, h = 1.0, 0.0, math.inf
    for _ in range(max_rounds):
        while True:
            W_new = _minimise_lagrangian(loss, constraint, W, rho, alpha, lambda1)
            h_new = float(constraint.value(W_new))
            if h_new <= 0.25 * h or rho >= rho_max:
                break
            rho *= 10.0
        W, h = W_new, h_new
        alpha += rho * h
        if h <= h_tol or rho >= rho_max:
            break
    return nearest_dag(np.where(np.abs(W) >= w_threshold, W, 0.0))[0]


def conditional_variance(X: FloatArray, *, gamma: float = MODERATE) -> FloatArray:
    """Each time the node of least variance given those before it; parents selected by BIC.

    Under equal noise variances and known scale this alone is nearly the whole answer.
    """
    S = _covariance(X)
    return _selected_weights(S, len(X), conditional_variance_order(S), gamma)


def sort_and_regress(X: FloatArray, *, gamma: float = MODERATE) -> FloatArray:
    """Nodes sorted by their variance, parents selected by BIC (Reisach et al. 2021)."""
    S = _covariance(X)
    return _selected_weights(S, len(X), variance_order(S), gamma)


def empty_graph(X: FloatArray) -> FloatArray:
    """No edges: what a method has to beat before anything else."""
    return np.zeros_like(_covariance(X))


BASELINES: Mapping[str, Callable[..., FloatArray]] = MappingProxyType(
    {
        "dagma": dagma,
        "golem": golem,
        "tmpi": tmpi,
        "notears": notears,
        "conditional-variance": conditional_variance,
        "sort-and-regress": sort_and_regress,
        "empty": empty_graph,
    }
)


def _covariance(X: Any) -> FloatArray:
    return covariance(check_table(BaseEstimator(), X, reset=True))


def _fitted(X: FloatArray, settings: dict[str, Any], changes: dict[str, Any]) -> FloatArray:
    if "schedule" in changes:
        changes["solver"] = replace(settings["solver"], schedule=changes.pop("schedule"))
    model = AnalyticDAG(**{"loss": "mse", "refine": False, **settings, **changes}).fit(X)
    return model.weights_


def _minimise_lagrangian(
    loss: LeastSquares,
    constraint: Acyclicity,
    W: FloatArray,
    rho: float,
    alpha: float,
    lambda1: float,
) -> FloatArray:
    """Minimise loss + lambda1·‖W‖₁ + rho/2·h² + alpha·h; W = W⁺ - W⁻ makes ‖·‖₁ smooth."""
    d = len(W)

    def objective(halves: FloatArray) -> tuple[float, FloatArray]:
        positive, negative = halves.reshape(2, d, d)
        W = positive - negative
        value, G = loss.value_and_gradient(W)
        h, push = constraint.value_and_gradient(W)
        G = G + (rho * h + alpha) * push
        total = value + lambda1 * float(halves.sum()) + (0.5 * rho * h + alpha) * h
        return total, np.concatenate([(G + lambda1).ravel(), (lambda1 - G).ravel()])

    bounds = [(0.0, 0.0 if i == j else None) for _ in range(2) for i in range(d) for j in range(d)]
    start = np.concatenate([np.maximum(W, 0.0).ravel(), np.maximum(-W, 0.0).ravel()])
    result = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds)
    positive, negative = result.x.reshape(2, d, d)
    return positive - negative


def _selected_weights(S: FloatArray, n: int, order: IntArray, gamma: float) -> FloatArray:
    """Regress every node on parents selected among its predecessors."""
    if gamma < 0:
        raise ParameterError(f"gamma must be at least 0, not {gamma!r}")
    return select_parents(S, n, order, price=edge_price(n, len(S), gamma))
