"""Rounding must not keep a search from its end."""

from __future__ import annotations

import numpy as np

from analyticdag import AnalyticDAG
from analyticdag.stability import bootstrap


def test_steps_that_undo_each_other_come_to_an_end() -> None:
    """A column far from zero has hardly a digit left; a round of such steps went on for ever."""
    rng = np.random.default_rng(815)
    X = rng.exponential(size=(7, 8)) - 1.0
    X = X @ np.linalg.inv(np.eye(8) - np.triu(rng.normal(size=(8, 8)), 1))
    X = X[:, rng.permutation(8)]
    X[:, 3] += 1e12
    X[:, 0] = 0.5
    model = AnalyticDAG(solver="order", loss="likelihood-nv", gamma=0.5)
    assert bootstrap(model, X, n_resamples=2).n_resamples == 2
