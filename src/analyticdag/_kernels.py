"""Compiled pieces of the constraint: small components in one call, and one pass over memory.

(I - Y)^-1 - I is the sum over all walks, and Kleene's elimination forms it from Y by products
and sums of non-negative numbers: nothing cancels, nothing is pivoted, and the log-determinant
comes along. Up to about 100 nodes this is as fast as LAPACK, without the calls around it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from analyticdag._jit import kernel
from analyticdag._typing import FloatArray, IntArray

__all__ = ["order_gradient", "star", "times_transposed"]

_TILE = 32  # of a matrix read along both axes at once: stays in the fastest cache


@kernel
def star(Y: FloatArray) -> float:
    """Replace Y >= 0 by (I - Y)^-1 - I; returns -log det(I - Y), or -1 outside the domain."""
    n = Y.shape[0]
    row = np.empty(n)
    log_det = 0.0
    for k in range(n):
        if not Y[k, k] < 1.0:
            return -1.0
        log_det -= math.log1p(-Y[k, k])
        loops = 1.0 / (1.0 - Y[k, k])  # go round k as often as you like
        for j in range(n):
            row[j] = loops * Y[k, j]
        for i in range(n):
            into_k = Y[i, k]
            if i != k and into_k != 0.0:
                for j in range(n):
                    Y[i, j] += into_k * row[j]
        for j in range(n):
            Y[k, j] = row[j]
    return log_det if math.isfinite(log_det) else -1.0


@kernel
def order_gradient(
    W: FloatArray, members: IntArray, starts: IntArray, s: float, order: int, gradient: FloatArray
) -> float:
    """h of order-k summed over the components, its gradient in W added; -1 outside the domain."""
    total = 0.0
    for c in range(len(starts) - 1):
        nodes = members[starts[c] : starts[c + 1]]
        n = len(nodes)
        R = np.empty((n, n))
        for i in range(n):
            for j in range(n):
                R[i, j] = W[nodes[i], nodes[j]] * W[nodes[i], nodes[j]] / s
        value = star(R)
        if value < 0.0:
            return -1.0
        P = R.copy()  # (I - Y)^-q - I, from q = 1 to q = order
        for q in range(1, order):
            if q == order - 1:
                value = 0.0
                for i in range(n):
                    value += P[i, i]
            product = np.dot(P, R)
            for i in range(n):
                for j in range(n):
                    P[i, j] += R[i, j] + product[i, j]
        factor = 2.0 * max(order - 1, 1) / s
        for i in range(n):
            P[i, i] += 1.0
            for j in range(n):
                gradient[nodes[i], nodes[j]] += factor * W[nodes[i], nodes[j]] * P[j, i]
        total += value
    return total


@kernel
def times_transposed(
    W: np.ndarray[Any, Any], P: np.ndarray[Any, Any], factor: float
) -> np.ndarray[Any, Any]:
    """factor * W * P.T, tile by tile."""
    n = W.shape[0]
    result = np.empty_like(W)
    for top in range(0, n, _TILE):
        for left in range(0, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, n)):
                    result[i, j] = factor * W[i, j] * P[j, i]
    return result
