"""From the weights of a path to a DAG: threshold, cycles, limits.

1. Weights below the threshold become zero; a required edge stays whatever its weight.
2. If a cycle is left, the weakest edges on cycles are dropped until none is.
3. If a node has more parents than allowed, its weakest ones are dropped.

What steps 2 and 3 took is reported; the order that remains is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.graphs import nearest_dag
from analyticdag.knowledge import EdgeMasks

# Stands for the weight of a required edge that is zero.
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Finished:
    """Weights of a DAG, its edges, and what was dropped to get there."""

    weights: FloatArray
    adjacency: BoolArray
    on_cycles: tuple[tuple[int, int], ...] = ()
    over_limit: tuple[tuple[int, int], ...] = ()


def finish(weights: FloatArray, threshold: float, masks: EdgeMasks) -> Finished:
    """Turn the weights of a path into a DAG that respects knowledge and limits."""
    required = masks.required
    W = np.where((np.abs(weights) >= threshold) | required, weights, 0.0)
    # A required edge of weight zero must be seen by the cycle test as well.
    W, on_cycles = nearest_dag(np.where(required & (W == 0.0), _TINY, W), protected=required)
    over_limit = _over_limit(W, masks)
    for edge in over_limit:
        W[edge] = 0.0
    adjacency: BoolArray = W != 0.0
    W = np.where(np.abs(W) > _TINY, W, 0.0)
    return Finished(W, adjacency, tuple(on_cycles), tuple(over_limit))


def _over_limit(W: FloatArray, masks: EdgeMasks) -> list[tuple[int, int]]:
    """Return the weakest edges of nodes with more than max_parents; required ones stay."""
    limit = masks.max_parents
    if limit is None:
        return []
    strength = np.where(masks.required, np.inf, np.abs(W))
    edges = []
    for j in np.flatnonzero(np.count_nonzero(W, axis=0) > limit):
        parents = np.flatnonzero(W[:, j])
        weakest_first = parents[np.argsort(strength[parents, j], kind="stable")]
        edges += [(int(i), int(j)) for i in weakest_first[: len(parents) - limit]]
    return edges
