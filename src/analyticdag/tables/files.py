"""Files to cells: which format a file has, and who reads it.

    read_cells(source)     -> Cells, the name of the source, the SHA-256 of its bytes

| format                                    | read by                            | extra      |
|-------------------------------------------|------------------------------------|------------|
| CSV, TSV, other delimited text; JSON lines | Python itself                      |            |
| the same in .gz, .bz2, .xz, .zip          | Python itself                      |            |
| Parquet                                   | pyarrow or polars                  | parquet    |
| Feather (Arrow)                           | pyarrow or polars                  | parquet    |
| Excel (.xlsx)                             | openpyxl                           | excel      |
| Stata (.dta)                              | pandas                             | data       |
| SPSS (.sav, .zsav)                        | pandas with pyreadstat             | spss       |

What is none of these is named and refused.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import importlib
import io
import json
import lzma
import re
import textwrap
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from analyticdag._tables import first_few
from analyticdag.errors import DataError, MissingDependencyError
from analyticdag.tables.cells import Cells
from analyticdag.tables.labelled import of_native, spss, stata
from analyticdag.tables.text import delimited, refuse_title

_T = TypeVar("_T")
_MOST_REASON = 200
READ = "CSV, TSV, JSON lines, Parquet, Feather, Excel (.xlsx), Stata and SPSS files"
# A packed file may hold next to nothing: so many cells (200 MB in memory) or bytes in any case, and
# so many for each of its own bytes. Numbers that differ take a bit at least, eight cells a byte.
_MANY_CELLS, _CELLS_PER_BYTE = 4_000_000, 100
_MANY_BYTES = 200 * 2**20
# Sheets that a message names.
_NAMED = 5
# Arrow's types of texts.
_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
# What cannot be read, by the endings of its name and the first bytes of its content.
_OTHERS: dict[str, tuple[str | bytes, ...]] = {
    "an old Excel file (.xls)": (".xls", b"\xd0\xcf\x11\xe0"),
    "a binary Excel file (.xlsb)": (".xlsb",),
    "an OpenDocument spreadsheet": (".ods",),
    "an Apple Numbers spreadsheet": (".numbers",),
    "a SAS file": (".sas7bdat",),
    "a SAS transport file": (".xpt",),
    "a portable SPSS file": (".por",),
    "an R object (.rds)": (".rds",),
    "an R workspace": (".rda", ".rdata", b"RDX"),
    "a MATLAB file": (".mat",),
    "an HDF5 file": (".h5", ".hdf5", b"\x89HDF"),
    "an AnnData file": (".h5ad",),
    "a NetCDF file": (".nc",),
    "a NumPy array": (".npy", b"\x93NUMPY"),
    "a file of NumPy arrays": (".npz",),
    "a Python pickle": (".pkl", ".pickle", b"\x80\x04", b"\x80\x05"),
    "an ORC file": (".orc", b"ORC"),
    "an Avro file": (".avro", b"Obj\x01"),
    "a database": (".db", ".sqlite", ".duckdb", b"SQLite format 3"),
    "a PDF document": (".pdf", b"%PDF"),
    "a Word document": (".doc", ".docx"),
    "a web page": (".html", b"<!DOCTYPE html", b"<html"),
    "an XML file": (".xml",),
    "a 7z archive": (".7z", b"7z\xbc\xaf"),
    "a RAR archive": (".rar", b"Rar!"),
    "a tar archive": (".tar", ".tgz"),
    "a picture": (b"\x89PNG", b"\xff\xd8\xff"),
}
_OTHER_SUFFIXES = {m: what for what, marks in _OTHERS.items() for m in marks if isinstance(m, str)}
_OTHER_BYTES = {m: what for what, marks in _OTHERS.items() for m in marks if isinstance(m, bytes)}


def read_cells(source: str | Path, stdin: BinaryIO | None = None) -> tuple[Cells, str, str]:
    """Read a file, or `stdin` where the source is "-"."""
    refuse_address(source)
    raw = _read_bytes(source, stdin)
    name = "standard input" if str(source) == "-" else Path(source).name
    return _cells(raw, name), name, hashlib.sha256(raw).hexdigest()


def refuse_address(source: Any) -> None:
    """Raise DataError if this is no file but an address."""
    if _URL.match(str(source)):
        raise DataError(
            f"{str(source)!r} is an address on the net, and nothing is fetched from there; "
            "download the file and name it"
        )


def _read_bytes(source: str | Path, stdin: BinaryIO | None) -> bytes:
    if str(source) == "-":
        if stdin is None:
            raise DataError("'-' stands for standard input, and there is none here; name a file")
        return stdin.read()
    path = Path(source)
    try:
        return path.read_bytes()  # a pipe is welcome too
    except FileNotFoundError as error:
        raise DataError(f"there is no file {str(path)!r}; check the path") from error
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}; name a file") from error
    except ValueError as error:  # a null character in the name
        raise DataError(f"cannot read {str(path)!r}: {error}; name a file") from error


def _cells(raw: bytes, name: str) -> Cells:
    """Read bytes by their first ones, which tell more than a name; then by the name."""
    suffix = Path(name).suffix.lower()
    packed = next((kind for start, kind in _PACKED.items() if raw.startswith(start)), None)
    if packed is not None:
        content = _attempt(lambda _: _unpacked(packed(io.BytesIO(raw)), raw), raw, name, "packed")
        return _cells(content, name.removesuffix(suffix))
    if raw[:4] == b"PK\x03\x04" and suffix not in _OTHER_SUFFIXES:
        return _zipped(raw, name)
    for start, (what, read) in _BINARY.items():
        if raw.startswith(start):
            return _attempt(read, raw, name, what)
    if suffix in _BY_SUFFIX:
        what, read = _BY_SUFFIX[suffix]
        return _attempt(read, raw, name, what)
    _refuse_other(raw, name, suffix)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return _json(raw, name)
    return delimited(raw, name)


def _attempt(read: Callable[[bytes], _T], raw: bytes, name: str, what: str) -> _T:
    """Read with somebody else's code: whatever it raises is a file that cannot be read."""
    try:
        return read(raw)
    except (DataError, MissingDependencyError):
        raise
    except Exception as error:
        raise unreadable(name, what, error) from error


def unreadable(name: str, what: str, error: Exception) -> DataError:
    """Return the refusal of a file, with the first words of what somebody else's code said."""
    reason = textwrap.shorten(str(error), _MOST_REASON, placeholder=" …")
    return DataError(f"{name} cannot be read as {what} ({reason}); write it again")


def _refuse_other(raw: bytes, name: str, suffix: str) -> None:
    by_bytes = next((what for start, what in _OTHER_BYTES.items() if raw.startswith(start)), None)
    what = by_bytes or _OTHER_SUFFIXES.get(suffix)
    if what is None and b"\0" in raw[:4096] and raw[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        what = f"a binary file{f' ({suffix})' if suffix else ''} of a kind that is not known here"
    if what is not None:
        raise DataError(
            f"{name} is {what}, which is not supported; save it as CSV (read are {READ})"
        )


def _zipped(raw: bytes, name: str) -> Cells:
    """Read the one table in an archive, or an Excel file, which is one too."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
        inside = [one for one in archive.namelist() if not one.endswith("/")]
    except zipfile.BadZipFile as error:
        raise DataError(f"{name} is a damaged zip archive ({error}); write it again") from error
    if "xl/workbook.xml" in inside:
        return _attempt(_excel, raw, name, "Excel")
    tables = [one for one in inside if not one.startswith("__MACOSX/")]
    if len(tables) != 1:
        raise DataError(
            f"{name} holds {len(tables)} files ({', '.join(tables[:5])}); pack one table, or pass "
            "it unpacked"
        )
    inner = tables[0]
    content = _attempt(lambda _: _unpacked(archive.open(inner), raw), raw, name, "zip")
    return _cells(content, Path(inner).name)


def _unpacked(file: Any, raw: bytes) -> bytes:
    content: bytes = file.read(_most_bytes(len(raw)) + 1)
    _refuse_many_bytes(len(content), len(raw))
    return content


def _most_bytes(size: int) -> int:
    return max(_MANY_BYTES, _CELLS_PER_BYTE * size)


def _refuse_many_bytes(n_bytes: int, size: int) -> None:
    if n_bytes > _most_bytes(size):
        raise ValueError(f"{size} bytes would unpack to more than {_most_bytes(size)}")


def _json(raw: bytes, name: str) -> Cells:
    """Read one object for each line, or a list of objects."""
    try:
        text = raw.decode("utf-8-sig").strip()
        listed = text.startswith("[")
        rows = (
            json.loads(text) if listed else [json.loads(line) for line in text.splitlines() if line]
        )
    except ValueError as error:
        raise DataError(
            f"{name} cannot be read as JSON lines ({error}); write one object for each row"
        ) from error
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{name} must hold one JSON object for each row, with the columns by name")
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = tuple([row.get(key) for row in rows] for key in names)
    return Cells(tuple(names), columns, range(1, len(rows) + 1))


def _parquet(raw: bytes) -> Cells:
    return _arrow(raw, _parquet_table, "parquet")


def _feather(raw: bytes) -> Cells:
    return _arrow(raw, _feather_table, "ipc")


def refuse_many_cells(n_cells: int, size: int) -> None:
    """Refuse a file of `size` bytes that unpacks to more than there is memory."""
    if n_cells > max(_MANY_CELLS, _CELLS_PER_BYTE * size):
        raise ValueError(f"{size} bytes would unpack to {n_cells} cells")


def _arrow(raw: bytes, with_pyarrow: Callable[[bytes], Any], in_polars: str) -> Cells:
    """Read with pyarrow, or with polars, which calls the format `in_polars`."""
    try:
        table = with_pyarrow(raw)
    except ImportError:
        try:
            table = _polars_table(raw, in_polars)
        except ImportError as error:
            raise MissingDependencyError("pyarrow", "parquet") from error
    return of_native(table)


def _parquet_table(raw: bytes) -> Any:
    """Read with pyarrow; texts as places in a list, until it is known how long they are."""
    parquet = importlib.import_module("pyarrow.parquet")
    types = importlib.import_module("pyarrow.types")
    metadata = parquet.read_metadata(io.BytesIO(raw))
    refuse_many_cells(int(metadata.num_rows * metadata.num_columns), len(raw))
    schema = parquet.read_schema(io.BytesIO(raw))
    texts = [f.name for f in schema if types.is_string(f.type) or types.is_binary(f.type)]
    table = parquet.read_table(io.BytesIO(raw), read_dictionary=texts)
    refuse_long_texts(table, len(raw))
    return table.cast(schema.with_metadata(table.schema.metadata)) if texts else table


def _feather_table(raw: bytes) -> Any:
    """Read with pyarrow, if it is not too many rows."""
    pyarrow, dataset = map(importlib.import_module, ("pyarrow", "pyarrow.dataset"))
    try:
        part = dataset.IpcFileFormat().make_fragment(pyarrow.BufferReader(raw))
        refuse_many_cells(part.count_rows() * len(part.physical_schema), len(raw))
        _refuse_packed_texts(raw, part.physical_schema)
    except pyarrow.ArrowInvalid:  # the first version of the format, which packs nothing
        pass
    table = importlib.import_module("pyarrow.feather").read_table(io.BytesIO(raw))
    refuse_long_texts(table, len(raw))
    return table


def _refuse_packed_texts(raw: bytes, schema: Any) -> None:
    """Refuse texts that unpack to too much: one column of one batch is unpacked at a time."""
    ipc, pyarrow = map(importlib.import_module, ("pyarrow.ipc", "pyarrow"))
    n_bytes = 0
    for k in (k for k, field in enumerate(schema) if str(field.type) in _TEXTS):
        options = ipc.IpcReadOptions(included_fields=[k])
        file = ipc.open_file(pyarrow.BufferReader(raw), options=options)
        for place in range(file.num_record_batches):
            n_bytes += file.get_batch(place).nbytes
            _refuse_many_bytes(n_bytes, len(raw))


def refuse_long_texts(table: Any, size: int) -> None:
    """Refuse a file of `size` bytes that repeats a long text until there is no memory for it."""
    compute, types = map(importlib.import_module, ("pyarrow.compute", "pyarrow.types"))
    n_bytes = 0
    for column in table.columns:
        kind = column.type
        n_bytes += column.nbytes if str(kind) in _TEXTS else 0
        if types.is_dictionary(kind) and str(kind.value_type) in _TEXTS:
            for chunk in column.chunks:
                lengths = compute.binary_length(chunk.dictionary).cast("int64")
                n_bytes += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    if n_bytes > _most_bytes(size):
        raise ValueError(f"{size} bytes would unpack to {n_bytes} bytes of text")


def _polars_table(raw: bytes, form: str) -> Any:
    polars = importlib.import_module("polars")
    lazy = getattr(polars, f"scan_{form}")(io.BytesIO(raw))
    n_rows = lazy.select(polars.len()).collect().item()
    refuse_many_cells(int(n_rows * len(lazy.collect_schema())), len(raw))
    return getattr(polars, f"read_{form}")(io.BytesIO(raw))


def _excel(raw: bytes) -> Cells:
    """Read the first sheet: its first row that is not empty has the names."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingDependencyError("openpyxl", "excel") from error
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        _refuse_many_bytes(sum(part.file_size for part in archive.infolist()), len(raw))
    book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
    sheet = book.worksheets[0]
    numbered, n_cells = [], 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if any(cell is not None for cell in row):
            numbered.append((number, row))
            n_cells += len(row)  # one far to the right makes the row that long
            refuse_many_cells(n_cells, len(raw))
    if len(numbered) < 2:
        raise DataError(
            f"the sheet {sheet.title!r} has no rows; put the table on the first sheet"
            + "".join(f"; {note}" for note in _other_sheets(book))
        )
    return _of_rows(numbered, _other_sheets(book))


def _other_sheets(book: Any) -> tuple[str, ...]:
    """Say which sheets are not read, and what to do if one of them was meant."""
    first, *others = [repr(sheet.title) for sheet in book.worksheets]
    if not others:
        return ()
    named = first_few(others, _NAMED)
    return (
        f"only the first sheet, {first}, is read; if the table is on another one ({named}), put "
        "that first or save it as CSV",
    )


def _of_rows(numbered: Sequence[tuple[int, Sequence[Any]]], notes: tuple[str, ...]) -> Cells:
    header = ["" if cell is None else str(cell).strip() for cell in numbered[0][1]]
    # A spreadsheet may count empty columns behind the table.
    while (
        header
        and header[-1] == ""
        and all(len(row) < len(header) or row[len(header) - 1] is None for _, row in numbered)
    ):
        header.pop()
    refuse_title(header, [len(header)] * (len(numbered) - 1), numbered[0][0])
    columns = tuple(
        [row[k] if k < len(row) else None for _, row in numbered[1:]] for k in range(len(header))
    )
    return Cells(tuple(header), columns, [number for number, _ in numbered[1:]], notes)


_PACKED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_BINARY: dict[bytes, tuple[str, Callable[[bytes], Cells]]] = {
    b"PAR1": ("Parquet", _parquet),
    b"ARROW1": ("Feather", _feather),
    b"FEA1": ("Feather", _feather),
    b"<stata_dta>": ("Stata", stata),
    b"$FL2": ("SPSS", spss),
    b"$FL3": ("SPSS", spss),
}
_BY_SUFFIX: dict[str, tuple[str, Callable[[bytes], Cells]]] = {
    ".parquet": ("Parquet", _parquet),
    ".pq": ("Parquet", _parquet),
    ".feather": ("Feather", _feather),
    ".arrow": ("Feather", _feather),
    ".xlsx": ("Excel", _excel),
    ".xlsm": ("Excel", _excel),
    ".dta": ("Stata", stata),
    ".sav": ("SPSS", spss),
    ".zsav": ("SPSS", spss),
}
