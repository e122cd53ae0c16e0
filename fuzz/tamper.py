"""Changed saved runs and changed checkpoints.

A changed run must be refused in one line, or load with parts that agree; a changed checkpoint must
be refused, or lead to the result of a fit that nothing disturbed.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import command, material, snapshot
from fuzz.case import Case, Draw, Violation
from fuzz.promises import judge_run

_VALUES = (
    *("None", "True", "False", "0", "-1", "1", "2.5", "-0.5", "1e308", "10**30", "10**400"),
    *("'x'", "''", "'CONVERGED'", "'0'", "'a\\nb'", "'<script>alert(1)</script>'", "'\\x00'"),
    *("[]", "{}", "[None]", "[[]]", "[1, 2]", "['a']", "{'a': 1}", "[[0, 1]]", "'x' * 10**6"),
    *("float('nan')", "float('inf')", "DEEP", "[{}] * 5", "{'source': 0}"),
)
_ARRAY_CHANGES = (
    "a[0, 1] = 5.0",
    "a[0, 0] = 1.0",
    "a[:] = 1.0",
    "a[:] = 0.0",
    "a[1, 0] = np.nan",
    "a = a.T.copy()",
    "a = a[:2]",
    "a = a[None]",
    "a = a.astype(str)",
    "a = a.astype(complex)",
    "a = a.astype(np.float16)",
    "a = a.astype(object)",
    "a = a.astype('datetime64[s]')",
    "a = np.zeros((0, 0))",
    "a = np.array(3.0)",
    "a = -a.astype(float)",
    "a = a * 1e300 * 1e300",
    "a = a + 0.5",
    "a = PICKLE",
    "a = np.zeros(a.shape, dtype=[('x', float)])",
    "a = None",
)


class Executing:
    """What a pickle of a stranger would do: leave a file."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (_touch, ("EXECUTED",))


def _touch(name: str) -> None:
    Path(name).touch()


def draw_case(draw: Draw) -> Case:
    """Return a case that tampers with a saved run, or with a checkpoint."""
    return _checkpoint(draw) if draw.chance(0.3) else _run(draw)


def _run(draw: Draw) -> Case:
    kind = draw.one(material.RUNS)
    lines = [
        "from fuzz import material, tamper",
        f"folder = material.saved_run({kind!r})",
        f"argv = {draw.one(_AFTERWARDS)}",
    ]
    how = draw.weighted({"json": 60, "arrays": 15, "file": 25})
    if how == "json":
        lines += [_json_change(draw, kind) for _ in range(draw.weighted({1: 80, 2: 20}))]
    elif how == "arrays":
        name = draw.one(("weights", "adjacency", "cpdag"))
        lines.append(f"tamper.array(folder, {name!r}, {draw.one(_ARRAY_CHANGES)!r})")
    else:
        lines.append(_file_change(draw, "(folder / {name!r})"))
        lines += ["tamper.reseal(folder)"] * draw.chance(0.5)
    return Case("tamper", tuple(lines), "load")


_AFTERWARDS = (
    "None",
    "None",
    "None",
    "['report', 'run', '--out', 'p.html']",
    "['compare', 'run', 'run']",
)
_FILES = ("model.json", "weights.npz", "manifest.json")


def _json_change(draw: Draw, kind: str) -> str:
    name = draw.weighted({"model.json": 85, "manifest.json": 15})
    record = json.loads((material._original(kind) / name).read_text("utf-8"))
    path = draw.one(list(_paths(record)))
    action = draw.weighted({"put": 75, "drop": 10, "add": 5, "swap": 10})
    return f"tamper.{action}(folder / {name!r}, {path!r}, {draw.one(_VALUES)!r})"


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """Yield the path to every part of a record."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths(item, (*path, key))


def _file_change(draw: Draw, place: str) -> str:
    file = place.format(name=draw.one(_FILES))
    share = round(draw.random.random(), 4)
    return draw.one(
        (
            f"tamper.truncate({file}, {share})",
            f"tamper.flip({file}, {share}, {draw.whole(0, 7)})",
            f"tamper.flip({file}, {share}, {draw.whole(0, 7)})",
            f"tamper.flip({file}, {share}, {draw.whole(0, 7)})",
            f"{file}.write_bytes(b'')",
            f"{file}.write_bytes(b'\\x00' * 100)",
            f"{file}.write_bytes(b'[' * 100000)",
            f"{file}.write_bytes(b'{{}}')",
            f"{file}.write_bytes(np.random.default_rng(1).bytes(500))",
            f"{file}.unlink()",
            f"{file}.unlink(); {file}.mkdir()",
            f"{file}.unlink(); {file}.symlink_to({file}.name)",
            f"{file}.write_bytes(tamper.bomb())",
            f"tamper.replaced({file}, {draw.one(material.RUNS)!r})",
            f"tamper.inserted({file}, {share})",
        )
    )


def _checkpoint(draw: Draw) -> Case:
    kind = draw.weighted(
        {"fast": 30, "auto": 20, "mse": 15, "stability": 25, "mlp": 7, "gran-dag": 3}
    )
    lines = [
        "from fuzz import material, tamper",
        f"kind, file = {kind!r}, Path('state')",
        f"file.write_bytes(material.state(kind, {draw.whole(0, 9)}))",
    ]
    change = draw.weighted({"header": 50, "array": 20, "file": 30})
    if change == "file":
        lines.append(
            _file_change(draw, "file").replace("tamper.replaced(file", "tamper.other(file")
        )
    elif change == "array":
        lines.append(f"tamper.entry(file, {draw.whole(0, 3)}, {draw.one(_ARRAY_CHANGES)!r})")
    else:
        lines.append(
            f"tamper.note(file, {draw.whole(0, 200)}, {draw.one(_VALUES)!r}, "
            f"drop={draw.chance(0.15)})"
        )
    return Case("tamper", tuple(lines), "resume")


def value_of(text: str) -> Any:
    """Return the value that a word of source stands for."""
    return _Deep() if text == "DEEP" else eval(text, {"np": np})


class _Deep:
    """A list nested deeper than any parser likes; written as text."""


def _text(record: Any) -> str:
    mark = '"\\u0001deep"'
    text = json.dumps(record, default=lambda _: "\x01deep")
    return text.replace(mark, "[" * 100_000 + "]" * 100_000)


def _changed(file: Path, path: tuple[Any, ...], change: Any) -> None:
    record = json.loads(file.read_text("utf-8"))
    parent = record
    try:
        for key in path[:-1]:
            parent = parent[key]
        change(parent, path[-1])
    except (KeyError, IndexError, TypeError, ValueError):
        return  # an earlier change took this part away
    file.write_text(_text(record), "utf-8")


def put(file: Path, path: tuple[Any, ...], text: str) -> None:
    """Set a part of a JSON file."""
    _changed(file, path, lambda parent, key: parent.__setitem__(key, value_of(text)))


def drop(file: Path, path: tuple[Any, ...], _: str) -> None:
    """Take a part of a JSON file away."""
    _changed(file, path, lambda parent, key: parent.__delitem__(key))


def add(file: Path, path: tuple[Any, ...], text: str) -> None:
    """Add something unknown beside a part of a JSON file."""

    def beside(parent: Any, key: Any) -> None:
        if isinstance(parent, dict):
            parent[f"{key} too"] = value_of(text)
        else:
            parent.insert(key, value_of(text))

    _changed(file, path, beside)


def swap(file: Path, path: tuple[Any, ...], _: str) -> None:
    """Exchange a part of a JSON file with the one beside it."""

    def exchange(parent: Any, key: Any) -> None:
        keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        other = keys[(keys.index(key) + 1) % len(keys)]
        parent[key], parent[other] = parent[other], parent[key]

    _changed(file, path, exchange)


def array(folder: Path, name: str, change: str) -> None:
    """Change a matrix of a saved run, and its digest with it."""
    _change_npz(folder / "weights.npz", name, change)
    reseal(folder)


def entry(file: Path, number: int, change: str) -> None:
    """Change a matrix of a checkpoint."""
    with np.load(file, allow_pickle=False) as saved:
        names = [name for name in saved.files if saved[name].ndim]
    if names:
        _change_npz(file, names[number % len(names)], change)


def _change_npz(file: Path, name: str, change: str) -> None:
    with np.load(file, allow_pickle=False) as saved:
        arrays = {key: saved[key] for key in saved.files}
    names = {"a": arrays[name].copy(), "np": np, "PICKLE": np.array([[Executing()]])}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(change, names)
        except (IndexError, ValueError, TypeError):
            names["a"] = np.zeros(3)  # a vector, where the change was meant for a matrix
    if names["a"] is None:
        del arrays[name]
    else:
        arrays[name] = names["a"]
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    file.write_bytes(buffer.getvalue())


def reseal(folder: Path) -> None:
    """Write the digest of the changed weights into the model, or it would give them away."""
    try:
        record = json.loads((folder / "model.json").read_text("utf-8"))
        record["weights_sha256"] = hashlib.sha256((folder / "weights.npz").read_bytes()).hexdigest()
        (folder / "model.json").write_text(json.dumps(record), "utf-8")
    except (OSError, ValueError, TypeError, RecursionError):
        return  # the change was to one of these two files


def note(file: Path, number: int, text: str, *, drop: bool) -> None:
    """Change a part of the record inside a checkpoint."""
    with np.load(file, allow_pickle=False) as saved:
        arrays = {key: saved[key] for key in saved.files}
    texts = [name for name in arrays if not arrays[name].ndim and arrays[name].dtype.kind == "U"]
    record = json.loads(str(arrays[texts[0]]))
    paths = list(_paths(record))
    *path, key = paths[number % len(paths)]
    parent = record
    for step in path:
        parent = parent[step]
    if drop:
        del parent[key]
    else:
        parent[key] = value_of(text)
    arrays[texts[0]] = np.array(_text(record))
    with file.open("wb") as handle:
        np.savez(handle, **arrays)


def truncate(file: Path, share: float) -> None:
    """Cut a file off."""
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])


def flip(file: Path, share: float, bit: int) -> None:
    """Flip one bit of a file."""
    content = bytearray(file.read_bytes())
    content[int(share * len(content))] ^= 1 << bit
    file.write_bytes(bytes(content))


def inserted(file: Path, share: float) -> None:
    """Put bytes into the middle of a file."""
    content = file.read_bytes()
    place = int(share * len(content))
    file.write_bytes(content[:place] + b"\xff\x00{" + content[place:])


def replaced(file: Path, kind: str) -> None:
    """Put the file of another run in its place."""
    file.write_bytes((material._original(kind) / file.name).read_bytes())


def other(file: Path, _: str) -> None:
    """Put the state of another fit in its place."""
    kind = "stability" if b"stage" in file.read_bytes() else "fast"
    file.write_bytes(material.state(kind, 0))


def bomb(size: int = 3 << 30) -> bytes:
    """Return a small .npz file whose entries claim, and hold, gigabytes of zeros."""
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = block.compress(bytes(1 << 20)) + block.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    array = io.BytesIO()
    side = int((size / 8) ** 0.5)
    np.lib.format.write_array_header_1_0(
        array, {"descr": "<f8", "fortran_order": False, "shape": (side, side)}
    )
    start = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = start.compress(array.getvalue()) + start.flush(zlib.Z_FULL_FLUSH)
    packed += piece * (size >> 20) + end
    total = len(array.getvalue()) + (size >> 20 << 20)
    content, directory = b"", b""
    names = ("weights", "adjacency", "cpdag", "header", "note", "edges")
    for name in (f"{name}.npy".encode() for name in names):
        sizes = struct.pack("<LLLHH", 0, len(packed), total, len(name), 0)
        common = struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + common
        directory += struct.pack("<HHHLL", 0, 0, 0, 0, len(content)) + name
        content += b"PK\x03\x04" + common + name + packed
    tail = struct.pack("<HHHHLLH", 0, 0, len(names), len(names), len(directory), len(content), 0)
    return content + directory + b"PK\x05\x06" + tail


def load(names: dict[str, Any]) -> str:
    """Load a run that was tampered with, and show it."""
    from analyticdag.io import load_run, to_networkx
    from analyticdag.io.folder import TEXTS
    from analyticdag.report import write_report

    folder = names["folder"]
    if names.get("argv"):
        before = snapshot.of_folder(Path.cwd())
        ended = command.here(names["argv"])
        command.judge_end(ended)
        command.judge_unchanged(before)
        return f"exit {ended.code}"
    run = load_run(folder)
    judge_run(run)
    write_report(run, "page.html")
    to_networkx(run)
    for render in TEXTS.values():
        render(run)
    return "loaded, parts agree"


def resume(names: dict[str, Any]) -> str:
    """Go on from a checkpoint that was tampered with."""
    kind, file = names["kind"], names["file"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if kind == "stability":
            expected, found = material.counts()[0], material.resampled(file)
            same = _same(expected, found, ("edge_frequency", "direction_frequency"))
        else:
            expected = material.undisturbed(kind)[0]
            found = material.estimator(kind, file).fit(material.rows())
            same = _same(expected, found, ("weights_", "adjacency_matrix_", "n_iter_"))
    if not same:
        raise Violation("resumed run differs", "from a fit that nothing disturbed", kind)
    return "resumed, the same"


def _same(expected: Any, found: Any, attributes: tuple[str, ...]) -> bool:
    return all(np.array_equal(getattr(expected, a), getattr(found, a)) for a in attributes)
