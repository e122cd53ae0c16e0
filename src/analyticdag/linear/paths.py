"""The path of a fit: build the problem, begin at the start or go on from a checkpoint."""

from __future__ import annotations

import logging
from dataclasses import replace

from analyticdag.candidates import candidate_mask
from analyticdag.errors import ParameterError
from analyticdag.fitting.checkpoint import Checkpoint, fingerprint
from analyticdag.fitting.placement import Placement
from analyticdag.fitting.statistics import Statistics
from analyticdag.knowledge import EdgeMasks
from analyticdag.linear.choice import UNEQUAL
from analyticdag.linear.options import Options
from analyticdag.losses import Logistic, Loss, covariance_loss
from analyticdag.optimize.path import PathState, follow
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.trace import Trace

logger = logging.getLogger(__name__)


def edge_masks(statistics: Statistics, options: Options) -> EdgeMasks:
    """Return what knowledge and candidates say about the columns at hand."""
    known = options.knowledge.resolve(statistics.names)
    plausible = candidate_mask(options.candidates, statistics.S, statistics.n_samples)
    return known.restricted_to(plausible & statistics.touchable)


def learn_path(
    statistics: Statistics, options: Options, masks: EdgeMasks, place: Placement
) -> PathState:
    """Follow the path on the arrays that `place` stands for."""
    assert options.minimiser is not None
    problem = Problem(
        loss=_loss(statistics, options, place),
        function=options.function,
        lambda1=options.lambda1,
        allowed=place.put(masks.allowed),
        penalised=place.put(~masks.required),
    )
    weights = options.start.of_path(statistics, masks)
    start = PathState(place.put(weights), Trace(start=options.start.name))
    checkpoint = _checkpoint(statistics, options, masks, place)
    return follow(
        problem,
        options.schedule,
        options.minimiser,
        start if checkpoint is None else checkpoint.load(weights.shape) or start,
        on_stage=None if checkpoint is None else checkpoint.save,
        verbose=options.verbose,
    )


def path_statistics(statistics: Statistics, options: Options) -> Statistics:
    """Return what the path sees: a start for a search that knows no units must know none."""
    if options.refine and options.loss == UNEQUAL:
        return statistics.with_unit_variances()
    return statistics


def path_options(options: Options, statistics: Statistics) -> Options:
    """Under "auto" the path is a start among others: the cheap loss that can see something."""
    if options.loss != "auto":
        return options
    return replace(options, loss=UNEQUAL if statistics.looks_standardised else "mse")


def _checkpoint(
    statistics: Statistics, options: Options, masks: EdgeMasks, place: Placement
) -> Checkpoint | None:
    if options.checkpoint is None:
        return None
    settings = {
        name: getattr(options, name) for name in ("function", "lambda1", "schedule", "minimiser")
    }
    rows = statistics.rows if options.loss == "logistic" else None
    digest = fingerprint(
        statistics.S,
        rows,
        masks.allowed,
        masks.required,
        options.start.weights,
        settings={**settings, "dtype": str(place.dtype), "start": options.start.name},
    )
    return Checkpoint(options.checkpoint, options.loss, digest, place)


def _loss(statistics: Statistics, options: Options, place: Placement) -> Loss:
    if options.loss != "logistic":
        return covariance_loss(options.loss, place.put(statistics.S))
    if statistics.rows is None:
        raise ParameterError(
            "loss='logistic' needs the rows, which fit_covariance does not have; call fit(X)"
        )
    return Logistic(place.put(statistics.rows))
