"""How much worse the best graph would be without an edge, or with another direction of it.

For an edge i -> j of the best graph found,

    apart      what the score rises by if i and j may not be joined
    turned     what it rises by if i may not be a parent of j: joined the other way or not at all

after a short search that may mend what else the edge held together (`steps/detours.py`). Without
the search the first would be the gain of the edge less its price, which says too much wherever
another edge would do as well. Every graph met on the way counts for all the edges that it does
without. An edge that the equivalence class leaves open has turned = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyticdag._threads import in_threads
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.search import kernels
from analyticdag.search.graph import Search
from analyticdag.search.kernels import Stop
from analyticdag.search.setting import Setting

# Reinsertions after an edge is ruled out: forty find gaps that are 2 % smaller
# (docs/design/order-search.md). In graphs of many edges there are fewer, so that all of
# them together take no longer than the search: the first step alone is what moves cost.
REPAIRS = 12
MOST_REPAIRS = 20_000


@dataclass(frozen=True, eq=False)
class Gaps:
    """Rises of the score, as (d, d) matrices; infinite where the edge is required, or is none."""

    apart: FloatArray
    turned: FloatArray


def edge_gaps(setting: Setting, adjacency: BoolArray, order: IntArray) -> Gaps:
    """Return what the edges of a graph are worth, by the score of the setting."""
    apart, turned = np.full((2, *adjacency.shape), np.inf)
    free = adjacency if setting.required is None else adjacency & ~setting.required
    tails, heads = (np.ascontiguousarray(ends) for ends in np.nonzero(free))
    if len(tails):
        stop = Stop()

        def measure(edges: tuple[IntArray, IntArray]) -> None:
            _lower(setting, adjacency, order, edges, Gaps(apart, turned), stop)

        in_threads(measure, [(tails, heads)], 1, stop)
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
