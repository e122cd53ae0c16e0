"""The equivalence class of a DAG: the graphs that fit observational Gaussian data equally well.

Two DAGs are equivalent when they have the same adjacencies and the same v-structures
(Verma and Pearl 1990). A CPDAG shows the class: an edge that has one direction in every
member is directed, any other is undirected, that is, set in both entries of the matrix.

Once knowledge points one of the open edges, others follow, because members of the class have
neither cycles nor v-structures that the class does not have (Meek 1995):

    1.  a -> b - c, a and c apart                    b -> c   (no new v-structure)
    2.  a -> b -> c, a - c                           a -> c   (no cycle)
    3.  a - c -> b, a - d -> b, c and d apart, a - b  a -> b   (else rule 2 makes a v-structure)
    4.  a - d -> c -> b, a next to c, d and b apart, a - b     a -> b

What is known of a graph, by knowledge, interventions or assumptions too, may so hold more
directions than its CPDAG. Closed under these rules it is a class as well: every open edge may still
point either way (Meek 1995), and what follows from pointing it stays inside the part of the graph
that open edges connect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csgraph

from analyticdag._typing import BinaryArray, BoolArray, IntArray
from analyticdag.errors import InputError, ParameterError
from analyticdag.graphs.acyclic import is_dag, topological_order
from analyticdag.graphs.convert import adjacency

# Where open edges connect more nodes than this, members are not counted: a complete graph of
# eight nodes takes a second, and each node more doubles that.
MOST_COUNTED = 8


def to_cpdag(dag: ArrayLike) -> BinaryArray:
    """Return the 0/1 CPDAG of a DAG; an undirected edge is set in both entries.

    Chickering's edge labelling (UAI 1995). Nodes are visited in causal order, and the edges
    into one are labelled together, by looking at its latest parent only.
    """
    # Row y holds the parents of y: the labelling asks for nothing else.
    parents: BoolArray = np.ascontiguousarray(adjacency(dag).T)
    compelled = np.zeros_like(parents)
    order = topological_order(parents.T)
    position = np.argsort(order)
    for y in order:
        candidates = np.flatnonzero(parents[y])
        if len(candidates):
            latest = candidates[np.argmax(position[candidates])]
            compelled[y] = _compelled_parents(latest, parents[y], parents, compelled)
    reversible = parents & ~compelled
    return (parents.T | reversible).view(np.int8)


def _compelled_parents(
    x: int, parents_of_y: BoolArray, parents: BoolArray, compelled: BoolArray
) -> BoolArray:
    """Return which edges into y have one direction in the class; x is its latest parent."""
    strangers = parents_of_y & ~parents[x]
    strangers[x] = False
    # A parent of y that x does not have makes a v-structure with x -> y. A compelled w -> x
    # with w not adjacent to y would make one at x if x -> y turned round. Either fixes x -> y,
    # and with it every edge into y.
    if strangers.any() or (compelled[x] & ~parents_of_y).any():
        return parents_of_y
    # Otherwise x -> y can turn round, and only w -> y with w -> x compelled cannot.
    return compelled[x]


def random_member(cpdag: ArrayLike, rng: np.random.Generator) -> IntArray:
    """Return a 0/1 DAG of the class that ``cpdag`` shows; InputError if it shows none.

    The undirected part of a CPDAG is chordal. Visiting its nodes by maximum cardinality
    search (most visited neighbours first, ties at random) and pointing every edge forward
    makes no new v-structure. All members are possible, though not equally likely.
    """
    graph = adjacency(cpdag)
    undirected = graph & graph.T
    rank = _maximum_cardinality_rank(undirected, rng)
    forward = rank[:, None] < rank[None, :]
    member = ((graph & ~undirected) | (undirected & forward)).astype(np.int64)
    if not is_dag(member) or not np.array_equal(to_cpdag(member) != 0, graph):
        raise InputError(
            "the matrix is no CPDAG: no DAG has exactly this class; "
            "make one with to_cpdag(dag), undirected edges set in both entries"
        )
    return member


def _maximum_cardinality_rank(undirected: BoolArray, rng: np.random.Generator) -> IntArray:
    rank = np.full(len(undirected), -1, dtype=np.int64)
    # A random fraction below one breaks ties and never overrules a count.
    visited_neighbours = rng.random(len(undirected))
    for step in range(len(undirected)):
        node = int(np.argmax(np.where(rank < 0, visited_neighbours, -1.0)))
        rank[node] = step
        visited_neighbours += undirected[node]
    return rank


def orient_with_knowledge(cpdag: ArrayLike, allowed: ArrayLike) -> BinaryArray:
    """Return the 0/1 class with the directions that ``allowed`` leaves; open edges in both entries.

    ``allowed[i, j]`` says whether i -> j may exist. Directed edges of the class stay as they are.
    """
    graph, may = adjacency(cpdag), adjacency(allowed)
    if may.shape != graph.shape:
        raise ParameterError(
            f"allowed must have the shape of the graph, {graph.shape}; got {may.shape}"
        )
    undirected = graph & graph.T
    # An edge that is allowed in neither direction is in the graph all the same: left open.
    known = undirected & may & ~may.T
    directed = (graph & ~undirected) | known
    undirected &= ~(known | known.T)
    while known.any():
        known = undirected & _implied(directed, undirected)
        # Contradictory knowledge may imply both directions: then neither is taken.
        known &= ~known.T
        directed |= known
        undirected &= ~(known | known.T)
    return (directed | undirected).view(np.int8)


def _implied(directed: BoolArray, undirected: BoolArray) -> BoolArray:
    """Return the open edges that one of the four rules directs."""
    joined = directed | directed.T | undirected
    apart = ~joined & ~np.eye(len(joined), dtype=bool)
    D = directed.astype(np.float32)
    away_from_collider = (D.T @ apart.astype(np.float32)) > 0
    no_cycle = (D @ D) > 0
    implied: BoolArray = away_from_collider | no_cycle
    for a, b in np.argwhere(undirected & ~implied):
        between = np.flatnonzero(undirected[a] & directed[:, b])
        rule_three = apart[np.ix_(between, between)].any()
        into_b = np.flatnonzero(directed[:, b] & ~apart[a])
        begins = np.flatnonzero(undirected[a] & apart[b])
        rule_four = directed[np.ix_(begins, into_b)].any()
        implied[a, b] = rule_three or rule_four
    return implied


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
    return np.flatnonzero(labels == labels[node])


def open_parts(known: BoolArray) -> list[IntArray]:
    """Return the sets of two nodes or more that open edges connect."""
    labels = _labels(known)
    several = np.flatnonzero(np.bincount(labels) > 1)
    return [np.flatnonzero(labels == label) for label in several.tolist()]


def _labels(known: BoolArray) -> IntArray:
    graph = sparse.csr_array(open_edges(known))
    return csgraph.connected_components(graph, directed=False)[1]


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
    return orient_with_knowledge(known, allowed) != 0
