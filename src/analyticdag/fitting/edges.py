"""What is known about every edge: how strong it is, and what fixed its direction.

| fixed_by              | the edge points this way because                                       |
|-----------------------|------------------------------------------------------------------------|
| "knowledge"           | your knowledge rules out the other way, or implies this one            |
| "collider"            | it meets another edge at its target, and the two sources are not joined |
| "orientation rules"   | turned round, it would make a cycle or a collider that is not there    |
| "interventions"       | something was done to one of its ends and not to the other, or follows |
|                       | from that                                                              |
| "noise shape"         | the shapes of the noise clearly prefer it, or it follows from such an  |
|                       | edge                                                                   |
| "equal variances"     | only the assumption of equal noise variances prefers it                |
| "form of equations"   | only the assumed form of nonlinear equations prefers it                |
| "not fixed"           | nothing does: the reverse fits as well                                 |
| "identity"            | nothing does: its ends stand in an identity, as parts of a total, and  |
|                       | any edges among such columns fit as well                               |

Knowledge holds because you said so; the next three rows hold in every graph that fits the data
equally well. Strength is that of a least
squares regression of the target on its parents, whatever the path's penalty did to the weight.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from analyticdag._typing import BinaryArray, BoolArray, FloatArray, IntArray
from analyticdag.graphs import orient_with_knowledge, to_cpdag
from analyticdag.least_squares import regressions_of
from analyticdag.losses import VARIANCE_FLOOR
from analyticdag.moments import Moments

# An edge this many standard errors from the border could be lost in another sample.
NEAR = 2.0
# An arrow that is less likely is drawn as a line; from the second on one is called sure.
EVEN, SURE = 0.5, 0.9
_ROUNDING = 1e-15  # a correlation of one would have an infinite gain


class FixedBy(StrEnum):
    """What fixed the direction of an edge."""

    KNOWLEDGE = "knowledge"
    COLLIDER = "collider"
    ORIENTATION_RULES = "orientation rules"
    INTERVENTIONS = "interventions"
    NOISE_SHAPE = "noise shape"
    EQUAL_VARIANCES = "equal variances"
    EQUATIONS = "form of equations"
    NOTHING = "not fixed"
    IDENTITY = "identity"


# What holds in every graph that fits the covariances equally well.
FIXED_IN_CLASS = (FixedBy.COLLIDER, FixedBy.ORIENTATION_RULES, FixedBy.INTERVENTIONS)
FIXED_BY_DATA = (*FIXED_IN_CLASS, FixedBy.NOISE_SHAPE)
# What holds only if the assumption does.
ASSUMED = (FixedBy.EQUAL_VARIANCES, FixedBy.EQUATIONS)


def kind_of(fixed_by: str) -> str:
    """Return what a direction rests on: "data", "knowledge", "assumption" or nothing: "open"."""
    if fixed_by in FIXED_BY_DATA:
        return "data"
    if fixed_by in ASSUMED:
        return "assumption"
    return "knowledge" if fixed_by == FixedBy.KNOWLEDGE else "open"


def is_below(likely: float | None, border: float) -> bool:
    """Whether something is known to be less likely than a border, as it is shown."""
    return likely is not None and round(likely, 2) < border


def is_unlikely(fixed_by: str, likely: float | None) -> bool:
    """Whether the fit has an arrow that is less likely than not to be there this way round."""
    return fixed_by != FixedBy.KNOWLEDGE and is_below(likely, EVEN)


class Edge(NamedTuple):
    """One row of `edges_`.

    `partial_correlation` is given the other parents of the target, which for an open edge can be
    others in other members of the class; `standard_error` is NaN after the logistic loss.
    `near_threshold`: within two standard errors of being no edge. `stability`:
    the share of resamples that join the two columns; `direction_stability`: the share that join
    them and fix this direction. Both are None until a bootstrap was run. `probability`: how likely
    the two are joined at all; `direction_probability`: that they are joined this way, judged by the
    score and by how the rows agree with the model; None where no search was made, beyond some
    hundred columns, and between columns of an identity. The second is None, too, of an open
    direction, and of one that the shapes of the noise fixed, for which there is a `margin`.
    `enters_at`: the highest price on `ladder_` at
    which the two are joined; None until somebody asks for the ladder. `margin`: how clearly the
    shapes of the noise prefer this direction, in standard errors; None where they were not asked.
    `parts` are the coefficients of an edge of a category, level by level; its weight is a strength
    then.
    """

    source: Hashable
    target: Hashable
    weight: float
    standard_error: float
    partial_correlation: float
    fixed_by: FixedBy
    near_threshold: bool
    stability: float | None = None
    direction_stability: float | None = None
    probability: float | None = None
    direction_probability: float | None = None
    enters_at: float | None = None
    margin: float | None = None
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Strength:
    """Least squares on the parents, as (d, d) matrices, dense or sparse; zero without an edge."""

    standard_error: Any
    partial_correlation: Any


def edge_strength(moments: Moments, adjacency: BoolArray) -> Strength:
    """Regress every node on its parents and say how sure each coefficient is.

    With as many parents as rows nothing is left to judge by: the standard error is infinite.
    """
    found: list[tuple[Any, ...]] = []
    for one in regressions_of(moments, adjacency):
        nodes, k = one.nodes, one.parents.shape[1]
        own = moments.own_variances[nodes]
        left = np.maximum(own - one.explained, VARIANCE_FLOOR * own)
        # slope² against slope² + left·precision is the partial correlation squared: no rows needed.
        uncertain = left[:, None] * one.precisions
        unit = np.sqrt(np.maximum(uncertain, np.finfo(float).tiny))
        freedom = np.maximum(moments.samples_of[nodes] - k - 1, 0)
        with np.errstate(divide="ignore"):
            error = unit / np.sqrt(freedom)[:, None]
        children = np.broadcast_to(nodes[:, None], one.parents.shape)
        found.append((one.parents, children, error, one.slopes / np.hypot(one.slopes, unit)))
    empty = np.empty(0, dtype=np.int64)
    i, j, errors, partial = (
        np.concatenate([part[k].ravel() for part in found] or [empty]) for k in range(4)
    )
    return Strength(*(sparse.csr_array((of, (i, j)), adjacency.shape) for of in (errors, partial)))


def directions(
    adjacency: BoolArray,
    cpdag: BinaryArray,
    allowed: BoolArray,
    otherwise: FixedBy,
    shaped: BoolArray | None = None,
) -> dict[tuple[int, int], FixedBy]:
    """Return what fixed each edge; `allowed` is what knowledge alone permits.

    `cpdag` is the class of the graph, given the interventions if there were any; `shaped` is what
    knowledge and the shapes of the noise leave of it. What none of these fixes, the method did:
    `otherwise` says by what.
    """
    observed = to_cpdag(adjacency)
    known = orient_with_knowledge(cpdag, allowed) != 0
    colliders = _in_colliders(adjacency)
    fixed = {}
    for i, j in np.argwhere(adjacency).tolist():
        if not allowed[j, i]:
            fixed[i, j] = FixedBy.KNOWLEDGE
        elif not observed[j, i]:
            collider = colliders[i, j]
            fixed[i, j] = FixedBy.COLLIDER if collider else FixedBy.ORIENTATION_RULES
        elif not cpdag[j, i]:
            fixed[i, j] = FixedBy.INTERVENTIONS
        elif not known[j, i]:
            fixed[i, j] = FixedBy.KNOWLEDGE
        else:
            by_shape = shaped is not None and not shaped[j, i]
            fixed[i, j] = FixedBy.NOISE_SHAPE if by_shape else otherwise
    return fixed


def between_tied(
    fixed: dict[tuple[int, int], FixedBy], tied: BoolArray
) -> dict[tuple[int, int], FixedBy]:
    """Return what fixed each edge: between columns that determine each other, only knowledge."""
    return {
        edge: FixedBy.IDENTITY if tied[edge] and why is not FixedBy.KNOWLEDGE else why
        for edge, why in fixed.items()
    }


def _in_colliders(adjacency: BoolArray) -> BoolArray:
    """Return the edges i -> j beside some k -> j with i and k not joined."""
    apart = ~(adjacency | adjacency.T | np.eye(len(adjacency), dtype=bool))
    inside = np.zeros_like(adjacency)
    for j in np.flatnonzero(adjacency.sum(axis=0) > 1):
        parents = np.flatnonzero(adjacency[:, j])
        inside[parents, j] = apart[np.ix_(parents, parents)].any(axis=0)
    return inside


def near_border(
    weights: FloatArray, strength: Strength, n_samples: IntArray, *, threshold: float, price: float
) -> BoolArray:
    """Return the edges within two standard errors of being dropped; `n_samples` is by target.

    A path drops weights below `threshold`. A search (`price` above zero) drops an edge that gains
    less than its price; the square root of a gain, n·log 1/(1 - r²), has standard error one.
    """
    near = np.ones(weights.shape, dtype=bool)  # also an edge of no strength at all
    if price <= 0.0:
        error = sparse.coo_array(strength.standard_error)
        i, j = error.row, error.col
        near[i, j] = np.abs(weights[i, j]) - threshold < NEAR * error.data
        return near
    partial = sparse.coo_array(strength.partial_correlation)
    i, j = partial.row, partial.col
    r = np.minimum(np.abs(partial.data), 1.0 - _ROUNDING)
    near[i, j] = np.sqrt(-n_samples[j] * np.log1p(-(r**2))) - np.sqrt(price) < NEAR
    return near


def edge_table(
    names: Sequence[Hashable],
    weights: FloatArray,
    strength: Strength,
    fixed: dict[tuple[int, int], FixedBy],
    near: BoolArray,
    margins: Mapping[tuple[int, int], float] = MappingProxyType({}),
    parts: Mapping[tuple[int, int], tuple[tuple[str, float], ...]] | None = None,
) -> tuple[Edge, ...]:
    """Return the edges by name, in the order of the columns."""
    of_blocks = parts or {}
    i, j = np.array(list(fixed), np.int64).reshape(-1, 2).T
    errors, partial = strength.standard_error[i, j], strength.partial_correlation[i, j]
    numbers = zip(weights[i, j].tolist(), _dense(errors), _dense(partial), strict=True)
    return tuple(
        Edge(
            source=names[pair[0]],
            target=names[pair[1]],
            weight=weight,
            standard_error=error,
            partial_correlation=correlation,
            fixed_by=reason,
            near_threshold=bool(near[pair]),
            margin=margins.get(pair),
            parts=of_blocks.get(pair, ()),
        )
        for (pair, reason), (weight, error, correlation) in zip(fixed.items(), numbers, strict=True)
    )


def _dense(entries: Any) -> list[float]:
    """Return entries that were picked from a dense or a sparse matrix."""
    picked = entries.toarray() if sparse.issparse(entries) else np.asarray(entries)
    return [float(entry) for entry in picked.ravel()]
