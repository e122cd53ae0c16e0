"""Cheap causal orders to start from, each from a covariance S alone.

- ``variance_order``              smallest variance first: effects collect the noise of causes;
- ``conditional_variance_order``  next is who varies least given those placed; recovers the
  order when all noise variances are equal (Chen, Drton and Wang 2019);
- ``r2_order``                    least explained by all others first, needs no known scale
  (R²-sortability, Reisach et al. 2023);
- ``random_order``                for restarts.

``canonical_order`` is no guess at causes: it lists the nodes by what S says about them, so that
their places in the table do not matter.

All return a permutation, causes first, and respect ``before`` when given: a boolean mask,
``before[i, j]`` saying that i has to come before j. ``precedence`` makes it from masks of
edges, ``consistent_order`` bends any order to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations, covariance_matrix
from analyticdag.errors import ParameterError
from analyticdag.graphs import strong_components, topological_order
from analyticdag.graphs.convert import adjacency

__all__ = [
    "canonical_order",
    "conditional_variance_order",
    "consistent_order",
    "precedence",
    "r2_order",
    "random_order",
    "shares_explained",
    "variance_order",
]

# Pivots between two updates of the whole matrix: these are one matrix product per block.
_BLOCK = 64
# Shrinkage of the correlations towards independence when there are few rows per column.
_SHRINKAGE = 0.1
# Below this share of its own variance, a conditional variance is what rounding left of zero.
_NEGLIGIBLE = 1e-12
# Decimals of correlations that do not depend on where the columns stand.
_DIGITS = 10
# Enough to invert the correlations of duplicate columns, too little to move an order.
_JITTER = 1e-10


def variance_order(S: ArrayLike, *, before: BoolArray | None = None) -> IntArray:
    """Return the nodes by increasing variance."""
    variances = covariance_matrix(S).diagonal()
    return consistent_order(np.argsort(variances, kind="stable"), before)


def conditional_variance_order(S: ArrayLike, *, before: BoolArray | None = None) -> IntArray:
    """Return the nodes, each time the one with the least variance given those before it.

    A Cholesky factorisation of S whose next pivot is the smallest: O(d³) in all. ``before``
    is respected on the way: a node is not considered until all that must precede it are placed.
    Nodes that those placed determine (collinear, or fewer rows than columns) come next, by
    their own variance.
    """
    C = covariance_matrix(S)
    floor = _NEGLIGIBLE * C.diagonal()
    must_precede = _check_before(before, len(C))
    order: list[int] = []
    left = np.arange(len(C))
    while len(left):
        placed, factor = _smallest_pivots(C, floor[left], must_precede[np.ix_(left, left)])
        order += left[placed].tolist()
        rest = np.delete(np.arange(len(left)), placed)
        # What is left of the covariance once the block's nodes are known.
        C = C[np.ix_(rest, rest)] - factor[rest] @ factor[rest].T
        left = left[rest]
    return np.array(order, dtype=np.int64)


def r2_order(
    S: ArrayLike, *, n_samples: int | None = None, before: BoolArray | None = None
) -> IntArray:
    """Return the nodes by increasing R² on all the others.

    R²_j = 1 - 1/(R⁻¹)_jj with R the correlations. With ``n_samples`` of at most 2d these are
    shrunk towards independence first, because every R² is then close to one by chance.
    """
    R = correlations(covariance_matrix(S))
    if n_samples is not None and n_samples <= 2 * len(R):
        R = (1.0 - _SHRINKAGE) * R + _SHRINKAGE * np.eye(len(R))
    return consistent_order(np.argsort(shares_explained(R), kind="stable"), before)


def shares_explained(R: FloatArray) -> FloatArray:
    """Return R² of each column on all others, given their correlations R."""
    precision = np.linalg.inv(R + _JITTER * np.eye(len(R)))
    return np.asarray(1.0 - 1.0 / precision.diagonal(), dtype=np.float64)


def random_order(
    S: ArrayLike, rng: np.random.Generator, *, before: BoolArray | None = None
) -> IntArray:
    """Return the nodes in random order."""
    return consistent_order(rng.permutation(len(covariance_matrix(S))), before)


def canonical_order(S: ArrayLike) -> IntArray:
    """Return the nodes in an order that does not depend on where they stand, nor on their units.

    They are sorted by their correlations with the others, largest first; only nodes that look the
    same to all others, such as copies, stay in the order they came in.
    """
    sizes = correlations(covariance_matrix(S))
    np.abs(sizes, out=sizes)
    sizes.sort(axis=1)
    # The last digits depend on the order in which products were added up.
    return np.lexsort(sizes.round(_DIGITS, out=sizes).T)


def consistent_order(order: ArrayLike, before: BoolArray | None) -> IntArray:
    """Bend an order to ``before``: a node waits until all that must precede it are placed.

    An order that already agrees comes back unchanged; a cycle in ``before`` is an InputError.
    """
    wanted = _check_order(order)
    if before is None:
        return wanted
    must_precede = _check_before(before, len(wanted))
    return topological_order(must_precede, wanted=wanted) if must_precede.any() else wanted


def precedence(allowed: ArrayLike, required: ArrayLike | None = None) -> BoolArray:
    """Return the mask ``before`` that masks of allowed and required edges imply.

    Where only i -> j may exist, i may as well come first (so do earlier tiers). Such pairs can
    contradict each other in a circle, though no graph has to: those in a circle are left free,
    and only required edges remain binding there.
    """
    may = adjacency(allowed)
    must = np.zeros_like(may) if required is None else adjacency(required)
    one_way = may & ~may.T
    _, circle = strong_components(one_way | must)
    return must | (one_way & (circle[:, None] != circle[None, :]))


def _smallest_pivots(
    C: FloatArray, floor: FloatArray, must_precede: BoolArray
) -> tuple[list[int], FloatArray]:
    """Take up to a block of pivots from C; return them and their columns of the factor."""
    n_pivots = min(_BLOCK, len(C))
    factor = np.zeros((len(C), n_pivots))
    variances = C.diagonal().copy()
    n_waiting_for = must_precede.sum(axis=0)
    placed: list[int] = []
    for k in range(n_pivots):
        candidates = np.where(n_waiting_for == 0, np.maximum(variances, floor), np.inf)
        candidates[placed] = np.inf
        j = int(np.argmin(candidates))
        if variances[j] > floor[j]:
            column = C[:, j] - factor[:, :k] @ factor[j, :k]
            factor[:, k] = column / np.sqrt(variances[j])
            variances -= factor[:, k] ** 2
        placed.append(j)
        n_waiting_for -= must_precede[j]
    return placed, factor


def _check_order(order: ArrayLike) -> IntArray:
    array = np.asarray(order)
    if array.ndim != 1 or not np.array_equal(np.sort(array), np.arange(len(array))):
        raise ParameterError(f"an order must list every node from 0 to d-1 once; got {order!r}")
    return array.astype(np.int64)


def _check_before(before: BoolArray | None, n_nodes: int) -> BoolArray:
    if before is None:
        return np.zeros((n_nodes, n_nodes), dtype=np.bool_)
    mask = np.asarray(before, dtype=np.bool_)
    if mask.shape != (n_nodes, n_nodes):
        raise ParameterError(
            f"before must be a boolean mask of shape {(n_nodes, n_nodes)}; got {mask.shape}"
        )
    if mask.any():
        topological_order(mask)  # raises, naming the cycle, if no order agrees
    return mask
