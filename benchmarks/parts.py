"""The engine taken apart, so that a table can say what each part is worth.

    start           where a path begins, and nothing else
    composed-path   Adam from any start: what DAGMA does when it is given what our path is given
    search          the order search from exactly the starts that are named

Every start has a name, and the same name means the same thing everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.baselines import BASELINES
from analyticdag.errors import ParameterError
from analyticdag.functions import Exponential, Inverse, named
from analyticdag.graphs import nearest_dag, topological_order
from analyticdag.linear import AnalyticDAG
from analyticdag.losses import LeastSquares, covariance
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.path import PathState, follow
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule
from analyticdag.orders import conditional_variance_order, r2_order, random_order, variance_order

__all__ = ["STARTS", "USER_MADE", "composed_path", "search_from", "start_alone", "thresholded"]

# A constraint that no paper has: plans name it to show that the fast path takes any function of F.
USER_MADE = Inverse(1.0) ** 2 + Exponential()


def start_alone(
    X: FloatArray,
    seed: int,
    start: Literal["zero", "variance"] = "variance",
    w_threshold: float = 0.3,
) -> FloatArray:
    """The weights a path starts from, with the threshold that the path's own weights get."""
    return thresholded(_begin(covariance(X), len(X), start), w_threshold)


def composed_path(
    X: FloatArray,
    seed: int,
    constraint: str = "order-1",
    start: Literal["zero", "variance"] = "zero",
    lambda1: float = 0.03,
    w_threshold: float = 0.3,
    steps: int | None = None,
    adam: Mapping[str, Any] | None = None,
) -> tuple[FloatArray, dict[str, Any]]:
    """Least squares, the paper's schedule and Adam from a start; DAGMA's way out of the domain."""
    S = covariance(X)
    everywhere = ~np.eye(len(S), dtype=bool)
    problem = Problem(LeastSquares(S), named(constraint), lambda1, everywhere)
    schedule = Schedule.paper() if steps is None else Schedule.paper().with_steps(steps)
    begin = PathState(_begin(S, len(X), start))
    minimiser = Adam(**{"on_leaving": "restart", **(adam or {})})
    end = follow(problem, schedule, minimiser, begin)
    numbers = {"steps": end.n_steps, "status": end.status.name.lower()}
    return thresholded(np.asarray(end.weights), w_threshold), numbers


def search_from(
    X: FloatArray,
    seed: int,
    starts: Sequence[str] | None = None,
    score: Literal["equal", "unequal"] = "unequal",
    steps: int | None = None,
) -> tuple[FloatArray, dict[str, Any]]:
    """The order search from the named starts; without names, from the search's own.

    ``steps`` limits the stages of starts that follow a path by Adam.
    """
    from analyticdag.search import search_orders

    unknown = sorted(set(starts or ()) - set(STARTS))
    if unknown:
        raise ParameterError(f"no start is called {unknown}; known: {', '.join(STARTS)}")
    orders = None if starts is None else {name: STARTS[name](X, seed, steps) for name in starts}
    found = search_orders(
        covariance(X),
        len(X),
        score=score,
        starts=orders,
        effort=1.0 if starts is None else 0.0,  # no further starts
        random_state=seed,
        n_jobs=1,
    )
    return found.weights, {"start": found.start, "score": found.score}


def _begin(S: FloatArray, n_samples: int, start: Literal["zero", "variance"]) -> FloatArray:
    from analyticdag.optimize.columns import starting_weights  # compiled code: only when used

    return starting_weights(S, n_samples, start)


def _order_of(weights: FloatArray) -> IntArray:
    order: IntArray = topological_order(weights != 0.0)
    return order


def _path_order(X: FloatArray, seed: int, steps: int | None) -> IntArray:
    return _order_of(AnalyticDAG(loss="mse", refine=False, random_state=seed).fit(X).weights_)


def _dagma_order(X: FloatArray, seed: int, steps: int | None) -> IntArray:
    changes = {} if steps is None else {"schedule": Schedule.paper().with_steps(steps)}
    return _order_of(BASELINES["dagma"](X, **changes))


# A start is a function (X, seed, steps) -> order.
STARTS: Mapping[str, Callable[[FloatArray, int, int | None], IntArray]] = {
    "conditional-variance": lambda X, seed, steps: conditional_variance_order(covariance(X)),
    "variance": lambda X, seed, steps: variance_order(covariance(X)),
    "r2": lambda X, seed, steps: r2_order(covariance(X), n_samples=len(X)),
    "random": lambda X, seed, steps: random_order(covariance(X), np.random.default_rng(seed)),
    "path": _path_order,
    "dagma": _dagma_order,
}


def thresholded(weights: FloatArray, threshold: float) -> FloatArray:
    """A DAG of a path's weights, as the estimator makes one."""
    return nearest_dag(np.where(np.abs(weights) >= threshold, weights, 0.0))[0]
