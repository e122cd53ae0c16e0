"""`diagnose`: every check of a fitted estimator on the data it was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import check_table, column_names
from analyticdag.candidates import correlations
from analyticdag.diagnostics.columns import (
    check_collinearity,
    check_constant,
    check_copies,
    check_rows,
)
from analyticdag.diagnostics.residuals import (
    check_residual_correlation,
    check_residual_independence,
    check_tails,
)
from analyticdag.diagnostics.result import Check, Diagnostics
from analyticdag.diagnostics.scale import (
    check_r2_sortability,
    check_standardised_refit,
    check_varsortability,
)
from analyticdag.linear.options import SCALE_LOSSES
from analyticdag.losses import covariance


def diagnose(estimator: Any, X: Any, *, refit: bool = True) -> Diagnostics:
    """Check a fitted `AnalyticDAG` and the data X it was fitted on; neither is changed.

    `refit=False` leaves out the one check that costs another fit: whether the answer would change
    if the data were standardised.
    """
    check_is_fitted(estimator)
    values = check_table(estimator, X, reset=False)
    names = column_names(estimator, values.shape[1])
    adjacency = np.asarray(estimator.adjacency_matrix_) != 0
    varies = values.std(axis=0) > 0
    R = np.where(varies[:, None] & varies, correlations(covariance(values)), np.eye(len(names)))
    residuals = _residuals(values, adjacency)
    checks: list[Check] = [
        check_constant(values, names),
        check_copies(R, names),
        check_collinearity(R, names, len(values)),
        check_rows(len(values), len(names), int(adjacency.sum(axis=0).max())),
        check_varsortability(
            adjacency, covariance(values), scale_matters=estimator.loss_ in SCALE_LOSSES
        ),
        check_r2_sortability(adjacency, R, len(values)),
        check_tails(residuals, names),
        check_residual_correlation(residuals, names),
        check_residual_independence(values, residuals, adjacency, names),
    ]
    if refit:
        checks.append(check_standardised_refit(estimator, X, names))
    return Diagnostics(tuple(checks))


def _residuals(values: FloatArray, adjacency: BoolArray) -> FloatArray:
    """Return what least squares on the learned parents leaves; a path's weights are shrunk."""
    centred = values - values.mean(axis=0)
    left: FloatArray = centred.copy()
    for j in np.flatnonzero(adjacency.any(axis=0)):
        parents = centred[:, adjacency[:, j]]
        left[:, j] -= parents @ np.linalg.lstsq(parents, centred[:, j], rcond=None)[0]
    return left
