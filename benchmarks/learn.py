"""How well does a method recover a known graph? Simulate, learn, compare.

A setting has ``graph`` ("ER2"), ``nodes``, ``samples`` and, if wanted, ``noise`` ("gaussian"),
``standardize`` (false), ``noise_scale``, ``weight_range``, ``effects``, ``units``, ``mechanism``,
``levels``, ``hidden`` and ``regimes``; or ``dataset = "sachs"`` for real data. A range is written
"0.5 to 1.5", because a list is an axis. Undirected edges of a method that returns an equivalence
class count as errors in ``shd`` and as correct in ``shd_favourable``. ``f1_skeleton`` leaves
directions out, ``f1_arrows`` counts the arrows of the equivalence classes, ``aid`` is the ancestor
adjustment distance between the two classes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.datasets import load_sachs
from analyticdag.errors import InputError, MissingDependencyError, ParameterError
from analyticdag.graphs import from_networkx, is_dag, to_cpdag
from analyticdag.metrics import compare
from analyticdag.simulate import simulate
from benchmarks.memory import peak_rss_mib
from benchmarks.methods import find_method, shortened
from benchmarks.plan import Method, Scalar

__all__ = ["draw_problem", "learn"]

_ARGUMENTS = {"nodes": "n_nodes", "samples": "n_samples"}
_RANGES = {"noise_scale", "weight_range", "effects", "units"}
_VIOLATIONS = {"levels", "hidden", "regimes"}
_KNOWN = {"graph", "nodes", "samples", "noise", "standardize", "mechanism"} | _RANGES | _VIOLATIONS


def learn(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Metrics of the learned graph against the true one, and the seconds it took."""
    weights, X = draw_problem(setting, rng)
    edges = sparse.csr_array(weights)
    del weights  # dense, the truth would count as memory of the method
    seed = int(rng.integers(2**31))
    learner = find_method(method.call)
    begin = time.perf_counter()
    _warm_up(method, seed)
    start, cpu = time.perf_counter(), time.process_time()
    answer = learner(X.copy(), seed, **method.options)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_rss_mib()  # before the comparison, which needs more than many a method
    estimate, numbers = answer if isinstance(answer, tuple) else (answer, {})
    truth = edges.toarray()
    return {
        **compare(truth, estimate).as_dict(),
        **_of_classes(truth, estimate),
        "shd_favourable": compare(truth, estimate, undirected="favourable").shd,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "warm_up_seconds": start - begin,
        "peak_rss_mib": peak,
        **numbers,
    }


def _of_classes(truth: FloatArray, estimate: FloatArray) -> dict[str, float | None]:
    """Measures of skeleton and class; None where they cannot be computed."""
    counts = compare(truth, estimate)
    pairs, shared = counts.n_true + counts.n_estimated, counts.n_true - counts.missing
    measures: dict[str, float | None] = {
        "f1_skeleton": 2.0 * shared / pairs if pairs else 1.0, "f1_arrows": None, "aid": None
    }  # fmt: skip
    with suppress(InputError, MissingDependencyError):  # an estimate without a class has neither
        true, found = (_class_of(graph) for graph in (truth, estimate))
        arrows, hits = ((true & ~true.T), (found & ~found.T)), true & ~true.T & found & ~found.T
        total = sum(int(side.sum()) for side in arrows)
        measures["f1_arrows"] = 2.0 * float(hits.sum()) / total if total else 1.0
        measures["aid"] = compare(true, found).aid
    return measures


def _class_of(graph: FloatArray) -> BoolArray:
    """The class of a DAG; a class is returned as it is."""
    edges: BoolArray = np.asarray(graph) != 0
    return to_cpdag(edges) != 0 if is_dag(edges) else edges


def draw_problem(
    setting: Mapping[str, Scalar], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The true weights and the data of a setting."""
    if setting.get("dataset") == "sachs":
        sachs = load_sachs()
        return from_networkx(sachs.graph, sachs.names)[0], sachs.values
    unknown = set(setting) - _KNOWN
    if unknown:
        known = ", ".join(sorted(_KNOWN))
        raise ParameterError(
            f"unknown setting {sorted(unknown)}; known: {known}; or dataset = 'sachs'"
        )
    arguments: dict[str, Any] = {
        _ARGUMENTS.get(key, key): _range(key, value) if key in _RANGES else value
        for key, value in setting.items()
    }
    simulation = simulate(**arguments, seed=int(rng.integers(2**63)))
    return simulation.weights, simulation.data


def _range(key: str, value: Scalar) -> float | tuple[float, float]:
    """Read 1.0 or "0.5 to 1.5"."""
    try:
        low, *high = (float(end) for end in str(value).split(" to "))
    except ValueError:
        low, high = 0.0, [0.0, 0.0]
    if len(high) > 1:
        raise ParameterError(f"{key} must be a number or 'LOW to HIGH', not {value!r}")
    return (low, high[0]) if high else low


def _warm_up(method: Method, seed: int) -> None:
    """A tiny problem first: imports are not what a method is measured by."""
    tiny = simulate("ER1", n_nodes=5, n_samples=100, seed=seed)
    options = {**method.options, **shortened(method)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is too short to converge, by design
        find_method(method.call)(tiny.data, seed, **options)
