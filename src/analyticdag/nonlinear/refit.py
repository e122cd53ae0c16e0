"""Fit the networks of a finished graph: what `score` and the weights of the edges rest on.

The parents are fixed now, so nothing is penalised: quasi-Newton steps on the likelihood, as long as
the rows held out get likelier. Those rows can only say so to networks that never saw them:
gran-dag's go on from where training on the other rows left them; mlp trains on all rows, so here it
begins anew with networks as first drawn.
"""

from __future__ import annotations

import torch

from analyticdag.nonlinear.likelihood import moments, negative_log_likelihood
from analyticdag.nonlinear.networks import Networks
from analyticdag.nonlinear.quasi_newton import minimise
from analyticdag.optimize.trace import Stop

_ROUND, _ROUNDS = 20, 15  # steps between two looks at the held-out rows, and how many looks
_PATIENCE = 3  # looks in a row that show no gain
_TOL = 1e-7


def refit(
    networks: Networks,
    training: torch.Tensor,
    held_out: torch.Tensor,
    mask: torch.Tensor,
    *,
    pooled: torch.Tensor | None = None,
) -> Networks:
    """Return networks fitted to the graph `mask`, the best on the held-out rows of all seen.

    `pooled` says which columns share one noise variance; None gives each its own.
    """
    shape = networks.shape
    best = now = _with_scales(networks, training, mask, pooled)
    lowest, waited = _loss(best, held_out, mask), 0

    def smooth(values: torch.Tensor) -> tuple[float, torch.Tensor]:
        moved = Networks(shape, values)
        if pooled is None:
            loss = negative_log_likelihood(moved, training, mask).mean()
        else:
            loss = 0.5 * _variances(moved, training, mask)[pooled].mean().log()
        return float(loss.detach()), moved.gradient(loss)

    free = torch.zeros_like(best.values)
    for _ in range(_ROUNDS):
        found = minimise(smooth, now.values, free, max_steps=_ROUND, tol=_TOL)
        now = Networks(shape, found.values)
        if pooled is not None:
            now = _with_scales(now, training, mask, pooled)
        loss = _loss(now, held_out, mask)
        waited = 0 if loss < lowest else waited + 1
        if loss < lowest:
            best, lowest = now, loss
        if waited == _PATIENCE or found.reason is not Stop.MAX_STEPS:
            break
    return best


def _loss(networks: Networks, columns: torch.Tensor, mask: torch.Tensor) -> float:
    with torch.no_grad():
        return float(negative_log_likelihood(networks, columns, mask).mean())


def _variances(networks: Networks, columns: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean square of each node's residuals."""
    return (columns - moments(networks, columns, mask)[0]).square().mean(dim=1)


def _with_scales(
    networks: Networks, training: torch.Tensor, mask: torch.Tensor, pooled: torch.Tensor | None
) -> Networks:
    """Set scales of the nodes' own to the spread of the residuals, whatever the units are."""
    start = networks.copy()
    if start.shape.own_scale:
        with torch.no_grad():
            variances = _variances(start, training, mask)
            if pooled is not None:
                variances = torch.where(pooled, variances[pooled].mean(), variances)
            spread = variances.sqrt().clamp_min(torch.finfo(variances.dtype).eps)
            start.scales[0].copy_(spread.log()[:, None])
    return start
