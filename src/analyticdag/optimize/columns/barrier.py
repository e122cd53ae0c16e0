"""The constraint as a function of one column a = b².

Let t(y) = t_0 + t_1 y + t_2 y² + …, where each t_k is a sum Σ_i V[k, i] a_i with V >= 0. Then

    log det((1 - y) I - A/s) = const + log(1 - t(y))     V[k] = (row j of N^(k+1))/s,
    log det(I - y A/s)       = const + log(1 - t(y))     V[k] = (row j of A0^(k-1))/s^k, V[0] = 0,

by the matrix determinant lemma; A0 is A with column j set to zero, and N = (I - A0/s)^-1.
Comparing the coefficients of yⁿ on both sides, what the column adds to the constraint is

    -alpha_0 log(1 - t_0) + Σ_n alpha_n·n·[yⁿ](-log(1 - t(y))),

with alpha_n the factor of order-(n+1) in the first form, and the coefficient c_n of f in the
second. With v = 1 - t_0 and c the coefficients of v/(1 - t(y)), the sum over n is
Σ_n alpha_n Σ_(k=1..n) k t_k c_(n-k)/v, and its derivative in t_k is Σ_n n·alpha_n c_(n-k)/v. All of
them are non-negative: the constraint is increasing and convex in each a_i.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import INFINITY, log

# Where the loss outweighs the constraint by far, the minimum is at the edge of the domain, v = 0,
# and M = N + …/v loses the digits that matter: the descent stops short of that, the sooner the
# larger N is already.
MARGIN = 1e-6


@cython.part
def reciprocal_series(
    t: cython.p_double, size: cython.Py_ssize_t, c: cython.p_double
) -> cython.double:
    """Fill c with the coefficients of v/(1 - t(y)) and return v = 1 - t_0."""
    v: cython.double = 1.0 - t[0]
    c[0] = 1.0
    for m in range(1, size):
        total = 0.0
        for k in range(1, m + 1):
            total += t[k] * c[m - k]
        c[m] = total / v
    return v


@cython.part
def constraint_value(
    alpha: cython.p_double,
    t: cython.p_double,
    size: cython.Py_ssize_t,
    edge: cython.double,
    margin: cython.double,
    c: cython.p_double,
) -> cython.double:
    """What the column adds; inf at the edge of the domain, t(edge) = 1 - margin. c is scratch."""
    reached, power = 0.0, 1.0
    for k in range(size):
        reached += t[k] * power
        power *= edge
    if not reached < 1.0 - margin:
        return INFINITY
    v = reciprocal_series(t, size, c)
    value = -alpha[0] * log(v) if alpha[0] > 0.0 else 0.0
    for k in range(1, size):
        weight = 0.0
        for n in range(k, size):
            weight += alpha[n] * c[n - k]
        value += k * t[k] * weight / v
    return value


@cython.part
def constraint_slopes(
    alpha: cython.p_double,
    t: cython.p_double,
    size: cython.Py_ssize_t,
    c: cython.p_double,
    slopes: cython.p_double,
) -> cython.void:
    """Fill slopes[k] = d value / d t_k."""
    v = reciprocal_series(t, size, c)
    for k in range(size):
        total = alpha[0] if k == 0 else 0.0
        for n in range(max(k, 1), size):
            total += n * alpha[n] * c[n - k]
        slopes[k] = total / v
