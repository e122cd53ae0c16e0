"""Columns of tr f(A) in turn for any f in F: by the walks that leave a node and come back.

Row j of A0^k, A0 being A without column j, weighs the walks of k steps that leave j and have not
come back; times a, it weighs those that return at step k+1. The coefficients of f turn these
numbers into tr f(A), see ``barrier``. Rows are formed until what they add is lost in rounding.
"""

from __future__ import annotations

from analyticdag._jit import helper, kernel
from analyticdag._typing import FloatArray, IntArray
from analyticdag.optimize.columns.column import Column, Equation, copy_into, solve_column
from analyticdag.optimize.columns.elastic import add_multiple
from analyticdag.optimize.columns.resolvent import State

_NEGLIGIBLE = 1e-14


@helper
def walk_rows(A: FloatArray, s: float, j: int, alpha: FloatArray, V: FloatArray) -> int:
    """Fill V[k] = (row j of A0^(k-1))/s^k, V[0] = 0; returns how many rows matter.

    A is by source: A[k, i] belongs to the edge from k to i.
    """
    d, most = A.shape[0], 0.0
    size: int = V.shape[0]
    for i in range(d):
        V[0, i] = 0.0
        V[1, i] = 0.0
    V[1, j] = 1.0 / s
    for k in range(2, size):
        largest = 0.0
        for i in range(d):
            V[k, i] = 0.0
        for i in range(d):
            if V[k - 1, i] != 0.0:
                add_multiple(V[k], V[k - 1, i] / s, A[i])
        V[k, j] = 0.0  # A0 has no edge into j
        for i in range(d):
            largest = max(largest, V[k, i])
        most = max(most, k * alpha[k] * largest)
        if k * alpha[k] * largest <= _NEGLIGIBLE * most:
            return k
    return size


@kernel
def walk_sweep(
    equation: Equation, state: State, A: FloatArray, column: Column, columns: IntArray
) -> None:
    """Solve each of ``columns`` in turn."""
    for position in range(columns.shape[0]):
        j = columns[position]
        old = state.WT[j]
        copy_into(column.b, old)
        size = walk_rows(A, equation.s, j, equation.alpha, column.V)
        state.decrease[j] = solve_column(equation, j, state.Q[j], column, size)
        copy_into(old, column.b)
        for i in range(old.shape[0]):
            A[i, j] = old[i] * old[i]
