"""One small network per node, all of them run as one batched computation.

The network of node t maps the other columns to the numbers that describe t: its mean, and with
`outputs=2` the logarithm of its standard deviation. Layer k of all nodes is one tensor of shape
(node, units out, units in), so a layer costs one matrix product however many nodes there are.

All parameters live in one flat vector, `values`: a minimiser steps on that vector, a checkpoint
saves it, and the tensors of the layers are views into it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch.nn import functional

LEAK = 0.01  # slope of the leaky ReLU below zero


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


def flat(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """One vector of everything in the tensors."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])
