"""One folder per run: written file by file, each atomically, and checked when it is read.

    model.json      names, edges, order (the certificate), trace, audit, parameters; no code
    weights.npz     weights, adjacency and CPDAG as plain arrays; no pickle
    manifest.json   data hash, versions, threads, seed, the command that repeats the run
    graph.graphml  graph.dot  graph.dagitty  edges.csv      for other tools

`model.json` is written last: a folder with it is whole, and one without it is no run.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag.errors import InputError, ParameterError
from analyticdag.io.audit import Audit
from analyticdag.io.formats import dagitty, dot, edges_csv, graphml
from analyticdag.io.run import EdgeRecord, SavedRun, plain

SCHEMA = "analyticdag-run"
SCHEMA_VERSION = 1
MODEL, WEIGHTS, MANIFEST = "model.json", "weights.npz", "manifest.json"
TEXTS = {
    "graph.graphml": graphml,
    "graph.dot": dot,
    "graph.dagitty": dagitty,
    "edges.csv": edges_csv,
}
_MATRICES = ("weights", "adjacency", "cpdag")
_SCALARS = ("h", "loss", "n_iter", "status", "advice", "converged")


def save_run(run: SavedRun, folder: str | Path) -> Path:
    """Write a run into a folder that holds none yet, and return the folder."""
    folder = Path(folder)
    refuse_used_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = io.BytesIO()
    np.savez_compressed(
        arrays,
        weights=run.weights,
        adjacency=run.adjacency.astype(np.uint8),
        cpdag=run.cpdag.astype(np.uint8),
    )
    write_bytes(folder / WEIGHTS, arrays.getvalue())
    for name, render in TEXTS.items():
        write_text(folder / name, render(run))
    write_text(folder / MANIFEST, _json(run.manifest))
    digest = hashlib.sha256(arrays.getvalue()).hexdigest()
    write_text(folder / MODEL, _json(_model(run, digest)))
    return folder


def load_run(folder: str | Path) -> SavedRun:
    """Read a run back; its schema, its hash and its certificate of acyclicity are checked."""
    folder = Path(folder)
    model = _read_json(folder / MODEL)
    if model.get("schema") != SCHEMA:
        raise InputError(f"{folder / MODEL} is not the model of an analyticdag run")
    if model.get("version") != SCHEMA_VERSION:
        raise InputError(
            f"{folder / MODEL} has version {model.get('version')!r} and this package reads "
            f"version {SCHEMA_VERSION}; use the version of analyticdag in its manifest"
        )
    manifest = _read_json(folder / MANIFEST)
    try:
        return _run(model, _read_arrays(folder / WEIGHTS, model["weights_sha256"]), manifest)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder / MODEL} is damaged ({error!r}); fit again") from error


def refuse_used_folder(folder: str | Path) -> None:
    """Raise ParameterError if the folder holds a run, or is no folder: nothing is overwritten."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{str(folder)!r} is a file; name a folder for the run")
    used = [name for name in (MODEL, WEIGHTS, MANIFEST, *TEXTS) if (folder / name).exists()]
    if used:
        raise ParameterError(
            f"{str(folder)!r} already holds a run ({used[0]}), which is never overwritten; "
            "name another folder or remove that one"
        )


def free_folder(wanted: str | Path) -> Path:
    """Return `wanted`, or the first of wanted-2, wanted-3, … that does not exist yet."""
    wanted = Path(wanted)
    names = itertools.chain(
        [wanted], (wanted.with_name(f"{wanted.name}-{k}") for k in itertools.count(2))
    )
    return next(path for path in names if not path.exists())


def write_text(path: str | Path, text: str) -> None:
    """Write a text file at once: a reader sees all of it or nothing."""
    # A lone surrogate is no text in any encoding; it can come from a file name.
    write_bytes(path, text.encode("utf-8", errors="replace"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file at once: beside its place first, then moved into it."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; a result is for others to read.
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _model(run: SavedRun, weights_sha256: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "version": SCHEMA_VERSION,
        "names": list(run.names),
        "certificate": {"order": list(run.order), "h": run.h},
        **{name: getattr(run, name) for name in _SCALARS},
        "edges": [asdict(edge) for edge in run.edges],
        "removed_edges": [list(edge) for edge in run.removed_edges],
        "parameters": run.parameters,
        "trace": list(run.trace),
        "loss_choice": run.loss_choice,
        "selection": run.selection,
        "audit": None if run.audit is None else run.audit.to_dict(),
        "diagnostics": list(run.diagnostics),
        "weights_sha256": weights_sha256,
    }


def _run(model: dict[str, Any], arrays: dict[str, Any], manifest: dict[str, Any]) -> SavedRun:
    return SavedRun(
        names=tuple(model["names"]),
        weights=arrays["weights"].astype(np.float64),
        adjacency=arrays["adjacency"].astype(bool),
        cpdag=arrays["cpdag"].astype(np.int64),
        order=tuple(model["certificate"]["order"]),
        edges=tuple(EdgeRecord(**edge) for edge in model["edges"]),
        removed_edges=tuple((a, b) for a, b in model["removed_edges"]),
        parameters=model["parameters"],
        trace=tuple(model["trace"]),
        loss_choice=model["loss_choice"],
        selection=model["selection"],
        audit=None if model["audit"] is None else Audit.from_dict(model["audit"]),
        diagnostics=tuple(model["diagnostics"]),
        manifest=manifest,
        **{name: model[name] for name in _SCALARS},
    )


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r}: {error.strerror}; name the folder of a saved run"
        ) from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not valid JSON ({error}); fit again") from error
    if not isinstance(value, dict):
        raise InputError(f"{str(path)!r} must hold a JSON object; fit again")
    return value


def _read_arrays(path: Path, sha256: str) -> dict[str, Any]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(f"{str(path)!r} is not the file that model.json was saved with; fit again")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in _MATRICES}
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} is damaged ({error}); fit again") from error
