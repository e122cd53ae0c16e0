"""The file of records: one JSON object per line, appended when a cell is finished.

A run may be killed at any moment, so a record counts only when its line is complete: each one is
written with its newline and flushed to disk before the next cell is reported. A torn last line is
what a kill leaves behind; it is ignored when reading and cut off before appending.

Finished records may be kept compressed, as ``NAME.jsonl.gz``: they are read like the others, and a
run counts what they hold as done.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, TypeAlias

from analyticdag.errors import AnalyticDAGError, DataError

__all__ = [
    "BusyError",
    "Record",
    "RecordFile",
    "WriteError",
    "pack_records",
    "read_records",
    "recorded",
    "to_line",
]

Record: TypeAlias = dict[str, Any]


class BusyError(AnalyticDAGError):
    """Another run is writing into the same file."""


class WriteError(AnalyticDAGError):
    """Records cannot be written: no permission, no space, no such place."""


class RecordFile:
    """A JSON-lines file open for appending, by one run at a time.

    Use it as a context manager; ``append`` returns when the record is on the disk.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> RecordFile:
        with _writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self.path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise BusyError(
                f"another run is writing {self.path}; wait for it or choose another folder"
            ) from None
        self._cut_torn_line()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Releases the lock too. What a full disk left in the buffer was reported by `append`.
        with suppress(OSError):
            self._file.close()

    def append(self, record: Record) -> None:
        """Write one record and wait until it is on the disk."""
        with _writing(self.path):
            self._file.write(to_line(record))
            self._file.flush()
            os.fsync(self._file.fileno())

    def _cut_torn_line(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        self._file.truncate(content.rfind(b"\n") + 1)


def to_line(record: Record) -> bytes:
    """The record as one line of UTF-8 JSON, newline included."""
    return json.dumps(_plain(record), allow_nan=False, ensure_ascii=False).encode() + b"\n"


def read_records(path: Path) -> list[Record]:
    """Every complete record of a file, or of all ``*.jsonl`` and ``*.jsonl.gz`` of a folder.

    Of a folder the compressed files come first: what was run later counts.
    """
    if path.is_dir():
        files = [*sorted(path.glob("*.jsonl.gz")), *sorted(path.glob("*.jsonl"))]
        return [record for file in files for record in read_records(file)]
    if not path.exists():
        return []
    complete = _content(path).split(b"\n")[:-1]  # what follows the last newline is torn
    return [_parse(path, number, line) for number, line in enumerate(complete, start=1)]


def recorded(folder: Path, plan: str) -> list[Record]:
    """Every record of one plan in a folder of records."""
    names = (f"{plan}.jsonl.gz", f"{plan}.jsonl")
    return [record for name in names for record in read_records(folder / name)]


def pack_records(path: Path, records: Iterable[Record]) -> None:
    """Write a compressed file of records in one step, the same bytes for the same records."""
    content = gzip.compress(b"".join(map(to_line, records)), mtime=0)
    draft = path.with_name(path.name + ".part")
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(path)  # whoever reads meanwhile finds the old file or the new one


def _content(path: Path) -> bytes:
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise DataError(f"{path} is not a gzip file: {error}; fetch it again") from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say which file could not be written, and what to do, instead of showing a bare OSError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteError(
            f"cannot write {path}: {reason}; what was recorded before is kept: make room or choose "
            "another folder, and run again"
        ) from error


def _parse(path: Path, number: int, line: bytes) -> Record:
    try:
        record: Record = json.loads(line)
    except ValueError as error:
        raise DataError(
            f"{path}, line {number} is not a record: {error}; delete that line"
        ) from error
    return record


def _plain(value: Any) -> Any:
    """The value in JSON's terms: NumPy scalars become numbers, NaN and infinities null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
