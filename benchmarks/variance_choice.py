"""Does `loss="auto"` tell equal from unequal noise variances?

A cell draws data whose answer is known and asks the estimator: *equal* noise on its own scale, the
same data *standardised*, or *unequal* noise (standard deviations from 0.5 to 1.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from analyticdag.errors import ParameterError
from analyticdag.linear import AnalyticDAG
from analyticdag.metrics import compare
from analyticdag.simulate import simulate
from benchmarks.plan import Method, Scalar

__all__ = ["variance_choice"]

_KINDS = ("equal", "standardised", "unequal")


def variance_choice(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Whether the choice was right, by what margin, and how good the graph is.

    The setting has ``graph``, ``nodes``, ``samples``, ``noise`` and ``kind``; the method is the
    name of a solver.
    """
    kind = str(setting["kind"])
    if kind not in _KINDS:
        raise ParameterError(f"kind must be one of {_KINDS}, not {kind!r}")
    drawn = simulate(
        str(setting["graph"]),
        n_nodes=int(setting["nodes"]),
        n_samples=int(setting["samples"]),
        noise=str(setting["noise"]),  # type: ignore[arg-type]
        standardize=kind == "standardised",
        noise_scale=(0.5, 1.5) if kind == "unequal" else 1.0,
        seed=int(rng.integers(2**31)),
    )
    model = AnalyticDAG(loss="auto", solver=method.call, n_jobs=1).fit(drawn.data)
    choice = model.loss_choice_
    assert choice is not None
    counts = compare(drawn.weights, model.adjacency_matrix_)
    return {
        "right": int((model.loss_ == "likelihood-ev") == (kind == "equal")),
        "margin": choice.unequal - choice.equal,
        "shd": counts.shd,
        "shd_cpdag": counts.shd_cpdag,
    }
