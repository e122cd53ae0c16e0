"""`bootstrap`: refit on many resamples, locally or on a cluster, and count what comes back."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

import joblib
import numpy as np
from sklearn.base import clone

from analyticdag._parameters import file_name, jobs, shown, whole
from analyticdag._tables import NamedColumns
from analyticdag._typing import FloatArray
from analyticdag._validation import check_table, column_names
from analyticdag.errors import AnalyticDAGWarning, DataError, ParameterError
from analyticdag.fitting.checkpoint import held_checkpoint
from analyticdag.interventions import intervention_mask
from analyticdag.linear.rows import comes_in_batches
from analyticdag.stability.counts import Counts, CountsFile, fingerprint
from analyticdag.stability.resamples import Data, Scheme, check_scheme, fit_resample
from analyticdag.stability.result import Stability

_T = TypeVar("_T")


def bootstrap(
    estimator: Any,
    X: Any,
    n_resamples: int = 200,
    *,
    subsample: float | str | None = None,
    n_jobs: int | None = None,
    random_state: int | None = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    interventions: Any = None,
    groups: Any = None,
) -> Stability:
    """Refit `estimator` on resamples of the rows of X and count how often each edge comes back.

    Parameters
    ----------
    estimator : any estimator with `fit` that learns `adjacency_matrix_`; it is not changed.
    subsample : None for the bootstrap (n rows with replacement), a fraction of the rows drawn
        without replacement, or "complementary" for pairs of disjoint halves, which stability
        selection with an error bound needs.
    n_jobs : processes of joblib, None for one. `joblib.parallel_config(backend="dask")` around
        the call sends the resamples to a Dask cluster. The numbers depend on neither.
    random_state : the seed; None draws one.
    checkpoint : a file that keeps the counts; a run that was killed goes on from there when
        repeated, also with a larger `n_resamples`, and ends with the same numbers.
    progress : called with (resamples done, n_resamples) after each.
    interventions : as for `AnalyticDAG.fit`; they are drawn with their rows.
    groups : for each row a label; rows of one label (visits of a patient) are drawn together. None
        takes all rows for independent.
    """
    single, data, values, names = resampled(estimator, X, interventions)
    seed = seed_of_bootstrap(random_state, checkpoint)
    scheme = check_scheme(len(values), subsample, seed, n_resamples, groups)
    path = file_name("checkpoint", checkpoint)
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress must be a function or None, not {shown(progress)}")
    processes = jobs("processes", n_jobs, "one")
    with held_checkpoint(path):
        file = None
        if path is not None:
            file = CountsFile(path, fingerprint(estimator, values, names, scheme, data[1]))
        counts = (file.load(len(names)) if file else None) or Counts.none(len(names))
        if counts.done > n_resamples:
            raise ParameterError(
                f"checkpoint {str(checkpoint)!r} already holds {counts.done} resamples, more than "
                f"n_resamples={n_resamples}; ask for at least as many, or name another file"
            )
        left = range(counts.done, n_resamples)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnalyticDAGWarning)
            for found in each(fit_resample, single, data, scheme, left, processes):
                counts.add(found)
                if file:
                    file.offer(counts)
                if progress:
                    progress(counts.done, n_resamples)
        if file:
            file.save(counts)
    return Stability.from_counts(tuple(names), counts, scheme)


def resampled(
    estimator: Any, X: Any, interventions: Any
) -> tuple[Any, Data, FloatArray, list[Hashable]]:
    """Return a copy of the estimator on one thread, its data, their numbers and their names."""
    if comes_in_batches(X):
        raise DataError(
            "resamples draw rows, and need all of them in memory as one table, not batches, a "
            "file or a cluster; read them, or a sample of them, into one array or data frame"
        )
    probe = clone(estimator)
    values = check_table(probe, X, reset=True)
    names = column_names(probe, values.shape[1])
    mask = intervention_mask(interventions, names, len(values))
    single = _single_threaded(estimator)
    recipe = getattr(probe, "recipe_", None)
    if recipe is not None:
        # Read once: a resample need not have all levels of a column.
        X, single = NamedColumns(values, names, recipe), single.set_params(kinds=None)
    return single, (X, mask), values, names


def each(
    work: Callable[..., _T],
    estimator: Any,
    data: Data,
    scheme: Scheme,
    numbers: range,
    n_jobs: int | None,
) -> Iterator[_T]:
    """Yield what the work on each resample returns, in the order of their numbers."""
    parallel, task = joblib.Parallel(n_jobs, return_as="generator"), joblib.delayed(work)
    return parallel(task(estimator, data, scheme, number, os.getpid()) for number in numbers)


def _single_threaded(estimator: Any) -> Any:
    """Return a copy that runs on one thread: the resamples are what runs in parallel."""
    parameters = estimator.get_params(deep=False)
    if parameters.get("checkpoint") is not None:
        raise ParameterError(
            "the estimator has a checkpoint file, which its resamples would overwrite in turn; "
            "set checkpoint=None on it and give checkpoint= to bootstrap"
        )
    single = clone(estimator)
    return single.set_params(n_jobs=1) if "n_jobs" in parameters else single


def seed_of_bootstrap(random_state: Any, checkpoint: Any) -> int:
    """Return the seed; None draws one, which a checkpoint could not go on from."""
    if random_state is None:
        if checkpoint is not None:
            raise ParameterError(
                "a bootstrap with a checkpoint must draw the same rows when repeated; give "
                "random_state a number"
            )
        return int(np.random.SeedSequence().generate_state(1)[0])
    return whole("random_state", random_state, 0, what="None, or a whole number")
