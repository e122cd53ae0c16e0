"""Codes for "missing" that a user names: -999,99 in every column, Hb=-999 in one, words too.

Codes.read(words)         what a user says
cleared(table, codes)     the table with gaps in the place of codes
without(cells, codes)     the same of some cells
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from analyticdag._parameters import is_missing
from analyticdag.errors import ParameterError
from analyticdag.tables.cells import Cells, key_of, level_key, of_each
from analyticdag.tables.numbers import Style, style_of


@dataclass(frozen=True)
class Codes:
    """Which texts and numbers are codes: in every column, and in some.

    With `guess`, values that are almost certainly codes are gaps too.
    """

    everywhere: tuple[str, ...] = ()
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    guess: bool = False

    @classmethod
    def read(cls, words: Sequence[str], *, guess: bool = False) -> Codes:
        """Read what a user says: codes with commas between, after NAME= those of one column."""
        everywhere: tuple[str, ...] = ()
        own: dict[str, tuple[str, ...]] = {}
        for word in words:
            name, sign, listed = word.rpartition("=")
            codes = tuple(code.strip() for code in listed.split(","))
            if not all(codes) or (sign and not name):
                raise ParameterError(
                    f"--na must be a value that means missing, such as -999, or NAME=-999, not "
                    f"{word!r}"
                )
            if sign:
                own[name] = (*own.get(name, ()), *codes)
            else:
                everywhere += codes
        return cls(everywhere, own, guess)

    def of(self, name: str) -> tuple[str, ...]:
        """Return the codes of a column."""
        return tuple(dict.fromkeys((*self.everywhere, *self.own.get(name, ()))))


# Codes that nobody asked for are told of, and stay numbers.
NO_CODES = Codes()


def cleared(table: Cells, codes: Codes) -> tuple[Cells, dict[str, int]]:
    """Return the table with gaps in the place of codes, and how many there are in each column."""
    columns, hits, levels = [], {}, dict(table.levels)
    for name, cells in zip(table.names, table.columns, strict=True):
        own, kept = codes.of(name), cells
        if own:
            texts = [cell for cell in cells if isinstance(cell, str)]
            kept = without(cells, own, style_of(texts, decimal_comma=table.decimal_comma)[0])
            hits[name] = sum(map(is_missing, kept)) - sum(map(is_missing, cells))
        if own and name in levels:
            keys = set(map(key_of, own))
            levels[name] = tuple(level for level in levels[name] if key_of(level) not in keys)
        columns.append(kept)
    return replace(table, columns=tuple(columns), levels=levels), hits


def without(cells: Sequence[Any], codes: Sequence[str], style: Style) -> Sequence[Any]:
    """Return the cells with None, in arrays NaN, for codes, in whatever style numbers stand."""
    numbers = {number for code in codes if (number := as_number(code)) is not None}
    if isinstance(cells, np.ndarray):
        return np.where(np.isin(cells, list(numbers)), np.nan, cells)
    keys = set(map(key_of, codes))

    def is_code(cell: Any) -> bool:
        number = style.read(cell) if isinstance(cell, str) else cell
        return level_key(cell) in keys or (isinstance(number, int | float) and number in numbers)

    return [None if hit else cell for hit, cell in zip(of_each(is_code, cells), cells, strict=True)]


def as_number(code: str) -> float | None:
    """Return the number that a code is; None where it is a word."""
    return Style().read(code)
