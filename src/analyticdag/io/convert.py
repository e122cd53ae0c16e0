"""A run as the objects of other packages.

Each takes a fitted estimator or its `SavedRun`; the packages are imported when asked for. Where
only a class is known, networkx and causal-learn get the class. DoWhy and pgmpy need a DAG: they
get the one that the fit returned, with a warning that lists the edges nothing has directed.
"""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx

from analyticdag.errors import MissingDependencyError, OpenEdgesWarning
from analyticdag.io.run import SavedRun, record_of

_LISTED = 10  # open edges that a warning names


def to_networkx(run: Any, *, member: bool = False) -> nx.DiGraph:
    """Return a DiGraph on the column names, edges with `weight`, `fixed_by` and `open`.

    An open edge is there in both directions, without a weight. `member=True` gives the DAG that
    the fit returned, one of several that fit as well.
    """
    run = _record(run)
    graph = nx.DiGraph()
    graph.add_nodes_from(run.names)
    for edge in run.edges:
        i, j, is_open = run.ends(edge, member=member)
        source, target = run.names[i], run.names[j]
        if is_open:
            graph.add_edge(source, target, fixed_by=edge.fixed_by, open=True)
            graph.add_edge(target, source, fixed_by=edge.fixed_by, open=True)
        else:
            graph.add_edge(source, target, weight=edge.weight, fixed_by=edge.fixed_by, open=False)
    return graph


def to_dowhy(run: Any) -> str:
    """Return a DAG as a GML string, which DoWhy takes: `CausalModel(..., graph=...)`.

    GML is the one of DoWhy's formats that needs no Graphviz binding.
    """
    run = _record(run)
    _warn_of_open(run, "DoWhy")
    graph = nx.DiGraph()
    graph.add_nodes_from(run.names)
    graph.add_edges_from(run.edge_names(edge) for edge in run.edges)
    return "\n".join(nx.generate_gml(graph))


def to_pgmpy(run: Any) -> Any:
    """Return a `pgmpy.base.DAG`."""
    run = _record(run)
    try:
        from pgmpy.base import DAG
    except ImportError as error:
        raise MissingDependencyError("pgmpy", "interop") from error
    _warn_of_open(run, "pgmpy")
    dag = DAG()
    dag.add_nodes_from(run.names)
    dag.add_edges_from(run.edge_names(edge) for edge in run.edges)
    return dag


def to_causallearn(run: Any, *, member: bool = False) -> Any:
    """Return a causal-learn `GeneralGraph` of the class, or of the DAG that the fit returned."""
    run = _record(run)
    try:
        from causallearn.graph.Edge import Edge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError as error:
        raise MissingDependencyError("causal-learn", "interop") from error
    nodes = [GraphNode(name) for name in run.names]
    graph = GeneralGraph(nodes)
    for edge in run.edges:
        i, j, is_open = run.ends(edge, member=member)
        head = Endpoint.TAIL if is_open else Endpoint.ARROW
        graph.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, head))
    return graph


def _record(run: Any) -> SavedRun:
    return run if isinstance(run, SavedRun) else record_of(run)


def _warn_of_open(run: SavedRun, package: str) -> None:
    pairs = [" — ".join(run.edge_names(edge)) for edge in run.open_edges]
    if pairs:
        more = f" and {len(pairs) - _LISTED} more" if len(pairs) > _LISTED else ""
        warnings.warn(
            f"{package} needs a DAG and gets one of several that fit as well: nothing fixes the "
            f"direction of {', '.join(pairs[:_LISTED])}{more}; do not read causes from these",
            OpenEdgesWarning,
            stacklevel=3,
        )
