"""Tables with discrete columns: one node for each variable, beside simpler ways to read them.

A setting has ``graph``, ``nodes``, ``samples``, ``mechanism`` ("linear" for cuts of normal
variables, "conditional" for conditional Gaussian and logistic equations) and ``discrete``, the
share of discrete columns; or ``noise = "binary"`` for tables of 0 and 1, whose log-odds have normal
intercepts of the size ``intercepts``; or ``dirichlet``, and then all columns are categories with a
table of probabilities for each combination of their parents, drawn with that concentration. A
method is one of READERS.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.graphs import is_dag, topological_order
from analyticdag.linear import AnalyticDAG
from analyticdag.linear.options import solver_with
from analyticdag.metrics import compare
from analyticdag.search import search_orders
from analyticdag.simulate import Simulation, simulate
from analyticdag.simulate.mechanisms import draw_by_tables
from benchmarks.optional import optional
from benchmarks.plan import Method, Scalar

__all__ = ["READERS", "mixed"]

Reader: TypeAlias = Callable[..., FloatArray]


def mixed(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Errors of skeleton and class, and the processor time."""
    arguments: dict[str, Any] = dict(setting)
    nodes, samples = int(arguments.pop("nodes")), int(arguments.pop("samples"))
    low, high = str(arguments.pop("weight_range", "0.4 to 1.0")).split(" to ")
    intercepts = float(arguments.pop("intercepts", 0.0))
    dirichlet = float(arguments.pop("dirichlet", 0.0))
    drawn = simulate(
        n_nodes=nodes,
        n_samples=samples,
        weight_range=(float(low), float(high)),
        seed=int(rng.integers(2**31)),
        **arguments,
    )
    if intercepts:
        drawn = replace(drawn, data=_with_intercepts(drawn, intercepts, rng))
    if dirichlet:
        kinds = ("category",) * nodes
        codes = draw_by_tables(drawn.adjacency_matrix != 0, samples, dirichlet, rng)
        drawn = replace(drawn, data=codes.astype(np.float64), kinds=kinds)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = READERS[method.call](drawn, **method.options)
    seconds = time.process_time() - start
    counts = compare(drawn.adjacency_matrix, estimate)
    return {
        "skeleton_errors": counts.missing + counts.extra,
        "missing": counts.missing,
        "extra": counts.extra,
        "shd_cpdag": counts.shd_cpdag if is_dag(estimate) else None,
        "n_edges": counts.n_estimated,
        "cpu_seconds": seconds,
    }


def _with_intercepts(drawn: Simulation, spread: float, rng: np.random.Generator) -> FloatArray:
    """Draw 0/1 rows of the same logistic equations, with normal intercepts of this spread."""
    data, intercepts = np.zeros_like(drawn.data), rng.normal(0.0, spread, drawn.n_nodes)
    for j in topological_order(drawn.adjacency_matrix != 0):
        log_odds = data @ drawn.weights[:, j] + intercepts[j]
        data[:, j] = rng.logistic(size=len(data)) < log_odds
    return data


def frame_of(drawn: Simulation) -> Any:
    """The table as a data frame: categories as words, ordered columns with their order."""
    pandas = optional("pandas", "pandas")
    columns: dict[str, Any] = {}
    for k, kind in enumerate(drawn.kinds or ("yes/no",) * drawn.n_nodes):
        codes = drawn.data[:, k]
        texts = [f"level {int(code)}" for code in codes] if kind != "number" else []
        levels = [f"level {code}" for code in range(int(codes.max()) + 1)] if texts else []
        columns[f"x{k}"] = (
            pandas.Categorical(texts, categories=levels, ordered=kind == "ordered")
            if texts
            else codes
        )
    return pandas.DataFrame(columns)


def _ours(drawn: Simulation) -> FloatArray:
    """One node for each variable, categories as blocks, the better reading of the others."""
    return AnalyticDAG(n_jobs=1).fit(frame_of(drawn)).adjacency_matrix_.astype(np.float64)


def _searched(X: FloatArray) -> BoolArray:
    found: BoolArray = search_orders(np.cov(X.T), len(X), random_state=0, n_jobs=1).weights != 0.0
    return found


def _codes(drawn: Simulation) -> FloatArray:
    """Codes as numbers."""
    return _searched(drawn.data).astype(np.float64)


def _one_hot(drawn: Simulation) -> FloatArray:
    """A column for each level but the first, each a node; joined by any joins their variables."""
    columns, node = [], []
    for k, kind in enumerate(drawn.kinds or ("yes/no",) * drawn.n_nodes):
        x = drawn.data[:, k]
        own = [x] if kind == "number" else [(x == level) * 1.0 for level in np.unique(x)[1:]]
        columns += own
        node += [k] * len(own)
    arrows = np.zeros((drawn.n_nodes, drawn.n_nodes))
    for i, j in np.argwhere(_searched(np.column_stack(columns))).tolist():
        if node[i] != node[j]:
            arrows[node[i], node[j]] += 1.0
    return np.where(arrows > arrows.T, 1.0, np.where(arrows == arrows.T, np.sign(arrows), 0.0))


def _logistic(drawn: Simulation, steps: int | None = None) -> FloatArray:
    """The path with the logistic loss, and what goes with it."""
    solver = "auto" if steps is None else solver_with("adam", max_steps=steps)
    model = AnalyticDAG(loss="logistic", solver=solver)
    return model.fit(drawn.data).adjacency_matrix_.astype(np.float64)


def _pgmpy(drawn: Simulation, score: str = "bic-cg") -> FloatArray:
    """Hill climbing by pgmpy; "bic-cg" is the BIC of conditional Gaussians."""
    estimators = optional("pgmpy.estimators", "pgmpy")
    frame = frame_of(drawn)
    search = estimators.HillClimbSearch(frame)
    found = search.estimate(scoring_method=score, show_progress=False)
    return _arrows(drawn, found.edges())


def _pybnesian(drawn: Simulation) -> FloatArray:
    """Hill climbing in C++ by pybnesian, with the BIC of tables of probabilities."""
    package = optional("pybnesian", "pybnesian")
    network = package.DiscreteBNType()
    found = package.hc(frame_of(drawn), bn_type=network, score="bic", operators=["arcs"])
    return _arrows(drawn, found.arcs())


def _arrows(drawn: Simulation, pairs: Iterable[tuple[str, str]]) -> FloatArray:
    arrows = np.zeros((drawn.n_nodes, drawn.n_nodes))
    for a, b in pairs:
        arrows[int(a[1:]), int(b[1:])] = 1.0
    return arrows


READERS: dict[str, Reader] = {
    "ours": _ours,
    "codes": _codes,
    "one-hot": _one_hot,
    "logistic": _logistic,
    "pgmpy": _pgmpy,
    "pybnesian": _pybnesian,
}
