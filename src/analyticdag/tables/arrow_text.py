"""Delimited text by pyarrow, where it is installed and a batch is plain: numbers all at once.

    by_arrow(header, body, ...)      the cells of a batch; None where `text.py` has to read it

A cell means the same as there: what pyarrow would take for anything but a number stays text, and a
batch with comments, empty lines, or rows of unequal length is not plain.
"""

from __future__ import annotations

import importlib
import io
from typing import Any

from analyticdag.tables.cells import Cells

# Gaps among numbers; others (`cells.MISSING`) are read cell by cell.
_GAPS = ["", "NA", "nan", "NaN"]


def by_arrow(like: Cells, delimiter: str, body: bytes, n_before: int) -> Cells | None:
    """Return the cells of some rows, `n_before` lines below the top; `like` are the first of them.

    Numbers are arrays, all else are lists of texts.
    """
    try:
        arrow = importlib.import_module("pyarrow.csv")
    except ImportError:
        return None
    # Hexadecimal numbers are texts elsewhere.
    if b"0x" in body or b"0X" in body:
        return None
    try:
        table = _read(arrow, like.names, delimiter, body)
    except ValueError:  # pyarrow's errors are these; the slow way says what is wrong
        return None
    n_lines = body.count(b"\n") + (not body.endswith(b"\n"))
    if table.num_rows != n_lines:
        return None
    rows = range(n_before + 1, n_before + n_lines + 1)
    columns = tuple(map(_cells, table.columns))
    return Cells(like.names, columns, rows, like.notes, decimal_comma=like.decimal_comma)


def _read(arrow: Any, names: tuple[str, ...], delimiter: str, body: bytes) -> Any:
    """Read a batch; columns that are not numbers are read once more, as text."""
    text = importlib.import_module("pyarrow").string()
    kinds: dict[str, Any] = {}
    for _ in range(2):
        table = arrow.read_csv(
            io.BytesIO(body),
            arrow.ReadOptions(use_threads=False, block_size=len(body) + 1, column_names=names),
            arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow.ConvertOptions(null_values=_GAPS, column_types=kinds),
        )
        others = [f.name for f in table.schema if not (_is_number(f.type) or f.type == text)]
        if not others:
            break
        kinds = dict.fromkeys(others, text)
    return table


def _is_number(kind: Any) -> bool:
    types = importlib.import_module("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _cells(column: Any) -> Any:
    return column.to_numpy() if _is_number(column.type) else column.to_pylist()
