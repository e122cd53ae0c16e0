"""Newton steps on the non-zero weights of one column: what survives collinear variables.

Coordinate steps crawl along narrow valleys (two parents with correlation 0.999). A Newton step on
the free weights crosses them at once. Weights that the constraint already holds down (reversed
edges, say) are left to the coordinate steps: their curvature is a diagonal entry, and they would
make the system three times larger for nothing.
"""

from __future__ import annotations

import math

from analyticdag._jit import kernel
from analyticdag._typing import FloatArray, IntArray
from analyticdag.optimize.columns.barrier import constraint_slopes, constraint_value
from analyticdag.optimize.columns.coordinates import add_multiple, copy_into

# A weight is free when the constraint's curvature is below this multiple of its own variance.
_STIFF = 30.0
_RIDGE = 1e-9  # relative; makes duplicated columns solvable
_HALVINGS = 6


@kernel
def cholesky_solve(H: FloatArray, y: FloatArray) -> bool:
    """Solve H x = y in place of y, H given by its upper triangle; False if not positive."""
    p = H.shape[0]
    for k in range(p):
        if not H[k, k] > 0.0:
            return False
        root = math.sqrt(H[k, k])
        H[k, k] = root
        for n in range(k + 1, p):
            H[k, n] /= root
        for i in range(k + 1, p):
            factor = H[k, i]
            for n in range(i, p):
                H[i, n] -= factor * H[k, n]
    for k in range(p):
        y[k] /= H[k, k]
        for n in range(k + 1, p):
            y[n] -= y[k] * H[k, n]
    for k in range(p - 1, -1, -1):
        total = y[k]
        for n in range(k + 1, p):
            total -= H[k, n] * y[n]
        y[k] = total / H[k, k]
    return True


@kernel
def free_weights(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    rows: FloatArray,
    slopes: FloatArray,
    kappa: float,
    lam: FloatArray,
    free: IntArray,
    diagonal: FloatArray,
    y: FloatArray,
) -> int:
    """Collect the free weights, their own curvature and minus their gradient; how many."""
    p = 0
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            stiffness = 0.0
            for k in range(slopes.shape[0]):
                stiffness += 2.0 * kappa * slopes[k] * rows[i, k]
            if stiffness <= _STIFF * S[i, i]:
                free[p] = i
                diagonal[p] = (1.0 + _RIDGE) * S[i, i] + stiffness
                y[p] = S[j, i] - q[i] - math.copysign(lam[i], b[i]) - stiffness * b[i]
                p += 1
    return p


@kernel
def change_of_objective(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    lam: FloatArray,
    free: IntArray,
    new: FloatArray,
    p: int,
) -> float:
    """Loss and l1 part of moving the free weights to ``new``."""
    change = 0.0
    for m in range(p):
        i = free[m]
        delta = new[m] - b[i]
        change += delta * (q[i] - S[j, i] + 0.5 * S[i, i] * delta)
        change += lam[i] * (abs(new[m]) - abs(b[i]))
        cross = 0.0
        for n in range(m):
            cross += S[i, free[n]] * (new[n] - b[free[n]])
        change += delta * cross
    return change


@kernel
def newton_step(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    rows: FloatArray,
    t: FloatArray,
    alpha: FloatArray,
    kappa: float,
    lam: FloatArray,
    least: float,
    scratch: FloatArray,
    free: IntArray,
    square: FloatArray,
    y: FloatArray,
    new: FloatArray,
) -> float:
    """One step, shortened until the column objective falls; returns the decrease.

    A weight that would change sign stops at zero, where it may stay.
    """
    trial, c, slopes = scratch[0], scratch[1], scratch[2]
    value = constraint_value(alpha, t, c)
    constraint_slopes(alpha, t, c, slopes)
    p = free_weights(S, j, b, q, rows, slopes, kappa, lam, free, new, y)
    expected = 0.0
    for m in range(p):
        expected += y[m] * y[m] / new[m]
    if expected < least:
        return 0.0
    H = square[: p * p].reshape((p, p))
    for m in range(p):
        source = S[free[m]]
        H[m, m] = new[m]
        for n in range(m + 1, p):
            H[m, n] = source[free[n]]
    if not cholesky_solve(H, y):
        return 0.0
    length = 1.0
    for _ in range(_HALVINGS):
        copy_into(trial, t)
        for m in range(p):
            i = free[m]
            x = b[i] + length * y[m]
            new[m] = x if x * b[i] > 0.0 else 0.0
            da = new[m] * new[m] - b[i] * b[i]
            for k in range(t.shape[0]):
                trial[k] += rows[i, k] * da
        change = kappa * (constraint_value(alpha, trial, c) - value)
        if change < math.inf:
            change += change_of_objective(S, j, b, q, lam, free, new, p)
            if change < 0.0:
                for m in range(p):
                    add_multiple(q, new[m] - b[free[m]], S[free[m]])
                    b[free[m]] = new[m]
                copy_into(t, trial)
                return -change
        length *= 0.4
    return 0.0
