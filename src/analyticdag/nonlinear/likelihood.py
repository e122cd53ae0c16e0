"""The Gaussian likelihood of the networks' outputs, and how each column reacts to the others.

x_t is Gaussian; its mean is the network's first output, the logarithm of its standard deviation
the second one (variance="learned") or a number of the node's own (variance="constant").
"""

from __future__ import annotations

import math

import torch

from analyticdag.nonlinear.networks import Networks

_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


def moments(
    networks: Networks, columns: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and log standard deviation of each node in each row, as (d, n)."""
    outputs = networks(columns, mask)
    scale = networks.scales[0] if networks.shape.own_scale else outputs[:, 1]
    return outputs[:, 0], scale


def noise_variances(networks: Networks, columns: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the noise variance of each node, the mean over the rows where it depends on them."""
    with torch.no_grad():
        return torch.exp(2.0 * moments(networks, columns, mask)[1]).mean(dim=1)


def negative_log_likelihood(
    networks: Networks, columns: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """Return -log p of each node in each row, as (d, n)."""
    return gaussian(columns, *moments(networks, columns, mask))


def gaussian(columns: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return the negative logarithm of a Gaussian density with log standard deviation `scale`."""
    standardised = (columns - mean) * torch.exp(-scale)
    return 0.5 * standardised * standardised + scale + _HALF_LOG_TAU


def sensitivity(networks: Networks, columns: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return E |d log p_t / d x_i| as a (d, d) matrix: how much edge i -> t matters to t."""
    inputs = columns.detach().clone().requires_grad_()
    # The target is a constant here: only what flows through the parents counts.
    densities = gaussian(columns, *moments(networks, inputs, mask)).sum(dim=1)
    return _by_node(densities, inputs, mask)


def slopes(networks: Networks, columns: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return E |d mean_t / d x_i| with the sign of the average slope, as a (d, d) matrix."""
    inputs = columns.detach().clone().requires_grad_()
    means = networks(inputs, mask)[:, 0].sum(dim=1)
    size = _by_node(means, inputs, mask)
    return size * torch.sign(_by_node(means, inputs, mask, signed=True))


def _by_node(
    totals: torch.Tensor, inputs: torch.Tensor, mask: torch.Tensor, *, signed: bool = False
) -> torch.Tensor:
    """Average the (absolute) derivatives of every node's total over the rows."""
    columns = []
    for total in totals:
        (derivative,) = torch.autograd.grad(total, inputs, retain_graph=True)
        columns.append((derivative if signed else derivative.abs()).mean(dim=1))
    return torch.stack(columns, dim=1) * mask
