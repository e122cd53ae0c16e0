"""How saved runs and checkpoints are changed: functions that the lines of a case call.

A part of a record is named by a number: a walk that begins at the top and takes random steps down.
So facts at the top are changed as often as whole lists. A change of a part that an earlier change
took away does nothing.
"""

from __future__ import annotations

import hashlib
import json
import random
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import material

Change = Callable[[Any, Any], None]  # of a part, by what holds it and its key


class Executing:
    """What a pickle of a stranger would do: leave a file."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (_touch, ("EXECUTED",))


def _touch(name: str) -> None:
    Path(name).touch()


class Deep:
    """A list nested deeper than any parser likes; `_text` writes it."""


def put(value: Any) -> Change:
    """Change a part to a value."""

    def change(holder: Any, key: Any) -> None:
        holder[key] = value

    return change


def drop(holder: Any, key: Any) -> None:
    """Take a part away."""
    del holder[key]


def double(holder: Any, key: Any) -> None:
    """Put a part there once more, under another name where it has one."""
    if isinstance(holder, dict):
        holder[f"{key} too"] = holder[key]
    else:
        holder.insert(key, holder[key])


def swap(holder: Any, key: Any) -> None:
    """Exchange a part with the one after it."""
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    other = keys[(keys.index(key) + 1) % len(keys)]
    holder[key], holder[other] = holder[other], holder[key]


def in_json(file: Path, number: int, change: Change) -> None:
    """Change a part of a JSON file."""
    with suppress(ValueError, RecursionError):  # an earlier change left no JSON
        record = json.loads(file.read_text("utf-8"))
        _change(record, number, change)
        file.write_text(_text(record), "utf-8")


def in_note(file: Path, number: int, change: Change) -> None:
    """Change a part of the record inside a checkpoint."""
    arrays = _arrays(file)
    name = next(n for n, a in arrays.items() if not a.ndim and str(a).startswith("{"))
    record = json.loads(str(arrays[name]))
    _change(record, number, change)
    _write(file, {**arrays, name: np.array(_text(record))})


def _change(record: Any, number: int, change: Change) -> None:
    """Change the part that a number stands for."""
    steps, holder, key = random.Random(number), None, None
    value = record
    while isinstance(value, dict | list) and value and (holder is None or steps.random() < 0.7):
        holder = value
        key = steps.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        value = holder[key]
    if holder is not None:
        change(holder, key)


def _text(record: Any) -> str:
    text = json.dumps(record, default=lambda _: "\x01deep")
    return text.replace('"\\u0001deep"', "[" * 100_000 + "]" * 100_000)


def in_array(file: Path, number: int, change: str) -> None:
    """Change a matrix of an archive; the change is source that works on `a`."""
    arrays = _arrays(file)
    names = [name for name in arrays if arrays[name].ndim]
    if not names:
        return
    name = names[number % len(names)]
    scope = {"a": arrays.pop(name), "np": np, "PICKLE": np.array([[Executing()]])}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(change, scope)
        except (IndexError, ValueError, TypeError):
            scope["a"] = np.zeros(3)  # a vector, where the change was meant for a matrix
    changed = {} if scope["a"] is None else {name: scope["a"]}
    _write(file, arrays | changed)


def _arrays(file: Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as saved:
        return {name: saved[name] for name in saved.files}


def _write(file: Path, arrays: dict[str, Any]) -> None:
    with file.open("wb") as handle:
        np.savez(handle, **arrays)


def in_bytes(file: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of a file."""
    file.write_bytes(change(file.read_bytes()))


def foreign(file: Path, kind: str) -> None:
    """Put the file of another run, or the state of another fit, in its place."""
    if file.name == "state":
        other = "stability" if kind != "stability" else "fast"
        file.write_bytes(material.state(other, 0))
    else:
        file.write_bytes((material.original(kind) / file.name).read_bytes())


def reseal(folder: Path) -> None:
    """Write the digest of changed weights into the model, or it would give them away."""
    with suppress(OSError, ValueError, TypeError, RecursionError):  # one of the two is damaged
        record = json.loads((folder / "model.json").read_text("utf-8"))
        record["weights_sha256"] = hashlib.sha256((folder / "weights.npz").read_bytes()).hexdigest()
        (folder / "model.json").write_text(json.dumps(record), "utf-8")


FILE_CHANGES = (
    "in_bytes(file, lambda raw: damage.cut(raw, {share}))",
    "in_bytes(file, lambda raw: damage.flip(raw, {share}, {bit}))",
    "in_bytes(file, lambda raw: damage.flip(raw, {share}, {bit}))",
    "in_bytes(file, lambda raw: damage.flip(raw, {share}, {bit}))",
    "in_bytes(file, lambda raw: damage.insert(raw, {share}, b'\\xff\\x00{{'))",
    "file.write_bytes(b'')",
    "file.write_bytes(b'\\x00' * 100)",
    "file.write_bytes(b'[' * 100000)",
    "file.write_bytes(b'{{}}')",
    "file.write_bytes(np.random.default_rng(1).bytes(500))",
    "file.write_bytes(damage.bomb())",
    "file.unlink()",
    "file.unlink(); file.mkdir()",
    "file.unlink(); file.symlink_to(file.name)",
    "foreign(file, {kind!r})",
)
