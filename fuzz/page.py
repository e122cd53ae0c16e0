"""The counts of a campaign as a table, and their block in docs/reliability.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEGIN, END = "<!-- counts: begin -->", "<!-- counts: end -->"
_WORDS = {
    "tables": "tables, covariances and resamples",
    "files": "files and command lines",
    "tamper": "changed saved runs and checkpoints",
    "kills": "commands killed and repeated",
}


def table(families: dict[str, Any]) -> str:
    """Return the counts as a table in Markdown."""
    rows = ["| what | cases | violations | hangs | raw errors |", "|---|---:|---:|---:|---:|"]
    for family, part in families.items():
        numbers = (part["cases"], part["violations"], part["hangs"], part["raw_exceptions"])
        rows.append(f"| {_WORDS[family]} | " + " | ".join(f"{n:,}" for n in numbers) + " |")
    return "\n".join(rows)


def block(record: dict[str, Any]) -> str:
    """Return what the page says of a campaign."""
    outcomes = ["| what | came to | cases |", "|---|---|---:|"]
    for family, part in record["families"].items():
        outcomes += [
            f"| {_WORDS[family]} | {outcome} | {count:,} |"
            for outcome, count in part["outcomes"].items()
        ]
    minutes = sum(part["seconds"] for part in record["families"].values()) / 60.0
    return "\n\n".join(
        [
            BEGIN,
            f"Seed {record['seed']}, state `{record['digest']}` of the code, Python "
            f"{record['python']}, {record['finished']}; the cases took {minutes:.0f} minutes, one "
            "after the other:",
            table(record["families"]),
            "How the cases ended:",
            "\n".join(outcomes),
            END,
        ]
    )


def write(record: dict[str, Any], document: Path) -> None:
    """Replace the block of a page."""
    text = document.read_text("utf-8")
    before, rest = text.split(BEGIN)
    document.write_text(before + block(record) + rest.split(END)[1], "utf-8")
