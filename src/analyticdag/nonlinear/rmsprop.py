"""RMSprop on one vector, and the batches it is fed with."""

from __future__ import annotations

from collections.abc import Iterator

import torch

BATCH, LEARNING_RATE = 64, 1e-3
_SMOOTHING, _EPSILON = 0.99, 1e-8


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
