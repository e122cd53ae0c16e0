"""From rows to a DAG with fitted networks: select, train, break cycles, prune, search, refit.

    neighbours?  ->  gran-dag | mlp  ->  cycles  ->  pruning?  ->  limits  ->  search?  ->  refit

Once cycles are broken every step either takes edges away or moves from one DAG to another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.fitting.finish import Finished, finish
from analyticdag.fitting.placement import to_float64
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear.climb import refine
from analyticdag.nonlinear.likelihood import (
    moments,
    negative_log_likelihood,
    noise_variances,
    slopes,
)
from analyticdag.nonlinear.neighbours import plausible_parents
from analyticdag.nonlinear.networks import Networks, Shape
from analyticdag.nonlinear.options import NetworkOptions
from analyticdag.nonlinear.pruning import Significance, significance
from analyticdag.nonlinear.refit import refit
from analyticdag.nonlinear.training import NetworkFit, Place, Trained, train_gran_dag, train_mlp
from analyticdag.optimize.trace import STATUS_OF_STOP, Status, Stop, Trace

_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class FittedNetworks:
    """Fitted networks as plain arrays: `values` is all their numbers, `shape` gives them sense."""

    shape: Shape
    values: FloatArray
    adjacency: BoolArray
    place: Place

    def expected(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of every column given its causes, (n, d) each."""
        with torch.inference_mode(False), torch.no_grad():
            networks = Networks(self.shape, self.place.put(self.values))
            mean, scale = moments(networks, self.place.put(rows.T), self.place.put(self.adjacency))
            sd = torch.exp(scale).expand_as(mean)
        return to_float64(mean).T, to_float64(sd).T

    def log_likelihood(self, rows: FloatArray) -> FloatArray:
        """Return the mean log-likelihood of each column, on columns scaled as in the fit."""
        with torch.inference_mode(False), torch.no_grad():
            networks = Networks(self.shape, self.place.put(self.values))
            density = negative_log_likelihood(
                networks, self.place.put(rows.T), self.place.put(self.adjacency)
            )
        return -np.asarray(density.double().mean(dim=1).cpu())


@dataclass(frozen=True, eq=False)
class LearnedNetworks:
    """A DAG, the tests of its edges, its networks, and how it was found."""

    finished: Finished
    tests: Significance
    model: FittedNetworks
    trace: Trace
    status: Status
    n_iter: int
    noise_variances: FloatArray


def learn(
    rows: FloatArray, varies: BoolArray, options: NetworkOptions, masks: EdgeMasks
) -> LearnedNetworks:
    """Learn from centred rows (n, d); columns that do not vary are noise, and nothing else's."""
    # With two threads networks this small take longer, and several times the processor time.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # The caller may have switched gradients off.
        with torch.inference_mode(False), torch.enable_grad():
            return _learn(rows, varies, options, masks)
    finally:
        torch.set_num_threads(threads)


def _learn(
    rows: FloatArray, varies: BoolArray, options: NetworkOptions, masks: EdgeMasks
) -> LearnedNetworks:
    place = Place.of(options)
    if options.neighbours:
        plausible = plausible_parents(rows, masks.allowed, seed=options.seed)
        masks = masks.restricted_to(plausible)
    training, held_out = (place.put(part.T) for part in _split(rows, options.seed))
    task = NetworkFit(rows, training, held_out, options, masks, place)
    trained = train_gran_dag(task) if options.model == "gran-dag" else train_mlp(task)
    finished, trace = _finished(trained, rows, options.level, masks), trained.trace
    status = _status(trained.reason, finished)
    if options.refine and varies.any():
        adjacency, record = refine(rows, varies, finished.adjacency, options, masks)
        finished, trace = Finished(adjacency.astype(float), adjacency), trace.searched([record])
        status = Status.SEARCHED if status.converged else status
    # An edge may be required where a column is constant: it is in the graph, with no effect.
    effective = finished.adjacency & varies[:, None] & varies
    columns, mask = place.put(rows.T), place.put(effective)
    pools = options.variance == "equal" and varies.any()
    pooled = torch.as_tensor(varies, device=place.device) if pools else None
    networks = refit(trained.unseen, training, held_out, mask, pooled=pooled)
    finished = replace(finished, weights=to_float64(slopes(networks, columns, mask)))
    return LearnedNetworks(
        finished,
        significance(rows, effective),
        FittedNetworks(networks.shape, to_float64(networks.values), effective, place),
        trace,
        status,
        trained.n_steps,
        to_float64(noise_variances(networks, columns, mask)),
    )


def _status(reason: Stop, finished: Finished) -> Status:
    status = STATUS_OF_STOP[reason]
    if status is Status.CONVERGED and finished.on_cycles:
        return Status.CYCLES_LEFT
    return status


def _split(rows: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return training and held-out rows; at least one of each."""
    order = np.random.default_rng(seed).permutation(len(rows))
    held_out = max(1, round(_HELD_OUT * len(rows)))
    return rows[order[held_out:]], rows[order[:held_out]]


def _finished(
    trained: Trained, rows: FloatArray, level: float | None, masks: EdgeMasks
) -> Finished:
    """Break cycles, prune, and keep to a limit of parents."""
    dag = finish(trained.strength, trained.threshold, replace(masks, max_parents=None))
    weights = dag.weights
    if level is not None:
        weights = np.where(significance(rows, dag.adjacency).keeps(level), weights, 0.0)
    # The limit comes last, so that an edge that is pruned does not take up a place. Required edges
    # stay whatever their weight.
    limited = finish(weights, 0.0, masks)
    return replace(limited, on_cycles=dag.on_cycles)
