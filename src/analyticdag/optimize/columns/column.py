"""One column of the stage problem: a few elastic nets, each with the constraint linearised anew.

The constraint is increasing and convex in each squared weight a_i = b_i². Linear in a, it is a
ridge penalty: what remains is an elastic net, which is convex and solved exactly. The step to its
solution is shortened until the column objective itself falls.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from analyticdag._jit import helper, part
from analyticdag._typing import FloatArray
from analyticdag.optimize.columns.barrier import MARGIN, constraint_slopes, constraint_value
from analyticdag.optimize.columns.elastic import (
    Workbench,
    add_multiple,
    solve_elastic_net,
    workbench,
)

_LINEARISATIONS = 3
_HALVINGS = 8


class Equation(NamedTuple):
    """The stage problem in unit variances: what a sweep reads and never writes."""

    S: FloatArray
    kappa: FloatArray  # weight of the constraint in each column
    lam: FloatArray  # row j: l1 penalties of column j, inf where an edge may not exist
    s: float  # scale of the constraint
    alpha: FloatArray  # the constraint as a series, see ``barrier``
    edge: float  # the domain of the constraint ends where t(edge) = 1
    noise: FloatArray  # what is taken for the noise variance of each column
    worth: float  # least worth of a weight, relative to the noise


class Column(NamedTuple):
    """The column at hand, and scratch memory."""

    b: FloatArray
    V: FloatArray  # see ``barrier``: t_k = V[k]·b²
    t: FloatArray
    trial: FloatArray
    series: FloatArray
    slopes: FloatArray
    ridge: FloatArray
    old: FloatArray
    old_q: FloatArray
    bench: Workbench


def empty_column(d: int, terms: int) -> Column:
    """Memory for a column of d weights and a series of that many terms."""
    t, trial, series, slopes = np.empty((4, terms))
    b, ridge, old, old_q = np.empty((4, d))
    V = np.empty((terms, d))
    return Column(b, V, t, trial, series, slopes, ridge, old, old_q, workbench(d))


@part
def copy_into(target: FloatArray, source: FloatArray) -> None:
    """target[:] = source, without the general machinery that is slow to compile."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@part
def moments(column: Column, size: int, t: FloatArray) -> None:
    """t_k = V[k]·b²."""
    b, V = column.b, column.V
    for k in range(size):
        t[k] = 0.0
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            for k in range(size):
                t[k] += V[k, i] * b[i] * b[i]


@part
def column_fit(equation: Equation, j: int, b: FloatArray, q: FloatArray) -> float:
    """Loss and l1 penalty of the column, up to a constant."""
    fit = 0.0
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            fit += (0.5 * q[i] - equation.S[j, i]) * b[i] + equation.lam[j, i] * abs(b[i])
    return fit


@helper
def residual_variance(equation: Equation, j: int, b: FloatArray, q: FloatArray) -> float:
    """(e_j - b)'S(e_j - b), kept above rounding."""
    residual: float = equation.S[j, j]
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            residual += b[i] * (q[i] - 2.0 * equation.S[j, i])
    return max(residual, 1e-12)


@helper
def solve_column(equation: Equation, j: int, q: FloatArray, column: Column, size: int) -> float:
    """Minimise over column.b, in place of it and of q = S b; returns the decrease."""
    alpha, edge, kappa = equation.alpha, equation.edge, equation.kappa[j]
    b, t, trial, old, old_q = column.b, column.t, column.trial, column.old, column.old_q
    worth = equation.worth * min(equation.noise[j], residual_variance(equation, j, b, q))
    margin = MARGIN
    for i in range(b.shape[0]):
        margin = max(margin, MARGIN * equation.s * column.V[0, i])
    moments(column, size, t)
    now = kappa * constraint_value(alpha, t, size, edge, margin, column.series)
    now += column_fit(equation, j, b, q)
    won = 0.0
    for _ in range(_LINEARISATIONS):
        if not now < math.inf:
            break
        constraint_slopes(alpha, t, size, column.series, column.slopes)
        for i in range(b.shape[0]):
            column.ridge[i] = 0.0
        for k in range(size):
            add_multiple(column.ridge, 2.0 * kappa * column.slopes[k], column.V[k])
        copy_into(old, b)
        copy_into(old_q, q)
        solve_elastic_net(equation.S, j, b, q, column.ridge, equation.lam[j], worth, column.bench)
        gain = -1.0
        for halving in range(_HALVINGS):
            if halving > 0:
                for i in range(b.shape[0]):
                    b[i] = 0.5 * (b[i] + old[i])
                    q[i] = 0.5 * (q[i] + old_q[i])
            moments(column, size, trial)
            value = constraint_value(alpha, trial, size, edge, margin, column.series)
            gain = now - column_fit(equation, j, b, q) - kappa * value
            if gain >= 0.0:
                break
        if not gain >= 0.0:
            copy_into(b, old)
            copy_into(q, old_q)
            break
        copy_into(t, trial)
        now -= gain
        won += gain
        if gain < worth or gain < 0.1 * won:
            break
    return won
