"""What is said about an effect beside its value: interval, members, what settles it, adjustment.

Which columns should one regression of y on x adjust for? In a DAG let the *causal nodes* be those
on directed paths from x to y, x left out. Adjusting for a descendant of one of them is forbidden:
it would take part of the effect away. The *optimal* set is the parents of the causal nodes less the
forbidden ones: no other valid set gives a smaller error (Henckel, Perković and Maathuis 2022). A
*minimal* set is a valid one with as few columns as can be.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
import numpy as np

from analyticdag._typing import BoolArray, IntArray
from analyticdag.effects.equations import Equations, causal_nodes
from analyticdag.effects.known import Known


def members(counts: Sequence[int | None], reached: list[bool]) -> dict[str, Any]:
    """Return how many members there are, in how many there is no effect, and the share of these."""
    if any(count is None for count in counts):
        nothing = float("nan") if any(reached) else 1.0
        share = 0.0 if all(reached) else nothing
        return {"n_members": None, "n_zero": None, "zero_share": share}
    pairs = list(zip(counts, reached, strict=True))
    n_members = sum(count or 0 for count, _ in pairs)
    n_zero = sum(count or 0 for count, has_effect in pairs if not has_effect)
    return {"n_members": n_members, "n_zero": n_zero, "zero_share": n_zero / n_members}


def settling(
    every: list[Equations], values: Sequence[Hashable], x: int, neighbours: list[int]
) -> list[int]:
    """Return the open edges at x that settle the effect alone: one value for each direction."""
    found = []
    for node in neighbours:
        ways: dict[bool, set[Hashable]] = {True: set(), False: set()}
        for equations, value in zip(every, values, strict=True):
            ways[bool(equations.graph[node, x])].add(value)
        if all(len(way) == 1 for way in ways.values()):
            found.append(node)
    return found


def adjustment_sets(known: Known, equations: Equations, x: int, y: int) -> dict[str, Any]:
    """Return what a regression of y on x should adjust for, and the least that it can."""
    best, least = (
        tuple(known.names[k] for k in chosen(equations.graph, equations.reach, x, y))
        for chosen in (optimal_set, minimal_set)
    )
    return {"adjustment_set": best, "minimal_adjustment_set": least}


def optimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return the optimal adjustment set; empty where x has no effect on y."""
    causal = causal_nodes(reach, x, y)
    parents = graph[:, causal].any(axis=1)
    return np.flatnonzero(parents & ~_forbidden(reach, x, y))


def minimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return a smallest set that removes all confounding; empty where x has no effect on y.

    Valid sets are those that separate x from y once the edges from x into causal nodes are gone. By
    separation in the moral graph of the ancestors that is a cut of nodes, and the smallest one
    comes from a maximum flow (van der Zander, Liśkiewicz and Textor 2019).
    """
    if not reach[x, y]:
        return np.array([], dtype=np.int64)
    others = graph.copy()
    others[x, causal_nodes(reach, x, y)] = False
    back = nx.DiGraph(np.argwhere(others).tolist())
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


def _forbidden(reach: BoolArray, x: int, y: int) -> BoolArray:
    """Return what would take part of the effect away: what causal nodes cause, and x."""
    forbidden: BoolArray = np.any(reach[causal_nodes(reach, x, y)], axis=0)
    forbidden[x] = True
    return forbidden
