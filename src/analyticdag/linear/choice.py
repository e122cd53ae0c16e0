"""`loss="auto"`: let the data say whether the noise variances are equal.

Both models are fitted; equal variances has d - 1 fewer parameters. BIC compares

    equal:    n·d·log(mean_j v_j) + log(n)·(edges + 1)
    unequal:  n·Σ_j log(v_j)      + log(n)·(edges + d)

Under heavy tails sample variances differ by more than Gaussian chance allows, by the factor
(kurtosis - 1)/2 in the likelihood ratio; the difference of the two fits is divided by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.linear.statistics import Statistics
from analyticdag.losses import VARIANCE_FLOOR, residual_variances

EQUAL, UNEQUAL = "likelihood-ev", "likelihood-nv"


@dataclass(frozen=True)
class LossChoice:
    """The two scores behind `loss="auto"`; the smaller wins."""

    equal: float
    unequal: float
    kurtosis: float

    @property
    def loss(self) -> str:
        """The loss that was chosen."""
        return EQUAL if self.equal <= self.unequal else UNEQUAL

    @property
    def margin(self) -> float:
        """By how much it won."""
        return abs(self.equal - self.unequal)

    @property
    def reason(self) -> str:
        """The decision in a sentence."""
        if self.loss == EQUAL:
            return (
                f"equal noise variances are accepted (BIC better by {self.margin:.1f}), and under "
                "them every direction is identified"
            )
        return (
            f"equal noise variances are rejected (BIC worse by {self.margin:.1f}), so only the "
            "equivalence class is identified"
        )


def choose_loss(
    statistics: Statistics, weights_equal: FloatArray, weights_unequal: FloatArray
) -> LossChoice:
    """Compare the best weights found under each assumption."""
    n, varies = statistics.n_samples, ~statistics.constant
    kurtosis = _kurtosis(statistics, weights_unequal)
    deflation = max(1.0, (kurtosis - 1.0) / 2.0)
    v_equal = _variances(statistics, weights_equal)[varies]
    v_unequal = _variances(statistics, weights_unequal)[varies]
    d = len(v_equal)
    pooled = d * np.log(v_equal.mean()) if d else 0.0
    fit_equal, fit_unequal = n * pooled, n * np.log(v_unequal).sum()
    price = np.log(n)
    return LossChoice(
        equal=float(fit_equal / deflation + price * (np.count_nonzero(weights_equal) + 1)),
        unequal=float(fit_unequal / deflation + price * (np.count_nonzero(weights_unequal) + d)),
        kurtosis=kurtosis,
    )


def least_squares_weights(S: FloatArray, adjacency: BoolArray) -> FloatArray:
    """Regress every node on its parents: the path's weights are shrunk, these are not."""
    W = np.zeros_like(S)
    for j in range(len(S)):
        parents = np.flatnonzero(adjacency[:, j])
        block = S[np.ix_(parents, parents)]
        W[parents, j] = np.linalg.lstsq(block, S[parents, j], rcond=None)[0]
    return W


def _variances(statistics: Statistics, W: FloatArray) -> FloatArray:
    floor = VARIANCE_FLOOR * np.diag(statistics.S)
    return np.maximum(residual_variances(statistics.S, W), floor)


def _kurtosis(statistics: Statistics, W: FloatArray) -> float:
    """Return the mean kurtosis of the residuals; a Gaussian's, 3, where there are no rows."""
    varies = ~statistics.constant
    if statistics.rows is None or not varies.any():
        return 3.0
    rows = statistics.rows - statistics.rows.mean(axis=0)
    residuals = (rows - rows @ W)[:, varies]
    squares = residuals**2
    spread = np.maximum(squares.mean(axis=0), np.finfo(float).tiny)
    return float(np.mean((squares**2).mean(axis=0) / spread**2))
