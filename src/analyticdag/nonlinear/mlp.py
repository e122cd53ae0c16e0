"""The network of DAGMA (Bello et al. 2022), followed along a path like the linear model.

    stage:  minimise  mu·[loss + lambda1·‖first layer‖₁ + lambda2/2·‖all weights‖²] + h(A)

A[i, t] is the sum of squares of the weights from input i into node t's hidden units: zero exactly
when t ignores i. One hidden layer of sigmoids; the first layer starts at zero. The loss is half the
logarithm of the residual variance, pooled over the columns (variance="equal") or column by column
("constant").

The published optimiser takes some 200,000 steps of Adam at a learning rate of 2e-4. Here a stage
is solved by OWL-QN: the same objective, some thousand evaluations, and zeros that are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from analyticdag.acyclicity import Acyclicity
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.nonlinear.autograd import acyclicity
from analyticdag.nonlinear.networks import Networks, Shape, flat
from analyticdag.nonlinear.quasi_newton import Minimum, minimise
from analyticdag.optimize.path import StageResult
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import TraceRecord

LAMBDA2 = 0.005


def schedule(max_steps: int) -> Schedule:
    """The stages of DAGMA's nonlinear model: mu = 0.1 … 1e-4 at s = 1."""
    return Schedule.geometric(s=(1.0,) * 4, mu=0.1, max_steps=max_steps, tol=1e-6)


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """Networks, data as a (d, n) tensor, a constraint and a penalty, over the edges of `mask`."""

    shape: Shape
    columns: torch.Tensor
    function: AnalyticFunction | Truncated
    lambda1: float
    pooled: bool
    mask: torch.Tensor
    required: torch.Tensor

    def masked(self, values: torch.Tensor) -> torch.Tensor:
        """Return the values of networks as they are: the networks apply the mask themselves."""
        return values

    def loss(self, networks: Networks) -> torch.Tensor:
        """Half the logarithm of the residual variances."""
        variances = (networks(self.columns, self.mask)[:, 0] - self.columns).square().mean(dim=1)
        d = len(variances)
        return 0.5 * d * variances.sum().log() if self.pooled else 0.5 * variances.log().sum()

    def penalty(self, networks: Networks) -> torch.Tensor:
        """lambda1 at every weight of the first layer that an edge pays for, as `values` has it."""
        prices = torch.zeros_like(networks.values)
        first = networks.shape.sizes[0]
        weights = (self.lambda1 * (self.mask - self.required)).T[:, None, :]
        prices[:first] = weights.expand(networks.shape.weights[0]).reshape(-1)
        return prices


def connectivity(networks: Networks, mask: torch.Tensor) -> torch.Tensor:
    """Return A: sums of squared weights from input i into node t."""
    return networks.masked_input(mask).square().sum(dim=1).T


def starting_networks(networks: Networks) -> Networks:
    """The same networks with an empty first layer: no edge yet."""
    start = networks.copy()
    with torch.no_grad():
        start.weights[0].zero_()
    return start


class QuasiNewton:
    """The minimiser of a stage; the weights of its path are the values of the networks."""

    def minimise(
        self, problem: NetworkProblem, W: torch.Tensor, stage: Stage, number: int
    ) -> StageResult:
        """Solve one stage from the values W."""
        constraint = Acyclicity(problem.function.scaled(stage.s))

        def smooth(values: torch.Tensor) -> tuple[float, torch.Tensor]:
            moved = Networks(problem.shape, values)
            h = acyclicity(connectivity(moved, problem.mask), constraint, barrier=True)
            if not bool(h.isfinite()):
                return math.inf, values
            objective = stage.mu * (problem.loss(moved) + _decay(moved)) + h
            return float(objective.detach()), moved.gradient(objective)

        prices = stage.mu * problem.penalty(Networks(problem.shape, W))
        found = minimise(smooth, W, prices, max_steps=stage.max_steps, tol=stage.tol)
        record = _record(problem, constraint, stage, number, found)
        return StageResult(found.values, (record,), found.n_steps)


def _decay(networks: Networks) -> torch.Tensor:
    return 0.5 * LAMBDA2 * flat(networks.parameters).square().sum()


def _record(
    problem: NetworkProblem, constraint: Acyclicity, stage: Stage, number: int, minimum: Minimum
) -> TraceRecord:
    """Evaluate everything where a stage ended."""
    networks = Networks(problem.shape, minimum.values)
    loss = problem.loss(networks)
    h = acyclicity(connectivity(networks, problem.mask), constraint)
    return TraceRecord(
        stage=number,
        step=minimum.n_steps,
        mu=stage.mu,
        s=stage.s,
        s_used=stage.s,
        objective=minimum.objective,
        loss=float(loss.detach()),
        h=float(h.detach()),
        loss_gradient_norm=float(networks.gradient(loss).norm()),
        constraint_gradient_norm=float(networks.gradient(h).norm()),
        reason=minimum.reason,
    )
