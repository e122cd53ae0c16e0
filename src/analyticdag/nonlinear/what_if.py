"""What if, with nonlinear equations: rows drawn from the networks, one column after the other.

Every direction of a nonlinear model is fixed, by its equations if by nothing else, so there is one
graph and no range over a class. What is said of a distribution is said of rows drawn from it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from analyticdag._parameters import generator_of, whole
from analyticdag._typing import FloatArray
from analyticdag._validation import column_names
from analyticdag.effects import Outcome
from analyticdag.effects.what_if import set_columns
from analyticdag.fitting.fitted import GraphEstimator

# Rows that a distribution is read from: the ends of an interval of 95 % are then known to about
# three hundredths of a standard deviation.
N_DRAWS = 10_000


def draw(
    model: GraphEstimator, networks: Any, n: int, do: Mapping[Hashable, float], seed: int | None
) -> FloatArray:
    """Draw n rows in the units of the data; columns in `do` are set to its values."""
    d = len(model.mean_)
    setting = set_columns(column_names(model, d), do)
    noise = generator_of(seed).standard_normal((whole("n", n, 1), d))
    rows = np.zeros_like(noise)
    varies = model.noise_variances_ > 0.0
    for j in model.causal_order_.tolist():
        if j in setting:
            rows[:, j] = (setting[j] - model.mean_[j]) / model.scale_[j]
        elif varies[j]:
            # All columns at once, of which one is taken: the networks run as one computation.
            mean, sd = networks.expected(rows)
            rows[:, j] = mean[:, j] + sd[:, j] * noise[:, j]
    return rows * model.scale_ + model.mean_


def outcomes(model: GraphEstimator, rows: FloatArray, level: float) -> list[Outcome]:
    """Return the distribution of every column, as rows drawn from it show it."""
    tails = (0.5 - level / 2.0, 0.5 + level / 2.0)
    low, high = np.quantile(rows, tails, axis=0)
    mean, sd = rows.mean(axis=0), rows.std(axis=0)
    names = column_names(model, len(model.mean_))
    return [
        Outcome(name, *map(float, (mean[k], sd[k], low[k], high[k], mean[k], mean[k])))
        for k, name in enumerate(names)
    ]
