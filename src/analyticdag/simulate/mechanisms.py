"""How a node depends on its parents: one function per mechanism, applied in causal order.

- ``linear``    x_j = Σ_i W[i, j] x_i + e_j
- ``bent``      x_j = Σ_i W[i, j] (x_i + c_ij |x_i|) + e_j, c_ij = ±U(0.1, 0.5): another slope on
  either side of zero, a slight bend
- ``mlp``       x_j = Σ_h a_h sigmoid(Σ_i b_ih x_i) + e_j, 100 hidden units, ±U(0.5, 2) weights
- ``gp``        x_j = f_j(parents) + e_j, f_j from a Gaussian process, unit squared-exponential
- ``additive``  x_j = Σ_i f_ij(x_i) + e_j, each f_ij from the same process in one dimension

The settings of the last three are those of the NOTEARS-MLP simulator. A Gaussian process draw
is made with random Fourier features (Rahimi and Recht 2007): linear instead of cubic in the
number of rows, and the function is the same however many rows are asked for.

With `discrete=0.5` half of the columns are yes/no, ordered or categories. Codes are 0, 1, …; levels
have unequal shares.

| mechanism       | how discrete columns come about                                               |
|-----------------|-------------------------------------------------------------------------------|
| `"linear"`      | the equations are linear, and some columns are recorded by level: cuts of a    |
|                 | normal variable; the levels of a category have lost their order               |
| `"conditional"` | level by level: a number has a mean for each level of its parents, a discrete |
|                 | column probabilities that are logistic in its parents                         |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import expit

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import topological_order

MechanismName: TypeAlias = Literal["linear", "bent", "conditional", "mlp", "gp", "additive"]
WEIGHTED = ("linear", "bent", "conditional")  # mechanisms whose edges have a weight
_HIDDEN_UNITS = 100  # as in NOTEARS-MLP
_FOURIER_FEATURES = 500
# (values of the parents, one row per parent; generator of the functions) -> values
_Function: TypeAlias = Callable[[FloatArray, np.random.Generator], FloatArray]
KINDS = ("yes/no", "ordered", "category")
_LEVELS = (3, 5)  # of ordered columns and categories
_LOGISTIC = 1.7  # brings the logistic distribution to about variance one


def run_equations(
    weights: FloatArray,
    noise: FloatArray,
    *,
    mechanism: str = "linear",
    binary: bool = False,
    functions_rng: np.random.Generator,
) -> FloatArray:
    """Return the (n, d) data that the equations make of the (n, d) noise."""
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
    return outer @ expit(inner @ parents)


def _gaussian_process(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    frequency = rng.standard_normal((_FOURIER_FEATURES, len(parents)))
    phase = rng.uniform(0.0, 2.0 * np.pi, size=(_FOURIER_FEATURES, 1))
    amplitude = rng.standard_normal(_FOURIER_FEATURES) * np.sqrt(2.0 / _FOURIER_FEATURES)
    return amplitude @ np.cos(frequency @ parents + phase)


def _additive(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    terms = np.stack([_gaussian_process(parent[None, :], rng) for parent in parents])
    return terms.sum(axis=0)


_NONLINEAR: dict[str, _Function] = {
    "mlp": _mlp,
    "gp": _gaussian_process,
    "additive": _additive,
}


def draw_kinds(n_nodes: int, share: float, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw which columns are discrete, and in which way: one third each."""
    chosen = rng.permutation(n_nodes)[: round(share * n_nodes)]
    kinds = ["number"] * n_nodes
    for turn, node in enumerate(chosen.tolist()):
        kinds[node] = KINDS[turn % len(KINDS)]
    return tuple(kinds)


def record_by_level(X: FloatArray, kinds: tuple[str, ...], rng: np.random.Generator) -> FloatArray:
    """Cut discrete columns into levels."""
    X = X.copy()
    for j, kind in enumerate(kinds):
        if kind != "number":
            codes = _cut(X[:, j], _shares(kind, rng))
            X[:, j] = rng.permutation(codes.max() + 1)[codes] if kind == "category" else codes
    return X


def run_conditional(
    weights: FloatArray, noise: FloatArray, kinds: tuple[str, ...], rng: np.random.Generator
) -> FloatArray:
    """Return the (n, d) data of conditional Gaussian and logistic equations."""
    X, by_head = noise.copy(), sparse.csc_array(weights)
    for j in topological_order(weights):
        entries = slice(by_head.indptr[j], by_head.indptr[j + 1])
        parents = by_head.indices[entries].tolist()
        shares = _shares(kinds[j], rng)
        n_sums = len(shares) if kinds[j] == "category" else 1
        sums = np.zeros((len(X), n_sums))
        for weight, i in zip(by_head.data[entries], parents, strict=True):
            sums += weight * _contribution(X[:, i], kinds[i], n_sums, rng)
        X[:, j] = _drawn(sums, X[:, j], kinds[j], shares, rng)
    return X


def _contribution(x: FloatArray, kind: str, n_sums: int, rng: np.random.Generator) -> FloatArray:
    """Return what a parent adds to each of the sums of its child, in standard units."""
    if kind == "category":
        effects = rng.standard_normal((int(x.max()) + 1, n_sums))
        parts = effects[x.astype(np.int64)]
    else:
        sizes = rng.standard_normal(n_sums) if n_sums > 1 else np.ones(1)
        parts = np.outer(x, sizes)
    spread = np.sqrt(np.mean((parts - parts.mean(axis=0)) ** 2))
    return (parts - parts.mean(axis=0)) / (spread if spread > 0.0 else 1.0)


def _drawn(
    sums: FloatArray, noise: FloatArray, kind: str, shares: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw a column given the sums over its parents."""
    if kind == "number":
        return sums[:, 0] + noise
    if kind == "category":
        utility = _LOGISTIC * sums + rng.gumbel(size=sums.shape) + np.log(shares)
        return utility.argmax(axis=1).astype(np.float64)
    latent = sums[:, 0] + rng.logistic(size=len(sums)) / _LOGISTIC
    return _cut(latent, shares).astype(np.float64)


def _shares(kind: str, rng: np.random.Generator) -> FloatArray:
    """Draw the shares of the levels: half even, half by chance."""
    n_levels = 2 if kind == "yes/no" else int(rng.integers(_LEVELS[0], _LEVELS[1] + 1))
    return 0.5 / n_levels + 0.5 * rng.dirichlet(np.ones(n_levels))


def draw_by_tables(
    graph: BoolArray, n_samples: int, concentration: float, rng: np.random.Generator
) -> IntArray:
    """Draw levels of a graph, two to four a column: every combination of parents has shares of its
    own, from a Dirichlet distribution of this concentration. Small ones make strong effects."""
    levels = rng.integers(2, 5, len(graph))
    codes = np.zeros((n_samples, len(graph)), dtype=np.int64)
    for j in topological_order(graph):
        parents = np.flatnonzero(graph[:, j])
        combination = np.unique(codes[:, parents], axis=0, return_inverse=True)[1].ravel()
        shares = rng.dirichlet(np.full(levels[j], concentration), combination.max() + 1)
        ends = np.cumsum(shares, axis=1)[combination, :-1]
        codes[:, j] = (rng.random((n_samples, 1)) > ends).sum(axis=1)
    return codes


def _cut(x: FloatArray, shares: FloatArray) -> IntArray:
    return np.digitize(x, np.quantile(x, np.cumsum(shares)[:-1]))
