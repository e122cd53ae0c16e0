"""What a person sees while a fit runs: a bar on a terminal, plain lines in a pipe, or nothing.

The solver reports to the logger "analyticdag": the end of a stage at INFO, what happens inside one
at DEBUG. A pipe gets the first, a bar shows both. Nothing else listens, and nothing is left on the
logger afterwards.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress

_STAGE = re.compile(r"stage (\d+) of (\d+)( begins)?")
_SCORE = re.compile(r"objective=(\S+)")
_H = re.compile(r"h=(\S+)")
_STEP = re.compile(r"(step|sweep) (\d+) of (at most )?(\d+)")


class _Handler(logging.Handler):
    """Hands the text of every report on."""

    def __init__(self, show: Callable[[str], None], level: int) -> None:
        super().__init__(level)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())


@contextmanager
def shown(console: Console, *, quiet: bool) -> Iterator[None]:
    """Show the reports of the solver while the block runs."""
    if quiet:
        yield
    elif console.is_terminal:
        with _bar(console) as bar, _listening(bar.show, logging.DEBUG):
            yield
    else:
        with _listening(lambda text: line(console, text), logging.INFO):
            yield


def line(console: Console, text: str) -> None:
    """Print one line as it is: names in it are neither markup nor orders to the terminal."""
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return the text without characters that a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


@contextmanager
def _listening(show: Callable[[str], None], level: int) -> Iterator[None]:
    logger, handler = logging.getLogger("analyticdag"), _Handler(show, level)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


@contextmanager
def _bar(console: Console) -> Iterator[Bar]:
    # Here, so that --help need not wait for what it does not show.
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeLeft(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress)


class Bar:
    """A bar over the stages of a path: which one, how far, with what score and h."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("learning", total=None)
        self._stage = self._total = 0
        self._score = self._h = self._step = ""

    def show(self, text: str) -> None:
        """Bring the bar up to date with one report of the solver."""
        done = self._read(text)
        if done is None:  # not of the path: the order search
            self._progress.update(self._task, description=printable(text[:70]))
            return
        parts = [f"stage {self._stage}/{self._total}", self._score, self._h, self._step]
        self._progress.update(
            self._task,
            completed=done,
            total=self._total,
            description=", ".join(part for part in parts if part),
        )

    def _read(self, text: str) -> float | None:
        """Take the numbers of a report over; return how many stages are done, parts included."""
        stage, step, share = _STAGE.search(text), _STEP.search(text), 0.0
        if stage is None and (step is None or not self._stage):
            return None
        score, h = _SCORE.search(text), _H.search(text)
        self._score = f"score {score[1]}" if score else self._score
        self._h = f"h {h[1]}" if h else self._h
        if stage is not None:
            self._stage, self._total = int(stage[1]), int(stage[2])
        self._step = f"{step[1]} {step[2]}" if step else ""
        if stage is not None and not stage[3] and step is None:
            return float(self._stage)
        if step is not None and not step[3]:
            share = int(step[2]) / int(step[4])  # "at most": who knows how many it will be
        return self._stage - 1 + share
