"""Tables of discrete columns alone: parents that act together, found by counts.

    counts_instead(fit, graph)      the graph by counts, where it describes the table in fewer words

Both other readings add up what each parent does (`fitting/design.py`). Where parents act together,
what the sum leaves out is bought as further edges. By counts every combination of parents has
shares of its own (`search/counts.py`); that takes more rows, and misses what the others find where
effects do add up. So both are searched, and the shorter description of the table is taken:

    by counts       the score of its graph
    additive        -2 log likelihood + k log(n/2π) + naming of parents, of the graph of the others,
                    every node by logistic equations with k coefficients in all: for each level,
                    or for scores of the levels, whichever is shorter

k log(n/2π) is the leading term of what shares cost by counts. On own tables of 8 to 20 columns and
300 to 10,000 rows, the right one was taken in 67 of 70 (docs/design/categories.md).
"""

from __future__ import annotations

import logging
import math
import warnings
from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import DataWarning
from analyticdag.fitting.design import Design, Reading
from analyticdag.fitting.facts import facts_of
from analyticdag.graphs import topological_order
from analyticdag.linear.misfit import LEAST_BESIDE_LEVELS
from analyticdag.linear.prepare import Fit
from analyticdag.linear.readings import Read, read_of
from analyticdag.linear.refine import SearchTable, starting_orders
from analyticdag.search.counts import LevelCounts, search_counts
from analyticdag.tables.categories import MOST_LEVELS
from analyticdag.tables.recipe import COUNTS, LEVELS

logger = logging.getLogger(__name__)

# Only rows without gaps are counted, and not where more than a fifth have some. Of more rows than
# memory holds it is the sample of at most 100,000 that is counted (`fitting/rows.py`). With fewer
# than 100 rows accidents are bought: 27 edges in six tables of 60 rows and ten independent columns.
_COMPLETE, _ROWS = 0.8, 100
# A description that is shorter by less is no shorter: without edges both are the same.
_LEAST_MARGIN = 1.0
# Equations with more coefficients take longer than all else.
_MOST_COEFFICIENTS = 200
# The ridge of the logistic equations, the change of the likelihood at which they are solved, and
# the steps that this takes at most (usual are six).
_RIDGE, _SOLVED, _STEPS = 1e-2, 1e-3, 50


def counts_instead(fit: Fit, additive: BoolArray) -> Read | None:
    """Search by counts; None where that cannot be, or the graph of additive effects is shorter.

    After Ctrl-C in that search, the graph of additive effects is not thrown away:
    KeyboardInterrupt.
    """
    counted = _counted(fit)
    if counted is None:
        return None
    counts, cuts = counted.counts, fit.readings[-1].design
    table, options = SearchTable.of(fit), fit.options
    starts = {"additive": table.start(topological_order(additive))}
    starts |= starting_orders(table, equal=False)
    least = LEAST_BESIDE_LEVELS if options.min_effect is None else options.min_effect
    found = search_counts(
        counts.in_order(table.order),
        starts=starts,
        price=options.price(counts.n_samples, len(table.order)),
        min_effect=least,
        effort=options.effort,
        masks=table.masks,
        random_state=table.seed,
        n_jobs=options.n_jobs,
        progress=logger.info if options.verbose else None,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    naming, scores = found.price - counts.single, counted.scores(cuts)
    margin = additive_length(counts, scores, additive, naming) - found.score
    if margin < _LEAST_MARGIN:
        return None
    if counted.n_left_out:
        warnings.warn(
            f"levels are counted in rows without gaps, and {counted.n_left_out} rows have some: "
            "if gaps come with certain levels, links, shares and effects may be off; fill the gaps",
            DataWarning,
            stacklevel=6,
        )
    levels = next(one for one in fit.readings if one.name == LEVELS)
    reading = Reading(
        COUNTS, levels.design, levels.moments, counts=counts, level_values=counted.values
    )
    why = f"discrete columns by counts, better by {margin:.1f} than effects that add up"
    return read_of(fit, table, found, least, reading, why)


@dataclass(frozen=True, eq=False)
class Counted:
    """What was counted, and the values that the levels of each column stand for."""

    counts: LevelCounts
    values: tuple[FloatArray, ...]
    n_left_out: int  # rows with gaps

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray | None) -> Counted | None:
        """Count rows without gaps; None where there are too few of them, or too many levels."""
        rows = values[~np.isnan(values).any(axis=1)]
        if weights is not None or len(rows) < max(_COMPLETE * len(values), _ROWS):
            return None
        found = [np.unique(column, return_inverse=True) for column in rows.T]
        if max(len(levels) for levels, _ in found) > MOST_LEVELS:
            return None
        counts = LevelCounts.of(np.column_stack([codes for _, codes in found]))
        return cls(counts, tuple(levels for levels, _ in found), len(values) - len(rows))

    def scores(self, design: Design) -> list[FloatArray | None]:
        """Return the scores of the levels of columns that are cuts; None of others."""
        cuts = [design.cuts.get(int(column)) for column in design.first]
        return [
            None if cut is None else cut.scored(levels)
            for cut, levels in zip(cuts, self.values, strict=True)
        ]


def _counted(fit: Fit) -> Counted | None:
    """Return the counts of a table in which every column is discrete; None of any other."""
    facts, design = facts_of(fit.plain), fit.design
    if design is None or facts is None or not facts.can_ask:
        return None
    if fit.options.traits.score == "equal":
        return None  # the loss reads scales, which levels do not have
    if not (design.discrete | fit.statistics.constant).all():
        return None
    return facts.ask(Counted.of)


def additive_length(
    counts: LevelCounts, scores: list[FloatArray | None], graph: BoolArray, naming: float
) -> float:
    """Return the description length of a table by equations in which effects add up.

    A node with parents has the shorter of two equations: a coefficient for each of its levels and
    each level of its parents, or, between columns with scores, one for each parent. One without
    parents, or with too many coefficients, is described by counts.
    """
    nothing: list[FloatArray | None] = [None] * len(scores)
    total = 0.0
    for j in range(len(graph)):
        parents = np.flatnonzero(graph[:, j])
        both = [_equation_length(counts, kind, j, parents) for kind in (nothing, scores)]
        lengths = [one for one in both if one is not None and len(parents)]
        by_counts = counts.misfit(j, parents) + counts.cost(j, parents)
        total += min(lengths, default=by_counts) + naming * len(parents)
    return total


def _equation_length(
    counts: LevelCounts, scores: list[FloatArray | None], node: int, parents: IntArray
) -> float | None:
    """Return the length of a node's logistic equations; None where they are too many."""
    rows, table = counts.table(node, parents)
    sides = [_side(counts.X[p, rows], counts.levels[p], scores[p]) for p in parents.tolist()]
    F = np.column_stack(sides) if sides else np.empty((len(rows), 0))
    own = _side(np.arange(table.shape[1]), counts.levels[node], scores[node])
    coefficients = table.shape[1] - 1 + own.shape[1] * F.shape[1]
    if coefficients > _MOST_COEFFICIENTS:
        return None
    price = math.log(max(counts.n_samples / (2.0 * math.pi), 1.0))
    return _logistic_misfit(F, own, table.astype(np.float64)) + price * coefficients


def _side(codes: IntArray, levels: int, score: FloatArray | None) -> FloatArray:
    """Return columns of a variable in an equation: its score, or each level but the first."""
    if score is not None:
        return score[codes][:, None]
    return (codes[:, None] == np.arange(1, levels)).astype(np.float64)


def _logistic_misfit(F: FloatArray, T: FloatArray, table: FloatArray) -> float:
    """Return -2 log likelihood of counts [row, level], by Newton's method.

    The log odds of level k in a row are a_k + T[k] B F[row], with coefficients a and B to be found.
    A ridge, far below what a row says, keeps them finite where a level never comes with another.
    """
    total, K = table.sum(axis=1), table.shape[1]
    # All coefficients as one vector: those of a act by a level each, those of B by columns of T.
    by_level = np.hstack([np.eye(K)[:, 1:], np.repeat(T, F.shape[1], axis=1)])
    by_row = np.hstack([np.ones((len(F), K - 1)), np.tile(F, (1, T.shape[1]))])
    b = np.zeros(by_level.shape[1])
    misfit, shares = _at(b, by_row, by_level, table, total)
    for _ in range(_STEPS):
        mean = shares @ by_level
        slope = by_row * ((table - total[:, None] * shares) @ by_level)
        curve = np.zeros((len(b), len(b)))
        for k in range(K):
            part = by_row * (by_level[k] - mean)
            curve += part.T @ (part * (total * shares[:, k])[:, None])
        step = np.linalg.solve(curve + _RIDGE * np.eye(len(b)), slope.sum(axis=0) - _RIDGE * b)
        size, (reached, after) = 1.0, _at(b + step, by_row, by_level, table, total)
        while reached > misfit and size > _SOLVED:
            size /= 2.0
            reached, after = _at(b + size * step, by_row, by_level, table, total)
        if misfit - reached < _SOLVED:
            break
        b, misfit, shares = b + size * step, reached, after
    return 2.0 * misfit


def _at(
    b: FloatArray, by_row: FloatArray, by_level: FloatArray, table: FloatArray, total: FloatArray
) -> tuple[float, FloatArray]:
    """Return -log likelihood with the ridge, and the shares of all levels in every row."""
    logits = (by_row * b) @ by_level.T
    logits -= logits.max(axis=1, keepdims=True)
    size = np.log(np.exp(logits).sum(axis=1))
    misfit = float(total @ size - np.sum(table * logits) + 0.5 * _RIDGE * (b @ b))
    return misfit, np.exp(logits - size[:, None])
