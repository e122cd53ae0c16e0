"""The order search of a fit: its starts, its score, and what it leaves in the trace."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Literal

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.finish import Finished
from analyticdag.fitting.statistics import Statistics
from analyticdag.knowledge import EdgeMasks
from analyticdag.linear.choice import UNEQUAL
from analyticdag.linear.options import Options
from analyticdag.linear.paths import path_statistics
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


def cheap_starts(
    statistics: Statistics, masks: EdgeMasks, seed: int, equal: bool
) -> dict[str, IntArray]:
    """Return orders that cost next to nothing, bent to what is known.

    With equal variances the order by conditional variance is enough beside the search's own, in
    layers: orders that do not look at the scale never beat them and take long to lose. Nor does
    that one where there are too few rows to condition on all nodes placed; with fewer rows than
    nodes the order by variance is worth a search.
    """
    S, n = statistics.S, statistics.n_samples
    before = precedence(masks.allowed, masks.required)
    if equal and n < len(S):
        return {"variance": consistent_order(np.argsort(np.diag(S), kind="stable"), before)}
    if equal and n < _ROWS_PER_NODE * len(S):
        return {}
    starts = {"conditional-variance": conditional_variance_order(S, before=before)}
    if equal:
        return starts
    starts["r2"] = r2_order(S, n_samples=n, before=before)
    return starts | _random_orders(S, before, seed, range(1, _RANDOM_STARTS + 1))


def further_starts(statistics: Statistics, masks: EdgeMasks, seed: int) -> dict[str, IntArray]:
    """Return random orders that no first search starts from."""
    before = precedence(masks.allowed, masks.required)
    numbers = range(_RANDOM_STARTS + 1, 2 * _RANDOM_STARTS + 1)
    return _random_orders(statistics.S, before, seed, numbers)


def _random_orders(
    S: FloatArray, before: BoolArray, seed: int, numbers: range
) -> dict[str, IntArray]:
    return {
        f"random-{number}": random_order(S, np.random.default_rng([seed, number]), before=before)
        for number in numbers
    }


def refine(
    statistics: Statistics,
    options: Options,
    masks: EdgeMasks,
    starts: dict[str, IntArray],
    loss: str,
    *,
    cheap: bool = True,
) -> tuple[Finished, SearchRecord]:
    """Search with the score that belongs to the loss, from `starts` and from cheap orders."""
    # Compiled code: imported when it is used, so that importing the package stays cheap.
    from analyticdag.search import search_orders

    score: Literal["unequal", "equal"] = "unequal" if loss == UNEQUAL else "equal"

    seen = path_statistics(statistics, options)
    if cheap:
        starts = starts | cheap_starts(seen, masks, options.seed, score == "equal")
    gamma = rule_of_gamma(len(seen.S)) if options.gamma is None and score == "unequal" else None
    best = search_orders(
        statistics.S,
        statistics.n_samples,
        score=score,
        gamma=gamma if options.gamma is None else options.gamma,
        allowed=masks.allowed,
        required=masks.required,
        max_parents=masks.max_parents,
        moments=statistics.moments,
        starts=starts,
        random_state=options.seed,
        n_jobs=options.n_jobs,
        progress=logger.info if options.verbose else None,
    )
    record = SearchRecord(
        loss=loss,
        score=float(best.score),
        start=best.start,
        price=best.price,
        gamma=_gamma_of(best.price, statistics),
        contributions=tuple(asdict(c) for c in best.contributions),
    )
    adjacency = (best.weights != 0.0) | masks.required
    return Finished(best.weights, adjacency), record
