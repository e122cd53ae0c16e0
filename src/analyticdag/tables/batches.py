"""Files of any size, as batches of numbers, as often as needed; in the memory of a row group.

    read_batches(path)             one look at the first rows -> `Batches` of `NamedColumns`
    with_first_look(batches, …)    the same look at the first rows of data frames

Parquet and Feather (a file, or a folder of them) come through pyarrow, delimited text line by line;
other formats are read whole. What each column is, the first rows decide, however few of them a
batch has: a cell that does not fit in later on is refused by row and column.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from analyticdag._files import is_folder, is_there
from analyticdag._tables import NamedColumns, listing
from analyticdag.errors import DataError, MissingDependencyError
from analyticdag.tables.categories import scored
from analyticdag.tables.cells import Cells, arrow_orders
from analyticdag.tables.codes import NO_CODES, Codes
from analyticdag.tables.files import (
    read_cells,
    refuse_address,
    refuse_long_texts,
    refuse_many_cells,
    unreadable,
)
from analyticdag.tables.look import Look, check_names, look_at
from analyticdag.tables.python import frame_to_read, recipe_for
from analyticdag.tables.recipe import Recipe
from analyticdag.tables.suspects import warn_of_codes
from analyticdag.tables.text import text_batches

# Rows of a batch, and of the first look at the columns: with 50 columns 13 MB, and large enough
# that a batch costs little beside them.
BATCH_ROWS = 32_768
_ARROW = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")


@dataclass(frozen=True, eq=False)
class Batches:
    """The rows of a file, batch by batch; `look` says what the columns are."""

    path: Path
    look: Look
    asked: frozenset[str] = field(default_factory=frozenset)

    def __iter__(self) -> Iterator[NamedColumns]:
        recipe = self.look.recipe
        known = {column.name for column in self.look.columns}
        numbers = [column.name for column in self.look.columns if column.taken and column.plain]
        for cells in cell_batches(self.path, numbers):
            here = cells.select([name for name in cells.names if name in known])
            values = recipe.read(here, self.path.name, gaps=self.asked)
            yield NamedColumns(values, recipe.names, recipe)

    def refuse_left_out(self) -> None:
        """Raise DataError if columns cannot be variables: only a command leaves columns out."""
        left = [f"{one.name} ({one.kind})" for one in self.look.columns if not one.taken]
        if left:
            raise DataError(
                f"{self.path.name} has columns that cannot be variables: {listing(left)}; leave "
                "them out: read_batches(path, drop=[...])"
            )


def read_batches(
    path: str | os.PathLike[str],
    *,
    kinds: Mapping[str, Any] | None = None,
    columns: Collection[str] | None = None,
    drop: Collection[str] = (),
    na: Codes = NO_CODES,
    looked: Any = None,
) -> Batches:
    """Look at the first rows of a file, and return all of its rows as batches.

    `columns` names those to take and `drop` those to leave out; `kinds` says what a column is,
    `na` which cells mean "missing". `looked` is called with the `Look` before anything is refused.
    """
    refuse_address(path)
    place = Path(path)
    first = _first_rows(place, kinds or ())
    check_names(first.names, place.name)
    look, _ = look_at(first, kinds=kinds, columns=columns, drop=drop, na=na)
    if looked is not None:
        looked(look)
    look.refuse_undecided()
    check_names(look.recipe.names, place.name)
    return Batches(place, look, frozenset(kinds or ()))


def _first_rows(path: Path, asked: Collection[str]) -> Cells:
    """Return the first rows of a file: its first part, and more where row groups are small."""
    held: list[Cells] = []
    for cells in cell_batches(path):
        held.append(cells)
        if path.suffix.lower() in _TEXT or sum(map(len, held)) >= BATCH_ROWS:
            break
    if not held:
        raise DataError(f"{path.name} has no rows; pass at least two")
    return Cells.joined(held, asked)


def with_first_look(batches: Iterator[Any], kinds: Mapping[str, Any] | None) -> Iterator[Any]:
    """Yield the batches; where they are data frames with more than numbers, the first are read by
    the recipe that the first `BATCH_ROWS` rows give, however many batches these are."""
    first = next(batches, None)
    frame = _to_look_at(first, kinds)
    if frame is None:
        yield from itertools.chain([] if first is None else [first], batches)
        return
    frames, n_rows = [frame], len(frame)
    while n_rows < BATCH_ROWS and (batch := next(batches, None)) is not None:
        more = _to_look_at(batch, kinds)
        if more is None or more.columns != frame.columns:
            batches = itertools.chain([batch], batches)
            break  # what is wrong with it is said when it is read
        frames.append(more)
        n_rows += len(more)
    last = frames[-1].head(len(frames[-1]) - max(n_rows - BATCH_ROWS, 0))
    cells = [Cells.of_frame(one) for one in (*frames[:-1], last)]
    table, gaps = Cells.joined(cells, kinds or ()), frozenset(kinds or ())
    unscored = recipe_for(frame, table, kinds)
    columns, values = scored(unscored.columns, unscored.read(table, gaps=gaps))
    warn_of_codes(values, unscored.names, unscored.numbers)
    recipe, parts = Recipe(columns), np.split(values, np.cumsum([*map(len, cells)])[:-1])
    if len(last) < len(frames[-1]):
        parts[-1] = recipe.read(frames[-1], gaps=gaps)
    yield from (NamedColumns(part, list(recipe.names), recipe) for part in parts)
    yield from batches


def _to_look_at(batch: Any, kinds: Mapping[str, Any] | None) -> nw.DataFrame[Any] | None:
    """Return a batch whose columns are to be looked at; None where they are known."""
    is_read = batch is None or isinstance(batch, NamedColumns)
    return None if is_read else frame_to_read(batch, kinds)


def has_batches(path: Path) -> bool:
    """Whether a file, or a folder, can be read in less memory than it has bytes."""
    return is_folder(path) or path.suffix.lower() in (*_ARROW, *_TEXT)


def cell_batches(path: Path, numbers: Collection[str] = ()) -> Iterator[Cells]:
    """Yield the cells of a file, some rows at a time; `numbers` are columns known to hold such."""
    if not is_there(path):
        raise DataError(f"there is no file {str(path)!r}; check the path")
    suffix = path.suffix.lower()
    if is_folder(path) or suffix in _ARROW:
        yield from _arrow_batches(path, _ARROW.get(suffix) or _kind_inside(path))
    elif suffix in _TEXT:
        yield from text_batches(path, numbers=numbers)
    else:
        yield read_cells(path)[0]


def _kind_inside(folder: Path) -> str:
    """Return the format of the files in a folder, by their names."""
    suffixes = (file.suffix.lower() for file in folder.rglob("*"))
    kinds = {_ARROW[suffix] for suffix in suffixes if suffix in _ARROW}
    return "feather" if kinds == {"feather"} else "parquet"


def _arrow_batches(path: Path, kind: str) -> Iterator[Cells]:
    n_before = 0
    try:
        for batch in _record_batches(path, kind):
            if batch.num_rows:
                yield _arrow_cells(batch, n_before)
            n_before += batch.num_rows
    except (ValueError, OSError, TypeError) as error:  # pyarrow's errors are these
        if isinstance(error, DataError):
            raise
        raise unreadable(path.name, kind, error) from error


def _record_batches(path: Path, kind: str) -> Iterator[Any]:
    """Yield the batches of all files, one part of a file after the other.

    Left alone, pyarrow reads on while a batch is added up, until the memory is full.
    """
    try:
        pyarrow, dataset = map(importlib.import_module, ("pyarrow", "pyarrow.dataset"))
    except ImportError as error:
        raise MissingDependencyError("pyarrow", "parquet") from error
    table = dataset.dataset(path, format=kind, partitioning="hive")
    if kind == "parquet":  # texts as places in a list, until it is known how long they are
        texts = [f.name for f in table.schema if str(f.type) in ("string", "binary")]
        how_read = dataset.ParquetFileFormat(dictionary_columns=texts)
        table = dataset.dataset(path, format=how_read, partitioning="hive")
    how: dict[str, Any] = {"schema": table.schema, "batch_size": BATCH_ROWS, "batch_readahead": 1}
    if kind == "parquet":
        how["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False
        )
    for file in table.get_fragments():
        size = Path(file.path).stat().st_size
        refuse_many_cells(file.count_rows() * len(table.schema), size)
        for part in file.split_by_row_group() if kind == "parquet" else [file]:
            for batch in part.to_batches(**how):
                refuse_long_texts(pyarrow.Table.from_batches([batch]), size)
                yield batch


def _arrow_cells(batch: Any, n_before: int) -> Cells:
    """Return the cells of a record batch: numbers as arrays, all else as lists."""
    types = importlib.import_module("pyarrow.types")
    columns = tuple(
        column.to_numpy(zero_copy_only=False)
        if types.is_integer(column.type) or types.is_floating(column.type)
        else column.to_pylist()
        for column in batch.columns
    )
    rows, names = range(n_before + 1, n_before + batch.num_rows + 1), tuple(batch.schema.names)
    found = zip(names, map(arrow_orders, batch.columns), strict=True)
    levels = {name: orders[0] for name, orders in found if orders}
    return Cells(names, columns, rows, levels=levels, ordered=frozenset(levels))
