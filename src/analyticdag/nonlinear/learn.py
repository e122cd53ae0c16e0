"""From rows to a DAG with fitted networks: select, train, break cycles, prune, search, refit.

    neighbours?  ->  gran-dag | mlp  ->  cycles  ->  pruning?  ->  limits  ->  search?  ->  refit

Once cycles are broken every step either takes edges away or moves from one DAG to another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.ensemble import ExtraTreesRegressor

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.fitting.finish import Finished, finish
from analyticdag.fitting.placement import to_float64
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear import gran_dag, mlp
from analyticdag.nonlinear.climb import refine
from analyticdag.nonlinear.networks import (
    Networks,
    Shape,
    average_loss,
    moments,
    negative_log_likelihood,
    noise_variances,
    slopes,
)
from analyticdag.nonlinear.options import NetworkOptions
from analyticdag.nonlinear.pruning import Significance, significance
from analyticdag.nonlinear.quasi_newton import minimise
from analyticdag.nonlinear.training import NetworkFit, Place, Trained
from analyticdag.optimize.trace import STATUS_OF_STOP, Status, Stop, Trace

_HELD_OUT = 0.2  # of the rows, as in GraN-DAG's experiments
# Of neighbour selection, as published by GraN-DAG.
SHARE = 0.75  # of the average importance that a column needs to stay a possible parent
_TREES = 500
_ROUND, _ROUNDS = 20, 15  # steps between two looks at the held-out rows, and how many looks
_PATIENCE = 3  # looks in a row that show no gain
_TOL = 1e-7


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
    trained = (gran_dag if options.model == "gran-dag" else mlp).train(task)
    finished, trace = _finished(trained, rows, options.level, masks), trained.trace
    status = STATUS_OF_STOP[trained.reason]
    if status is Status.CONVERGED and finished.on_cycles:
        status = Status.CYCLES_LEFT
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


def plausible_parents(X: FloatArray, allowed: BoolArray, *, seed: int) -> BoolArray:
    """Return the (d, d) mask of edges i -> t among `allowed` for which i helps to predict t.

    Judged by extremely randomised trees, as in CAM and GraN-DAG: for tables of many columns, where
    networks with every input would overfit.
    """
    plausible = np.zeros_like(allowed)
    for t in range(X.shape[1]):
        sources = np.flatnonzero(allowed[:, t])
        if len(sources):
            forest = ExtraTreesRegressor(_TREES, random_state=seed + t).fit(X[:, sources], X[:, t])
            importance = forest.feature_importances_
            plausible[sources, t] = importance >= SHARE * importance.mean()
    return plausible


def refit(
    networks: Networks,
    training: torch.Tensor,
    held_out: torch.Tensor,
    mask: torch.Tensor,
    *,
    pooled: torch.Tensor | None = None,
) -> Networks:
    """Return networks fitted to the graph `mask`, the best on the held-out rows of all seen.

    The parents are fixed now, so nothing is penalised: quasi-Newton steps on the likelihood, as
    long as the rows held out get likelier. Those rows can only say so to networks that never saw
    them: gran-dag's go on from where training on the other rows left them; mlp trains on all rows,
    so here it begins anew with networks as first drawn. `pooled` says which columns share one noise
    variance; None gives each its own.
    """
    shape = networks.shape
    best = now = _with_scales(networks, training, mask, pooled)
    lowest, waited = average_loss(best, held_out, mask), 0

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
        loss = average_loss(now, held_out, mask)
        waited = 0 if loss < lowest else waited + 1
        if loss < lowest:
            best, lowest = now, loss
        if waited == _PATIENCE or found.reason is not Stop.MAX_STEPS:
            break
    return best


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
