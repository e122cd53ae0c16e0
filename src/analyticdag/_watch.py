"""What a person sees while a fit runs: a bar on a terminal or in a notebook, or plain lines.

The solver reports to the logger "analyticdag", with the events of `analyticdag.progress` or a plain
text: the end of a stage at INFO, what happens inside one at DEBUG. Lines are the first, a bar shows
both. Nothing is left on the logger afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from analyticdag.progress import StageBegins, StageEnds, Step

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_LOGGER = logging.getLogger("analyticdag")


@contextmanager
def watched(verbose: int) -> Iterator[None]:
    """Show a fit with `verbose` above 0, unless somebody listens to the logger already."""
    heard = bool(_LOGGER.handlers) or (logging.root.handlers and _LOGGER.isEnabledFor(logging.INFO))
    if not verbose or heard:
        yield
        return
    from rich.console import Console

    notebook = Console().is_jupyter
    # In a notebook too as a terminal would have it: the other way needs ipywidgets.
    console = Console(stderr=True, force_jupyter=False, force_terminal=notebook or None)
    with as_bar(console) if console.is_terminal else as_lines(console):
        yield


@contextmanager
def in_silence() -> Iterator[None]:
    """Show nothing while the block runs, whatever `verbose` says."""
    with _listening(lambda event: None, logging.WARNING):
        yield


@contextmanager
def as_bar(console: Console) -> Iterator[None]:
    """Show a bar while the block runs."""
    with _bar(console) as bar, _listening(bar.show, logging.DEBUG):
        yield


@contextmanager
def as_lines(console: Console) -> Iterator[None]:
    """Show a line for every stage and every search while the block runs."""
    with _listening(lambda event: line(console, str(event)), logging.INFO):
        yield


def line(console: Console, text: str) -> None:
    """Print one line as it is: names in it are neither markup nor orders to the terminal."""
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return the text without characters that a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


class _Handler(logging.Handler):
    """Hands every report on: an event as it is, anything else as text."""

    def __init__(self, show: Callable[[object], None], level: int) -> None:
        super().__init__(level)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage() if isinstance(record.msg, str) else record.msg)


@contextmanager
def _listening(show: Callable[[object], None], level: int) -> Iterator[None]:
    handler = _Handler(show, level)
    before = _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(level)
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(before)


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
