"""Is a graph acyclic, in which order, and the nearest DAG when it is not.

An edge lies on a cycle exactly when its two ends share a strongly connected component, so
everything here looks at the components first and works inside them only.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csgraph

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import InputError
from analyticdag.graphs.convert import adjacency, check_names, edge_list, square_matrix

Edge = tuple[int, int]

# Edges whose fate is looked up together; see _Reachability.
_CHUNK = 256


def strong_components(matrix: ArrayLike) -> tuple[int, IntArray]:
    """Return how many strongly connected components there are, and each node's label."""
    count, labels = csgraph.connected_components(
        sparse.csr_array(adjacency(matrix)), directed=True, connection="strong"
    )
    return int(count), np.asarray(labels, dtype=np.int64)


def is_dag(matrix: ArrayLike) -> bool:
    """Tell whether the graph has no directed cycle; a self-loop is one."""
    edges = adjacency(matrix)
    if edges.diagonal().any():
        return False
    return strong_components(edges)[0] == len(edges)


def topological_order(
    matrix: ArrayLike,
    names: Sequence[Hashable] | None = None,
    *,
    wanted: IntArray | None = None,
) -> IntArray:
    """Return the nodes, causes before effects; among those that are free the smallest first.

    ``wanted`` is another order to go by: among the free nodes the first of it comes next. Raises
    InputError naming a cycle (by ``names`` when given) if there is no such order.
    """
    edges = adjacency(matrix)
    by_rank = np.arange(len(edges)) if wanted is None else wanted
    rank, n_parents = np.argsort(by_rank), edges.sum(axis=0)
    ready = rank[n_parents == 0].tolist()
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        node = int(by_rank[heapq.heappop(ready)])
        order.append(node)
        children = np.flatnonzero(edges[node])
        n_parents[children] -= 1
        for child in children[n_parents[children] == 0]:
            heapq.heappush(ready, int(rank[child]))
    if len(order) < len(edges):
        labels = check_names(range(len(edges)) if names is None else names, len(edges))
        cycle = find_cycle(edges)
        path = " -> ".join(str(labels[node]) for node in [*cycle, cycle[0]])
        raise InputError(
            f"the graph must be acyclic but has the cycle {path}; remove one of these edges"
        )
    return np.array(order, dtype=np.int64)


def reachability(dag: ArrayLike) -> BoolArray:
    """Return [i, j]: whether a directed path leads from i to j; every node reaches itself."""
    edges = adjacency(dag)
    reach = np.eye(len(edges), dtype=bool)
    for node in topological_order(edges)[::-1]:
        reach[node] |= reach[edges[node]].any(axis=0)
    return reach


def find_cycle(matrix: ArrayLike) -> list[int]:
    """Return the nodes of one cycle in the order of its edges, or [] when there is none."""
    try:
        return [tail for tail, _ in nx.find_cycle(nx.DiGraph(edge_list(matrix)))]
    except nx.NetworkXNoCycle:
        return []


def nearest_dag(
    weights: ArrayLike, protected: ArrayLike | None = None
) -> tuple[FloatArray, list[Edge]]:
    """Drop the weakest edges on cycles until none is left; return (W, dropped edges).

    Edges are taken from the strongest to the weakest |W|, and one is dropped when it closes a
    cycle with stronger edges that stay. So every dropped edge is the weakest of some cycle,
    and none could be put back. Equal strengths: the later in row order is dropped.

    ``protected`` is a boolean (d, d) mask of edges that are never dropped (required by
    knowledge); a cycle among these is an InputError. The dropped edges come weakest first.
    """
    W = square_matrix(weights).copy()
    edges = W != 0.0
    keep = edges & _mask(protected, edges.shape)
    if not is_dag(keep):
        topological_order(keep)  # raises, naming the cycle among protected edges
    _, labels = strong_components(edges)
    dropped: list[Edge] = []
    for component in _cyclic_components(edges, labels):
        block = np.ix_(component, component)
        strength = np.where(keep[block], np.inf, np.abs(W[block]))
        dropped += [(int(component[i]), int(component[j])) for i, j in _weakest_edges(strength)]
    dropped.sort(key=lambda edge: (abs(W[edge]), edge))
    for edge in dropped:
        W[edge] = 0.0
    return W, dropped


def _mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    if mask is None:
        return np.zeros(shape, dtype=np.bool_)
    array: BoolArray = np.asarray(mask, dtype=np.bool_)
    if array.shape != shape:
        raise InputError(f"protected must be a boolean mask of shape {shape}; got {array.shape}")
    return array


def _cyclic_components(edges: BoolArray, labels: IntArray) -> list[IntArray]:
    """Return the nodes of each component that holds a cycle, self-loops included."""
    cyclic = np.flatnonzero((np.bincount(labels)[labels] > 1) | edges.diagonal())
    cyclic = cyclic[np.argsort(labels[cyclic], kind="stable")]
    borders = np.flatnonzero(np.diff(labels[cyclic])) + 1
    return [part for part in np.split(cyclic, borders) if len(part)]


def _weakest_edges(strength: FloatArray) -> list[Edge]:
    """Return the edges of one component that close a cycle with stronger ones that stay."""
    tails, heads = np.nonzero(strength)
    strongest_first = np.argsort(-strength[tails, heads], kind="stable")
    tails, heads = tails[strongest_first], heads[strongest_first]
    reach = _Reachability(len(strength))
    dropped: list[Edge] = []
    for start in range(0, len(tails), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        known = reach.related(tails[chunk], heads[chunk])
        closes = reach.related(heads[chunk], tails[chunk])
        dropped += zip(tails[chunk][closes].tolist(), heads[chunk][closes].tolist(), strict=True)
        # Few edges bring news in a dense graph; only those are taken one by one.
        for k in np.flatnonzero(~(known | closes)) + start:
            tail, head = int(tails[k]), int(heads[k])
            if reach.related(heads[k], tails[k]):
                dropped.append((tail, head))
            else:
                reach.add(tail, head)
    return dropped


class _Reachability:
    """Which node reaches which, kept up to date as edges are added; one bit per pair.

    An added edge costs one operation on the rows that gain something, so no graph search is
    ever repeated and a component of 2000 nodes fits in half a megabyte.
    """

    def __init__(self, n_nodes: int) -> None:
        self._rows = np.packbits(np.eye(n_nodes, dtype=np.bool_), axis=1, bitorder="little")

    def related(self, sources: IntArray, targets: IntArray) -> BoolArray:
        """Tell for each pair whether the source reaches the target."""
        return (self._rows[sources, targets >> 3] >> (targets & 7)) & 1 == 1

    def add(self, tail: int, head: int) -> None:
        """Add an edge: what reaches the tail now also reaches what the head reaches."""
        reaches_tail = self._rows[:, tail >> 3] >> (tail & 7) & 1
        reaches_head = self._rows[:, head >> 3] >> (head & 7) & 1
        gaining = np.flatnonzero(reaches_tail > reaches_head)
        self._rows[gaining] |= self._rows[head]
