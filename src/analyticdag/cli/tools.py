"""``analyticdag simulate``, ``compare`` and ``report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from analyticdag.cli.progress import line

if TYPE_CHECKING:
    import networkx as nx


def simulate_command(
    graph: Annotated[str, typer.Argument(help="Family and edges per node: ER2, SF4, …")] = "ER2",
    out: Annotated[Path, typer.Option(help="Folder for data.csv and truth.graphml.")] = Path(
        "simulation"
    ),
    nodes: Annotated[int, typer.Option(help="How many variables.")] = 20,
    samples: Annotated[int, typer.Option(help="How many rows.")] = 1000,
    noise: Annotated[
        str, typer.Option(help="gaussian, exponential, gumbel, uniform.")
    ] = "gaussian",
    mechanism: Annotated[str, typer.Option(help="linear, mlp, gp or additive.")] = "linear",
    standardize: Annotated[bool, typer.Option("--standardize", help="Hide the scales.")] = False,
    seed: Annotated[int, typer.Option(help="Another seed, another draw.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Draw a random graph and data from it."""
    from analyticdag.errors import ParameterError
    from analyticdag.io import graphml, run_of_weights, write_table, write_text
    from analyticdag.simulate import simulate

    data, truth = out / "data.csv", out / "truth.graphml"
    if data.exists() or truth.exists():
        raise ParameterError(f"{str(out)!r} already holds a simulation; name another folder")
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
    out.mkdir(parents=True, exist_ok=True)
    write_table(data, drawn.data, names)
    write_text(truth, graphml(run_of_weights(drawn.weights, names)))
    line(Console(quiet=quiet), f"data    {data}\ntruth   {truth}")


def compare_command(
    true: Annotated[Path, typer.Argument(help="A saved run, a GraphML file or an edge list.")],
    estimated: Annotated[Path, typer.Argument(help="The same kinds.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Count how far ESTIMATED is from TRUE."""
    from analyticdag.metrics import compare

    left, right = read_graph(true), read_graph(estimated)
    for graph, other, path in ((left, right, true), (right, left, estimated)):
        # An edge list cannot name nodes without edges; the other graph does.
        if path.suffix.lower() == ".csv":
            graph.add_nodes_from(other)
    measures = compare(left, right).as_dict()
    if as_json:
        line(Console(), json.dumps(measures))
        return
    line(Console(), f"{estimated} against {true}")
    table = Table(show_header=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    for name, value in measures.items():
        table.add_row(name, "–" if value is None else f"{value:.4g}")
    Console(highlight=False).print(table)


def read_graph(path: Path) -> nx.DiGraph:
    """Read a graph by names from whatever holds one."""
    from analyticdag.errors import DataError
    from analyticdag.io import load_run, to_networkx

    if path.is_dir():
        return to_networkx(load_run(path))
    if not path.exists():
        raise DataError(f"there is no file or folder {str(path)!r}; check the path")
    if path.suffix.lower() == ".graphml":
        return _read_graphml(path)
    if path.suffix.lower() == ".csv":
        return _read_edges(path)
    raise DataError(
        f"{path.name} is no graph that can be read; pass the folder of a saved run, a .graphml "
        "file, or a .csv file with the columns source and target"
    )


def _read_graphml(path: Path) -> nx.DiGraph:
    import networkx as nx

    from analyticdag.errors import DataError

    try:
        graph: Any = nx.read_graphml(path)
    except Exception as error:  # the parser raises whatever it meets
        raise DataError(f"{path.name} is not GraphML ({error}); export it again") from error
    return nx.DiGraph(graph)


def _read_edges(path: Path) -> nx.DiGraph:
    import csv

    import networkx as nx

    from analyticdag.errors import DataError

    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not {"source", "target"} <= set(reader.fieldnames or ()):
            raise DataError(f"{path.name} needs the columns source and target in its first row")
        return nx.DiGraph((row["source"], row["target"]) for row in reader)


def report_command(
    run: Annotated[Path, typer.Argument(help="Folder of a saved run.")],
    out: Annotated[Path | None, typer.Option(help="HTML file; default RUN/report.html.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Write the report of a saved run again, without fitting."""
    from analyticdag.io import load_run
    from analyticdag.report import write_report

    page = write_report(load_run(run), out or run / "report.html")
    line(Console(quiet=quiet), f"report  {page}")
