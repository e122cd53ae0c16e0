"""What a linear fit knows about every edge: weight, strength, direction, probability.

An edge between columns has the weight of least squares on all columns of the parents, in the units
of the table: of a yes/no target, the change of its share. An edge of a category has many
coefficients; they are its *parts*, and its weight is its *strength* in standard units,

    sqrt(1 - det(S_jj given all parents) / det(S_jj given the others)),

between 0 and 1; between columns that is the size of the partial correlation. In a graph by counts
every edge has a strength, sqrt(1 - exp(-gain/n)), with what -2 log likelihood gains by it. It shows
what parents do together; the parts, which are slopes of additive equations, leave that out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from analyticdag._redundant import NOTHING_REDUNDANT
from analyticdag._typing import BinaryArray, BoolArray, FloatArray
from analyticdag.effects.levels import LevelColumns, level_names
from analyticdag.fitting.design import Design, Reading
from analyticdag.fitting.edges import (
    NEAR,
    Edge,
    FixedBy,
    Strength,
    between_tied,
    directions,
    edge_strength,
    edge_table,
    near_border,
)
from analyticdag.fitting.facts import facts_of
from analyticdag.least_squares import block_log_det, block_slopes, weights_on_parents
from analyticdag.linear.learn import Learned
from analyticdag.linear.prepare import Fit
from analyticdag.moments import Moments
from analyticdag.search.price import as_single
from analyticdag.tables.recipe import LEVELS, Recipe

Parts: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False)
class MixedEdges:
    """Weights [i, j], strengths, and the parts of edges that have such, by source and target."""

    weights: FloatArray
    strengths: FloatArray
    parts: dict[tuple[int, int], Parts]

    def by_counts(self, strengths: FloatArray) -> MixedEdges:
        """Return them with strengths by counts for weights; what was a weight is a part."""
        edges = zip(*np.nonzero(self.weights), strict=True)
        alone = {(int(i), int(j)): (("on average", float(self.weights[i, j])),) for i, j in edges}
        return MixedEdges(strengths, strengths, alone | self.parts)


@dataclass(frozen=True, eq=False)
class Described:
    """What a fit says about its edges: weights, slopes of the equations, errors, parts, and which
    are near the border (None: as the search's own moments say)."""

    weights: FloatArray
    slopes: FloatArray
    strength: Strength
    parts: dict[tuple[int, int], Parts]
    near: BoolArray | None = None
    columns: LevelColumns | None = None  # of a table with categories


def describe(fit: Fit, learned: Learned, recipe: Recipe | None) -> Described:
    """Describe the edges on the rows as they are."""
    statistics, adjacency = fit.plain, learned.finished.adjacency
    strength = edge_strength(statistics.moments, adjacency)
    if learned.reading is None and not (fit.statistics.ranks and fit.options.refine):
        W = learned.finished.weights
        return Described(W, W, strength, {})
    W = weights_on_parents(statistics.moments, adjacency)
    design = fit.design
    if design is None or learned.reading is None:
        return Described(W, W, strength, {})
    levels = _levels(fit, design)
    found = mixed_edges(design, levels, adjacency, _labels(design, recipe))
    if learned.counts is not None:
        found = found.by_counts(learned.counts.strengths(adjacency))
    near = _near(learned.reading, adjacency, learned.price)
    weights = np.array(found.weights)
    for i, j in np.argwhere(adjacency).tolist():
        if (i, j) not in found.parts:
            weights[i, j] *= statistics.scale[i] / statistics.scale[j]
    strength = _strength(design, levels, adjacency, found, statistics.scale)
    columns = _columns(design, levels, recipe) if design.is_block.any() else None
    return Described(weights, W, strength, found.parts, near, columns)


def _levels(fit: Fit, design: Design) -> Moments:
    """Return the moments of all columns, of values and not of ranks."""
    facts = facts_of(fit.plain) if fit.statistics.ranks else None
    if facts is not None:
        return design.by_levels(facts)
    return next(one for one in fit.readings if one.name == LEVELS).moments


def _columns(design: Design, levels: Moments, recipe: Recipe | None) -> LevelColumns:
    """Return the columns of all nodes, with the codes of their levels, the reference last."""
    codes: list[tuple[float, ...]] = [()] * len(design.sizes)
    for k in np.flatnonzero(design.is_block & ~np.isnan(design.references)).tolist():
        own = design.levels[design.columns_of(k)]
        codes[k] = (*own.tolist(), float(design.references[k]))
    found = tuple(codes)
    return LevelColumns(design.sizes, levels, level_names(found, recipe), found)


def _labels(design: Design, recipe: Recipe | None) -> tuple[tuple[str, ...], ...]:
    """Return the levels that the columns of each category stand for; nothing for others."""
    codes = tuple(
        tuple(design.levels[design.columns_of(k)].tolist()) if is_block else ()
        for k, is_block in enumerate(design.is_block.tolist())
    )
    return level_names(codes, recipe)


def _strength(
    design: Design, levels: Moments, adjacency: BoolArray, found: MixedEdges, scale: FloatArray
) -> Strength:
    """Return strengths given all columns of the other parents; a category has no standard error."""
    strength = edge_strength(levels, adjacency[np.ix_(design.node, design.node)])
    places = np.ix_(design.first, design.first)
    error = strength.standard_error.toarray()[places] * scale[:, None] / scale
    partial = strength.partial_correlation.toarray()[places]
    for edge in found.parts:
        error[edge], partial[edge] = np.nan, found.strengths[edge]
    return Strength(error, partial)


def _near(reading: Reading, adjacency: BoolArray, price: float) -> BoolArray:
    """Return the edges within two standard errors of being dropped, as the reading sees them."""
    near: BoolArray = np.sqrt(_single_gains(reading, adjacency)) - np.sqrt(price) < NEAR
    return near | ~adjacency


def _single_gains(reading: Reading, adjacency: BoolArray) -> FloatArray:
    """Return what edges explain, as gains of single columns that accidents exceed as rarely."""
    if reading.counts is not None:
        return reading.counts.single_gains(adjacency)
    design = reading.design
    strengths = mixed_edges(design, reading.moments, adjacency, ((),) * len(adjacency)).strengths
    n = reading.moments.samples_of[design.first]
    gains = -n * np.log1p(-(np.minimum(strengths, 1.0 - 1e-15) ** 2))
    return as_single(gains, np.outer(design.sizes, design.sizes))


def mixed_edges(
    design: Design, moments: Moments, adjacency: BoolArray, labels: tuple[tuple[str, ...], ...]
) -> MixedEdges:
    """Regress every node on its parents; `moments` are those of the columns of the design.

    `labels` are the levels that the columns of each category stand for.
    """
    weights, strengths = np.zeros(adjacency.shape), np.zeros(adjacency.shape)
    parts: dict[tuple[int, int], Parts] = {}
    block = design.is_block
    for j in np.flatnonzero(adjacency.any(axis=0)).tolist():
        parents = np.flatnonzero(adjacency[:, j])
        own, others = design.columns_of(j), design.columns_of(*parents)
        S = moments.covariance_of(int(own[0]))
        found = block_slopes(S, others, own)
        whole = block_log_det(S, own, others)
        for i in parents.tolist():
            mine = design.node[others] == i
            rise = block_log_det(S, own, others[~mine]) - whole
            strengths[i, j] = np.sqrt(-np.expm1(-max(rise, 0.0)))
            coefficients = found[mine]
            if block[i] or block[j]:
                weights[i, j] = strengths[i, j]
                parts[i, j] = _parts(coefficients, labels[i], labels[j])
            else:
                weights[i, j] = coefficients[0, 0]
    return MixedEdges(weights, strengths, parts)


def _parts(coefficients: FloatArray, sources: tuple[str, ...], targets: tuple[str, ...]) -> Parts:
    return tuple(
        (" to ".join(filter(None, (source, target))), float(coefficients[a, b]))
        for a, source in enumerate(sources or ("",))
        for b, target in enumerate(targets or ("",))
    )


def edges_of(
    fit: Fit, learned: Learned, described: Described, cpdag: BinaryArray
) -> tuple[Edge, ...]:
    """Return what is known about every edge."""
    names, adjacency = fit.statistics.names, learned.finished.adjacency
    moments, W = fit.statistics.moments, described.weights
    shaped, otherwise = learned.shaped, FixedBy(learned.loss.fixed_by)
    by_shape = shaped.known if shaped else None
    fixed = directions(adjacency, cpdag, fit.known.allowed, otherwise, by_shape)
    redundant = fit.statistics.redundant
    if redundant != NOTHING_REDUNDANT:
        fixed = between_tied(fixed, redundant.tied(len(names)))
    near, strength = described.near, described.strength
    if near is None:
        searched, n = edge_strength(moments, adjacency), moments.samples_of
        near = near_border(W, searched, n, threshold=learned.w_threshold, price=learned.price)
    if learned.loss.binary:
        # Log-odds, for instance: the error of a linear slope would be on another scale.
        strength = replace(strength, standard_error=np.full_like(W, np.nan))
    margins = shaped.turned | shaped.margins if shaped else {}
    return edge_table(names, W, strength, fixed, near, margins, described.parts)
