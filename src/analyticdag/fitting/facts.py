"""What the rows say about discrete columns: from a table in memory, or from sums over all rows.

    facts_of(statistics)    -> Facts, or None where neither rows nor sums of levels are left

| facts                                   | of a table     | of rows added up (`tally.py`) |
|-----------------------------------------|----------------|-------------------------------|
| levels of a column and their counts     | counted        | counted, exactly              |
| moments of codes, indicators and scores | of the rows    | by a linear map, exactly      |
| variances of correlations of scores     | fourth moments | fourth moments of a sample    |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.rows import Rows
from analyticdag.fitting.statistics import Statistics, moments_with_gaps
from analyticdag.fitting.tally import MetLevels, Tally, View
from analyticdag.moments import Moments
from analyticdag.tables.latent import counted

_T = TypeVar("_T")


class Facts(Protocol):
    """What a design is made from (`design.py`)."""

    @property
    def two_valued(self) -> BoolArray: ...  # noqa: D102  (which columns have two values)
    @property
    def can_ask(self) -> bool: ...  # noqa: D102  (whether `ask` can be answered)
    @property
    def too_many(self) -> BoolArray: ...  # noqa: D102  (which columns have levels beyond counting)
    def counted(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return the levels of a column and how often each came; none where there are too many."""

    def moments(self, view: View, node: IntArray) -> Moments:
        """Return the moments of a view of the rows; `node` is what its columns are made of."""

    def ask(self, question: Callable[[FloatArray, FloatArray | None], _T]) -> _T:
        """Return the answer of the rows, or of a sample of them."""


@dataclass(frozen=True, eq=False)
class RowFacts:
    """Facts of a table in memory, which may have gaps."""

    values: FloatArray
    weights: FloatArray | None = None
    perturbed: BoolArray | None = None

    @property
    def two_valued(self) -> BoolArray:
        """Which columns have two values."""
        none_yet = MetLevels.before_any_row(self.values.shape[1])
        return none_yet.with_rows(self.values).two_valued

    @property
    def can_ask(self) -> bool:
        """Whether the rows answer for all columns at once: not where each has rows of its own."""
        return self.perturbed is None

    @property
    def too_many(self) -> BoolArray:
        """No column has more levels than can be counted."""
        return np.zeros(self.values.shape[1], dtype=bool)

    def counted(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return the levels of a column and how often each came."""
        return counted(self.values[:, k], self.weights)

    def moments(self, view: View, node: IntArray) -> Moments:
        """Return the moments of a view of the rows."""
        rows = view(self.values)
        mask = None if self.perturbed is None else self.perturbed[:, node]
        reduced = moments_with_gaps if np.isnan(rows).any() else Moments.of_rows
        return reduced(rows, mask, self.weights)

    def ask(self, question: Callable[[FloatArray, FloatArray | None], _T]) -> _T:
        """Return the answer of the rows."""
        return question(self.values, self.weights)


@dataclass(frozen=True, eq=False)
class SumFacts:
    """Facts of rows that were added up, and a sample of them; None where it is not of all rows."""

    tally: Tally
    sample: Rows | None

    @property
    def two_valued(self) -> BoolArray:
        """Which columns have two values."""
        return self.tally.levels.two_valued

    @property
    def can_ask(self) -> bool:
        """Whether there is a sample of the rows."""
        return self.sample is not None

    @property
    def too_many(self) -> BoolArray:
        """Which columns have more levels than are counted."""
        return self.tally.levels.too_many

    def counted(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return the levels of a column and how often each came; none where there are too many."""
        return self.tally.levels.of(k), self.tally.counts[k]

    def moments(self, view: View, node: IntArray) -> Moments:
        """Return the moments of a view of all rows."""
        return self.tally.moments(view, node)

    def ask(self, question: Callable[[FloatArray, FloatArray | None], _T]) -> _T:
        """Return the answer of the sample."""
        assert self.sample is not None
        return self.sample.ask(question)


def facts_of(statistics: Statistics) -> Facts | None:
    """Return what the rows of a fit say; None where only a covariance is left of them."""
    rows, tally = statistics.rows, statistics.tally
    if rows is not None and rows.whole:
        return RowFacts(rows.times(statistics.scale), rows.weights, statistics.perturbed)
    return None if tally is None else SumFacts(tally, statistics.sample)
