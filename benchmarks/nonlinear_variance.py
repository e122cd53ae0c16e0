"""Does `NonlinearDAG(variance="auto")` do as well as the better of the two fixed choices?

A cell draws a table, fits DAGMA's network with one noise variance for all columns and with one for
each, and asks which of the two "auto" takes. The tables: *equal* noise, *unequal* noise (standard
deviations from 0.5 to 1.5), *standardised* columns, or equal noise and columns in arbitrary
*units* (multiplied by exp(z), z Gaussian).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.errors import AnalyticDAGWarning, ParameterError
from analyticdag.metrics import compare
from analyticdag.nonlinear import NonlinearDAG
from analyticdag.simulate import simulate
from benchmarks.plan import Method, Scalar

__all__ = ["nonlinear_variance"]

_KINDS = ("equal", "unequal", "standardised", "units")


def nonlinear_variance(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Directed F1 of both fixed choices and of "auto", and how often "auto" took one for all.

    The setting has ``mechanism``, ``graph``, ``nodes``, ``samples`` and ``kind``; the method is
    the name of a model.
    """
    truth, X = _drawn(setting, rng)
    seed = int(rng.integers(2**31))
    options = {"model": method.call, "random_state": seed, "device": "cpu", **method.options}
    f1 = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalyticDAGWarning)
        for variance in ("equal", "constant"):
            model = NonlinearDAG(variance=variance, **options).fit(X)
            f1[variance] = compare(truth, model.adjacency_matrix_).f1
        # The choice is made before training, and the rest of the fit is that of the choice.
        chosen = NonlinearDAG(variance="auto", **{**options, "max_steps": 1}).fit(X).variance_
    return {
        "f1_equal": f1["equal"],
        "f1_constant": f1["constant"],
        "f1_auto": f1[chosen],
        "took_equal": int(chosen == "equal"),
    }


def _drawn(
    setting: Mapping[str, Scalar], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw a graph and a table of the kind that is asked for."""
    kind = str(setting["kind"])
    if kind not in _KINDS:
        raise ParameterError(f"kind must be one of {_KINDS}, not {kind!r}")
    drawn = simulate(
        str(setting["graph"]),
        n_nodes=int(setting["nodes"]),
        n_samples=int(setting["samples"]),
        mechanism=str(setting["mechanism"]),  # type: ignore[arg-type]
        standardize=kind == "standardised",
        noise_scale=(0.5, 1.5) if kind == "unequal" else 1.0,
        seed=int(rng.integers(2**31)),
    )
    units = np.exp(rng.standard_normal(drawn.n_nodes)) if kind == "units" else 1.0
    return drawn.weights, drawn.data * units
