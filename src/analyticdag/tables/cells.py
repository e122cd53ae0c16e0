"""A table before its cells are read as numbers: names, columns of cells, and row numbers.

    Cells.of_frame(X)      a data frame of any library, with what its types say about its columns

A file becomes the same (`tables.files`), so whatever follows sees one kind of table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, TypeVar

import narwhals as nw
import numpy as np

from analyticdag._parameters import is_missing
from analyticdag._tables import meant
from analyticdag._typing import FloatArray
from analyticdag.errors import DataError

# What people write where a value is missing, in lower case.
MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "nan", "null", "none", "?", ".", "-", "--"}
    | {"#n/a", "<na>", "nat", "missing", "#null!"}
)
_SHOWN = 5
T = TypeVar("T")


@dataclass(frozen=True)
class Cells:
    """Columns of cells: text from a file, anything from a data frame.

    `rows` are the row numbers that messages name. `levels` holds the categories of columns whose
    type has them, in order, and `ordered` the columns whose order means something. `weights` say
    how often each row counts, where not all count once.
    """

    names: tuple[str, ...]
    columns: tuple[Sequence[Any], ...] = field(repr=False)
    rows: Sequence[int] = field(repr=False)
    notes: tuple[str, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    decimal_comma: bool = False  # where a comma could be either, it is a decimal one
    weights: FloatArray | None = field(default=None, repr=False)

    @classmethod
    def of_frame(cls, frame: nw.DataFrame[Any]) -> Cells:
        """Take the cells of a data frame; rows count from 0, as in the frame."""
        names = tuple(map(str, frame.columns))
        kinds = dict(zip(names, frame.schema.values(), strict=True))
        typed = {
            name: frame[:, k]
            for k, name in enumerate(names)
            if isinstance(kinds[name], nw.Categorical | nw.Enum)
        }
        orders = {name: one_order(_orders(kinds[name], typed[name])) for name in typed}
        levels = {name: orders[name] or _levels(typed[name]) for name in typed}
        ordered = frozenset(name for name in typed if orders[name])
        columns = tuple(frame[:, k].to_list() for k in range(len(names)))
        return cls(names, columns, range(len(frame)), levels=levels, ordered=ordered)

    @classmethod
    def joined(cls, parts: Sequence[Cells], asked: Collection[str] = ()) -> Cells:
        """Return the rows of tables with the same columns, one after the other.

        The orders that they give to levels are made one. Where they leave it open, the column is
        refused, unless it is `asked`: then the user's word decides.
        """
        if len(parts) == 1:
            return parts[0]
        columns = tuple(_stacked([part.column(name) for part in parts]) for name in parts[0].names)
        levels = {
            name: tuple(dict.fromkeys(level for one in parts for level in one.levels.get(name, ())))
            for name in parts[0].levels
        }
        ordered = parts[0].ordered.union(*(part.ordered for part in parts)) & set(levels)
        orders = {
            name: one_order([part.levels.get(name, ()) for part in parts]) for name in ordered
        }
        for name in sorted(ordered - set(asked)):
            if set(orders[name]) != set(levels[name]):
                raise DataError(
                    f"the levels of column {short(name)} come in orders that contradict each other "
                    f"or leave it open, {list(levels[name])[:_SHOWN]}; name all levels from low to "
                    f"high: kinds={{{name!r}: [...]}}"
                )
        found = {name: own for name, own in orders.items() if set(own) == set(levels[name])}
        rows = [row for part in parts for row in part.rows]
        return replace(
            parts[0], columns=columns, rows=rows, levels=levels | found, ordered=frozenset(found)
        )

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Sequence[Any]:
        """Return the cells of one column."""
        return self.columns[self._place[name]]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def select(self, keep: Iterable[str], *notes: str) -> Cells:
        """Return the table with only these columns."""
        chosen = [self._place[name] for name in keep]
        return replace(
            self,
            names=tuple(self.names[k] for k in chosen),
            columns=tuple(self.columns[k] for k in chosen),
            notes=(*self.notes, *notes),
        )

    def refuse_unknown(self, asked: Iterable[str], what: str) -> None:
        """Raise DataError if a column that was named is not there."""
        unknown = [name for name in asked if name not in self._place]
        if unknown:
            raise DataError(f"{what} {unknown[:_SHOWN]}: {meant(unknown[0], self.names)}")


def one_order(orders: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the only order of all levels that agrees with each of these; nothing without one."""
    below: dict[str, set[str]] = {}
    for levels in dict.fromkeys(map(tuple, orders)):
        below |= {level: set() for level in levels if level not in below}
        for low, high in pairwise(levels):
            below[high].add(low)
    sorter = TopologicalSorter(below)
    try:
        sorter.prepare()
    except CycleError:
        return ()
    found: list[str] = []
    while sorter.is_active():
        ready = sorter.get_ready()
        if len(ready) > 1:
            return ()
        found += ready
        sorter.done(*ready)
    return tuple(found)


def _stacked(parts: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Return the cells of several parts of a column; arrays of numbers stay such."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)  # type: ignore[return-value]
    return [cell for part in parts for cell in part]


def _orders(kind: Any, column: nw.Series[Any]) -> list[tuple[str, ...]]:
    """Return the orders that a type gives to its levels; none where their order means nothing."""
    if isinstance(kind, nw.Enum):
        return [tuple(map(str, kind.categories))]
    return arrow_orders(column.to_native())


def arrow_orders(column: Any) -> list[tuple[str, ...]]:
    """Return the orders of an ordered dictionary of Arrow, part by part; none of anything else."""
    if not getattr(getattr(column, "type", None), "ordered", False):
        return []
    parts = getattr(column, "chunks", [column])
    return [tuple(map(str, part.dictionary.to_pylist())) for part in parts]


def _levels(column: nw.Series[Any]) -> tuple[str, ...]:
    """Return the levels that are there, as they come."""
    return tuple(map(str, column.drop_nulls().unique(maintain_order=True).to_list()))


def text_of(cell: Any) -> str:
    """Return a cell as text, "" where it is missing."""
    text = "" if is_missing(cell) else str(cell).strip()
    return "" if text.lower() in MISSING else text


def key_of(text: str) -> str:
    """Return what two spellings of a level have in common."""
    return text.strip().casefold()


def level_key(cell: Any) -> str:
    """Return the key of the level that a cell holds; also of a word that elsewhere is a gap."""
    if is_missing(cell):
        return ""
    # A column of whole numbers is one of floats as soon as it has gaps.
    whole = isinstance(cell, float) and cell.is_integer()
    return key_of(str(int(cell) if whole else cell))


def of_each(answer: Callable[[Any], T], cells: Iterable[Any]) -> list[T]:
    """Return the answer for every cell; for a text that comes again it is asked once."""
    cells = list(cells)
    known = {text: answer(text) for text in {cell for cell in cells if type(cell) is str}}
    return [known[cell] if type(cell) is str else answer(cell) for cell in cells]


def short(text: str) -> str:
    """Return a text in quotes, and not endless."""
    return repr(text if len(text) <= 60 else text[:57] + "…")
