"""Which rows a resample has, and what the fit on them found.

subsample                rows of one resample
None                     n rows with replacement: the bootstrap
a fraction, 0 < f < 1    f·n rows without replacement
"complementary"          n/2 rows; resamples 2k and 2k + 1 share none: complementary pairs

Rows that belong together (`groups`) are drawn together: what is said of rows here then holds of
groups.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from sklearn.base import clone

from analyticdag._parameters import shown, whole
from analyticdag._tables import NamedColumns, to_host
from analyticdag._typing import BoolArray, IntArray
from analyticdag.errors import AnalyticDAGWarning, DataError, ParameterError
from analyticdag.fitting.edges import FixedBy
from analyticdag.graphs import to_cpdag
from analyticdag.tables.together import group_members

COMPLEMENTARY = "complementary"
# Shares of so many are known to four digits; more would only keep a machine busy.
MOST_RESAMPLES = 100_000_000

# A table, and which of its entries were perturbed.
Data: TypeAlias = tuple[Any, BoolArray | None]


@dataclass(frozen=True)
class Scheme:
    """How rows are drawn; the draw of a resample depends on the seed and its number only."""

    n_samples: int  # rows, or groups of rows
    subsample: float | str | None
    seed: int
    members: tuple[tuple[int, ...], ...] | None = None  # the rows of each group

    def rows(self, number: int) -> IntArray:
        """Return the row indices of one resample."""
        drawn = self._drawn(number)
        if self.members is None:
            return drawn
        return np.concatenate([np.array(self.members[k], np.int64) for k in drawn.tolist()])

    def _drawn(self, number: int) -> IntArray:
        paired = self.subsample == COMPLEMENTARY
        key = number // 2 if paired else number
        # What SeedSequence(seed).spawn(...) gives its child number `key`, without the others.
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(key,)))
        if self.subsample is None:
            return rng.integers(self.n_samples, size=self.n_samples)
        order = rng.permutation(self.n_samples)
        size = self.n_rows
        return order[size : 2 * size] if paired and number % 2 else order[:size]

    @property
    def n_rows(self) -> int:
        """How many rows, or groups of rows, a resample has."""
        if self.subsample is None:
            return self.n_samples
        fraction = 0.5 if isinstance(self.subsample, str) else self.subsample
        return int(fraction * self.n_samples)


def check_scheme(
    n_samples: int, subsample: Any, seed: int, n_resamples: Any, groups: Any = None
) -> Scheme:
    """Refuse what cannot be drawn."""
    members = None if groups is None else group_members(groups, n_samples)
    n_samples = n_samples if members is None else len(members)
    n_resamples = whole("n_resamples", n_resamples, 1, MOST_RESAMPLES)
    # Compared as it is: float(10**400) would overflow.
    is_fraction = isinstance(subsample, Real) and 0 < subsample < 1  # type: ignore[operator]
    is_word = isinstance(subsample, str) and subsample == COMPLEMENTARY
    if subsample is not None and not is_word and not is_fraction:
        raise ParameterError(
            "subsample must be None (the bootstrap), a fraction between 0 and 1, or "
            f"{COMPLEMENTARY!r}, not {shown(subsample)}"
        )
    if is_word and n_resamples % 2:
        raise ParameterError(
            f"complementary pairs need an even n_resamples, not {n_resamples}; use "
            f"{n_resamples + 1}"
        )
    scheme = Scheme(n_samples, subsample, seed, members)
    if scheme.n_rows < 2:
        raise DataError(
            f"subsample={subsample!r} of {n_samples} {'rows' if members is None else 'groups'} "
            f"leaves {scheme.n_rows}; at least 2 are needed, so give more or a larger fraction"
        )
    return scheme


@dataclass(frozen=True, eq=False)
class FoundEdges:
    """The edges of one fit as (k, 2) indices: of the DAG, and those that the data direct."""

    edges: IntArray
    directed: IntArray


def fit_resample(
    estimator: Any, data: Data, scheme: Scheme, number: int, parent: int
) -> FoundEdges:
    """Fit a fresh copy of the estimator on one resample and return its edges."""
    fitted = fitted_on(estimator, data, scheme, number, parent)
    adjacency = np.asarray(fitted.adjacency_matrix_) != 0
    cpdag = np.asarray(getattr(fitted, "cpdag_", to_cpdag(adjacency))) != 0
    directed = (cpdag & ~cpdag.T) | _by_shape(fitted, adjacency)
    return FoundEdges(np.argwhere(adjacency), np.argwhere(directed))


def _by_shape(fitted: Any, adjacency: BoolArray) -> BoolArray:
    """Return the edges whose direction the shapes of the noise fixed."""
    found = np.zeros_like(adjacency)
    names = list(getattr(fitted, "graph_", ()))
    for edge in getattr(fitted, "edges_", ()):
        if edge.fixed_by is FixedBy.NOISE_SHAPE:
            found[names.index(edge.source), names.index(edge.target)] = True
    return found


def fitted_on(estimator: Any, data: Data, scheme: Scheme, number: int, parent: int) -> Any:
    """Return a fresh copy of the estimator, fitted on one resample; runs on a worker."""
    fitted, (X, mask) = clone(estimator), data
    drawn = scheme.rows(number)
    # Only an estimator that knows interventions is asked to.
    known = {} if mask is None else {"interventions": mask[drawn]}
    if os.getpid() == parent:
        # Filters are global to a process: `bootstrap` itself has silenced this one.
        fitted.fit(take(X, drawn), **known)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnalyticDAGWarning)
            fitted.fit(take(X, drawn), **known)
    return fitted


def take(X: Any, rows: IntArray) -> Any:
    """Return the rows of a table as a table of its own kind, names included."""
    if isinstance(X, NamedColumns):
        return X.take(rows)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows.tolist(), :].to_native()
    return np.asarray(to_host(X))[rows]
