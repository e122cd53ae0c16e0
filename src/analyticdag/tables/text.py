"""Delimited text: CSV and its relatives, as spreadsheets, R, pandas and NumPy write it.

- Encoding: UTF-8, with or without the byte order mark that Excel writes; UTF-16 with one.
- Delimiter: the one of comma, semicolon, tab and bar that splits the first rows best; blanks where
  none of these does, or where they leave numbers with a decimal comma. Such numbers are preferred
  where the delimiter is a semicolon or a blank.
- Comments: lines that begin with # before the table; later ones too, unless they have as many cells
  as a row. A last comment that has is the header, as NumPy writes it.
- Header: the first row, unless all of it are numbers. 0 … d-1 and 1 … d, as pandas and R write
  for columns without names, are a header. A header that lacks one cell is R's: the first column
  holds row names.
- A first column without a name that counts the rows is an index that a program wrote: left out.
- Rows are counted as a spreadsheet does: the first line of the file is row 1.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import mode
from typing import BinaryIO

from analyticdag.errors import DataError
from analyticdag.tables.arrow_text import by_arrow
from analyticdag.tables.cells import Cells, text_of
from analyticdag.tables.numbers import Style

DELIMITERS = (",", ";", "\t", "|")
BLANK = " "
# A batch of text: as cells it takes some ten times as much.
BATCH_BYTES = 2**23
_LOOKED_AT = 20  # lines that tell the delimiter


def delimited(raw: bytes, name: str, above: int = 0) -> Cells:
    """Return the cells of a delimited text; so many lines of the file stand above it."""
    comments, text = _without_comments(decoded(raw, name, above))
    if not text.strip():
        raise DataError(f"{name} is empty; pass a table with a header and rows of numbers")
    delimiter = _delimiter_of(text, name)
    if delimiter == BLANK:
        text = "\n".join(line.strip() for line in text.splitlines())
    numbers, rows = parsed_rows(text, delimiter, name, above + len(comments))
    notes: tuple[str, ...] = ()
    if _is_header(rows[0]):
        header = [cell.strip() for cell in rows[0]]
        refuse_title(header, [len(row) for row in rows[1:]], numbers[0])
        rows, numbers = rows[1:], numbers[1:]
    elif comments and len(said := _cells_of_comment(comments[-1], delimiter)) == len(rows[0]):
        header = said
    else:
        header = [str(k) for k in range(len(rows[0]))]
        notes = (f"the first row holds numbers only: columns are named 0 to {len(header) - 1}",)
    if not rows:
        raise DataError(f"{name} has a header and no rows; pass at least two rows")
    if all(len(row) == len(header) + 1 for row in rows):
        header = ["row names", *header]
    kept = [k for k, row in enumerate(rows) if len(row) == len(header) or row[0][:1] != "#"]
    rows, numbers = [rows[k] for k in kept], [numbers[k] for k in kept]
    _refuse_no_table(name, header, rows)
    _refuse_ragged(rows, len(header), numbers)
    columns = tuple(zip(*rows, strict=True))
    cells = Cells(tuple(header), columns, numbers, notes, decimal_comma=delimiter in (";", BLANK))
    if header[0] == "" and _counts(columns[0]):
        return cells.select(
            header[1:], "the first column has no name and counts the rows: left out"
        )
    return cells


def text_batches(
    path: Path, size: int = BATCH_BYTES, *, numbers: Collection[str] = ()
) -> Iterator[Cells]:
    """Yield the cells of a delimited text, about `size` bytes at a time.

    The columns `numbers` may come as arrays: they are known to hold plain numbers.
    """
    with path.open("rb") as file:
        header, n_lines = _header(file, path.name)
        while body := _whole_lines(file, size):
            if any(line.strip() and line[:1] != b"#" for line in io.BytesIO(body)):
                yield _plain(header, body, path.name, n_lines, numbers) or _batch(
                    header, body, path.name, n_lines
                )
            n_lines += body.count(b"\n")


def _batch(header: bytes, body: bytes, name: str, n_lines: int) -> Cells:
    """Return the cells of some rows, which are so many lines below the top of the file."""
    return delimited(header + body, name, n_lines - header.count(b"\n"))


def _plain(
    header: bytes, body: bytes, name: str, n_lines: int, numbers: Collection[str]
) -> Cells | None:
    """Return the same by pyarrow; None where it is not there, or where the rows are not plain."""
    first = b"".join(itertools.islice(io.BytesIO(body), _LOOKED_AT))
    if first.count(b'"') % 2:
        return None
    start, above = header + first, n_lines - header.count(b"\n")
    delimiter = _delimiter_of(decoded(start, name, above), name)
    if delimiter == BLANK:
        return None
    return by_arrow(delimited(start, name, above), delimiter, body, n_lines, numbers)


def _whole_lines(file: BinaryIO, size: int) -> bytes:
    """Read about so many bytes, and on to the end of the row."""
    body = file.read(size) + file.readline()
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError("UTF-16 text cannot be read in batches; save it as 'CSV UTF-8'")
    while body.count(b'"') % 2 and (more := file.readline()):  # a line break in quotes ends no row
        body += more
    return body


def _header(file: BinaryIO, name: str) -> tuple[bytes, int]:
    """Return a line with the names of the columns, and how many lines stand above the first row."""
    above = list(itertools.takewhile(lambda line: line[:1] == b"#", iter(file.readline, b"")))
    file.seek(sum(map(len, above)))
    start = decoded(b"".join(_whole_lines(file, 1) for _ in range(_LOOKED_AT)), name).strip()
    file.seek(sum(map(len, above)))
    delimiter = _delimiter_of(start, name)
    rows = parsed_rows(start, delimiter, name)[1]
    if not rows or _is_header(rows[0]):
        line = _whole_lines(file, 1)
        return line, len(above) + line.count(b"\n")
    said = _cells_of_comment(decoded(above[-1], name), delimiter) if above else []
    names = said if len(said) == len(rows[0]) else map(str, range(len(rows[0])))
    return f"{delimiter.join(names)}\n".encode(), len(above)


def decoded(raw: bytes, name: str, above: int = 0) -> str:
    """Return the bytes as text; DataError names the row that is none."""
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        row = above + raw[: error.start].count(b"\n") + 1
        raise DataError(
            f"{name} is not UTF-8 text (row {row}); save it as 'CSV UTF-8', or convert it: "
            "iconv -f latin1 -t utf-8"
        ) from error
    before, null, _ = text.partition("\0")
    if null:
        row = above + before.count("\n") + 1
        raise DataError(f"{name} has a null character (row {row}); save it as 'CSV UTF-8'")
    return text


def parsed_rows(
    text: str, delimiter: str, name: str, above: int = 0
) -> tuple[list[int], list[list[str]]]:
    """Return the rows of a delimited text that are not empty, and the line each ends on."""
    # Strict: a quote that nothing closes would swallow the rows after it.
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        strict=True,
        skipinitialspace=delimiter == BLANK,
    )
    try:
        pairs = [(above + reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        row = above + reader.line_num
        raise DataError(f"{name}, row {row}: {error}; check its quotes") from error
    return [number for number, _ in pairs], [row for _, row in pairs]


def _without_comments(text: str) -> tuple[list[str], str]:
    """Return the comments before the table, line by line, and the rest."""
    comments: list[str] = []
    while text[:1] == "#":
        first, _, rest = text.partition("\n")
        if not rest.strip():
            break
        comments, text = [*comments, first], rest
    return comments, text


def _cells_of_comment(line: str, delimiter: str) -> list[str]:
    rows = parsed_rows(line.lstrip("# ").strip(), delimiter, "a comment")[1]
    return [cell.strip() for cell in rows[0]] if rows else []


def _delimiter_of(text: str, name: str) -> str:
    return "\t" if name.lower().endswith((".tsv", ".tab")) else _delimiter(text)


def _delimiter(text: str) -> str:
    """Return the delimiter that splits the first rows into most cells, equally many in each."""
    lines = [line.strip() for line in text.splitlines()[:_LOOKED_AT] if line[:1] != "#"]
    best = max(DELIMITERS, key=lambda delimiter: _splits(lines, delimiter))
    if best == "," and _has_decimal_commas(lines):
        return BLANK
    if _splits(lines, best)[-1] > 1 or not _splits(lines, BLANK)[0]:
        return best
    return BLANK


def _splits(lines: Sequence[str], delimiter: str) -> tuple[bool, bool, int]:
    """Return whether a delimiter splits all rows evenly, the header too, and into how many."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == BLANK)
    try:
        widths = [len(row) for row in reader if row]
    except csv.Error:
        return False, False, 0
    # R leaves the name of the first column, the row names, out of the header.
    even = len(set(widths[1:] or widths)) == 1 and widths[0] in (widths[-1], widths[-1] - 1)
    even = even and widths[-1] > 1
    return even, even and widths[0] == widths[-1], max(widths, default=0)


def _has_decimal_commas(lines: Sequence[str]) -> bool:
    """Whether blanks split all rows evenly, into numbers of which some have a decimal comma."""
    if not _splits(lines, BLANK)[1]:
        return False
    # A header has no commas, or it would be split at them.
    numbers_only = lines if "," in lines[0] else lines[1:]
    rows = csv.reader(numbers_only, delimiter=BLANK, skipinitialspace=True)
    cells = [text for row in rows for cell in row if (text := text_of(cell))]
    read = Style(",").read
    # A comma at an end separates cells, as in "1, 2".
    numbers = all(read(cell) is not None and cell.strip(",") == cell for cell in cells)
    return numbers and any("," in cell for cell in cells)


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


def refuse_title(header: Sequence[str], widths: Sequence[int], row: int) -> None:
    """Refuse a first row of one cell above wider ones: they hold the names, and it is a title."""
    width = mode(widths) if widths else 0
    if sum(map(bool, header)) == 1 and width > 2:
        raise DataError(f"line {row} has 1 cell and the others {width}: is it a title? delete it")


def _refuse_no_table(name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Refuse a text, such as a letter, in which neither rows nor cells are those of a table."""
    n_other = sum(len(row) != len(header) for row in rows)
    unnamed = list(header).index("") + 1 if "" in header else 0
    if not unnamed and 2 * n_other <= len(rows):
        return
    styles = (Style("."), Style(","))
    if any(style.read(cell) is not None for row in rows for cell in row for style in styles):
        return
    odd = f"{n_other} of {len(rows)} rows have not as many cells as the first"
    raise DataError(
        f"{name} does not look like a table: no cell is a number, and "
        f"{f'column {unnamed} has no name' if unnamed else odd}; pass a table with a header and "
        "rows of cells"
    )


def _refuse_ragged(rows: Sequence[Sequence[str]], width: int, numbers: Sequence[int]) -> None:
    for number, row in zip(numbers, rows, strict=True):
        if len(row) != width:
            raise DataError(
                f"row {number} has {len(row)} cells and the header {width}; check the delimiter, "
                "and put quotes around cells that contain it"
            )
