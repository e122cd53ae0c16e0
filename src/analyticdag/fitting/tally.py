"""Levels of discrete columns, counted and added up: all that their readings need of the rows.

    MetLevels.wide(X)          the columns, and an indicator for each level of a discrete one
    Tally.of_rows(X, levels)   counts of the levels, and the sums of these wide columns
    a.merge(b)                 the same for the rows of both
    tally.moments(view, node)  the moments of other columns, each made of one column's levels

Codes, indicators and scores of levels are linear in indicators. So their moments follow exactly
from one pass over the rows, though which level has no column of its own, and where thresholds are,
is known after the last row only.

Levels are those met so far. A new one has the indicator zero in all rows before it, so the sums
grow by a column of zeros. A column of two values needs no indicators: it says itself which of the
two it is. A column of more than `MOST_COUNTED` values stands as a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.moments import Moments
from analyticdag.sums import Sums
from analyticdag.tables.recipe import DISCRETE

# Rows to columns that are made of them, each of one column's value.
View: TypeAlias = Callable[[FloatArray], FloatArray]
# Fifty columns of so many levels make a matrix of 50 MB. Beyond, a scale is close to a number.
MOST_COUNTED = 50
# Of a number it is enough to know whether it has two values.
_TWO = 2
# Rows that are looked at first: numbers show more than a few values there.
_GLANCE = 100


@dataclass(frozen=True, eq=False)
class MetLevels:
    """The values of every column met so far, ascending; None where they are more than `most`."""

    met: tuple[FloatArray | None, ...]
    most: tuple[int, ...]

    @classmethod
    def before_any_row(cls, n_columns: int, kinds: tuple[str, ...] = ()) -> MetLevels:
        """Return no levels of columns of these kinds; without kinds they are numbers."""
        kinds = kinds or ("",) * n_columns
        most = tuple(MOST_COUNTED if kind in DISCRETE else _TWO for kind in kinds)
        return cls((np.empty(0),) * n_columns, most)

    def with_rows(self, X: FloatArray) -> MetLevels:
        """Return these levels and those of the rows; itself where none is new."""
        return self._with(map(_joined, self.met, X.T, self.most))

    def merge(self, other: MetLevels) -> MetLevels:
        """Return the levels of both."""
        return self if other is self else self._with(map(_joined, self.met, other.met, self.most))

    def _with(self, met: Iterable[FloatArray | None]) -> MetLevels:
        found = tuple(met)
        same = all(new is old for new, old in zip(found, self.met, strict=True))
        return self if same else replace(self, met=found)

    @property
    def two_valued(self) -> BoolArray:
        """Which columns have two values."""
        return np.array([met is not None and len(met) == _TWO for met in self.met])

    @property
    def too_many(self) -> BoolArray:
        """Which columns have more values than are kept."""
        return np.array([met is None for met in self.met])

    @cached_property
    def marked(self) -> tuple[int, ...]:
        """The columns that have indicators."""
        return tuple(k for k, met in enumerate(self.met) if met is not None and len(met) > _TWO)

    @cached_property
    def node(self) -> IntArray:
        """The column that each of the wide columns is made of."""
        sizes = [len(self.of(k)) for k in self.marked]
        own = np.repeat(np.array(self.marked, dtype=np.int64), sizes)
        return np.concatenate([np.arange(len(self.met)), own])

    def of(self, k: int) -> FloatArray:
        """Return the levels of a column; none where there are too many."""
        met = self.met[k]
        return np.empty(0) if met is None else met

    def wide(self, X: FloatArray) -> FloatArray:
        """Return the columns, then the indicators of those that have such."""
        if not self.marked:
            return X
        marks = [X[:, [k]] == self.of(k) for k in self.marked]
        return np.concatenate([X, *marks], axis=1, dtype=np.float64)

    def counts(self, X: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, ...]:
        """Return how often each level came; a weight counts for so many rows."""
        share = np.ones(len(X)) if weights is None else weights
        return tuple(
            np.array([share[column == level].sum() for level in self.of(k)])
            for k, column in enumerate(X.T)
        )

    def linear(self, view: View, node: IntArray) -> tuple[Any, FloatArray, FloatArray]:
        """Return A, c and m that make a view of the wide columns: A (x - m) + c.

        Each column of the view is made of one column, `node`: it is whatever the view makes of the
        levels of this one, and of a column without indicators it is a straight line. As A x + c,
        levels such as 20200101 would lose digits.
        """
        points = self._points
        seen, constants, about = view(points), np.zeros(len(node)), np.zeros(len(self.node))
        about[: len(self.met)] = points[0]
        A = sparse.lil_array((len(node), len(self.node)))
        for j, k in enumerate(node.tolist()):
            if k in self.marked:
                own = np.flatnonzero(self.node == k)[1:]
                constants[j] = np.median(seen[: len(own), j])  # indicators sum to one
                A[j, own] = seen[: len(own), j] - constants[j]
            else:
                A[j, k] = (seen[1, j] - seen[0, j]) / (points[1, k] - points[0, k])
                constants[j] = seen[0, j]
        return A.tocsr(), constants, about

    @property
    def _points(self) -> FloatArray:
        """Rows with every level of the columns; of numbers, any two values."""
        n_rows = max([_TWO, *(len(self.of(k)) for k in self.marked)])
        points = np.empty((n_rows, len(self.met)))
        for k in range(len(self.met)):
            own = self.of(k) if len(self.of(k)) else np.zeros(1)
            own = own if len(own) > 1 else np.append(own, own + max(1.0, abs(own[0])))
            points[:, k] = np.append(own, np.full(n_rows - len(own), own[-1]))
        return points


def _joined(met: FloatArray | None, values: FloatArray | None, most: int) -> FloatArray | None:
    """Return levels with those among the values; the levels themselves where none is new."""
    if met is None or values is None:
        return None
    for some in (values[:_GLANCE], values):
        new = some[~(np.isin(some, met) | np.isnan(some))]
        if len(new):
            met = np.union1d(met, new)
        if len(met) > most:
            return None
    return met


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows added up: `counts` of the `levels` of each column, and the sums of `wide` columns."""

    levels: MetLevels
    counts: tuple[FloatArray, ...]
    wide: Sums

    @classmethod
    def of_rows(cls, X: FloatArray, levels: MetLevels, weights: FloatArray | None = None) -> Tally:
        """Add up finite rows, at least one; `levels` are those met before, and what is kept."""
        levels = levels.with_rows(X)
        sums = Sums.of_rows(levels.wide(X), weights)
        return cls(levels, levels.counts(X, weights), sums)

    def merge(self, other: Tally) -> Tally:
        """Return the tally of the rows of both."""
        levels = other.levels.merge(self.levels)
        one, two = self._in(levels), other._in(levels)
        counts = tuple(a + b for a, b in zip(one.counts, two.counts, strict=True))
        return Tally(levels, counts, one.wide.merge(two.wide))

    def _in(self, levels: MetLevels) -> Tally:
        """Return the same rows with these levels, all of its own among them."""
        if levels is self.levels:
            return self
        sums = self.wide.mapped(*self.levels.linear(levels.wide, levels.node))
        return Tally(levels, tuple(map(_placed, levels.met, self.levels.met, self.counts)), sums)

    @cached_property
    def columns(self) -> Sums:
        """The sums of the columns without indicators."""
        return self.wide.first(len(self.levels.met))

    def moments(self, view: View, node: IntArray) -> Moments:
        """Return the moments of a view of the rows, each column of which is made of one `node`."""
        return Moments.of_sums(self.wide.mapped(*self.levels.linear(view, node)))


def _placed(new: FloatArray | None, old: FloatArray | None, counts: FloatArray) -> FloatArray:
    """Return the counts of old levels among new ones."""
    if new is None or old is None:
        return np.empty(0)
    found = np.zeros(len(new))
    found[np.searchsorted(new, old)] = counts
    return found
