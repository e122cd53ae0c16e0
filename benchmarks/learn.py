"""How well does a method recover a known graph? Simulate, learn, compare.

A setting has ``graph`` ("ER2"), ``nodes``, ``samples`` and, if wanted, ``noise`` ("gaussian"),
``standardize`` (false), ``noise_scale``, ``weight_range`` and ``mechanism``; or
``dataset = "sachs"`` for real data. A range is written "0.5 to 1.5", because a list is an axis.
Undirected edges of a method that returns an equivalence class count as errors in ``shd`` and as
correct in ``shd_favourable``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.datasets import load_sachs
from analyticdag.errors import ParameterError
from analyticdag.graphs import from_networkx
from analyticdag.metrics import compare
from analyticdag.simulate import simulate
from benchmarks.memory import peak_rss_mib
from benchmarks.methods import WARM_UP, find_method
from benchmarks.plan import Method, Scalar

__all__ = ["draw_problem", "learn"]

_ARGUMENTS = {"nodes": "n_nodes", "samples": "n_samples"}
_RANGES = {"noise_scale", "weight_range"}
_KNOWN = {"graph", "nodes", "samples", "noise", "standardize", "mechanism", *_RANGES}


def learn(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Metrics of the learned graph against the true one, and the seconds it took."""
    truth, X = draw_problem(setting, rng)
    seed = int(rng.integers(2**31))
    learner = find_method(method.call)
    begin = time.perf_counter()
    _warm_up(method, seed)
    start, cpu = time.perf_counter(), time.process_time()
    answer = learner(X.copy(), seed, **method.options)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_rss_mib()  # before the comparison, which needs more than many a method
    estimate, numbers = answer if isinstance(answer, tuple) else (answer, {})
    return {
        **compare(truth, estimate).as_dict(),
        "shd_favourable": compare(truth, estimate, undirected="favourable").shd,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "warm_up_seconds": start - begin,
        "peak_rss_mib": peak,
        **numbers,
    }


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
    options = {**method.options, **WARM_UP.get(method.call, {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is too short to converge, by design
        find_method(method.call)(tiny.data, seed, **options)
