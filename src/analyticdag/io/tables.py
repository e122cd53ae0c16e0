"""Read a table as an analyst has it: CSV, TSV, Parquet, or CSV on standard input.

Only the csv module and NumPy are needed; Parquet asks for pyarrow (or polars) when it is met.

- Encoding: UTF-8, with or without the byte order mark that Excel writes; UTF-16 with one.
- Delimiter: the one of comma, semicolon, tab and bar that splits the first rows best; a decimal
  comma is read where the delimiter is a semicolon.
- Header: the first row, unless all of it are numbers. 0 … d-1 and 1 … d, as pandas and R write
  for columns without names, are a header.
- A first column without a name that counts the rows is an index that a program wrote: left out.
- Rows are counted as a spreadsheet does: the first line of the file is row 1.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from analyticdag._files import write_text
from analyticdag._tables import NamedColumns, refuse_out_of_range
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError, MissingDependencyError

DELIMITERS = (",", ";", "\t", "|")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", ".", "-", "#n/a"})
_SHOWN = 5
# A Parquet file may be packed: so many cells in any case, 200 MB in memory, and so many for each of
# its bytes. Numbers that differ take a bit at least, which is eight cells a byte.
_MANY_CELLS, _CELLS_PER_BYTE = 4_000_000, 100


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with column names, and what was done to get them.

    `sha256` is of the bytes as they came; `notes` are sentences for the user. `targets` names for
    each row the column that was perturbed in it, if a column of the table says so. `rows` are their
    numbers in the file.
    """

    values: FloatArray = field(repr=False)
    names: tuple[str, ...]
    source: str
    sha256: str
    rows_dropped: int = 0
    notes: tuple[str, ...] = ()
    targets: tuple[str | None, ...] | None = None
    rows: tuple[int, ...] = field(default=(), repr=False)

    def check_range(self) -> None:
        """Refuse what no fit takes, with more to say than an array has: names, rows of the file."""
        if len(self.values):
            refuse_out_of_range(self.values, self.names, self.source, self.rows)

    @property
    def columns(self) -> NamedColumns:
        """What estimators take: the values under their names."""
        return NamedColumns(self.values, self.names)


@dataclass(frozen=True)
class _Cells:
    """A table before its cells are read as numbers; `rows` are numbers for messages."""

    names: list[str]
    columns: list[list[Any]]
    rows: Sequence[int]
    notes: tuple[str, ...] = ()

    def select(self, keep: Iterable[int], note: str) -> _Cells:
        chosen = list(keep)
        names, columns = [self.names[k] for k in chosen], [self.columns[k] for k in chosen]
        return replace(self, names=names, columns=columns, notes=(*self.notes, note))


def read_table(
    source: str | Path,
    *,
    stdin: BinaryIO | None = None,
    drop: Iterable[str] = (),
    drop_missing: bool = False,
    interventions: str | None = None,
) -> Table:
    """Read a file, or `stdin` where the source is "-"; `drop` names columns to leave out.

    `interventions` names the column that says what was perturbed in each row; a cell of it that
    would be a missing value elsewhere means that nothing was.
    """
    raw = _read_bytes(source, stdin)
    name = "standard input" if str(source) == "-" else Path(source).name
    is_parquet = Path(source).suffix.lower() in (".parquet", ".pq") or raw[:4] == b"PAR1"
    cells = _parquet(raw, name) if is_parquet else _delimited(raw, name)
    cells = _without_columns(cells, list(drop))
    cells, targets = _without_targets(cells, interventions)
    _check_names(cells.names, name)
    values = _numbers(cells)
    gaps: BoolArray = np.any(np.isnan(values), axis=1)
    notes = cells.notes
    if gaps.any():
        if not drop_missing:
            _refuse_missing(values, cells)
        values = values[~gaps]
        targets = targets and tuple(itertools.compress(targets, ~gaps))
        notes = (*notes, f"{int(gaps.sum())} rows with missing values left out")
    rows = tuple(itertools.compress(cells.rows, ~gaps))
    digest = hashlib.sha256(raw).hexdigest()
    return Table(values, tuple(cells.names), name, digest, int(gaps.sum()), notes, targets, rows)


def write_table(
    path: Path, values: FloatArray, names: Sequence[str], *, overwrite: bool = False
) -> None:
    """Write a new CSV that `read_table` reads back to the same bits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([repr(float(cell)) for cell in row] for row in values)
    write_text(path, text.getvalue(), overwrite=overwrite)


def _read_bytes(source: str | Path, stdin: BinaryIO | None) -> bytes:
    if str(source) == "-":
        if stdin is None:
            raise DataError("'-' stands for standard input, and there is none here; name a file")
        return stdin.read()
    path = Path(source)
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise DataError(
            f"{path.name} is a spreadsheet; save the sheet as 'CSV UTF-8' and pass that file"
        )
    try:
        return path.read_bytes()  # a pipe is welcome too
    except FileNotFoundError as error:
        raise DataError(f"there is no file {str(path)!r}; check the path") from error
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}; name a file") from error
    except ValueError as error:  # a null character in the name
        raise DataError(f"cannot read {str(path)!r}: {error}; name a file") from error


def _delimited(raw: bytes, name: str) -> _Cells:
    text = decoded(raw, name)
    if not text.strip():
        raise DataError(f"{name} is empty; pass a table with a header and rows of numbers")
    delimiter = "\t" if name.lower().endswith((".tsv", ".tab")) else _delimiter(text)
    numbers, rows = parsed_rows(text, delimiter, name)
    notes: tuple[str, ...] = ()
    if _is_header(rows[0]):
        header, rows, numbers = [cell.strip() for cell in rows[0]], rows[1:], numbers[1:]
    else:
        header = [str(k) for k in range(len(rows[0]))]
        notes = (f"the first row holds numbers only: columns are named 0 to {len(header) - 1}",)
    if not rows:
        raise DataError(f"{name} has a header and no rows; pass at least two rows")
    _refuse_ragged(rows, len(header), numbers)
    columns = [list(column) for column in zip(*rows, strict=True)]
    cells = _Cells(header, columns, numbers, notes)
    if header[0] == "" and _counts(columns[0]):
        note = "the first column has no name and counts the rows: left out"
        cells = cells.select(range(1, len(header)), note)
    return _with_decimal_points(cells) if delimiter == ";" else cells


def decoded(raw: bytes, name: str) -> str:
    """Return the bytes as text; DataError names the row that is none."""
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        row = raw[: error.start].count(b"\n") + 1
        raise DataError(
            f"{name} is not UTF-8 text (row {row}); save it as 'CSV UTF-8', or convert it: "
            "iconv -f latin1 -t utf-8"
        ) from error


def _delimiter(text: str) -> str:
    """Return the delimiter that splits the first rows into most cells, equally many in each."""
    start = "\n".join(text.splitlines()[:20])

    def score(delimiter: str) -> tuple[bool, int]:
        reader = csv.reader(io.StringIO(start), delimiter=delimiter)
        try:
            widths = [len(row) for row in reader if row]
        except csv.Error:
            return False, 0
        return len(set(widths)) == 1 and widths[0] > 1, widths[0]

    return max(DELIMITERS, key=score)


def parsed_rows(text: str, delimiter: str, name: str) -> tuple[list[int], list[list[str]]]:
    """Return the rows of a delimited text that are not empty, and the line each ends on."""
    # Strict: a quote that nothing closes would swallow the rows after it.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        pairs = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise DataError(f"{name}, row {reader.line_num}: {error}; check its quotes") from error
    return [number for number, _ in pairs], [row for _, row in pairs]


def _is_header(row: Sequence[str]) -> bool:
    try:
        numbers = [float(cell.replace(",", ".")) for cell in row]
    except ValueError:
        return True
    return len(row) > 1 and numbers in (list(range(len(row))), list(range(1, len(row) + 1)))


def _counts(column: Sequence[str]) -> bool:
    try:
        numbers = [float(cell) for cell in column]
    except ValueError:
        return False
    return numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def _with_decimal_points(cells: _Cells) -> _Cells:
    """Read 1,5 as 1.5, as files with semicolons mean it, unless points are there already."""
    if any("." in cell for column in cells.columns for cell in column):
        return cells
    if not any("," in cell for column in cells.columns for cell in column):
        return cells
    columns = [[cell.replace(",", ".") for cell in column] for column in cells.columns]
    return replace(cells, columns=columns, notes=(*cells.notes, "read with a decimal comma"))


def _refuse_ragged(rows: Sequence[Sequence[str]], width: int, numbers: Sequence[int]) -> None:
    for number, row in zip(numbers, rows, strict=True):
        if len(row) != width:
            raise DataError(
                f"row {number} has {len(row)} cells and the header {width}; check the delimiter, "
                "and put quotes around cells that contain it"
            )


def _without_targets(
    cells: _Cells, column: str | None
) -> tuple[_Cells, tuple[str | None, ...] | None]:
    """Take the column out that names what was perturbed; None where nothing was."""
    if column is None:
        return cells, None
    if column not in cells.names:
        raise DataError(
            f"there is no column {_short(column)} that could name the perturbed variables; "
            f"{_listing(cells.names)}"
        )
    k = cells.names.index(column)
    rest = [name for name in cells.names if name != column]
    pairs = zip(cells.columns[k], cells.rows, strict=True)
    targets = tuple(_target(cell, row, column, rest) for cell, row in pairs)
    hit = [name for name in rest if name in set(targets)]
    n_hit = sum(target is not None for target in targets)
    note = f"interventions in {n_hit} of {len(targets)} rows, on {', '.join(hit) or 'nothing'}"
    return cells.select((i for i in range(len(cells.names)) if i != k), note), targets


def _target(cell: object, row: int, column: str, names: Sequence[str]) -> str | None:
    text = "" if cell is None else str(cell).strip()
    if text in names:
        return text
    if text.lower() in MISSING:
        return None
    raise DataError(
        f"column {_short(column)} names {_short(text)} in row {row}, which is no column of the "
        f"data; {_listing(names)}, and an empty cell means that nothing was perturbed"
    )


def _without_columns(cells: _Cells, drop: list[str]) -> _Cells:
    unknown = [column for column in drop if column not in cells.names]
    if unknown:
        raise DataError(f"cannot drop {unknown}: {_listing(cells.names)}")
    if not drop:
        return cells
    keep = [k for k, name in enumerate(cells.names) if name not in drop]
    return cells.select(keep, f"left out as asked: {', '.join(drop)}")


def _check_names(names: list[str], table: str) -> None:
    if not names:
        raise DataError(f"{table} has no columns left; pass at least one column of numbers")
    if "" in names:
        raise DataError(f"column {names.index('') + 1} has no name; give it one in the first row")
    seen: set[str] = set()
    twice = {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
    if twice:
        raise DataError(
            f"more than one column is named {sorted(twice)[:_SHOWN]}; rename or drop them"
        )


def _numbers(cells: _Cells) -> FloatArray:
    """Return the cells as floats, NaN where missing; text is refused by column and row."""
    values = np.empty((len(cells.rows), len(cells.columns)))
    for k, (name, column) in enumerate(zip(cells.names, cells.columns, strict=True)):
        try:
            values[:, k] = np.array(column, dtype=np.float64)
        except (TypeError, ValueError):  # something is missing, or no number: find out what
            numbered = zip(column, cells.rows, strict=True)
            values[:, k] = [_number(cell, name, row) for cell, row in numbered]
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, k = infinite[0]
        raise DataError(
            f"column {cells.names[k]!r} holds infinity in row {cells.rows[row]}; "
            "replace it or drop the row"
        )
    return values


def _number(cell: object, column: str, row: int) -> float:
    text = "" if cell is None else str(cell).strip()
    if text.lower() in MISSING:
        return np.nan
    try:
        return float(text)
    except ValueError:
        raise DataError(
            f"column {_short(column)} holds the text {_short(text)} in row {row}; encode it as "
            "numbers or leave the column out (on the command line: --drop)"
        ) from None


def _refuse_missing(values: FloatArray, cells: _Cells) -> None:
    gaps = np.isnan(values)
    k = int(np.flatnonzero(gaps.any(axis=0))[0])
    others = int(gaps.any(axis=0).sum()) - 1
    more = f" (and {others} more columns have some)" if others else ""
    first = cells.rows[int(np.flatnonzero(gaps[:, k])[0])]
    raise DataError(
        f"column {_short(cells.names[k])} has {int(gaps[:, k].sum())} missing values, the first "
        f"in row {first}{more}; fill them in, or leave such rows out (drop_missing=True; on the "
        "command line: --drop-missing)"
    )


def _parquet(raw: bytes, name: str) -> _Cells:
    """Read a Parquet file with pyarrow or polars, whichever is installed."""
    try:
        names, columns = _parquet_columns(raw)
    except ImportError as error:
        raise MissingDependencyError("pyarrow", "parquet") from error
    except Exception as error:
        raise DataError(f"{name} cannot be read as Parquet ({error}); write it again") from error
    return _Cells(names, columns, range(1, 1 + len(columns[0] if columns else ())))


def _refuse_bomb(n_cells: int, raw: bytes) -> None:
    """Refuse a file that holds next to nothing, and unpacks to more than there is memory."""
    if n_cells > max(_MANY_CELLS, _CELLS_PER_BYTE * len(raw)):
        raise ValueError(f"{len(raw)} bytes would unpack to {n_cells} cells")


def _parquet_columns(raw: bytes) -> tuple[list[str], list[list[Any]]]:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        import polars as pl

        lazy = pl.scan_parquet(io.BytesIO(raw))
        _refuse_bomb(lazy.select(pl.len()).collect().item() * len(lazy.collect_schema()), raw)
        frame = lazy.collect()
        return list(frame.columns), [frame[column].to_list() for column in frame.columns]
    metadata = pq.read_metadata(io.BytesIO(raw))
    _refuse_bomb(metadata.num_rows * metadata.num_columns, raw)
    table = pq.read_table(io.BytesIO(raw))
    return list(table.column_names), [column.to_pylist() for column in table.columns]


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(map(_short, names[:_SHOWN]))
    return f"the columns are {shown}{', …' if len(names) > _SHOWN else ''}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
