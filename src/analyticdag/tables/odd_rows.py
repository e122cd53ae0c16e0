"""Rows that are no cases: the header once more, units below it, a total at the end.

odd_rows(table, found, kinds)     rows to delete, and what is said about them
far_row(values, columns)          a row far from all others
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from analyticdag._tables import first_few
from analyticdag._typing import FloatArray
from analyticdag.tables.cells import Cells, short, text_of
from analyticdag.tables.decisions import Decision
from analyticdag.tables.kinds import FEW_ROWS, Found

_NAMED = 5
# As many times as far as others are from each other. A total of n rows is so in nearly every column
# whose mean is not near zero.
_RANGES = 3.0


def odd_rows(
    table: Cells, found: Sequence[Found], kinds: Collection[str]
) -> tuple[set[int], list[Decision]]:
    """Return the places of rows that are no cases, and what to do about them."""
    again, units = _header_rows(table), _unit_cells(table, found, kinds)
    decisions = []
    if again:
        rows = first_few([str(table.rows[k]) for k in again], _NAMED)
        what, done = ("rows", "repeat") if len(again) > 1 else ("row", "repeats")
        it = "them" if len(again) > 1 else "it"
        decisions.append(
            Decision(f"{what} {rows} {done} the header", f"delete {it}", undecided=True)
        )
    if units and 0 not in again:
        what = f"row {table.rows[0]} holds {first_few(units, _NAMED)} and no number"
        decisions.append(Decision(what, "are these units? delete it", undecided=True))
    return {*again, *([0] if units else [])}, decisions


def _header_rows(table: Cells) -> list[int]:
    """Return the places of rows in which every cell is the name of its column."""
    names = table.names
    if len(names) < 2 or isinstance(table.columns[0], np.ndarray):
        return []
    likely = [k for k, cell in enumerate(table.columns[0]) if _is_name(cell, names[0])]
    pairs = list(zip(table.columns, names, strict=True))
    return [k for k in likely if all(_is_name(column[k], name) for column, name in pairs)]


def _is_name(cell: object, name: str) -> bool:
    return isinstance(cell, str) and cell.strip() == name


def _unit_cells(table: Cells, found: Sequence[Found], kinds: Collection[str]) -> list[str]:
    """Return the texts of the first row where other rows have numbers, if it has no number."""
    numbers = [one for one in found if one.column.is_number and one.values is not None]
    texts = [one for one in numbers if one.strays == (0,) and one.column.name not in kinds]
    if len(texts) < 2 or not all(np.isnan(one.values[0]) for one in numbers):  # type: ignore[index]
        return []
    return [short(text_of(table.column(one.column.name)[0])) for one in texts]


def far_row(values: FloatArray, columns: Sequence[int]) -> tuple[int, list[int]] | None:
    """Return the row that is much farther from all others than these from each other, and where.

    That must be so in half of the columns, and in two at least; None where there is no such row.
    """
    far = {k: row for k in columns if (row := _far(values[:, k])) is not None}
    for row, times in Counter(far.values()).most_common(1):
        if times >= max(2, len(columns) / 2):
            return row, [k for k in far if far[k] == row]
    return None


def _far(column: FloatArray) -> int | None:
    """Return the row of a value that is `_RANGES` ranges of all others away from them."""
    seen = np.flatnonzero(~np.isnan(column))
    if len(seen) < FEW_ROWS:
        return None
    places = seen[np.argpartition(column[seen], (0, 1, len(seen) - 2, len(seen) - 1))]
    ends = column[places[[0, 1, -2, -1]]]
    largest = np.abs(ends).max() or 1.0  # ranges of huge numbers must not overflow
    least, low, high, most = (ends / largest).tolist()
    if most - high > _RANGES * (high - least):
        return int(places[-1])
    return int(places[0]) if low - least > _RANGES * (most - low) else None
