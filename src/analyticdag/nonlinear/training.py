"""What a method of training gets, and what it leaves behind.

Both methods leave the same: networks to refit, a strength for every edge (absolute sensitivity for
gran-dag, the norm of the input weights for mlp), and the history. Both keep their state as a
`PathState`, so that one kind of checkpoint file serves every estimator.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from analyticdag._typing import FloatArray
from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import ParameterError
from analyticdag.fitting.checkpoint import Checkpoint, fingerprint
from analyticdag.fitting.placement import choose_placement, to_float64, torch_on
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear.networks import Networks, Shape
from analyticdag.nonlinear.options import NetworkOptions
from analyticdag.optimize.trace import Stop, Trace

# What decides the networks that come out; a checkpoint of other settings is refused.
_SETTINGS = (
    *("model", "function", "variance", "hidden_units", "lambda1", "max_steps", "dtype", "seed"),
)


@dataclass(frozen=True)
class Place:
    """The device and the precision of every tensor of a fit."""

    device: torch.device
    dtype: torch.dtype

    @classmethod
    def of(cls, options: NetworkOptions) -> Place:
        """The place that was asked for; "auto" is the GPU where Torch has one."""
        name = options.device
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            device = torch_on(name)[1]
        except ParameterError as error:
            raise ParameterError(
                f"device={name!r} cannot be used here; use 'auto' or 'cpu'"
            ) from error
        return cls(device, getattr(torch, options.dtype))

    def put(self, array: Any) -> torch.Tensor:
        """Return a NumPy array as a tensor here."""
        return torch.as_tensor(np.ascontiguousarray(array), dtype=self.dtype, device=self.device)


@dataclass(frozen=True, eq=False)
class NetworkFit:
    """All rows (n, d), the same as tensors (d, n) in two parts, and what was asked for."""

    rows: FloatArray
    training: torch.Tensor
    held_out: torch.Tensor
    options: NetworkOptions
    masks: EdgeMasks
    place: Place

    def drawn(self, shape: Shape) -> Networks:
        """Return networks as first drawn, here."""
        return Networks.drawn(shape, self.options.seed, self.place.dtype, self.place.device)

    @cached_property
    def constraint(self) -> Acyclicity:
        """The constraint, at its own s."""
        return Acyclicity(self.options.function)

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The file of this fit, if one was asked for."""
        options, masks = self.options, self.masks
        if options.checkpoint is None:
            return None
        settings = {name: getattr(options, name) for name in _SETTINGS}
        digest = fingerprint(self.rows, masks.allowed, masks.required, settings=settings)
        host = choose_placement(self.rows, None, None)
        return Checkpoint(options.checkpoint, options.model, digest, host)


@dataclass(frozen=True, eq=False)
class Trained:
    """What a method leaves behind; `unseen` are networks that never saw the held-out rows."""

    unseen: Networks
    strength: FloatArray
    threshold: float
    trace: Trace
    n_steps: int

    @property
    def reason(self) -> Stop:
        """Why the method stopped."""
        last = self.trace.records[-1].reason
        assert last is not None
        return last


def plain_strength(strength: torch.Tensor) -> FloatArray:
    """Return the strengths of edges as an array; zero where they are not finite."""
    return np.nan_to_num(to_float64(strength), posinf=0.0)
