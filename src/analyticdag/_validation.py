"""What an estimator asks of its data, done once before the first iteration.

    check_table(m, X)      finite columns, in range, those of the fit
    check_covariance(S)    the same for sufficient statistics

Values come through the gate in `_tables`.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from analyticdag._parameters import whole
from analyticdag._tables import (
    NamedColumns,
    as_name,
    check_square,
    largest_sizes,
    listing,
    pick,
    read_columns,
    refuse_nonfinite,
    refuse_out_of_range,
)
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError, DataWarning
from analyticdag.tables.categories import scored
from analyticdag.tables.python import frame_to_read, recipe_of
from analyticdag.tables.recipe import Recipe
from analyticdag.tables.suspects import warn_of_codes

# What to do about NaN, where an estimator can do something.
_DROP = "impute or drop them"
_DROP_OR_EM = (
    f"{_DROP}, or pass missing='em' to learn from the rows as they are (of batches, or with "
    "loss='logistic': missing='drop')"
)
# Rows of a matrix that are looked at together: of a large one nothing must be there twice.
_BLOCK = 256
# Variances of standardised columns differ by at most this share, also when they were rounded.
STANDARDISED = 0.01


def check_table(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    least: int | None = None,
    sample_weight: Any = None,
    codes: bool = True,
) -> FloatArray:
    """Return X as a finite float64 array; X itself is never changed.

    With `reset`, X must have two rows, or `least`; n_features_in_ and feature_names_in_ are set on
    the estimator, as scikit-learn does, and names that it does not record. Without, X is compared
    with them. An estimator with `kinds` reads its columns by them, and sets `recipe_`. One with
    `missing` other than "error" gets gaps as NaN. By `sample_weight` levels count as in repeated
    rows; rows of weight zero, which the caller leaves out, may hold any words.
    """
    values, names = _read(estimator, X, reset=reset, given=sample_weight)
    if values.shape[1] == 0:
        raise DataError(
            f"X has 0 feature(s) (shape={values.shape}) while a minimum of 1 is required."
        )
    if reset:
        remember_columns(estimator, names, values.shape[1])
    else:
        _compare_columns(estimator, names, values.shape[1])
    refuse_few_rows(len(values), 1 + reset if least is None else least)
    known = column_names(estimator, values.shape[1])
    rule = getattr(estimator, "missing", None)
    values = check_values(values, known, rule)
    if reset and codes and not isinstance(X, NamedColumns):  # of which their look has told
        recipe = getattr(estimator, "recipe_", None)
        numbers = range(values.shape[1]) if recipe is None else recipe.numbers
        warn_of_codes(values, known, numbers)
    if reset and least is None and _welcomes_gaps(rule):
        _refuse_unseen(values, known)
    return values


def refuse_few_rows(n_rows: int, least: int = 2) -> None:
    """Refuse a table with fewer rows than this."""
    if n_rows < least:
        cure = "pass at least one" if least == 1 else "at least 2 are needed to estimate a variance"
        raise DataError(f"X has n_samples={n_rows} rows; {cure}")


def check_values(values: FloatArray, names: Sequence[Hashable], rule: str | None) -> FloatArray:
    """Return values that are finite and in range; gaps too, where the rule for them is no error."""
    present = np.where(np.isnan(values), 0.0, values) if _welcomes_gaps(rule) else values
    if len(values):
        # A long table is looked at once: what is not finite shows in the largest sizes.
        largest = largest_sizes(present)
        if not np.isfinite(largest).all():
            cure = _DROP_OR_EM if rule == "error" else _DROP
            refuse_nonfinite(present, names, cure=cure)
        refuse_out_of_range(present, names, largest=largest)
    # Sums over rows round by their order in memory: without this, a data frame and its values
    # could give different graphs.
    return np.ascontiguousarray(values)


def _welcomes_gaps(rule: Any) -> bool:
    """Whether `missing` lets gaps in; what is no rule is refused with the other parameters."""
    return isinstance(rule, str) and rule != "error"


def check_weights(given: Any, n_rows: int) -> FloatArray | None:
    """Return a weight for each row, zero or more; None where none were given."""
    if given is None:
        return None
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("sample_weight must hold a number for each row") from error
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight must have one weight for each of the {n_rows} rows; its shape is "
            f"{weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        row = int(np.argmax(~np.isfinite(weights) | (weights < 0.0)))
        raise DataError(
            f"sample_weight is {weights[row]:g} in row {row}; weights act like repeated rows, so "
            "they must be finite and not negative"
        )
    return weights


def _read(
    estimator: Any, X: Any, *, reset: bool, given: Any = None
) -> tuple[FloatArray, list[Hashable] | None]:
    """Return values and names of X, by the kinds of its columns where the estimator has such."""
    if not hasattr(estimator, "kinds"):
        return read_columns(X)
    asked = estimator.kinds
    if isinstance(X, NamedColumns) and X.recipe is not None:
        estimator.recipe_ = X.recipe if reset else estimator.recipe_
        return read_columns(X)
    weights = _weights_of_words(X, asked, given) if reset else None
    if reset:
        estimator.recipe_ = recipe_of(X, asked, weights=weights)
    recipe = estimator.recipe_
    is_read = isinstance(X, NamedColumns) or (type(X) is np.ndarray and X.dtype.kind in "biuf")
    if recipe is None or is_read:
        return read_columns(X)
    lenient = _welcomes_gaps(estimator.missing)
    # A stray text of the fit is a gap only where the user said what the column is.
    gaps = frozenset(asked or ()) if reset else frozenset(recipe.names if lenient else ())
    unused = None if weights is None else weights <= 0.0
    values = recipe.read(X, gaps=gaps, warn=not reset, unused=unused)
    if reset:
        columns, values = scored(recipe.columns, values, weights)
        estimator.recipe_ = Recipe(columns)
    return values, list(recipe.names)


def _weights_of_words(X: Any, kinds: Any, given: Any) -> FloatArray | None:
    """Return checked weights of a table with more than plain numbers; None of any other."""
    frame = None if given is None else frame_to_read(X, kinds)
    weights = None if frame is None else check_weights(given, len(frame))
    return weights if weights is not None and weights.any() else None


def _refuse_unseen(values: FloatArray, names: Sequence[Hashable]) -> None:
    """Refuse to fit columns of which next to nothing is there."""
    few: BoolArray = np.count_nonzero(~np.isnan(values), axis=0) < 2
    if few.any():
        raise DataError(
            f"columns {listing(pick(names, few))} have fewer than two values; leave them out"
        )


def column_names(estimator: Any, n_features: int) -> list[Hashable]:
    """Return the names scikit-learn recorded, those it does not record, or 0 … d-1."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    labels = getattr(estimator, "_column_labels", None)
    return list(range(n_features)) if labels is None else list(labels)


def remember_columns(estimator: Any, names: list[Hashable] | None, n_features: int) -> None:
    """Set what scikit-learn sets from a table, and names that are not all text."""
    estimator.n_features_in_ = n_features
    all_text = names is not None and all(isinstance(name, str) for name in names)
    estimator._column_labels = None if all_text else names
    if all_text:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _compare_columns(estimator: Any, names: list[Hashable] | None, n_features: int) -> None:
    fitted = column_names(estimator, estimator.n_features_in_)
    kind = type(estimator).__name__
    if names is not None and fitted != list(range(len(fitted))) and names != fitted:
        missing = [name for name in fitted if name not in names]
        new = [name for name in names if name not in fitted]
        differ = (
            f"missing {listing(missing)}, new {listing(new)}" if missing or new else "other order"
        )
        raise DataError(
            f"the feature names should match those of the fit, in the same order ({differ}); "
            "select the columns by name"
        )
    if n_features != estimator.n_features_in_:
        raise DataError(
            f"X has {n_features} features, but {kind} is expecting {estimator.n_features_in_} "
            "features as input; pass the columns it was fitted on"
        )
    if names is None and hasattr(estimator, "feature_names_in_"):
        warnings.warn(
            f"X does not have valid feature names, but {kind} was fitted with feature names; the "
            "columns are taken in the order of the fit",
            DataWarning,
            stacklevel=4,
        )


def check_covariance(S: Any, n_samples: Any) -> tuple[FloatArray, int, list[Hashable] | None]:
    """Return a covariance as a float64 array, the number of rows it came from, and its names."""
    n_samples = whole(
        "n_samples", n_samples, 2, 2**53, what="the number of rows behind S, a whole number"
    )
    values, names = read_columns(S, "S")
    _refuse_other_rows(S, names)
    values = covariance_matrix(values, names)
    check_symmetric(values)
    if not eigenvalues_exceed(correlations(values), -1e-6):
        raise DataError(
            "S has a negative eigenvalue, so it is no covariance; if it was computed pair by pair "
            "from data with gaps, impute first"
        )
    return values / 2.0 + values.T / 2.0, n_samples, names


def _refuse_other_rows(S: Any, names: list[Hashable] | None) -> None:
    """Refuse a data frame whose rows are not labelled as its columns are; numbers are no labels."""
    labels = getattr(S, "index", None)
    if names is None or labels is None or callable(labels):
        return
    rows = [as_name(label) for label in labels]
    if rows != names and rows != list(range(len(rows))):
        raise DataError(
            "the rows of S are not labelled as its columns are, or stand in another order; pass "
            "S.loc[S.columns, S.columns]"
        )


def covariance_matrix(S: Any, names: Sequence[Hashable] | None = None) -> FloatArray:
    """Return S as a finite square matrix of variances in range; cheap, so not all is looked at."""
    values, _ = read_columns(S, "S")
    check_square(values, "S, a covariance,")
    if not values.size:
        raise DataError("S must be a square matrix of at least one column; got shape (0, 0)")
    names = list(range(len(values))) if names is None else names
    refuse_nonfinite(values, names, what="S")
    if np.any(np.diag(values) < 0):
        culprits = listing(pick(names, np.diag(values) < 0))
        raise DataError(f"S has negative variances in columns {culprits}; pass a covariance")
    refuse_out_of_range(np.sqrt(np.diag(values))[None], names, what="the square root of S")
    return values


def check_symmetric(S: FloatArray) -> None:
    """Refuse a covariance that is not symmetric, beyond rounding."""
    sd = np.sqrt(np.diag(S))
    for first in range(0, len(S), _BLOCK):
        rows = slice(first, first + _BLOCK)
        rounding = 1e-8 * np.outer(sd[rows], sd) + np.finfo(float).tiny
        if np.any(np.abs(S[rows] - S[:, rows].T) > rounding):
            raise DataError(
                "S is not symmetric; pass a covariance such as numpy.cov(X.T, bias=True)"
            )


def correlations(S: FloatArray) -> FloatArray:
    """Return the correlations of a covariance; a constant column correlates with nothing."""
    sd = np.sqrt(np.diag(S))
    inverse = np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)
    R = np.ascontiguousarray(S * inverse)
    R *= inverse[:, None]
    np.fill_diagonal(R, 1.0)
    return R


def looks_standardised(variances: FloatArray) -> bool:
    """Return whether all variances are the same: with n or n - 1, few rows, and in any unit."""
    if len(variances) < 2 or not variances.max() > 0.0:
        return False
    shares = variances / variances.max()
    return bool(np.all(np.abs(shares / shares.mean() - 1.0) < STANDARDISED))


def eigenvalues_exceed(R: FloatArray, bound: float) -> bool:
    """Whether R - bound·I is positive definite: a tenth of the price of the eigenvalues."""
    try:
        np.linalg.cholesky(R - bound * np.eye(len(R)))
    except np.linalg.LinAlgError:
        return False
    return True
