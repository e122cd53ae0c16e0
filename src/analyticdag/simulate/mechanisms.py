"""How a node depends on its parents: one class per mechanism, applied in causal order.

- ``linear``    x_j = Σ_i W[i, j] x_i + e_j
- ``bent``      x_j = Σ_i W[i, j] (x_i + c_ij |x_i|) + e_j, c_ij = ±U(0.1, 0.5): another slope on
  either side of zero, a slight bend
- ``mlp``       x_j = Σ_h a_h sigmoid(Σ_i b_ih x_i) + e_j, 100 hidden units, ±U(0.5, 2) weights
- ``gp``        x_j = f_j(parents) + e_j, f_j from a Gaussian process, unit squared-exponential
- ``additive``  x_j = Σ_i f_ij(x_i) + e_j, each f_ij from the same process in one dimension

The settings of the last three are those of the NOTEARS-MLP simulator. A Gaussian process draw
is made with random Fourier features (Rahimi and Recht 2007): linear instead of cubic in the
number of rows, and the function is the same however many rows are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse
from scipy.special import expit

from analyticdag._parameters import choice
from analyticdag._typing import FloatArray, IntArray
from analyticdag.graphs import topological_order

__all__ = ["WEIGHTED", "MechanismName", "check_mechanism", "run_equations", "signed_uniform"]

MechanismName: TypeAlias = Literal["linear", "bent", "conditional", "mlp", "gp", "additive"]

WEIGHTED = ("linear", "bent", "conditional")  # mechanisms whose edges have a weight

_HIDDEN_UNITS = 100
_FOURIER_FEATURES = 500

# (values of the parents, one row per parent; generator of the functions) -> values
_Function: TypeAlias = Callable[[FloatArray, np.random.Generator], FloatArray]


def check_mechanism(mechanism: str) -> None:
    """Refuse an unknown name."""
    choice("mechanism", mechanism, get_args(MechanismName))


def run_equations(
    weights: FloatArray,
    noise: FloatArray,
    *,
    mechanism: str = "linear",
    binary: bool = False,
    functions_rng: np.random.Generator,
) -> FloatArray:
    """Return the (n, d) data that the equations make of the (n, d) noise."""
    check_mechanism(mechanism)
    by_head = sparse.csc_array(weights)
    # One row per variable while we work: a node reads and writes whole variables.
    X = np.array(noise.T, order="C")
    for j in topological_order(weights):
        entries = slice(by_head.indptr[j], by_head.indptr[j + 1])
        parents: IntArray = by_head.indices[entries]
        if len(parents):
            if mechanism == "linear":
                X[j] += by_head.data[entries] @ X[parents]
            elif mechanism == "bent":
                X[j] += by_head.data[entries] @ _bent(X[parents], functions_rng)
            else:
                X[j] += _NONLINEAR[mechanism](X[parents], functions_rng)
        if binary:
            X[j] = X[j] > 0.0
    return np.ascontiguousarray(X.T)


def signed_uniform(
    low: float, high: float, size: int | tuple[int, ...], rng: np.random.Generator
) -> FloatArray:
    """Draw ±U(low, high)."""
    magnitude = rng.uniform(low, high, size=size)
    return np.where(rng.random(size) < 0.5, -magnitude, magnitude)


def _bent(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    bend = signed_uniform(0.1, 0.5, (len(parents), 1), rng)
    return parents + bend * np.abs(parents)


def _mlp(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    inner = signed_uniform(0.5, 2.0, (_HIDDEN_UNITS, len(parents)), rng)
    outer = signed_uniform(0.5, 2.0, _HIDDEN_UNITS, rng)
    values: FloatArray = outer @ expit(inner @ parents)
    return values


def _gaussian_process(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    frequency = rng.standard_normal((_FOURIER_FEATURES, len(parents)))
    phase = rng.uniform(0.0, 2.0 * np.pi, size=(_FOURIER_FEATURES, 1))
    amplitude = rng.standard_normal(_FOURIER_FEATURES) * np.sqrt(2.0 / _FOURIER_FEATURES)
    values: FloatArray = amplitude @ np.cos(frequency @ parents + phase)
    return values


def _additive(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    terms = np.stack([_gaussian_process(parent[None, :], rng) for parent in parents])
    values: FloatArray = terms.sum(axis=0)
    return values


_NONLINEAR: dict[str, _Function] = {
    "mlp": _mlp,
    "gp": _gaussian_process,
    "additive": _additive,
}
