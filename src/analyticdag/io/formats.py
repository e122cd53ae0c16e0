"""A run as the text of other tools' files: GraphML, DOT, DAGitty, CSV.

An edge whose direction nothing fixes, or that is less likely than not to point as it does, is
written without one: both arcs with open=true in GraphML, dir=none in DOT, `--` in a DAGitty pdag.
The table says "open", or "unsure" and how likely it is. `member=True` writes the one DAG
that the fit returned instead, and marks it as one of several.

Every format has its own way of being broken by a name: quotes end a string, control characters
end a C string or an XML document, a leading equals sign makes a spreadsheet compute. Each writer
escapes for its own reader; nothing is dropped from a name except what the format cannot hold, or a
terminal that shows the file would obey, which becomes U+FFFD.
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
# Orders to a terminal; tabs and line ends are text.
_ORDERS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def graphml(run: SavedRun, *, member: bool = False) -> str:
    """Return GraphML with the names as identifiers and as labels.

    A weight belongs to a direction: both arcs of an open edge have a strength only.
    """
    graph = nx.DiGraph(**_mark(run, member=member))
    names = _distinct([_NOT_XML.sub("\ufffd", name) for name in run.names])
    graph.add_nodes_from((name, {"label": name}) for name in names)
    for edge in run.edges:
        i, j, is_open = run.ends(edge, member=member)
        attributes = {"open": is_open, "strength": edge.strength, "fixed_by": edge.fixed_by}
        if edge.stability is not None:
            attributes["stability"] = edge.stability
        if edge.margin is not None and not is_open:
            attributes["margin"] = edge.margin
        if is_open:
            graph.add_edge(names[j], names[i], **attributes)
        else:
            attributes["weight"] = edge.weight
        graph.add_edge(names[i], names[j], **attributes)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def _mark(run: SavedRun, *, member: bool) -> dict[str, str]:
    """Return what a file says of a single member of a class."""
    if not member or not run.lines:
        return {}
    return {
        "comment": f"one member of a class: {len(run.lines)} of {len(run.edges)} edges could "
        "as well point the other way"
    }


def dot(run: SavedRun, *, member: bool = False) -> str:
    """Return the graph for Graphviz.

    An open edge has no head. Directions from knowledge have a filled diamond at their tail, those
    from an assumption an empty head.
    """
    ends = {"knowledge": ", dir=both, arrowtail=diamond", "assumption": ", arrowhead=empty"}

    def line(edge: EdgeRecord, is_open: bool) -> str:
        if is_open:
            return f'[dir=none, label="{edge.strength:.3g}", tooltip="open", weight=1];'
        return (
            f'[label="{edge.weight:.3g}", tooltip="{edge.fixed_by}", weight=1'
            f"{ends.get(edge.kind, '')}];"
        )

    names = _distinct([_line_ends(name, "\n") for name in run.names])
    nodes = [f"  {_quoted(name)} [label={_label(name)}];" for name in names]
    nodes = [f"  // {text}" for text in _mark(run, member=member).values()] + nodes
    return _braces("digraph analyticdag", nodes, run, names, line, member=member)


def dagitty(run: SavedRun, *, member: bool = False) -> str:
    """Return the graph as dagitty.net and its R package read it: a dag, or a pdag."""
    names = _distinct([_line_ends(name, " ") for name in run.names])
    nodes = [f"  {_quoted(name)}" for name in names]
    nodes = [f"  // {text}" for text in _mark(run, member=member).values()] + nodes

    def line(edge: EdgeRecord, is_open: bool) -> str:
        return "" if is_open else f'[beta="{edge.weight:.6g}"]'

    kind = "pdag" if run.lines and not member else "dag"
    return _braces(kind, nodes, run, names, line, member=member, undirected="--")


def _braces(
    head: str,
    nodes: list[str],
    run: SavedRun,
    names: list[str],
    attributes: Callable[[EdgeRecord, bool], str],
    *,
    member: bool,
    undirected: str = "->",
) -> str:
    lines = [head + " {", *nodes]
    for edge in run.edges:
        i, j, is_open = run.ends(edge, member=member)
        arrow = undirected if is_open else "->"
        text = f"  {_quoted(names[i])} {arrow} {_quoted(names[j])} {attributes(edge, is_open)}"
        lines.append(text.rstrip())
    return "\n".join([*lines, "}"]) + "\n"


def _line_ends(name: str, line_break: str) -> str:
    """Return a name as the format can hold it; others may become the same."""
    return line_break.join(re.split(r"\r\n|\r|\n", _ORDERS.sub("\ufffd", name)))


def _quoted(name: str) -> str:
    # A lone backslash before the closing quote would swallow it: all of them are doubled.
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _label(name: str) -> str:
    return _quoted(name).replace("\n", "\\n")


def edges_csv(run: SavedRun, *, member: bool = False) -> str:
    """Return the table of edges; a name that a spreadsheet would compute gets an apostrophe.

    The ends of an open edge come in the order of the columns; a weight would need a direction, and
    its strength is that in one member of the class.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        [
            *("source", "target", "direction", "direction_fixed_by", "weight", "standard_error"),
            *("standardized_weight", "strength", "near_threshold", "stability"),
            *("direction_stability", "hidden_cause"),
            *("probability", "direction_probability", "enters_at", "direction_margin"),
            "parts",
        ]
    )
    names = _distinct([_ORDERS.sub("\ufffd", name) for name in run.names])
    for edge in run.edges:
        i, j, is_line = run.ends(edge, member=member)
        is_open = is_line and run.is_open(edge)
        if not is_open:
            i, j = edge.source, edge.target
        parts = "; ".join(f"{a}={b:.6g}" for a, b in (() if is_open else edge.parts))
        weights = (edge.weight, edge.standard_error, edge.standardized)
        near, hidden = (
            "" if flag is None else str(flag).lower()
            for flag in (edge.near_threshold, edge.hidden_cause)
        )
        directed = (edge.direction_stability, edge.direction_probability)
        directed = (None, None) if is_open else directed
        writer.writerow(
            [
                *(_no_formula(names[k]) for k in (i, j)),
                "open" if is_open else "unsure" if is_line else "directed",
                edge.fixed_by,
                *(("", "", "") if is_open else map(_number, weights)),
                _number(edge.strength),
                near,
                *map(_number, (edge.stability, directed[0])),
                hidden,
                *map(_number, (edge.probability, directed[1], edge.enters_at)),
                _number(None if is_open else edge.margin),
                _no_formula(_ORDERS.sub("\ufffd", parts)),
            ]
        )
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
