"""Columns of tr (I - A/s)^-n in turn, with M = (I - A/s)^-1 brought up to date in blocks.

A column's step needs row j of M, M², …; changing the column changes M by a matrix of rank one
(Sherman–Morrison). Instead of touching all of M every time, a block of columns keeps its updates
as P and R with M = M0 + Σ_m outer(P_m, R_m), and the block ends with one matrix product. Rows of
powers follow the same way: with R_m·M0^i stored, and the rows of M0^(i+1) of the block's columns
formed beforehand by one product each, every row costs O(d) per pending update, never O(d²).
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.vectors import (
    add_multiple,
    at,
    copy_into,
    fill,
    inner,
    start,
    start_integers,
)
from analyticdag.optimize.columns.column import Column, Equation, State, solve_column
from analyticdag.optimize.columns.elastic import Net


@cython.cclass
class Block:
    """The inverse before a block of columns, and the updates the block leaves behind."""

    size: cython.Py_ssize_t  # columns, at most
    MT: cython.doubles  # M0 transposed
    G: cython.doubles  # G[i, position]: row columns[position] of M0^(i+1)
    P: cython.doubles  # P[m]
    R: cython.doubles  # R[i, m]: R_m·M0^i

    def __init__(
        self,
        size: cython.Py_ssize_t,
        MT: cython.doubles,
        G: cython.doubles,
        P: cython.doubles,
        R: cython.doubles,
    ) -> None:
        self.size, self.MT, self.G, self.P, self.R = size, MT, G, P, R


def resolvent_block(
    equation: Equation,
    state: State,
    block: Block,
    column: Column,
    net: Net,
    columns: cython.longlongs,
) -> cython.Py_ssize_t:
    """Solve each of ``columns`` in turn; returns how many updates of M are pending then."""
    with cython.nogil:
        pending = visit_block(
            equation, state, block, column, net, start_integers(columns), columns.shape[0]
        )
    return pending


@cython.part
def visit_block(
    equation: Equation,
    state: State,
    block: Block,
    column: Column,
    net: Net,
    columns: cython.p_longlong,
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """``resolvent_block`` without Python."""
    d, terms = equation.d, column.terms
    V, b = start(column.V), start(net.b)
    pending: cython.Py_ssize_t = 0
    for position in range(count):
        j = columns[position]
        old = at(start(state.WT), j * d)
        copy_into(b, old, d)
        power_rows(j, position, block, pending, V, d, terms)
        remove_column(V, old, equation.s, start(column.t), d, terms)
        q = at(start(state.Q), j * d)
        state.decrease[j] = solve_column(equation, j, q, net, column, terms)
        pending = rank_one_update(block, pending, equation.s, old, net)
        copy_into(old, b, d)
    return pending


@cython.part
def power_rows(
    j: cython.Py_ssize_t,
    position: cython.Py_ssize_t,
    block: Block,
    pending: cython.Py_ssize_t,
    V: cython.p_double,
    d: cython.Py_ssize_t,
    terms: cython.Py_ssize_t,
) -> cython.void:
    """Fill V[k] with row j of M^(k+1), and R[:, pending] with (row j of M)·M0^i.

    V[i] first holds (row j of M)·M0^i; each further factor M is M0 (a shift of i) plus the pending
    updates.
    """
    G, P, R, size = start(block.G), start(block.P), start(block.R), block.size
    for i in range(terms):
        row = at(V, i * d)
        copy_into(row, at(G, (i * size + position) * d), d)
        for m in range(pending):
            add_multiple(row, P[m * d + j], at(R, (i * size + m) * d), d)
        copy_into(at(R, (i * size + pending) * d), row, d)
    for k in range(1, terms):
        for m in range(pending):
            share = inner(at(V, (k - 1) * d), at(P, m * d), d)
            for i in range(k, terms):
                add_multiple(at(V, i * d), share, at(R, ((i - k) * size + m) * d), d)


@cython.part
def remove_column(
    V: cython.p_double,
    b: cython.p_double,
    s: cython.double,
    tau: cython.p_double,
    d: cython.Py_ssize_t,
    terms: cython.Py_ssize_t,
) -> cython.void:
    """From V[k] = row j of M^(k+1) to (row j of N^(k+1))/s, N the inverse without column j.

    By Sherman–Morrison, as power series: N(y) = M(y)/(1 + tau(y)), tau_k = (row j of M^(k+1))·a/s.
    """
    for k in range(terms):
        tau[k] = 0.0
        for i in range(d):
            if b[i] != 0.0:
                tau[k] += V[k * d + i] * b[i] * b[i] / s
    for k in range(terms):
        row = at(V, k * d)
        for i in range(d):
            row[i] /= s
        for m in range(1, k + 1):
            add_multiple(row, -tau[m], at(V, (k - m) * d), d)
        for i in range(d):
            row[i] = max(row[i] / (1.0 + tau[0]), 0.0)  # rounding must not become a reward


@cython.part
def rank_one_update(
    block: Block,
    pending: cython.Py_ssize_t,
    s: cython.double,
    old: cython.p_double,
    net: Net,
) -> cython.Py_ssize_t:
    """Append the update that turns column ``old`` of W into net.b; how many are pending then."""
    MT, P, R, b, d = start(block.MT), start(block.P), start(block.R), start(net.b), net.d
    moving, by = start_integers(net.free), start(net.pull)  # scratch that the net has left
    changed: cython.Py_ssize_t = 0
    for i in range(d):
        if b[i] != old[i]:
            moving[changed] = i
            by[changed] = b[i] * b[i] - old[i] * old[i]
            changed += 1
    if changed == 0:
        return pending
    update, moved = at(P, pending * d), 0.0
    fill(update, 0.0, d)
    for c in range(changed):
        moved += by[c] * R[pending * d + moving[c]]
        add_multiple(update, by[c], at(MT, moving[c] * d), d)
    for m in range(pending):
        share = 0.0
        for c in range(changed):
            share += by[c] * R[m * d + moving[c]]
        add_multiple(update, share, at(P, m * d), d)
    for k in range(d):
        update[k] /= s - moved
    return pending + 1
