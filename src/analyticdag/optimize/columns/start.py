"""Where the first stage starts: from nothing, or from parents chosen along the variances.

Effects collect the noise of their causes, so sorting by variance is a fair guess of the order as
long as the variables are on their own scale.
"""

from __future__ import annotations

import math

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.extended_bic import MODERATE, edge_price
from analyticdag.least_squares import weights_on_parents
from analyticdag.moments import Moments
from analyticdag.orders import precedence, variance_order

# What is left of a variance that is fully explained, as a share: its inverse is still a number.
_NOTHING = 1e-200
_COLLINEAR = 1e-9  # a candidate with less of its variance left than this is already explained


def starting_weights(
    S: FloatArray,
    n_samples: int,
    start: str = "variance",
    allowed: BoolArray | None = None,
    required: BoolArray | None = None,
) -> FloatArray:
    """Weights for the first stage: always a DAG, so inside the domain of every constraint.

    ``"zero"`` is W = 0. ``"variance"`` regresses each node on parents forward-selected among the
    nodes of smaller variance, required edges always and forbidden ones never among them.
    """
    d = len(S)
    if start == "zero":
        return np.zeros((d, d))
    if start != "variance":
        raise ParameterError(f"start must be 'zero' or 'variance', got {start!r}")
    allowed = np.ones((d, d), bool) if allowed is None else allowed
    required = np.zeros((d, d), bool) if required is None else required
    order = variance_order(S, before=precedence(allowed, required) if required.any() else None)
    price = edge_price(n_samples, d, MODERATE)
    graph = np.zeros((d, d), bool)
    for place, j in enumerate(order):
        before = order[:place]
        forced = before[required[before, j]]
        free = before[allowed[before, j] & ~required[before, j]]
        graph[forward_parents(S, j, forced, free, n_samples, price), j] = True
    return weights_on_parents(Moments.shared(S, n_samples), graph)


def forward_parents(
    S: FloatArray, j: int, forced: IntArray, free: IntArray, n_samples: int, price: float
) -> IntArray:
    """``forced`` and those of ``free`` that each lower n·log(residual variance) by ``price``."""
    candidates = np.concatenate([forced, free])
    own = S[candidates, candidates]
    left, cover, residual = own.copy(), S[candidates, j], float(S[j, j])
    chosen: list[int] = []
    directions: list[FloatArray] = []
    while len(chosen) < len(candidates):
        gains = np.divide(cover**2, left, where=left > _COLLINEAR * own, out=np.zeros(len(own)))
        k = len(chosen) if len(chosen) < len(forced) else int(gains.argmax())
        remaining = max(residual - gains[k], _NOTHING * residual)
        if len(chosen) >= len(forced) and n_samples * math.log(residual / remaining) <= price:
            break
        chosen.append(k)
        if gains[k] > 0:
            # Gram–Schmidt: the part of candidate k that the parents so far do not explain.
            direction = S[candidates[k], candidates]
            if directions:
                basis = np.array(directions)
                direction = direction - basis[:, k] @ basis
            direction = direction / math.sqrt(left[k])
            directions.append(direction)
            cover = cover - direction * (cover[k] / math.sqrt(left[k]))
            left = left - direction**2
            residual = remaining
        left[k] = 0.0
        if residual <= 1e-12 * S[j, j]:
            break
    return candidates[chosen]
