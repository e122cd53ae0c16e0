"""One column of tr f(A) for any f with a power series, by walks that leave and come back.

Here A and a = b²/s are in units of the scale s of f, and c are the coefficients of f(s x).
Write A without column j as A0 and t_i = (row j of A0^i)·a: the weight of the walks from j that
return to j after i+1 steps, for the first time. With T(z) = t_0 z + t_1 z² + … and r the
coefficients of 1/(1 - T(z)), the column adds to tr Aᵏ

    p_k = k·[zᵏ](-log(1 - T(z))) = Σ_i (i+1) t_i r_(k-i-1),

and to tr f(A) the sum Σ_k c_k p_k: exact, for every f in F. The derivative in t_i is
Σ_k k c_k r_(k-i-1). Rows A0^i are formed until what they add is lost in rounding.
"""

from __future__ import annotations

from typing import NamedTuple

from analyticdag._jit import kernel
from analyticdag._typing import FloatArray, IntArray
from analyticdag.optimize.columns.barrier import INNER_EDGE
from analyticdag.optimize.columns.coordinates import add_multiple, copy_into
from analyticdag.optimize.columns.sweep import Equation, Scratch, solve_column

_NEGLIGIBLE = 1e-14
_RELINEARISED = 3  # times per visit
_HALVINGS = 8


class Walks(NamedTuple):
    """The series of f, A by source (A[k, i]: from k to i), and scratch memory for one column."""

    s: float
    coefficients: FloatArray
    inverse_radius: float
    A: FloatArray
    V: FloatArray  # V[i]: row j of A0^i
    t: FloatArray
    trial: FloatArray
    r: FloatArray
    slopes: FloatArray
    old: FloatArray
    old_q: FloatArray
    best: FloatArray


@kernel
def walk_rows(walks: Walks, j: int) -> int:
    """Fill V[i] = row j of A0^i; returns how many rows matter."""
    V, A, c = walks.V, walks.A, walks.coefficients
    d, most = A.shape[0], 0.0
    for i in range(d):
        V[0, i] = 0.0
    V[0, j] = 1.0
    size: int = V.shape[0]
    for k in range(1, size):
        for i in range(d):
            V[k, i] = 0.0
        for i in range(d):
            if V[k - 1, i] != 0.0:
                add_multiple(V[k], V[k - 1, i], A[i])
        V[k, j] = 0.0  # A0 has no edge into j
        largest = 0.0
        for i in range(d):
            largest = max(largest, V[k, i])
        weight = (k + 1) * c[k + 1] * largest
        most = max(most, weight)
        if weight <= _NEGLIGIBLE * most:
            return k
    return size


@kernel
def return_series(t: FloatArray, size: int, r: FloatArray) -> None:
    """r = the coefficients of 1/(1 - T(z)) up to z^(size - 1)."""
    r[0] = 1.0
    for m in range(1, size):
        total = 0.0
        for i in range(m):
            total += t[i] * r[m - 1 - i]
        r[m] = total


@kernel
def walk_value(walks: Walks, t: FloatArray, size: int) -> float:
    """What the column adds to tr f(A); inf at the edge of the domain."""
    c, r = walks.coefficients, walks.r
    z, reached = walks.inverse_radius, 0.0
    for i in range(size):
        reached += t[i] * z
        z *= walks.inverse_radius
    if not reached < INNER_EDGE:
        return float("inf")
    return_series(t, size, r)
    value = 0.0
    for i in range(size):
        for k in range(i + 1, size + 1):
            value += c[k] * (i + 1) * t[i] * r[k - i - 1]
    return value


@kernel
def walk_slopes(walks: Walks, size: int, slope: FloatArray) -> None:
    """slope[i] = d(tr f(A)) / d(b_i²) at the current column."""
    c, r = walks.coefficients, walks.r
    return_series(walks.t, size, r)
    for i in range(slope.shape[0]):
        slope[i] = 0.0
    for i in range(size):
        weight = 0.0
        for k in range(i + 1, size + 1):
            weight += k * c[k] * r[k - i - 1]
        add_multiple(slope, weight / walks.s, walks.V[i])


@kernel
def moments(walks: Walks, b: FloatArray, size: int, t: FloatArray) -> None:
    """t_i = V[i]·a."""
    for k in range(size):
        t[k] = 0.0
        for i in range(b.shape[0]):
            if b[i] != 0.0:
                t[k] += walks.V[k, i] * b[i] * b[i] / walks.s


@kernel
def column_fit(equation: Equation, j: int, b: FloatArray, q: FloatArray) -> float:
    """Loss and penalty of the column."""
    fit = 0.0
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            fit += (0.5 * q[i] - equation.S[j, i]) * b[i] + equation.lam[j, i] * abs(b[i])
    return fit


@kernel
def walk_column(equation: Equation, j: int, q: FloatArray, walks: Walks, memory: Scratch) -> float:
    """Minimise over one column, in place of memory.b and q = S b; returns the exact decrease.

    The constraint is linearised in a = b², which leaves an elastic net; the step to its solution
    is shortened until the exact column objective falls. Few walks return twice, so the linear
    model is nearly right and the full step is the rule.
    """
    b, kappa = memory.b, equation.kappa[j]
    size = walk_rows(walks, j)
    moments(walks, b, size, walks.t)
    value = walk_value(walks, walks.t, size)
    won = 0.0
    if not value < float("inf"):
        return won
    for _ in range(_RELINEARISED):
        walk_slopes(walks, size, walks.slopes)
        for i in range(b.shape[0]):
            memory.rows[i, 0] = 0.0
            memory.rows[i, 1] = max(walks.slopes[i], 0.0)
        copy_into(walks.old, b)
        copy_into(walks.old_q, q)
        before = column_fit(equation, j, b, q) + kappa * value
        solve_column(equation, j, q, memory)
        copy_into(walks.best, b)
        length, gain = 1.0, 0.0
        for _ in range(_HALVINGS):
            moments(walks, b, size, walks.trial)
            new_value = walk_value(walks, walks.trial, size)
            gain = before - column_fit(equation, j, b, q) - kappa * new_value
            if gain >= 0.0:
                break
            length *= 0.5
            for i in range(b.shape[0]):
                b[i] = walks.old[i] + length * (walks.best[i] - walks.old[i])
                q[i] = walks.old_q[i] + 0.5 * (q[i] - walks.old_q[i])
        if not gain >= 0.0:
            copy_into(b, walks.old)
            copy_into(q, walks.old_q)
            break
        value = new_value
        copy_into(walks.t, walks.trial)
        won += gain
        if gain <= 0.1 * won:
            break
    return won


@kernel
def walk_sweep(
    equation: Equation,
    WT: FloatArray,
    Q: FloatArray,
    decrease: FloatArray,
    walks: Walks,
    memory: Scratch,
    columns: IntArray,
) -> None:
    """Solve each of ``columns`` in turn."""
    for position in range(columns.shape[0]):
        j = columns[position]
        copy_into(memory.b, WT[j])
        decrease[j] = walk_column(equation, j, Q[j], walks, memory)
        copy_into(WT[j], memory.b)
        for i in range(WT.shape[0]):
            walks.A[i, j] = WT[j, i] * WT[j, i] / walks.s
