"""What a person sees while a fit runs: a bar on a terminal, plain lines in a pipe, or nothing.

The solver reports to the logger "analyticdag", with the events of `analyticdag.progress` or a plain
text: the end of a stage at INFO, what happens inside one at DEBUG. A pipe gets the first as text, a
bar shows both. Nothing else listens, and nothing is left on the logger afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from analyticdag.progress import StageBegins, StageEnds, Step

if TYPE_CHECKING:
    from rich.progress import Progress


class _Handler(logging.Handler):
    """Hands every report on: an event as it is, anything else as text."""

    def __init__(self, show: Callable[[object], None], level: int) -> None:
        super().__init__(level)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage() if isinstance(record.msg, str) else record.msg)


@contextmanager
def shown(console: Console, *, quiet: bool) -> Iterator[None]:
    """Show the reports of the solver while the block runs."""
    if quiet:
        yield
    elif console.is_terminal:
        with _bar(console) as bar, _listening(bar.show, logging.DEBUG):
            yield
    else:
        with _listening(lambda event: line(console, str(event)), logging.INFO):
            yield


def line(console: Console, text: str) -> None:
    """Print one line as it is: names in it are neither markup nor orders to the terminal."""
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return the text without characters that a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


@contextmanager
def _listening(show: Callable[[object], None], level: int) -> Iterator[None]:
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
        self._done = 0.0
        self._score = self._h = self._step = ""

    def show(self, event: object) -> None:
        """Bring the bar up to date with one report of the solver."""
        match event:
            case StageBegins():
                self._enter(event.stage, event.n_stages, done=event.stage - 1.0)
            case StageEnds():
                self._enter(event.stage, event.n_stages, done=float(event.stage))
                self._score, self._h = f"score {event.objective:.6g}", f"h {event.h:.3g}"
            case Step() if self._stage:
                self._take(event)
            case _:  # not of the path: the order search
                text = printable(str(event)[:70])
                self._progress.update(self._task, description=text)
                return
        parts = [f"stage {self._stage}/{self._total}", self._score, self._h, self._step]
        self._progress.update(
            self._task,
            completed=self._done,
            total=self._total,
            description=", ".join(part for part in parts if part),
        )

    def _enter(self, stage: int, n_stages: int, *, done: float) -> None:
        self._stage, self._total, self._done, self._step = stage, n_stages, done, ""

    def _take(self, event: Step) -> None:
        self._step = f"{event.word} {event.number}"
        self._score = f"score {event.objective:.6g}"
        self._h = self._h if event.h is None else f"h {event.h:.3g}"
        # Who knows how many sweeps it will be: only exact limits tell how far a stage is.
        share = event.number / event.limit if event.exact else 0.0
        self._done = self._stage - 1 + share
