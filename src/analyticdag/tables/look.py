"""One look at a table, all of it at once: what each column is, what is wrong, what was done.

    look_at(cells, kinds=, columns=, drop=)   ->   Look, values

`Look` is plain data: it is printed, saved with the run and shown in the report. `options` are the
words of the command line that make every decision explicit.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyticdag._tables import first_few
from analyticdag._typing import FloatArray
from analyticdag.errors import DataError
from analyticdag.tables.categories import scored
from analyticdag.tables.cells import Cells, short, text_of
from analyticdag.tables.kinds import FEW_ROWS, Found, asked_column, find_column
from analyticdag.tables.recipe import Column, Kind, Recipe

_SHOWN = 5


@dataclass(frozen=True)
class Decision:
    """One thing about a table, and what was done about it; `option` makes it explicit."""

    what: str
    done: str
    option: tuple[str, ...] = ()
    undecided: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.done}"


@dataclass(frozen=True)
class Look:
    """A table as it was found: how each column is read, and what was decided about what.

    `gaps` counts the missing cells of the columns that are taken; `repeated` names identifiers
    that stand in several rows, `ordering` columns by which the rows are sorted.
    """

    n_rows: int
    columns: tuple[Column, ...]
    decisions: tuple[Decision, ...]
    gaps: Mapping[str, int]
    repeated: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()

    @property
    def recipe(self) -> Recipe:
        """How new rows are read."""
        return Recipe(self.columns)

    @property
    def options(self) -> tuple[str, ...]:
        """Words of the command line that say everything that was decided."""
        return tuple(word for decision in self.decisions for word in decision.option)

    def refuse_undecided(self) -> None:
        """Raise DataError if something is left for the user to decide."""
        left = [decision for decision in self.decisions if decision.undecided]
        if left:
            more = f" (and {len(left) - _SHOWN} columns more)" if len(left) > _SHOWN else ""
            raise DataError("; ".join(map(str, left[:_SHOWN])) + more)


def look_at(
    table: Cells,
    *,
    kinds: Mapping[str, Any] | None = None,
    columns: Collection[str] | None = None,
    drop: Collection[str] = (),
) -> tuple[Look, FloatArray]:
    """Look at a table and return what it is and the numbers of the columns that are taken.

    `kinds` says of columns what they are, `columns` which are wanted, `drop` which are not.
    """
    kinds = kinds or {}
    table = _selected(table, columns, drop)
    table.refuse_unknown(kinds, "cannot read by kind")
    found = [_found(name, table, kinds) for name in table.names]
    if columns is None:
        found = _without_copies(found, kinds)
    decisions = [one for every in found if (one := _decision(every, table, kinds)) is not None]
    taken = [one for one in found if one.column.taken]
    gaps = {one.column.name: int(np.isnan(_values(one)).sum()) for one in taken}
    values = (
        np.column_stack([_values(one) for one in taken]) if taken else np.empty((len(table), 0))
    )
    _refuse_infinite(values, [one.column.name for one in taken], table.rows)
    read, values = scored([one.column for one in found], values)
    look = Look(
        len(table),
        read,
        tuple(decisions),
        {name: number for name, number in gaps.items() if number},
        repeated=tuple(one.column.name for one in found if one.repeated),
        ordering=tuple(one.column.name for one in found if _sorts_rows(one, table)),
    )
    return look, np.ascontiguousarray(values)


def _selected(table: Cells, columns: Collection[str] | None, drop: Collection[str]) -> Cells:
    table.refuse_unknown(drop, "cannot drop")
    table.refuse_unknown(columns or (), "cannot take")
    wanted = table.names if columns is None else [n for n in table.names if n in set(columns)]
    left = [name for name in wanted if name not in set(drop)]
    if len(left) == len(table.names):
        return table
    notes = [f"left out as asked: {', '.join(drop)}"] if drop else []
    return table.select(left, *notes)


def _found(name: str, table: Cells, kinds: Mapping[str, Any]) -> Found:
    cells = table.column(name)
    if name in kinds:
        return asked_column(name, cells, kinds[name], table)
    return find_column(name, cells, table)


def _values(found: Found) -> FloatArray:
    assert found.values is not None
    return found.values


def _without_copies(found: list[Found], kinds: Mapping[str, Any]) -> list[Found]:
    """Leave out columns that repeat one before them, unless the user said what they are."""
    first: dict[bytes, str] = {}
    result = []
    for one in found:
        if one.column.taken and one.column.kind != Kind.CONSTANT and len(_values(one)) >= FEW_ROWS:
            name = first.setdefault(_values(one).tobytes(), one.column.name)
            if name != one.column.name and one.column.name not in kinds:
                why, kept_as = f"the same as {short(name)}", _asked(one.column)
                one = Found(Column(one.column.name, Kind.COPY), why, kept_as=kept_as)
        result.append(one)
    return result


def _decision(found: Found, table: Cells, kinds: Mapping[str, Any]) -> Decision | None:
    """Say what was done about a column; nothing where there is nothing to say."""
    column, name = found.column, found.column.name
    if found.strays:
        return _about_strays(found, table, asked=name in kinds)
    if name in kinds and column.taken:
        what = f"{short(name)} is read as {column.kind}"
        return Decision(what, found.why or "as asked", _kind_option(name, kinds[name]))
    if not column.taken:
        return Decision(f"{short(name)} is {_KINDS[Kind(column.kind)]}", *_left_out(found))
    if not found.why:  # a number, and taken as it is
        return None
    done = f"{_DONE.get(Kind(column.kind), 'read')} ({found.why})"
    what = f"{short(name)} is {_KINDS[Kind(column.kind)]}"
    return Decision(what, done, _kind_option(name, _asked(column)))


_KINDS = {
    Kind.NUMBER: "a number",
    Kind.COUNT: "a count",
    Kind.ORDERED: "ordered",
    Kind.YES_NO: "yes/no",
    Kind.CATEGORY: "a category",
    Kind.DATE: "a date",
    Kind.IDENTIFIER: "an identifier",
    Kind.CONSTANT: "constant",
    Kind.EMPTY: "empty",
    Kind.COPY: "a copy",
    Kind.TEXT: "text",
}
_DONE = {
    Kind.YES_NO: "taken as two values",
    Kind.ORDERED: "taken by its order",
    Kind.CATEGORY: "taken as one variable",
}


def _left_out(found: Found) -> tuple[str, tuple[str, ...]]:
    name, why = found.column.name, f" ({found.why})" if found.why else ""
    advice = {
        Kind.DATE: f"; --kind {quoted(name)}=days makes it a number",
        Kind.CATEGORY: "; if its levels have an order, "
        f"--kind {quoted(name)}=low,middle,high names them from low to high",
    }.get(Kind(found.column.kind), "")
    if found.kept_as:
        advice = f"; --kind {quoted(f'{name}={found.kept_as}')} keeps it"
    if found.why == "as asked":
        return "left out as asked", ("--drop", name)
    return f"left out{why}{advice}", ("--drop", name)


def quoted(name: str) -> str:
    """Return a name as it can be pasted into a shell."""
    return shlex.quote(name)


def _asked(column: Column) -> str:
    """Return what a user would have to say to get this column: its levels in order, or its kind."""
    # A level with a comma in it cannot be said among others; by its kind the column is found again.
    unsaid = column.kind == Kind.CATEGORY or any("," in level for level in column.levels)
    return column.kind if unsaid or not column.levels else ",".join(column.levels)


def _kind_option(name: str, asked: Any) -> tuple[str, ...]:
    return ("--kind", f"{name}={asked if isinstance(asked, str) else ','.join(map(str, asked))}")


def _about_strays(found: Found, table: Cells, *, asked: bool) -> Decision:
    """Name a text in a column of numbers; it is a gap only if the user says so."""
    column, first = found.column, found.strays[0]
    name, text = column.name, text_of(table.column(column.name)[first])
    n_odd, n_all = len(found.strays), sum(bool(text_of(cell)) for cell in table.column(name))
    what = (
        f"column {short(name)} holds the text {short(text)} in row {table.rows[first]} "
        f"({n_odd} of {n_all} cells are no {column.kind if asked else 'number'})"
    )
    option = _kind_option(name, _asked(column))
    if asked:
        return Decision(what, "such cells are gaps, as asked", option)
    done = (
        f"to count them as gaps say so (--kind {quoted(name)}=number; in Python "
        f"kinds={{{name!r}: 'number'}}), name its levels from low to high if it has some (--kind "
        f"{quoted(name)}=low,middle,high), or leave the column out (--drop {quoted(name)})"
    )
    return Decision(what, done, option, undecided=True)


def _sorts_rows(found: Found, table: Cells) -> bool:
    """Whether the rows stand in the order of a date or of a counting identifier."""
    if found.column.kind == Kind.IDENTIFIER:
        return found.why == "it counts the rows"
    if not found.column.dates:
        return False
    dates, _ = Column(found.column.name, Kind.DAYS, dates=found.column.dates).read(
        table.column(found.column.name)
    )
    steps = np.diff(dates)
    return bool(len(dates) > 2 and np.all(steps >= 0.0) and np.any(steps > 0.0))


def _refuse_infinite(values: FloatArray, names: Sequence[str], rows: Sequence[int]) -> None:
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, k = infinite[0]
        raise DataError(
            f"column {short(names[k])} holds infinity in row {rows[row]}; "
            "replace it or drop the row"
        )


def gap_words(gaps: Mapping[str, int], n_rows: int) -> str:
    """Say which columns have gaps, those with most first."""
    ordered = sorted(gaps, key=lambda name: -gaps[name])
    shares = [f"{name} {gaps[name] / n_rows:.0%}" for name in ordered]
    return f"gaps in {first_few(shares, _SHOWN)}"


def check_names(names: Iterable[str], table: str) -> None:
    """Refuse columns without a name, and names that are there twice."""
    names = list(names)
    if not names:
        raise DataError(f"{table} has no columns left; pass at least one column of numbers")
    if "" in names:
        raise DataError(f"column {names.index('') + 1} has no name; give it one in the first row")
    twice = sorted(name for name, number in Counter(names).items() if number > 1)
    if twice:
        raise DataError(f"more than one column is named {twice[:_SHOWN]}; rename or drop them")
