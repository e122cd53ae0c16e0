"""A run as the objects of other packages.

Each takes a `SavedRun`; the packages themselves are imported when asked for.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from analyticdag.errors import MissingDependencyError
from analyticdag.io.run import SavedRun


def to_networkx(run: SavedRun) -> nx.DiGraph:
    """Return a DiGraph on the column names, edges with `weight` and `fixed_by`."""
    graph = nx.DiGraph()
    graph.add_nodes_from(run.names)
    for edge in run.edges:
        source, target = run.edge_names(edge)
        graph.add_edge(source, target, weight=edge.weight, fixed_by=edge.fixed_by)
    return graph


def to_dowhy(run: SavedRun) -> str:
    """Return the graph as a GML string, which DoWhy takes: `CausalModel(..., graph=...)`.

    GML is the one of DoWhy's formats that needs no Graphviz binding.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(run.names)
    graph.add_edges_from(run.edge_names(edge) for edge in run.edges)
    return "\n".join(nx.generate_gml(graph))


def to_pgmpy(run: SavedRun) -> Any:
    """Return a `pgmpy.base.DAG`."""
    try:
        from pgmpy.base import DAG
    except ImportError as error:
        raise MissingDependencyError("pgmpy", "interop") from error
    dag = DAG()
    dag.add_nodes_from(run.names)
    dag.add_edges_from(run.edge_names(edge) for edge in run.edges)
    return dag


def to_causallearn(run: SavedRun, *, cpdag: bool = False) -> Any:
    """Return a causal-learn `GeneralGraph`, of the DAG or of its equivalence class."""
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
        undirected = cpdag and run.cpdag[edge.target, edge.source]
        head = Endpoint.TAIL if undirected else Endpoint.ARROW
        graph.add_edge(Edge(nodes[edge.source], nodes[edge.target], Endpoint.TAIL, head))
    return graph
