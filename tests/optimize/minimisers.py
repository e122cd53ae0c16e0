"""Every minimiser the laws are checked on. A new one is tested by being added here."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag.optimize.adam import Adam
from analyticdag.optimize.columns import Columns
from analyticdag.optimize.path import Minimiser, StageResult
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Stage
from analyticdag.optimize.trace import Stop


class Slope:
    """A user's own, with nothing but the one method: downhill, in steps that shrink as needed."""

    def minimise(self, problem: Problem, W: Any, stage: Stage, number: int) -> StageResult:
        record, length, step = problem.record(W, stage, number, 0), 0.1, 0
        while step < min(stage.max_steps, 300) and length > 1e-12:
            loss = problem.loss.value_and_gradient(W)[1]
            push = problem.constraint(stage.s).adaptive(W)[1]
            downhill = stage.mu * (loss + problem.prices(W) * np.sign(W)) + push
            there = W - length * problem.masked(downhill)
            found = problem.record(there, stage, number, step + 1, Stop.TOLERANCE)
            if found.objective < record.objective:
                W, record, step, length = there, found, step + 1, 1.5 * length
            else:
                length /= 2.0
        last = problem.record(W, stage, number, step, Stop.TOLERANCE)
        return StageResult(W, (last,), step)


MINIMISERS: dict[str, Minimiser] = {
    "adam": Adam(learning_rate=1e-2, check_every=100),
    "adam with restarts": Adam(learning_rate=1e-2, check_every=100, on_leaving="restart"),
    "adam, proximal": Adam(learning_rate=1e-2, check_every=100, proximal=True),
    "columns": Columns(),
    "a user's own": Slope(),
}
