"""The order search of a fit: its starts, its score, and what it leaves in the trace."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.finish import Finished
from analyticdag.graphs import topological_order
from analyticdag.knowledge import EdgeMasks
from analyticdag.linear.prepare import Fit
from analyticdag.losses import LossTraits
from analyticdag.moments import Moments
from analyticdag.optimize.trace import SearchRecord
from analyticdag.orders import (
    canonical_order,
    conditional_variance_order,
    consistent_order,
    precedence,
    r2_order,
    random_order,
)
from analyticdag.search import (
    BlockResult,
    Interrupted,
    SearchResult,
    effect_price,
    search_orders,
)
from analyticdag.search.starts import RANDOM_STARTS

logger = logging.getLogger(__name__)

_Matrix = TypeVar("_Matrix", BoolArray, FloatArray)
# Conditional variances need this many rows for each node.
_ROWS_PER_NODE = 2


@dataclass(frozen=True, eq=False)
class SearchTable:
    """What a search sees of a fit, the columns in an order that does not depend on their places.

    So the same graph is found however the columns are permuted, but for copies of each other.
    """

    order: IntArray  # the columns of the fit
    moments: Moments
    masks: EdgeMasks
    S: FloatArray  # that starts are made from
    seed: int

    @classmethod
    def of(cls, fit: Fit) -> SearchTable:
        """Take the columns of a fit in canonical order."""
        starts = fit.for_starts.moments
        order = canonical_order(starts.S)
        moments, masks = fit.statistics.moments.in_order(order), fit.masks.in_order(order)
        # One table of d x d where both are the same: at 20,000 nodes it takes 3.2 GB.
        S = moments.S if fit.for_starts is fit.statistics else starts.S[np.ix_(order, order)]
        return cls(order, moments, masks, S, fit.options.seed)

    @cached_property
    def before(self) -> BoolArray:
        """Who has to come before whom."""
        return precedence(self.masks.allowed, self.masks.required)

    def start(self, order: IntArray) -> IntArray:
        """Return an order of the fit's columns as one of these."""
        return np.argsort(self.order)[order]

    def back_matrix(self, matrix: _Matrix) -> _Matrix:
        """Return a (d, d) matrix of these columns as one of the fit's."""
        places = np.argsort(self.order)
        return matrix[np.ix_(places, places)]

    def back(self, found: SearchResult) -> SearchResult:
        """Return a result in the order of the fit's columns."""
        weights = np.ascontiguousarray(self.back_matrix(found.weights))
        return replace(found, weights=weights, order=self.order[found.order])


def starting_orders(table: SearchTable, *, equal: bool) -> dict[str, IntArray]:
    """Return orders that cost next to nothing, bent to what is known.

    With equal variances the search adds an order of its own, in layers, and beside it the order by
    conditional variance is enough: orders that ignore the scale never ended at a better score, and
    their searches take long. The conditional variances need rows: with few of them this order is
    left out, and with fewer rows than nodes it is the order by variance instead.
    """
    S, n, before = table.S, table.moments.n_samples, table.before
    if equal and n < len(S):
        return {"variance": consistent_order(np.argsort(np.diag(S), kind="stable"), before)}
    if equal and n < _ROWS_PER_NODE * len(S):
        return {}
    starts = {"conditional-variance": conditional_variance_order(S, before=before)}
    if equal:
        return starts
    starts["r2"] = r2_order(S, n_samples=n, before=before)
    for number in range(1, RANDOM_STARTS + 1):
        rng = np.random.default_rng([table.seed, number])
        starts[f"random-{number}"] = random_order(S, rng, before=before)
    return starts


def refine(
    fit: Fit,
    loss: LossTraits,
    starts: dict[str, IntArray],
    *,
    like: SearchRecord | None = None,
    floor: float | None = None,
) -> tuple[Finished, SearchRecord]:
    """Search with the score that belongs to the loss, from `starts` and from cheap orders.

    With `like`, the record of an earlier search, it charges the same price, draws other random
    numbers, and begins at `starts` alone. Effects below a floor get no edge: the user's, else
    `floor`, else the one that the rows ask for once there is a first graph.
    """
    table, asked = SearchTable.of(fit), fit.options.min_effect
    starts = {label: table.start(order) for label, order in starts.items()}
    price = fit.options.price(table.moments.n_samples, len(table.order))
    least = floor if asked is None else asked
    if like is not None:
        price, least, table = like.price, like.min_effect, replace(table, seed=table.seed + 1)
    else:
        starts |= starting_orders(table, equal=loss.score == "equal")

    def by_rows(weights: FloatArray) -> float:
        return fit.misfit.floor(table.back_matrix(weights))

    effort = fit.options.effort if like is None else 0.0
    best = _search(fit, table, loss, starts, price, by_rows if least is None else least, effort)
    adjacency = (best.weights != 0.0) | fit.masks.required
    return Finished(best.weights, adjacency), record_of_search(best, loss, best.min_effect)


def record_of_search(
    found: SearchResult | BlockResult, loss: LossTraits, floor: float
) -> SearchRecord:
    """Return what a trace keeps of a search, with the floor that its effects had."""
    return SearchRecord(
        loss=loss.name,
        score=float(found.score),
        start=found.start,
        price=found.price,
        gamma=found.gamma,
        min_effect=round(floor, 6),
        returns=found.returns,
        interrupted=found.interrupted,
        contributions=tuple(asdict(c) for c in found.contributions),
    )


def with_floor(
    fit: Fit, loss: LossTraits, starts: dict[str, IntArray], found: tuple[Finished, SearchRecord]
) -> tuple[Finished, SearchRecord]:
    """Return what a search without a floor found, or the search with one, where rows ask for it."""
    (finished, record), n = found, fit.statistics.n_samples
    if fit.options.min_effect is not None or record.interrupted:
        return found
    floor = fit.misfit.floor(finished.weights)
    if effect_price(floor, n, equal=loss.score == "equal") <= record.price:
        return found
    best = {"without a floor": topological_order(finished.adjacency)}
    return refine(fit, loss, best | starts, floor=floor)


def _search(
    fit: Fit,
    table: SearchTable,
    loss: LossTraits,
    starts: dict[str, IntArray],
    price: float | None,
    min_effect: float | Callable[[FloatArray], float],
    effort: float,
) -> SearchResult:
    options, moments = fit.options, table.moments
    assert loss.score is not None
    search = partial(
        search_orders,
        moments.S,
        moments.n_samples,
        score=loss.score,
        price=price,
        min_effect=min_effect,
        effort=effort,
        masks=table.masks,
        moments=moments,
        starts=starts,
        random_state=table.seed,
        n_jobs=options.n_jobs,
        progress=logger.info if options.verbose else None,
    )
    try:
        return table.back(search())
    except Interrupted as stopped:  # the estimator ends with it
        return table.back(stopped.best)
