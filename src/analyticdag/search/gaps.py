"""How much worse the best graph would be without an edge, or with another direction of it.

For an edge i -> j of the best graph found,

    apart      what the score rises by if i and j may not be joined
    turned     what it rises by if i may not be a parent of j: joined the other way or not at all

after a short search that may mend what else the edge held together (`steps/detours.py`). Without
the search the first would be the gain of the edge less its price, which says too much wherever
another edge would do as well. Every graph met on the way counts for all the edges that it does
without. An edge that the equivalence class leaves open has turned = 0.

A short search turns one edge and what is near. In a chain or a tree an edge turns only together
with all that leads to it, so whole stretches are tried as well: a node first, then its ancestors
from the nearest to the farthest, each with the parents that it chooses anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyticdag._threads import in_threads
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import reachability
from analyticdag.search import kernels
from analyticdag.search.graph import Search
from analyticdag.search.kernels import Stop
from analyticdag.search.setting import Setting
from analyticdag.search.steps.given import GAIN

# Reinsertions after an edge is ruled out: forty find gaps that are 2 % smaller
# (docs/design/order-search.md). In graphs of many edges there are fewer, so that all of
# them together take no longer than the search: the first step alone is what moves cost.
REPAIRS = 12
MOST_REPAIRS = 20_000
# Nodes that choose parents anew when stretches are turned, the shortest first: all of 100 columns.
MOST_STRETCHES = 10_000


@dataclass(frozen=True, eq=False)
class Gaps:
    """Rises of the score, as (d, d) matrices; infinite where the edge is required, or is none."""

    apart: FloatArray
    turned: FloatArray


def edge_gaps(
    setting: Setting, adjacency: BoolArray, order: IntArray, *, stretches: bool = False
) -> Gaps:
    """Return what the edges of a graph are worth, by the score of the setting.

    With `stretches` whole ones are turned as well: of columns, each with its own noise variance.
    """
    apart, turned = np.full((2, *adjacency.shape), np.inf)
    free = adjacency if setting.required is None else adjacency & ~setting.required
    tails, heads = (np.ascontiguousarray(ends) for ends in np.nonzero(free))
    if len(tails):
        stop = Stop()

        def measure(edges: tuple[IntArray, IntArray]) -> None:
            _lower(setting, adjacency, order, edges, Gaps(apart, turned), stop)

        in_threads(measure, [(tails, heads)], 1, stop)
        if stretches and setting.required is None:
            _turn_stretches(setting, adjacency, order, Gaps(apart, turned), stop)
        # A detour that ends lower has found a better graph; the gap is then none.
        apart, turned = np.maximum(apart, 0.0), np.maximum(turned, 0.0)
    return Gaps(apart, turned)


def _lower(
    setting: Setting,
    adjacency: BoolArray,
    order: IntArray,
    edges: tuple[IntArray, IntArray],
    gaps: Gaps,
    stop: Stop,
) -> None:
    """Lower the gaps to the cost of the best graph found without every edge."""
    (tails, heads), d, rules = edges, len(order), setting.trial_rules()
    # A table of its own: edges are ruled out in it one by one.
    known = np.zeros((d, d), np.bool_) if setting.forbidden is None else setting.forbidden.copy()
    search = Search(replace(setting, forbidden=known), order, stop)
    search.fit(search.graph.order, np.zeros(d, np.int64), rules)  # no parents yet
    for node in range(d):
        search.give_parents(node, np.flatnonzero(adjacency[:, node]), rules)
    repairs = min(REPAIRS, MOST_REPAIRS // len(tails))
    memory = search.memory
    kernels.detours(
        search.data, rules, memory, tails, heads, gaps.apart, gaps.turned, repairs, stop
    )


def _turn_stretches(
    setting: Setting, adjacency: BoolArray, order: IntArray, gaps: Gaps, stop: Stop
) -> None:
    """Lower the gaps to the cost of the graphs in which all that leads to a node is turned."""
    reach, before = reachability(adjacency), setting.values(adjacency, np.arange(len(order)))
    fixed = np.where(adjacency, gaps.turned, 0.0) > GAIN
    nodes = np.flatnonzero(fixed.any(axis=0))
    sizes = reach[:, nodes].sum(axis=0)
    cheapest = np.argsort(sizes, kind="stable")
    for j in nodes[cheapest[np.cumsum(sizes[cheapest]) <= MOST_STRETCHES]].tolist():
        stretch = np.ascontiguousarray(order[reach[order, j]][::-1])
        # Parents are chosen within it, so nothing else has to be looked at.
        own, places = setting.among(stretch), np.arange(len(stretch))
        search = Search(own, places, stop)
        search.fit(places, np.zeros_like(places), own.trial_rules())  # no parents yet
        search.fit(places, places, own.trial_rules())
        change = float((search.graph.value - before[stretch]).sum())
        found, inside = search.graph.adjacency, np.ix_(stretch, stretch)
        gone = adjacency[inside] & ~found
        for lowered, where in ((gaps.turned, gone), (gaps.apart, gone & ~found.T)):
            lowered[inside] = np.where(where, np.minimum(lowered[inside], change), lowered[inside])
