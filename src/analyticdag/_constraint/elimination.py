"""All walks at once: the resolvent by elimination, and order-k with its gradient from it.

(I - Y)^-1 - I is the sum over all walks, and Kleene's elimination forms it from Y by products
and sums of non-negative numbers: nothing cancels, nothing is pivoted, and the log-determinant
comes along. Up to about 100 nodes this is as fast as LAPACK, without the calls around it.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import isfinite, log1p
from analyticdag._compiled.vectors import (
    add_multiple,
    at,
    copy_into,
    fill,
    start,
    start_integers,
)

TILE = 32  # of a matrix read along both axes at once: stays in the fastest cache


def star(Y: cython.doubles, row: cython.doubles) -> cython.double:
    """Replace Y >= 0 by (I - Y)^-1 - I; returns -log det(I - Y), or -1 outside the domain.

    ``row`` is scratch of the length of a row.
    """
    n: cython.Py_ssize_t = row.shape[0]
    with cython.nogil:
        value = eliminate_all(start(Y), n, start(row))
    return value


def order_gradient(
    W: cython.doubles,
    d: cython.Py_ssize_t,
    gradient: cython.doubles,
    members: cython.longlongs,
    starts: cython.longlongs,
    s: cython.double,
    order: cython.Py_ssize_t,
    scratch: cython.doubles,
) -> cython.double:
    """h of order-k summed over the components, its gradient in W added; -1 outside the domain.

    ``members`` and ``starts`` are those of ``tarjan``; ``scratch`` has room for three matrices of
    the largest component.
    """
    total, value = 0.0, 0.0
    n_components: cython.Py_ssize_t = starts.shape[0] - 1
    with cython.nogil:
        for c in range(n_components):
            value = component_gradient(
                start(W),
                start(gradient),
                d,
                start_integers(members),
                starts[c],
                starts[c + 1],
                s,
                order,
                start(scratch),
            )
            if value < 0.0:
                break
            total += value
    return value if value < 0.0 else total


def times_transposed(
    W: cython.doubles,
    P: cython.doubles,
    n: cython.Py_ssize_t,
    factor: cython.double,
    result: cython.doubles,
) -> None:
    """Fill result with factor * W * P.T, tile by tile."""
    with cython.nogil:
        for top in range(0, n, TILE):
            for left in range(0, n, TILE):
                for i in range(top, min(top + TILE, n)):
                    for j in range(left, min(left + TILE, n)):
                        result[i * n + j] = factor * W[i * n + j] * P[j * n + i]


@cython.part
def eliminate_all(Y: cython.p_double, n: cython.Py_ssize_t, row: cython.p_double) -> cython.double:
    """The elimination, node after node."""
    log_det = 0.0
    for k in range(n):
        own = Y[k * n + k]
        if not own < 1.0:
            return -1.0
        log_det -= log1p(-own)
        loops = 1.0 / (1.0 - own)  # go round k as often as you like
        for j in range(n):
            row[j] = loops * Y[k * n + j]
        for i in range(n):
            into_k = Y[i * n + k]
            if i != k and into_k != 0.0:
                add_multiple(at(Y, i * n), into_k, row, n)
        copy_into(at(Y, k * n), row, n)
    return log_det if isfinite(log_det) else -1.0


@cython.part
def component_gradient(
    W: cython.p_double,
    gradient: cython.p_double,
    d: cython.Py_ssize_t,
    members: cython.p_longlong,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    s: cython.double,
    order: cython.Py_ssize_t,
    scratch: cython.p_double,
) -> cython.double:
    """One component of ``order_gradient``."""
    n = last - first
    R, P, product = scratch, at(scratch, n * n), at(scratch, 2 * n * n)
    for i in range(n):
        for j in range(n):
            weight = W[members[first + i] * d + members[first + j]]
            R[i * n + j] = weight * weight / s
    value = eliminate_all(R, n, product)
    if value < 0.0:
        return -1.0
    copy_into(P, R, n * n)  # (I - Y)^-q - I, from q = 1 to q = order
    for q in range(1, order):
        if q == order - 1:
            value = 0.0
            for i in range(n):
                value += P[i * n + i]
        multiply(P, R, n, product)
        for k in range(n * n):
            P[k] += R[k] + product[k]
    factor = 2.0 * max(order - 1, 1) / s
    for i in range(n):
        P[i * n + i] += 1.0
    for i in range(n):
        for j in range(n):
            place = members[first + i] * d + members[first + j]
            gradient[place] += factor * W[place] * P[j * n + i]
    return value


@cython.part
def multiply(
    P: cython.p_double, R: cython.p_double, n: cython.Py_ssize_t, product: cython.p_double
) -> cython.void:
    """product = P R, four rows of R at a time: a quarter of the passes over the result."""
    fill(product, 0.0, n * n)
    whole = n - n % 4
    for i in range(n):
        target, factors = at(product, i * n), at(P, i * n)
        for k in range(0, whole, 4):
            a, b, c, e = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
            first, second = at(R, k * n), at(R, (k + 1) * n)
            third, fourth = at(R, (k + 2) * n), at(R, (k + 3) * n)
            for j in range(n):
                target[j] += a * first[j] + b * second[j] + c * third[j] + e * fourth[j]
        for k in range(whole, n):
            add_multiple(target, factors[k], at(R, k * n), n)
