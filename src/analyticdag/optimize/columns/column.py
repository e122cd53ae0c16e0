"""One column of the stage problem: a few elastic nets, each with the constraint linearised anew.

The constraint is increasing and convex in each squared weight a_i = b_i². Linear in a, it is a
ridge penalty: what remains is an elastic net, which is convex and solved exactly. The step to its
solution is shortened until the column objective itself falls.
"""

from __future__ import annotations

import numpy as np

from analyticdag._compiled import cython
from analyticdag._compiled.libc import INFINITY, fabs
from analyticdag._compiled.vectors import add_multiple, at, copy_into, fill, start
from analyticdag.optimize.columns.barrier import MARGIN, constraint_slopes, constraint_value
from analyticdag.optimize.columns.elastic import Net, solve_elastic_net

# At most so many in one visit; with one alone graphs are as good (docs/design/column-path.md).
LINEARISATIONS = 3
HALVINGS = 8  # of a step, as first written; how many it takes has not been counted


@cython.cclass
class Equation:
    """The stage problem in unit variances: what a sweep reads and never writes."""

    d: cython.Py_ssize_t
    S: cython.doubles
    kappa: cython.doubles  # weight of the constraint in each column
    lam: cython.doubles  # row j: l1 penalties of column j, inf where an edge may not exist
    s: cython.double  # scale of the constraint
    alpha: cython.doubles  # the constraint as a series, see ``barrier``
    edge: cython.double  # the domain of the constraint ends where t(edge) = 1
    noise: cython.doubles  # what is taken for the noise variance of each column
    worth: cython.double  # least worth of a weight, relative to the noise

    def __init__(
        self,
        S: cython.doubles,
        kappa: cython.doubles,
        lam: cython.doubles,
        s: cython.double,
        alpha: cython.doubles,
        edge: cython.double,
        noise: cython.doubles,
        worth: cython.double,
    ) -> None:
        self.d = kappa.shape[0]
        self.S, self.kappa, self.lam, self.s = S, kappa, lam, s
        self.alpha, self.edge, self.noise, self.worth = alpha, edge, noise, worth


@cython.cclass
class State:
    """Where the descent stands. Everything is transposed: row j belongs to column j of W."""

    WT: cython.doubles
    Q: cython.doubles  # WT @ S
    decrease: cython.doubles  # what each column won at its last visit, in its own units

    def __init__(self, WT: cython.doubles, Q: cython.doubles, decrease: cython.doubles) -> None:
        self.WT, self.Q, self.decrease = WT, Q, decrease


@cython.cclass
class Column:
    """The part of the column at hand in the constraint, t_k = V[k]·b², and scratch memory.

    Its weights b are those of the elastic net.
    """

    terms: cython.Py_ssize_t  # of the series, at most
    V: cython.doubles
    t: cython.doubles
    trial: cython.doubles
    series: cython.doubles
    slopes: cython.doubles
    old: cython.doubles
    old_q: cython.doubles

    def __init__(self, d: cython.Py_ssize_t, terms: cython.Py_ssize_t) -> None:
        self.terms = terms
        self.V = np.empty(terms * d)
        self.t, self.trial = np.empty(terms), np.empty(terms)
        self.series, self.slopes = np.empty(terms), np.empty(terms)
        self.old, self.old_q = np.empty(d), np.empty(d)


@cython.part
def solve_column(
    equation: Equation,
    j: cython.Py_ssize_t,
    q: cython.p_double,
    net: Net,
    column: Column,
    size: cython.Py_ssize_t,
) -> cython.double:
    """Minimise over net.b, in place of it and of q = S b; returns the decrease."""
    d = equation.d
    alpha, edge, kappa = start(equation.alpha), equation.edge, equation.kappa[j]
    b, V, t, trial = start(net.b), start(column.V), start(column.t), start(column.trial)
    old, old_q, series = start(column.old), start(column.old_q), start(column.series)
    net.q, net.target, net.lam = q, at(start(equation.S), j * d), at(start(equation.lam), j * d)
    worth = equation.worth * min(equation.noise[j], residual_variance(net, equation.S[j * d + j]))
    net.worth = worth
    margin = MARGIN
    for i in range(d):
        margin = max(margin, MARGIN * equation.s * V[i])
    moments(V, b, d, size, t)
    now = kappa * constraint_value(alpha, t, size, edge, margin, series)
    now += column_fit(net)
    won = 0.0
    for _ in range(LINEARISATIONS):
        if not now < INFINITY:
            break
        constraint_slopes(alpha, t, size, series, start(column.slopes))
        fill(start(net.ridge), 0.0, d)
        for k in range(size):
            add_multiple(start(net.ridge), 2.0 * kappa * column.slopes[k], at(V, k * d), d)
        copy_into(old, b, d)
        copy_into(old_q, q, d)
        solve_elastic_net(net)
        gain = -1.0
        for halving in range(HALVINGS):
            if halving > 0:
                for i in range(d):
                    b[i] = 0.5 * (b[i] + old[i])
                    q[i] = 0.5 * (q[i] + old_q[i])
            moments(V, b, d, size, trial)
            value = constraint_value(alpha, trial, size, edge, margin, series)
            gain = now - column_fit(net) - kappa * value
            if gain >= 0.0:
                break
        if not gain >= 0.0:
            copy_into(b, old, d)
            copy_into(q, old_q, d)
            break
        copy_into(t, trial, size)
        now -= gain
        won += gain
        if gain < worth or gain < 0.1 * won:
            break
    return won


@cython.part
def moments(
    V: cython.p_double,
    b: cython.p_double,
    d: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    t: cython.p_double,
) -> cython.void:
    """t_k = V[k]·b²."""
    fill(t, 0.0, size)
    for i in range(d):
        if b[i] != 0.0:
            for k in range(size):
                t[k] += V[k * d + i] * b[i] * b[i]


@cython.part
def column_fit(net: Net) -> cython.double:
    """Loss and l1 penalty of the column, up to a constant."""
    b, q, target, lam = start(net.b), net.q, net.target, net.lam
    fit = 0.0
    for i in range(net.d):
        if b[i] != 0.0:
            fit += (0.5 * q[i] - target[i]) * b[i] + lam[i] * fabs(b[i])
    return fit


@cython.part
def residual_variance(net: Net, variance: cython.double) -> cython.double:
    """(e_j - b)'S(e_j - b), kept above rounding."""
    b, q, target, residual = start(net.b), net.q, net.target, variance
    for i in range(net.d):
        if b[i] != 0.0:
            residual += b[i] * (q[i] - 2.0 * target[i])
    return max(residual, 1e-12)
