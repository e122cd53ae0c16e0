"""Adam's step in two passes over memory.

Written with arrays it is twenty, with 200 nodes half the time of a product of matrices. Here a
stretch of entries goes through several operations while it is in the fastest cache.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import copysign, sqrt
from analyticdag._compiled.vectors import at, start

STRETCH = 256  # entries of seven arrays: 14 kB, and a first cache holds 32 kB or more


def average(
    G: cython.doubles,
    pushed: cython.doubles,
    W: cython.doubles,
    penalty: cython.doubles,
    mu_allowed: cython.doubles,
    first: cython.doubles,
    second: cython.doubles,
    beta1: cython.double,
    beta2: cython.double,
) -> None:
    """Make G the gradient (G + penalty·sign W)·mu_allowed + pushed; add it to both moments."""
    n: cython.Py_ssize_t = G.shape[0]
    with cython.nogil:
        for k in range(0, n, STRETCH):
            m = min(STRETCH, n - k)
            here = at(start(G), k)
            add_slopes(
                here,
                at(start(pushed), k),
                at(start(W), k),
                at(start(penalty), k),
                at(start(mu_allowed), k),
                m,
            )
            add_moments(at(start(first), k), at(start(second), k), here, beta1, beta2, m)


def move(
    W: cython.doubles,
    first: cython.doubles,
    second: cython.doubles,
    length: cython.double,
    floor: cython.double,
    target: cython.doubles,
) -> None:
    """Fill target with W - length·first/(√second + floor)."""
    n: cython.Py_ssize_t = W.shape[0]
    with cython.nogil:
        move_all(start(W), start(first), start(second), length, floor, start(target), n)


@cython.part
def add_slopes(
    G: cython.p_double,
    pushed: cython.p_double,
    W: cython.p_double,
    penalty: cython.p_double,
    mu_allowed: cython.p_double,
    n: cython.Py_ssize_t,
) -> cython.void:
    """The gradient of the stage objective from its parts."""
    for k in range(n):
        slope = copysign(penalty[k], W[k]) if W[k] != 0.0 else 0.0
        G[k] = (G[k] + slope) * mu_allowed[k] + pushed[k]


@cython.part
def add_moments(
    first: cython.p_double,
    second: cython.p_double,
    G: cython.p_double,
    beta1: cython.double,
    beta2: cython.double,
    n: cython.Py_ssize_t,
) -> cython.void:
    """Both running means."""
    for k in range(n):
        first[k] = beta1 * first[k] + (1.0 - beta1) * G[k]
        second[k] = beta2 * second[k] + (1.0 - beta2) * (G[k] * G[k])


@cython.part
def move_all(
    W: cython.p_double,
    first: cython.p_double,
    second: cython.p_double,
    length: cython.double,
    floor: cython.double,
    target: cython.p_double,
    n: cython.Py_ssize_t,
) -> cython.void:
    """The loop of ``move``."""
    for k in range(n):
        target[k] = W[k] - length * (first[k] / (sqrt(second[k]) + floor))
