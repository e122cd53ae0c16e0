"""A fit that can be killed: the state of the path on disk after every stage.

The file holds the state and a fingerprint of everything that determines the fit. Fitting again
with the same data, parameters and file goes on after the last finished stage and ends with the
same numbers; another fit is refused the file. It is replaced in one step, so that a kill during
writing leaves the state before. Whoever fits holds the file's lock: `held_checkpoint`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._files import in_use, read_limited, read_sealed, write_sealed, written
from analyticdag._schema import checked_as, parsed_json
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import ParameterError
from analyticdag.fitting.placement import Placement, to_host
from analyticdag.optimize.path import PathState
from analyticdag.optimize.trace import Stop, Trace, TraceRecord

# The trace, at a few hundred bytes for each record of four-byte characters.
_MAX_HEADER = 64 * 2**20
# Under "auto" two paths have an entry each.
_MAX_ENTRIES = 2


@dataclass(frozen=True)
class PathNote:
    """What is kept of a path beside its weights."""

    trace: tuple[Mapping[str, float | int | str | None], ...]
    start: str
    n_steps: int
    stage: int


@dataclass(frozen=True)
class Header:
    """Whose checkpoint it is, and a note for each entry."""

    fingerprint: str
    entries: Mapping[str, PathNote]


@contextmanager
def held_checkpoint(path: Path | None) -> Iterator[None]:
    """Keep others from the file while the block runs; None is no file."""
    if path is None:
        yield
        return
    with in_use(path, "the checkpoint"):
        yield


@dataclass(frozen=True)
class Checkpoint:
    """A file for the state of one fit; `entry` names the path, of which "auto" has two."""

    path: Path
    entry: str
    fingerprint: str
    place: Placement

    def load(self, shape: tuple[int, ...]) -> PathState | None:
        """Return the saved state of the entry, with weights of that shape; None without one."""
        notes, weights = self._read(shape)
        if self.entry not in notes:
            return None
        note, own = notes[self.entry], weights[self.entry]
        try:
            trace = Trace(tuple(map(_record, note.trace)), start=note.start)
            if not (trace.records and note.stage > 0 and note.n_steps >= 0):
                raise ValueError("no stage is finished in it")
            if trace.records[-1].reason is not Stop.NOT_FINITE and not np.isfinite(own).all():
                raise ValueError("its weights are not finite")
        except (TypeError, KeyError, ValueError) as error:
            raise self._foreign(error) from error
        return PathState(self.place.put(own), trace, note.n_steps, note.stage)

    def save(self, state: PathState) -> None:
        """Write the state beside that of other entries; the file is complete at every moment."""
        own = np.asarray(to_host(state.weights))
        notes, weights = self._read(own.shape)
        trace = tuple(map(_plain, state.trace))
        notes[self.entry] = PathNote(trace, state.trace.start, state.n_steps, state.stage)
        entries = {entry: vars(note) for entry, note in notes.items()}
        header = json.dumps({"fingerprint": self.fingerprint, "entries": entries})
        with written(self.path, overwrite=True) as file:
            write_sealed(file, {"header": np.array(header), **weights, self.entry: own})

    def _read(self, shape: tuple[int, ...]) -> tuple[dict[str, PathNote], dict[str, Any]]:
        """Return the notes and the weights of every entry."""
        if not os.path.lexists(self.path):
            return {}, {}
        limit = _MAX_ENTRIES * (8 * int(np.prod(shape)) + 4096) + _MAX_HEADER
        content = read_limited(self.path, limit, "name another file")
        try:
            arrays = read_sealed(content, limit)
            header = checked_as(parsed_json(str(arrays.pop("header")).encode()), Header, "header")
            fits = all(a.shape == shape and a.dtype.kind == "f" for a in arrays.values())
            if set(arrays) != set(header.entries) or not fits:
                raise ValueError("its entries do not fit")
        except (ValueError, KeyError) as error:
            raise self._foreign(error) from error
        if header.fingerprint != self.fingerprint:
            raise ParameterError(
                f"checkpoint {str(self.path)!r} belongs to a fit with other data or parameters; "
                "delete it or name another file"
            )
        return dict(header.entries), arrays

    def _foreign(self, error: Exception) -> ParameterError:
        return ParameterError(
            f"checkpoint {str(self.path)!r} is not a checkpoint of analyticdag, or damaged "
            f"({' '.join(str(error).split())[:100]}); delete it or name another file"
        )


def _plain(record: TraceRecord) -> dict[str, Any]:
    """Return a record for JSON, which has no NaN: where a path diverged, that is a word."""
    numbers = record.to_dict()
    return {
        key: repr(value) if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in numbers.items()
    }


def _record(plain: Mapping[str, float | int | str | None]) -> TraceRecord:
    numbers = {
        key: float(v) if isinstance(v, str) else v for key, v in plain.items() if key != "reason"
    }
    if any(isinstance(value, bool | None) for value in numbers.values()):
        raise ValueError("a number of its trace is missing")
    return TraceRecord.from_dict({**numbers, "reason": plain["reason"]})


def fingerprint(*arrays: FloatArray | BoolArray | None, settings: dict[str, Any]) -> str:
    """Return a digest of the data and of the settings that decide a path."""
    digest = hashlib.sha256(repr(sorted(settings.items())).encode())
    for array in arrays:
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
