"""One look at a table, all of it at once: what each column is, what is wrong, what was done.

    look_at(cells, kinds=, columns=, drop=, na=)   ->   Look, values

`Look` is plain data: it is printed, saved with the run and shown in the report. `options` are the
words of the command line that make every decision explicit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from analyticdag._tables import first_few
from analyticdag._typing import FloatArray
from analyticdag.errors import DataError
from analyticdag.tables.categories import scored
from analyticdag.tables.cells import Cells, short
from analyticdag.tables.codes import NO_CODES, Codes, cleared
from analyticdag.tables.copies import copies_of
from analyticdag.tables.decisions import Decision, about_codes, asked_of, caution, decision_about
from analyticdag.tables.kinds import Found, asked_column, find_column
from analyticdag.tables.odd_rows import odd_rows
from analyticdag.tables.recipe import Column, Kind, Recipe
from analyticdag.tables.suspects import Suspect, suspects_of

_SHOWN = 5


@dataclass(frozen=True)
class Look:
    """A table as it was found: how each column is read, and what was decided about what.

    `gaps` counts the missing cells of the columns that are taken; `repeated` names identifiers
    that stand in several rows, `ordering` columns by which the rows are sorted. `suspects`
    are values that may be codes for "missing".
    """

    n_rows: int
    columns: tuple[Column, ...]
    decisions: tuple[Decision, ...]
    gaps: Mapping[str, int]
    repeated: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    suspects: Mapping[str, tuple[Suspect, ...]] = field(default_factory=dict)

    @property
    def recipe(self) -> Recipe:
        """How new rows are read."""
        return Recipe(self.columns)

    @property
    def options(self) -> tuple[str, ...]:
        """Words of the command line that say everything that was decided."""
        return tuple(word for decision in self.decisions for word in decision.option)

    def as_read(self, drop: Collection[str], na: Codes) -> dict[str, Any]:
        """Return what makes `look_at` read a table again as this one was, and what is asked now."""
        kept = [one for one in self.columns if one.taken and one.name not in drop]
        kinds = {one.name: asked_of(one) for one in kept if one.kind != Kind.CONSTANT}
        own = {one.name: (*one.na, *na.own.get(one.name, ())) for one in kept}
        codes = {name: every for name, every in own.items() if every}
        return {
            "columns": self.recipe.names,
            "drop": drop,
            "kinds": kinds,
            "na": replace(na, own=codes),
        }

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to do about values that may be codes."""
        return tuple(caution(name, one) for name, every in self.suspects.items() for one in every)

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
    na: Codes = NO_CODES,
) -> tuple[Look, FloatArray]:
    """Look at a table and return what it is and the numbers of the columns that are taken.

    `kinds` says of columns what they are, `columns` which are wanted, `drop` which are not, and
    `na` which cells mean "missing". A copy stays left out where its original is dropped.
    """
    kinds = kinds or {}
    whole, table = table, _selected(table, columns, drop)
    table.refuse_unknown(kinds, "cannot read by kind")
    table.refuse_unknown(na.own, "cannot look for codes in")
    table, hits = _cleared(table, na, kinds)
    found = [_found(name, table, kinds) for name in table.names]
    _refuse_infinite(found, table.rows)
    suspects = suspects_of({k: v for one in found for k, v in _numbers(one, table).items()})
    certain = _certain(suspects, kinds) if na.guess else {}
    table, found = _without_codes(table, found, na, certain)
    if columns is None:
        found = _without_copies(found, kinds, whole, na)
    odd, decisions = odd_rows(table, found, kinds)
    for one in found:
        is_told = bool(one.strays) and odd.issuperset(one.strays)
        decision = None if is_told else decision_about(one, table, kinds)
        decisions += [] if decision is None else [decision]
    decisions += about_codes(na, hits, certain)
    taken = [one for one in found if one.column.taken]
    gaps = {one.column.name: _n_gaps(one, kinds) for one in taken}
    values = (
        np.column_stack([_values(one) for one in taken]) if taken else np.empty((len(table), 0))
    )
    read, values = scored([one.column for one in found], values)
    look = Look(
        len(table),
        read,
        tuple(decisions),
        {name: number for name, number in gaps.items() if number},
        repeated=tuple(one.column.name for one in found if one.repeated),
        ordering=tuple(one.column.name for one in found if _sorts_rows(one, table)),
        suspects={
            name: left
            for name, every in suspects.items()
            if (left := tuple(one for one in every if one not in certain.get(name, ())))
        },
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


def _cleared(table: Cells, na: Codes, kinds: Collection[str]) -> tuple[Cells, dict[str, int]]:
    """Return the table with gaps for codes, but in identifiers: a number of theirs is no code."""
    without, hits = cleared(table, na)
    kept = {
        name
        for name, number in hits.items()
        if number and name not in kinds and _is_identifier(name, table)
    }
    columns = tuple((table if name in kept else without).column(name) for name in table.names)
    hits = {name: number for name, number in hits.items() if name not in kept}
    return replace(without, columns=columns), hits


def _is_identifier(name: str, table: Cells) -> bool:
    return find_column(name, table.column(name), table).column.kind == Kind.IDENTIFIER


def _found(name: str, table: Cells, kinds: Mapping[str, Any]) -> Found:
    cells = table.column(name)
    if name in kinds:
        return asked_column(name, cells, kinds[name], table)
    return find_column(name, cells, table)


def _values(found: Found) -> FloatArray:
    assert found.values is not None
    return found.values


def _n_gaps(found: Found, kinds: Collection[str]) -> int:
    """Count the gaps of a column; a text among numbers is one only if the user said so."""
    texts = 0 if found.column.name in kinds else len(found.strays)
    return int(np.isnan(_values(found)).sum()) - texts


def _numbers(found: Found, table: Cells) -> dict[str, FloatArray]:
    """Return the numbers of a column that has such, under its name; not their logarithms."""
    column = found.column
    if not column.is_number:
        return {}
    if column.kind == Kind.LOG:
        return {column.name: replace(column, kind=Kind.NUMBER).read(table.column(column.name))[0]}
    return {column.name: _values(found)}


def _certain(
    suspects: Mapping[str, tuple[Suspect, ...]], kinds: Collection[str]
) -> dict[str, tuple[Suspect, ...]]:
    """Return what is certainly a code, in columns of which the user has not said what they are."""
    found = {
        name: tuple(one for one in every if one.certain)
        for name, every in suspects.items()
        if name not in kinds
    }
    return {name: every for name, every in found.items() if every}


def _without_codes(
    table: Cells, found: list[Found], na: Codes, certain: Mapping[str, tuple[Suspect, ...]]
) -> tuple[Cells, list[Found]]:
    """Return table and columns without the codes that are certain; columns remember all codes."""
    guessed = Codes(own={name: tuple(one.text for one in certain[name]) for name in certain})
    table, _ = cleared(table, guessed)
    result = []
    for one in found:
        name = one.column.name
        again = _found(name, table, {}) if name in certain else one
        codes = (*na.of(name), *guessed.of(name))
        column = replace(again.column, na=codes) if codes else again.column
        result.append(replace(again, column=column))
    return table, result


def _without_copies(
    found: list[Found], kinds: Mapping[str, Any], whole: Cells, na: Codes
) -> list[Found]:
    """Leave out columns that repeat another one, unless the user said what they are.

    Also of one that was dropped: otherwise its copy would come in its place.
    """
    own = {one.column.name: one for one in found}
    if len(own) < len(whole.names):
        whole, _ = _cleared(whole, na, kinds)
    every = [own.get(name) or _found(name, whole, {}) for name in whole.names]
    copies = {every[k].column.name: why for k, why in copies_of(every).items()}
    return [
        Found(Column(name, Kind.COPY), copies[name], kept_as=asked_of(one.column))
        if name in copies and name not in kinds
        else one
        for name, one in own.items()
    ]


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


def _refuse_infinite(found: Sequence[Found], rows: Sequence[int]) -> None:
    for one in (one for one in found if one.column.taken):
        infinite = np.flatnonzero(np.isinf(_values(one)))
        if len(infinite):
            raise DataError(
                f"column {short(one.column.name)} holds infinity in row {rows[infinite[0]]}; "
                "replace it or drop the row"
            )


def gap_words(gaps: Mapping[str, int], n_rows: int) -> str:
    """Say which columns have gaps, those with most first."""
    ordered = sorted(gaps, key=lambda name: -gaps[name])
    shares = [f"{name} {gaps[name] / n_rows:.0%}" for name in ordered]
    return f"gaps in {first_few(shares, _SHOWN)}"


def check_names(names: Iterable[str], table: str, notes: Sequence[str] = ()) -> None:
    """Refuse columns without a name, and names that are there twice.

    What is said of the table may tell why: that it is one sheet of several.
    """
    names, wrong = list(names), ""
    twice = sorted(name for name, number in Counter(names).items() if number > 1)
    if not names:
        wrong = f"{table} has no columns left; pass at least one column of numbers"
    elif "" in names:
        wrong = f"column {names.index('') + 1} has no name; give it one in the first row"
    elif twice:
        wrong = f"more than one column is named {twice[:_SHOWN]}; rename or drop them"
    if wrong:
        raise DataError("; ".join((wrong, *notes)))
