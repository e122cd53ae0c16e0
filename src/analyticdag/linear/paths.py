"""The path of a fit: its problem, where it begins, going on from a checkpoint.

A path begins at zero, at parents sorted by variance, or at weights that the solver was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.fitting.checkpoint import Checkpoint, fingerprint
from analyticdag.fitting.placement import Placement, to_float64
from analyticdag.fitting.statistics import Statistics
from analyticdag.knowledge import EdgeMasks
from analyticdag.linear.prepare import Fit
from analyticdag.losses import LossClass, loss_traits
from analyticdag.optimize.columns import starting_weights
from analyticdag.optimize.path import PathState, follow, schedule_of, start_of
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.trace import Trace
from analyticdag.orders import canonical_order


@dataclass(frozen=True, eq=False)
class Start:
    """Where a path begins, by its name, with weights where the name alone does not give them."""

    name: str
    weights: FloatArray | None = None

    @classmethod
    def of(cls, fit: Fit) -> Start:
        """Return the start of the solver's path, in the units that the path sees."""
        assert fit.options.minimiser is not None
        given = start_of(fit.options.minimiser)
        if isinstance(given, str):
            return cls(given)
        weights = _checked(given, fit.statistics, fit.masks)
        ratio = fit.for_starts.scale / fit.statistics.scale
        return cls("given", weights * ratio[:, None] / ratio)

    def weights_for(self, statistics: Statistics, masks: EdgeMasks) -> FloatArray:
        """Return the weights to begin with."""
        if self.weights is not None:
            return self.weights
        S, n = statistics.S, statistics.n_samples
        return starting_weights(S, n, self.name, masks.allowed, masks.required)


def follow_path(
    fit: Fit,
    statistics: Statistics,
    loss: LossClass,
    lambda1: float | None = None,
    start: Start | None = None,
    *,
    canonical: bool = False,
    aside: bool = False,
) -> PathState:
    """Follow the path; lambda1 and start are those of the options unless given.

    With `canonical` it takes the columns in an order that does not depend on their places. One that
    runs aside is not reported and not kept in the checkpoint.
    """
    options, place = fit.options, fit.place
    lambda1 = options.lambda1 if lambda1 is None else lambda1
    start = Start.of(fit) if start is None else start
    columns = canonical_order(statistics.S) if canonical else np.arange(len(statistics.S))
    masks, block = fit.masks.in_order(columns), np.ix_(columns, columns)
    assert options.minimiser is not None
    problem = Problem(
        loss=_made(loss, statistics, columns, place),
        function=options.function,
        lambda1=lambda1,
        allowed=place.put(masks.allowed),
        required=place.put(masks.required),
    )
    weights = start.weights_for(statistics, fit.masks)[block]
    begin = PathState(place.put(weights), Trace(start=start.name))
    file = None if aside else _checkpoint(fit, statistics, loss, lambda1, start, canonical)
    state = follow(
        problem,
        schedule_of(options.minimiser),
        options.minimiser,
        begin if file is None else file.load(weights.shape) or begin,
        on_stage=None if file is None else file.save,
        verbose=0 if aside else options.verbose,
    )
    if not canonical:
        return state
    back = np.argsort(columns)
    return replace(state, weights=to_float64(state.weights)[np.ix_(back, back)])


def _made(loss: LossClass, statistics: Statistics, columns: IntArray, place: Placement) -> Any:
    traits = loss_traits(loss)
    if not traits.needs_rows:
        return loss(place.put(statistics.S[np.ix_(columns, columns)]))
    if statistics.rows is None:
        raise ParameterError(
            f"loss={traits.name!r} needs the rows, which fit_covariance does not have; call fit(X)"
        )
    return loss(place.put(statistics.rows.values[:, columns]))


def _checkpoint(
    fit: Fit,
    statistics: Statistics,
    loss: LossClass,
    lambda1: float,
    start: Start,
    canonical: bool,
) -> Checkpoint | None:
    options, traits = fit.options, loss_traits(loss)
    if options.checkpoint is None or fit.apart is not None:  # it is that of the first search
        return None
    assert options.minimiser is not None
    settings = {
        "function": options.function,
        "lambda1": lambda1,
        "schedule": schedule_of(options.minimiser),
        "minimiser": options.minimiser,
        "dtype": str(fit.place.dtype),
        "start": start.name,
    } | ({"columns": "canonical"} if canonical else {})
    digest = fingerprint(
        statistics.S,
        statistics.rows.values if traits.needs_rows and statistics.rows else None,
        fit.masks.allowed,
        fit.masks.required,
        start.weights,
        settings=settings,
    )
    return Checkpoint(options.checkpoint, traits.name, digest, fit.place)


def _checked(given: Any, statistics: Statistics, masks: EdgeMasks) -> FloatArray:
    """Refuse weights that do not fit the columns."""
    d = len(statistics.names)
    try:
        W = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError("start must hold numbers: the weights to begin with") from error
    if W.shape != (d, d) or not np.isfinite(W).all():
        raise ParameterError(
            f"start must be {d} x {d} finite weights, [i, j] for i -> j; got shape {W.shape}"
            + (" with NaN or infinite entries" if W.shape == (d, d) else "")
        )
    wrong = np.argwhere((W != 0.0) & ~masks.allowed)
    if len(wrong):
        i, j = (statistics.names[k] for k in wrong[0])
        raise ParameterError(
            f"start has a weight on {i!r} -> {j!r}, an edge that may not exist; set it to 0"
        )
    return W
