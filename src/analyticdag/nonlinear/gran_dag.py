"""GraN-DAG (Lachapelle et al. 2020): neural equations under an augmented Lagrangian.

    minimise  -log-likelihood + lambda·h(A) + mu/2·h(A)²    by RMSprop on small batches
    until the held-out value stops falling; then  lambda += mu·h,  and  mu *= 10  where h has
    not fallen enough;  repeat until h(A) <= 1e-8, but solve one subproblem at least

A[i, t] sums the products of absolute weights along all paths from input i to the outputs of node
t, divided by the number of paths: zero exactly when t cannot depend on i. An entry that falls
below `CLAMP` is masked for good. Any constraint of the library can stand for h; the original has
the exponential.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from analyticdag.fitting.placement import to_float64
from analyticdag.nonlinear.autograd import acyclicity
from analyticdag.nonlinear.networks import (
    Networks,
    Shape,
    average_loss,
    measured,
    negative_log_likelihood,
    sensitivity,
)
from analyticdag.nonlinear.training import NetworkFit, Place, Trained, plain_strength
from analyticdag.optimize.path import PathState
from analyticdag.optimize.trace import Stop, Trace, TraceRecord

logger = logging.getLogger(__name__)

# The published settings.
H_THRESHOLD = 1e-8
FIRST_MU, MU_FACTOR, H_PROGRESS = 1e-3, 10.0, 0.9
TOLERANCE, WINDOW = 1e-4, 100  # of the held-out objective, per window of steps
CLAMP = 1e-4
BATCH, LEARNING_RATE = 64, 1e-3
_SMOOTHING, _EPSILON = 0.99, 1e-8  # of RMSprop, as in Torch
# An edge that was not masked is an edge, even if no output moves with it.
_TINY = 1e-30


@dataclass(frozen=True, eq=False)
class GranState:
    """Where the method stands between two subproblems."""

    values: torch.Tensor
    mask: torch.Tensor
    multiplier: float = 0.0
    mu: float = FIRST_MU
    h: float = math.inf
    trace: Trace = field(default_factory=Trace)
    n_steps: int = 0
    stage: int = 0

    @property
    def running(self) -> bool:
        """Whether another subproblem should follow."""
        last = self.trace.records[-1].reason if len(self.trace) else None
        return self.h > H_THRESHOLD and last not in (Stop.MAX_STEPS, Stop.NOT_FINITE)


def train(task: NetworkFit) -> Trained:
    """Solve subproblems until h is zero or the steps are used up."""
    options, place, d = task.options, task.place, task.rows.shape[1]
    constant = options.variance == "constant"
    shape = Shape(d, (options.hidden_units,) * 2, 1 if constant else 2, own_scale=constant)
    state = GranState(task.drawn(shape).values, place.put(task.masks.allowed))
    file = task.checkpoint
    if file is not None and (saved := file.load(_packed(state).weights.shape)) is not None:
        state = _unpacked(saved, state, place)
    while state.running:
        state = _subproblem(task, Networks(shape, state.values.clone()), state)
        if options.verbose:
            last = state.trace.records[-1]
            logger.info(
                "subproblem %d: mu=%g objective=%.6g h=%.3g after %d steps",
                *(state.stage, last.mu, last.objective, last.h, state.n_steps),
            )
        if file is not None:
            file.save(_packed(state))
    networks = Networks(shape, state.values)
    strength = sensitivity(networks, task.training, state.mask) + state.mask * _TINY
    return Trained(networks, plain_strength(strength), 0.0, state.trace, state.n_steps)


def connectivity(networks: Networks, mask: torch.Tensor) -> torch.Tensor:
    """Return A: average products of absolute weights from input i to node t."""
    paths = networks.masked_input(mask).abs()
    for weight in networks.weights[1:]:
        paths = torch.bmm(weight.abs(), paths)
    n_paths = math.prod((*networks.shape.hidden, networks.shape.outputs))
    return paths.sum(dim=1).T / n_paths


def _subproblem(task: NetworkFit, networks: Networks, state: GranState) -> GranState:
    """Take steps until the held-out objective stops falling, then update the multipliers."""
    mask, minimiser = state.mask, RMSprop(networks.values)
    required = torch.as_tensor(task.masks.required, device=mask.device)
    curve: list[float] = []
    settled = False
    draws = batches(
        task.training, task.options.seed + state.stage, task.options.max_steps - state.n_steps
    )
    for step, batch in enumerate(draws, start=1):
        loss = negative_log_likelihood(networks, batch, mask).mean()
        A = connectivity(networks, mask)
        h = acyclicity(A, task.constraint)
        gradient = networks.gradient(loss + _pressure(state, h))
        minimiser.step(gradient)
        mask = torch.where((A.detach() > CLAMP) | required, mask, 0.0)
        value = float(h.detach())
        # In the first subproblem h may be small before anything is learned: tiers rule out cycles.
        if not math.isfinite(value) or (state.stage > 0 and value <= H_THRESHOLD):
            break
        if step % WINDOW == 1:
            held_out = average_loss(networks, task.held_out, mask)
            curve.append(held_out + _pressure(state, value))
            if not math.isfinite(curve[-1]):
                value = math.nan
            settled = _settled(curve)
            if math.isnan(value) or settled:
                break
    done = settled or (state.stage > 0 and value <= H_THRESHOLD)
    return _updated(task, networks, replace(state, mask=mask), value, step, done)


def _settled(curve: list[float]) -> bool:
    """Whether two windows in a row, both falling or both rising, gained next to nothing."""
    if len(curve) < 3 or len(curve) % 2 == 0:
        return False
    before, half, now = curve[-3:]
    moved_on = min(before, now) < half < max(before, now)
    return moved_on and (now - before) / WINDOW > -TOLERANCE


def _pressure(state: GranState, h: Any) -> Any:
    """Return what h costs now: a number, or a tensor with its gradient."""
    return (state.multiplier + 0.5 * state.mu * h) * h


def _updated(
    task: NetworkFit,
    networks: Networks,
    state: GranState,
    h: float,
    step: int,
    done: bool,
) -> GranState:
    """Close a subproblem, `done` or cut short: its record, and the next one's multipliers."""
    record = _record(task, networks, state, step)
    n_steps = state.n_steps + step
    if not math.isfinite(record.objective + h):
        record = replace(record, reason=Stop.NOT_FINITE)
    elif n_steps >= task.options.max_steps and (h > H_THRESHOLD or not done):
        record = replace(record, reason=Stop.MAX_STEPS)
    stuck = h > H_PROGRESS * state.h
    return GranState(
        # After a divergence: the parameters from before this subproblem.
        values=state.values if record.reason is Stop.NOT_FINITE else networks.values,
        mask=state.mask,
        multiplier=state.multiplier + state.mu * h,
        mu=state.mu * MU_FACTOR if stuck else state.mu,
        h=h,
        trace=state.trace.extended([record]),
        n_steps=n_steps,
        stage=state.stage + 1,
    )


def _record(task: NetworkFit, networks: Networks, state: GranState, step: int) -> TraceRecord:
    """Evaluate everything on all training rows, at the end of a subproblem."""
    loss = negative_log_likelihood(networks, task.training, state.mask).mean()
    A = connectivity(networks, state.mask)
    found = measured(networks, loss, acyclicity(A, task.constraint))
    s = task.constraint.function.scale
    return TraceRecord(
        stage=state.stage,
        step=step,
        mu=state.mu,
        s=s,
        s_used=s,
        objective=found["loss"] + _pressure(state, found["h"]),
        reason=Stop.TOLERANCE,
        **found,
    )


def _packed(state: GranState) -> PathState:
    """One vector: parameters, mask, multiplier, mu and h."""
    numbers = [state.multiplier, state.mu, state.h]
    arrays = [to_float64(state.values), to_float64(state.mask).ravel(), np.array(numbers)]
    return PathState(np.concatenate(arrays), state.trace, state.n_steps, state.stage)


def _unpacked(saved: PathState, start: GranState, place: Place) -> GranState:
    sizes = [start.values.numel(), start.mask.numel()]
    values, mask, numbers = np.split(saved.weights, np.cumsum(sizes))
    multiplier, mu, h = (float(number) for number in numbers)
    return GranState(
        place.put(values),
        place.put(mask.reshape(start.mask.shape)),
        multiplier,
        mu,
        h,
        saved.trace,
        saved.n_steps,
        saved.stage,
    )


class RMSprop:
    """Steps on a vector in place.

    Four operations: Torch's own class spends ten times as long on its bookkeeping, which on
    networks this small is a tenth of the whole fit.
    """

    def __init__(self, values: torch.Tensor) -> None:
        self._values = values
        self._squares = torch.zeros_like(values)

    def step(self, gradient: torch.Tensor) -> None:
        """Take one step against the gradient."""
        with torch.no_grad():
            self._squares.mul_(_SMOOTHING).addcmul_(gradient, gradient, value=1.0 - _SMOOTHING)
            root = self._squares.sqrt().add_(_EPSILON)
            self._values.addcdiv_(gradient, root, value=-LEARNING_RATE)


def batches(columns: torch.Tensor, seed: int, count: int) -> Iterator[torch.Tensor]:
    """Draw rows of (d, n) data, each batch without repetition; the seed alone decides which."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        chosen = torch.randperm(columns.shape[1], generator=generator)[:BATCH]
        yield columns[:, chosen.to(columns.device)]
