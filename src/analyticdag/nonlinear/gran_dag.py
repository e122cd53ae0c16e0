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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import torch

from analyticdag.acyclicity import Acyclicity
from analyticdag.nonlinear.autograd import acyclicity
from analyticdag.nonlinear.likelihood import negative_log_likelihood
from analyticdag.nonlinear.networks import Networks
from analyticdag.optimize.trace import Stop, Trace, TraceRecord

logger = logging.getLogger(__name__)

# The published settings.
H_THRESHOLD = 1e-8
FIRST_MU, MU_FACTOR, H_PROGRESS = 1e-3, 10.0, 0.9
TOLERANCE, WINDOW = 1e-4, 100  # of the held-out objective, per window of steps
CLAMP = 1e-4
BATCH, LEARNING_RATE = 64, 1e-3
_SMOOTHING, _EPSILON = 0.99, 1e-8  # of RMSprop, as in Torch


@dataclass(frozen=True, eq=False)
class GranProblem:
    """The data as (d, n) tensors, a constraint, and edges that are never masked."""

    training: torch.Tensor
    held_out: torch.Tensor
    constraint: Acyclicity
    required: torch.Tensor
    seed: int
    max_steps: int = 100_000


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


def train(
    problem: GranProblem,
    networks: Networks,
    start: GranState,
    *,
    on_stage: Callable[[GranState], None] | None = None,
    verbose: int = 0,
) -> GranState:
    """Solve subproblems until h is zero or the steps are used up; `networks` is left untouched."""
    state = start
    while state.running:
        state = _subproblem(problem, Networks(networks.shape, state.values.clone()), state)
        if verbose:
            last = state.trace.records[-1]
            logger.info(
                "subproblem %d: mu=%g objective=%.6g h=%.3g after %d steps",
                *(state.stage, last.mu, last.objective, last.h, state.n_steps),
            )
        if on_stage is not None:
            on_stage(state)
    return state


def connectivity(networks: Networks, mask: torch.Tensor) -> torch.Tensor:
    """Return A: average products of absolute weights from input i to node t."""
    paths = networks.masked_input(mask).abs()
    for weight in networks.weights[1:]:
        paths = torch.bmm(weight.abs(), paths)
    n_paths = math.prod((*networks.shape.hidden, networks.shape.outputs))
    return paths.sum(dim=1).T / n_paths


def _subproblem(problem: GranProblem, networks: Networks, state: GranState) -> GranState:
    """Take steps until the held-out objective stops falling, then update the multipliers."""
    mask, minimiser = state.mask, RMSprop(networks.values)
    curve: list[float] = []
    settled = False
    draws = batches(problem.training, problem.seed + state.stage, problem.max_steps - state.n_steps)
    for step, batch in enumerate(draws, start=1):
        loss = negative_log_likelihood(networks, batch, mask).mean()
        A = connectivity(networks, mask)
        h = acyclicity(A, problem.constraint)
        gradient = networks.gradient(loss + (state.multiplier + 0.5 * state.mu * h) * h)
        minimiser.step(gradient)
        mask = torch.where((A.detach() > CLAMP) | problem.required, mask, 0.0)
        value = float(h.detach())
        # In the first subproblem h may be small before anything is learned: tiers rule out cycles.
        if not math.isfinite(value) or (state.stage > 0 and value <= H_THRESHOLD):
            break
        if step % WINDOW == 1:
            curve.append(_held_out(problem, networks, mask) + _pressure(state, value))
            if not math.isfinite(curve[-1]):
                value = math.nan
            settled = _settled(curve)
            if math.isnan(value) or settled:
                break
    done = settled or (state.stage > 0 and value <= H_THRESHOLD)
    return _updated(problem, networks, replace(state, mask=mask), value, step, done)


def _settled(curve: list[float]) -> bool:
    """Whether two windows in a row, both falling or both rising, gained next to nothing."""
    if len(curve) < 3 or len(curve) % 2 == 0:
        return False
    before, half, now = curve[-3:]
    moved_on = min(before, now) < half < max(before, now)
    return moved_on and (now - before) / WINDOW > -TOLERANCE


def _pressure(state: GranState, h: float) -> float:
    return (state.multiplier + 0.5 * state.mu * h) * h


def _held_out(problem: GranProblem, networks: Networks, mask: torch.Tensor) -> float:
    with torch.no_grad():
        return float(negative_log_likelihood(networks, problem.held_out, mask).mean())


def _updated(
    problem: GranProblem,
    networks: Networks,
    state: GranState,
    h: float,
    step: int,
    done: bool,
) -> GranState:
    """Close a subproblem, `done` or cut short: its record, and the next one's multipliers."""
    record = _record(problem, networks, state, step)
    n_steps = state.n_steps + step
    if not math.isfinite(record.objective + h):
        record = replace(record, reason=Stop.NOT_FINITE)
    elif n_steps >= problem.max_steps and (h > H_THRESHOLD or not done):
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


def _record(problem: GranProblem, networks: Networks, state: GranState, step: int) -> TraceRecord:
    """Evaluate everything on all training rows, at the end of a subproblem."""
    loss = negative_log_likelihood(networks, problem.training, state.mask).mean()
    A = connectivity(networks, state.mask)
    h = acyclicity(A, problem.constraint)
    value, s = float(h.detach()), problem.constraint.function.scale
    return TraceRecord(
        stage=state.stage,
        step=step,
        mu=state.mu,
        s=s,
        s_used=s,
        objective=float(loss.detach()) + _pressure(state, value),
        loss=float(loss.detach()),
        h=value,
        loss_gradient_norm=float(networks.gradient(loss).norm()),
        constraint_gradient_norm=float(networks.gradient(h).norm()),
        reason=Stop.TOLERANCE,
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
