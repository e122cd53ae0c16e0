"""What is kept of the resamples: how often each edge was there, in memory and on disk.

The file is replaced in one step, so a kill at any moment leaves a complete one. Resamples are
counted in the order of their numbers, so `done` says exactly which of them it holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._files import read_limited, read_sealed, write_sealed, written
from analyticdag._schema import checked_as, parsed_json
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.stability.resamples import FoundEdges

# A lost resample costs its fit, a saved one the writing of three matrices.
SAVE_EVERY = 10
SAVE_AFTER_SECONDS = 5.0
_MAX_NOTE = 4096


@dataclass(eq=False)
class Counts:
    """How many of the first `done` resamples had each edge: three (d, d) matrices."""

    edges: IntArray
    directed: IntArray
    skeleton: IntArray
    done: int = 0

    @classmethod
    def none(cls, n_features: int) -> Counts:
        """Return counts of no resample."""
        zero = np.zeros((n_features, n_features), dtype=np.int64)
        return cls(zero, zero.copy(), zero.copy())

    def check(self, n_features: int) -> None:
        """Raise ValueError unless these can be counts of `done` resamples."""
        for matrix in (self.edges, self.directed, self.skeleton):
            if matrix.shape != (n_features, n_features) or matrix.dtype != np.int64:
                raise ValueError("a matrix of counts of another kind")
            if matrix.min() < 0 or matrix.max() > self.done:
                raise ValueError("counts beyond the number of resamples")
        if not np.array_equal(self.edges + self.edges.T, self.skeleton):
            raise ValueError("counts that contradict each other")

    def add(self, found: FoundEdges) -> None:
        """Count one more resample."""
        i, j = found.edges.T
        self.edges[i, j] += 1
        self.skeleton[i, j] += 1
        self.skeleton[j, i] += 1
        self.directed[tuple(found.directed.T)] += 1
        self.done += 1


@dataclass(frozen=True)
class CountsNote:
    """Whose counts they are, and of how many resamples."""

    fingerprint: str
    done: int


@dataclass(eq=False)
class CountsFile:
    """A file that keeps the counts of one bootstrap; saves are spaced out."""

    path: Path
    fingerprint: str
    _saved_at: float = field(default_factory=time.monotonic)

    def load(self, n_features: int) -> Counts | None:
        """Return the saved counts, None where there is no file yet."""
        if not os.path.lexists(self.path):
            return None
        limit = 3 * (8 * n_features**2 + 4096) + _MAX_NOTE
        content = read_limited(self.path, limit, "name another file")
        try:
            arrays = read_sealed(content, limit)
            note = checked_as(parsed_json(str(arrays.pop("note")).encode()), CountsNote, "note")
            counts = Counts(**arrays, done=note.done)
            if note.fingerprint == self.fingerprint:
                counts.check(n_features)
        except (ValueError, KeyError, TypeError) as error:
            raise ParameterError(
                f"checkpoint {str(self.path)!r} is not a checkpoint of a bootstrap, or damaged; "
                "delete it or name another file"
            ) from error
        if note.fingerprint != self.fingerprint:
            raise ParameterError(
                f"checkpoint {str(self.path)!r} belongs to a bootstrap with other data, estimator "
                "or seed; delete it or name another file"
            )
        return counts

    def offer(self, counts: Counts) -> None:
        """Save if enough has happened since the last time."""
        late = time.monotonic() - self._saved_at > SAVE_AFTER_SECONDS
        if late or counts.done % SAVE_EVERY == 0:
            self.save(counts)

    def save(self, counts: Counts) -> None:
        """Write the counts; the file is complete at every moment."""
        note = np.array(json.dumps({"fingerprint": self.fingerprint, "done": counts.done}))
        matrices = {name: getattr(counts, name) for name in ("edges", "directed", "skeleton")}
        with written(self.path, overwrite=True) as file:
            write_sealed(file, {**matrices, "note": note})
        self._saved_at = time.monotonic()


# Parameters that decide how a fit runs, not what it finds.
_IRRELEVANT = ("n_jobs", "verbose", "checkpoint")


def fingerprint(
    estimator: Any,
    values: FloatArray,
    names: list[Any],
    scheme: Any,
    interventions: BoolArray | None = None,
) -> str:
    """Return a digest of everything that decides the counts, except how many there are."""
    digest = hashlib.sha256(np.ascontiguousarray(values).tobytes())
    digest.update(b"" if interventions is None else np.packbits(interventions).tobytes())
    digest.update(f"{values.shape} {names} {scheme!r} {type(estimator).__qualname__}".encode())
    for name, value in sorted(estimator.get_params(deep=False).items()):
        if name in _IRRELEVANT:
            continue
        digest.update(name.encode())
        # repr() of a large array leaves out its middle.
        is_array = isinstance(value, np.ndarray)
        digest.update(value.tobytes() if is_array else repr(value).encode())
    return digest.hexdigest()
