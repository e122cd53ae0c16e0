"""How a sweep keeps track of the constraint: by the inverse of I - A/s, or by walks for any f."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.linalg.blas import dgemm

from analyticdag._typing import FloatArray, IntArray
from analyticdag.functions import AnalyticFunction
from analyticdag.optimize.columns.column import Equation, empty_column
from analyticdag.optimize.columns.resolvent import Block, State, resolvent_block
from analyticdag.optimize.columns.scaling import UnitVariances
from analyticdag.optimize.columns.walks import walk_sweep

# A weight that lowers the objective by less than this, relative to the noise, stays at zero. Larger
# values are faster and cost accuracy in the graph; large graphs, where each column has a hundred
# weights that the sample made up, bear a larger one.
_WORTH = 3e-5
_WORTH_BY_NODES = 3e-7
_BLOCK = 32
_LARGEST = 1e10  # entry of M = (I - A/s)^-1 that can still be trusted
# Terms of the series kept at most; rounding ends it long before, unless rho(A) is at the radius.
_TERMS_ENTIRE = 200
_TERMS = 600


class Descent(Protocol):
    """Sweeps over the columns of one stage, from ``state.WT`` (in unit variances) downwards."""

    equation: Equation
    state: State
    weight: FloatArray
    finer: float  # factor of the tolerance

    def refresh(self) -> bool:
        """Form what is kept up to date anew, rid of rounding; False when W left the domain."""

    def sweep(self, columns: IntArray) -> float:
        """Visit the columns in turn; returns by how much the stage objective fell."""


def descent_for(function: AnalyticFunction, problem: UnitVariances, WT: FloatArray) -> Descent:
    """The faster way where f is a sum of orders at one scale, the general one elsewhere."""
    series = as_series(function)
    if series is None:
        return WalkDescent(problem, function, WT)
    return ResolventDescent(problem, *series, WT)


def as_series(function: AnalyticFunction) -> tuple[FloatArray, float] | None:
    """(alpha, s) when f is alpha_0·order-1 + alpha_1·order-2 + … at one scale s, else None."""
    if any(len(term.factors) != 1 for term in function.terms):
        return None
    parts = [(*term.factors[0], term.coefficient) for term in function.terms]
    orders = [order for atom, n, _ in parts if (order := atom.order(n)) is not None]
    if len(orders) < len(parts) or len({atom.s for atom, _, _ in parts}) > 1:
        return None
    alpha = np.zeros(max(orders))
    np.add.at(alpha, np.array(orders) - 1, [coefficient for _, _, coefficient in parts])
    return alpha, float(parts[0][0].s)


def equation_of(
    problem: UnitVariances, WT: FloatArray, s: float, alpha: FloatArray, edge: float
) -> Equation:
    """The problem as the kernels read it.

    Noise is judged by the median column: a hub that is not yet explained has a residual variance
    of hundreds, and weights that matter would look worthless beside it.
    """
    weight, E = problem.weight, np.eye(len(WT)) - WT
    residuals = np.maximum(np.sum(E * (E @ problem.S), axis=1), 1e-12)
    noise = np.median(weight * residuals) / weight
    return Equation(
        problem.S,
        1.0 / weight,
        problem.lam,
        s,
        alpha,
        edge,
        noise,
        max(_WORTH, _WORTH_BY_NODES * len(WT)),
    )


class ResolventDescent:
    """For alpha_0·order-1 + alpha_1·order-2 + …: keeps M = (I - A/s)^-1 up to date."""

    finer = 1.0

    def __init__(self, problem: UnitVariances, alpha: FloatArray, s: float, WT: FloatArray) -> None:
        d, n, size = len(WT), len(alpha), min(_BLOCK, len(WT))
        self.weight = problem.weight
        self.equation = equation_of(problem, WT, s, alpha, 0.0)
        self.state = State(WT, np.empty((d, d)), np.full(d, np.inf))
        self.column = empty_column(d, n)
        rows, updates, images = np.empty((n, size, d)), np.empty((size, d)), np.empty((n, size, d))
        self.block = Block(np.empty((d, d)), rows, updates, images)

    def refresh(self) -> bool:
        """Form S W and M anew, rid of rounding errors; False when W has left the domain."""
        WT, MT = self.state.WT, self.block.MT
        np.matmul(WT, self.equation.S, out=self.state.Q)
        try:
            MT[:] = np.linalg.inv(np.eye(len(WT)) - WT * WT / self.equation.s)
        except np.linalg.LinAlgError:
            return False
        # At the edge of the domain M is infinite; a little before that it has no digits left.
        return bool(MT.min() > -1e-9 * max(1.0, MT.max()) and MT.max() < _LARGEST)

    def sweep(self, columns: IntArray) -> float:
        """Visit the columns in turn; returns by how much the stage objective fell."""
        size = len(self.block.P)
        for first in range(0, len(columns), size):
            self._visit(columns[first : first + size])
        return float(self.weight[columns] @ self.state.decrease[columns])

    def _visit(self, columns: IntArray) -> None:
        (MT, G, P, R), count = self.block, len(columns)
        G[0, :count] = MT[:, columns].T
        for i in range(1, len(G)):
            np.matmul(G[i - 1, :count], MT.T, out=G[i, :count])
        pending = resolvent_block(self.equation, self.state, self.block, self.column, columns, 0)
        if pending:  # MT += R'P in place: a product that is stored before it is added takes longer
            dgemm(1.0, P[:pending].T, R[0, :pending].T, 1.0, MT.T, trans_b=True, overwrite_c=True)


class WalkDescent:
    """For any f in F: weighs the walks that return to a column by the power series of f."""

    # A function like the exponential hardly sees long cycles: its minima are flat.
    finer = 0.1

    def __init__(self, problem: UnitVariances, function: AnalyticFunction, WT: FloatArray) -> None:
        d, s = len(WT), function.scale
        scaled = function.scaled(1.0 / s)
        terms = _TERMS if math.isfinite(scaled.radius) else _TERMS_ENTIRE
        alpha, edge = scaled.coefficients(terms), 1.0 / scaled.radius
        self.weight = problem.weight
        self.equation = equation_of(problem, WT, s, alpha, edge)
        self.state = State(WT, np.empty((d, d)), np.full(d, np.inf))
        self.column = empty_column(d, terms)
        self.A = np.empty((d, d))

    def refresh(self) -> bool:
        """Form S W and A anew; every step has checked the domain itself."""
        WT = self.state.WT
        np.matmul(WT, self.equation.S, out=self.state.Q)
        self.A[:] = (WT * WT).T
        return True

    def sweep(self, columns: IntArray) -> float:
        """Visit the columns in turn; returns by how much the stage objective fell."""
        walk_sweep(self.equation, self.state, self.A, self.column, columns)
        return float(self.weight[columns] @ self.state.decrease[columns])
