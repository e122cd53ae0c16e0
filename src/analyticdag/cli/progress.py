"""What a person sees while a fit runs: a bar on a terminal, plain lines in a pipe, or nothing.

The solver reports each stage to the logger "analyticdag"; a handler turns these reports into
either. Nothing else listens, and nothing is left on the logger afterwards.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeft

_STAGE = re.compile(r"stage (\d+) of (\d+)")
_SCORE = re.compile(r"objective=(\S+) h=(\S+)")


class _Handler(logging.Handler):
    """Hands the text of every report on."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())


@contextmanager
def shown(console: Console, *, quiet: bool) -> Iterator[None]:
    """Show the reports of the solver while the block runs."""
    if quiet:
        yield
    elif console.is_terminal:
        with _bar(console) as show, _listening(show):
            yield
    else:
        with _listening(lambda text: line(console, text)):
            yield


def line(console: Console, text: str) -> None:
    """Print one line as it is: names in it are neither markup nor orders to the terminal."""
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return the text without characters that a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


@contextmanager
def _listening(show: Callable[[str], None]) -> Iterator[None]:
    logger, handler = logging.getLogger("analyticdag"), _Handler(show)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def _bar(console: Console) -> Iterator[Callable[[str], None]]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeLeft(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("learning", total=None)

        def show(text: str) -> None:
            stage, score = _STAGE.search(text), _SCORE.search(text)
            if stage is None:
                progress.update(task, description=printable(text[:70]))
                return
            done, total = int(stage[1]), int(stage[2])
            numbers = f", score {score[1]}, h {score[2]}" if score else ""
            progress.update(
                task, completed=done, total=total, description=f"stage {done}/{total}{numbers}"
            )

        yield show
