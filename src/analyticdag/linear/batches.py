"""More rows than memory: what `fit` takes beside a table.

    comes_in_batches(X)         whether X is a file, an iterable of tables, or on a cluster
    from_batches(estimator, X)  every batch checked and added up, and a sample of the rows
    seen_so_far(estimator)      what `partial_fit` goes on from

Covariances and means are exact. What needs single rows goes by the sample: the kurtosis that
`loss="auto"` allows for, and the misfit behind `min_effect="auto"`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Set
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from analyticdag._tables import NamedColumns
from analyticdag._threads import one_blas_thread
from analyticdag._validation import check_table, column_names, remember_columns
from analyticdag.errors import DataError, ParameterError
from analyticdag.fitting.cluster import is_on_cluster, names_of, of_cluster
from analyticdag.fitting.rows import Seen, Summed
from analyticdag.fitting.statistics import Statistics
from analyticdag.linear.rows import chosen, used_rows
from analyticdag.sums import Sums
from analyticdag.tables.batches import read_batches


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


def from_batches(estimator: Any, X: Any) -> Statistics:
    """Check every batch by the columns of the first, and add it up."""
    if is_on_cluster(X):
        return _from_cluster(estimator, X)
    if isinstance(X, Summed):
        remember_columns(estimator, list(X.names), len(X.names))
        estimator.recipe_ = X.recipe
        return from_seen(estimator, X.seen)
    if isinstance(X, str | os.PathLike):
        X = read_batches(X, kinds=estimator.kinds)
        X.refuse_left_out()
    seen = Seen()
    with one_blas_thread():
        for number, batch in enumerate(X.to_batches() if _is_dataset(X) else X):
            try:
                values = check_table(estimator, _table(batch), reset=number == 0, least=0)
            except DataError as error:
                raise type(error)(f"batch {number}: {error}") from error
            seen.add(chosen(values, used_rows(estimator.missing, values, least=0)))
    return from_seen(estimator, seen)


def from_seen(estimator: Any, seen: Seen) -> Statistics:
    """Return the statistics of rows that were added up."""
    if seen.sums is None or round(seen.sums.n) < 2:
        n_rows = 0 if seen.sums is None else round(seen.sums.n)
        raise DataError(
            f"X has n_samples={n_rows} rows; at least 2 are needed to estimate a variance"
        )
    names = column_names(estimator, len(seen.sums.mean))
    rows = seen.sample.rows if seen.sample.n_seen else None
    return Statistics.from_sums(seen.sums, rows, names, standardize=estimator.standardize)


def _from_cluster(estimator: Any, X: Any) -> Statistics:
    """Return the statistics of a Dask DataFrame, which is added up on its cluster."""
    if estimator.kinds:
        raise ParameterError("kinds are for rows that are here; make numbers of the columns first")
    names = names_of(X)
    remember_columns(estimator, names, len(names))
    estimator.recipe_ = None
    sums, rows = of_cluster(X, estimator.missing)
    standardize = estimator.standardize
    return Statistics.from_sums(
        sums, rows, column_names(estimator, len(names)), standardize=standardize
    )


def _table(batch: Any) -> Any:
    """Return a batch as something the gate for values takes."""
    if isinstance(batch, NamedColumns):
        return batch
    if hasattr(batch, "__arrow_c_stream__") and not hasattr(batch, "group_by"):
        return nw.from_arrow(batch, backend="pyarrow").to_native()  # a record batch
    if isinstance(batch, list | tuple) and batch and hasattr(batch[0], "shape"):
        batch = batch[0]  # Torch's loaders wrap their tensor
    if getattr(batch, "ndim", 2) == 1:
        raise DataError("X gives single rows; pass list(X), or batches that are tables")
    return batch


def seen_so_far(estimator: Any) -> Seen:
    """Return what `partial_fit` has seen, or what a fit has left of its rows."""
    kept: Seen | None = getattr(estimator, "_seen", None)
    if kept is not None:
        return kept
    return Seen(_sums_of(estimator) if hasattr(estimator, "moments_") else None)


def _sums_of(estimator: Any) -> Sums:
    if estimator.interventions_ is not None:
        raise ParameterError(
            "partial_fit cannot go on from a fit with interventions, which has rows of its own "
            "for every column; fit all rows at once"
        )
    varies, moments = estimator.noise_variances_ > 0.0, estimator.moments_
    unit = estimator.scale_ * varies
    return Sums.of_covariance(moments.S * np.outer(unit, unit), estimator.mean_, moments.n_samples)
