"""Where the cycles are, and how strong: components, dominance scaling, spectral radius.

All for a non-negative matrix A. Only the strongly connected components of its graph matter:
tr f(A) is the sum over them, and an edge outside every component lies on no cycle.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyticdag._arrays import array_namespace, as_square_matrix, host_view, identity, quiet
from analyticdag._typing import Array, IntArray

__all__ = ["cyclic_components", "dominance_scaling", "spectral_radius"]


def cyclic_components(A: np.ndarray[Any, Any]) -> list[IntArray] | None:
    """Index sets of the components that hold a cycle; None when A is one component as a whole.

    An empty list is a proof that A is acyclic.
    """
    edges = A != 0
    if _strongly_connected(edges):
        return None
    size = A.shape[0]
    flat = np.flatnonzero(edges)
    rows = np.concatenate(([0], np.cumsum(np.count_nonzero(edges, axis=1))))
    graph = csr_array((np.ones(len(flat), np.int8), flat % size, rows), shape=A.shape)
    _, labels = connected_components(graph, connection="strong")
    cyclic = np.bincount(labels) > 1
    cyclic[labels[edges.diagonal()]] = True  # a self-loop is a cycle of one
    members = np.flatnonzero(cyclic[labels])
    members = members[np.argsort(labels[members], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[members])) + 1
    return np.split(members, starts) if len(members) else []


def _strongly_connected(edges: np.ndarray[Any, Any]) -> bool:
    """Whether node 0 reaches and is reached by every node.

    Dense matrices pass after one or two steps, far cheaper than listing their edges.
    """
    size = len(edges)
    if size <= 1:
        return bool(edges.any())
    if not (edges.any(axis=0).all() and edges.any(axis=1).all()):
        return False
    return _reaches_all(edges) and _reaches_all(edges.T)


def _reaches_all(edges: np.ndarray[Any, Any]) -> bool:
    reached = edges[0].copy()
    reached[0] = True
    fresh = reached
    while fresh.any():
        fresh = edges[fresh].any(axis=0) & ~reached
        reached |= fresh
    return bool(reached.all())


def dominance_scaling(Y: Array, max_steps: int = 40) -> Array | None:
    """A vector v > 0 with Y v < v; None if v = 1 does already, or if none is found soon.

    Such a v proves rho(Y) < 1, and v_j Y_ij / v_i has row sums below one: elimination needs
    no pivoting, powers shrink from the first step, and entries of 1e18 on a nearly acyclic
    graph do no harm.
    """
    xp = array_namespace(Y)
    v = xp.ones(Y.shape[0], dtype=Y.dtype, device=getattr(Y, "device", None))
    with quiet():
        for step in range(max_steps):
            image = Y @ v
            if bool(xp.all(image < 0.99 * v)):
                return v if step else None
            v = 1 + image  # partial sums of (I - Y)^-1 1
            if not bool(xp.all(xp.isfinite(v))):
                return None
    return None


def spectral_radius(A: Array, tol: float = 1e-10) -> float:
    """rho(A) for a non-negative A, from above, to a relative tolerance.

    Per component, so that periodic and nilpotent parts are no trouble. Arrays that the CPU
    cannot read are not split; there the norm of a high power bounds rho as closely.
    """
    A = as_square_matrix(A, "A")
    host = host_view(A)
    if host is None:
        return _gelfand(A)
    components = cyclic_components(host)
    if components is None:
        return _perron(host, tol)
    return max((_perron(host[np.ix_(c, c)], tol) for c in components), default=0.0)


def _perron(A: Array, tol: float, max_squarings: int = 60) -> float:
    """Collatz–Wielandt upper bound after power iteration on A + cI, by repeated squaring."""
    xp = array_namespace(A)
    A = _balanced(A)
    largest = float(xp.max(A))
    if A.shape[0] == 1 or largest == 0.0:
        return largest
    shift = float(xp.max(xp.sum(A, axis=1)))  # plain iteration oscillates on periodic graphs
    P = (A + shift * identity(A)) / (2 * shift)
    upper = shift
    for _ in range(max_squarings):
        v = xp.sum(P, axis=1)
        growth = (A @ v) / v
        upper = min(upper, float(xp.max(growth)))
        if upper - float(xp.min(growth)) <= tol * upper:
            break
        P = P @ P
        P = P / xp.max(P)
    return upper


def _gelfand(A: Array, squarings: int = 45) -> float:
    """||A^m||^(1/m), m = 2^45: an upper bound for any A >= 0, reducible ones too."""
    xp = array_namespace(A)
    log_rho, weight = 0.0, 1.0
    for _ in range(squarings):
        norm = float(xp.max(xp.sum(A, axis=1)))
        if norm == 0.0:
            return 0.0  # nilpotent
        log_rho += weight * math.log(norm)
        A = A / norm
        A, weight = A @ A, weight / 2
    return math.exp(log_rho)


def _balanced(A: Array, steps: int = 100) -> Array:
    """A diagonal similarity of A with row sums close to column sums (Osborne, damped)."""
    xp = array_namespace(A)
    one = xp.ones(A.shape[0], dtype=A.dtype, device=getattr(A, "device", None))
    for _ in range(steps):
        rows, columns = xp.sum(A, axis=1), xp.sum(A, axis=0)
        usable = (rows > 0) & (columns > 0)
        ratio = xp.where(usable, rows, one) / xp.where(usable, columns, one)
        if float(xp.max(ratio)) < 4.0 and float(xp.min(ratio)) > 0.25:
            break
        x = ratio**0.25  # all nodes move at once: half of Osborne's step, or it overshoots
        A = A * x[None, :] / x[:, None]
    return A
