"""The table of a command: read with one look at all of it, and everything decided is said."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from analyticdag.cli.progress import line
from analyticdag.errors import ParameterError
from analyticdag.io import Table, read_table
from analyticdag.io.large import is_large, read_large
from analyticdag.tables.codes import Codes
from analyticdag.tables.decisions import grouped
from analyticdag.tables.look import Look, gap_words

# A longer command, four lines of a terminal, would hide the answer below it.
_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Asked:
    """What the options of a command say about its table; gaps are for EM unless they say more.

    `kept` says that a report will hold the command that makes every decision explicit.
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    missing: str | None = None
    interventions: str | None = None
    groups: str | None = None
    log: Sequence[str] | None = None
    na: Sequence[str] | None = None
    talk: Console = field(default_factory=lambda: Console(stderr=True))
    kept: bool = False

    @property
    def rule(self) -> str:
        """What is done about gaps."""
        return self.missing or "em"

    def read(self, file: str, *, in_batches: bool = False) -> Table:
        """Read the table, say what was found and decided, and refuse what cannot be used.

        A large file is added up instead, if that is enough for the command.
        """
        how: dict[str, Any] = {
            "columns": self.columns or None,
            "drop": tuple(self.drop or ()),
            "kinds": self._kinds(),
            "missing": self.rule,
            "na": Codes.read(self.na or (), guess=True),
            "looked": self._tell,
        }
        of_rows: dict[str, Any] = {"interventions": self.interventions, "groups": self.groups}
        if in_batches and not any(of_rows.values()) and is_large(file):
            table = read_large(file, **how)
        else:
            table = read_table(file, stdin=sys.stdin.buffer, **how, **of_rows)
        for note in table.notes:
            line(self.talk, f"note: {note}")
        table.refuse_too_small()
        table.check_range()
        return table

    def _kinds(self) -> dict[str, str]:
        """Return what columns are said to be; a logarithm of a column is a kind."""
        kinds = dict(map(_kind, self.kinds or ()))
        twice = [name for name in self.log or () if kinds.get(name, "log") != "log"]
        if twice:
            raise ParameterError(
                f"--log {twice[0]} and --kind {twice[0]}={kinds[twice[0]]} contradict each other; "
                "give one"
            )
        return kinds | dict.fromkeys(self.log or (), "log")

    def _tell(self, look: Look) -> None:
        if not look.decisions and not look.gaps:
            return
        taken = len(look.recipe.names)
        line(
            self.talk,
            f"note: the table has {look.n_rows} rows and {len(look.columns)} columns; {taken} are "
            "taken as variables",
        )
        # What is undecided is said by the refusal that follows.
        for what, done in grouped([one for one in look.decisions if not one.undecided]):
            line(self.talk, f"note: {what}: {done}")
        if look.gaps and self.rule != "error":
            line(self.talk, f"note: {gap_line(look, self.rule)}")
        if any(one.undecided and not one.option for one in look.decisions):
            return  # a row is to be deleted, which no option does
        command = explicit_command(look, self.rule)
        settled = not any(decision.undecided for decision in look.decisions)
        if self.kept and settled and len(command) > _MOST_CHARACTERS:
            line(self.talk, "note: the command that says all of this itself stands in the report")
        else:
            line(self.talk, f"note: to say all of this yourself: {command}")


def _kind(text: str) -> tuple[str, str]:
    name, sign, kind = text.rpartition("=")
    if not sign or not name or not kind:
        raise ParameterError(f"--kind must be NAME=KIND, such as income=number, not {text!r}")
    return name, kind


def gap_line(look: Look, rule: str) -> str:
    """Say what is done about gaps."""
    words = gap_words(look.gaps, look.n_rows)
    if rule == "drop":
        return f"{words}: rows with gaps are left out, as asked"
    return (
        f"{words}: maximum likelihood from the rows as they are (--missing em); --missing drop "
        "leaves rows with gaps out"
    )


def explicit_command(look: Look, rule: str) -> str:
    """Return the command with every decision written out, ready to paste."""
    given = sys.argv[1:]
    words, said = list(look.options), set(itertools.pairwise(given))
    pairs = [pair for pair in zip(words[::2], words[1::2], strict=True) if pair not in said]
    if look.gaps and "--missing" not in given:
        pairs.append(("--missing", rule))
    return shlex.join(["analyticdag", *given, *(word for pair in pairs for word in pair)])


def table_record(table: Table, rule: str) -> dict[str, Any]:
    """Return what the manifest says about the table."""
    look = table.look
    assert look is not None
    return {
        "columns": {column.name: column.kind for column in look.columns},
        "decisions": [list(pair) for pair in grouped(look.decisions)],
        "gaps": dict(look.gaps),
        "missing": gap_line(look, rule) if look.gaps else "no gaps",
        "explicit": explicit_command(look, rule),
    }
