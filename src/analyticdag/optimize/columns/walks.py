"""Columns of tr f(A) in turn for any f in F: by the walks that leave a node and come back.

Row j of A0^k, A0 being A without column j, weighs the walks of k steps that leave j and have not
come back; times a, it weighs those that return at step k+1. The coefficients of f turn these
numbers into tr f(A), see ``barrier``. Rows are formed until what they add is lost in rounding.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.vectors import (
    add_multiple,
    at,
    copy_into,
    fill,
    start,
    start_integers,
)
from analyticdag.optimize.columns.column import Column, Equation, State, solve_column
from analyticdag.optimize.columns.elastic import Net

NEGLIGIBLE = 1e-14  # of the largest term: less is lost in rounding


def walk_block(
    equation: Equation,
    state: State,
    A: cython.doubles,
    column: Column,
    net: Net,
    columns: cython.longlongs,
) -> None:
    """Solve each of ``columns`` in turn."""
    with cython.nogil:
        visit_by_walks(
            equation, state, start(A), column, net, start_integers(columns), columns.shape[0]
        )


@cython.part
def visit_by_walks(
    equation: Equation,
    state: State,
    A: cython.p_double,
    column: Column,
    net: Net,
    columns: cython.p_longlong,
    count: cython.Py_ssize_t,
) -> cython.void:
    """``walk_block`` without Python."""
    d, V, b = equation.d, start(column.V), start(net.b)
    for position in range(count):
        j = columns[position]
        old = at(start(state.WT), j * d)
        copy_into(b, old, d)
        size = walk_rows(A, equation.s, j, start(equation.alpha), V, d, column.terms)
        q = at(start(state.Q), j * d)
        state.decrease[j] = solve_column(equation, j, q, net, column, size)
        copy_into(old, b, d)
        for i in range(d):
            A[i * d + j] = old[i] * old[i]


@cython.part
def walk_rows(
    A: cython.p_double,
    s: cython.double,
    j: cython.Py_ssize_t,
    alpha: cython.p_double,
    V: cython.p_double,
    d: cython.Py_ssize_t,
    terms: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Fill V[k] = (row j of A0^(k-1))/s^k, V[0] = 0; returns how many rows matter.

    A is by source: A[k, i] belongs to the edge from k to i.
    """
    most = 0.0
    fill(V, 0.0, 2 * d)
    V[d + j] = 1.0 / s
    for k in range(2, terms):
        row, before, largest = at(V, k * d), at(V, (k - 1) * d), 0.0
        fill(row, 0.0, d)
        for i in range(d):
            if before[i] != 0.0:
                add_multiple(row, before[i] / s, at(A, i * d), d)
        row[j] = 0.0  # A0 has no edge into j
        for i in range(d):
            largest = max(largest, row[i])
        most = max(most, k * alpha[k] * largest)
        if k * alpha[k] * largest <= NEGLIGIBLE * most:
            return k
    return terms
