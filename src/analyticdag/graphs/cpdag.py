"""The equivalence class of a DAG: the graphs that fit observational Gaussian data equally well.

Two DAGs are equivalent when they have the same adjacencies and the same v-structures
(Verma and Pearl 1990). A CPDAG shows the class: an edge that has one direction in every
member is directed, any other is undirected, that is, set in both entries of the matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._typing import BinaryArray, BoolArray, IntArray
from analyticdag.errors import InputError
from analyticdag.graphs.acyclic import is_dag, topological_order
from analyticdag.graphs.convert import adjacency

__all__ = ["random_member", "to_cpdag"]


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
    with_x: BoolArray = compelled[x]
    return with_x


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
