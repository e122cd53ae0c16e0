"""`variance="auto"`: let the data say whether one noise variance may stand for all columns.

One variance for all columns reads directions from their scales. That helps where the noise of the
columns has about one size, even if not exactly, and misleads where the units are arbitrary. So
each column is regressed on the parents that the search finds under one variance, and the noise
variances that are left are compared: their logarithms spread by less than `LIMIT`, or not.

`LIMIT` was chosen by directed F1 on simulated Gaussian-process and network equations (ER1 and ER2,
10 and 20 columns, 600 rows, seeds 3100 to 3103), with noise or units drawn more and more apart.
Both kinds of equations change sides at a spread of about 0.7. A test of exact equality would not
do: what splines do not catch of a network's functions makes the variances differ too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import looks_standardised
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear.climb import climb
from analyticdag.nonlinear.options import LOSSES
from analyticdag.nonlinear.surfaces import Surfaces

LIMIT = 0.7  # standard deviation of the logarithms of the noise variances
# Chance alone spreads the logarithms of sample variances by sqrt(2 / rows), 0.26 here: with fewer
# rows a wide spread could not be told from a narrow one.
LEAST_ROWS = 30


@dataclass(frozen=True)
class VarianceChoice:
    """What `variance="auto"` decided, why, and the spread it went by, if it had to measure one."""

    variance: str
    reason: str
    spread: float | None = None

    def __repr__(self) -> str:
        return f"VarianceChoice({self.variance}: {self.reason})"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data in the form of the linear estimator's choice, which has scores too."""
        scores = dict.fromkeys(("equal", "unequal", "kurtosis", "margin"))
        return {**scores, "loss": LOSSES[self.variance], "reason": self.reason}


def choose_variance(
    model: str, rows: FloatArray, varies: BoolArray, masks: EdgeMasks
) -> VarianceChoice:
    """Choose for rows (n, d) in their own units, or in one common unit."""
    if model == "gran-dag":
        return _each(
            "gran-dag does not read scales, and noise that depends on the causes is learned only "
            "on request (variance='learned')"
        )
    if np.count_nonzero(varies) < 2:
        return _each("fewer than two columns vary, so there is nothing to compare")
    variances = rows[:, varies].var(axis=0)
    if looks_standardised(variances):
        return _each("the columns are standardised, so their scales say nothing about directions")
    if len(rows) < LEAST_ROWS:
        return _each(f"{len(rows)} rows are too few to compare noise variances")
    return _by_spread(_spread(rows, varies, masks))


def _each(because: str, spread: float | None = None) -> VarianceChoice:
    return VarianceChoice("constant", f"a noise variance for each column: {because}", spread)


def _by_spread(spread: float) -> VarianceChoice:
    """Decide by the spread; as a factor between standard deviations it can be read."""
    factor = f"the noise of the columns differs in size by a factor of {math.exp(spread / 2):.3g}"
    if spread >= LIMIT:
        return _each(f"{factor}, too much to read directions from scales", spread)
    reason = (
        f"one noise variance for all columns: {factor}, little enough to read directions from "
        "scales, if the units of the columns mean something"
    )
    return VarianceChoice("equal", reason, spread)


def _spread(rows: FloatArray, varies: BoolArray, masks: EdgeMasks) -> float:
    """Return how far apart the logarithms of the columns' noise variances are."""
    surfaces = Surfaces(np.where(varies, rows, 0.0))
    found = climb(surfaces, masks.required, masks, pooled=True).adjacency
    nodes = [surfaces.fits(int(t), np.flatnonzero(found[:, t])) for t in np.flatnonzero(varies)]
    freedom = [max(surfaces.n - 1 - node.functions, 1) for node in nodes]
    variances = np.array([node.left for node in nodes]) / freedom
    return float(np.log(variances).std())
