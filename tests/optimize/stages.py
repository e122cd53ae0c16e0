"""One stage of the exact path, from plain arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from analyticdag.losses import LeastSquares
from analyticdag.optimize.columns import minimise_columns
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Stage


def solved(
    S: Any,
    W0: Any,
    function: Any,
    *,
    mu: float,
    lambda1: float,
    allowed: Any = None,
    required: Any = None,
    weights: Any = None,
    **limits: Any,
) -> Any:
    """What `minimise_columns` returns, and the objective where it ended."""
    allowed = ~np.eye(len(W0), dtype=bool) if allowed is None else allowed
    problem = Problem(LeastSquares(S, weights), function, lambda1, allowed, required)
    result = minimise_columns(problem, W0, Stage(mu), **limits)
    return SimpleNamespace(**vars(result), objective=problem.objective(result.weights, Stage(mu)))
