"""Read a table as an analyst has it, and write one.

    read_table(file)       file -> cells (`tables.files`) -> one look (`tables.look`) -> `Table`

What is in the file, and what was decided about it, is in `Table.look`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from analyticdag._files import is_folder, write_text
from analyticdag._parameters import choice
from analyticdag._tables import NamedColumns, first_few, meant, refuse_out_of_range
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError
from analyticdag.fitting.rows import Summed
from analyticdag.tables.cells import MISSING, Cells, short, text_of
from analyticdag.tables.codes import NO_CODES, Codes
from analyticdag.tables.files import read_cells
from analyticdag.tables.gaps import MISSING_RULES
from analyticdag.tables.look import Look, check_names, gap_words, look_at
from analyticdag.tables.odd_rows import far_row
from analyticdag.tables.together import order_blocks

# With more groups than this share of the rows, nearly every row is one.
_OWN = 0.9
# Columns that a sentence names.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with column names, NaN for gaps, and what was done to get them.

    `sha256` is of the bytes as they came; `notes` are sentences for the user. `targets` names for
    each row the column that was perturbed in it, if a column of the table says so; `groups` holds
    for each row what says which rows belong together. `look` is all that was found and decided,
    `rows` are the numbers of the rows in the file. Of a table too large for memory, the values are
    some of its rows, and `summed` is what all of them add up to.
    """

    values: FloatArray = field(repr=False)
    names: tuple[str, ...]
    source: str
    sha256: str
    rows_dropped: int = 0
    notes: tuple[str, ...] = ()
    targets: tuple[str | None, ...] | None = None
    groups: tuple[str, ...] | None = field(default=None, repr=False)
    look: Look | None = field(default=None, repr=False)
    rows: tuple[int, ...] = field(default=(), repr=False)
    summed: Summed | None = field(default=None, repr=False)

    def check_range(self) -> None:
        """Refuse what no fit takes, with more to say than an array has: names, rows of the file."""
        if len(self.values):
            present = np.where(np.isnan(self.values), 0.0, self.values)
            refuse_out_of_range(present, self.names, self.source, self.rows or None)

    @property
    def columns(self) -> NamedColumns:
        """What estimators take: the values under their names."""
        recipe = None if self.look is None else self.look.recipe
        return NamedColumns(self.values, self.names, recipe)

    @property
    def data(self) -> NamedColumns | Summed:
        """What a fit learns from: all rows, here or added up."""
        return self.columns if self.summed is None else self.summed

    @property
    def n_rows(self) -> int:
        """How many rows a fit learns from."""
        return len(self.values) if self.summed is None else self.summed.seen.sample.n_seen

    @property
    def has_gaps(self) -> bool:
        """Whether a cell is missing."""
        return bool(np.isnan(self.values).any())

    def refuse_too_small(self) -> None:
        """Raise DataError if there is nothing to learn from so few rows or columns."""
        rows, columns = self.values.shape
        if columns < 2:
            raise DataError(
                f"{self.source} has {columns} column{'s' * (columns != 1)} of numbers; a graph "
                "joins variables, so there must be two or more"
            )
        if rows < 3:
            raise DataError(
                f"{self.source} has {rows} row{'s' * (rows != 1)}; two points lie on a line "
                "whatever they are, so nothing can be learned from fewer than 3 rows"
            )


def read_table(
    source: str | Path,
    *,
    stdin: BinaryIO | None = None,
    columns: Collection[str] | None = None,
    drop: Collection[str] = (),
    kinds: Mapping[str, Any] | None = None,
    missing: str = "error",
    interventions: str | None = None,
    groups: str | None = None,
    na: Codes = NO_CODES,
    looked: Any = None,
) -> Table:
    """Read a file, or `stdin` where the source is "-".

    `columns` names those to take and `drop` those to leave out; `kinds` says what a column is.
    `missing` refuses gaps ("error"), leaves rows with gaps out ("drop") or keeps them as NaN
    ("em"). `interventions` names the column that says what was perturbed in each row; a cell of it
    that would be a missing value elsewhere means that nothing was. `groups` names the column that
    says which rows belong together, or is a whole number: blocks of so many rows. `na` says which
    cells mean "missing". `looked` is called with the `Look` before anything is refused.
    """
    choice("missing", missing, MISSING_RULES)
    if str(source) != "-" and is_folder(source):
        raise DataError(
            f"{str(source)!r} is a folder, which only fit adds up, and not with --resamples, "
            "--interventions or --groups; write its rows into one file"
        )
    cells, name, digest = read_cells(source, stdin)
    ordering = _ordering(cells, groups)
    cells, kept = _without_groups(cells, groups, drop)
    check_names(cells.names, name, cells.notes)
    cells, targets = _without_targets(cells, interventions, drop)
    if targets is not None:  # what was set in some rows may lie far from the rest
        na = replace(na, guess=False)
    look, values = look_at(cells, kinds=kinds, columns=columns, drop=drop, na=na)
    look = replace(look, ordering=(*ordering, *look.ordering))
    if looked is not None:
        looked(look)
    look.refuse_undecided()
    names = look.recipe.names
    check_names(names, name, cells.notes)
    _refuse_lost_targets(targets, names)
    notes = cells.notes + ((f"left out as asked: {', '.join(drop)}",) if drop else ())
    notes += (*look.cautions, *_about_far_row(values, look, cells))
    used = _used(values, look, cells, missing)
    n_out = int((~used).sum())
    if n_out:
        notes = (*notes, f"{n_out} rows with missing values left out")
    return Table(
        values=values[used],
        names=names,
        source=name,
        sha256=digest,
        rows_dropped=n_out,
        notes=notes,
        targets=_compressed(targets, used),
        groups=_compressed(kept, used),
        look=look,
        rows=_compressed(cells.rows, used),
    )


def _used(values: FloatArray, look: Look, cells: Cells, missing: str) -> BoolArray:
    """Return the rows that are used; gaps may be refused."""
    full: BoolArray = ~np.any(np.isnan(values), axis=1)
    if full.all() or missing == "em":
        return np.ones(len(values), dtype=bool)
    if missing == "error":
        _refuse_gaps(values, look, cells)
    _refuse_nothing_left(full, look)
    return full


def _about_far_row(values: FloatArray, look: Look, cells: Cells) -> list[str]:
    """Name a row that is far from all others."""
    found = far_row(values, look.recipe.numbers)
    if found is None:
        return []
    row, columns = found
    names = first_few([short(look.recipe.names[k]) for k in columns], _NAMED)
    return [
        f"row {cells.rows[row]} is far from all others in {names} (a total?): delete it if it is "
        "no case"
    ]


def _compressed(items: Sequence[Any] | None, kept: BoolArray) -> Any:
    if items is None:
        return None
    return tuple(item for item, keep in zip(items, kept.tolist(), strict=True) if keep)


def write_table(
    path: Path, values: FloatArray, names: Sequence[str], *, overwrite: bool = False
) -> None:
    """Write a new CSV that `read_table` reads back to the same bits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([repr(float(cell)) for cell in row] for row in values)
    write_text(path, text.getvalue(), overwrite=overwrite)


def _without_groups(
    cells: Cells, column: str | None, drop: Collection[str]
) -> tuple[Cells, tuple[str, ...] | None]:
    """Take the column out that says which rows belong together; a row without a word is alone."""
    if column is None:
        return cells, None
    if column not in cells.names and column.isdecimal():
        return cells, _blocks(int(column), len(cells))
    cells.refuse_unknown([column], "cannot group by")
    given = [text_of(cell) for cell in cells.column(column)]
    groups = tuple(text or f"row {row}" for text, row in zip(given, cells.rows, strict=True))
    if column in drop:
        return cells, groups
    note = f"rows are grouped by {column}: {_about_groups(len(set(groups)), len(groups))}"
    return cells.select([name for name in cells.names if name != column], note), groups


def _ordering(cells: Cells, column: str | None) -> tuple[str, ...]:
    """Return the column of groups if the rows stand in its order: they may follow each other."""
    if column not in cells.names:
        return ()
    return look_at(cells.select([column]))[0].ordering


def _blocks(length: int, n_rows: int) -> tuple[str, ...]:
    if not 2 <= length <= n_rows // 2:
        raise DataError(
            f"cannot group by blocks of {length} of {n_rows} rows; give 2 to {n_rows // 2} rows, "
            "or name a column"
        )
    return tuple(f"block {row // length}" for row in range(n_rows))


def _about_groups(n_groups: int, n_rows: int) -> str:
    """Say how many groups there are, and what happens where nearly every row is one."""
    said = f"{n_groups} groups of {n_rows} rows"
    if n_groups == n_rows:
        length = len(order_blocks(n_rows)[0])
        return f"{said}: every row is its own group, so blocks of {length} rows in a row are drawn"
    if n_groups > _OWN * n_rows:
        return (
            f"{said}: nearly every row is its own group, so rows still count as independent; name "
            "another column, or give the length of blocks of rows in a row, as --groups "
            f"{len(order_blocks(n_rows)[0])}"
        )
    return said


def _without_targets(
    cells: Cells, column: str | None, drop: Collection[str]
) -> tuple[Cells, tuple[str | None, ...] | None]:
    """Take the column out that names what was perturbed; None where nothing was."""
    if column is None:
        return cells, None
    if column not in cells.names:
        raise DataError(
            f"there is no column {short(column)} that could name the perturbed variables; "
            f"{meant(column, cells.names)}"
        )
    rest = [name for name in cells.names if name != column]
    known = [name for name in rest if name not in drop]
    pairs = zip(cells.column(column), cells.rows, strict=True)
    targets = tuple(_target(cell, row, column, known) for cell, row in pairs)
    hit = [name for name in known if name in set(targets)]
    n_hit = sum(target is not None for target in targets)
    note = f"interventions in {n_hit} of {len(targets)} rows, on {', '.join(hit) or 'nothing'}"
    return cells.select(rest, note), targets


def _target(cell: object, row: int, column: str, names: Sequence[str]) -> str | None:
    text = "" if cell is None else str(cell).strip()
    if text in names:
        return text
    if text.lower() in MISSING:
        return None
    raise DataError(
        f"column {short(column)} names {short(text)} in row {row}, which is no column of the "
        f"data (an empty cell means that nothing was perturbed); {meant(text, names)}"
    )


def _refuse_lost_targets(targets: Sequence[str | None] | None, names: Sequence[str]) -> None:
    """Refuse interventions on columns that were left out: their rows would pass for undisturbed."""
    lost = sorted({target for target in targets or () if target is not None} - set(names))
    if lost:
        raise DataError(
            f"rows perturb {lost}, which is left out of the table; say what it is (--kind "
            f"{short(lost[0] + '=number')}), or leave those rows out"
        )


def _refuse_gaps(values: FloatArray, look: Look, cells: Cells) -> None:
    gaps = np.isnan(values)
    k = int(np.flatnonzero(gaps.any(axis=0))[0])
    others = int(gaps.any(axis=0).sum()) - 1
    more = f" (and {others} more columns have some)" if others else ""
    first = cells.rows[int(np.flatnonzero(gaps[:, k])[0])]
    raise DataError(
        f"column {short(look.recipe.names[k])} has {int(gaps[:, k].sum())} missing values, the "
        f"first in row {first}{more}; leave such rows out (missing='drop'; on the command line: "
        "--missing drop) or let maximum likelihood use them as they are (missing='em'; --missing "
        "em), which loss='logistic' cannot"
    )


def _refuse_nothing_left(full: BoolArray, look: Look) -> None:
    if full.any():
        return
    raise DataError(
        f"every row has a gap ({gap_words(look.gaps, look.n_rows)}), so leaving rows out leaves "
        "none; use missing='em' (--missing em), or leave the emptiest columns out (--drop)"
    )
