"""Preliminary neighbour selection: which columns could matter to which, by random trees.

Every column is regressed on all others by extremely randomised trees; a column whose importance
is at least `SHARE` of the average stays a possible parent. As in CAM and GraN-DAG, this is for
tables of many columns, where networks with every input would overfit.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from analyticdag._typing import BoolArray, FloatArray

# The published settings.
SHARE = 0.75
_TREES = 500


def plausible_parents(X: FloatArray, allowed: BoolArray, *, seed: int) -> BoolArray:
    """Return the (d, d) mask of edges i -> t among `allowed` for which i helps to predict t."""
    plausible = np.zeros_like(allowed)
    for t in range(X.shape[1]):
        sources = np.flatnonzero(allowed[:, t])
        if len(sources):
            forest = ExtraTreesRegressor(_TREES, random_state=seed + t).fit(X[:, sources], X[:, t])
            importance = forest.feature_importances_
            plausible[sources, t] = importance >= SHARE * importance.mean()
    return plausible
