"""OWL-QN (Andrew and Gao 2007): L-BFGS for a smooth function plus an l1 penalty.

    minimise  F(v) + Σ_k penalty[k]·|v_k|

A step may not cross zero in a penalised coordinate: what would cross is set to zero, so zeros are
exact. The line search halves its step wherever F is not finite, which keeps a barrier's domain.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch

from analyticdag.optimize.trace import Stop

# The smooth part: value and gradient at a vector.
Smooth: TypeAlias = Callable[[torch.Tensor], tuple[float, torch.Tensor]]

_MEMORY = 10  # pairs that are remembered, as by SciPy's L-BFGS-B
_DECREASE = 1e-4  # of what the slope promises (Armijo), the value of Nocedal and Wright
_HALVINGS = 30  # a step is then a billionth of what it was
_PATIENCE = 5  # steps in a row that gain too little


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the minimiser stopped, how many steps it took, and why."""

    values: torch.Tensor
    objective: float
    n_steps: int
    reason: Stop


def minimise(
    smooth: Smooth, start: torch.Tensor, penalty: torch.Tensor, *, max_steps: int, tol: float
) -> Minimum:
    """Minimise until the relative gain of several steps in a row stays below `tol`."""
    values, pairs = start.clone(), deque[tuple[torch.Tensor, torch.Tensor]](maxlen=_MEMORY)
    value, gradient = smooth(values)
    objective = value + _penalty(values, penalty)
    if not math.isfinite(objective):
        return Minimum(values, objective, 0, Stop.NOT_FINITE)
    waited = 0
    for step in range(1, max_steps + 1):
        steepest = -_pseudo_gradient(values, gradient, penalty)
        direction = _two_loops(steepest, pairs)
        # A direction that disagrees in sign with steepest descent could leave its orthant.
        direction = torch.where((direction * steepest > 0) | (penalty == 0), direction, 0.0)
        found = _line_search(smooth, values, objective, steepest, direction, penalty, not pairs)
        if found is None:
            if not pairs:
                return Minimum(values, objective, step - 1, Stop.NO_STEP_LEFT)
            pairs.clear()  # they gave a bad direction: forget them, follow the gradient
            continue
        moved, new_gradient, lower = found
        _remember(pairs, moved - values, new_gradient - gradient)
        gain = objective - lower
        values, gradient, objective = moved, new_gradient, lower
        waited = waited + 1 if gain <= tol * max(abs(objective), 1e-12) else 0
        if waited == _PATIENCE:
            return Minimum(values, objective, step, Stop.TOLERANCE)
    return Minimum(values, objective, max_steps, Stop.MAX_STEPS)


def _penalty(values: torch.Tensor, penalty: torch.Tensor) -> float:
    return float((penalty * values.abs()).sum())


def _pseudo_gradient(
    values: torch.Tensor, gradient: torch.Tensor, penalty: torch.Tensor
) -> torch.Tensor:
    """The one-sided derivative of the whole objective that descends most, zero at a minimum."""
    up, down = gradient + penalty, gradient - penalty
    at_zero = torch.where(up < 0, up, torch.where(down > 0, down, 0.0))
    return torch.where(values == 0, at_zero, gradient + penalty * torch.sign(values))


def _two_loops(
    steepest: torch.Tensor, pairs: deque[tuple[torch.Tensor, torch.Tensor]]
) -> torch.Tensor:
    """The L-BFGS direction: the inverse Hessian that the memory suggests, times `steepest`."""
    direction, shares = steepest.clone(), []
    for s, y in reversed(pairs):
        share = (s @ direction) / (s @ y)
        direction -= share * y
        shares.append(share)
    if pairs:
        s, y = pairs[-1]
        direction *= (s @ y) / (y @ y)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - (y @ direction) / (s @ y)) * s
    return direction


def _line_search(
    smooth: Smooth,
    values: torch.Tensor,
    objective: float,
    steepest: torch.Tensor,
    direction: torch.Tensor,
    penalty: torch.Tensor,
    first: bool,
) -> tuple[torch.Tensor, torch.Tensor, float] | None:
    """Halve the step until the objective falls; None when it never does."""
    orthant = torch.where(values == 0, torch.sign(steepest), torch.sign(values))
    length = min(1.0, 1.0 / float(direction.norm().clamp_min(1e-12))) if first else 1.0
    for _ in range(_HALVINGS):
        moved = values + length * direction
        moved = torch.where((moved * orthant < 0) & (penalty > 0), 0.0, moved)
        value, gradient = smooth(moved)
        lower = value + _penalty(moved, penalty)
        promised = float(steepest @ (moved - values))
        if math.isfinite(lower) and lower <= objective - _DECREASE * promised and promised > 0:
            return moved, gradient, lower
        length *= 0.5
    return None


def _remember(
    pairs: deque[tuple[torch.Tensor, torch.Tensor]], s: torch.Tensor, y: torch.Tensor
) -> None:
    """Keep a pair only where it shows positive curvature."""
    if float(s @ y) > 1e-10 * float(y @ y):
        pairs.append((s, y))
