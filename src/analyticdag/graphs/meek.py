"""What knowledge adds to an equivalence class: Meek's orientation rules (UAI 1995).

A CPDAG leaves some edges open. Once knowledge points one of them, others follow, because
members of the class have neither cycles nor v-structures that the class does not have:

    1.  a -> b - c, a and c apart                    b -> c   (no new v-structure)
    2.  a -> b -> c, a - c                           a -> c   (no cycle)
    3.  a - c -> b, a - d -> b, c and d apart, a - b  a -> b   (else rule 2 makes a v-structure)
    4.  a - d -> c -> b, a next to c, d and b apart, a - b     a -> b
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._typing import BinaryArray, BoolArray
from analyticdag.errors import ParameterError
from analyticdag.graphs.convert import adjacency

__all__ = ["orient_with_knowledge"]


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
        implied[a, b] = _rule_three(a, b, directed, undirected, apart) or _rule_four(
            a, b, directed, undirected, apart
        )
    return implied


def _rule_three(
    a: int, b: int, directed: BoolArray, undirected: BoolArray, apart: BoolArray
) -> bool:
    between = np.flatnonzero(undirected[a] & directed[:, b])
    return bool(apart[np.ix_(between, between)].any())


def _rule_four(
    a: int, b: int, directed: BoolArray, undirected: BoolArray, apart: BoolArray
) -> bool:
    into_b = np.flatnonzero(directed[:, b] & ~apart[a])
    begins = np.flatnonzero(undirected[a] & apart[b])
    return bool(directed[np.ix_(begins, into_b)].any())
