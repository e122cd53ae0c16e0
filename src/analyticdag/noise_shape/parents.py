"""Parents of one node by the covariances: one joins or leaves at a time, while the score improves.

The score is -n/2 · log(variance left) - price/2 · parents, in units of log-likelihood.
"""

from __future__ import annotations

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.least_squares import regressions
from analyticdag.losses import VARIANCE_FLOOR
from analyticdag.moments import Moments

__all__ = ["choose_parents", "score"]


def score(moments: Moments, node: int, parents: IntArray, price: float) -> float:
    """Return the score of a node with these parents, beyond that of the node without any."""
    own = moments.own_variances[node]
    if not len(parents) or own <= 0.0:
        return 0.0
    explained = regressions(moments, np.array([node]), parents[None]).explained[0]
    share = max(1.0 - explained / own, VARIANCE_FLOOR)
    return float(-(moments.samples_of[node] * np.log(share) + price * len(parents)) / 2.0)


def choose_parents(
    moments: Moments, node: int, parents: IntArray, free: IntArray, price: float, most: int
) -> IntArray:
    """Return the best parents that are found from these on.

    Those in `free` may leave, and join while there are fewer than `most`; if there are more, some
    have to leave.
    """
    n = moments.samples_of[node]
    while True:
        leaving = np.isin(parents, free)
        joining = np.setdiff1d(free, parents) if len(parents) < most else free[:0]
        lost, won = _shares(moments, node, parents, joining)
        better = np.r_[price - n * np.log1p(lost[leaving]), -n * np.log1p(-won) - price]
        if not len(better) or (better.max() <= 0.0 and len(parents) <= most):
            return parents
        step = np.r_[parents[leaving], joining][better.argmax()]
        parents = np.setxor1d(parents, [step])


def _shares(
    moments: Moments, node: int, parents: IntArray, joining: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return by what share of itself the variance left rises without each of the parents, and falls
    with each that joins them."""
    S = moments.covariance_of(node)
    found = regressions(moments, np.array([node]), parents[None])
    inverse, slopes, floor = found.inverse[0], found.slopes[0], VARIANCE_FLOOR * S.diagonal()
    left = max(S[node, node] - found.explained[0], floor[node], np.finfo(float).tiny)
    across = S[np.ix_(joining, parents)]
    link = S[joining, node] - across @ slopes
    spread = S[joining, joining] - np.einsum("ck,ck->c", across @ inverse, across)
    # A node that the parents determine explains nothing more.
    more = np.where(spread > floor[joining], link**2 / np.maximum(spread, floor[joining]), 0.0)
    return slopes**2 / found.precisions[0] / left, np.minimum(more / left, 1.0 - VARIANCE_FLOOR)
