"""One stage, solved column by column: order-1, order-2, … and sums of them at one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._terms import InvAtom, LogAtom
from analyticdag._typing import FloatArray, IntArray
from analyticdag.functions import AnalyticFunction
from analyticdag.optimize.columns.sweep import (
    Block,
    Equation,
    Scratch,
    State,
    scratch,
    sweep_block,
)

# A weight that lowers the objective by less than this, relative to the residual variance of its
# column, stays at zero. Larger values are faster and cost accuracy in the graph.
_WORTH = 1e-5
_BLOCK = 32
_FULL_EVERY = 4


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


def as_series(function: AnalyticFunction) -> tuple[FloatArray, float] | None:
    """(alpha, s) when f is alpha_0·order-1 + alpha_1·order-2 + … at one scale s, else None."""
    if any(len(term.factors) != 1 for term in function.terms):
        return None
    parts = [(*term.factors[0], term.coefficient) for term in function.terms]
    simple = all(isinstance(a, InvAtom) or (isinstance(a, LogAtom) and n == 1) for a, n, _ in parts)
    if not simple or len({atom.s for atom, _, _ in parts}) > 1:
        return None
    orders = [n if isinstance(atom, InvAtom) else 0 for atom, n, _ in parts]
    alpha = np.zeros(max(orders) + 1)
    np.add.at(alpha, orders, [coefficient for _, _, coefficient in parts])
    return alpha, float(parts[0][0].s)


class ColumnDescent:
    """Sweeps over the columns of one stage, from ``WT`` (in unit variances) downwards."""

    def __init__(self, problem: UnitVariances, alpha: FloatArray, s: float, WT: FloatArray) -> None:
        d, n = len(WT), len(alpha)
        self.weight = problem.weight
        self.equation = Equation(problem.S, 1.0 / problem.weight, problem.lam, alpha, s, _WORTH)
        self.state = State(WT, np.empty((d, d)), np.empty((d, d)), np.full(d, np.inf))
        self.memory: Scratch = scratch(d, n)
        size = min(_BLOCK, d)
        self.block = Block(np.empty((n, size, d)), np.empty((size, d)), np.empty((n, size, d)))

    def refresh(self) -> bool:
        """Form S W and M anew, rid of rounding errors; False when W has left the domain."""
        WT = self.state.WT
        np.matmul(WT, self.equation.S, out=self.state.Q)
        try:
            self.state.MT[:] = np.linalg.inv(np.eye(len(WT)) - WT * WT / self.equation.s)
        except np.linalg.LinAlgError:
            return False
        return bool(self.state.MT.min() > -1e-9 * max(1.0, self.state.MT.max()))

    def sweep(self, columns: IntArray) -> float:
        """Visit the columns in turn; returns by how much the stage objective fell."""
        size = len(self.block.P)
        for first in range(0, len(columns), size):
            self._visit(columns[first : first + size])
        return float(self.weight[columns] @ self.state.decrease[columns])

    def _visit(self, columns: IntArray) -> None:
        MT, (G, P, R), count = self.state.MT, self.block, len(columns)
        G[0, :count] = MT[:, columns].T
        for i in range(1, len(G)):
            np.matmul(G[i - 1, :count], MT.T, out=G[i, :count])
        pending = sweep_block(self.equation, self.state, self.block, self.memory, columns, 0)
        MT += R[0, :pending].T @ P[:pending]


def descend(
    problem: UnitVariances,
    alpha: FloatArray,
    s: float,
    W0: FloatArray,
    objective: float,
    tol: float,
    max_sweeps: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, list[float], bool]:
    """Sweep until a full sweep wins less than tol times the objective.

    Between full sweeps only the columns that still move are visited. Returns the weights, the
    objective after each sweep and whether the tolerance was reached.
    """
    descent = ColumnDescent(problem, alpha, s, problem.inward(W0))
    objectives = [objective]
    safe = descent.state.WT.copy()
    d = len(safe)
    for sweep in range(max_sweeps):
        enough = tol * abs(objectives[-1])
        restless = descent.weight * descent.state.decrease > enough / d
        full = sweep % _FULL_EVERY == 0 or not restless.any()
        if full:
            if not descent.refresh():
                return problem.outward(safe), objectives, False
            safe[:] = descent.state.WT
        columns = rng.permutation(d)
        won = descent.sweep(columns if full else columns[restless[columns]])
        objectives.append(objectives[-1] - won)
        if full and won <= enough:
            return problem.outward(descent.state.WT), objectives, True
    return problem.outward(descent.state.WT), objectives, False
