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

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from analyticdag.acyclicity import Acyclicity
from analyticdag.nonlinear.autograd import acyclicity
from analyticdag.nonlinear.networks import Networks, Shape, flat
from analyticdag.nonlinear.quasi_newton import Minimum, minimise
from analyticdag.optimize.path import PathState
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import Stop, TraceRecord

logger = logging.getLogger(__name__)

LAMBDA2 = 0.005


def schedule(max_steps: int) -> Schedule:
    """The stages of DAGMA's nonlinear model: mu = 0.1 … 1e-4 at s = 1."""
    return Schedule.geometric(s=(1.0,) * 4, mu=0.1, max_steps=max_steps, tol=1e-6)


@dataclass(frozen=True, eq=False)
class Problem:
    """The data as a (d, n) tensor, a constraint and a penalty, over the edges of `mask`."""

    columns: torch.Tensor
    constraint: Acyclicity
    lambda1: float
    pooled: bool
    mask: torch.Tensor
    penalised: torch.Tensor

    def loss(self, networks: Networks) -> torch.Tensor:
        """Half the logarithm of the residual variances."""
        variances = (networks(self.columns, self.mask)[:, 0] - self.columns).square().mean(dim=1)
        d = len(variances)
        return 0.5 * d * variances.sum().log() if self.pooled else 0.5 * variances.log().sum()

    def penalty(self, networks: Networks) -> torch.Tensor:
        """lambda1 at every weight of the first layer that an edge pays for, as `values` has it."""
        prices = torch.zeros_like(networks.values)
        first = networks.shape.sizes[0]
        weights = (self.lambda1 * self.penalised * self.mask).T[:, None, :]
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


def follow(
    problem: Problem,
    networks: Networks,
    stages: Schedule,
    start: PathState,
    *,
    on_stage: Callable[[PathState], None] | None = None,
    verbose: int = 0,
) -> PathState:
    """Run through the stages that `start` has not behind it."""
    state = start
    for stage in stages.stages[start.stage :]:
        state = _solved(problem, Networks(networks.shape, state.weights), stage, state)
        last = state.trace.records[-1]
        if verbose:
            logger.info(
                "stage %d of %d: mu=%g objective=%.6g h=%.3g after %d steps",
                *(state.stage, len(stages.stages), last.mu, last.objective, last.h, last.step),
            )
        if on_stage is not None:
            on_stage(state)
        if last.reason is Stop.NOT_FINITE:
            break
    return state


def _solved(problem: Problem, networks: Networks, stage: Stage, state: PathState) -> PathState:
    """Solve one stage from a warm start."""
    constraint = Acyclicity(problem.constraint.function.scaled(stage.s))

    def smooth(values: torch.Tensor) -> tuple[float, torch.Tensor]:
        moved = Networks(networks.shape, values)
        h = acyclicity(connectivity(moved, problem.mask), constraint, barrier=True)
        if not bool(h.isfinite()):
            return math.inf, values
        objective = stage.mu * (problem.loss(moved) + _decay(moved)) + h
        return float(objective.detach()), moved.gradient(objective)

    prices = stage.mu * problem.penalty(networks)
    minimum = minimise(smooth, networks.values, prices, max_steps=stage.max_steps, tol=stage.tol)
    record = _record(problem, networks.shape, constraint, stage, state.stage, minimum)
    return PathState(
        minimum.values,
        state.trace.extended([record]),
        state.n_steps + minimum.n_steps,
        state.stage + 1,
    )


def _decay(networks: Networks) -> torch.Tensor:
    return 0.5 * LAMBDA2 * flat(networks.parameters).square().sum()


def _record(
    problem: Problem,
    shape: Shape,
    constraint: Acyclicity,
    stage: Stage,
    number: int,
    minimum: Minimum,
) -> TraceRecord:
    """Evaluate everything where a stage ended."""
    networks = Networks(shape, minimum.values)
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
