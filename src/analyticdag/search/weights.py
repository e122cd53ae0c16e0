"""From parents to weights: least squares, and whether many of the weights are faint.

Where effects are strong, the layered order is right nearly everywhere and the residual variances
say where it is not. Where they are weak, a parent that stands behind its child hardly shows in a
residual variance, so every node has to be tried elsewhere; and most of what lies a little below the
usual price of an edge is an effect, not an accident, so edges have to be cheaper.
"""

from __future__ import annotations

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.least_squares import regressions_of, weights_on_parents
from analyticdag.moments import Moments
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
    edges = graph.adjacency
    if setting.required is not None:
        edges |= setting.required  # a required parent that others determine is in no regression
    return weights_on_parents(moments, edges)


def many_are_faint(setting: Setting, W: FloatArray) -> bool:
    """Whether more than a few edges, with weights W, hardly pay for themselves.

    Equal noise variances only.
    """
    assert setting.noise is not None
    samples, gains = setting.moments.samples_of, [np.empty(0)]
    for found in regressions_of(setting.moments, W != 0.0):
        n, weights = samples[found.nodes, None], W[found.parents, found.nodes[:, None]]
        gains.append((n * weights**2 / found.precisions / setting.noise).ravel())
    faint = np.concatenate(gains) < _PRICES * setting.penalty
    return bool(len(faint) and faint.mean() > _MANY)
