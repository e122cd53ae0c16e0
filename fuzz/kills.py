"""Commands that are killed with signal 9 and repeated: the result must be the undisturbed one.

A moment is a share of the command's time, or of the files it opens, moves and removes: those are
the moments at which something could be lost.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import command, material
from fuzz.case import Case, Draw, Violation

_COMMANDS = (
    ["fit", "d.csv", "--out", "run"],
    ["fit", "d.csv", "--out", "run", "--resamples", "3"],
    ["fit", "d.csv"],
    ["fit", "d.csv", "--out", "run", "--report", "page.html", "--lambda1", "auto"],
    ["fit", "d.csv", "--out", "run", "--solver", "order"],
    ["fit", "d.csv", "--out", "run", "--no-refine", "--checkpoint", "state"],
    ["stability", "d.csv", "--solver", "order", "--resamples", "40", "--out", "s.json"],
    [
        *["stability", "d.csv", "--solver", "order", "--resamples", "60", "--out", "s.json"],
        *["--checkpoint", "state"],
    ],
)
_FILE_EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.link", "os.truncate")
_DATA = {"seed": 5, "n": 300, "d": 8}


def draw_case(draw: Draw) -> Case:
    """Return a command and the moments at which it is killed; or two of it at once."""
    lines = [f"argv, moments = {draw.one(_COMMANDS)!r}, []"]
    if draw.chance(0.1):
        return Case("kills", (*lines, "twins = True"), "kill")
    for _ in range(draw.weighted({1: 70, 2: 20, 3: 10})):
        how, share = draw.one(("clock", "event", "event")), round(draw.random.random() ** 0.7, 4)
        lines.append(f"moments.append(({how!r}, {share}))")
    return Case("kills", tuple(lines), "kill")


def die_at(event: int | None) -> None:
    """Kill this process at its n-th change of a file below the current folder; None: count them."""
    here, seen = str(Path.cwd()), [0]

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name not in _FILE_EVENTS or not _is_change(name, arguments, here):
            return
        seen[0] += 1
        if seen[0] == event:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    if event is None:
        import atexit

        atexit.register(lambda: sys.stderr.write(f"\nEVENTS {seen[0]}\n"))


def _is_change(name: str, arguments: tuple[Any, ...], here: str) -> bool:
    if name == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        return False
    path = arguments[0]
    return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(here)  # noqa: PTH100


def _program(argv: list[str], event: int | None) -> list[str]:
    start = (
        f"from fuzz.kills import die_at; die_at({event}); from analyticdag.cli import main; main()"
    )
    return [sys.executable, "-P", "-c", start, *argv]


def _popen(argv: list[str], event: int | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        _program(argv, event),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=command.environment(),
        start_new_session=True,
    )


@functools.cache
def _undisturbed(argv: tuple[str, ...]) -> tuple[Any, float, int]:
    """Return the result of a command, its time and its number of file events."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-kill-") as folder:
        os.chdir(folder)
        try:
            Path("d.csv").write_bytes(material.csv(**_DATA))
            start = time.monotonic()
            done = subprocess.run(
                _program(list(argv), None), capture_output=True, env=command.environment()
            )
            seconds = time.monotonic() - start
            assert done.returncode == 0, done.stderr
            events = int(done.stderr.decode().rsplit("EVENTS", 1)[1])
            return result(argv), seconds, events
        finally:
            os.chdir(home)


def result(argv: Any) -> Any:
    """Return everything a command found, as plain data."""
    if argv[0] == "stability":
        return json.loads(Path("s.json").read_text("utf-8"))
    from analyticdag.io import load_run

    folders = [model.parent for model in sorted(Path.cwd().glob("*/model.json"))]
    if not folders:
        raise Violation("lost", "there is no saved run", "")
    found = [_content(load_run(folder)) for folder in folders]
    if any(content != found[0] for content in found):
        raise Violation("resumed run differs", "between two folders", argv[0])
    return found[0]


def _content(run: Any) -> dict[str, Any]:
    names = ("names", "order", "h", "loss", "n_iter", "status", "loss_choice", "selection")
    return {
        **{name: getattr(run, name) for name in names},
        "weights": np.asarray(run.weights).tolist(),
        "cpdag": np.asarray(run.cpdag).tolist(),
        "edges": [asdict(edge) for edge in run.edges],
        "diagnostics": list(run.diagnostics),
    }


def kill(names: dict[str, Any]) -> str:
    """Kill a command at the given moments, repeat it, and compare."""
    argv = names["argv"]
    expected, seconds, events = _undisturbed(tuple(argv))
    content = material.csv(**_DATA)
    Path("d.csv").write_bytes(content)
    killed = 0
    if names.get("twins"):
        _together(argv)
    for how, share in names["moments"]:
        event = max(1, round(share * events)) if how == "event" else None
        killed += _killed(argv, event, share * seconds)
    ended = command.process(argv)
    command.judge_end(ended)
    if Path("d.csv").read_bytes() != content:
        raise Violation("user file overwritten", "d.csv", "")
    if ended.code != 0 and not _was_whole(argv, expected):
        raise Violation(
            "lost", f"the same command again: exit {ended.code} {ended.err[-300:]}", argv[0]
        )
    if result(argv) != expected:
        raise Violation("resumed run differs", _difference(result(argv), expected), argv[0])
    return "twins, the same" if names.get("twins") else f"killed {bool(killed)}, the same"


def _was_whole(argv: list[str], expected: Any) -> bool:
    """Whether the command had done everything before it was killed: then it may say so."""
    if argv[0] == "stability":
        return Path("s.json").exists()
    page = Path("page.html") if "--report" in argv else Path("run/report.html")
    return page.exists() and Path("run/model.json").exists() and result(argv) == expected


def _killed(argv: list[str], event: int | None, seconds: float) -> bool:
    """Run until the moment, and kill; return whether it was still running."""
    process = _popen(argv, event if event is not None else -1)
    with suppress(subprocess.TimeoutExpired):
        process.wait(120.0 if event is not None else seconds)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return process.returncode == -signal.SIGKILL


def _together(argv: list[str]) -> None:
    """Run the command twice at once; each must end well, or say that the other is at it."""
    processes = [
        subprocess.Popen(
            [*command.PROGRAM, *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=command.environment(),
        )
        for _ in range(2)
    ]
    ends = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        ends.append(command.Ended(process.returncode, out.decode(), err.decode()))
    for ended in ends:
        command.judge_end(ended)
    if all(ended.code for ended in ends):
        raise Violation("lost", f"both failed: {ends[0].err[-200:]} {ends[1].err[-200:]}", argv[0])


def _difference(found: Any, expected: Any) -> str:
    parts = [key for key in expected if found.get(key) != expected[key]]
    return f"in {parts}: {[(found.get(key), expected[key]) for key in parts[:1]]}"[:400]
