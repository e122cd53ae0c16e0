"""The members of a class: which parents a node can have, and one DAG for each choice.

A class here is what is known of a graph: a 0/1 matrix in which an open edge is set in both entries,
closed under Meek's rules. It may hold more directions than a CPDAG, from knowledge, interventions
or assumptions. In such a class every open edge may still point either way (Meek 1995), and what
follows from pointing it stays inside the part of the graph that open edges connect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from analyticdag._typing import BoolArray, IntArray
from analyticdag.graphs.meek import orient_with_knowledge

__all__ = ["count_members", "member_of", "open_edges", "open_parts", "orientations"]

# Where open edges connect more nodes than this, members are not counted: a complete graph of
# eight nodes takes a second, and each node more doubles that.
MOST_COUNTED = 8


def open_edges(known: BoolArray) -> BoolArray:
    """Return the edges whose direction the class leaves open, as a symmetric mask."""
    return known & known.T


def orientations(known: BoolArray, node: int) -> Iterator[BoolArray]:
    """Yield the class once for every way in which the open edges at `node` can point.

    In what is yielded no edge at `node` is open, and what follows elsewhere is oriented too.
    """
    part = _open_part(known, node)
    inside = np.ix_(part, part)
    small, center = known[inside], int(np.searchsorted(part, node))
    neighbours = np.flatnonzero(open_edges(small)[center]).tolist()
    for parents in _cliques(small | small.T, neighbours):
        others = [v for v in neighbours if v not in parents]
        pointed = _pointed(small, [(v, center) for v in parents] + [(center, v) for v in others])
        if pointed is not None:
            whole = known.copy()
            whole[inside] = pointed
            yield whole


def member_of(known: BoolArray) -> BoolArray:
    """Return one DAG of the class; directed edges stay as they are."""
    graph = known.copy()
    for start in range(len(graph)):
        if open_edges(graph)[start].any():
            part = _open_part(graph, start)
            inside = np.ix_(part, part)
            graph[inside] = _completed(graph[inside])
    return graph


def count_members(known: BoolArray) -> int | None:
    """Return how many DAGs the class has; None where it is too large to count.

    In every member, each part that open edges connect has one source: a second one would need a
    new v-structure. So the members of a part are those with one source, summed over all sources.
    """
    parts = open_parts(known)
    if any(len(part) > MOST_COUNTED for part in parts):
        return None
    found: dict[bytes, int] = {}
    return math.prod(_count_part(known[np.ix_(part, part)], found) for part in parts)


def _count_part(part: BoolArray, found: dict[bytes, int]) -> int:
    key = part.tobytes()
    if key not in found:
        found[key] = sum(_count_rooted(part, root, found) for root in range(len(part)))
    return found[key]


def _count_rooted(part: BoolArray, root: int, found: dict[bytes, int]) -> int:
    joined = np.flatnonzero(part[root] | part[:, root]).tolist()
    rooted = _pointed(part, [(root, v) for v in joined])
    if rooted is None:
        return 0
    rest = open_parts(rooted)
    return math.prod(_count_part(rooted[np.ix_(some, some)], found) for some in rest)


def _completed(known: BoolArray) -> BoolArray:
    left = np.argwhere(open_edges(known))
    while len(left):
        # Either direction of an open edge has members: the first one will do.
        known = _point(known, *left[0].tolist())
        left = np.argwhere(open_edges(known))
    return known


def _open_part(known: BoolArray, node: int) -> IntArray:
    """Return the nodes that open edges connect with `node`, itself included."""
    labels = _labels(known)
    part: IntArray = np.flatnonzero(labels == labels[node])
    return part


def open_parts(known: BoolArray) -> list[IntArray]:
    """Return the sets of two nodes or more that open edges connect."""
    labels = _labels(known)
    several = np.flatnonzero(np.bincount(labels) > 1)
    return [np.flatnonzero(labels == label) for label in several.tolist()]


def _labels(known: BoolArray) -> IntArray:
    graph = sparse.csr_array(open_edges(known))
    labels: IntArray = csgraph.connected_components(graph, directed=False)[1]
    return labels


def _cliques(joined: BoolArray, nodes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield every set of nodes that are all joined, the empty set too.

    Parents that are not joined would make a v-structure that the class does not have.
    """
    yield ()
    for k, first in enumerate(nodes):
        for rest in _cliques(joined, [v for v in nodes[k + 1 :] if joined[first, v]]):
            yield (first, *rest)


def _pointed(known: BoolArray, edges: Iterable[tuple[int, int]]) -> BoolArray | None:
    """Return the class with these edges pointed; None where one contradicts another."""
    for tail, head in edges:
        if not known[tail, head]:
            return None
        if known[head, tail]:
            known = _point(known, tail, head)
    return known


def _point(known: BoolArray, tail: int, head: int) -> BoolArray:
    allowed = np.ones_like(known)
    allowed[head, tail] = False
    closed: BoolArray = orient_with_knowledge(known, allowed) != 0
    return closed
