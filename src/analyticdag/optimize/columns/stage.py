"""One stage: sweeps over the columns until they win nothing."""

from __future__ import annotations

import logging

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.optimize.columns.descents import Descent

logger = logging.getLogger(__name__)

_FULL_EVERY = 4
_REFRESH_EVERY = 8


def descend(
    descent: Descent,
    objective: float,
    tol: float,
    max_sweeps: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, list[float], bool]:
    """Sweep until a full sweep wins less than tol times the objective.

    Between full sweeps only the columns that still move are visited. Returns the weights, the
    objective after each sweep and whether the tolerance was reached.
    """
    objectives = [objective]
    safe = descent.state.WT.copy()
    d = len(safe)
    for sweep in range(max_sweeps):
        enough = tol * abs(objectives[-1])
        restless = descent.weight * descent.state.decrease > enough / d
        full = sweep % _FULL_EVERY == 0 or not restless.any()
        if sweep % _REFRESH_EVERY == 0:
            if not descent.refresh():
                return safe, objectives, False
            safe[:] = descent.state.WT
        columns = rng.permutation(d)
        won = descent.sweep(columns if full else columns[restless[columns]])
        objectives.append(objectives[-1] - won)
        logger.debug(
            "sweep %d of at most %d: objective=%.6g", sweep + 1, max_sweeps, objectives[-1]
        )
        if full and won <= enough:
            return descent.state.WT, objectives, True
    return descent.state.WT, objectives, False
