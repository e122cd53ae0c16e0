"""A system of equations with a positive matrix, given by its upper triangle.

LAPACK would do for large systems. Most here have fewer than thirty unknowns, for which the call
takes longer than the work.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import sqrt
from analyticdag._compiled.vectors import add_multiple, at


@cython.part
def cholesky_solve(H: cython.p_double, y: cython.p_double, p: cython.Py_ssize_t) -> cython.bint:
    """Solve H x = y in place of y; False if H is not positive. Below the diagonal H stays as it is.

    What is above it, and the diagonal, becomes the factor U of H = U'U.
    """
    if not cholesky_factor(H, p):
        return False
    for k in range(p):
        y[k] /= H[k * p + k]
        for n in range(k + 1, p):
            y[n] -= y[k] * H[k * p + n]
    for k in range(p - 1, -1, -1):
        total = y[k]
        for n in range(k + 1, p):
            total -= H[k * p + n] * y[n]
        y[k] = total / H[k * p + k]
    return True


@cython.part
def cholesky_factor(H: cython.p_double, p: cython.Py_ssize_t) -> cython.bint:
    """H = U'U in place of the upper triangle; False if H is not positive.

    Four rows are finished before the rest is updated by all of them: a quarter of the passes over
    the memory.
    """
    for k in range(0, p, 4):
        for row in range(k, min(k + 4, p)):
            target = at(H, row * p + row)
            for above in range(k, row):
                add_multiple(target, -H[above * p + row], at(H, above * p + row), p - row)
            if not target[0] > 0.0:
                return False
            scale = 1.0 / sqrt(target[0])
            for n in range(p - row):
                target[n] *= scale
        for i in range(k + 4, p):
            subtract_four(at(H, i * p), at(H, k * p), i, p)
    return True


@cython.part
def subtract_four(
    row: cython.p_double, above: cython.p_double, i: cython.Py_ssize_t, p: cython.Py_ssize_t
) -> cython.void:
    """Take from row i what the four finished rows that begin at ``above`` explain of it."""
    first, second, third, fourth = above, at(above, p), at(above, 2 * p), at(above, 3 * p)
    u, v, x, y = first[i], second[i], third[i], fourth[i]
    for n in range(i, p):
        row[n] -= u * first[n] + v * second[n] + x * third[n] + y * fourth[n]
