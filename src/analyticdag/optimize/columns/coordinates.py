"""Exact coordinate steps in one column.

The column problem, in the letters of ``barrier``: over b with b_j = 0,

    ½ b'Sb - S_j'b + Σ_i lam_i |b_i| + kappa·constraint(t),   t_k = Σ_i rows[i, k] b_i²,

convex in every coordinate. ``lam`` is inf where an edge may not exist. q = S b and t are kept up
to date by whoever changes b.
"""

from __future__ import annotations

import math

from analyticdag._jit import kernel
from analyticdag._typing import FloatArray
from analyticdag.optimize.columns.barrier import (
    INNER_EDGE,
    constraint_slopes,
    constraint_value,
    slope_and_curvature,
)

# A root is polished to this relative accuracy only: the next sweep moves it again.
_ROOT_ACCURACY = 1e-3
_ROOT_STEPS = 25
_STILL = 1e-2


@kernel
def add_multiple(target: FloatArray, factor: float, source: FloatArray) -> None:
    """target += factor * source, in place."""
    for k in range(target.shape[0]):
        target[k] += factor * source[k]


@kernel
def copy_into(target: FloatArray, source: FloatArray) -> None:
    """target[:] = source, without the general machinery that is slow to compile."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@kernel
def best_size(
    alpha: FloatArray,
    base: FloatArray,
    row: FloatArray,
    kappa: float,
    own: float,
    strength: float,
    start: float,
    scratch: FloatArray,
) -> float:
    """The x > 0 with x·(own + 2 kappa·slope(x²)) = strength, by safeguarded Newton steps.

    The left side is increasing and convex in x, so one bracket holds throughout.
    """
    trial, c = scratch[0], scratch[1]
    slope, _ = slope_and_curvature(alpha, base, row, c)
    low = 0.0
    high = strength / (own + 2.0 * kappa * slope)
    if base[0] + row[0] * high * high >= INNER_EDGE:
        high = math.sqrt((INNER_EDGE - base[0]) / row[0])
    x = start if low < start < high else 0.99 * high
    for _ in range(_ROOT_STEPS):
        for k in range(base.shape[0]):
            trial[k] = base[k] + row[k] * x * x
        slope, curvature = slope_and_curvature(alpha, trial, row, c)
        excess = x * (own + 2.0 * kappa * slope) - strength
        if excess > 0.0:
            high = x
        else:
            low = x
        step = excess / (own + 2.0 * kappa * (slope + 2.0 * x * x * curvature))
        previous = x
        x -= step
        if not low < x < high:
            x = 0.5 * (low + high)
        if abs(x - previous) <= _ROOT_ACCURACY * previous:
            break
    return x


@kernel
def coordinate_pass(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    rows: FloatArray,
    t: FloatArray,
    alpha: FloatArray,
    kappa: float,
    lam: FloatArray,
    floor: float,
    credit: float,
    scratch: FloatArray,
) -> float:
    """One pass over the column; returns credit + the decrease of the column objective.

    A weight worth less than ``floor`` is kept at zero, or put there if the decrease won so far
    in this column (``credit``) pays for it: so the pass as a whole never raises the objective.
    """
    base, c, slopes = scratch[2], scratch[3], scratch[4]
    value = constraint_value(alpha, t, c)
    constraint_slopes(alpha, t, c, slopes)
    for i in range(b.shape[0]):
        old, own, row = b[i], S[i, i], rows[i]
        pull = S[j, i] - q[i] + own * old
        strength = abs(pull) - lam[i]
        if old == 0.0 and strength <= 0.0:
            continue
        stiffness = own
        for k in range(t.shape[0]):
            stiffness += 2.0 * kappa * slopes[k] * row[k]
        if old == 0.0:
            # The constraint only grows from here: this bounds what the weight can be worth.
            if strength * strength < 2.0 * floor * stiffness:
                continue
        elif pull * old > 0.0:
            slope_here = strength - stiffness * abs(old)
            if slope_here * slope_here < 2.0 * _STILL * floor * stiffness:
                continue  # already where it should be
        for k in range(t.shape[0]):
            base[k] = t[k] - row[k] * old * old
        value_zero = constraint_value(alpha, base, c)
        cost_old = (0.5 * own * old - pull) * old + lam[i] * abs(old) + kappa * (value - value_zero)
        size, value_new, cost_new = 0.0, value_zero, 0.0
        if strength > 0.0:
            size = best_size(alpha, base, row, kappa, own, strength, abs(old), scratch)
            for k in range(t.shape[0]):
                scratch[0, k] = base[k] + row[k] * size * size
            value_new = constraint_value(alpha, scratch[0], c)
            cost_new = (0.5 * own * size - strength) * size + kappa * (value_new - value_zero)
            if cost_new > -floor and -cost_old <= credit:
                size, value_new, cost_new = 0.0, value_zero, 0.0
        if cost_new >= cost_old and size > 0.0:
            continue
        new = math.copysign(size, pull)
        if new == old:
            continue
        credit += cost_old - cost_new
        value = value_new
        for k in range(t.shape[0]):
            t[k] = base[k] + row[k] * size * size
        constraint_slopes(alpha, t, c, slopes)
        add_multiple(q, new - old, S[i])
        b[i] = new
    return credit
