"""One stage: sweeps over the columns until they win nothing."""

from __future__ import annotations

import logging

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.optimize.columns.descents import Descent
from analyticdag.progress import Step

logger = logging.getLogger(__name__)

_FULL_EVERY = 4
_REFRESH_EVERY = 8
_DECIMALS = 6
_NOTHING = 1e-9  # of a variance of one: what is left of a column that others determine


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
