"""The command line: the only file that prints.

    analyticdag constraints          the constraints there are, and when to use which
    analyticdag demo                 learn a protein network from real cells
    analyticdag bench run PLAN       run a benchmark plan, or what is left of it
    analyticdag bench render DIR     the tables of a run, from its records

Exit codes: 0 done, 1 the run failed, 2 the input was bad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from analyticdag import __version__
from analyticdag._typing import FloatArray
from analyticdag.errors import AnalyticDAGError, InputError

__all__ = ["app", "bench", "main"]

app = typer.Typer(
    name="analyticdag",
    help="Learn causal graphs from data with analytic acyclicity constraints.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
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
    try:
        app()
    except InputError as error:
        _stop(error, code=2)
    except AnalyticDAGError as error:
        _stop(error, code=1)


def _stop(error: Exception, code: int) -> NoReturn:
    Console(stderr=True).print(f"analyticdag: {error}", style="red", markup=False, soft_wrap=True)
    raise SystemExit(code)


def _show_version(wanted: bool) -> None:
    if wanted:
        Console().print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
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


@app.command("demo")
def _demo(
    out: Annotated[Path, typer.Option(help="Folder for the learned graph.")] = Path("runs/demo"),
) -> None:
    """Learn the Sachs protein network from 853 real cells and compare it with the consensus."""
    import numpy as np

    from analyticdag import AnalyticDAG
    from analyticdag.datasets import load_sachs
    from analyticdag.graphs import from_networkx
    from analyticdag.io import free_folder, record_of, save_run
    from analyticdag.metrics import compare

    sachs, console = load_sachs(), Console(highlight=False)
    console.print(f"Sachs: {len(sachs.values)} human cells, {len(sachs.names)} proteins each.")
    with console.status("learning ..."):
        # Fluorescence is read on a log scale; unequal variances assume nothing about units.
        model = AnalyticDAG(loss="likelihood-nv", standardize=True).fit(np.log(sachs.values))
    truth, _ = from_networkx(sachs.graph, sachs.names)
    found = compare(truth, model.weights_)
    console.print(_edge_table(model.weights_, sachs.names, truth))
    console.print(
        f"SHD {found.shd} to the consensus network of {found.n_true} edges:\n"
        f"  {found.correct} correct, {found.reversed} reversed, {found.extra} extra, "
        f"{found.missing} missing; a graph without edges has SHD {found.n_true}.\n"
        f"The run {model.status_.name.lower().replace('_', ' ')} after {model.n_iter_} steps."
    )
    run = replace(record_of(model), names=sachs.names)
    console.print(f"Saved as CSV, GraphML, DOT and JSON in {save_run(run, free_folder(out))}\n")
    console.print(
        "What to try next:\n"
        "  AnalyticDAG(constraint='order-3').fit(your_table).graph_   in Python\n"
        "  analyticdag constraints                                    which there are\n"
        "  docs/how-to-choose.md                                      when to use which"
    )


def _edge_table(W: FloatArray, names: Sequence[str], truth: FloatArray) -> Table:
    table = Table(title="The learned graph", title_justify="left")
    for column in ("edge", "weight", "in the consensus network"):
        table.add_column(column, justify="right" if column == "weight" else "left")
    for i, j in _strongest_first(W):
        verdict = "yes" if truth[i, j] else "reversed" if truth[j, i] else "no"
        table.add_row(f"{names[i]} → {names[j]}", f"{W[i, j]:+.2f}", verdict)
    return table


def _strongest_first(W: FloatArray) -> list[tuple[int, int]]:
    from analyticdag.graphs import edge_list

    return sorted(edge_list(W), key=lambda edge: -abs(W[edge]))


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
