"""``analyticdag simulate``, ``compare``, ``check`` and ``report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid

from analyticdag.cli import options
from analyticdag.cli.progress import line, printable

_COLOURS = {"missing": "red", "extra": "yellow", "reversed": "magenta", "unoriented": "cyan"}
if TYPE_CHECKING:
    import networkx as nx

    from analyticdag.effects import GraphCheck
    from analyticdag.io import Table
    from analyticdag.metrics import Difference
_LISTED = 20


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
        str,
        typer.Option(
            help="gaussian, exponential, gumbel, uniform, laplace, student, mixed or binary."
        ),
    ] = "gaussian",
    mechanism: Annotated[str, typer.Option(help="linear, bent, mlp, gp or additive.")] = "linear",
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Hide the scales.", show_default="off")
    ] = False,
    seed: Annotated[int, typer.Option(help="Another seed, another draw.")] = 0,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a random graph and data from it."""
    from analyticdag.io import graphml, run_of_weights, write_table, write_text
    from analyticdag.io.folder import made
    from analyticdag.io.outputs import GRAPH_MARK, TABLE_MARK, reserved
    from analyticdag.simulate import simulate

    data, truth = out / "data.csv", out / "truth.graphml"
    marks = [TABLE_MARK, GRAPH_MARK]
    with made(out), reserved(data, truth, inputs=(), force=force, marks=marks):
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
    as_json: options.AsJson = False,
) -> None:
    """Count how far ESTIMATED is from TRUE, and list the links that differ.

    shd: pairs whose link is missing, extra or turned. shd_cpdag: the same where directions that no
    data can tell do not count. tpr: share of the true arrows that were found. fdr: share of the
    arrows found that are wrong.
    """
    from analyticdag.io.convert import read_graph
    from analyticdag.metrics import compare, differences

    left, right = read_graph(true), read_graph(estimated)
    _name_isolated(left, right, [_is_list(path) for path in (true, estimated)])
    measures = compare(left, right).as_dict()
    differing = differences(left, right)
    if as_json:
        listed = [{"kind": d.kind, "true": d.true, "estimated": d.estimated} for d in differing]
        line(Console(), json.dumps({**measures, "differences": listed}))
        return
    line(Console(), f"{estimated} against {true}")
    _tell_differences(differing)
    table = Grid(show_header=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    for name, value in measures.items():
        table.add_row(name, "–" if value is None else f"{value:.4g}")
    Console(highlight=False).print(table)


def _tell_differences(differing: list[Difference]) -> None:
    """List the links that differ, which is what to look at; the measures stand below."""
    if not differing:
        line(Console(), "no link differs")
    for one in differing:
        words = one.estimated if one.kind == "extra" else one.true
        instead = f", here {one.estimated}" if one.kind in ("reversed", "unoriented") else ""
        text = printable(f"  {one.kind:<10}  {words}{instead}")
        Console().print(text, style=_COLOURS[one.kind], markup=False, highlight=False)


def _is_list(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _name_isolated(left: nx.DiGraph, right: nx.DiGraph, lists: list[bool]) -> None:
    """Add to edge lists, which cannot name nodes without edges, those of the other graph.

    Where the other names all of its nodes and lacks some, the two are graphs of different things.
    """
    of_left, of_right = set(left), set(right)
    for graph, others, is_list, is_open in (
        (left, of_right, lists[0], lists[1]),
        (right, of_left, lists[1], lists[0]),
    ):
        fits = set(graph) & others if is_open else set(graph) <= others
        if is_list and (fits or not graph):
            graph.add_nodes_from(others)


def report_command(
    run: Annotated[Path, typer.Argument(help="Folder of a saved run.")],
    out: Annotated[
        Path | None, typer.Option(help="HTML file.", show_default="RUN/report.html")
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the report of a saved run again, without fitting."""
    from analyticdag.io import load_run, write_text
    from analyticdag.io.folder import FILES
    from analyticdag.io.outputs import PAGE_MARK, reserved
    from analyticdag.report import render_report

    page = out or run / "report.html"
    with reserved(page, inputs=[run / name for name in FILES], force=force, marks=[PAGE_MARK]):
        write_text(page, render_report(load_run(run)), overwrite=force)
    line(Console(quiet=quiet), f"report  {page}")


def check_command(
    graph: Annotated[Path, typer.Argument(help="A saved run, a GraphML file or an edge list.")],
    data: options.TableFile,
    level: Annotated[float, typer.Option(help="Chance of any false alarm.")] = 0.05,
    drop: options.Drop = None,
    na: options.Na = None,
    missing: options.MissingInCheck = "em",
    as_json: options.AsJson = False,
) -> None:
    """Test GRAPH, an expert's or a tool's, against the table DATA.

    For a saved run the table is read as its fit read it.
    """
    from analyticdag._files import is_folder
    from analyticdag.effects import check_graph
    from analyticdag.errors import InputError
    from analyticdag.graphs.convert import node_mismatch
    from analyticdag.io import load_run, read_table
    from analyticdag.io.convert import read_graph, to_networkx
    from analyticdag.tables.codes import Codes
    from analyticdag.tables.decisions import STRAYS_ARE_GAPS

    run = load_run(graph) if is_folder(graph) else None
    given = read_graph(graph) if run is None else to_networkx(run)
    how: dict[str, Any] = {"drop": drop or (), "na": Codes.read(na or ())}
    if run is not None and run.look is not None:  # as the fit read its table
        how |= run.look.as_read(how["drop"], how["na"])
    table = read_table(data, missing=missing, **how)
    for one in table.look.decisions if table.look else ():
        if one.done == STRAYS_ARE_GAPS:  # such as a level that the run has not seen
            line(Console(stderr=True), f"note: {one}")
    if _is_list(graph):  # it cannot name nodes without edges
        given.add_nodes_from(table.names)
    if set(given) != set(table.names):
        raise InputError(node_mismatch(list(given), table.names, "the graph", "the table"))
    for told in _about_rows(table, missing):
        line(Console(stderr=True), f"note: {told}")
    found = check_graph(given, table.columns, level=level, missing="em")
    out = Console(highlight=False)
    if as_json:
        line(out, json.dumps(_check_record(found, given), ensure_ascii=True))
    else:
        line(out, "\n".join(_check_words(found, given)))


def _about_rows(table: Table, rule: str) -> list[str]:
    """Say what may be codes, and what was made of gaps."""
    from analyticdag.cli.table import gap_line

    look = table.look
    if look is None:
        return []
    gaps = [gap_line(look, rule)] if look.gaps else []
    if table.rows_dropped:
        gaps.append(
            f"only {table.n_rows} of {look.n_rows} rows are complete, and fewer rows need fewer "
            "links"
        )
    return [*look.cautions, *gaps]


def _check_record(found: GraphCheck, given: nx.DiGraph) -> dict[str, Any]:
    return {
        "n_tests": found.n_tests,
        "violated": [test._asdict() for test in found.violated],
        "unsupported": [_link(given, a, b) for a, b in found.unsupported],
        "score": found.score,
        "best_score": found.best_score,
    }


def _link(given: nx.DiGraph, a: Any, b: Any) -> str:
    return f"{a} {'—' if given.has_edge(b, a) else '→'} {b}"


def _check_words(found: GraphCheck, given: nx.DiGraph) -> list[str]:
    lines = [
        f"{len(found.violated)} of {found.n_tests} pairs that the graph does not join are related "
        "all the same" + (":" if found.violated else ".")
    ]
    for test in found.violated[:_LISTED]:
        given_text = f" given {', '.join(map(str, test.given))}" if test.given else ""
        lines.append(
            f"  {test.first} and {test.second}{given_text}: partial correlation "
            f"{test.partial_correlation:+.2f}, p = {test.p_value:.2g}"
        )
    lines += _left_out(len(found.violated))
    n_edges = given.number_of_edges() - sum(given.has_edge(b, a) for a, b in given.edges) // 2
    n = len(found.unsupported)
    lines.append(
        f"{n} of {n_edges} links {'is' if n == 1 else 'are'} not needed to explain the data"
        + (":" if n else ".")
    )
    lines += [f"  {_link(given, a, b)}" for a, b in found.unsupported[:_LISTED]]
    lines += _left_out(len(found.unsupported))
    behind = found.score - found.best_score
    lines.append(
        f"Score (extended BIC) {found.score:.1f}; the best graph that a search found has "
        f"{found.best_score:.1f}, {abs(behind):.1f} {'better' if behind > 0 else 'worse'}."
    )
    return lines


def _left_out(number: int) -> list[str]:
    return [f"  and {number - _LISTED} more (--json lists all)"] if number > _LISTED else []
