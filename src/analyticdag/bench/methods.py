"""What a "learn" cell may call, by name: our estimator, honest baselines, and the peers.

A learner is a function ``(X, seed, **options) -> matrix``: entry (i, j) is non-zero for i -> j,
and an undirected edge (of a method that returns an equivalence class) has both entries set. It may
return ``(matrix, numbers)`` instead, with numbers of its own for the record, such as its steps.
Peers are adapters of a few lines around the real packages, imported when called; without them
the cell is recorded as missing. To add one, write such a function and add one line to METHODS.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.bench.tasks import find_function
from analyticdag.errors import MissingDependencyError, ParameterError

__all__ = ["METHODS", "Answer", "Learner", "find_method"]

Answer: TypeAlias = FloatArray | tuple[FloatArray, dict[str, Any]]
Learner: TypeAlias = Callable[..., Answer]


def find_method(name: str) -> Learner:
    """The learner with this name, or the function at ``package.module:function``."""
    if name in METHODS:
        return METHODS[name]
    if ":" in name:
        return find_function(name)
    raise ParameterError(
        f"no method is called {name!r}; known: {', '.join(sorted(METHODS))}; "
        "or give your own as 'package.module:function'"
    )


def _peer(package: str, module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(package, "bench") from error


def _empty(X: FloatArray, seed: int) -> FloatArray:
    """No edges at all: what a method has to beat before anything else."""
    return np.zeros((X.shape[1], X.shape[1]))


def _dagma(X: FloatArray, seed: int, **options: Any) -> Answer:
    model = _peer("dagma", "dagma.linear").DagmaLinear(loss_type=options.pop("loss_type", "l2"))
    update, steps = model._adam_update, itertools.count()

    def counted(*arguments: Any) -> Any:
        next(steps)
        return update(*arguments)

    model._adam_update = counted  # the package keeps no count of its steps
    weights: FloatArray = model.fit(X, **options)
    return weights, {"steps": next(steps)}


def _flop(X: FloatArray, seed: int, lambda_bic: float = 2.0, restarts: int = 20) -> FloatArray:
    graph = _peer("flopsearch", "flopsearch").flop(X, lambda_bic, restarts=restarts)
    return np.asarray(graph != 0, dtype=float)


def _pc(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = _peer("causal-learn", "causallearn.search.ConstraintBased.PC")
    return _from_causal_learn(search.pc(X, show_progress=False, **options).G)


def _ges(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = _peer("causal-learn", "causallearn.search.ScoreBased.GES")
    return _from_causal_learn(search.ges(X, **options)["G"])


def _boss(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = _peer("causal-learn", "causallearn.search.PermutationBased.BOSS")
    return _from_causal_learn(search.boss(X, verbose=False, **options))


def _grasp(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = _peer("causal-learn", "causallearn.search.PermutationBased.GRaSP")
    return _from_causal_learn(search.grasp(X, verbose=False, **options))


def _from_causal_learn(graph: Any) -> FloatArray:
    """causal-learn writes the mark at node j of the edge i - j into entry (j, i): 1 is a head."""
    marks = np.asarray(graph.graph)
    arrow = marks.T == 1
    undirected = (marks == -1) & (marks.T == -1)
    return np.asarray(arrow | undirected, dtype=float)


def _variance_sort(X: FloatArray, seed: int) -> FloatArray:
    weights: FloatArray = _peer("CausalDisco", "CausalDisco.baselines").var_sort_regress(X)
    return weights


def _r2_sort(X: FloatArray, seed: int) -> FloatArray:
    weights: FloatArray = _peer("CausalDisco", "CausalDisco.baselines").r2_sort_regress(X)
    return weights


METHODS: dict[str, Learner] = {
    "empty": _empty,
    "dagma": _dagma,
    "flop": _flop,
    "pc": _pc,
    "ges": _ges,
    "boss": _boss,
    "grasp": _grasp,
    "var-sort-regress": _variance_sort,
    "r2-sort-regress": _r2_sort,
}
