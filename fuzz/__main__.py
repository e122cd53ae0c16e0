"""`python -m fuzz`: run a campaign, one case of it, or write its counts into the documentation."""

from __future__ import annotations

import json
import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from fuzz import campaign, page
from fuzz.calls import program
from fuzz.families import COUNTS, LIMITS, drawn
from fuzz.pool import Pool, Request

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, help=__doc__)
Seed = Annotated[int, typer.Option(help="Another seed, other cases.")]


@app.command()
def run(
    budget: Annotated[float, typer.Option(help="1 is a whole campaign.")] = 0.05,
    seed: Seed = 0,
    family: Annotated[list[str] | None, typer.Option(help="Only these; repeatable.")] = None,
    jobs: Annotated[int, typer.Option(help="Child processes.")] = os.cpu_count() or 1,
    minutes: Annotated[float, typer.Option(help="Stop after; the same command goes on.")] = 1e9,
    out: Annotated[Path, typer.Option(help="Folder for the logs.")] = Path("runs/fuzz"),
) -> None:
    """Run the cases of a budget that are not done yet; exit 1 if a promise was broken."""
    out.mkdir(parents=True, exist_ok=True)
    log = campaign.Log(out / f"{campaign.digest()}-{seed}.jsonl")
    wanted = campaign.wanted(budget, family or list(COUNTS))
    with Pool(jobs) as pool:
        deadline = time.monotonic() + 60.0 * minutes
        campaign.run(log, wanted, seed, pool, deadline, typer.echo)
    found = campaign.counts(log)
    _save(log, found, seed)
    typer.echo(page.table(found))
    if any(part["violations"] for part in found.values()):
        raise typer.Exit(1)


def _save(log: campaign.Log, found: dict[str, object], seed: int) -> None:
    """Write the counts beside the log: of all its parts, also where several commands wrote it."""
    file = log.path.with_suffix(".json")
    record = {
        "digest": campaign.digest(),
        "seed": seed,
        "finished": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "families": found,
    }
    file.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    typer.echo(f"counts  {file}")


@app.command()
def case(family: str, number: int, seed: Seed = 0) -> None:
    """Print one case as a program, and what comes of it."""
    drawn_case = drawn(seed, family, number)
    typer.echo(program(drawn_case))
    with Pool(1) as pool:
        answer = pool.ask(Request((seed, family, number), LIMITS[family]))
    outcome = answer.outcome
    typer.echo(f"# {outcome.status} {outcome.kind} {outcome.place} {outcome.message}")
    raise typer.Exit(int(outcome.is_violation))


@app.command()
def render(
    record: Annotated[Path, typer.Argument(help="The JSON file of a campaign.")],
    document: Annotated[Path, typer.Argument()] = Path("docs/reliability.md"),
) -> None:
    """Write the counts of a campaign into the documentation."""
    page.write(json.loads(record.read_text("utf-8")), document)


if __name__ == "__main__":
    app()
