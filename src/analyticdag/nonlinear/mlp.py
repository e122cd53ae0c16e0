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
from dataclasses import dataclass, replace

import torch

from analyticdag.acyclicity import Acyclicity
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.nonlinear.autograd import acyclicity
from analyticdag.nonlinear.networks import Networks, Shape, flat, measured
from analyticdag.nonlinear.quasi_newton import minimise
from analyticdag.nonlinear.training import NetworkFit, Trained, plain_strength
from analyticdag.optimize.path import PathState, StageResult, follow
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import TraceRecord

LAMBDA2 = 0.005  # as in the example of DAGMA's package


def schedule(max_steps: int) -> Schedule:
    """The stages of DAGMA's nonlinear model: mu = 0.1 … 1e-4 at s = 1."""
    return Schedule.geometric(s=(1.0,) * 4, mu=0.1, max_steps=max_steps, tol=1e-6)


def train(task: NetworkFit) -> Trained:
    """Follow the path, on all rows.

    Nothing here is stopped by held-out rows, so none are kept from the search for the graph. The
    networks that come out have seen them, though: what is refitted are the first draws.
    """
    options, place, d = task.options, task.place, task.rows.shape[1]
    shape = Shape(d, (options.hidden_units,), activation="sigmoid", own_scale=True)
    networks = task.drawn(shape)
    first = starting_networks(networks)
    problem = NetworkProblem(
        shape,
        torch.cat([task.training, task.held_out], dim=1),
        options.function,
        options.lambda1,
        options.variance == "equal",
        place.put(task.masks.allowed),
        place.put(task.masks.required),
    )
    file, start = task.checkpoint, PathState(first.values)
    saved = None if file is None else file.load(tuple(first.values.shape))
    if saved is not None:
        start = replace(saved, weights=place.put(saved.weights))
    state = follow(
        problem,
        schedule(options.max_steps),
        QuasiNewton(),
        start,
        on_stage=None if file is None else file.save,
        verbose=options.verbose,
    )
    strength = connectivity(Networks(shape, state.weights), problem.mask).sqrt()
    weights = plain_strength(strength)
    return Trained(networks, weights, options.w_threshold, state.trace, state.n_steps)


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
            decay = 0.5 * LAMBDA2 * flat(moved.parameters).square().sum()
            objective = stage.mu * (problem.loss(moved) + decay) + h
            return float(objective.detach()), moved.gradient(objective)

        prices = stage.mu * problem.penalty(Networks(problem.shape, W))
        found = minimise(smooth, W, prices, max_steps=stage.max_steps, tol=stage.tol)
        networks = Networks(problem.shape, found.values)
        h = acyclicity(connectivity(networks, problem.mask), constraint)
        record = TraceRecord(
            stage=number,
            step=found.n_steps,
            mu=stage.mu,
            s=stage.s,
            s_used=stage.s,
            objective=found.objective,
            reason=found.reason,
            **measured(networks, problem.loss(networks), h),
        )
        return StageResult(found.values, (record,), found.n_steps)
