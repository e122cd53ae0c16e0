"""Rows that a fit may look at a second time: all of them, or a sample of more than memory holds.

    Rows.ask(question)       question(values, weights) -> answer
    Sample.add(batch)        keeps every row until they are too many, then half of them, and so on
    Seen.add(batch)          counts and sums over every row (`tally.py`), and a sample
    Seen.copy()              to which rows can be added, and the other stays as it is

What asks for rows (kurtosis, misfit) sends its question to where the rows are, and gets numbers.
Which rows a sample keeps depends on their numbers alone, not on how they came in batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.tally import MetLevels, Tally
from analyticdag.tables.recipe import Recipe

_T = TypeVar("_T")
Coins: TypeAlias = NDArray[np.uint64]
# A sample has at most so many rows and cells (32 MB). A kurtosis of 100,000 rows has a standard
# error of 0.015 (Gaussian), and what is read from it is far coarser.
MOST_ROWS, MOST_CELLS = 100_000, 4_000_000


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows and their weights; None for weights of one. `whole` says that they are all there are,
    `fair` that they are drawn from all there are."""

    values: FloatArray
    weights: FloatArray | None = None
    whole: bool = True
    fair: bool = True

    def ask(self, question: Callable[[FloatArray, FloatArray | None], _T]) -> _T:
        """Return the answer to a question about the rows."""
        return question(self.values, self.weights)

    def divided(self, scale: FloatArray) -> Rows:
        """Return the rows with their columns divided by a scale."""
        return self if np.all(scale == 1.0) else replace(self, values=self.values / scale)

    def times(self, scale: FloatArray) -> FloatArray:
        """Return the values with their columns multiplied by a scale."""
        return self.values if np.all(scale == 1.0) else self.values * scale


class Sample:
    """A sample of rows. The number of a row alone, hashed, says whether it is kept, in every run.

    It is `fair` if no rows were seen before, of which only sums are left.
    """

    def __init__(self, *, fair: bool = True) -> None:
        self.n_seen, self._level, self._weighted, self._fair = 0, 0, False, fair
        self._kept: list[tuple[FloatArray, FloatArray, Coins]] = []

    def add(self, X: FloatArray, weights: FloatArray | None = None) -> None:
        """See some more rows."""
        coins = _coins(self.n_seen, len(X))
        w = np.ones(len(X)) if weights is None else weights
        self.n_seen += len(X)
        self._weighted |= weights is not None
        self._kept.append(_thinned((X, w, coins), self._level))
        level = sample_level(self.n_seen, X.shape[1])
        if level > self._level:
            self._level = level
            self._kept = [_thinned(piece, level) for piece in self._kept]

    def copy(self) -> Sample:
        """Return a sample that sees further rows for itself; the rows are shared."""
        same = copy(self)
        same._kept = list(self._kept)
        return same

    @property
    def rows(self) -> Rows:
        """What was kept."""
        values, weights, _ = (np.concatenate(piece) for piece in zip(*self._kept, strict=True))
        whole = self._fair and self._level == 0
        return Rows(values, weights if self._weighted else None, whole, fair=self._fair)


class Seen:
    """All that is kept of rows that come batch by batch; `tally` may be of rows from before."""

    def __init__(self, tally: Tally | None = None) -> None:
        self.tally, self.sample = tally, Sample(fair=tally is None)

    def copy(self) -> Seen:
        """Return what further rows can be added to."""
        same = Seen(self.tally)
        same.sample = self.sample.copy()
        return same

    def add(
        self, X: FloatArray, weights: FloatArray | None = None, kinds: tuple[str, ...] = ()
    ) -> None:
        """Add up some more rows of columns of these kinds; without kinds they are numbers."""
        if not len(X):
            return
        before = self.tally
        known = MetLevels.before_any_row(X.shape[1], kinds) if before is None else before.levels
        found = Tally.of_rows(X, known, weights)
        self.tally = found if before is None else before.merge(found)
        self.sample.add(X, weights)


@dataclass(frozen=True, eq=False)
class Summed:
    """A table that was added up already; estimators take it instead of its rows."""

    names: Sequence[str]
    seen: Seen
    recipe: Recipe | None = None


def evenly(places: IntArray, most: int) -> IntArray:
    """Return places evenly spread over all of them, fewer than twice `most`."""
    return places[:: max(len(places) // most, 1)]


def sample_level(n_rows: int, n_columns: int) -> int:
    """Return how often the rows are to be halved until they are few enough."""
    most = min(MOST_ROWS, max(MOST_CELLS // max(n_columns, 1), 1))
    return max(math.ceil(math.log2(max(n_rows, 1) / most)), 0)


def sampled(first: int, count: int, level: int) -> BoolArray:
    """Return which of the rows from number `first` on are in a sample of this level."""
    return _heads(_coins(first, count), level)


def _thinned(
    piece: tuple[FloatArray, FloatArray, Coins], level: int
) -> tuple[FloatArray, FloatArray, Coins]:
    """Return the rows of a level; a copy, to free the others."""
    keep = _heads(piece[2], level)
    return piece[0][keep], piece[1][keep], piece[2][keep]


def _heads(coins: Coins, level: int) -> BoolArray:
    """Return where the first `level` of 64 coins all came up heads."""
    return coins >> np.uint64(64 - level) == 0 if level else np.ones(len(coins), dtype=bool)


def _coins(first: int, count: int) -> Coins:
    """Return 64 coins for each row number (the finaliser of SplitMix64, Steele et al. 2014)."""
    z = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
