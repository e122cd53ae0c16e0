"""Which columns to adjust for when the effect of x on y is estimated by one regression.

In a DAG let the *causal nodes* be those on directed paths from x to y, x left out. Adjusting for a
descendant of one of them is forbidden: it would take part of the effect away. The *optimal* set is
the parents of the causal nodes less the forbidden ones: no other valid set gives a smaller error
(Henckel, Perković and Maathuis 2022). A *minimal* set is a valid one with as few columns as can be.
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from analyticdag._typing import BoolArray, IntArray

__all__ = ["causal_nodes", "minimal_set", "optimal_set"]


def optimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return the optimal adjustment set; empty where x has no effect on y."""
    causal = causal_nodes(reach, x, y)
    parents = graph[:, causal].any(axis=1)
    best: IntArray = np.flatnonzero(parents & ~_forbidden(reach, x, y))
    return best


def minimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return a smallest set that removes all confounding; empty where x has no effect on y.

    Valid sets are those that separate x from y once the edges from x into causal nodes are gone. By
    separation in the moral graph of the ancestors that is a cut of nodes, and the smallest one
    comes from a maximum flow (van der Zander, Liśkiewicz and Textor 2019).
    """
    if not reach[x, y]:
        return np.array([], dtype=np.int64)
    back = nx.DiGraph(np.argwhere(_without_causal_edges(graph, reach, x, y)).tolist())
    back.add_nodes_from((x, y))
    older = nx.ancestors(back, x) | nx.ancestors(back, y) | {x, y}
    moral = nx.moral_graph(back.subgraph(older))
    forbidden = _forbidden(reach, x, y)
    flow = nx.DiGraph()
    for node in older - {x, y}:
        # Without a capacity an edge cannot be cut.
        flow.add_edge((node, "in"), (node, "out"), **({} if forbidden[node] else {"capacity": 1}))
    for a, b in moral.edges:
        flow.add_edge((a, "out"), (b, "in"))
        flow.add_edge((b, "out"), (a, "in"))
    flow.add_nodes_from([(x, "out"), (y, "in")])
    _, (near, _) = nx.minimum_cut(flow, (x, "out"), (y, "in"))
    cut = [node for node in older if (node, "in") in near and (node, "out") not in near]
    return np.array(sorted(set(cut) - {x, y}), dtype=np.int64)


def causal_nodes(reach: BoolArray, x: int, y: int) -> BoolArray:
    """Return the nodes on directed paths from x to y, x left out."""
    causal: BoolArray = reach[x] & reach[:, y]
    causal[x] = False
    return causal


def _forbidden(reach: BoolArray, x: int, y: int) -> BoolArray:
    """Return what would take part of the effect away: what causal nodes cause, and x."""
    forbidden: BoolArray = np.any(reach[causal_nodes(reach, x, y)], axis=0)
    forbidden[x] = True
    return forbidden


def _without_causal_edges(graph: BoolArray, reach: BoolArray, x: int, y: int) -> BoolArray:
    back = graph.copy()
    back[x, causal_nodes(reach, x, y)] = False
    return back
