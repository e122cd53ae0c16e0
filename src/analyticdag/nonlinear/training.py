"""Run one of the two methods on a task, from the start or from a checkpoint.

Both leave the same behind: networks to refit, a strength for every edge (absolute sensitivity for
gran-dag, the norm of the input weights for mlp), and the history. The state of gran-dag is packed
into one vector, so that one kind of checkpoint file serves every estimator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from analyticdag._typing import FloatArray
from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import ParameterError
from analyticdag.fitting.checkpoint import Checkpoint, fingerprint
from analyticdag.fitting.placement import choose_placement, to_float64, torch_on
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear import gran_dag, mlp
from analyticdag.nonlinear.likelihood import sensitivity
from analyticdag.nonlinear.networks import Networks, Shape
from analyticdag.nonlinear.options import NetworkOptions
from analyticdag.optimize.path import PathState, follow
from analyticdag.optimize.trace import Stop, Trace

_SETTINGS = (
    "model",
    "function",
    "variance",
    "hidden_units",
    "lambda1",
    "max_steps",
    "dtype",
    "seed",
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


def train_gran_dag(task: NetworkFit) -> Trained:
    """Train GraN-DAG until its graph is acyclic."""
    options, place, d = task.options, task.place, task.rows.shape[1]
    constant = options.variance == "constant"
    shape = Shape(d, (options.hidden_units,) * 2, 1 if constant else 2, own_scale=constant)
    networks = Networks.drawn(shape, options.seed, place.dtype, place.device)
    required = torch.as_tensor(task.masks.required, device=place.device)
    problem = gran_dag.GranProblem(
        task.training,
        task.held_out,
        Acyclicity(options.function),
        required,
        options.seed,
        options.max_steps,
    )
    start = gran_dag.GranState(networks.values, place.put(task.masks.allowed))
    file = task.checkpoint
    saved = None if file is None else file.load(_packed(start).weights.shape)
    state = gran_dag.train(
        problem,
        networks,
        start if saved is None else _unpacked(saved, start, place),
        on_stage=None if file is None else lambda now: file.save(_packed(now)),
        verbose=options.verbose,
    )
    networks = Networks(shape, state.values)
    strength = sensitivity(networks, task.training, state.mask) + state.mask * _TINY
    return Trained(networks, _plain(strength), 0.0, state.trace, state.n_steps)


def train_mlp(task: NetworkFit) -> Trained:
    """Follow the path of DAGMA's network, on all rows.

    Nothing here is stopped by held-out rows, so none are kept from the search for the graph. The
    networks that come out have seen them, though: what is refitted are the first draws.
    """
    options, place, d = task.options, task.place, task.rows.shape[1]
    shape = Shape(d, (options.hidden_units,), activation="sigmoid", own_scale=True)
    networks = Networks.drawn(shape, options.seed, place.dtype, place.device)
    first = mlp.starting_networks(networks)
    problem = mlp.NetworkProblem(
        shape,
        torch.cat([task.training, task.held_out], dim=1),
        options.function,
        options.lambda1,
        options.variance == "equal",
        place.put(task.masks.allowed),
        place.put(task.masks.required),
    )
    file, start = task.checkpoint, PathState(first.values)
    saved = None if file is None else file.load(tuple(first.values.shape))
    if saved is not None:
        start = replace(saved, weights=place.put(saved.weights))
    state = follow(
        problem,
        mlp.schedule(options.max_steps),
        mlp.QuasiNewton(),
        start,
        on_stage=None if file is None else file.save,
        verbose=options.verbose,
    )
    strength = mlp.connectivity(Networks(shape, state.weights), problem.mask).sqrt()
    return Trained(networks, _plain(strength), options.w_threshold, state.trace, state.n_steps)


# An edge that gran-dag did not mask is an edge, even if no output moves with it.
_TINY = 1e-30


def _plain(strength: torch.Tensor) -> FloatArray:
    return np.nan_to_num(to_float64(strength), posinf=0.0)


def _packed(state: gran_dag.GranState) -> PathState:
    """One vector: parameters, mask, multiplier, mu and h."""
    numbers = [state.multiplier, state.mu, state.h]
    arrays = [to_float64(state.values), to_float64(state.mask).ravel(), np.array(numbers)]
    return PathState(np.concatenate(arrays), state.trace, state.n_steps, state.stage)


def _unpacked(saved: PathState, start: gran_dag.GranState, place: Place) -> gran_dag.GranState:
    sizes = [start.values.numel(), start.mask.numel()]
    values, mask, numbers = np.split(saved.weights, np.cumsum(sizes))
    multiplier, mu, h = (float(number) for number in numbers)
    return gran_dag.GranState(
        place.put(values),
        place.put(mask.reshape(start.mask.shape)),
        multiplier,
        mu,
        h,
        saved.trace,
        saved.n_steps,
        saved.stage,
    )
