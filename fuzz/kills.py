"""Commands that are killed with signal 9 and repeated: the result must be the undisturbed one.

A moment is a share of the command's time, or of the files it opens, moves and removes: those are
the moments at which something could be lost.
"""

from __future__ import annotations

import functools
import json
import multiprocessing as mp
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
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
_DATA = {"seed": 5, "n": 100, "d": 6}
_NEVER = -1


def draw_case(draw: Draw) -> Case:
    """Return a command and the moments at which it is killed; or two of it at once."""
    lines = [f"argv, moments = {draw.one(_COMMANDS)!r}, []"]
    if draw.chance(0.1):
        lines.append("apart = True  # the last time as a new process, nothing imported")
    if draw.chance(0.1):
        return Case("kills", (*lines, "twins = True"), "kill")
    for _ in range(draw.weighted({1: 70, 2: 20, 3: 10})):
        how, share = draw.one(("clock", "event", "event")), round(draw.random.random() ** 0.7, 4)
        lines.append(f"moments.append(({how!r}, {share}))")
    return Case("kills", tuple(lines), "kill")


def die_at(event: int) -> list[int]:
    """Kill this process at its n-th change of a file below the current folder; return the count.

    The count has one number, and goes on.
    """
    here, seen = str(Path.cwd()), [0]

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name not in _FILE_EVENTS or not _is_change(name, arguments, here):
            return
        seen[0] += 1
        if seen[0] == event:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return seen


def _is_change(name: str, arguments: tuple[Any, ...], here: str) -> bool:
    if name == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        return False
    path = arguments[0]
    return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(here)  # noqa: PTH100


@functools.cache
def _fork_server() -> Any:
    """Return what starts processes that have imported everything and done nothing yet."""
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(
        [
            *["fuzz.kills", "analyticdag.cli", "analyticdag.linear.estimator"],
            *["analyticdag.stability", "analyticdag.report", "analyticdag.diagnostics"],
        ]
    )
    return context


@dataclass(eq=False)
class _Command:
    """A command that runs as a process of its own in the current folder."""

    process: Any
    notes: Path  # a folder for what it says, outside the one it works in

    @classmethod
    def start(cls, argv: list[str], event: int = _NEVER) -> _Command:
        notes = Path(tempfile.mkdtemp(prefix="fuzz-notes-"))
        arguments = (argv, str(Path.cwd()), str(notes), event)
        process = _fork_server().Process(target=_serve, args=arguments)
        process.start()
        return cls(process, notes)

    def end(self) -> command.Ended:
        """Wait for it."""
        self.process.join()
        files = [self.notes / name for name in ("out", "err")]
        out, err = (f.read_text("utf-8", "replace") if f.exists() else "" for f in files)
        return command.Ended(self.process.exitcode, out, err)

    def events(self) -> int:
        """Return how many files it changed."""
        return int((self.notes / "events").read_text("utf-8"))


def _serve(argv: list[str], folder: str, notes: str, event: int) -> None:
    """Run the command line; in the process of the command."""
    from analyticdag.cli import main

    os.setpgrp()
    os.chdir(folder)
    for name, stream in (("out", 1), ("err", 2)):
        os.dup2(os.open(Path(notes) / name, os.O_WRONLY | os.O_CREAT), stream)
    sys.argv = ["analyticdag", *argv]
    seen = die_at(event)
    try:
        main()
    finally:
        (Path(notes) / "events").write_text(str(seen[0]), "utf-8")


@functools.cache
def _undisturbed(argv: tuple[str, ...]) -> tuple[Any, float, int]:
    """Return the result of a command, its time and its number of file events."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-kill-") as folder:
        os.chdir(folder)
        try:
            Path("d.csv").write_bytes(material.csv(**_DATA))
            start = time.monotonic()
            running = _Command.start(list(argv))
            ended = running.end()
            seconds = time.monotonic() - start
            assert ended.code == 0, ended.err
            return result(argv), seconds, running.events()
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
    ended = command.process(argv) if names.get("apart") else _Command.start(argv).end()
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
    running = _Command.start(argv, _NEVER if event is None else event)
    running.process.join(None if event is not None else seconds)
    with suppress(ProcessLookupError):
        os.kill(running.process.pid, signal.SIGKILL)
    return running.end().code == -signal.SIGKILL


def _together(argv: list[str]) -> None:
    """Run the command twice at once; each must end well, or say that the other is at it."""
    ends = [running.end() for running in [_Command.start(argv), _Command.start(argv)]]
    for ended in ends:
        command.judge_end(ended)
    if all(ended.code for ended in ends):
        raise Violation("lost", f"both failed: {ends[0].err[-200:]} {ends[1].err[-200:]}", argv[0])


def _difference(found: Any, expected: Any) -> str:
    parts = [key for key in expected if found.get(key) != expected[key]]
    return f"in {parts}: {[(found.get(key), expected[key]) for key in parts[:1]]}"[:400]
