"""How the values of a column are said: as numbers, or in the words of its levels.

    spoken(known)      one for each column

Each says what its columns are set to for a value of `do`, which shares it has, and what drawn
values are called. A category has a column for each level but the last of `labels`, a yes/no column
one for its second level; on these a mean is a share.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from analyticdag._parameters import LARGEST, number, shown
from analyticdag._typing import FloatArray
from analyticdag.effects.known import Known
from analyticdag.effects.levels import shares_of
from analyticdag.errors import InputError
from analyticdag.tables.cells import key_of, level_key
from analyticdag.tables.recipe import Column, Kind

# A yes/no column with gaps has not quite the variance of 0 and 1.
_ROUGHLY, _EXACTLY = 0.05, 1e-9


@dataclass(frozen=True)
class Number:
    """A column of numbers."""

    name: Hashable
    labels: tuple[str, ...] = ()
    is_bounded: bool = False  # whether every value that it takes was seen, or lies between two
    in_words = False

    @property
    def shares(self) -> tuple[Hashable, ...]:
        """What the shares of its levels are called; nothing where it has a mean instead."""
        return ()

    def expected(self, means: FloatArray) -> FloatArray:
        """Return what is told of means of its columns (rows, k): a column for each share."""
        return shares_of(means)[:, : len(self.shares)] if self.shares else means

    def amounts(self, value: Any) -> list[float]:
        """Return what its columns are set to."""
        return [number(f"do[{self.name!r}]", value, -LARGEST)]

    def said(self, values: FloatArray) -> Any:
        """Return what drawn values, a column for each of its own, are called."""
        return values[:, 0]

    def place(self, value: Any) -> int | None:
        """Return which of its levels a word is; 1 is the level "1"."""
        keys = list(map(key_of, self.labels))
        return keys.index(level_key(value)) if level_key(value) in keys else None

    def may_be_place(self, value: Any) -> bool:
        """Whether a number that is no level can be a place; beside levels such as "2+" it may be
        meant for one of them."""
        is_number = isinstance(value, Real | np.bool_)
        return is_number and not any(c.isdigit() for label in self.labels for c in label)

    def refused(self, value: Any) -> InputError:
        """Return the error for what is no level."""
        levels = ", ".join(map(shown, self.labels[:12]))
        return InputError(
            f"do[{self.name!r}]={shown(value)} is none of the levels of the column: {levels}"
        )


@dataclass(frozen=True)
class Scale(Number):
    """An ordered column, which counts by the places of its levels from low to high."""

    is_bounded: bool = True
    in_words = True

    def amounts(self, value: Any) -> list[float]:
        """Return the place of a level; a number that is no level is a place, from 0 on."""
        place = self.place(value)
        if place is not None:
            return [float(place)]
        is_number = self.may_be_place(value) and not isinstance(value, bool | np.bool_)
        if not is_number or not 0.0 <= value <= len(self.labels) - 1:
            raise self.refused(value)
        return [float(value)]

    def said(self, values: FloatArray) -> Any:
        """Return the closest levels."""
        places = np.clip(np.rint(values[:, 0]), 0, len(self.labels) - 1).astype(np.int64)
        return np.array(self.labels, dtype=object)[places]


@dataclass(frozen=True)
class ZeroOne(Number):
    """A column of 0 and 1, whose mean is the share of 1."""

    is_bounded: bool = True

    @property
    def shares(self) -> tuple[Hashable, ...]:
        """The share of 1 goes by the name of the column; that of 0 is not told."""
        return (self.name,)

    def amounts(self, value: Any) -> list[float]:
        """Return the number; between 0 and 1 it is a share."""
        if isinstance(value, bool | np.bool_):
            return [float(value)]
        return [number(f"do[{self.name!r}]", value, 0.0, 1.0)]

    def said(self, values: FloatArray) -> Any:
        """Return 0 and 1 without rounding errors."""
        return np.round(values[:, 0], 12)


@dataclass(frozen=True)
class Levels(Number):
    """A category: a column for each level but the last."""

    is_bounded: bool = True
    in_words = True

    @property
    def shares(self) -> tuple[Hashable, ...]:
        """Name and level."""
        return tuple(f"{self.name}: {label}" for label in self.labels)

    def amounts(self, value: Any) -> list[float]:
        """Return one for the column of the level, zero for the others."""
        place = self.place(value)
        if place is None:
            raise self.refused(value)
        return [float(place == k) for k in range(len(self.labels) - 1)]

    def said(self, values: FloatArray) -> Any:
        """Return the levels whose columns hold one."""
        marks = np.column_stack([values, 1.0 - values.sum(axis=1)])
        return np.array(self.labels, dtype=object)[marks.argmax(axis=1)]


@dataclass(frozen=True)
class OneLevel(Levels):
    """A category with one level in all rows: its column is constant, and says nothing."""

    value: float = 0.0

    def expected(self, means: FloatArray) -> FloatArray:
        """Return the share of its level, which is one."""
        return np.ones((len(means), 1))

    def amounts(self, value: Any) -> list[float]:
        """Return what its column holds anyway."""
        super().amounts(value)
        return [self.value]

    def said(self, values: FloatArray) -> Any:
        """Return its level in every row."""
        return np.full(len(values), self.labels[0], dtype=object)


@dataclass(frozen=True)
class YesNo(Levels):
    """Two levels in words; the first of `labels` is 1."""

    def amounts(self, value: Any) -> list[float]:
        """Return 1 or 0, also for these numbers themselves where they are no levels."""
        is_number = self.may_be_place(value) and value in (0, 1)
        return [float(value)] if is_number and self.place(value) is None else super().amounts(value)


def spoken(known: Known) -> tuple[Number, ...]:
    """Return how the values of each column are said."""
    return tuple(_spoken(known, k) for k in range(len(known.names)))


def _spoken(known: Known, k: int) -> Number:
    name, labels = known.names[k], known.levels.labels[k] if known.levels else ()
    if labels:
        return Levels(name, labels)
    column = known.columns[k] if known.columns else Column(str(name), Kind.NUMBER)
    if column.scores and known.moments.S[k, k] == 0.0:
        value = float(known.mean[k])
        label = column.levels[int(np.abs(np.array(column.scores) - value).argmin())]
        return OneLevel(name, (label,), value=value)
    if column.levels and column.kind == Kind.YES_NO:
        return YesNo(name, column.levels[::-1])
    if column.levels and column.kind == Kind.ORDERED:
        return Scale(name, column.levels)
    if _is_zero_one(known, k, column.kind):
        return ZeroOne(name)
    return Number(name, is_bounded=column.kind == Kind.YES_NO)  # one of two may be rare


def _is_zero_one(known: Known, k: int, kind: str) -> bool:
    """Whether a column holds 0 and 1 only: no other numbers have this variance with this mean."""
    expected = float(known.mean[k] * (1.0 - known.mean[k]))
    allowed = (_ROUGHLY if kind == Kind.YES_NO else _EXACTLY) * expected
    return expected > 0.0 and abs(float(known.sd[k]) ** 2 - expected) <= allowed
