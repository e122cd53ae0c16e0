"""What do gaps cost, and what does each way to deal with them save?

A cell draws a graph and a table, makes gaps in it, and learns from what is left. Gaps come by
chance alone ("MCAR"), or every fifth column is always there and decides in which rows the others
have gaps ("MAR": the higher it is, the more). ``share`` is of the cells that may be gaps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import optimize, special

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import ParameterError
from analyticdag.linear import AnalyticDAG
from analyticdag.metrics import compare
from analyticdag.simulate import simulate
from analyticdag.tables import Gaussian, pair_counts
from benchmarks.plan import Method, Scalar

__all__ = ["gaps"]

_ALWAYS_THERE = 5  # one column of so many
_STEEP = 2.0  # log-odds of a gap, for each standard deviation of the column that decides


def gaps(setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator) -> dict[str, Any]:
    """Errors of the graph that a method learns from a table with gaps.

    The setting has ``graph``, ``nodes``, ``samples``, ``pattern`` and ``share``.
    """
    drawn = simulate(
        str(setting["graph"]),
        n_nodes=int(setting["nodes"]),
        n_samples=int(setting["samples"]),
        noise_scale=(0.5, 1.5),
        seed=int(rng.integers(2**31)),
    )
    absent = _absent(drawn.data, str(setting["pattern"]), float(setting["share"]), rng)
    learner = _METHODS.get(method.call)
    if learner is None:
        raise ParameterError(f"no way with gaps is called {method.call!r}; {', '.join(_METHODS)}")
    start = time.perf_counter()
    graph, n_counted = learner(drawn.data, np.where(absent, np.nan, drawn.data))
    seconds = time.perf_counter() - start
    counts = compare(drawn.weights, graph)
    return {
        "shd_cpdag": counts.shd_cpdag,
        "missing_edges": counts.missing,
        "extra_edges": counts.extra,
        "rows_counted": n_counted,
        "seconds": seconds,
    }


def _absent(X: FloatArray, pattern: str, share: float, rng: np.random.Generator) -> BoolArray:
    """Return which cells are gaps."""
    draws = rng.random(X.shape)
    if pattern == "MCAR":
        return draws < share
    if pattern != "MAR":
        raise ParameterError(f"pattern must be MCAR or MAR, not {pattern!r}")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    columns = rng.permutation(X.shape[1])
    there, others = np.split(columns, [max(len(columns) // _ALWAYS_THERE, 1)])
    absent = np.zeros(X.shape, dtype=bool)
    for column in others:
        pull = _STEEP * Z[:, rng.choice(there)]
        level = optimize.brentq(lambda a, p=pull: special.expit(a + p).mean() - share, -30, 30)
        absent[:, column] = draws[:, column] < special.expit(level + pull)
    return absent


def _fitted(X: FloatArray, **options: Any) -> tuple[Any, int]:
    model = AnalyticDAG(n_jobs=1, **options).fit(X)
    return model.adjacency_matrix_, model.moments_.n_samples


def _dropped(X: FloatArray) -> tuple[Any, int]:
    full = X[~np.isnan(X).any(axis=1)]
    if len(full) < 3:  # nothing can be learned: the empty graph
        return np.zeros((X.shape[1], X.shape[1])), len(full)
    return _fitted(full)


def _from_em(X: FloatArray, n_samples: int) -> tuple[Any, int]:
    model = AnalyticDAG(n_jobs=1).fit_covariance(Gaussian.of_rows(X).S, n_samples=n_samples)
    return model.adjacency_matrix_, n_samples


# What each learns from: the whole table, or the one with gaps.
_METHODS: dict[str, Callable[[FloatArray, FloatArray], tuple[Any, int]]] = {
    "complete": lambda whole, _: _fitted(whole),
    "em": lambda _, X: _fitted(X, missing="em"),
    "em-all-rows": lambda _, X: _from_em(X, len(X)),
    "em-fewest": lambda _, X: _from_em(X, max(int(pair_counts(X).min()), 2)),
    "drop": lambda _, X: _dropped(X),
    "mean": lambda _, X: _fitted(np.where(np.isnan(X), np.nanmean(X, axis=0), X)),
}
