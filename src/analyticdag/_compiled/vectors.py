"""Vectors in memory, for all kernels: where one begins, and sums of them.

A matrix is one vector, row after row; row i of one with d columns begins at ``at(matrix, i * d)``.
"""

from __future__ import annotations

from analyticdag._compiled import cython


@cython.part
def start(vector: cython.doubles) -> cython.p_double:
    """The first entry of a vector that came from Python."""
    if cython.compiled:
        return cython.address(vector[0])
    return vector


@cython.part
def start_integers(vector: cython.longlongs) -> cython.p_longlong:
    """``start`` for integers."""
    if cython.compiled:
        return cython.address(vector[0])
    return vector


@cython.part
def start_bytes(vector: cython.uchars) -> cython.p_uchar:
    """``start`` for small numbers and marks."""
    if cython.compiled:
        return cython.address(vector[0])
    return vector


@cython.part
def at(vector: cython.p_double, place: cython.Py_ssize_t) -> cython.p_double:
    """The vector from one place on."""
    if cython.compiled:
        return vector + place
    return vector[place:]


@cython.part
def at_integers(vector: cython.p_longlong, place: cython.Py_ssize_t) -> cython.p_longlong:
    """``at`` for integers."""
    if cython.compiled:
        return vector + place
    return vector[place:]


@cython.part
def fill(target: cython.p_double, value: cython.double, n: cython.Py_ssize_t) -> cython.void:
    """Put one value into the first n entries of target."""
    for k in range(n):
        target[k] = value


@cython.part
def copy_into(
    target: cython.p_double, source: cython.p_double, n: cython.Py_ssize_t
) -> cython.void:
    """Copy the first n entries of source to target."""
    for k in range(n):
        target[k] = source[k]


@cython.part
def add_multiple(
    target: cython.p_double,
    factor: cython.double,
    source: cython.p_double,
    n: cython.Py_ssize_t,
) -> cython.void:
    """target += factor * source, in the first n entries."""
    for k in range(n):
        target[k] += factor * source[k]


@cython.part
def inner(x: cython.p_double, y: cython.p_double, n: cython.Py_ssize_t) -> cython.double:
    """x·y, in four sums side by side: one would have each addition wait for the last."""
    a, b, c, e = 0.0, 0.0, 0.0, 0.0
    whole = n - n % 4
    for k in range(0, whole, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        e += x[k + 3] * y[k + 3]
    for k in range(whole, n):
        a += x[k] * y[k]
    return (a + b) + (c + e)
