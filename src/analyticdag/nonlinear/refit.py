"""Fit the networks of a finished graph: what `score` and the weights of the edges rest on.

The parents are fixed now, so nothing is penalised: quasi-Newton steps on the likelihood, from where
the method left the networks, as long as the rows held out get likelier.
"""

from __future__ import annotations

import torch

from analyticdag.nonlinear.likelihood import moments, negative_log_likelihood
from analyticdag.nonlinear.networks import Networks
from analyticdag.nonlinear.quasi_newton import minimise

_ROUND, _ROUNDS = 20, 10  # steps between two looks at the held-out rows, and how many looks
_TOL = 1e-7


def refit(
    networks: Networks, training: torch.Tensor, held_out: torch.Tensor, mask: torch.Tensor
) -> Networks:
    """Return networks fitted to the graph `mask`, the best on the held-out rows of all seen."""
    shape = networks.shape
    best = _with_scales(networks, training, mask)
    lowest = _loss(best, held_out, mask)

    def smooth(values: torch.Tensor) -> tuple[float, torch.Tensor]:
        moved = Networks(shape, values)
        loss = negative_log_likelihood(moved, training, mask).mean()
        return float(loss.detach()), moved.gradient(loss)

    free = torch.zeros_like(best.values)
    for _ in range(_ROUNDS):
        found = minimise(smooth, best.values, free, max_steps=_ROUND, tol=_TOL)
        moved = Networks(shape, found.values)
        loss = _loss(moved, held_out, mask)
        if not loss < lowest:
            break
        best, lowest = moved, loss
    return best


def _loss(networks: Networks, columns: torch.Tensor, mask: torch.Tensor) -> float:
    with torch.no_grad():
        return float(negative_log_likelihood(networks, columns, mask).mean())


def _with_scales(networks: Networks, training: torch.Tensor, mask: torch.Tensor) -> Networks:
    """Start scales of the nodes' own at the spread of the residuals, whatever the units are."""
    start = networks.copy()
    if start.shape.own_scale:
        with torch.no_grad():
            mean, _ = moments(start, training, mask)
            spread = (training - mean).square().mean(dim=1, keepdim=True).sqrt()
            tiny = torch.finfo(spread.dtype).eps
            start.scales[0].copy_(spread.clamp_min(tiny).log())
    return start
