"""Changed saved runs and changed checkpoints.

A changed run must be refused in one line, or load with parts that agree; a changed checkpoint must
be refused, or lead to the result of a fit that nothing disturbed.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import changes, command, material, snapshot
from fuzz.case import Case, Draw, Violation
from fuzz.promises import judge_run

_START = "from fuzz import damage, material; from fuzz.changes import *"
_VALUES = (
    *("None", "True", "False", "0", "-1", "1", "2.5", "-0.5", "1e308", "10**30", "10**400"),
    *("'x'", "''", "'CONVERGED'", "'0'", "'a\\nb'", "'<script>alert(1)</script>'", "'\\x00'"),
    *("[]", "{}", "[None]", "[[]]", "[1, 2]", "['a']", "{'a': 1}", "[[0, 1]]", "'x' * 10**6"),
    *("float('nan')", "float('inf')", "Deep()", "[{}] * 5", "{'source': 0}"),
)
_ARRAYS = (
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
# What is done with a changed run: it is loaded and shown in Python, or by a command.
_AFTERWARDS = {
    "None": 3.0,
    "['report', 'run', '--out', 'p.html']": 1.0,
    "['compare', 'run', 'run']": 1.0,
}


def draw_case(draw: Draw) -> Case:
    """Return a case that changes a saved run, or a checkpoint."""
    return _checkpoint(draw) if draw.chance(0.3) else _run(draw)


def _run(draw: Draw) -> Case:
    kind = draw.one(material.RUNS)
    lines = [
        _START,
        f"folder = material.saved_run({kind!r})",
        f"argv = {draw.weighted(_AFTERWARDS)}",
    ]
    how = draw.weighted({"json": 60, "arrays": 15, "file": 25})
    if how == "json":
        lines += [_part(draw) for _ in range(draw.weighted({1: 80, 2: 20}))]
    elif how == "arrays":
        lines.append(f"in_array(folder / 'weights.npz', {_number(draw)}, {draw.one(_ARRAYS)!r})")
        lines.append("reseal(folder)")
    else:
        name = draw.one(("model.json", "weights.npz", "manifest.json"))
        lines.append(f"file = folder / {name!r}; {_whole(draw, draw.one(material.RUNS))}")
        lines += ["reseal(folder)"] * draw.chance(0.5)
    return Case("tamper", tuple(lines), "load")


def _checkpoint(draw: Draw) -> Case:
    kind = draw.weighted(
        {"fast": 30, "auto": 20, "mse": 15, "stability": 25, "mlp": 7, "gran-dag": 3}
    )
    lines = [
        _START,
        f"kind, file = {kind!r}, Path('state')",
        f"file.write_bytes(material.state(kind, {draw.whole(0, 9)}))",
    ]
    how = draw.weighted({"note": 50, "array": 20, "file": 30})
    if how == "note":
        lines.append(f"in_note(file, {_number(draw)}, {_change(draw)})")
    elif how == "array":
        lines.append(f"in_array(file, {_number(draw)}, {draw.one(_ARRAYS)!r})")
    else:
        lines.append(_whole(draw, kind))
    return Case("tamper", tuple(lines), "resume")


def _part(draw: Draw) -> str:
    name = draw.weighted({"model.json": 85, "manifest.json": 15})
    return f"in_json(folder / {name!r}, {_number(draw)}, {_change(draw)})"


def _change(draw: Draw) -> str:
    named = draw.weighted({"put": 75, "drop": 10, "double": 5, "swap": 10})
    return f"put({draw.one(_VALUES)})" if named == "put" else named


def _whole(draw: Draw, kind: str) -> str:
    """Return a line that changes a file as a whole."""
    share, bit = round(draw.random.random(), 4), draw.whole(0, 7)
    return draw.one(changes.FILE_CHANGES).format(share=share, bit=bit, kind=kind)


def _number(draw: Draw) -> int:
    return draw.whole(0, 99_999)


def load(names: dict[str, Any]) -> str:
    """Load a run that was tampered with, and show it."""
    from analyticdag.io import load_run, to_networkx
    from analyticdag.io.folder import TEXTS
    from analyticdag.report import write_report

    if names.get("argv"):
        before = snapshot.of_folder(Path.cwd())
        ended = command.here(names["argv"])
        command.judge_end(ended)
        command.judge_unchanged(before)
        return f"exit {ended.code}"
    run = load_run(names["folder"])
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
