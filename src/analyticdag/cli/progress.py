"""What a command shows while a fit runs: a bar on a terminal, lines with -v, otherwise nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rich.console import Console

from analyticdag._watch import as_bar, as_lines, in_silence, line, printable

__all__ = ["Talk", "line", "printable", "shown"]


class Talk(Console):
    """Standard error, for everything but results."""

    def __init__(self, *, quiet: bool, verbose: bool = False) -> None:
        super().__init__(stderr=True, quiet=quiet)
        self.verbose = verbose


def shown(talk: Talk) -> AbstractContextManager[None]:
    """Show the reports of the solver while the block runs."""
    if talk.quiet or not (talk.verbose or talk.is_terminal):
        return in_silence()
    return as_lines(talk) if talk.verbose else as_bar(talk)
