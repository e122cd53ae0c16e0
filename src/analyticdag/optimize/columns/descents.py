"""How a sweep keeps track of the constraint: by the inverse of I - A/s, or by walks for any f."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dgemm

from analyticdag._compiled import flat
from analyticdag._typing import FloatArray, IntArray
from analyticdag.functions import AnalyticFunction
from analyticdag.optimize.columns.kernels import (
    Block,
    Column,
    Equation,
    Net,
    State,
    resolvent_block,
    walk_block,
)

# A weight that lowers the objective by less than this, relative to the noise, stays at zero. Larger
# values are faster and cost accuracy in the graph (1e-4: as good on ER4, worse on SF4); from 100
# nodes on, where each column has a hundred weights that the sample made up, it grows with them.
_WORTH = 3e-5
_WORTH_BY_NODES = 3e-7
_BLOCK = 32  # columns whose updates wait for one product; 64 take as long with 1,000 nodes
_LARGEST = 1e10  # entry of M = (I - A/s)^-1 that can still be trusted
# Terms of the series kept at most; rounding ends it long before, unless rho(A) is at the radius.
_TERMS_ENTIRE = 200
_TERMS = 600


@dataclass(frozen=True)
class UnitVariances:
    """The stage problem with every variable rescaled to variance one.

    tr f(D⁻¹AD) = tr f(A), so the variables may be rescaled at will: with every variance 1, the
    entries of M stay moderate where a node of standard deviation 3,000 would drown the rest. The
    loss of column j is then weighted by its variance, and the l1 penalty differs by entry.
    """

    S: FloatArray
    weight: FloatArray
    lam: FloatArray
    deviations: FloatArray

    @classmethod
    def of(cls, S: FloatArray, weight: FloatArray, penalty: FloatArray) -> UnitVariances:
        """Rescale Σ_j weight_j·loss_j + Σ_ij penalty_ij·|W_ij|; a constant column stays."""
        variances = S.diagonal()
        deviations = np.sqrt(np.where(variances > 0, variances, 1.0))
        weight = weight * deviations**2
        lam = (penalty * deviations / deviations[:, None] / weight).T
        scaled = S / deviations / deviations[:, None]
        return cls(np.ascontiguousarray(scaled), weight, np.ascontiguousarray(lam), deviations)

    def inward(self, W: FloatArray) -> FloatArray:
        """W in unit variances, transposed: row j is column j."""
        return np.ascontiguousarray((W * self.deviations[:, None] / self.deviations).T)

    def outward(self, WT: FloatArray) -> FloatArray:
        """The inverse of ``inward``."""
        return np.ascontiguousarray(WT.T * self.deviations / self.deviations[:, None])


class Descent(ABC):
    """Sweeps over the columns of one stage, from ``WT`` (in unit variances) downwards.

    Arrays are transposed: row j belongs to column j of W.
    """

    finer: float  # factor of the tolerance

    def __init__(
        self,
        problem: UnitVariances,
        WT: FloatArray,
        alpha: FloatArray,
        s: float,
        edge: float,
    ) -> None:
        d = len(WT)
        self.S, self.weight, self.s, self.WT = problem.S, problem.weight, s, WT
        self.Q = np.empty((d, d))  # WT @ S
        self.decrease = np.full(d, np.inf)  # what each column won at its last visit
        self.equation = Equation(
            flat(problem.S),
            1.0 / problem.weight,
            flat(problem.lam),
            s,
            alpha,
            edge,
            noise_of(problem, WT),
            max(_WORTH, _WORTH_BY_NODES * d),
        )
        self.state = State(flat(WT), flat(self.Q), self.decrease)
        self.net, self.column = Net(flat(problem.S), d), Column(d, len(alpha))

    @abstractmethod
    def refresh(self) -> bool:
        """Form what is kept up to date anew, rid of rounding; False when W left the domain."""

    @abstractmethod
    def visit(self, columns: IntArray) -> None:
        """Solve a block of columns in turn."""

    def sweep(self, columns: IntArray) -> float:
        """Visit the columns in turn; returns by how much the stage objective fell.

        Between the blocks Python looks whether it was interrupted.
        """
        for first in range(0, len(columns), _BLOCK):
            self.visit(columns[first : first + _BLOCK])
        return float(self.weight[columns] @ self.decrease[columns])


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


def noise_of(problem: UnitVariances, WT: FloatArray) -> FloatArray:
    """What is taken for the noise variance of each column.

    It is judged by the median column: a hub that is not yet explained has a residual variance of
    hundreds, and weights that matter would look worthless beside it.
    """
    E = np.eye(len(WT)) - WT
    residuals = np.maximum(np.sum(E * (E @ problem.S), axis=1), 1e-12)
    return np.asarray(np.median(problem.weight * residuals) / problem.weight)


class ResolventDescent(Descent):
    """For alpha_0·order-1 + alpha_1·order-2 + …: keeps M = (I - A/s)^-1 up to date."""

    finer = 1.0

    def __init__(self, problem: UnitVariances, alpha: FloatArray, s: float, WT: FloatArray) -> None:
        super().__init__(problem, WT, alpha, s, 0.0)
        d, n = len(WT), len(alpha)
        # See `Block` for the four.
        self.MT, self.P = np.empty((d, d)), np.empty((_BLOCK, d))
        self.G, self.R = np.empty((n, _BLOCK, d)), np.empty((n, _BLOCK, d))
        self.block = Block(_BLOCK, flat(self.MT), flat(self.G), flat(self.P), flat(self.R))

    def refresh(self) -> bool:
        """Form S W and M anew, rid of rounding errors; False when W has left the domain."""
        WT, MT = self.WT, self.MT
        np.matmul(WT, self.S, out=self.Q)
        try:
            MT[:] = np.linalg.inv(np.eye(len(WT)) - WT * WT / self.s)
        except np.linalg.LinAlgError:
            return False
        # At the edge of the domain M is infinite; a little before that it has no digits left.
        return bool(MT.min() > -1e-9 * max(1.0, MT.max()) and MT.max() < _LARGEST)

    def visit(self, columns: IntArray) -> None:
        """Solve a block of columns in turn, then bring M up to date by one product."""
        MT, G, P, R, count = self.MT, self.G, self.P, self.R, len(columns)
        G[0, :count] = MT[:, columns].T
        for i in range(1, len(G)):
            np.matmul(G[i - 1, :count], MT.T, out=G[i, :count])
        pending = resolvent_block(
            self.equation, self.state, self.block, self.column, self.net, columns
        )
        if pending:  # MT += R'P in place: a product that is stored before it is added takes longer
            dgemm(1.0, P[:pending].T, R[0, :pending].T, 1.0, MT.T, trans_b=True, overwrite_c=True)


class WalkDescent(Descent):
    """For any f in F: weighs the walks that return to a column by the power series of f."""

    # A function like the exponential hardly sees long cycles: its minima are flat.
    finer = 0.1

    def __init__(self, problem: UnitVariances, function: AnalyticFunction, WT: FloatArray) -> None:
        scaled = function.scaled(1.0 / function.scale)
        terms = _TERMS if math.isfinite(scaled.radius) else _TERMS_ENTIRE
        alpha = scaled.coefficients(terms)
        super().__init__(problem, WT, alpha, function.scale, 1.0 / scaled.radius)
        self.A = np.empty((len(WT), len(WT)))

    def refresh(self) -> bool:
        """Form S W and A anew; every step has checked the domain itself."""
        np.matmul(self.WT, self.S, out=self.Q)
        self.A[:] = (self.WT * self.WT).T
        return True

    def visit(self, columns: IntArray) -> None:
        """Solve a block of columns in turn."""
        walk_block(self.equation, self.state, flat(self.A), self.column, self.net, columns)
