"""Where the cycles are, and how strong: components, dominance scaling, spectral radius.

All for a non-negative matrix A. Only the strongly connected components of its graph matter:
tr f(A) is the sum over them, and an edge outside every component lies on no cycle.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from analyticdag._arrays import array_namespace, as_square_matrix, host_view, identity, quiet
from analyticdag._compiled import flat
from analyticdag._constraint.kernels import tarjan
from analyticdag._typing import Array, IntArray

__all__ = [
    "balancing_exponents",
    "cyclic_components",
    "cyclic_members",
    "dominance_scaling",
    "spectral_radius",
]

_MARGIN = 0.99  # room for rounding in a proof by strict inequality
_TARGET = 0.9  # below _MARGIN, so that the steps towards it end with a proof
_TINY = 1e-30  # an entry of Perron's vector below this has lost its digits
# Terms of a series in A/(0.9 s): where so many are no proof, rho(A) is near 0.9 s, or above.
_MOST_SCALINGS = 40
# Powers double: the power 2**60 tells apart eigenvalues that differ in the last digit.
_MOST_SQUARINGS = 60
# m = 2**45: d**(1/m), by which the bound is too large, is 1 + 1e-12 for any d in memory.
_GELFAND_SQUARINGS = 45
_TOLERANCE = 1e-10  # relative, of rho(A)
# A limit only: a better or worse balance changes the time, not the result.
_MOST_BALANCINGS = 100


def cyclic_components(A: np.ndarray[Any, Any]) -> list[IntArray]:
    """Index sets of the components that hold a cycle; an empty list proves A acyclic."""
    members, starts = cyclic_members(A)
    return [members[a:b] for a, b in pairwise(starts)]


def cyclic_members(A: np.ndarray[Any, Any]) -> tuple[IntArray, IntArray]:
    """Nodes of every component that holds a cycle, component by component, and where each starts.

    Component c is members[starts[c]:starts[c + 1]]; a self-loop is a cycle of one.
    """
    n = len(A)
    members, starts = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    edges = np.not_equal(A, 0, order="C").view(np.uint8)
    n_components = tarjan(flat(edges), members, starts, np.zeros(6 * n, np.int64))
    return members[: starts[n_components]], starts[: n_components + 1]


def dominance_scaling(A: Array, s: float) -> tuple[Array | None, bool]:
    """(v, proved): a vector v > 0 with A v < s v proves rho(A) < s; None stands for v = 1.

    v_j A_ij / v_i then has row sums below s: powers shrink from the first step, an exponential
    needs fewer squarings, and entries of 1e18 on a nearly acyclic graph do no harm.
    """
    xp = array_namespace(A)
    image = xp.sum(A, axis=1)
    if float(xp.max(image)) < _MARGIN * s:
        return None, True
    with quiet():
        for _ in range(_MOST_SCALINGS):
            v = 1 + image / (_TARGET * s)  # partial sums of a series that ends in A v < 0.9 s v
            image = A @ v
            if bool(xp.all(image < _MARGIN * s * v)):
                return v, True
            if not bool(xp.all(xp.isfinite(image))):
                break
    return None, False


def balancing_exponents(W: np.ndarray[Any, Any]) -> IntArray:
    """Whole numbers E with E_ij = x_j - x_i: no entry of W 2^E is far above the mean of a cycle.

    Means are geometric, and W is strongly connected. What then still is too small for the numbers
    lies only on cycles whose product is. Works on logarithms, so that W may hold any numbers.
    """
    with quiet():
        L = np.log2(np.abs(W))
    mean = _largest_mean(L) + 1e-9  # room for rounding: x stops growing
    x = np.zeros(len(L))
    for _ in range(len(L)):
        higher = np.maximum(x, np.max(L + x, axis=1) - mean)
        if np.array_equal(higher, x):
            break
        x = higher
    whole: IntArray = np.rint(x).astype(np.int64)
    return whole - whole[:, None]


def _largest_mean(L: np.ndarray[Any, Any]) -> float:
    """The largest mean of L along a cycle (Karp); -inf is no edge."""
    n = len(L)
    walks = np.full((n + 1, n), -np.inf)  # of k steps, from the first node to each
    walks[0, 0] = 0.0
    for k in range(n):
        walks[k + 1] = np.max(walks[k][:, None] + L, axis=0)
    ends = np.isfinite(walks[n])
    lengths = np.arange(n, 0, -1)[:, None]
    return float(np.max(np.min((walks[n, ends] - walks[:n, ends]) / lengths, axis=0)))


def spectral_radius(A: Array) -> float:
    """rho(A) for a non-negative A, from above, to ten digits.

    Per component, so that periodic and nilpotent parts are no trouble. Arrays that the CPU
    cannot read are not split; there the norm of a high power bounds rho as closely.
    """
    A = as_square_matrix(A, "A")
    host = host_view(A)
    if host is None:
        return _gelfand(A)
    components = cyclic_components(host)
    return max((_perron(host[np.ix_(c, c)]) for c in components), default=0.0)


def _perron(A: Array) -> float:
    """Collatz–Wielandt upper bound after power iteration on A + cI, by repeated squaring."""
    xp = array_namespace(A)
    A = _balanced(A)
    largest = float(xp.max(A))
    if A.shape[0] == 1 or largest == 0.0:
        return largest
    shift = float(xp.max(xp.sum(A, axis=1)))  # plain iteration oscillates on periodic graphs
    P = (A + shift * identity(A)) / (2 * shift)
    upper = shift
    for _ in range(_MOST_SQUARINGS):
        v = xp.sum(P, axis=1)
        if float(xp.min(v)) < _TINY:  # Perron's vector leaves the range of the numbers
            return _gelfand(A)
        growth = (A @ v) / v
        upper = min(upper, float(xp.max(growth)))
        if upper - float(xp.min(growth)) <= _TOLERANCE * upper:
            break
        P = P @ P
        P = P / xp.max(P)
    return upper


def _gelfand(A: Array) -> float:
    """||A^m||^(1/m), m = 2^45: an upper bound for any A >= 0, reducible ones too."""
    xp = array_namespace(A)
    log_rho, weight = 0.0, 1.0
    for _ in range(_GELFAND_SQUARINGS):
        norm = float(xp.max(xp.sum(A, axis=1)))
        if norm == 0.0:
            return 0.0  # nilpotent
        log_rho += weight * math.log(norm)
        A = A / norm
        A, weight = A @ A, weight / 2
    return math.exp(log_rho)


def _balanced(A: Array) -> Array:
    """A diagonal similarity of A with row sums close to column sums (Osborne, damped)."""
    xp = array_namespace(A)
    one = xp.ones(A.shape[0], dtype=A.dtype, device=getattr(A, "device", None))
    for _ in range(_MOST_BALANCINGS):
        rows, columns = xp.sum(A, axis=1), xp.sum(A, axis=0)
        usable = (rows > 0) & (columns > 0)
        ratio = xp.where(usable, rows, one) / xp.where(usable, columns, one)
        if float(xp.max(ratio)) < 4.0 and float(xp.min(ratio)) > 0.25:
            break
        x = ratio**0.25  # all nodes move at once: half of Osborne's step, or it overshoots
        A = A * x[None, :] / x[:, None]
    return A
