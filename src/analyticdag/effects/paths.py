"""The directed paths that carry an effect, each with the product of its coefficients.

There can be far too many paths to list. The strongest ones to a node are among the strongest ones
to its parents, each with one edge more, so a few of them are found without going through all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.effects.equations import Equations
from analyticdag.graphs import topological_order

# As many as a person reads.
MOST_PATHS = 20


@dataclass(frozen=True)
class Paths:
    """The strongest paths of one cause to one outcome, and how many there are in all."""

    strongest: tuple[tuple[float, tuple[int, ...]], ...]
    count: int


def paths_between(equations: Equations, x: int, y: int) -> Paths:
    """Return the strongest paths from x to y: their products, and the nodes on them."""
    causal = equations.reach[x] & equations.reach[:, y]
    if not causal[y]:
        return Paths((), 0)
    order = [node for node in topological_order(equations.graph).tolist() if causal[node]]
    best: dict[int, list[tuple[float, tuple[int, ...]]]] = {x: [(1.0, (x,))]}
    count = {x: 1}
    for node in order[1:]:
        parents: IntArray = np.flatnonzero(equations.graph[:, node] & causal)
        count[node] = sum(count[parent] for parent in parents.tolist())
        best[node] = _extended(best, equations.weights, node, parents)[:MOST_PATHS]
    return Paths(tuple(best[y]), count[y])


def _extended(
    best: dict[int, list[tuple[float, tuple[int, ...]]]],
    weights: FloatArray,
    node: int,
    parents: IntArray,
) -> list[tuple[float, tuple[int, ...]]]:
    longer = [
        (product * float(weights[parent, node]), (*nodes, node))
        for parent in parents.tolist()
        for product, nodes in best[parent]
    ]
    return sorted(longer, key=lambda path: (-abs(path[0]), path[1]))
