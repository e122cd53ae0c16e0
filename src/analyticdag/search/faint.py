"""Are many effects so weak that they could as well be none? Equal noise variances only.

Where effects are strong, the layered order is right nearly everywhere and the residual variances
say where it is not. Where they are weak, a parent that stands behind its child hardly shows in a
residual variance, so every node has to be tried elsewhere; and most of what lies a little below the
usual price of an edge is an effect, not an accident, so edges have to be cheaper.
"""

from __future__ import annotations

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.search.setting import Graph, Setting

# The gamma of the extended BIC where effects are faint.
GAMMA = 0.4
# An edge is faint when it gains less than this many prices,
_PRICES = 2.0
# and there are many when they are more than this share of all.
_MANY = 0.02


def many_are_faint(setting: Setting, graph: Graph, W: FloatArray) -> bool:
    """Whether more than a few edges of the graph, with weights W, hardly pay for themselves."""
    assert setting.noise is not None
    samples, gains = setting.moments.samples_of, [np.empty(0)]
    for k in np.unique(graph.count[graph.count > 0]).tolist():
        nodes = np.flatnonzero(graph.count == k)
        parents = graph.parents[nodes, :k]
        among, _ = setting.moments.of_parents(nodes, parents)
        # What is left of a parent once the others are known: one over the inverse's diagonal.
        alone = 1.0 / np.diagonal(_inverse(among), axis1=1, axis2=2)
        weights = W[parents, nodes[:, None]]
        gains.append((samples[nodes, None] * weights**2 * alone / setting.noise).ravel())
    faint = np.concatenate(gains) < _PRICES * setting.penalty
    return bool(len(faint) and faint.mean() > _MANY)


def _inverse(matrices: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.inv(matrices), np.float64)
    except np.linalg.LinAlgError:  # required parents may determine each other
        return np.asarray(np.linalg.pinv(matrices, hermitian=True), np.float64)
