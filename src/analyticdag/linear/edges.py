"""What a linear fit knows about every edge: strength, direction, probability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analyticdag._typing import BinaryArray
from analyticdag.fitting.edges import (
    Edge,
    FixedBy,
    directions,
    edge_strength,
    edge_table,
    near_border,
)
from analyticdag.linear.learn import Learned
from analyticdag.linear.mixed import Described
from analyticdag.linear.paths import Fit
from analyticdag.linear.probabilities import Probabilities, with_probabilities


def edges_of(
    fit: Fit,
    learned: Learned,
    mixed: Described,
    cpdag: BinaryArray,
    probable: Probabilities | None,
) -> tuple[Edge, ...]:
    """Return what is known about every edge."""
    names, adjacency = fit.statistics.names, learned.finished.adjacency
    moments, W = fit.statistics.moments, mixed.weights
    allowed = fit.options.knowledge.resolve(names).allowed
    shaped, otherwise = learned.shaped, FixedBy(learned.loss.fixed_by)
    fixed = directions(adjacency, cpdag, allowed, otherwise, shaped.known if shaped else None)
    price = learned.trace.edge_price(learned.loss.name)
    near, strength = mixed.near, mixed.strength
    if near is None:
        seen, n = edge_strength(moments, adjacency), moments.samples_of
        near = near_border(W, seen, n, threshold=learned.w_threshold, price=price)
    if learned.loss.binary:
        # Log-odds, for instance: the error of a linear slope would be on another scale.
        strength = replace(strength, standard_error=np.full_like(W, np.nan))
    margins = shaped.turned | shaped.margins if shaped else {}
    edges = edge_table(names, W, strength, fixed, near, margins, mixed.parts)
    return with_probabilities(edges, list(fixed), probable)
