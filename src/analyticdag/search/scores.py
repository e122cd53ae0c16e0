"""What the search minimises: a sum over nodes of misfit plus a price per parent.

    unequal variances   sum_j n log(r_j) + penalty * |pa_j|                  (EBIC, Foygel-Drton)
    equal variances     n d log(mean_j r_j) + penalty * (number of edges)    (pooled variance)

with penalty = log n + 4 gamma log d; r_j is the residual variance of node j given its parents.
The first score does not change when variables are rescaled, so it is evaluated on the correlation
matrix. The second is not a sum over nodes; with the noise variance fixed at s2 it becomes one,
sum_j n r_j / s2 + penalty * |pa_j|, and that sum is what moves are judged by.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.errors import ParameterError
from analyticdag.moments import Moments
from analyticdag.search.records import COLLINEAR

ScoreName: TypeAlias = Literal["unequal", "equal"]

# The extended BIC's gamma. Knowing the scale lowers the price: the noise level is not estimated
# anew for every node, so fewer accidents need to be guarded against.
_GAMMA: dict[str, float] = {"unequal": 1.0, "equal": 0.75}


def default_gamma(score: str) -> float:
    """The gamma that is used when the caller gives none."""
    if score not in _GAMMA:
        raise ParameterError(f"score must be 'unequal' or 'equal'; got {score!r}.")
    return _GAMMA[score]


def edge_penalty(n_samples: int, n_nodes: int, gamma: float) -> float:
    """Price of one edge: log n + 4 gamma log d."""
    return float(np.log(n_samples) + 4.0 * gamma * np.log(n_nodes))


def graph_score(moments: Moments, weights: FloatArray, *, score: ScoreName, gamma: float) -> float:
    """Score of a weighted graph on data with these moments; smaller is better.

    The unequal-variance score is that of the standardised variables, so that it is the same for
    any rescaling of the data.
    """
    d, n = len(weights), moments.samples_of
    residuals = np.maximum(moments.residual_variances(weights), 0.0)
    price = edge_penalty(moments.n_samples, d, gamma) * np.count_nonzero(weights)
    if score == "equal":
        pooled = max(np.average(residuals, weights=n), np.finfo(float).tiny)
        return float(n.sum() * np.log(pooled)) + price
    variances = moments.own_variances
    shares = np.divide(residuals, variances, out=np.ones(d), where=variances > 0)
    return float(n @ np.log(np.maximum(shares, COLLINEAR))) + price
