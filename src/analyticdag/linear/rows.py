"""Rows as a fit and a fitted `AnalyticDAG` see them: weights, gaps, likelihood.

    used_rows(rule, X, weights)  which rows are used
    mean_log_likelihood(…)       what `score` returns
    implied(estimator)          the Gaussian that the learned equations make
    completed(estimator, X)     rows without gaps, for whatever needs such

A gap is filled by what the equations expect of it given the rest of its row, or by a draw.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError, ParameterError
from analyticdag.losses import Logistic
from analyticdag.tables.gaps import Gaussian


def used_rows(
    rule: str, X: FloatArray, weights: FloatArray | None = None, *, least: int = 2
) -> BoolArray:
    """Return which rows are used; refuse if leaving rows out leaves too few, or too little weight.

    Left out are rows of weight zero and, with "drop", rows with gaps.
    """
    used: BoolArray = np.ones(len(X), dtype=bool)
    if rule == "drop":
        used &= ~np.isnan(X).any(axis=1)
        if used.sum() < least:
            raise DataError(
                f"{int((~used).sum())} of {len(X)} rows have gaps, and leaving them out leaves "
                f"{int(used.sum())}; use missing='em', or leave the emptiest columns out"
            )
    if weights is not None:
        used &= weights > 0.0
        if not used.any():
            raise DataError("sample_weight is zero in every row, and such rows are left out")
        # One row is enough to be scored, whatever its weight.
        if weights[used].sum() < least and least > 1:
            raise DataError(
                f"sample_weight adds up to {weights[used].sum():g}; weights act like repeated "
                f"rows, so they must add up to the number of rows they stand for, at least {least}"
            )
    return used


def chosen(rows: Any, used: BoolArray) -> Any:
    """Return the entries of the rows that are used; None stays None."""
    return rows if rows is None or used.all() else rows[used]


def mean_log_likelihood(estimator: Any, X: FloatArray, weights: FloatArray | None) -> float:
    """Return the mean log-likelihood of rows under the learned equations."""
    if np.isnan(X).any():
        n = len(X) if weights is None else float(weights.sum())
        return implied(estimator).log_likelihood(X, weights) / n
    values = X / estimator.scale_
    if estimator.loss_traits_.binary:
        if weights is not None:
            raise ParameterError(
                f"score after loss={estimator.loss_!r} takes no sample_weight; repeat the rows"
            )
        return -Logistic(values).value(estimator.weights_)
    centred = values - estimator.mean_ / estimator.scale_
    varies = estimator.noise_variances_ > 0
    if not varies.any():
        return 0.0
    v, scale = estimator.noise_variances_[varies], estimator.scale_[varies]
    with np.errstate(over="ignore"):  # rows far out have a likelihood of zero: minus infinity
        residuals = centred - centred @ estimator.slopes_
        squares = (residuals[:, varies] / np.sqrt(v)) ** 2
        fit = np.average(squares, axis=0, weights=weights)
    return float(-0.5 * np.sum(fit + np.log(2.0 * math.pi * v) + 2.0 * np.log(scale)))


def implied(estimator: Any) -> Gaussian:
    """Return the mean and the covariance of the columns under the learned equations."""
    W = np.asarray(estimator.slopes_, np.float64)
    paths = np.linalg.inv(np.eye(len(W)) - W)
    S = paths.T @ (estimator.noise_variances_[:, None] * paths)
    return Gaussian(estimator.mean_, S * np.outer(estimator.scale_, estimator.scale_))


def completed(estimator: Any, X: FloatArray, seed: int | None = None) -> FloatArray:
    """Return the rows with gaps filled, by a draw if there is a seed; or without them ("drop")."""
    if not np.isnan(X).any():
        return X
    if estimator.missing == "drop":
        return X[used_rows("drop", X, least=1)]
    rng = None if seed is None else np.random.default_rng(seed)
    return implied(estimator).filled(X, rng)
