"""A run as the text of other tools' files: GraphML, DOT, DAGitty, CSV.

Every format has its own way of being broken by a name: quotes end a string, control characters
end a C string or an XML document, a leading equals sign makes a spreadsheet compute. Each writer
escapes for its own reader; nothing is dropped from a name except what the format cannot hold,
which becomes U+FFFD.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable

import networkx as nx

from analyticdag.io.run import EdgeRecord, SavedRun

# What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def graphml(run: SavedRun) -> str:
    """Return GraphML with the names as identifiers and as labels."""
    graph = nx.DiGraph()
    names = _distinct([_NOT_XML.sub("\ufffd", name) for name in run.names])
    graph.add_nodes_from((name, {"label": name}) for name in names)
    for edge in run.edges:
        attributes = {"weight": edge.weight, "fixed_by": edge.fixed_by}
        if edge.stability is not None:
            attributes["stability"] = edge.stability
        graph.add_edge(names[edge.source], names[edge.target], **attributes)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def dot(run: SavedRun) -> str:
    """Return the graph for Graphviz; edges that the equivalence class leaves open are dashed."""

    def line(edge: EdgeRecord) -> str:
        style = "" if edge.kind == "data" else ", style=dashed"
        return f'[label="{edge.weight:.3g}", weight=1{style}]'

    names = _distinct([_line_ends(name, "\n") for name in run.names])
    nodes = [f"  {_quoted(name)} [label={_label(name)}];" for name in names]
    return _braces("digraph analyticdag", nodes, run, names, line, end=";")


def dagitty(run: SavedRun) -> str:
    """Return the graph as dagitty.net and its R package read it."""
    names = _distinct([_line_ends(name, " ") for name in run.names])
    nodes = [f"  {_quoted(name)}" for name in names]
    return _braces("dag", nodes, run, names, lambda edge: f'[beta="{edge.weight:.6g}"]')


def _braces(
    head: str,
    nodes: list[str],
    run: SavedRun,
    names: list[str],
    attributes: Callable[[EdgeRecord], str],
    *,
    end: str = "",
) -> str:
    lines = [head + " {", *nodes]
    for edge in run.edges:
        tail, arrow_head = _quoted(names[edge.source]), _quoted(names[edge.target])
        lines.append(f"  {tail} -> {arrow_head} {attributes(edge)}{end}")
    return "\n".join([*lines, "}"]) + "\n"


def _line_ends(name: str, line_break: str) -> str:
    """Return a name as the format can hold it; others may become the same."""
    return line_break.join(re.split(r"\r\n|\r|\n", name.replace("\0", "\ufffd")))


def _quoted(name: str) -> str:
    # A lone backslash before the closing quote would swallow it: all of them are doubled.
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _label(name: str) -> str:
    return _quoted(name).replace("\n", "\\n")


def edges_csv(run: SavedRun) -> str:
    """Return the table of edges; a name that a spreadsheet would compute gets an apostrophe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        [
            *("source", "target", "weight", "standard_error", "standardized_weight"),
            *("direction_fixed_by", "near_threshold", "stability"),
        ]
    )
    for edge in run.edges:
        source, target = map(_no_formula, run.edge_names(edge))
        numbers = map(_number, (edge.weight, edge.standard_error, edge.standardized))
        near = "" if edge.near_threshold is None else str(edge.near_threshold).lower()
        row = [source, target, *numbers, edge.fixed_by, near, _number(edge.stability)]
        writer.writerow(row)
    return buffer.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _no_formula(name: str) -> str:
    return f"'{name}" if name.lstrip(" ").startswith(_FORMULA) else name


def without_apostrophe(name: str) -> str:
    """Return a name as it was before `edges_csv` kept a spreadsheet from computing it."""
    rest = name.removeprefix("'")
    return rest if _no_formula(rest) == name else name


def _distinct(names: list[str]) -> list[str]:
    """Tell names apart that became the same when characters were replaced."""
    taken: set[str] = set()
    distinct = []
    for name in names:
        spellings = itertools.chain([name], (f"{name} ({k})" for k in itertools.count(2)))
        distinct.append(next(text for text in spellings if text not in taken))
        taken.add(distinct[-1])
    return distinct
