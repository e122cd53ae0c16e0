"""What does a constraint cost? Value and gradient against one LAPACK inverse of the same matrix.

Wall-clock times of two machines say little; the ratio to an inverse (getrf + getri) of the matrix
I - A/s, measured in turn with the constraint on the same machine in the same minute, says how far
an evaluation is from the least that any method on that matrix has to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.linalg import lapack

from analyticdag._typing import FloatArray
from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import ParameterError
from analyticdag.functions import named
from analyticdag.spectral import cyclic_components, spectral_radius
from benchmarks.plan import Method, Scalar

__all__ = ["constraint_cost", "make_weights"]

_SECONDS = 1.0  # how long to repeat, at least
_ROUNDS = (5, 50)  # and how often, at least and at most


def constraint_cost(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Median cost of ``value_and_gradient`` over the median cost of one inverse.

    The setting has ``nodes`` and ``structure``; the method is the name of a constraint, with
    ``method = "lu"`` or ``"doubling"`` to choose how its resolvent is formed.
    """
    W = make_weights(str(setting["structure"]), int(setting["nodes"]), rng)
    constraint = Acyclicity(named(method.call), **method.options)
    matrix = np.asfortranarray(np.eye(len(W)) - W * W)
    ours, inverse = _in_turn(lambda: constraint.value_and_gradient(W), lambda: _inverse(matrix))
    return {
        "ratio": np.median(ours) / np.median(inverse),
        "milliseconds": 1e3 * np.median(ours),
        "inverse_milliseconds": 1e3 * np.median(inverse),
        "rounds": len(ours),
        "largest_component": max(map(len, cyclic_components(W)), default=1),
    }


def make_weights(structure: str, nodes: int, rng: np.random.Generator) -> FloatArray:
    """Weights W with the spectral radius of W * W at one half (zero for ``acyclic``).

    ``dense`` is one full component, ``sparse`` a random digraph with four edges per node,
    ``quarters`` four full components with edges between them in one direction only.
    """
    if structure not in _SUPPORTS:
        raise ParameterError(f"no structure is called {structure!r}; known: {sorted(_SUPPORTS)}")
    support = _SUPPORTS[structure](nodes, rng)
    np.fill_diagonal(support, False)
    # Labels in random order: no method may profit from a triangular or blocked layout.
    order = rng.permutation(nodes)
    W = np.where(support, rng.uniform(0.5, 2.0, (nodes, nodes)), 0.0)[np.ix_(order, order)]
    radius = spectral_radius(W * W)
    return W * np.sqrt(0.5 / radius) if radius > 0 else W


def _dense(nodes: int, rng: np.random.Generator) -> Any:
    return np.ones((nodes, nodes), dtype=bool)


def _sparse(nodes: int, rng: np.random.Generator) -> Any:
    return rng.random((nodes, nodes)) < 4 / nodes


def _quarters(nodes: int, rng: np.random.Generator) -> Any:
    quarter = np.arange(nodes) * 4 // nodes
    return quarter[:, None] <= quarter[None, :]


def _acyclic(nodes: int, rng: np.random.Generator) -> Any:
    return np.triu(_sparse(nodes, rng), 1)


_SUPPORTS: dict[str, Callable[[int, np.random.Generator], Any]] = {
    "dense": _dense,
    "sparse": _sparse,
    "quarters": _quarters,
    "acyclic": _acyclic,
}


def _inverse(matrix: FloatArray) -> FloatArray:
    """LU factorisation and inverse, the way numpy.linalg and scipy.linalg do it."""
    size, _ = lapack.dgetri_lwork(len(matrix))
    lu, pivots, _ = lapack.dgetrf(matrix)
    inverse: FloatArray = lapack.dgetri(lu, pivots, lwork=int(size), overwrite_lu=True)[0]
    return inverse


def _in_turn(
    first: Callable[[], object], second: Callable[[], object]
) -> tuple[list[float], list[float]]:
    """Time two functions alternately, so that whatever disturbs one disturbs the other too."""
    first(), second()  # the first call pays for imports, caches and page faults
    times: tuple[list[float], list[float]] = ([], [])
    least, most = _ROUNDS
    begin = time.perf_counter()
    while len(times[0]) < least or (
        len(times[0]) < most and time.perf_counter() - begin < _SECONDS
    ):
        for function, seconds in zip((first, second), times, strict=True):
            # Processor time: on a shared machine the clock on the wall measures the neighbours.
            start = time.process_time()
            function()
            seconds.append(time.process_time() - start)
    return times
