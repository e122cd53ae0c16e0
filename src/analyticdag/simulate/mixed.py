"""Tables with discrete columns: `discrete=0.5` makes half of them yes/no, ordered or categories.

| mechanism       | how discrete columns come about                                               |
|-----------------|-------------------------------------------------------------------------------|
| `"linear"`      | the equations are linear, and some columns are recorded by level: cuts of a    |
|                 | normal variable; the levels of a category have lost their order               |
| `"conditional"` | level by level: a number has a mean for each level of its parents, a discrete |
|                 | column probabilities that are logistic in its parents                         |

Codes are 0, 1, …; levels have unequal shares.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from analyticdag._typing import FloatArray, IntArray
from analyticdag.graphs import topological_order

KINDS = ("yes/no", "ordered", "category")
_LEVELS = (3, 5)  # of ordered columns and categories
_LOGISTIC = 1.7  # brings the logistic distribution to about variance one


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
    unit: FloatArray = (parts - parts.mean(axis=0)) / (spread if spread > 0.0 else 1.0)
    return unit


def _drawn(
    sums: FloatArray, noise: FloatArray, kind: str, shares: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw a column given the sums over its parents."""
    if kind == "number":
        return sums[:, 0] + noise
    if kind == "category":
        utility = _LOGISTIC * sums + rng.gumbel(size=sums.shape) + np.log(shares)
        chosen: FloatArray = utility.argmax(axis=1).astype(np.float64)
        return chosen
    latent = sums[:, 0] + rng.logistic(size=len(sums)) / _LOGISTIC
    return _cut(latent, shares).astype(np.float64)


def _shares(kind: str, rng: np.random.Generator) -> FloatArray:
    """Draw the shares of the levels: half even, half by chance."""
    n_levels = 2 if kind == "yes/no" else int(rng.integers(_LEVELS[0], _LEVELS[1] + 1))
    shares: FloatArray = 0.5 / n_levels + 0.5 * rng.dirichlet(np.ones(n_levels))
    return shares


def _cut(x: FloatArray, shares: FloatArray) -> IntArray:
    codes: IntArray = np.digitize(x, np.quantile(x, np.cumsum(shares)[:-1]))
    return codes
