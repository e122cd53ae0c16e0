"""How each column becomes numbers: found once, kept with the run, used again for every new row.

    Column.read(cells)     the numbers of one column, NaN for gaps, and which cells were not read
    Recipe.read(table)     the same for all columns that are taken, found by name

| kind                                          | becomes                                         |
|-----------------------------------------------|-------------------------------------------------|
| number, count, constant                       | the number                                      |
| log                                           | its logarithm                                   |
| yes/no, ordered                               | 0, 1, … by its levels; a number stays as it is  |
| days                                          | days since 1970-01-01                           |
| category                                      | the score of its level                          |
| date, identifier, empty, copy, text           | nothing: left out                               |
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import narwhals as nw
import numpy as np

from analyticdag._tables import listing as shown_names
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError, DataWarning
from analyticdag.tables.cells import Cells, key_of, level_key, of_each, short, text_of
from analyticdag.tables.codes import as_number, without
from analyticdag.tables.numbers import Style, days


class Kind(StrEnum):
    """What a column is."""

    NUMBER = "number"
    COUNT = "count"
    LOG = "log"
    ORDERED = "ordered"
    YES_NO = "yes/no"
    DAYS = "days"
    CATEGORY = "category"
    DATE = "date"
    IDENTIFIER = "identifier"
    CONSTANT = "constant"
    EMPTY = "empty"
    COPY = "copy"
    TEXT = "text"

    @property
    def taken(self) -> bool:
        """Whether such a column can be a variable."""
        return self not in _LEFT_OUT


# What stands by its levels, whatever these are.
DISCRETE = (Kind.YES_NO, Kind.ORDERED, Kind.CATEGORY)
# How a fit reads discrete columns (`fitting/design.py`, `linear/by_counts.py`).
LEVELS, CUTS, COUNTS = "levels", "cuts", "counts"
_LEFT_OUT = frozenset({Kind.DATE, Kind.IDENTIFIER, Kind.EMPTY, Kind.COPY, Kind.TEXT})
# The level of a category that all rare ones, and new ones, belong to.
OTHER = "(other)"


@dataclass(frozen=True)
class Column:
    """One column: its kind, and what is needed to read its cells.

    `levels` are texts, the code of each is its place; `decimal` and `unit` say how its numbers are
    written, `dates` in which format its dates are. `scores` are those of a category's levels;
    `merged` are rare levels of one that count with the first. `na` are codes for "missing".
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    decimal: str = "."
    unit: str = ""
    dates: str = ""
    scores: tuple[float, ...] = ()
    merged: tuple[str, ...] = ()
    na: tuple[str, ...] = ()

    @property
    def taken(self) -> bool:
        """Whether it is a variable; a category without a level of its own is none."""
        return Kind(self.kind).taken and self.levels != (OTHER,)

    @property
    def coded(self) -> bool:
        """Whether its cells are levels or dates, or carry a unit."""
        return bool(self.levels or self.dates or self.unit)

    @property
    def is_number(self) -> bool:
        """Whether it is taken for numbers that vary, or for their logarithms."""
        return self.taken and not (self.levels or self.dates) and self.kind != Kind.CONSTANT

    @property
    def plain(self) -> bool:
        """Whether its numbers are written as Python writes them, and so are its codes."""
        words = [code for code in self.na if as_number(code) is None]
        return not self.coded and self.decimal == "." and not words

    @property
    def counted(self) -> str:
        """The level that is 1 in a yes/no column in words; empty of any other column."""
        return self.levels[1] if self.kind == Kind.YES_NO and len(self.levels) == 2 else ""

    def scored(self, codes: FloatArray) -> FloatArray:
        """Return the scores of codes, NaN for NaN."""
        seen = np.where(np.isnan(codes), 0.0, codes).astype(np.int64)
        return np.where(np.isnan(codes), np.nan, np.array(self.scores)[seen])

    def read(self, cells: Sequence[Any]) -> tuple[FloatArray, list[int]]:
        """Return the numbers, NaN where there is none, and the places of cells not understood."""
        if self.na:
            cells = without(cells, self.na, Style(self.decimal, self.unit))
        # With a decimal comma, the text 1.234 is not the number 1.234.
        has_texts = self.decimal != "." and any(isinstance(cell, str) for cell in cells)
        plain = None if self.coded or has_texts else plain_numbers(cells)
        values = self._one_by_one(cells) if plain is None else plain
        if self.kind == Kind.LOG:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.where(values > 0.0, np.log(values), np.nan)
        if self.scores:
            values = self.scored(values)
        if plain is not None and self.kind != Kind.LOG:
            return values, []
        gaps = np.flatnonzero(np.isnan(values)).tolist()
        return values, [k for k in gaps if text_of(cells[k])]

    def refuse_no_logarithm(
        self, cells: Sequence[Any], rows: Sequence[int], unused: BoolArray | None = None
    ) -> None:
        """Raise DataError if this is a logarithm, and some numbers have none."""
        if self.kind != Kind.LOG:
            return
        numbers = replace(self, kind=Kind.NUMBER).read(cells)[0]
        low = np.flatnonzero((numbers <= 0.0) & (True if unused is None else ~unused))
        if len(low):
            name = short(self.name)
            raise DataError(
                f"column {name} has no logarithm in {len(low)} of {len(cells)} rows, where it is "
                f"zero or less (the first is {numbers[low[0]]:g} in row {rows[low[0]]}); leave it "
                "as it is, shift it above zero in the table first, or say which value means "
                f"missing (--na {short(self.name + '=VALUE')})"
            )

    def _one_by_one(self, cells: Sequence[Any]) -> FloatArray:
        code_of = dict.fromkeys(map(key_of, self.merged), 0)
        code_of |= {key_of(level): k for k, level in enumerate(self.levels)}
        rare = len(self.levels) - 1 if self.levels[-1:] == (OTHER,) else None
        style = Style(self.decimal, self.unit)

        def one(cell: Any) -> float | None:
            if self.levels:
                return code_of.get(level_key(cell), rare if text_of(cell) else None)
            if self.dates:
                return days(cell, self.dates)
            return float(cell) if isinstance(cell, float | int) else style.read(text_of(cell))

        return np.array(of_each(one, cells), np.float64)  # None becomes NaN


def plain_numbers(cells: Sequence[Any]) -> FloatArray | None:
    """Return cells that NumPy reads as numbers, all at once; None where it does not."""
    try:
        found = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is not None and found.ndim == 1:  # of lists of equal length it is not
        return found
    try:
        return np.array([text or "nan" for text in of_each(text_of, cells)], dtype=np.float64)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True)
class Recipe:
    """Every column of a table, in its order."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are variables."""
        return tuple(column.name for column in self.columns if column.taken)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the variables are."""
        return tuple(column.kind for column in self.columns if column.taken)

    @property
    def numbers(self) -> list[int]:
        """The places of the variables that are numbers as they are, no levels or logarithms."""
        taken = (column for column in self.columns if column.taken)
        return [k for k, one in enumerate(taken) if one.is_number and one.kind != Kind.LOG]

    def read(
        self,
        X: Any,
        what: str = "X",
        *,
        gaps: Collection[str],
        warn: bool = False,
        unused: BoolArray | None = None,
    ) -> FloatArray:
        """Return the variables of a data frame or of cells; columns left out may be missing.

        In the columns of `gaps` a cell that is not understood, such as a level that the fit has not
        seen, is a gap, with a warning if `warn`; in others it is refused. Rows that are `unused`
        may hold anything, and get zeros.
        """
        table = X if isinstance(X, Cells) else _cells(X, self.names, what)
        missing = [name for name in self.names if name not in table.names]
        known = {column.name for column in self.columns}
        new = [name for name in table.names if name not in known]
        if missing or new:
            raise DataError(
                "the feature names should match those of the fit "
                f"(missing {shown_names(missing)}, new {shown_names(new)}); select the columns by "
                "name"
            )
        values = np.empty((len(table), len(self.names)))
        for k, column in enumerate(one for one in self.columns if one.taken):
            if not warn:  # rows of the fit
                column.refuse_no_logarithm(table.column(column.name), table.rows, unused)
            values[:, k], odd = column.read(table.column(column.name))
            if unused is not None:
                values[unused, k], odd = 0.0, [place for place in odd if not unused[place]]
            found = f"{what} has {_first(odd, column, table)}" if odd else ""
            if found and column.name not in gaps:
                raise DataError(f"{found}; {_cure(odd[0], column, table)}")
            if found and warn:
                warnings.warn(f"{found}; it is taken as a gap", DataWarning, stacklevel=5)
        return values


def _cure(odd: int, column: Column, table: Cells) -> str:
    """Return what to do about a cell that was not understood."""
    other = Style("," if column.decimal == "." else ".", column.unit)
    cell = text_of(table.column(column.name)[odd])
    if not column.levels and not column.dates and other.read(cell) is not None:
        mark = "a point" if column.decimal == "." else "a comma"
        return f"rows before it have {mark} for the decimals: write all of them in one way"
    gap = f"kinds={{{column.name!r}: {str(column.kind)!r}}} with missing='em', in batches 'drop'"
    return f"correct it, or let it be a gap: {gap}"


def _first(odd: Sequence[int], column: Column, table: Cells) -> str:
    """Return the first cell that was not understood, its place, and what is wrong with it."""
    cell, row = text_of(table.column(column.name)[odd[0]]), table.rows[odd[0]]
    wrong = f"cannot be read as a {column.kind}"
    if column.levels:
        wrong = f"is none of the levels of the fit, {shown_names(column.levels)}"
    return f"{short(cell)} in column {column.name!r}, row {row}, which {wrong}"


def _cells(X: Any, names: Sequence[str], what: str) -> Cells:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return Cells.of_frame(frame)
    rows = np.asarray(X, dtype=object)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise DataError(
            f"{what} must be a data frame with the columns of the fit, or rows of "
            f"{len(names)} cells; got shape {rows.shape}"
        )
    return Cells(tuple(names), tuple(rows.T.tolist()), range(len(rows)))
