"""From parents to weights: least squares, and whether many of the weights are faint.

Where effects are strong, the layered order is right nearly everywhere and the residual variances
say where it is not. Where they are weak, a parent that stands behind its child hardly shows in a
residual variance, so every node has to be tried elsewhere; and most of what lies a little below the
usual price of an edge is an effect, not an accident, so edges have to be cheaper.
"""

from __future__ import annotations

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.interventions import Moments
from analyticdag.search.setting import Graph, Setting

# The gamma of the extended BIC where effects are faint: docs/design/order-search.md.
FAINT_GAMMA = 0.4
# An edge is faint when it gains less than this many prices,
_PRICES = 2.0
# and there are many when they are more than this share of all: with strong effects it is 0 to 0.1
# percent.
_MANY = 0.02


def least_squares(setting: Setting, graph: Graph, moments: Moments) -> FloatArray:
    """Weights of every node on its parents, in the units of the moments."""
    d, count, of = len(graph.order), graph.count, moments.of
    # What one unit of the setting is in units of the moments, for each set of rows and variable.
    unit = np.ones((len(moments.S), d))
    if not setting.equal:
        unit = np.sqrt(np.diagonal(moments.S, axis1=1, axis2=2))
    inverse = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    W = np.zeros((d, d))
    for k in np.unique(count[count > 0]).tolist():
        nodes = np.flatnonzero(count == k)
        parents = np.sort(graph.parents[nodes, :k], axis=1)
        among, with_node = setting.moments.of_parents(nodes, parents)
        weights = np.linalg.solve(among, with_node[:, :, None])[:, :, 0]
        rows, mine = of[nodes, None], nodes[:, None]
        W[parents, mine] = weights * inverse[rows, parents] * unit[rows, mine]
    if setting.required is None:
        return W
    for j in np.flatnonzero((setting.required & (W == 0.0)).any(axis=0)).tolist():
        # Required, though collinear with the others: they share the weight.
        R = setting.moments.covariance_of(j)
        pa = np.flatnonzero(setting.required[:, j] | (W[:, j] != 0.0))
        shared = np.linalg.lstsq(R[np.ix_(pa, pa)], R[pa, j], rcond=None)[0]
        W[pa, j] = shared * inverse[of[j], pa] * unit[of[j], j]
    return W


def many_are_faint(setting: Setting, graph: Graph, W: FloatArray) -> bool:
    """Whether more than a few edges of the graph, with weights W, hardly pay for themselves.

    Equal noise variances only.
    """
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
