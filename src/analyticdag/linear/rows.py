"""Rows with gaps, as a fitted `AnalyticDAG` sees them; without gaps none of this is used.

    full_rows(rule, X)          which rows a fit uses: all, or with "drop" those without gaps
    implied(estimator)          the Gaussian that the learned equations make
    completed(estimator, X)     rows without gaps, for whatever needs such

A gap is filled by what the equations expect of it given the rest of its row, or by a draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError
from analyticdag.tables.gaps import Gaussian


def full_rows(rule: str, X: FloatArray, *, least: int = 2) -> BoolArray:
    """Return which rows are used; refuse if leaving rows with gaps out leaves too few."""
    used: BoolArray = np.ones(len(X), dtype=bool)
    if rule == "drop":
        used &= ~np.isnan(X).any(axis=1)
        if used.sum() < least:
            raise DataError(
                f"{int((~used).sum())} of {len(X)} rows have gaps, and leaving them out leaves "
                f"{int(used.sum())}; use missing='em', or leave the emptiest columns out"
            )
    return used


def implied(estimator: Any) -> Gaussian:
    """Return the mean and the covariance of the columns under the learned equations."""
    W = np.asarray(estimator.weights_, np.float64)
    paths = np.linalg.inv(np.eye(len(W)) - W)
    S = paths.T @ (estimator.noise_variances_[:, None] * paths)
    return Gaussian(estimator.mean_, S * np.outer(estimator.scale_, estimator.scale_))


def completed(estimator: Any, X: FloatArray, seed: int | None = None) -> FloatArray:
    """Return the rows with gaps filled, by a draw if there is a seed; or without them ("drop")."""
    if not np.isnan(X).any():
        return X
    if estimator.missing == "drop":
        return X[full_rows("drop", X, least=1)]
    rng = None if seed is None else np.random.default_rng(seed)
    return implied(estimator).filled(X, rng)
