"""One small network per node, all of them run as one batched computation.

The network of node t maps the other columns to the numbers that describe t: its mean, and with
`outputs=2` the logarithm of its standard deviation. Layer k of all nodes is one tensor of shape
(node, units out, units in), so a layer costs one matrix product however many nodes there are.

All parameters live in one flat vector, `values`: a minimiser steps on that vector, a checkpoint
saves it, and the tensors of the layers are views into it.

x_t is Gaussian; the logarithm of its standard deviation is the second output (variance="learned")
or a number of the node's own (variance="constant").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch.nn import functional

LEAK = 0.01  # slope of the leaky ReLU below zero
_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Shape:
    """Nodes, units of the hidden layers, numbers each network puts out, and the activation.

    With `own_scale` each node has one number of its own besides its network: the logarithm of a
    standard deviation that does not depend on the parents.
    """

    nodes: int
    hidden: tuple[int, ...]
    outputs: int = 1
    activation: str = "leaky-relu"
    own_scale: bool = False

    @property
    def weights(self) -> list[tuple[int, int, int]]:
        """The shape of each layer's weights."""
        widths = (self.nodes, *self.hidden, self.outputs)
        return [(self.nodes, out, into) for into, out in pairwise(widths)]

    @property
    def sizes(self) -> list[int]:
        """How many numbers each layer's weights, then each layer's biases, take; then scales."""
        weights = [math.prod(shape) for shape in self.weights]
        biases = [nodes * out for nodes, out, _ in self.weights]
        return [*weights, *biases, *[self.nodes] * self.own_scale]


class Networks:
    """The networks of all nodes; `values` is the flat vector behind their tensors."""

    def __init__(self, shape: Shape, values: torch.Tensor) -> None:
        self.shape = shape
        self.values = values.detach()
        pieces = torch.split(self.values, shape.sizes)
        depth = len(shape.weights)
        self.weights = [
            piece.view(size) for piece, size in zip(pieces[:depth], shape.weights, strict=True)
        ]
        self.biases = [piece.view(shape.nodes, -1, 1) for piece in pieces[depth : 2 * depth]]
        self.scales = [piece.view(shape.nodes, 1) for piece in pieces[2 * depth :]]
        for tensor in self.parameters:
            tensor.requires_grad_()

    @classmethod
    def drawn(
        cls, shape: Shape, seed: int, dtype: torch.dtype, device: torch.device | str
    ) -> Networks:
        """Networks with weights as Glorot draws them for leaky ReLU, and no biases."""
        generator = torch.Generator().manual_seed(seed)
        gain = math.sqrt(2.0 / (1.0 + LEAK**2))
        values = torch.zeros(sum(shape.sizes), dtype=torch.float64)
        start = 0
        for nodes, out, into in shape.weights:
            size, bound = nodes * out * into, gain * math.sqrt(6.0 / (into + out))
            # Drawn in double precision, so that both precisions start at the same point.
            draw = torch.rand(size, generator=generator, dtype=torch.float64)
            values[start : start + size] = bound * (2.0 * draw - 1.0)
            start += size
        return cls(shape, values.to(dtype=dtype, device=device))

    @property
    def parameters(self) -> list[torch.Tensor]:
        """The tensors to differentiate in, in the order of `values`."""
        return [*self.weights, *self.biases, *self.scales]

    def masked_input(self, mask: torch.Tensor) -> torch.Tensor:
        """The first layer with the inputs that `mask[i, t]` (i -> t) rules out set to zero."""
        return self.weights[0] * mask.T[:, None, :]

    def __call__(self, columns: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The outputs for data given as (d, n): a tensor (node, output, row)."""
        nodes, units = self.shape.nodes, self.shape.weights[0][1]
        # Every node reads the same data, so the first layer is one product for all of them.
        first = self.masked_input(mask).reshape(nodes * units, -1)
        layer = torch.addmm(self.biases[0].reshape(-1, 1), first, columns)
        layer = layer.view(nodes, units, -1)
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            layer = torch.baddbmm(bias, weight, self._activated(layer))
        return layer

    def gradient(self, objective: torch.Tensor) -> torch.Tensor:
        """The gradient of a number in `values`, zero where it does not depend on them."""
        found = torch.autograd.grad(objective, self.parameters, materialize_grads=True)
        return flat(found)

    def copy(self) -> Networks:
        """The same networks on memory of their own."""
        return Networks(self.shape, self.values.clone())

    def _activated(self, layer: torch.Tensor) -> torch.Tensor:
        if self.shape.activation == "sigmoid":
            return torch.sigmoid(layer)
        return functional.leaky_relu(layer, LEAK)


def measured(networks: Networks, loss: torch.Tensor, h: torch.Tensor) -> dict[str, float]:
    """Return loss and constraint where a stage ended, with their gradients, for its record."""
    return {
        "loss": float(loss.detach()),
        "h": float(h.detach()),
        "loss_gradient_norm": float(networks.gradient(loss).norm()),
        "constraint_gradient_norm": float(networks.gradient(h).norm()),
    }


def flat(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """One vector of everything in the tensors."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


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


def average_loss(networks: Networks, columns: torch.Tensor, mask: torch.Tensor) -> float:
    """Return the mean of -log p over nodes and rows, as a number."""
    with torch.no_grad():
        return float(negative_log_likelihood(networks, columns, mask).mean())


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
