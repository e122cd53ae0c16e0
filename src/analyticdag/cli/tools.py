"""``analyticdag simulate``, ``compare`` and ``report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from analyticdag.cli.options import Force
from analyticdag.cli.progress import line, printable

_COLOURS = {"missing": "red", "extra": "yellow", "reversed": "magenta", "unoriented": "cyan"}


def simulate_command(
    graph: Annotated[
        str, typer.Argument(help="Family and edges per node: ER2, SF4, UD1.5, …")
    ] = "ER2",
    out: Annotated[Path, typer.Option(help="Folder for data.csv and truth.graphml.")] = Path(
        "simulation"
    ),
    nodes: Annotated[int, typer.Option(help="How many variables.")] = 20,
    samples: Annotated[int, typer.Option(help="How many rows.")] = 1000,
    noise: Annotated[
        str, typer.Option(help="gaussian, exponential, gumbel, uniform, student.")
    ] = "gaussian",
    mechanism: Annotated[str, typer.Option(help="linear, bent, mlp, gp or additive.")] = "linear",
    standardize: Annotated[bool, typer.Option("--standardize", help="Hide the scales.")] = False,
    seed: Annotated[int, typer.Option(help="Another seed, another draw.")] = 0,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Draw a random graph and data from it."""
    from analyticdag.io import graphml, run_of_weights, write_table, write_text
    from analyticdag.io.folder import made
    from analyticdag.io.outputs import reserved
    from analyticdag.simulate import simulate

    data, truth = out / "data.csv", out / "truth.graphml"
    with made(out), reserved(data, truth, inputs=(), force=force):
        drawn = simulate(
            graph,
            n_nodes=nodes,
            n_samples=samples,
            noise=noise,  # type: ignore[arg-type]
            mechanism=mechanism,  # type: ignore[arg-type]
            standardize=standardize,
            seed=seed,
        )
        names = [f"x{k}" for k in range(nodes)]
        write_table(data, drawn.data, names, overwrite=force)
        write_text(truth, graphml(run_of_weights(drawn.weights, names)), overwrite=force)
    line(Console(quiet=quiet), f"data    {data}\ntruth   {truth}")


def compare_command(
    true: Annotated[Path, typer.Argument(help="A saved run, a GraphML file or an edge list.")],
    estimated: Annotated[Path, typer.Argument(help="The same kinds.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Count how far ESTIMATED is from TRUE, and list the links that differ."""
    from analyticdag.io.graphs import read_graph
    from analyticdag.metrics import compare, differences

    left, right = read_graph(true), read_graph(estimated)
    for graph, other, path in ((left, right, true), (right, left, estimated)):
        # An edge list cannot name nodes without edges; the other graph does.
        if path.suffix.lower() == ".csv":
            graph.add_nodes_from(other)
    measures = compare(left, right).as_dict()
    differing = differences(left, right)
    if as_json:
        listed = [{"kind": d.kind, "true": d.true, "estimated": d.estimated} for d in differing]
        line(Console(), json.dumps({**measures, "differences": listed}))
        return
    line(Console(), f"{estimated} against {true}")
    table = Table(show_header=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    for name, value in measures.items():
        table.add_row(name, "–" if value is None else f"{value:.4g}")
    Console(highlight=False).print(table)
    for one in differing:
        words = one.estimated if one.kind == "extra" else one.true
        instead = f", here {one.estimated}" if one.kind in ("reversed", "unoriented") else ""
        text = printable(f"  {one.kind:<10}  {words}{instead}")
        Console().print(text, style=_COLOURS[one.kind], markup=False, highlight=False)


def report_command(
    run: Annotated[Path, typer.Argument(help="Folder of a saved run.")],
    out: Annotated[
        Path | None, typer.Option(help="HTML file.", show_default="RUN/report.html")
    ] = None,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Write the report of a saved run again, without fitting."""
    from analyticdag.io import load_run, write_text
    from analyticdag.io.folder import FILES
    from analyticdag.io.outputs import reserved
    from analyticdag.report import render_report

    page = out or run / "report.html"
    with reserved(page, inputs=[run / name for name in FILES], force=force):
        write_text(page, render_report(load_run(run)), overwrite=force)
    line(Console(quiet=quiet), f"report  {page}")
