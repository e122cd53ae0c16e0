"""A fit that can be killed: the state of the path on disk after every stage.

The file holds the state and a fingerprint of everything that determines the fit. Fitting again
with the same data, parameters and file goes on after the last finished stage and ends with the
same numbers; another fit is refused the file. It is replaced in one step, so that a kill during
writing leaves the state before.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import ParameterError
from analyticdag.linear.placement import Placement, to_host
from analyticdag.optimize.path import PathState
from analyticdag.optimize.trace import Trace, TraceRecord


@dataclass(frozen=True)
class Checkpoint:
    """A file for the state of one fit; `entry` names the path, of which "auto" has two."""

    path: Path
    entry: str
    fingerprint: str
    place: Placement

    def load(self) -> PathState | None:
        """Return the saved state of the entry, None where there is none yet."""
        notes, weights = self._read()
        if self.entry not in notes:
            return None
        note = notes[self.entry]
        records = tuple(TraceRecord.from_dict(record) for record in note["trace"])
        start = self.place.put(weights[self.entry])
        return PathState(start, Trace(records, start=note["start"]), note["n_steps"], note["stage"])

    def save(self, state: PathState) -> None:
        """Write the state beside that of other entries; the file is complete at every moment."""
        notes, weights = self._read()
        weights[self.entry] = np.asarray(to_host(state.weights))
        notes[self.entry] = {
            "trace": state.trace.to_dicts(),
            "start": state.trace.start,
            "n_steps": state.n_steps,
            "stage": state.stage,
        }
        header = json.dumps({"fingerprint": self.fingerprint, "entries": notes})
        partial = self.path.with_name(self.path.name + ".partial")
        with partial.open("wb") as file:
            np.savez(file, header=header, **weights)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.path)

    def _read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the notes and the weights of every entry."""
        if not self.path.exists():
            return {}, {}
        try:
            with np.load(self.path, allow_pickle=False) as saved:
                header = json.loads(str(saved["header"]))
                notes = header["entries"]
                weights = {entry: saved[entry] for entry in notes}
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise ParameterError(
                f"checkpoint {str(self.path)!r} is not a checkpoint of analyticdag; name another "
                "file"
            ) from error
        if header["fingerprint"] != self.fingerprint:
            raise ParameterError(
                f"checkpoint {str(self.path)!r} belongs to a fit with other data or parameters; "
                "delete it or name another file"
            )
        return notes, weights


def fingerprint(*arrays: FloatArray | BoolArray | None, settings: dict[str, Any]) -> str:
    """Return a digest of the data and of the settings that decide a path."""
    digest = hashlib.sha256(repr(sorted(settings.items())).encode())
    for array in arrays:
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
