"""The attributes of a fitted estimator that describe its graph, the same for every estimator."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
import numpy as np

from analyticdag._typing import BinaryArray
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.fitting.finish import Finished
from analyticdag.graphs import topological_order


def keep_graph(
    estimator: Any,
    names: Sequence[Hashable],
    finished: Finished,
    cpdag: BinaryArray,
    edges: tuple[Edge, ...],
) -> None:
    """Set the graph, in every form it is offered in, on the estimator."""
    estimator.weights_ = finished.weights
    estimator.adjacency_matrix_ = finished.adjacency.astype(np.int8)
    estimator.cpdag_ = cpdag
    estimator.edges_ = edges
    estimator.graph_ = nx.DiGraph()
    estimator.graph_.add_nodes_from(names)
    estimator.graph_.add_weighted_edges_from((e.source, e.target, e.weight) for e in edges)
    estimator.class_graph_ = _class_graph(names, edges)
    estimator.causal_order_ = topological_order(finished.adjacency)
    estimator.removed_edges_ = [
        (names[i], names[j]) for i, j in (*finished.on_cycles, *finished.over_limit)
    ]


def _class_graph(names: Sequence[Hashable], edges: tuple[Edge, ...]) -> nx.DiGraph:
    """Return what is known: both arcs, with open=True, where nothing fixes the direction."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for edge in edges:
        is_open = edge.fixed_by is FixedBy.NOTHING
        graph.add_edge(edge.source, edge.target, open=is_open)
        if is_open:
            graph.add_edge(edge.target, edge.source, open=True)
    return graph
