"""Data and argument checks, done once before the first iteration.

`check_table` turns whatever the caller has (pandas, polars, lists, NumPy) into a float array and
column names, on scikit-learn's `validate_data`; its refusals name the column and the cure.
`check_covariance` does the same for sufficient statistics. `warn_about_columns` finds what can be
survived (constant, duplicate and collinear columns) and warns.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError, DataWarning, ParameterError

# A column whose spread is below this fraction of its size differs by rounding only.
CONSTANT = 1e-13
# An eigenvalue of the correlations below this is collinearity, not noise.
COLLINEAR = 1e-10
# Standardised with either n or n - 1, variances differ from 1 by at most this for n > 100.
STANDARDISED = 0.01
_SHOWN = 10


def check_table(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    """Return X as a finite float64 array; X itself is never changed.

    With `reset`, X must have two rows, and n_features_in_ and feature_names_in_ are set on the
    estimator, as scikit-learn does, and names that it does not record; without, X is compared
    with them.
    """
    _refuse_duplicate_names(X)
    if reset:
        remember_labels(estimator, getattr(X, "columns", None))
    _refuse_text(X)
    try:
        values: FloatArray = validate_data(
            estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False
        )
    except ValueError as error:  # scikit-learn's words are good; the class is ours
        raise DataError(f"{error}{_text_columns(X)}") from error
    names = column_names(estimator, values.shape[1])
    _refuse_nonfinite(values, names)
    if reset and len(values) < 2:
        raise DataError(
            f"X has n_samples={len(values)} row; at least 2 are needed to estimate a variance"
        )
    return values


def column_names(estimator: Any, n_features: int) -> list[Hashable]:
    """Return the names scikit-learn recorded, those it does not record, or 0 … d-1."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    labels = getattr(estimator, "_column_labels", None)
    return list(range(n_features)) if labels is None else list(labels)


def remember_labels(estimator: Any, columns: Any) -> None:
    """Keep column names that are not all text: whole numbers as they are, others as text."""
    labels = None
    if columns is not None and not all(isinstance(name, str) for name in columns):
        labels = [int(name) if _is_whole(name) else str(name) for name in columns]
    estimator._column_labels = labels


def _is_whole(name: Any) -> bool:
    return isinstance(name, int | np.integer) and not isinstance(name, bool)


def check_covariance(S: Any, n_samples: Any) -> tuple[FloatArray, int, Sequence[Hashable] | None]:
    """Return a covariance as a float64 array, the number of rows it came from, and its names."""
    is_count = isinstance(n_samples, int | np.integer) and not isinstance(n_samples, bool)
    if not is_count or n_samples < 2:
        raise ParameterError(
            f"n_samples must be the number of rows behind S, at least 2, not {n_samples!r}"
        )
    _refuse_duplicate_names(S)
    names = getattr(S, "columns", None)
    try:
        values = np.array(S, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"S must be a matrix of numbers: {error}") from error
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not values.size:
        raise DataError(f"S must be a square covariance matrix, but its shape is {values.shape}")
    _refuse_nonfinite(values, list(range(len(values))), what="S")
    _refuse_not_covariance(values)
    return (values + values.T) / 2.0, int(n_samples), None if names is None else list(names)


def constant_columns(values: FloatArray) -> BoolArray:
    """Return which columns of a table hold one value only, up to rounding."""
    spread = values.max(axis=0) - values.min(axis=0)
    constant: BoolArray = spread <= CONSTANT * np.abs(values).max(axis=0)
    return constant


def warn_about_columns(
    R: FloatArray, constant: BoolArray, names: Sequence[Hashable], *, n_samples: int
) -> None:
    """Warn of constant, duplicate and collinear columns, given the correlations R."""
    if constant.any():
        culprits = _list(_pick(names, constant))
        warnings.warn(
            f"columns {culprits} are constant; they are kept as isolated nodes, drop them if "
            "that is not wanted",
            DataWarning,
            stacklevel=3,
        )
    R = R[np.ix_(~constant, ~constant)]
    names = _pick(names, ~constant)
    pairs = np.argwhere(np.triu(np.abs(R), 1) > 1.0 - COLLINEAR)
    if len(pairs):
        culprits = _list([(names[i], names[j]) for i, j in pairs])
        warnings.warn(
            f"column pairs {culprits} are copies of each other up to scale; edges to and from "
            "them are arbitrary, keep one of each pair",
            DataWarning,
            stacklevel=3,
        )
    elif n_samples > len(R) > 1 and not _eigenvalues_exceed(R, COLLINEAR):
        culprits = _list(_collinear(R, names))
        warnings.warn(
            f"columns {culprits} are collinear (some are exact combinations of others); edges "
            "among them are arbitrary, drop the redundant ones",
            DataWarning,
            stacklevel=3,
        )


def looks_standardised(variances: FloatArray) -> bool:
    """Return whether all variances are 1 up to the choice of n or n - 1."""
    return len(variances) > 1 and bool(np.all(np.abs(variances - 1.0) < STANDARDISED))


def _eigenvalues_exceed(R: FloatArray, bound: float) -> bool:
    """Whether R - bound·I is positive definite: a tenth of the price of the eigenvalues."""
    try:
        np.linalg.cholesky(R - bound * np.eye(len(R)))
    except np.linalg.LinAlgError:
        return False
    return True


def _collinear(R: FloatArray, names: Sequence[Hashable]) -> list[Hashable]:
    """Return the columns that take part in the null space of the correlations."""
    values, vectors = np.linalg.eigh(R)
    share = np.abs(vectors[:, values < COLLINEAR]).max(axis=1)
    return _pick(names, share > 1e-4)


def _refuse_duplicate_names(X: Any) -> None:
    columns = getattr(X, "columns", None)
    if columns is None:
        return
    seen: set[Hashable] = set()
    twice = [name for name in columns if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if twice:
        raise DataError(
            f"X has more than one column named {_list(sorted(set(twice), key=str))}; "
            "rename or drop them"
        )


def _refuse_text(X: Any) -> None:
    """Name the columns of a data frame that are not numbers."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    text = [
        name
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object))
    ]
    if text:
        raise DataError(
            f"X has columns that are not numbers: {_list(text)}; drop them or encode them "
            "(for example one column of 0/1 per category)"
        )


def _text_columns(X: Any) -> str:
    """Return a sentence on the columns of an untyped array that do not read as numbers."""
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "OUS":
        return ""
    culprits = [j for j in range(array.shape[1]) if not _reads_as_numbers(array[:, j])]
    return f" (columns {_list(culprits)} hold text; drop them or encode them)" if culprits else ""


def _reads_as_numbers(column: Any) -> bool:
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _refuse_nonfinite(values: FloatArray, names: Sequence[Hashable], what: str = "X") -> None:
    for kind, bad, cure in (
        ("NaN", np.isnan(values), "impute or drop them"),
        ("infinity (inf)", np.isinf(values), "replace or drop the rows that hold them"),
    ):
        columns: BoolArray = np.any(bad, axis=0)
        if columns.any():
            culprits = _list(_pick(names, columns))
            raise DataError(f"{what} has {kind} in columns {culprits}; {cure}")


def _refuse_not_covariance(S: FloatArray) -> None:
    scale = np.sqrt(np.abs(np.diag(S)))
    slack = 1e-8 * (np.outer(scale, scale) + np.finfo(float).tiny)
    if np.any(np.abs(S - S.T) > slack):
        raise DataError("S is not symmetric; pass a covariance such as numpy.cov(X.T, bias=True)")
    if np.any(np.diag(S) < 0):
        culprits = _list(np.flatnonzero(np.diag(S) < 0).tolist())
        raise DataError(f"S has negative variances in columns {culprits}; pass a covariance")
    unit = np.where(scale > 0, scale, 1.0)
    if not _eigenvalues_exceed((S + S.T) / 2.0 / np.outer(unit, unit), -1e-6):
        raise DataError(
            "S has a negative eigenvalue, so it is no covariance; if it was computed pair by pair "
            "from data with gaps, impute first"
        )


def _pick(names: Sequence[Hashable], chosen: BoolArray) -> list[Hashable]:
    return [name for name, keep in zip(names, chosen, strict=True) if keep]


def _list(items: Sequence[Any]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return f"{list(items)[:_SHOWN]}{more}"
