"""The command line: the only part that prints.

    analyticdag fit data.csv         learn a graph, save it, write a report
    analyticdag report RUN           write the report of a saved run again
    analyticdag stability data.csv   which edges come back on resampled rows
    analyticdag simulate ER2         data with a known graph
    analyticdag compare A B          how far one graph is from another
    analyticdag constraints          the constraints there are, and when to use which
    analyticdag demo                 learn a protein network from real cells
    analyticdag bench run PLAN       run a benchmark plan, or what is left of it
    analyticdag bench render DIR     the tables of a run, from its records

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the run
failed, 2 the input was bad. A traceback is shown only with --debug.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from analyticdag import __version__
from analyticdag.cli.demo import demo_command
from analyticdag.cli.fit import fit_command
from analyticdag.cli.progress import printable
from analyticdag.cli.stability import stability_command
from analyticdag.cli.tools import compare_command, report_command, simulate_command
from analyticdag.errors import AnalyticDAGError, InputError

__all__ = ["app", "bench", "main"]

app = typer.Typer(
    name="analyticdag",
    help="Learn causal graphs from data with analytic acyclicity constraints.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("fit")(fit_command)
app.command("report")(report_command)
app.command("stability")(stability_command)
app.command("simulate")(simulate_command)
app.command("compare")(compare_command)
app.command("demo")(demo_command)
bench = typer.Typer(help="Benchmarks: run a plan, render its tables.", no_args_is_help=True)
app.add_typer(bench, name="bench")

_ADVICE = {
    "exponential": ("exp(x)", "converges for every matrix; its gradient fades on long cycles"),
    "order-1": ("-log(1 - x)", "DAGMA's log-determinant; the cheapest, a good first choice"),
    "order-2": ("(1 - x)^-1", "stronger gradient on long cycles; a good default"),
    "order-3": ("(1 - x)^-2", "large or dense graphs of known scale"),
    "order-4": ("(1 - x)^-3", "as order-3, stronger still; more non-convex"),
    "order-N": ("(1 - x)^-(N-1)", "any N: gradients and non-convexity both grow with N"),
}


def main() -> None:
    """Entry point of the ``analyticdag`` command."""
    debug = "--debug" in sys.argv[1:]
    try:
        app([argument for argument in sys.argv[1:] if argument != "--debug"])
    except Exception as error:
        if debug:
            raise
        _stop(error)


def _stop(error: Exception) -> NoReturn:
    """Say in one line what went wrong, and leave with the exit code of its kind."""
    text = " ".join(str(error).split())
    if not isinstance(error, AnalyticDAGError):
        text = f"unexpected {type(error).__name__}: {text}; --debug shows where it came from"
    Console(stderr=True).print(
        f"analyticdag: {printable(text)}",
        style="red",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    raise SystemExit(2 if isinstance(error, InputError) else 1)


def _show_version(wanted: bool) -> None:
    if wanted:
        Console().print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (with any command).")
    ] = False,
) -> None:
    """Learn causal graphs from data with analytic acyclicity constraints."""


@app.command("constraints")
def _constraints() -> None:
    """List the constraints: formula, radius, when to use."""
    from analyticdag.functions import named

    table = Table(title="h(W) = tr f(W∘W / s) - c0·d, for the f below", title_justify="left")
    for column in ("name", "f(x)", "radius", "when to use"):
        table.add_column(column)
    for name, (formula, advice) in _ADVICE.items():
        radius = named(name.replace("N", "2")).radius
        table.add_row(name, formula, "∞" if radius == float("inf") else "s", advice)
    console = Console()
    console.print(table)
    console.print("Build more in Python: Inverse(1.0) ** 2 + Exponential(), f.derivative(2), …")


@bench.command("run")
def _bench_run(
    plan: Annotated[str, typer.Argument(help="Name of a shipped plan, or a TOML file.")],
    out: Annotated[Path, typer.Option(help="Folder for the records.")],
    jobs: Annotated[int, typer.Option(help="Cells to run at the same time.")] = 1,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed cells again.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress display.")] = False,
) -> None:
    """Run the cells of PLAN that are not recorded in OUT yet."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    from analyticdag.bench.plan import load_plan
    from analyticdag.bench.records import Record
    from analyticdag.bench.run import run

    loaded = load_plan(plan)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    with Progress(*columns, console=console, disable=quiet) as display:
        bar = display.add_task(loaded.name, total=len(loaded.cells))

        def show(record: Record, done: int, total: int) -> None:
            name = f"{record['method']} {' '.join(map(str, record['setting'].values()))}"
            display.update(bar, completed=done, total=total, description=name)

        records = run(loaded, out, n_jobs=jobs, retry=retry, progress=show)
    failed = sum(record["exit"] != "ok" for record in records)
    recorded = len(loaded.cells) - len(records)
    console.print(
        f"{len(records)} cells run now ({failed} without a result), {recorded} were recorded "
        f"before; records in {out}",
        soft_wrap=True,
        highlight=False,
    )


@bench.command("render")
def _bench_render(
    folder: Annotated[Path, typer.Argument(help="Folder with the records of a run.")],
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; repeatable.")] = None,
) -> None:
    """Print the tables of a run as markdown."""
    from analyticdag.bench.records import read_records
    from analyticdag.bench.render import render

    text = render(read_records(folder), metric or ())
    Console().print(text, markup=False, highlight=False, soft_wrap=True, end="")


@bench.command("plans")
def _bench_plans() -> None:
    """List the plans that come with the package."""
    from analyticdag.bench.plan import load_plan, shipped_plans

    for name in shipped_plans():
        plan = load_plan(name)
        Console().print(f"{name:20} {plan.title} ({len(plan.cells)} cells)", highlight=False)


if __name__ == "__main__":
    main()
