"""One folder per run: written file by file, each at once, and checked when it is read.

    model.json      names, edges, order (the certificate), trace, audit, parameters; no code
    weights.npz     weights, adjacency, CPDAG and moments as plain arrays; no pickle
    manifest.json   data hash, versions, threads, seed, the command that repeats the run
    graph.graphml  graph.dot  graph.dagitty  edges.csv      for other tools

`model.json` is written last: a folder with it is whole, and one without it is no run. While files
are written a note, `.saving`, says for which run: what a kill left is completed by the same run,
and by no other.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._files import (
    in_use,
    is_folder,
    is_there,
    read_arrays,
    read_limited,
    sweep,
    write_bytes,
    write_text,
)
from analyticdag._parameters import shown
from analyticdag._schema import checked_as, parsed_json, plain
from analyticdag.errors import InputError, OutputError, ParameterError
from analyticdag.io.formats import dagitty, dot, edges_csv, graphml
from analyticdag.io.model import SCHEMA, SCHEMA_VERSION, Model, model_of, run_of
from analyticdag.io.run import SavedRun
from analyticdag.io.state import ARRAYS, FAMILY_ARRAYS, LEVEL_ARRAYS

MODEL, WEIGHTS, MANIFEST, PAGE = "model.json", "weights.npz", "manifest.json", "report.html"
TEXTS = {
    "graph.graphml": graphml,
    "graph.dot": dot,
    "graph.dagitty": dagitty,
    "edges.csv": edges_csv,
}
FILES = (WEIGHTS, *TEXTS, MANIFEST, MODEL)
NOTE = ".saving"
_MATRICES = {"weights": "f", "adjacency": "u", "cpdag": "u"}  # and the kind of their numbers
# Twice as many columns as the largest graph that the package was grown to.
MAX_COLUMNS = 20_000
# Families of a million rows have some ten million cells; with so many 3 GB are unpacked.
MAX_CELLS = 2 * 10**8
# A hundred edges for each of so many columns, and 200 bytes for an edge.
_MAX_JSON = 400 * 2**20
_CURE = "name the folder of a saved run"


@dataclass(frozen=True)
class SavingNote:
    """For which run files are being written; the hash of its page once that is written too."""

    key: str
    page: str = ""


def save_run(
    run: SavedRun, folder: str | Path, *, overwrite: bool = False, member: bool = False
) -> Path:
    """Write a run into a folder that holds none yet, and return the folder.

    The files for other tools hold the class, or with `member=True` the DAG that the fit returned.
    """
    folder = Path(folder)
    key = save_key(run.manifest) or hashlib.sha256(run.weights.tobytes()).hexdigest()
    with made(folder.parent), in_use(folder, "the folder"):
        refuse_used_folder(folder, key, overwrite=overwrite)
        with saving(folder, key):
            write_run(run, folder, member=member)
    return folder


def save_key(manifest: Mapping[str, Any]) -> str:
    """Return what only a repetition of the same command on the same data has in common."""
    command = manifest.get("command")
    return f"{command} # {manifest.get('data', {}).get('sha256')}" if command else ""


@contextmanager
def saving(folder: Path, key: str) -> Iterator[None]:
    """Note in the folder that a run is being saved; whatever ends it early leaves the note."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot make the folder {str(folder)!r}: {error.strerror}; name another place"
        ) from error
    for name in (*FILES, PAGE):
        sweep(folder / name)
    note(folder, SavingNote(key))
    yield
    (folder / NOTE).unlink(missing_ok=True)


def note(folder: Path, text: SavingNote) -> None:
    """Write the note that a save is under way."""
    write_text(folder / NOTE, _json(asdict(text)), overwrite=True)


def unfinished(folder: Path) -> SavingNote | None:
    """Return the note of a save that did not come to its end, None where there is none."""
    if not os.path.lexists(folder / NOTE):
        return None
    try:
        content = read_limited(folder / NOTE, 2**20, _CURE)
        found: SavingNote = checked_as(parsed_json(content), SavingNote, NOTE)
    except ValueError:
        return SavingNote("")
    return found


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder and those above it; if the block fails, the ones left empty go again."""
    missing = [path for path in (folder, *folder.parents) if not is_there(path)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"cannot make the folder {str(folder)!r}: {error.strerror}; name another place"
        ) from error
    try:
        yield
    except BaseException:
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        raise


def write_run(run: SavedRun, folder: Path, *, member: bool = False) -> None:
    """Write the files of a run over whatever there is; `member` is for the files of other tools."""
    arrays = io.BytesIO()
    np.savez_compressed(
        arrays,
        weights=run.weights,
        adjacency=run.adjacency.astype(np.uint8),
        cpdag=run.cpdag.astype(np.uint8),
        **({} if run.fitted is None else run.fitted.arrays()),
    )
    texts = {name: render(run, member=member) for name, render in TEXTS.items()}
    texts[MANIFEST] = _json(run.manifest)
    texts[MODEL] = _json(model_of(run, hashlib.sha256(arrays.getvalue()).hexdigest()))
    (folder / MODEL).unlink(missing_ok=True)  # from here on the run before is none any more
    write_bytes(folder / WEIGHTS, arrays.getvalue(), overwrite=True)
    for name, text in texts.items():
        write_text(folder / name, text, overwrite=True)


def load_run(folder: str | Path) -> SavedRun:
    """Read a run back; its schema, its hash and its certificate of acyclicity are checked."""
    folder = Path(folder)
    record = _read_json(folder / MODEL)
    if record.get("schema") != SCHEMA:
        raise InputError(f"{str(folder / MODEL)!r} is not the model of an analyticdag run")
    if record.get("version") != SCHEMA_VERSION:
        raise InputError(
            f"{str(folder / MODEL)!r} has version {shown(record.get('version'))} and this "
            f"package reads {SCHEMA_VERSION}; use the version of analyticdag in its manifest"
        )
    manifest = _read_json(folder / MANIFEST)
    try:
        model = checked_as(record, Model, "model.json")
        arrays = _read_matrices(folder / WEIGHTS, model)
        return run_of(model, arrays, manifest)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"the run in {str(folder)!r} is damaged: {error}; fit again") from error


def refuse_used_folder(folder: str | Path, key: str = "", *, overwrite: bool = False) -> None:
    """Raise ParameterError if the folder holds a run, or is no folder: nothing is overwritten.

    With `overwrite` a run may be, but not files of somebody else that have the names of ours.
    What a killed save of the same `key` left may be completed.
    """
    folder = Path(folder)
    if os.path.lexists(folder) and not is_folder(folder):
        raise ParameterError(f"{str(folder)!r} is a file; name a folder for the run")
    used = [name for name in (MODEL, *FILES) if os.path.lexists(folder / name)]
    if overwrite:
        if used and used[0] != MODEL and unfinished(folder) is None:
            raise ParameterError(
                f"{str(folder)!r} holds {used[0]!r} and no run, and would lose it; name another "
                "folder, or remove that file yourself"
            )
        return
    left = unfinished(folder)
    if left is not None:
        if key and left.key == key:
            return
        raise ParameterError(
            f"{str(folder)!r} holds a run that was not saved to its end; repeat its command to "
            f"complete it ({left.key.split(' # ')[0][:200]}), or name another folder"
        )
    if used:
        raise ParameterError(
            f"{str(folder)!r} already holds a run ({used[0]}), which is never overwritten; "
            "name another folder or remove that one (on the command line: --force)"
        )


def free_folder(wanted: str | Path) -> Path:
    """Return `wanted`, or the first of wanted-2, wanted-3, … that does not exist yet."""
    return next(path for path in numbered(Path(wanted)) if not is_there(path))


def numbered(wanted: Path) -> Iterator[Path]:
    """Yield wanted, wanted-2, wanted-3, …"""
    yield wanted
    yield from (wanted.with_name(f"{wanted.name}-{k}") for k in itertools.count(2))


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    content = read_limited(path, _MAX_JSON, _CURE)
    try:
        value = parsed_json(content)
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not valid JSON ({error}); fit again") from error
    if not isinstance(value, dict):
        raise InputError(f"{str(path)!r} must hold a JSON object; fit again")
    return value


def _read_matrices(path: Path, model: Model) -> dict[str, Any]:
    """Return the matrices of the columns and their moments; nothing larger is ever unpacked."""
    d, n_sets, n_levels, n_cells = len(model.names), model.n_sets, model.n_levels, model.n_cells
    if d > MAX_COLUMNS:
        raise ValueError(f"{d} columns are more than the {MAX_COLUMNS} that can be read")
    if not 0 <= n_sets <= d + 1:
        raise ValueError(f"n_sets={n_sets} cannot be with {d} columns")
    # Ten bytes for a pair of columns, eight in each covariance, and at most 8 KiB of headers;
    # packing cannot add a fifth.
    if not (n_levels == 0 or (n_sets and d <= n_levels <= MAX_COLUMNS)):
        raise ValueError(f"n_levels={n_levels} cannot be with {d} columns")
    if not 0 <= n_cells <= (MAX_CELLS if n_sets else 0):
        raise ValueError(f"n_cells={n_cells} must be 0 to {MAX_CELLS}, and 0 without moments")
    limit = (10 + 8 * n_sets) * d * d + 8 * (d + 1) * (n_sets + 5) + 8192
    limit += 8 * n_levels * (n_sets * (n_levels + 1) + 6)
    # A byte for a cell, and eight each for a combination and a cause, which are no more than cells;
    # three sizes and at most 256 values for a column.
    limit += 17 * n_cells + 8 * d * (3 + 256) * (n_cells > 0)
    content = read_limited(path, limit + limit // 5, _CURE)
    if hashlib.sha256(content).hexdigest() != model.weights_sha256:
        raise InputError(f"{str(path)!r} is not the file that model.json was saved with; fit again")
    arrays = read_arrays(content, limit)
    expected = [*_MATRICES, *(ARRAYS if n_sets else ()), *(LEVEL_ARRAYS if n_levels else ())]
    expected += FAMILY_ARRAYS if n_cells else ()
    if set(arrays) != set(expected):
        raise ValueError(f"{path.name} must hold {', '.join(expected)}")
    for name, kind in _MATRICES.items():
        if arrays[name].shape != (d, d) or arrays[name].dtype.kind != kind:
            raise ValueError(f"{name} must be a ({d}, {d}) matrix of the usual numbers")
        if kind == "u" and arrays[name].max() > 1:
            raise ValueError(f"{name} must hold 0 and 1 only")
    return arrays
