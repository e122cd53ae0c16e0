"""Delimited text by pyarrow, where it is installed and a batch is plain: numbers all at once.

    by_arrow(like, ...)      the cells of a batch; None where `text.py` has to read it

A cell means the same as there: only columns that are known to hold numbers are read as such, all
others as text, so that no cell depends on the batch it is in. A batch with comments, empty lines,
or rows of unequal length is not plain.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Collection
from typing import Any

from analyticdag.tables.cells import Cells

# Gaps among numbers; others (`cells.MISSING`) are read cell by cell.
_GAPS = ["", "NA", "nan", "NaN"]


def by_arrow(
    like: Cells, delimiter: str, body: bytes, n_before: int, numbers: Collection[str]
) -> Cells | None:
    """Return the cells of some rows, `n_before` lines below the top; `like` are the first of them.

    The columns `numbers` are arrays, unless one of their cells is no number; all others are lists
    of texts.
    """
    try:
        arrow = importlib.import_module("pyarrow.csv")
    except ImportError:
        return None
    # Hexadecimal numbers are texts elsewhere, and null characters are refused.
    if any(mark in body for mark in (b"0x", b"0X", b"\0")):
        return None
    table = _read(arrow, like.names, delimiter, body, numbers)
    if table is None and numbers:
        table = _read(arrow, like.names, delimiter, body, ())
    if table is None:
        return None
    n_lines = body.count(b"\n") + (not body.endswith(b"\n"))
    if table.num_rows != n_lines:
        return None
    rows = range(n_before + 1, n_before + n_lines + 1)
    columns = tuple(map(_cells, table.columns))
    return Cells(like.names, columns, rows, like.notes, decimal_comma=like.decimal_comma)


def _read(
    arrow: Any, names: tuple[str, ...], delimiter: str, body: bytes, numbers: Collection[str]
) -> Any:
    """Read a batch; None where pyarrow cannot: the slow way says what is wrong."""
    pyarrow = importlib.import_module("pyarrow")
    kinds = {name: pyarrow.float64() if name in numbers else pyarrow.string() for name in names}
    try:
        return arrow.read_csv(
            io.BytesIO(body),
            arrow.ReadOptions(use_threads=False, block_size=len(body) + 1, column_names=names),
            arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow.ConvertOptions(null_values=_GAPS, column_types=kinds),
        )
    except ValueError:  # pyarrow's errors are these
        return None


def _cells(column: Any) -> Any:
    return column.to_pylist() if str(column.type) == "string" else column.to_numpy()
