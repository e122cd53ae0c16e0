"""The constraint as a function of one column.

Let N be (I - A/s)^-1 with column j of A set to zero, a the column and t_k = (row j of N^(k+1))·a/s.
As a power series in y, t(y) = t_0 + t_1 y + t_2 y² + …, and by the matrix determinant lemma

    log det((1 - y) I - A/s) = const + log(1 - t(y)).

Expanding both sides in y says how the column enters: through -log(1 - t_0) for order-1, and
through n·[yⁿ](-log(1 - t(y))) for tr (I - A/s)^-n, order n+1. A sum of such functions at one
scale s is alpha[0]·order-1 + Σ_n alpha[n]·order-(n+1), and is what these kernels compute.
With v = 1 - t_0, x_k = t_k/v and c the coefficients of 1/(1 - x_1 y - x_2 y² - …):

    value      -alpha_0 log v + Σ_n alpha_n Σ_{k=1..n} k x_k c_{n-k}
    d/dt_k     (1/v) Σ_n n·alpha_n c_{n-k}                 (k = 0 and n = 0: alpha_0/v)
    d²/dt_k dt_l   (1/v²) Σ_n n·alpha_n e_{n-k-l}          e the coefficients of the square of c's

Every c and e is non-negative, so the constraint is increasing and convex in each a_i.
"""

from __future__ import annotations

import math

from analyticdag._jit import kernel
from analyticdag._typing import FloatArray

# Where the loss outweighs the constraint by far, the minimum is at the edge of the domain, v = 0,
# and M = N + …/v loses the digits that matter: the descent stops short of that.
INNER_EDGE = 1.0 - 1e-6


@kernel
def reciprocal_series(t: FloatArray, c: FloatArray) -> float:
    """Fill c with the coefficients of 1/(1 - x(y)), x_k = t_k/v, and return v = 1 - t_0."""
    v: float = 1.0 - t[0]
    c[0] = 1.0
    for m in range(1, t.shape[0]):
        total = 0.0
        for k in range(1, m + 1):
            total += t[k] * c[m - k]
        c[m] = total / v
    return v


@kernel
def constraint_value(alpha: FloatArray, t: FloatArray, c: FloatArray) -> float:
    """What the column adds to the constraint; inf at the edge of the domain. c is scratch."""
    if not t[0] < INNER_EDGE:
        return math.inf
    v = reciprocal_series(t, c)
    value = -alpha[0] * math.log(v) if alpha[0] > 0.0 else 0.0
    for n in range(1, alpha.shape[0]):
        if alpha[n] > 0.0:
            power_sum = 0.0
            for k in range(1, n + 1):
                power_sum += k * t[k] * c[n - k]
            value += alpha[n] * power_sum / v
    return value


@kernel
def constraint_slopes(alpha: FloatArray, t: FloatArray, c: FloatArray, slopes: FloatArray) -> None:
    """Fill slopes[k] = d value / d t_k."""
    v = reciprocal_series(t, c)
    for k in range(t.shape[0]):
        total = alpha[0] if k == 0 else 0.0
        for n in range(max(k, 1), t.shape[0]):
            total += n * alpha[n] * c[n - k]
        slopes[k] = total / v


@kernel
def slope_and_curvature(
    alpha: FloatArray, t: FloatArray, row: FloatArray, c: FloatArray
) -> tuple[float, float]:
    """First and second derivative in a_i, given row[k] = dt_k/da_i."""
    v = reciprocal_series(t, c)
    slope = alpha[0] * row[0] / v
    curvature = alpha[0] * row[0] * row[0] / (v * v)
    for n in range(1, t.shape[0]):
        if alpha[n] == 0.0:
            continue
        # [y^n] of row(y)·c(y), and of its square: the e of the module docstring.
        first = 0.0
        second = 0.0
        for k in range(n + 1):
            product_k = 0.0
            product_rest = 0.0
            for m in range(k + 1):
                product_k += row[m] * c[k - m]
            for m in range(n - k + 1):
                product_rest += row[m] * c[n - k - m]
            first = product_k
            second += product_k * product_rest
        slope += n * alpha[n] * first / v
        curvature += n * alpha[n] * second / (v * v)
    return slope, curvature
