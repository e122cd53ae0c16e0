"""Tables of discrete columns alone: parents that act together, found by counts.

    counts_instead(fit, graph)      the graph by counts, where it describes the table in fewer words

Both other readings add up what each parent does (`fitting/design.py`). Where parents act together,
what the sum leaves out is bought as further edges. By counts every combination of parents has
shares of its own (`search/counts.py`); that takes more rows, and misses what the others find where
effects do add up. So both are searched, and the shorter description of the table is taken:

    by counts       the score of its graph
    additive        -2 log likelihood + k log(n/2π) + naming of parents, of the graph of the others,
                    every node by multinomial logistic equations with k coefficients in all

k log(n/2π) is the leading term of what shares cost by counts. On own tables of 8 to 20 columns and
300 to 10,000 rows, the right one was taken in 67 of 70 (docs/design/categories.md).
"""

from __future__ import annotations

import logging
import math
from dataclasses import asdict

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.design import Reading
from analyticdag.fitting.facts import facts_of
from analyticdag.fitting.finish import Finished
from analyticdag.graphs import topological_order
from analyticdag.linear.misfit import LEAST_BESIDE_LEVELS
from analyticdag.linear.prepare import Fit
from analyticdag.linear.readings import Read
from analyticdag.linear.refine import SearchTable, starting_orders
from analyticdag.losses import UnequalVariances
from analyticdag.optimize.trace import SearchRecord
from analyticdag.search.counts import MOST_LEVELS, LevelCounts, search_counts
from analyticdag.tables.recipe import COUNTS, LEVELS

logger = logging.getLogger(__name__)

# Only rows without gaps are counted, and not where more than a fifth have some. Of more rows than
# memory holds it is the sample of at most 100,000 that is counted (`fitting/rows.py`).
_COMPLETE = 0.8
# The logistic equations: a ridge so small that it matters only where a level never comes with
# another, and the change of the likelihood at which they are solved.
_RIDGE, _SOLVED, _STEPS = 1e-2, 1e-3, 50


def counts_instead(fit: Fit, additive: BoolArray) -> Read | None:
    """Search by counts; None where that cannot be, or the graph of additive effects is shorter.

    After Ctrl-C in that search, the graph of additive effects is not thrown away:
    KeyboardInterrupt.
    """
    counts = _counts(fit)
    if counts is None:
        return None
    table, options = SearchTable.of(fit), fit.options
    starts = {"additive": table.start(topological_order(additive))}
    starts |= starting_orders(table, equal=False)
    least = LEAST_BESIDE_LEVELS if options.min_effect is None else options.min_effect
    found = search_counts(
        counts.in_order(table.order),
        starts=starts,
        gamma="auto" if options.gamma is None else options.gamma,
        min_effect=least,
        effort=options.effort,
        **vars(table.masks),  # allowed, required, max_parents
        random_state=table.seed,
        n_jobs=options.n_jobs,
        progress=logger.info if options.verbose else None,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    margin = additive_length(counts, additive, found.price - counts.single) - found.score
    if margin <= 0.0:
        return None
    record = SearchRecord(
        loss=UnequalVariances.traits.name,
        score=found.score,
        start=found.start,
        price=found.price,
        gamma=found.gamma,
        min_effect=round(least, 6),
        returns=found.returns,
        contributions=tuple(asdict(c) for c in found.contributions),
    )
    adjacency = table.back_matrix(found.adjacency) | fit.masks.required
    levels = next(one for one in fit.readings if one.name == LEVELS)
    reading = Reading(COUNTS, levels.design, levels.moments, counts=counts)
    why = f"discrete columns by counts, better by {margin:.1f} than effects that add up"
    return Read(Finished(adjacency.astype(np.float64), adjacency), record, reading, why)


def _counts(fit: Fit) -> LevelCounts | None:
    """Return the counts of a table in which every column is discrete; None of any other."""
    facts, design = facts_of(fit.plain or fit.statistics), fit.design
    if design is None or facts is None or not facts.has_rows:
        return None
    if fit.options.traits.score not in (None, "unequal"):
        return None  # the loss reads scales, which levels do not have
    if not (design.discrete | fit.statistics.constant).all():
        return None
    return facts.ask(_counted)


def _counted(values: FloatArray, weights: FloatArray | None) -> LevelCounts | None:
    """Count rows without gaps; None where there are too few of them, or too many levels."""
    rows = values[~np.isnan(values).any(axis=1)]
    if weights is not None or len(rows) < max(_COMPLETE * len(values), 2):
        return None
    levels = [np.unique(column, return_inverse=True)[1] for column in rows.T]
    if max(int(one.max()) for one in levels) >= MOST_LEVELS:
        return None
    return LevelCounts.of(np.column_stack(levels))


def additive_length(counts: LevelCounts, graph: BoolArray, naming: float) -> float:
    """Return the description length of a table by equations in which effects add up."""
    price, total = math.log(max(counts.n_samples / (2.0 * math.pi), 1.0)), 0.0
    for j in range(len(graph)):
        parents = np.flatnonzero(graph[:, j])
        coefficients, misfit = _additive(counts, j, parents)
        total += misfit + price * coefficients + naming * len(parents)
    return total


def _additive(counts: LevelCounts, node: int, parents: IntArray) -> tuple[int, float]:
    """Return how many coefficients a node's logistic equations have, and -2 log likelihood."""
    rows, table = counts.table(node, parents)
    columns = [np.ones(len(table))]
    for p in parents.tolist():
        others = range(1, int(counts.levels[p]))
        columns += [(counts.X[p, rows] == level).astype(np.float64) for level in others]
    F = np.column_stack(columns)
    return F.shape[1] * (table.shape[1] - 1), _logistic_misfit(F, table.astype(np.float64))


def _logistic_misfit(F: FloatArray, table: FloatArray) -> float:
    """Return -2 log likelihood of counts [row, level], by Newton's method."""
    m, K = F.shape[1], table.shape[1] - 1
    B, total = np.zeros((m, K)), table.sum(axis=1)
    misfit, shares = _misfit(F, table, total, B)
    for _ in range(_STEPS):
        slope = F.T @ (total[:, None] * shares - table[:, 1:]) + _RIDGE * B
        curve = np.zeros((m, K, m, K))
        for a in range(K):
            for b in range(K):
                weight = total * shares[:, a] * ((a == b) - shares[:, b])
                curve[:, a, :, b] = (F * weight[:, None]).T @ F
        H = curve.reshape(m * K, m * K) + _RIDGE * np.eye(m * K)
        step, size = np.linalg.solve(H, slope.ravel()).reshape(m, K), 1.0
        reached, shares = _misfit(F, table, total, B - step)
        while reached > misfit and size > _SOLVED:
            size /= 2.0
            reached, shares = _misfit(F, table, total, B - size * step)
        B = B - size * step
        if misfit - reached < _SOLVED:
            break
        misfit = reached
    return 2.0 * reached


def _misfit(
    F: FloatArray, table: FloatArray, total: FloatArray, B: FloatArray
) -> tuple[float, FloatArray]:
    """Return -log likelihood with the ridge, and the shares of all levels but the first."""
    logits = np.column_stack([np.zeros(len(F)), F @ B])
    logits -= logits.max(axis=1, keepdims=True)
    size = np.log(np.exp(logits).sum(axis=1))
    misfit = float(total @ size - np.sum(table * logits) + 0.5 * _RIDGE * np.sum(B * B))
    return misfit, np.exp(logits - size[:, None])[:, 1:]
