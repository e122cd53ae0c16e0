"""The best parts of two graphs: where they differ in separate places, the better of each.

The score is a sum over nodes. Where no cycle can come of it, each node takes its parents from the
one graph or from the other, whichever lowers the score. A cycle can only arise inside a strongly
connected component of the two graphs taken together; there, nodes that a differing edge joins
decide together, and a cycle that remains is refused. Edges that one class leaves open are first
turned as the other graph has them, so that only real differences are left (`aligned`).

Local optima mostly differ in a few small places, and each of them has got some right. That is what
starting again cannot use: it has to get all of them right at once.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import is_dag, strong_components
from analyticdag.least_squares import regressions_of
from analyticdag.search.records import COLLINEAR
from analyticdag.search.setting import Setting

__all__ = ["best_parts"]

# Less is rounding.
GAIN = 1e-6


def best_parts(setting: Setting, graphs: list[BoolArray]) -> BoolArray:
    """Put the better parts of further graphs into the first one."""
    best = graphs[0]
    for other in graphs[1:]:
        best = _grafted(setting, best, aligned(setting, other, best))
    return best


def aligned(setting: Setting, graph: BoolArray, like: BoolArray) -> BoolArray:
    """Turn edges of a graph as another has them, where that leaves the class as it is.

    An edge i -> j can be turned if i and j have the same parents but for i itself.
    """
    graph, turned = graph.copy(), True
    while turned:
        turned = False
        for i, j in np.argwhere(graph & like.T & _may_turn(setting, graph)).tolist():
            parents = graph[:, j].copy()
            parents[i] = False
            if np.array_equal(parents, graph[:, i]):
                graph[i, j], graph[j, i], turned = False, True, True
    return graph


def _may_turn(setting: Setting, graph: BoolArray) -> BoolArray:
    may = np.ones_like(graph)
    if setting.forbidden is not None:
        may &= ~setting.forbidden.T
    if setting.required is not None:
        may &= ~setting.required
    return may


def _grafted(setting: Setting, graph: BoolArray, other: BoolArray) -> BoolArray:
    """Take over the parts of another graph that lower the score, the best first."""
    differ = graph != other
    nodes = np.flatnonzero(differ.any(axis=0))
    if not len(nodes):
        return graph
    _, circle = strong_components(graph | other)
    joined = (differ | differ.T) & (circle[:, None] == circle)
    n_parts, part = connected_components(joined[np.ix_(nodes, nodes)], directed=False)
    gains = _values(setting, graph, nodes) - _values(setting, other, nodes)
    by_part = np.bincount(part, gains, minlength=n_parts)
    for k in np.argsort(-by_part, kind="stable")[: int((by_part > GAIN).sum())].tolist():
        mixed, own = graph.copy(), nodes[part == k]
        mixed[:, own] = other[:, own]
        graph = mixed if is_dag(mixed) else graph
    return graph


def _values(setting: Setting, graph: BoolArray, nodes: IntArray) -> FloatArray:
    """Return the scores of some nodes, each with its own variance."""
    moments, some = setting.moments, np.zeros_like(graph)
    some[:, nodes] = graph[:, nodes]
    own = moments.own_variances
    left = own.copy()
    for found in regressions_of(moments, some):
        left[found.nodes] -= found.explained
    values = moments.samples_of * np.log(np.maximum(left, COLLINEAR * own) / own)
    return (values + setting.penalty * some.sum(axis=0))[nodes]
