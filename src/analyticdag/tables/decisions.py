"""What is said about a table: one thing about a column, and what was done about it.

decision_about(found, …)     about a column; None where there is nothing to say
about_codes(…)               about codes for "missing"
grouped(decisions)           in as few lines as say all of it
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analyticdag._tables import first_few
from analyticdag.tables.cells import Cells, key_of, short, text_of
from analyticdag.tables.codes import Codes
from analyticdag.tables.kinds import SCALES, Found
from analyticdag.tables.recipe import OTHER, Column, Kind
from analyticdag.tables.suspects import Suspect

# As many columns as are named where many are alike, and from how many on they share a line.
_NAMED, _ALIKE = 3, 3
STRAYS_ARE_GAPS = "such cells are gaps, as asked"
# Levels such as G1, G2 or T1a, T1b: a stem, a number, perhaps a letter.
_NUMBERED = re.compile(r"(\D*)(\d+)([a-z]?)", re.IGNORECASE)


@dataclass(frozen=True)
class Decision:
    """One thing about a table, and what was done about it; `option` makes it explicit.

    `column` is the one that it is about, where columns alike may share a line.
    """

    what: str
    done: str
    option: tuple[str, ...] = ()
    undecided: bool = False
    column: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.done}"

    @property
    def alike(self) -> tuple[str, str]:
        """What decisions have in common that share a line."""
        what = self.what.removeprefix(short(self.column)) if self.column else self.what
        return what, self.done


def grouped(decisions: Sequence[Decision]) -> list[tuple[str, str]]:
    """Return what was found and what was done; of many columns alike in one line."""
    together: dict[tuple[str, str], list[Decision]] = {}
    for one in decisions:
        together.setdefault(one.alike, []).append(one)
    lines = []
    for (what, done), alike in together.items():
        if len(alike) < _ALIKE or not alike[0].column:
            lines += [(one.what, one.done) for one in alike]
        else:
            names = first_few([short(one.column) for one in alike], _NAMED)
            lines.append((f"{names}: each{what}", done))
    return lines


def about_codes(
    asked: Codes, hits: Mapping[str, int], found: Mapping[str, Sequence[Suspect]]
) -> list[Decision]:
    """Say which codes were read as gaps: those that were asked for, and those that were found."""
    decisions = []
    given = dict.fromkeys((*asked.everywhere, *(c for codes in asked.own.values() for c in codes)))
    if given:
        counts = [f"{short(name)} ({number} rows)" for name, number in hits.items() if number]
        listed = ", ".join(given)
        what = f"{listed} in {first_few(counts, 5)}" if counts else f"--na {listed}"
        done = "taken as missing, as asked" if counts else "no cell holds it"
        decisions.append(Decision(what, done))
    for name, suspects in found.items():
        option = ("--na", f"{name}={','.join(one.text for one in suspects)}")
        said = " and ".join(one.words for one in suspects)
        done = f"taken as missing; --kind {quoted(f'{name}=number')} keeps it"
        decisions.append(Decision(f"{short(name)} {said}", done, option))
    return decisions


def caution(name: str, suspect: Suspect) -> str:
    """Say of a value that may be a code what to do if it is one."""
    return (
        f"{short(name)} {suspect.words}: if that is a code for a missing value, repeat with --na "
        f"{quoted(f'{name}={suspect.text}')}"
    )


def decision_about(found: Found, table: Cells, kinds: Mapping[str, Any]) -> Decision | None:
    """Say what was done about a column; nothing where there is nothing to say."""
    column, name = found.column, found.column.name
    if found.strays:
        return _about_strays(found, table, asked=name in kinds)
    if name in kinds and column.taken:
        what = f"{short(name)} is read as {column.kind}"
        option = _kind_option(name, kinds[name])
        return Decision(what, found.why or "as asked", option, column=name)
    what = f"{short(name)} is {_KINDS[Kind(column.kind)]}"
    if not column.taken:
        return Decision(what, *_left_out(found), column=name)
    # A number that is taken as it is; that a column is constant, the fit says.
    if not found.why or (column.kind == Kind.CATEGORY and found.constant):
        return None
    done = f"{_DONE.get(Kind(column.kind), 'read')} ({found.why}){_if_ordered(column)}"
    return Decision(what, done, _kind_option(name, asked_of(column)), column=name)


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


def _if_ordered(column: Column) -> str:
    """Return what to say if the levels of a category look as if they had an order.

    Nobody but the user can tell grades, G1 to G4, from groups.
    """
    levels = column.levels
    every = column.kind == Kind.CATEGORY and not column.merged and OTHER not in levels
    if not every or len(levels) < 3 or any("," in level for level in levels):
        return ""
    ordered = _by_number(levels) or _by_words(levels)
    option = quoted(f"{column.name}={','.join(ordered)}")
    return f"; if they have an order: --kind {option}" if ordered else ""


def _by_number(levels: Sequence[str]) -> list[str]:
    """Return levels that are a stem and a number in the order of these; nothing of others."""
    parts = [_NUMBERED.fullmatch(level) for level in levels]
    keys = [(part[1].casefold(), int(part[2]), part[3].casefold()) for part in parts if part]
    if len(keys) < len(levels) or len({stem for stem, *_ in keys}) > 1:
        return []
    return [level for _, level in sorted(zip(keys, levels, strict=True))]


def _by_words(levels: Sequence[str]) -> list[str]:
    """Return levels such as low dose and high dose in the order of a scale's words, others first;
    nothing where no two words of one scale are there."""
    for scale in SCALES:
        places = {level: _place(level, scale) for level in levels}
        if len(set(places.values()) - {-1}) > 1:
            return sorted(levels, key=lambda level: (places[level], level))
    return []


def _place(level: str, scale: Sequence[str]) -> int:
    """Return the place of the longest entry of a scale among the words of a level; -1 of none."""
    words = f" {' '.join(key_of(level).split())} "
    held = [entry for entry in scale if f" {entry} " in words]
    return scale.index(max(held, key=len)) if held else -1


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


def asked_of(column: Column) -> str:
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
    option = _kind_option(name, asked_of(column))
    if asked:
        return Decision(what, STRAYS_ARE_GAPS, option)
    done = (
        f"to count them as gaps say so (--kind {quoted(name)}=number; in Python "
        f"kinds={{{name!r}: 'number'}}), name its levels from low to high if it has some (--kind "
        f"{quoted(name)}=low,middle,high), or leave the column out (--drop {quoted(name)})"
    )
    return Decision(what, done, option, undecided=True)
