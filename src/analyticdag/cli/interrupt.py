"""Ctrl-C ends the command, with exit code 130, whatever its threads are doing.

Python tells the main thread of an interrupt between two of its own steps, and waits for every
thread before it exits: compiled code can hold up both for hours. So a thread of ours is woken by
the signal itself, gives the command a moment to end in its own way, and then ends the process.
What is on disk is whole at every moment, and locks go with the process.
"""

from __future__ import annotations

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


def _reset() -> str:
    """Give a terminal its cursor back, on a line of its own."""
    return "\r\x1b[K\x1b[?25h" if sys.stderr.isatty() else ""


def leave() -> NoReturn:
    """End the process now, without waiting for its threads."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Listen for Ctrl-C while the block runs."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
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
