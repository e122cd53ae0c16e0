"""The commands: run a plan or a part of it, render tables, keep records, write pages.

Tables go to standard output, everything else to standard error. Exit codes: 0 done, 1 the run
failed, 2 the input was bad.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from analyticdag.errors import AnalyticDAGError, InputError, ParameterError
from benchmarks.plan import load_plan, shipped_plans
from benchmarks.records import read_records
from benchmarks.render import render
from benchmarks.run import Progress, Report, run
from benchmarks.select import select
from benchmarks.timing import in_words

__all__ = ["app", "main"]

app = typer.Typer(
    help="Benchmarks: run a plan, render its tables.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command that the arguments name; an error of ours is one line."""
    try:
        app(prog_name="python -m benchmarks")
    except AnalyticDAGError as error:
        _line(Console(stderr=True), f"benchmarks: {error}")
        raise SystemExit(2 if isinstance(error, InputError) else 1) from error


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


@app.command("run")
def _run(
    plan: Annotated[str, typer.Argument(help="Name of a shipped plan, or a TOML file.")],
    out: Annotated[Path, typer.Option(help="Folder for the records.")],
    jobs: Annotated[int, typer.Option(help="Cells to run at the same time.")] = 1,
    backend: Annotated[str, typer.Option(help="local, or dask for a cluster.")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Only these cells: key=value,value; repeatable.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="Only the first so many repeats.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for one cell, start-up included; replaces the plan's."),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed cells again.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress display.")] = False,
) -> None:
    """Run the cells of PLAN that are not recorded in OUT yet."""
    _check_backend(backend, scheduler, jobs)
    chosen = select(load_plan(plan), where or (), repeats=repeats, time_limit=time_limit)
    console = Console(stderr=True)
    with _shown(console, len(chosen.cells), quiet=quiet) as show:
        records = run(chosen, out, n_jobs=jobs, scheduler=scheduler, retry=retry, progress=show)
    failed = sum(record["exit"] != "ok" for record in records)
    before = len(chosen.cells) - len(records)
    _line(
        console,
        f"{len(records)} cells run now ({failed} without a result), {before} were recorded "
        f"before; records in {out}",
    )


def _check_backend(backend: str, scheduler: str | None, jobs: int) -> None:
    if jobs == 0:
        raise ParameterError("jobs must be a number of processes, or -1 for one per core; got 0")
    if backend not in ("local", "dask"):
        raise ParameterError(f"backend must be local or dask, not {backend!r}")
    if (backend == "dask") != (scheduler is not None):
        raise ParameterError(
            "--backend dask and --scheduler ADDRESS go together; 'dask scheduler' starts one and "
            "prints its address"
        )


@contextmanager
def _shown(console: Console, total: int, *, quiet: bool) -> Iterator[Progress]:
    """A bar on a terminal, a line for every cell in a file or pipe, nothing if quiet."""
    if quiet:
        yield lambda report: None
    elif not console.is_terminal:
        yield lambda report: _line(console, f"{report.done}/{report.total} {_words(report)}")
    else:
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
        )
        with Bar(*columns, console=console) as display:
            bar = display.add_task("starting", total=total)
            yield lambda report: display.update(
                bar, completed=report.done, description=_words(report)
            )


def _words(report: Report) -> str:
    record = report.record
    cell = " ".join(map(str, [record["method"], *record["setting"].values()]))
    seconds = record["wall_seconds"]
    took = "" if seconds is None else f" in {seconds:.1f} s"
    return f"{cell}: {record['exit']}{took}, about {in_words(report.seconds_left)} left"


@app.command("render")
def _render(
    folder: Annotated[Path, typer.Argument(help="Folder with the records of a run.")],
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; repeatable.")] = None,
) -> None:
    """Print the tables of a run as markdown."""
    text = render(read_records(folder), metric or ())
    Console().print(text, markup=False, highlight=False, soft_wrap=True, end="")


@app.command("pack")
def _pack(
    folder: Annotated[Path, typer.Argument(help="Folder with the records of a run.")],
    into: Annotated[Path, typer.Argument(help="Folder for one PLAN.jsonl.gz per plan.")],
) -> None:
    """Add the records of a run to compressed ones that are kept."""
    from benchmarks.report import pack

    for plan, count in pack(folder, into).items():
        _line(Console(), f"{plan}: {count} records")


@app.command("report")
def _report(
    pages: Annotated[Path, typer.Argument(help="Folder of pages.")] = Path("docs/benchmarks"),
    figures: Annotated[bool, typer.Option(help="Draw the figures too (matplotlib).")] = True,
) -> None:
    """Fill the tables and figures of PAGES again, from the records in PAGES/records."""
    from benchmarks.figures import draw_all
    from benchmarks.findings_figure import draw_findings
    from benchmarks.report import rebuild

    console = Console()
    written = [*rebuild(pages), *((*draw_all(pages), *draw_findings(pages)) if figures else ())]
    for path in written:
        _line(console, str(path))
    _line(console, f"{len(written)} files changed or drawn")


@app.command("plans")
def _plans() -> None:
    """List the plans that come with the package."""
    for name in shipped_plans():
        plan = load_plan(name)
        _line(Console(), f"{name:26} {plan.title} ({len(plan.cells)} cells)")
