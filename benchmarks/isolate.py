"""One cell in a process of its own, so that time and memory limits hold whatever it does.

The parent starts a child, writes the cell as one JSON line to its standard input and reads the
record from its standard output. The input stays open: when the parent is killed it closes, and the
child ends itself instead of running on as an orphan.

A child imports from what is installed and from PYTHONPATH, never from the current folder (``-P``):
a ``threadpoolctl.py`` that lies there is somebody's file, not the library.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from benchmarks.cell import describe, run_cell
from benchmarks.plan import Cell, Limits, Method
from benchmarks.records import Record, to_line

__all__ = ["child", "failure", "run_isolated"]

# The folder of this package comes last: an uninstalled checkout works, and hides no library.
_START = "import sys; sys.path.append(sys.argv[1]); from benchmarks.isolate import child; child()"
_HOME = str(Path(__file__).resolve().parent.parent)

_THREAD_VARIABLES = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
]


def run_isolated(cell: Cell, limits: Limits) -> Record:
    """Run the cell in a new process under ``limits`` and return its record."""
    command = [sys.executable, "-P", "-c", _START, _HOME]
    # Files, not pipes: nothing blocks however much a library writes.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            env=_environment(limits.threads),
            start_new_session=True,
        )
        try:
            _send(process, cell, limits)
            process.wait(limits.time_limit)
        except subprocess.TimeoutExpired:
            return failure(cell, "timeout", f"stopped after {limits.time_limit:g} seconds", limits)
        finally:
            _end(process)
        return _answer(output) or _crash(cell, process.returncode, errors, limits)


def _environment(threads: int | None) -> dict[str, str]:
    chosen = {} if threads is None else dict.fromkeys(_THREAD_VARIABLES, str(threads))
    return {**os.environ, **chosen}


def _send(process: subprocess.Popen[bytes], cell: Cell, limits: Limits) -> None:
    assert process.stdin is not None  # Popen was asked for a pipe
    message = {"cell": _to_dict(cell), "memory": limits.memory_limit, "threads": limits.threads}
    with suppress(BrokenPipeError):  # a child that died at once: its exit code tells the story
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the child and of the processes it started."""
    with suppress(ProcessLookupError):  # it ended by itself
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _answer(output: IO[bytes]) -> Record | None:
    output.seek(0)
    line = output.read()
    record: Record | None = json.loads(line) if line.endswith(b"\n") else None
    return record


def _crash(cell: Cell, code: int, errors: IO[bytes], limits: Limits) -> Record:
    errors.seek(0)
    last_words = errors.read().decode(errors="replace").strip().splitlines()[-1:]
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    reason = ": ".join([f"the process ended with {how}", *last_words])
    return failure(cell, "crash", reason, limits)


def failure(cell: Cell, exit_: str, reason: str, limits: Limits) -> Record:
    """The record of a cell whose process could not make one itself."""
    cost: Record = {"wall_seconds": None, "cpu_seconds": None, "peak_rss_mib": None, "threads": {}}
    if exit_ == "timeout":
        cost["wall_seconds"] = limits.time_limit
    outcome = {"exit": exit_, "reason": reason, "metrics": {}, "warnings": [], "isolated": True}
    return describe(cell) | outcome | cost


def _to_dict(cell: Cell) -> dict[str, Any]:
    method = cell.method
    return {
        "plan": cell.plan,
        "task": cell.task,
        "setting": dict(cell.setting),
        "method": {"name": method.name, "call": method.call, "options": dict(method.options)},
        "repeat": cell.repeat,
        "seed": cell.seed,
        "place": cell.place,
    }


def _from_dict(table: dict[str, Any]) -> Cell:
    return Cell(**{**table, "method": Method(**table["method"])})


def _limit_memory(gibibytes: float | None) -> None:
    """Allow this much address space beyond what the interpreter and its libraries hold already.

    A limit on address space fails the allocation itself, so there is no race with a watcher; the
    libraries' own mappings are large and unused, so they must not count.
    """
    if gibibytes is None:
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _die_with_parent() -> None:
    sys.stdin.buffer.read()  # returns only when the parent has closed its end
    os._exit(1)


def child() -> None:
    """What the new process does: read a cell, run it, write its record."""
    answer = os.dup(1)
    os.dup2(2, 1)  # whatever the libraries print must not mix with the record
    message = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _limit_memory(message["memory"])
    record = run_cell(_from_dict(message["cell"]), message["threads"]) | {"isolated": True}
    with os.fdopen(answer, "wb") as file:
        file.write(to_line(record))
    os._exit(0)  # the watching thread still reads: an ordinary exit would wait for it
