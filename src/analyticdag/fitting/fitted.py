"""`GraphEstimator`: what both estimators are once they are fitted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
import numpy as np
from sklearn.base import BaseEstimator

from analyticdag._typing import BinaryArray, FloatArray, IntArray
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.fitting.finish import Finished
from analyticdag.graphs import topological_order
from analyticdag.losses import LossTraits
from analyticdag.optimize.trace import Status, Trace


class GraphEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that learns a DAG; the attributes are described where it is."""

    weights_: FloatArray
    adjacency_matrix_: BinaryArray
    graph_: nx.DiGraph
    cpdag_: BinaryArray
    class_graph_: nx.DiGraph
    causal_order_: IntArray
    edges_: tuple[Edge, ...]
    removed_edges_: list[tuple[Hashable, Hashable]]
    h_: float
    loss_: str
    loss_traits_: LossTraits
    loss_choice_: Any
    selection_: Any
    interventions_: Any
    trace_: Trace
    status_: Status
    advice_: str
    n_iter_: int
    mean_: FloatArray
    scale_: FloatArray
    noise_variances_: FloatArray

    def _keep_graph(
        self,
        names: Sequence[Hashable],
        finished: Finished,
        cpdag: BinaryArray,
        edges: tuple[Edge, ...],
    ) -> None:
        """Set the graph in every form that it is offered in."""
        self.weights_ = finished.weights
        self.adjacency_matrix_ = finished.adjacency.astype(np.int8)
        self.cpdag_ = cpdag
        self.edges_ = edges
        self.graph_ = nx.DiGraph()
        self.graph_.add_nodes_from(names)
        self.graph_.add_weighted_edges_from((e.source, e.target, e.weight) for e in edges)
        self.class_graph_ = _class_graph(names, edges)
        self.causal_order_ = topological_order(finished.adjacency)
        self.removed_edges_ = [
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
