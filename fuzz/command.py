"""One command line, inside this process or as another, and what must hold of it.

No traceback, no raw error, an exit code that fits, and every file that was there is as it was.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz import snapshot
from fuzz.case import Violation, place_of

# -P keeps the current folder off the path: a module that lies there is data.
PROGRAM = [sys.executable, "-P", "-c", "from analyticdag.cli import main; main()"]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def here(argv: list[str], stdin: bytes = b"", program: str = "analyticdag.cli") -> Ended:
    """Run a command inside this process; the program is the module that has its `main`."""
    main = importlib.import_module(program).main
    out, err = io.StringIO(), io.StringIO()
    kept = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["analyticdag", *argv], io.TextIOWrapper(io.BytesIO(stdin))
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    except Exception as error:
        raise Violation(
            "raw exception", f"{type(error).__name__}: {error}", place_of(error)
        ) from error
    finally:
        sys.argv, sys.stdin = kept
    return Ended(int(code), out.getvalue(), err.getvalue())


def process(argv: list[str], stdin: bytes = b"", limit: float = 300.0) -> Ended:
    """Run a command as a process of its own."""
    done = subprocess.run(
        [*PROGRAM, *argv], input=stdin, capture_output=True, timeout=limit, env=environment()
    )
    return Ended(
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


def environment() -> dict[str, str]:
    """Return this process's environment with paths that do not depend on the folder."""
    paths = [str(Path(path).resolve()) for path in sys.path if path and Path(path).is_dir()]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}


def judged(names: dict[str, Any]) -> str:
    """Write the files of a case, run its command and check the promises."""
    write(names.get("files", {}))
    before = snapshot.of_folder(Path.cwd())
    ended = _ended([str(word) for word in names["argv"]], names)
    judge_end(ended)
    judge_unchanged(before, names.get("may_change", ()))
    if ended.code == 0 and names.get("must_refuse"):
        raise Violation("misread", f"a damaged file was taken as it is: {ended.out[:200]}", "file")
    if ended.code == 0:
        _judge_results(names["argv"], ended)
    return f"exit {ended.code}"


def _ended(argv: list[str], names: dict[str, Any]) -> Ended:
    if names.get("program") == "benchmarks":
        return here(argv, program="benchmarks.cli")
    run = process if names.get("apart") and _can_be_passed("".join(argv)) else here
    return run(argv, names.get("stdin", b""))


def _can_be_passed(words: str) -> bool:
    """Whether a process can be started with these: not with a zero byte, nor half a character."""
    try:
        return b"\0" not in os.fsencode(words)
    except UnicodeEncodeError:
        return False


def write(files: dict[str, bytes]) -> None:
    """Write the files of a case."""
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def judge_end(ended: Ended) -> None:
    """Check the exit code and what the command said."""
    if ended.code not in (0, 1, 2):
        raise Violation("wrong exit code", f"{ended.code}: {ended.err[-300:]}", str(ended.code))
    for word in (
        "Traceback (most recent",
        "analyticdag: unexpected",
        "RuntimeWarning",
        "Exception ignored",
    ):
        if word in ended.err or word in ended.out:
            line = next(line for line in (ended.err + ended.out).splitlines() if word in line)
            place = line.split(":")[1].strip()[:60] if ":" in line else word
            raise Violation("raw exception", f"exit {ended.code}: {line[:400]}", place)
    if ended.code and not ended.err.strip():
        raise Violation("silent failure", f"exit {ended.code} without a word", "")


def judge_unchanged(before: dict[str, str], may_change: Any = ()) -> None:
    """Check that every file is as it was."""
    after = snapshot.of_folder(Path.cwd())
    for name, content in before.items():
        if name in may_change or after.get(name) == content:
            continue
        what = "overwritten" if name in after else "lost"
        raise Violation(f"user file {what}", name, "")


def _judge_results(argv: list[str], ended: Ended) -> None:
    """Check what a command that succeeded has left: runs that load, JSON that parses."""
    from analyticdag.io import load_run
    from fuzz.promises import judge_run

    if "--json" in argv:
        json.loads(ended.out, parse_constant=_refuse_constant)
    for model in Path.cwd().rglob("model.json"):
        if argv[:1] == ["fit"]:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                judge_run(load_run(model.parent))
    for page in Path.cwd().rglob("*.html"):
        if "<script>alert(1)" in page.read_text("utf-8", "replace"):
            raise Violation("executed", f"a name became markup in {page.name}", "report")


def _refuse_constant(word: str) -> None:
    raise Violation("not finite", f"{word} in JSON on standard output", "json")


def show(names: dict[str, Any]) -> None:
    """Write the files and run the command, for a reproduction."""
    write(names.get("files", {}))
    argv = [str(word) for word in names["argv"]]
    sys.stdout.write(f"analyticdag {' '.join(map(repr, argv))}\n{process(argv)}\n")
