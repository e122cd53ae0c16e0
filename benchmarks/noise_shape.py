"""How many directions the shapes of noise give, and how many of them are right.

The methods are those of ``learn``. A class that a method returns is replaced by a random member of
it, as whoever needs one graph would have to. Of our own method the record also has the distance of
a random member of its class (``shd_class``), the edges that the class left open (``open``), those
labelled "noise shape" (``labelled``), and how many of these are in the true graph (``right``) or
join a pair that it does not join (``no_edge``).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.errors import InputError
from analyticdag.fitting import FixedBy
from analyticdag.graphs import is_dag, random_member
from analyticdag.linear import AnalyticDAG
from analyticdag.metrics import compare
from benchmarks.learn import draw_problem
from benchmarks.methods import find_method
from benchmarks.plan import Method, Scalar

__all__ = ["noise_shape"]


def noise_shape(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Distance to the true DAG, processor time, and for our method what became of its labels."""
    truth, X = draw_problem(setting, rng)
    seed = int(rng.integers(2**31))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn about what they cannot know
        if method.call == "analyticdag":
            options = {key: value for key, value in method.options.items() if key != "steps"}
            model = AnalyticDAG(random_state=seed, **options).fit(X)  # a search takes no steps
            estimate, labels = model.weights_, _labels(truth, model, rng)
        else:
            answer = find_method(method.call)(X, seed, **method.options)
            estimate, labels = answer[0] if isinstance(answer, tuple) else answer, {}
    seconds = time.process_time() - start
    counts = compare(truth, _one_graph(estimate, rng))
    return {"shd": counts.shd, "cpu_seconds": seconds, "edges": counts.n_estimated, **labels}


def _one_graph(estimate: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a DAG as it is, and of a class a random member; what is no class stays as it is."""
    graph: FloatArray = (np.asarray(estimate) != 0).astype(np.float64)
    if not is_dag(graph):
        with suppress(InputError):
            graph = random_member(graph, rng).astype(np.float64)
    return graph


def _labels(truth: FloatArray, model: AnalyticDAG, rng: np.random.Generator) -> dict[str, int]:
    labelled = [
        (int(edge.source), int(edge.target))  # type: ignore[call-overload]
        for edge in model.edges_
        if edge.fixed_by is FixedBy.NOISE_SHAPE
    ]
    both_ways = model.cpdag_ & model.cpdag_.T
    member = random_member(model.cpdag_, rng)
    return {
        "shd_class": compare(truth, member.astype(float)).shd,
        "open": int(both_ways.sum()) // 2,
        "labelled": len(labelled),
        "right": sum(truth[i, j] != 0 for i, j in labelled),
        "no_edge": sum(truth[i, j] == 0 and truth[j, i] == 0 for i, j in labelled),
    }
