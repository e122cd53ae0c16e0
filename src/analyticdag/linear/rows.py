"""Rows as a fit and a fitted `AnalyticDAG` see them: weights, gaps, likelihood, batches.

    used_rows(rule, X, weights)  which rows are used
    mean_log_likelihood(…)       what `score` returns
    implied(estimator)           the Gaussian that the learned equations make
    completed(estimator, X)      rows without gaps, for whatever needs such

A gap is filled by what the equations expect of it given the rest of its row, or by a draw.

More rows than memory holds are added up:

    comes_in_batches(X)         whether X is a file, an iterable of tables, or on a cluster
    from_batches(estimator, X)  every batch checked and added up, and a sample of the rows

Covariances and means are exact, and so are counts and moments of the levels of discrete columns
(`fitting.tally`). What needs single rows goes by the sample: the kurtosis that `loss="auto"` allows
for, the misfit behind `min_effect="auto"`, and how certain correlations of scores are.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Hashable, Iterable, Iterator, Set
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from analyticdag._tables import NamedColumns, listing
from analyticdag._threads import one_blas_thread
from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import (
    check_table,
    column_names,
    refuse_few_rows,
    remember_columns,
)
from analyticdag.effects.known import Known
from analyticdag.effects.levels import with_levels
from analyticdag.effects.what_if import target_place
from analyticdag.effects.what_if_levels import predicted
from analyticdag.errors import DataError, DataWarning, ParameterError
from analyticdag.fitting.cluster import is_on_cluster, names_of, of_cluster, recipe_on
from analyticdag.fitting.rows import Seen, Summed
from analyticdag.fitting.statistics import Statistics
from analyticdag.losses import Logistic
from analyticdag.tables.batches import BATCH_ROWS, Batches, read_batches, with_first_look
from analyticdag.tables.categories import FEWEST_ROWS, MOST_LEVELS
from analyticdag.tables.gaps import Gaussian
from analyticdag.tables.recipe import OTHER, Recipe
from analyticdag.tables.suspects import warn_of_suspects


def comes_in_batches(X: Any) -> bool:
    """Whether X is no table, but a file, a list of tables, an iterable of them, or on a cluster."""
    if isinstance(X, str | os.PathLike | Iterator | Summed) or is_on_cluster(X) or _is_dataset(X):
        return True
    if sparse.issparse(X):
        return False
    if isinstance(X, list | tuple):
        return bool(X) and len(getattr(X[0], "shape", ())) == 2
    has_cells = hasattr(X, "__array__") or hasattr(X, "__getitem__")
    return isinstance(X, Iterable) and not has_cells and not isinstance(X, Set)


def _is_dataset(X: Any) -> bool:
    return hasattr(X, "to_batches") and not hasattr(X, "shape")  # as Arrow has them


def refuse_beside_batches(sample_weight: Any, interventions: Any) -> None:
    """Refuse what has an entry for each row, where rows come batch by batch."""
    if interventions is not None:
        raise ParameterError(
            "interventions need all rows at once; pass one table instead of batches"
        )
    if sample_weight is not None:
        raise ParameterError(
            "sample_weight beside batches would need one for each row; give batches and weights "
            "to partial_fit, one after the other"
        )


def from_batches(estimator: Any, X: Any) -> tuple[Statistics, Seen]:
    """Check every batch by the columns of the first, and add it up; also what was seen."""
    if isinstance(X, Summed):
        remember_columns(estimator, list(X.names), len(X.names))
        estimator.recipe_ = X.recipe
        return from_seen(estimator, X.seen), X.seen
    if isinstance(X, str | os.PathLike):
        X = read_batches(X, kinds=estimator.kinds)
        X.refuse_left_out()
        warn_of_suspects(X.look.suspects)
    statistics, seen = (_from_cluster if is_on_cluster(X) else _from_tables)(estimator, X)
    n_first = X.look.n_rows if isinstance(X, Batches) else BATCH_ROWS
    if statistics.n_samples > n_first:
        warn_of_rare_levels(estimator.recipe_, n_first, "in all; shuffle the rows")
    return statistics, seen


def warn_of_rare_levels(recipe: Recipe | None, n_first: int, then: str) -> None:
    """Say which columns have levels that the first rows join for good: not as they are too many,
    but too rare there."""
    joined = [
        one.name
        for one in (() if recipe is None else recipe.columns)
        if one.merged or (OTHER in one.levels and len(one.levels) < MOST_LEVELS)
    ]
    if joined:
        warnings.warn(
            f"levels of {listing(joined)} in fewer than {FEWEST_ROWS} of the first {n_first} rows "
            f"count with others {then} to keep them",
            DataWarning,
            stacklevel=4,
        )


def _from_tables(estimator: Any, X: Any) -> tuple[Statistics, Seen]:
    """Return the statistics of tables that come one after the other."""
    seen, tables = Seen(), map(_table, X.to_batches() if _is_dataset(X) else X)
    with one_blas_thread():
        batches = with_first_look(filter(_has_rows, tables), estimator.kinds)
        for number, batch in enumerate(batches):
            try:
                values = check_table(estimator, batch, reset=number == 0, least=0)
            except DataError as error:
                raise type(error)(f"batch {number}: {error}") from error
            used = used_rows(estimator.missing, values, least=0)
            seen.add(chosen(values, used), kinds=kinds_of(estimator))
    return from_seen(estimator, seen), seen


def _has_rows(table: Any) -> bool:
    """Whether a batch has rows: one without may have no columns, or none with a type."""
    shape: tuple[int, ...] = getattr(table, "shape", ())
    return len(shape) < 2 or shape[0] > 0


def from_seen(estimator: Any, seen: Seen) -> Statistics:
    """Return the statistics of rows that were added up."""
    refuse_few_rows(0 if seen.tally is None else round(seen.tally.wide.n))
    assert seen.tally is not None
    rows = seen.sample.rows if seen.sample.n_seen else None
    names = column_names(estimator, len(seen.tally.levels.met))
    return Statistics.from_sums(seen.tally, rows, names, standardize=estimator.standardize)


def kinds_of(estimator: Any) -> tuple[str, ...]:
    """Return what the columns are; nothing where all are numbers."""
    return () if estimator.recipe_ is None else estimator.recipe_.kinds


def _from_cluster(estimator: Any, X: Any) -> tuple[Statistics, Seen]:
    """Return the statistics of a Dask DataFrame, which is added up on its cluster."""
    estimator.recipe_ = recipe = recipe_on(X, estimator.kinds)
    names: list[Hashable] = names_of(X) if recipe is None else list(recipe.names)
    remember_columns(estimator, names, len(names))
    tally, rows = of_cluster(X, estimator.missing, recipe)
    known, standardize = column_names(estimator, len(names)), estimator.standardize
    return Statistics.from_sums(tally, rows, known, standardize=standardize), Seen(tally)


def _table(batch: Any) -> Any:
    """Return a batch as something the gate for values takes."""
    if isinstance(batch, NamedColumns):
        return batch
    is_frame = hasattr(batch, "group_by") or hasattr(batch, "iloc")
    if hasattr(batch, "__arrow_c_stream__") and not is_frame:
        return nw.from_arrow(batch, backend="pyarrow").to_native()  # a record batch
    if isinstance(batch, list | tuple) and batch and hasattr(batch[0], "shape"):
        batch = batch[0]  # Torch's loaders wrap their tensor
    if getattr(batch, "ndim", 2) == 1:
        raise DataError("X gives single rows; pass list(X), or batches that are tables")
    return batch


def used_rows(
    rule: str, X: FloatArray, weights: FloatArray | None = None, *, least: int = 2
) -> BoolArray:
    """Return which rows are used; refuse if leaving rows out leaves too few, or too little weight.

    Left out are rows of weight zero and, with "drop", rows with gaps. With `least` zero, all may.
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
        if least and not used.any():
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
        return -Logistic(values, estimator.mean_).value(estimator.weights_)
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


def predictions(estimator: Any, X: FloatArray, target: Hashable | None) -> Any:
    """Return what `predict` says of a target, or of every column; of levels, probabilities."""
    place = None if target is None else target_place(estimator.class_graph_, target)
    known = Known.of(estimator)
    return predicted(known, _expected(estimator, known, X), place)


def _expected(estimator: Any, known: Known, X: FloatArray) -> FloatArray:
    """Return what the equations make of the columns of every node from its causes, row by row."""
    if known.levels is not None:
        return with_levels(known.equations).expected(X)
    weights = estimator.slopes_ * estimator.scale_ / estimator.scale_[:, None]
    return estimator.mean_ + (X - estimator.mean_) @ weights


def completed(estimator: Any, X: FloatArray, seed: int | None = None) -> FloatArray:
    """Return the rows with gaps filled, by a draw if there is a seed; or without them ("drop")."""
    if not np.isnan(X).any():
        return X
    if estimator.missing == "drop":
        return X[used_rows("drop", X, least=1)]
    rng = None if seed is None else np.random.default_rng(seed)
    return implied(estimator).filled(X, rng)
