"""The order search of a fit: its starts, its score, and what it leaves in the trace."""

from __future__ import annotations

import logging
from dataclasses import asdict

import numpy as np

from analyticdag._typing import IntArray
from analyticdag.fitting.finish import Finished
from analyticdag.fitting.statistics import Statistics
from analyticdag.linear.paths import Fit
from analyticdag.losses import LossTraits
from analyticdag.optimize.trace import SearchRecord
from analyticdag.orders import (
    conditional_variance_order,
    consistent_order,
    precedence,
    r2_order,
    random_order,
)

logger = logging.getLogger(__name__)

_RANDOM_STARTS = 2
# Conditional variances need this many rows for each node.
_ROWS_PER_NODE = 2


def rule_of_gamma(n_nodes: int) -> float:
    """Return the extended BIC's gamma of the scale-free search where the user gave none.

    0.5 up to 100 nodes, 0.75 at 300, 1 from 900 on: docs/design/order-search.md has the tables.
    With equal variances the search has a rule of its own (`search.setting`, `search.graph`).
    """
    return float(np.clip(0.5 + 0.25 * np.log(max(n_nodes, 1) / 100.0) / np.log(3.0), 0.5, 1.0))


def _gamma_of(price: float, statistics: Statistics) -> float:
    """Return the gamma behind a price; it makes no difference with one column."""
    nodes = np.log(max(len(statistics.S), 2))
    return round(float((price - np.log(statistics.n_samples)) / (4.0 * nodes)), 6)


def starting_orders(fit: Fit, *, equal: bool) -> dict[str, IntArray]:
    """Return orders that cost next to nothing, bent to what is known.

    With equal variances the search adds an order of its own, in layers, and beside it the order by
    conditional variance is enough: orders that ignore the scale never ended at a better score, and
    their searches take long. The conditional variances need rows: with few of them this order is
    left out, and with fewer rows than nodes it is the order by variance instead.
    """
    S, n = fit.seen.S, fit.seen.n_samples
    before = precedence(fit.masks.allowed, fit.masks.required)
    if equal and n < len(S):
        return {"variance": consistent_order(np.argsort(np.diag(S), kind="stable"), before)}
    if equal and n < _ROWS_PER_NODE * len(S):
        return {}
    starts = {"conditional-variance": conditional_variance_order(S, before=before)}
    if equal:
        return starts
    starts["r2"] = r2_order(S, n_samples=n, before=before)
    return starts | _random_orders(fit, range(1, _RANDOM_STARTS + 1))


def further_starts(fit: Fit) -> dict[str, IntArray]:
    """Return random orders that no first search starts from."""
    return _random_orders(fit, range(_RANDOM_STARTS + 1, 2 * _RANDOM_STARTS + 1))


def _random_orders(fit: Fit, numbers: range) -> dict[str, IntArray]:
    S, before = fit.seen.S, precedence(fit.masks.allowed, fit.masks.required)
    seeds = {f"random-{number}": [fit.options.seed, number] for number in numbers}
    return {
        label: random_order(S, np.random.default_rng(seed), before=before)
        for label, seed in seeds.items()
    }


def refine(
    fit: Fit, loss: LossTraits, starts: dict[str, IntArray], *, again: bool = False
) -> tuple[Finished, SearchRecord]:
    """Search with the score that belongs to the loss, from `starts` and from cheap orders.

    A search that is made again has had its cheap orders, and goes on with other random numbers.
    """
    # Compiled code: imported when it is used, so that importing the package stays cheap.
    from analyticdag.search import search_orders

    options, masks, statistics = fit.options, fit.masks, fit.statistics
    assert loss.score is not None
    gamma = options.gamma
    if gamma is None and loss.score == "unequal":
        gamma = rule_of_gamma(len(statistics.S))
    best = search_orders(
        statistics.S,
        statistics.n_samples,
        score=loss.score,
        gamma=gamma,
        allowed=masks.allowed,
        required=masks.required,
        max_parents=masks.max_parents,
        moments=statistics.moments,
        starts=starts if again else starts | starting_orders(fit, equal=loss.score == "equal"),
        random_state=options.seed + again,
        n_jobs=options.n_jobs,
        progress=logger.info if options.verbose else None,
    )
    record = SearchRecord(
        loss=loss.name,
        score=float(best.score),
        start=best.start,
        price=best.price,
        gamma=_gamma_of(best.price, statistics),
        contributions=tuple(asdict(c) for c in best.contributions),
    )
    adjacency = (best.weights != 0.0) | masks.required
    return Finished(best.weights, adjacency), record
