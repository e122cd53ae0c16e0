"""Columns of tr (I - A/s)^-n in turn, with M = (I - A/s)^-1 brought up to date in blocks.

A column's step needs row j of M, M², …; changing the column changes M by a matrix of rank one
(Sherman–Morrison). Instead of touching all of M every time, a block of columns keeps its updates
as P and R with M = M0 + Σ_m outer(P_m, R_m), and the block ends with one matrix product. Rows of
powers follow the same way: with R_m·M0^i stored, and the rows of M0^(i+1) of the block's columns
formed beforehand by one product each, every row costs O(d) per pending update, never O(d²).
"""

from __future__ import annotations

from typing import NamedTuple

from analyticdag._jit import helper, kernel, part
from analyticdag._typing import FloatArray, IntArray
from analyticdag.optimize.columns.column import Column, Equation, copy_into, solve_column
from analyticdag.optimize.columns.elastic import Workbench, add_multiple


class State(NamedTuple):
    """Where the descent stands. Everything is transposed: row j belongs to column j of W."""

    WT: FloatArray
    Q: FloatArray  # WT @ S
    decrease: FloatArray  # what each column won at its last visit, in its own units


class Block(NamedTuple):
    """The inverse before a block of columns, and the updates the block leaves behind."""

    MT: FloatArray  # M0 transposed
    G: FloatArray  # G[i, position]: row columns[position] of M0^(i+1)
    P: FloatArray
    R: FloatArray  # R[i, m]: R_m·M0^i


@part
def inner(x: FloatArray, y: FloatArray) -> float:
    """x·y, in four sums side by side: one would have each addition wait for the last."""
    a, b, c, e = 0.0, 0.0, 0.0, 0.0
    whole = x.shape[0] - x.shape[0] % 4
    for k in range(0, whole, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        e += x[k + 3] * y[k + 3]
    for k in range(whole, x.shape[0]):
        a += x[k] * y[k]
    return (a + b) + (c + e)


@helper
def power_rows(j: int, position: int, block: Block, pending: int, V: FloatArray) -> None:
    """Fill V[k] with row j of M^(k+1), and R[:, pending] with (row j of M)·M0^i.

    V[i] first holds (row j of M)·M0^i; each further factor M is M0 (a shift of i) plus the pending
    updates.
    """
    for i in range(V.shape[0]):
        copy_into(V[i], block.G[i, position])
        for m in range(pending):
            add_multiple(V[i], block.P[m, j], block.R[i, m])
        copy_into(block.R[i, pending], V[i])
    for k in range(1, V.shape[0]):
        for m in range(pending):
            share = inner(V[k - 1], block.P[m])
            for i in range(k, V.shape[0]):
                add_multiple(V[i], share, block.R[i - k, m])


@helper
def remove_column(V: FloatArray, b: FloatArray, s: float, tau: FloatArray) -> None:
    """From V[k] = row j of M^(k+1) to (row j of N^(k+1))/s, N the inverse without column j.

    By Sherman–Morrison, as power series: N(y) = M(y)/(1 + tau(y)), tau_k = (row j of M^(k+1))·a/s.
    """
    for k in range(V.shape[0]):
        tau[k] = 0.0
        for i in range(b.shape[0]):
            if b[i] != 0.0:
                tau[k] += V[k, i] * b[i] * b[i] / s
    for k in range(V.shape[0]):
        for i in range(b.shape[0]):
            V[k, i] /= s
        for m in range(1, k + 1):
            add_multiple(V[k], -tau[m], V[k - m])
        for i in range(b.shape[0]):
            V[k, i] = max(V[k, i] / (1.0 + tau[0]), 0.0)  # rounding must not become a reward


@helper
def rank_one_update(
    block: Block, pending: int, s: float, old: FloatArray, b: FloatArray, bench: Workbench
) -> int:
    """Append the update that turns column ``old`` of W into ``b``; how many are pending then."""
    moving, by, changed = bench.free, bench.pull, 0  # scratch that the Newton steps have left
    for i in range(b.shape[0]):
        if b[i] != old[i]:
            moving[changed] = i
            by[changed] = b[i] * b[i] - old[i] * old[i]
            changed += 1
    if changed == 0:
        return pending
    update, moved = block.P[pending], 0.0
    for k in range(b.shape[0]):
        update[k] = 0.0
    for c in range(changed):
        moved += by[c] * block.R[0, pending, moving[c]]
        add_multiple(update, by[c], block.MT[moving[c]])
    for m in range(pending):
        share = 0.0
        for c in range(changed):
            share += by[c] * block.R[0, m, moving[c]]
        add_multiple(update, share, block.P[m])
    for k in range(b.shape[0]):
        update[k] /= s - moved
    return pending + 1


@kernel
def resolvent_block(
    equation: Equation,
    state: State,
    block: Block,
    column: Column,
    columns: IntArray,
    pending: int,
) -> int:
    """Solve each of ``columns`` in turn; returns how many updates of M are ``pending`` then."""
    for position in range(columns.shape[0]):
        j = columns[position]
        old = state.WT[j]
        copy_into(column.b, old)
        power_rows(j, position, block, pending, column.V)
        remove_column(column.V, old, equation.s, column.t)
        size = column.V.shape[0]
        state.decrease[j] = solve_column(equation, j, state.Q[j], column, size)
        pending = rank_one_update(block, pending, equation.s, old, column.b, column.bench)
        copy_into(old, column.b)
    return pending
