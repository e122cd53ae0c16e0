"""The equation: mu·[loss(W) + lambda1·‖W‖₁] + h(W), over the edges that may exist.

A `Problem` holds everything but mu and s, which a stage of the schedule supplies. It is of one
array kind: the loss, the masks and every W given to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from array_api_compat import array_namespace

from analyticdag._typing import Array
from analyticdag.acyclicity import Acyclicity
from analyticdag.algorithm1 import OUTSIDE, Reset
from analyticdag.errors import ParameterError
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.losses import Loss
from analyticdag.optimize.schedule import Stage
from analyticdag.optimize.trace import Stop, TraceRecord


@dataclass(frozen=True, eq=False)
class Problem:
    """A loss, an l1 penalty and an acyclicity constraint, with the edges that may exist.

    `allowed` and `required` are masks: where an edge may be, and where it must be, which the
    penalty leaves alone. No `required` is none.
    """

    loss: Loss
    function: AnalyticFunction | Truncated
    lambda1: float
    allowed: Array
    required: Array | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.lambda1, int | float) or not 0 <= self.lambda1 < math.inf:
            raise ParameterError(f"lambda1 must be a number of at least 0, not {self.lambda1!r}")

    def constraint(self, s: float) -> Acyclicity:
        """Return the constraint tr f(A/s) - c0·d."""
        return Acyclicity(self.function.scaled(s))

    def masked(self, G: Array) -> Array:
        """Return G with zeros where no edge may be."""
        xp = array_namespace(G)
        return xp.where(self.allowed, G, xp.zeros_like(G))

    def prices(self, W: Array) -> Array:
        """Return what the l1 penalty charges for each weight: lambda1, or 0 for required edges."""
        xp = array_namespace(W)
        prices = self.lambda1 * xp.ones_like(W)
        return prices if self.required is None else xp.where(self.required, 0.0 * prices, prices)

    def objective(self, W: Array, stage: Stage) -> float:
        """Return mu·[loss(W) + lambda1·‖W‖₁] + h(W); OutsideDomainError outside the domain."""
        return self._sum(W, stage.mu, self.loss.value(W), self.constraint(stage.s).value(W))

    def record(
        self,
        W: Array,
        stage: Stage,
        number: int,
        step: int,
        reason: Stop | None = None,
        reset: Reset = OUTSIDE,
    ) -> TraceRecord:
        """Evaluate everything at W, the state after `step` steps of stage `number`.

        The constraint is evaluated by Algorithm 1, so a W outside the domain has a record too; a
        minimiser that resets s elsewhere says so by its rule.
        This is where numbers leave the device: at check points only.
        """
        loss, loss_gradient = self.loss.value_and_gradient(W)
        h, h_gradient, s_used = self.constraint(stage.s).adaptive(W, reset)
        return TraceRecord(
            stage=number,
            step=step,
            mu=stage.mu,
            s=stage.s,
            s_used=float(s_used),
            objective=self._sum(W, stage.mu, loss, h),
            loss=loss,
            h=float(h),
            loss_gradient_norm=_norm(self.masked(loss_gradient)),
            constraint_gradient_norm=_norm(self.masked(h_gradient)),
            reason=reason,
        )

    def _sum(self, W: Array, mu: float, loss: float, h: Array | float) -> float:
        xp = array_namespace(W)
        penalty = float(xp.sum(xp.abs(W) * self.prices(W)))
        return mu * (loss + penalty) + float(h)


def _norm(G: Array) -> float:
    return float(array_namespace(G).linalg.vector_norm(G))
