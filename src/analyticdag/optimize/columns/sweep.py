"""Many columns in turn, with M = (I - A/s)^-1 brought up to date in blocks.

A column's step needs row j of M, M², …; changing the column changes M by a matrix of rank one
(Sherman–Morrison). Instead of touching all of M every time, a block of columns keeps its updates
as P and R with M = M0 + Σ_m outer(P_m, R_m), and the block ends with one matrix product. Rows of
powers follow the same way: with R_m·M0^i stored, and the rows of M0^(i+1) of the block's columns
formed beforehand by one product each, every row costs O(d) per pending update, never O(d²).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analyticdag._jit import kernel
from analyticdag._typing import FloatArray, IntArray
from analyticdag.optimize.columns.barrier import INNER_EDGE
from analyticdag.optimize.columns.coordinates import add_multiple, coordinate_pass, copy_into
from analyticdag.optimize.columns.newton import newton_step

# A column is solved by rounds of one coordinate pass (which weights are non-zero) and some Newton
# steps (how large they are), until a round wins little: exact columns save whole sweeps.
_ROUNDS = 10
_NEWTON_STEPS = 5
_LITTLE = 3.0  # times the least worth of a weight


class Equation(NamedTuple):
    """The stage problem in unit variances: what a sweep reads and never writes."""

    S: FloatArray
    kappa: FloatArray  # weight of the constraint in each column
    lam: FloatArray  # row j: l1 penalties of column j, inf where an edge may not exist
    alpha: FloatArray  # the constraint: alpha[0]·order-1 + alpha[1]·order-2 + …
    s: float
    worth: float  # least worth of a weight, relative to the residual variance of its column


class State(NamedTuple):
    """Where the descent stands. Everything is transposed: row j belongs to column j of W."""

    WT: FloatArray
    Q: FloatArray  # WT @ S
    MT: FloatArray  # (I - A/s)^-T, without the pending updates
    decrease: FloatArray  # what each column won at its last visit, in its own units


class Block(NamedTuple):
    """Rows of powers of M0 for the columns of a block, and the updates it leaves behind."""

    G: FloatArray  # G[i, position]: row columns[position] of M0^(i+1)
    P: FloatArray
    R: FloatArray  # R[i, m]: R_m·M0^i


class Scratch(NamedTuple):
    """Memory for one column, allocated once."""

    images: FloatArray
    rows: FloatArray
    t: FloatArray
    small: FloatArray
    b: FloatArray
    y: FloatArray
    new: FloatArray
    free: IntArray
    square: FloatArray


def scratch(d: int, n: int) -> Scratch:
    """Scratch memory for d nodes and constraints of n series terms."""
    return Scratch(
        images=np.empty((n, d)),
        rows=np.empty((d, n)),
        t=np.empty(n),
        small=np.empty((5, n)),
        b=np.empty(d),
        y=np.empty(d),
        new=np.empty(d),
        free=np.empty(d, np.int64),
        square=np.empty(d * d),
    )


@kernel
def inner(x: FloatArray, y: FloatArray) -> float:
    """x·y."""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@kernel
def power_rows(j: int, position: int, block: Block, pending: int, images: FloatArray) -> None:
    """Fill images[k] with row j of M^(k+1), and R[:, pending] with row j of M times M0^i.

    images[i] first holds (row j of M)·M0^i; each further factor M is M0 (a shift of i) plus the
    pending updates.
    """
    n = images.shape[0]
    for i in range(n):
        copy_into(images[i], block.G[i, position])
        for m in range(pending):
            add_multiple(images[i], block.P[m, j], block.R[i, m])
        copy_into(block.R[i, pending], images[i])
    for k in range(1, n):
        for m in range(pending):
            share = inner(images[k - 1], block.P[m])
            for i in range(k, n):
                add_multiple(images[i], share, block.R[i - k, m])


@kernel
def rows_without_column(
    images: FloatArray, b: FloatArray, s: float, tau: FloatArray, rows: FloatArray
) -> None:
    """rows[:, k] = (row j of N^(k+1))/s, N the inverse without column j, from the rows of M^(k+1).

    By Sherman–Morrison, as power series: N(y) = M(y)/(1 + tau(y)), tau_k = (row j of M^(k+1))·a/s.
    """
    n, d = images.shape
    for k in range(n):
        tau[k] = 0.0
        for i in range(d):
            if b[i] != 0.0:
                tau[k] += images[k, i] * b[i] * b[i] / s
    scale = 1.0 / (1.0 + tau[0])
    for i in range(d):
        for k in range(n):
            x = images[k, i] / s
            for m in range(1, k + 1):
                x -= tau[m] * rows[i, k - m]
            rows[i, k] = max(x * scale, 0.0)  # rounding must not turn a penalty into a reward


@kernel
def rank_one_update(
    MT: FloatArray, block: Block, pending: int, s: float, old: FloatArray, b: FloatArray
) -> int:
    """Append the update that turns column ``old`` of W into ``b``; how many are pending then."""
    update = block.P[pending]
    moved = 0.0
    changed = False
    for k in range(b.shape[0]):
        update[k] = 0.0
    for i in range(b.shape[0]):
        if b[i] != old[i]:
            changed = True
            da = b[i] * b[i] - old[i] * old[i]
            moved += da * block.R[0, pending, i]
            add_multiple(update, da, MT[i])
    for m in range(pending):
        share = 0.0
        for i in range(b.shape[0]):
            if b[i] != old[i]:
                share += (b[i] * b[i] - old[i] * old[i]) * block.R[0, m, i]
        add_multiple(update, share, block.P[m])
    for k in range(b.shape[0]):
        update[k] /= s - moved
    return pending + 1 if changed else pending


@kernel
def solve_column(equation: Equation, j: int, q: FloatArray, memory: Scratch) -> float:
    """Minimise over one column, in place of memory.b and q = S b; returns the decrease."""
    S, b, rows, t = equation.S, memory.b, memory.rows, memory.t
    residual = S[j, j]
    for k in range(t.shape[0]):
        t[k] = 0.0
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            residual += b[i] * (q[i] - 2.0 * S[j, i])
            for k in range(t.shape[0]):
                t[k] += rows[i, k] * b[i] * b[i]
    alpha, kappa, lam = equation.alpha, equation.kappa[j], equation.lam[j]
    worth = equation.worth * max(residual, 1e-12)
    won = 0.0
    if not t[0] < INNER_EDGE:
        return won
    for _ in range(_ROUNDS):
        before = won
        won = coordinate_pass(S, j, b, q, rows, t, alpha, kappa, lam, worth, won, memory.small)
        for _ in range(_NEWTON_STEPS):
            step = newton_step(
                S, j, b, q, rows, t, alpha, kappa, lam, 1e-3 * worth,
                memory.small, memory.free, memory.square, memory.y, memory.new,
            )  # fmt: skip
            won += step
            if step < 1e-2 * worth:
                break
        if won - before < _LITTLE * worth:
            break
    return won


@kernel
def sweep_block(
    equation: Equation,
    state: State,
    block: Block,
    memory: Scratch,
    columns: IntArray,
    pending: int,
) -> int:
    """Solve each of ``columns`` in turn; returns how many updates of M are ``pending`` then."""
    for position in range(columns.shape[0]):
        j = columns[position]
        old = state.WT[j]
        copy_into(memory.b, old)
        power_rows(j, position, block, pending, memory.images)
        rows_without_column(memory.images, old, equation.s, memory.t, memory.rows)
        state.decrease[j] = solve_column(equation, j, state.Q[j], memory)
        pending = rank_one_update(state.MT, block, pending, equation.s, old, memory.b)
        copy_into(old, memory.b)
    return pending
