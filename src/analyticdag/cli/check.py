"""``analyticdag check``: does a graph from anywhere fit a table?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from analyticdag.cli.options import AsJson, Drop, DropMissing, TableFile
from analyticdag.cli.progress import line

if TYPE_CHECKING:
    import networkx as nx

    from analyticdag.effects import GraphCheck

_SHOWN = 20


def check_command(
    graph: Annotated[Path, typer.Argument(help="A saved run, a GraphML file or an edge list.")],
    data: TableFile,
    level: Annotated[float, typer.Option(help="Chance of any false alarm.")] = 0.05,
    drop: Drop = None,
    drop_missing: DropMissing = False,
    as_json: AsJson = False,
) -> None:
    """Test GRAPH, an expert's or a tool's, against the table DATA."""
    from analyticdag.effects import check_graph
    from analyticdag.errors import DataError
    from analyticdag.io import read_table
    from analyticdag.io.graphs import read_graph

    given = read_graph(graph)
    table = read_table(data, drop=drop or (), missing="drop" if drop_missing else "em")
    if table.has_gaps:
        raise DataError(
            f"{table.source} has missing values, and independences are tested on full rows; leave "
            "rows with gaps out (--drop-missing), or the emptiest columns (--drop)"
        )
    if graph.suffix.lower() == ".csv":  # an edge list cannot name nodes without edges
        given.add_nodes_from(table.names)
    found = check_graph(given, table.columns, level=level)
    out = Console(highlight=False)
    if as_json:
        line(out, json.dumps(_plain(found, given), ensure_ascii=True))
    else:
        line(out, "\n".join(_words(found, given)))


def _plain(found: GraphCheck, given: nx.DiGraph) -> dict[str, Any]:
    return {
        "n_tests": found.n_tests,
        "violated": [test._asdict() for test in found.violated],
        "unsupported": [_link(given, a, b) for a, b in found.unsupported],
        "score": found.score,
        "best_score": found.best_score,
    }


def _link(given: nx.DiGraph, a: Any, b: Any) -> str:
    return f"{a} {'—' if given.has_edge(b, a) else '→'} {b}"


def _words(found: GraphCheck, given: nx.DiGraph) -> list[str]:
    lines = [
        f"{len(found.violated)} of {found.n_tests} pairs that the graph does not join are related "
        "all the same" + (":" if found.violated else ".")
    ]
    for test in found.violated[:_SHOWN]:
        given_text = f" given {', '.join(map(str, test.given))}" if test.given else ""
        lines.append(
            f"  {test.first} and {test.second}{given_text}: partial correlation "
            f"{test.partial_correlation:+.2f}, p = {test.p_value:.2g}"
        )
    lines += _rest(len(found.violated))
    n_edges = given.number_of_edges() - sum(given.has_edge(b, a) for a, b in given.edges) // 2
    lines.append(
        f"{len(found.unsupported)} of {n_edges} links are not needed to explain the data"
        + (":" if found.unsupported else ".")
    )
    lines += [f"  {_link(given, a, b)}" for a, b in found.unsupported[:_SHOWN]]
    lines += _rest(len(found.unsupported))
    behind = found.score - found.best_score
    lines.append(
        f"Score (extended BIC) {found.score:.1f}; the best graph that a search found has "
        f"{found.best_score:.1f}, {abs(behind):.1f} {'better' if behind > 0 else 'worse'}."
    )
    return lines


def _rest(number: int) -> list[str]:
    return [f"  and {number - _SHOWN} more (--json lists all)"] if number > _SHOWN else []
