"""Ctrl-C ends the command, with exit code 130, whatever its threads are doing.

Python tells the main thread of an interrupt between two of its own steps, and waits for every
thread before it exits: compiled code can hold up both for hours. So a thread of ours is woken by
the signal itself, gives the command a moment to end in its own way, and then ends the process.
What is on disk is whole at every moment, and locks go with the process.

A terminal sends the signal to worker processes too: `deaf_workers` leaves it to the command to end
them, or each would print a traceback.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

INTERRUPTED = 130
# Enough to say what was kept, too short to be taken for a hang.
GRACE_SECONDS = 1.0


class Interrupt:
    """What to say when the command is interrupted while it cannot speak for itself."""

    def __init__(self) -> None:
        self.advice: Callable[[], str] = lambda: "interrupted"
        self._ended = threading.Event()
        self._interrupted = False

    def listen(self, woken: socket.socket) -> None:
        """Wait for the signal, then end the process unless it ends by itself."""
        with suppress(OSError):
            while received := woken.recv(64):
                if signal.SIGINT in received and not self._ended.wait(GRACE_SECONDS):
                    os.write(2, f"{_reset()}analyticdag: {self.advice()}\n".encode())
                    leave()

    def end(self) -> None:
        """The command ends by itself."""
        self._ended.set()

    def ends_soon(self) -> None:
        """The command was interrupted and ends by itself, unless that takes too long."""
        self._ended.set()
        self._interrupted = True
        last_resort = threading.Timer(GRACE_SECONDS, leave)
        last_resort.daemon = True
        last_resort.start()

    def at_exit(self) -> None:
        """Make sure of the exit code: after Ctrl-C inside an import Python ends by the signal."""
        if self._interrupted:
            leave()


def _reset() -> str:
    """Give a terminal its cursor back, on a line of its own."""
    return "\r\x1b[K\x1b[?25h" if sys.stderr.isatty() else ""


def leave() -> NoReturn:
    """End the process and its workers now, without waiting for threads."""
    for worker in multiprocessing.active_children():
        worker.terminate()  # joblib's cannot be killed in any other way
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


@contextmanager
def deaf_workers(jobs: int | None) -> Iterator[None]:
    """Let the processes that joblib starts inside the block inherit that Ctrl-C is not for them.

    The signal goes to the thread that listens, which began before; Python tells the main thread.
    """
    if jobs in (None, 1) or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start the processes that remove what workers leave behind, before the signal is blocked.

    Each of them unblocks the signal when it has started. They also say what they removed; after
    Ctrl-C, which need not wait for the workers, that is nobody's concern.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as joblib_tracker

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker:UserWarning"
    try:
        resource_tracker.ensure_running()
        joblib_tracker.ensure_running()
    finally:
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Listen for Ctrl-C while the block runs."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    atexit.register(interrupt.at_exit)  # first, so that it is called last: joblib cleans up before
    ours, signals = socket.socketpair()
    signals.setblocking(False)
    before = signal.set_wakeup_fd(signals.fileno(), warn_on_full_buffer=False)
    listener = threading.Thread(target=interrupt.listen, args=(ours,), daemon=True)
    listener.start()
    try:
        yield interrupt
    finally:
        interrupt.end()
        signal.set_wakeup_fd(before)
        signals.close()
        listener.join()
        ours.close()
