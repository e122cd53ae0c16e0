"""`diagnose`: every check of a fitted estimator on the data it was fitted on."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import check_table, column_names, correlations
from analyticdag.diagnostics.columns import (
    check_collinearity,
    check_constant,
    check_copies,
    check_few_values,
    check_rows,
    check_together,
)
from analyticdag.diagnostics.residuals import (
    check_residual_correlation,
    check_residual_independence,
    check_tails,
)
from analyticdag.diagnostics.result import Check, Diagnostics, Level
from analyticdag.diagnostics.scale import (
    check_r2_sortability,
    check_standardised_refit,
    check_varsortability,
    loss_of,
)
from analyticdag.errors import DataError
from analyticdag.fitting.edges import FIXED_IN_CLASS, FixedBy
from analyticdag.least_squares import block_slopes, weights_on_parents
from analyticdag.linear.misfit import few_valued
from analyticdag.linear.prepare import as_normal
from analyticdag.linear.rows import completed
from analyticdag.losses import covariance
from analyticdag.moments import Moments
from analyticdag.tables.look import Look
from analyticdag.tables.recipe import COUNTS, DISCRETE


def diagnose(
    estimator: Any,
    X: Any,
    *,
    refit: bool = True,
    look: Look | None = None,
    drawn: int | None = None,
) -> Diagnostics:
    """Check a fitted estimator and the data X it was fitted on; neither is changed.

    The equations of a `NonlinearDAG` are not checked, only the columns (for its equations there are
    `score` on held-out rows and `p_values_`). `refit=False` leaves out the one check that may cost
    another fit: whether the answer would change if the data were standardised. After a fit with
    interventions only that check sees the rows that were perturbed: what was done to them says
    nothing about the columns. Gaps are filled by a draw from the learned equations, so they speak
    neither for them nor against. A `look` at the table the rows came from tells whether some of
    them belong together. `drawn` says how many groups of rows, or rows, a bootstrap drew from, if
    there was one: then none is advised.
    """
    check_is_fitted(estimator)
    given = check_table(estimator, X, reset=False)
    table = completed(estimator, given, seed=0)
    values = _undisturbed(estimator, table)
    names = column_names(estimator, values.shape[1])
    if len(values) < 2:
        advice = "every row was perturbed, so there is no undisturbed one to check the model on"
        return Diagnostics((Check("undisturbed rows", Level.NOTE, advice),))
    few = few_valued(values) & (not loss_of(estimator).binary)
    known = _known_levels(estimator, len(names))
    few |= known
    checks = _of_columns(estimator, table, values, few & ~known, names, given, drawn)
    if hasattr(estimator, "standardize"):  # its equations are linear
        checks += _of_lines(estimator, values, few, names)
        if refit:
            checks.append(check_standardised_refit(estimator, X, table.var(axis=0), names))
    if look is not None:
        ordered = hasattr(estimator, "standardize") and len(values) == len(table)
        residuals = _residuals(estimator, values) if ordered else None
        checks.append(check_together(look, residuals, names, drawn=drawn))
    return Diagnostics(tuple(checks))


def _known_levels(estimator: Any, d: int) -> BoolArray:
    """Return which columns were read by their levels: nobody takes those for numbers."""
    recipe = getattr(estimator, "recipe_", None)
    if recipe is None:
        return np.zeros(d, dtype=bool)
    return np.array([kind in DISCRETE for kind in recipe.kinds])


def _of_columns(
    estimator: Any,
    table: FloatArray,
    values: FloatArray,
    few: BoolArray,
    names: list[Hashable],
    given: FloatArray,
    drawn: int | None,
) -> list[Check]:
    """Check what does not depend on the form of the equations; `given` is the table with gaps."""
    adjacency = np.asarray(estimator.adjacency_matrix_) != 0
    R = _correlations(values)
    return [
        check_constant(table, names, None if len(table) == len(values) else values),
        check_few_values(values, few, names),
        check_copies(R, names, given if np.isnan(given).any() else None),
        check_collinearity(covariance(values), names, len(values)),
        check_rows(len(values), len(names), int(adjacency.sum(axis=0).max()), drawn=drawn),
        check_varsortability(
            adjacency, covariance(values), scale_matters=bool(loss_of(estimator).reads_scales)
        ),
        check_r2_sortability(adjacency, R, len(values)),
    ]


def _of_lines(
    estimator: Any, values: FloatArray, few: BoolArray, names: list[Hashable]
) -> list[Check]:
    """Check what linear equations leave unexplained."""
    adjacency = np.asarray(estimator.adjacency_matrix_) != 0
    by_ranks = getattr(estimator, "covariance_", "sample") == "rank"
    if by_ranks:
        values = _normal_scores(values, few)
    residuals = _residuals(estimator, values)
    linked = adjacency.any(axis=0) | adjacency.any(axis=1)
    by_shape = [
        (e.source, e.target)
        for e in getattr(estimator, "edges_", ())
        # An edge of the class has a margin where the noise turned it.
        if e.fixed_by is FixedBy.NOISE_SHAPE or (e.fixed_by in FIXED_IN_CLASS and e.margin)
    ]
    return [
        check_tails(residuals, few, names, values, linked, by_ranks=by_ranks),
        check_residual_correlation(
            residuals, names, values, ranks=not _is_counted(estimator), by_ranks=by_ranks
        ),
        check_residual_independence(
            values, residuals, adjacency, few, names, by_shape, by_ranks=by_ranks
        ),
    ]


def _normal_scores(values: FloatArray, few: BoolArray) -> FloatArray:
    """Return the rows as ranks saw them, in which the equations of the graph are lines."""
    columns = [x if k else as_normal(x) for x, k in zip(values.T, few.tolist(), strict=True)]
    return np.column_stack(columns)


def _correlations(values: FloatArray) -> FloatArray:
    varies = values.std(axis=0) > 0
    return np.where(varies[:, None] & varies, correlations(covariance(values)), np.eye(len(varies)))


def _undisturbed(estimator: Any, values: FloatArray) -> FloatArray:
    """Return the rows in which nothing was perturbed; all of them without interventions."""
    mask = getattr(estimator, "interventions_", None)
    if mask is None:
        return values
    if mask.shape != values.shape:
        raise DataError(
            f"the estimator was fitted with interventions on {len(mask)} rows, but X has "
            f"{len(values)}; pass the data that it was fitted on"
        )
    return values[~mask.any(axis=1)]


def _residuals(estimator: Any, values: FloatArray) -> FloatArray:
    """Return what least squares on the learned parents leaves; a path's weights are shrunk.

    A category acts by all of its levels, and is what its scores are otherwise.
    """
    adjacency = np.asarray(estimator.adjacency_matrix_) != 0
    if _is_counted(estimator):
        return _left_by_counts(values, adjacency)
    centred, levels = values - values.mean(axis=0), getattr(estimator, "level_columns_", None)
    if levels is None:
        return centred - centred @ weights_on_parents(Moments.of_rows(values), adjacency)
    columns = levels.expanded(values)
    columns -= columns.mean(axis=0)
    n_columns = columns.shape[1]
    S = covariance(np.hstack([columns, centred]))
    for j in range(values.shape[1]):
        causes = levels.columns_of(*np.flatnonzero(adjacency[:, j]))
        if len(causes):
            slopes = block_slopes(S, causes, np.array([n_columns + j]))
            centred[:, j] -= (columns[:, causes] @ slopes)[:, 0]
    return centred


def _is_counted(estimator: Any) -> bool:
    """Whether every combination of parents was counted."""
    return getattr(estimator, "reading_", None) == COUNTS


def _left_by_counts(values: FloatArray, adjacency: BoolArray) -> FloatArray:
    """Return what the mean of each combination of parents leaves, in units of its deviation there.

    Parents may act together, and the spread of levels depends on their shares.
    """
    left = np.empty_like(values)
    for j in range(values.shape[1]):
        _, place, rows = np.unique(
            values[:, adjacency[:, j]], axis=0, return_inverse=True, return_counts=True
        )
        place = place.ravel()
        own = values[:, j] - (np.bincount(place, values[:, j]) / rows)[place]
        spread = np.sqrt(np.bincount(place, own**2) / rows)[place]
        left[:, j] = np.divide(own, spread, out=np.zeros_like(own), where=spread > 0.0)
    return left
