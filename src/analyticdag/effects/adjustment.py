"""Which columns to adjust for when the effect of x on y is estimated by one regression.

In a DAG let the *causal nodes* be those on directed paths from x to y, x left out. Adjusting for a
descendant of one of them is forbidden: it would take part of the effect away. The *optimal* set is
the parents of the causal nodes less the forbidden ones: no other valid set gives a smaller error
(Henckel, Perković and Maathuis 2022). A *minimal* set is a valid one of which nothing can be left
out.
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from analyticdag._typing import BoolArray, IntArray

__all__ = ["minimal_set", "optimal_set"]


def optimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return the optimal adjustment set; empty where x has no effect on y."""
    causal = _causal_nodes(reach, x, y)
    forbidden: BoolArray = np.any(reach[causal], axis=0)
    forbidden[x] = True
    parents = graph[:, causal].any(axis=1)
    best: IntArray = np.flatnonzero(parents & ~forbidden)
    return best


def minimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return a smallest part of the optimal set that still removes all confounding.

    Valid sets are those that separate x from y once the edges from x into causal nodes are gone.
    """
    back = nx.DiGraph(
        list(zip(*np.nonzero(_without_causal_edges(graph, reach, x, y)), strict=True))
    )
    back.add_nodes_from(range(len(graph)))
    allowed = set(optimal_set(graph, reach, x, y).tolist())
    found = nx.find_minimal_d_separator(back, x, y, restricted=allowed)
    return np.array(sorted(found or ()), dtype=np.int64)


def _causal_nodes(reach: BoolArray, x: int, y: int) -> BoolArray:
    causal: BoolArray = reach[x] & reach[:, y]
    causal[x] = False
    return causal


def _without_causal_edges(graph: BoolArray, reach: BoolArray, x: int, y: int) -> BoolArray:
    back = graph.copy()
    back[x, _causal_nodes(reach, x, y)] = False
    return back
