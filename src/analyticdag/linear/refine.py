"""The order search of a fit: its starts, its score, and what it leaves in the trace."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Literal

import numpy as np

from analyticdag._typing import IntArray
from analyticdag.knowledge import Constraints
from analyticdag.linear.choice import UNEQUAL
from analyticdag.linear.finish import Finished
from analyticdag.linear.options import Options
from analyticdag.linear.paths import path_statistics
from analyticdag.linear.statistics import Statistics
from analyticdag.optimize.trace import SearchRecord
from analyticdag.orders import conditional_variance_order, precedence, r2_order, random_order

logger = logging.getLogger(__name__)

_RANDOM_STARTS = 2
# Conditional variances need this many rows for each node.
_ROWS_PER_NODE = 2


def cheap_starts(
    statistics: Statistics, constraints: Constraints, seed: int, equal: bool
) -> dict[str, IntArray]:
    """Return orders that cost next to nothing, bent to what is known.

    With equal variances the order by conditional variance is enough beside the search's own, in
    layers: orders that do not look at the scale never beat them and take long to lose. Nor does
    that one where there are too few rows to condition on all nodes placed.
    """
    S, n = statistics.S, statistics.n_samples
    before = precedence(constraints.allowed, constraints.required)
    if equal and n < _ROWS_PER_NODE * len(S):
        return {}
    starts = {"conditional-variance": conditional_variance_order(S, before=before)}
    if equal:
        return starts
    starts["r2"] = r2_order(S, n_samples=n, before=before)
    for number in range(1, _RANDOM_STARTS + 1):
        rng = np.random.default_rng([seed, number])
        starts[f"random-{number}"] = random_order(S, rng, before=before)
    return starts


def refine(
    statistics: Statistics,
    options: Options,
    constraints: Constraints,
    starts: dict[str, IntArray],
    loss: str,
) -> tuple[Finished, SearchRecord]:
    """Search with the score that belongs to the loss, from `starts` and from cheap orders."""
    # Compiled code: imported when it is used, so that importing the package stays cheap.
    from analyticdag.search import search_orders

    score: Literal["unequal", "equal"] = "unequal" if loss == UNEQUAL else "equal"

    seen = path_statistics(statistics, options)
    starts = starts | cheap_starts(seen, constraints, options.seed, score == "equal")
    best = search_orders(
        statistics.S,
        statistics.n_samples,
        score=score,
        allowed=constraints.allowed,
        required=constraints.required,
        max_parents=constraints.max_parents,
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
        contributions=tuple(asdict(c) for c in best.contributions),
    )
    adjacency = (best.weights != 0.0) | constraints.required
    return Finished(best.weights, adjacency), record
