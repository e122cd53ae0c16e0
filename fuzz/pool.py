"""Child processes that are reused; each case has a limit of time and of memory.

A child that does not answer in time is killed and its case tried once more, alone with a fresh
child and three times the limit: a busy machine is no hang.
"""

from __future__ import annotations

import faulthandler
import multiprocessing as mp
import os
import resource
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fuzz.case import Case, Outcome

_ADDRESSES = 16 << 30  # bytes a child may map; Torch alone maps several
_GROWTH = 1 << 20  # KiB by which one small case may raise the peak of the memory: 1 GiB
_PATIENCE = 3.0  # how much longer a case gets that took too long the first time
_WAITING = 10.0  # by the clock, for a machine that is busy with other things
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Request:
    """A case by its name, or as it is; and its limit in seconds."""

    name: tuple[int, str, int] | None
    limit: float
    case: Case | None = None


@dataclass(frozen=True)
class Answer:
    """What came of a request."""

    request: Request
    outcome: Outcome
    seconds: float
    case: Case | None = None


def serve(connection: Connection) -> None:
    """Answer requests until the parent hangs up; runs in a child."""
    os.setpgrp()
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    from fuzz.calls import run
    from fuzz.families import drawn

    with suppress(EOFError, KeyboardInterrupt):
        while True:
            request: Request = connection.recv()
            case = request.case or drawn(*request.name)  # type: ignore[misc]
            before = _peak()
            outcome = run(case)
            if _peak() - before > _GROWTH and not outcome.is_violation:
                grown = f"the peak of the memory rose by {(_peak() - before) >> 10} MiB"
                outcome = Outcome("violation", "memory", case.call, grown)
            connection.send((outcome, case))


def _processor_seconds(pid: int) -> float:
    """Return the time that all threads of a process used; zero where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@dataclass(eq=False)
class _Child:
    process: Any
    connection: Connection
    request: Request | None = None
    started: float = 0.0
    used: float = 0.0

    @classmethod
    def start(cls) -> _Child:
        context = mp.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), daemon=False)
        process.start()
        theirs.close()
        return cls(process, ours)

    def give(self, request: Request) -> None:
        self.request, self.started = request, time.monotonic()
        self.used = _processor_seconds(self.process.pid)
        self.connection.send(request)

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def overdue(self) -> bool:
        """Whether the case took too long: of the processor's time, or far too long by the clock."""
        if self.request is None:
            return False
        used = _processor_seconds(self.process.pid) - self.used
        return used > self.request.limit or self.seconds() > _WAITING * self.request.limit

    def end(self) -> int:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.connection.close()
        return int(self.process.exitcode or 0)


@dataclass(eq=False)
class Pool:
    """A few children; `run` yields answers as they come."""

    jobs: int
    _children: list[_Child] = field(default_factory=list)

    def __enter__(self) -> Pool:
        os.environ.update(_ONE_THREAD)
        # Children find the package wherever this process found it.
        os.environ["PYTHONPATH"] = os.pathsep.join(
            [str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
        )
        self._children = [_Child.start() for _ in range(self.jobs)]
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.end()

    def run(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Yield an answer for every request."""
        left = iter(requests)
        for child in self._children:
            _next(child, left)
        while busy := [child for child in self._children if child.request]:
            ready = wait([child.connection for child in busy], timeout=0.5)
            for child in busy:
                if child.connection in ready or child.overdue():
                    yield self._answer(child)
                    _next(self._children[self._children.index(self._current(child))], left)

    def ask(self, request: Request) -> Answer:
        """Return the answer to one request."""
        (answer,) = self.run([request])
        return answer

    def _answer(self, child: _Child) -> Answer:
        assert child.request is not None
        request, seconds = child.request, child.seconds()
        received = _received(child)
        if received is not None:
            child.request = None
            return Answer(request, received[0], seconds, received[1])
        hung = child.process.is_alive()
        code = self._replace(child)
        if hung:
            return self._once_more(request)
        died = Outcome("violation", "crash", str(code), f"the process ended with {code}")
        return Answer(request, died, seconds)

    def _once_more(self, request: Request) -> Answer:
        """Try a case that took too long once more, with patience."""
        child = _Child.start()
        child.give(replace(request, limit=_PATIENCE * request.limit))
        try:
            while not child.overdue() and not child.connection.poll(0.5):
                pass
            received = _received(child)
        finally:
            seconds = child.seconds()
            child.end()
        if received is not None:
            return Answer(request, received[0], seconds, received[1])
        slow = f"no answer in {_PATIENCE * request.limit:g} seconds"
        family = request.name[1] if request.name else ""
        return Answer(request, Outcome("violation", "hang", family, slow), seconds)

    def _replace(self, child: _Child) -> int:
        place = self._children.index(child)
        code = child.end()
        self._children[place] = _Child.start()
        self._successors[child] = self._children[place]
        return code

    def _current(self, child: _Child) -> _Child:
        return self._successors.pop(child, child)

    _successors: dict[_Child, _Child] = field(default_factory=dict)


def _next(child: _Child, left: Iterator[Request]) -> None:
    request = next(left, None)
    if request is not None:
        child.give(request)


def _received(child: _Child) -> tuple[Outcome, Case] | None:
    """Return what a child sent; None where it is dead or still at it."""
    try:
        return child.connection.recv() if child.connection.poll(0) else None
    except (EOFError, ConnectionResetError):
        child.process.join(5.0)
        return None
