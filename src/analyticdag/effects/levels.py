"""Equations of a table with categories, and what they say about its levels.

A category is a column for each level but the most frequent, the *reference*: one where a row has
the level, zero elsewhere. Equations are linear between all columns, so on such a column a
coefficient is a change of the share of its level. The columns of one category are joined among
themselves, each with those before it as further parents, so that whatever they have in common is
kept; errors of effects then follow as they do for numbers (`equations.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.effects.equations import Equations
from analyticdag.fitting.statistics import moments_of
from analyticdag.graphs import topological_order
from analyticdag.least_squares import NodeColumns
from analyticdag.moments import Moments
from analyticdag.tables.recipe import Recipe


@dataclass(frozen=True, eq=False)
class LevelColumns(NodeColumns):
    """The columns of all nodes, node after node: their moments in the units of the table.

    `labels` are the levels that the columns of each category stand for, the reference last; empty
    for a node that is a number. `codes` are the values of these levels in a table of numbers.
    """

    moments: Moments
    labels: tuple[tuple[str, ...], ...]
    codes: tuple[tuple[float, ...], ...]

    @classmethod
    def of_rows(cls, values: FloatArray, recipe: Recipe | None) -> LevelColumns | None:
        """Return the columns of a table with categories; None of any other."""
        taken = () if recipe is None else tuple(one for one in recipe.columns if one.taken)
        codes = tuple(
            _by_rows(column.scores, own) for column, own in zip(taken, values.T, strict=False)
        )
        if not any(codes):
            return None
        sizes = np.array([max(len(own) - 1, 1) for own in codes])
        labels = level_names(codes, recipe)
        nothing = Moments.shared(np.eye(int(sizes.sum())), len(values))
        rows = cls(sizes, nothing, labels, codes).expanded(values)
        return cls(sizes, moments_of(rows), labels, codes)

    @property
    def is_category(self) -> BoolArray:
        """Which nodes are categories."""
        return np.array([bool(labels) for labels in self.labels])

    @property
    def sd(self) -> FloatArray:
        """Standard deviations of the columns; one for constants."""
        own = np.sqrt(np.diag(self.moments.S))
        return np.where(own > 0.0, own, 1.0)

    def joined(self, graph: BoolArray) -> BoolArray:
        """Return the edges between columns, for a graph of the nodes."""
        node = self.node
        within = (node[:, None] == node) & np.triu(np.ones((len(node),) * 2, dtype=bool), 1)
        edges: BoolArray = graph[np.ix_(node, node)] | within
        return edges

    def expanded(self, values: FloatArray) -> FloatArray:
        """Return rows of the table with a column for each level, the closest of which is taken.

        Gaps stay gaps.
        """
        columns = []
        for k, own in enumerate(self.codes):
            rows = values[:, [k]]
            if own:
                closest = np.abs(rows - np.array(own)).argmin(axis=1)
                rows = np.where(np.isnan(rows), np.nan, closest[:, None] == np.arange(len(own) - 1))
            columns.append(rows)
        return np.column_stack(columns).astype(np.float64)


@dataclass(frozen=True, eq=False)
class LevelEquations(Equations):
    """Equations of a DAG with categories; for its numbers they answer as any others do.

    Entries of categories stand for the first of their columns: ask `columns` for these.
    """

    levels: LevelColumns

    @cached_property
    def columns(self) -> Equations:
        """The equations between all columns, in standard units."""
        levels = self.levels
        return Equations(levels.joined(self.graph), levels.moments.scaled(levels.sd))

    @cached_property
    def weights(self) -> FloatArray:
        """Coefficients of numbers on numbers."""
        return self._of_nodes(self.columns.weights)

    @cached_property
    def paths(self) -> FloatArray:
        """Total effects of numbers on numbers, through categories too."""
        return self._of_nodes(self.columns.paths)

    @cached_property
    def variances(self) -> FloatArray:
        """Noise variances."""
        return self.columns.variances[self.levels.first]

    @cached_property
    def freedom(self) -> IntArray:
        """Degrees of freedom left in the regression of each node."""
        return self.columns.freedom[self.levels.first]

    def without_causes_of(self, nodes: object) -> LevelEquations:
        """Return the equations once these nodes are set from outside."""
        return replace(self, graph=super().without_causes_of(nodes).graph)  # type: ignore[arg-type]

    def _standard_errors(self, cause: int) -> FloatArray:
        first = self.levels.first
        return self.columns.standard_errors(int(first[cause]))[first]

    def level_values(self, cause: int, outcome: int) -> FloatArray:
        """Return effects (levels of the cause but its reference, levels of the outcome)."""
        levels = self.levels
        own, other = levels.columns_of(cause), levels.columns_of(outcome)
        units = levels.sd[other] / levels.sd[own, None]
        values = self.set(cause).paths[np.ix_(own, other)] * units
        if levels.labels[outcome]:  # the reference loses what the others gain
            values = np.column_stack([values, 0.0 - values.sum(axis=1)])
        return values

    def level_table(self, cause: int, outcome: int, level: float) -> tuple[FloatArray, ...]:
        """Return the same and both ends of their intervals."""
        levels, cut = self.levels, self.set(cause)
        causes, outcomes = levels.columns_of(cause), list(levels.columns_of(outcome)[:, None])
        if levels.labels[outcome]:
            outcomes.append(levels.columns_of(outcome))  # the reference loses what the others gain
        found = np.array([[_one(cut, levels, int(a), b, level) for b in outcomes] for a in causes])
        values, lows, highs = (found[:, :, k] for k in range(3))
        if levels.labels[outcome]:
            values[:, -1] = 0.0 - values[:, -1]
            lows[:, -1], highs[:, -1] = 0.0 - highs[:, -1], 0.0 - lows[:, -1]
        return values, lows, highs

    def distributions(
        self, setting: Mapping[int, float], level: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, sd, and the range of the values of every column, in units of the table;
        `setting` says to what columns are set."""
        cut = self.columns.without_causes_of(setting)
        means, sd, units = self.levels.moments.means[0], self.levels.sd, self._in_units(setting)
        mean = means.copy()
        if setting:
            mean = means + np.array(list(units.values())) @ cut.paths[list(units)] * sd
        variances = cut.variances.copy()
        variances[list(setting)] = 0.0
        spread = np.sqrt(variances @ cut.paths**2) * sd
        half = float(special.ndtri(0.5 + level / 2.0)) * spread
        return mean, spread, mean - half, mean + half

    def draw(
        self,
        setting: Mapping[int, float],
        n: int,
        rng: np.random.Generator,
        by_share: Sequence[bool],
    ) -> FloatArray:
        """Draw n rows of all columns, in units of the table; nodes `by_share` by their levels."""
        levels, columns, units = self.levels, self.columns, self._in_units(setting)
        rows = np.zeros((n, len(columns.graph)))
        for node in topological_order(self.graph).tolist():
            own = levels.columns_of(node)
            if own[0] in units:
                rows[:, own] = [units[column] for column in own.tolist()]
            elif by_share[node]:
                rows[:, own] = self._drawn_level(rows, own, rng)
            else:
                noise = rng.standard_normal(n) * np.sqrt(columns.variances[own[0]])
                rows[:, own[0]] = rows @ columns.weights[:, own[0]] + noise
        return rows * levels.sd + levels.moments.means[0]

    def _in_units(self, setting: Mapping[int, float]) -> dict[int, float]:
        """Return what columns are set to in standard units."""
        means, sd = self.levels.moments.means[0], self.levels.sd
        return {k: (amount - float(means[k])) / float(sd[k]) for k, amount in setting.items()}

    def _drawn_level(self, rows: FloatArray, own: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return the columns of a node, in standard units, for levels drawn by their shares."""
        means, sd = self.levels.moments.means[0][own], self.levels.sd[own]
        shares = shares_of(rows @ from_outside(self.columns.weights, own) * sd + means)
        place = drawn_levels(shares, len(rows), rng)
        unit: FloatArray = ((place[:, None] == np.arange(len(own))) - means) / sd
        return unit

    def expected(self, values: FloatArray) -> FloatArray:
        """Return what the causes of each node make of its columns, row by row."""
        levels, equations = self.levels, self.columns
        means, sd = levels.moments.means[0], levels.sd
        rows = (levels.expanded(values) - means) / sd
        found = np.empty(rows.shape)
        for k in range(len(levels.sizes)):
            own = levels.columns_of(k)
            found[:, own] = rows @ from_outside(equations.weights, own) * sd[own] + means[own]
        return found

    def _of_nodes(self, matrix: FloatArray) -> FloatArray:
        first = self.levels.first
        return matrix[np.ix_(first, first)]

    def set(self, node: int) -> Equations:
        """Return the equations between columns once all columns of a node are set."""
        return self.columns.without_causes_of(self.levels.columns_of(node).tolist())


def with_levels(equations: Equations) -> LevelEquations:
    """Return the same equations: those of `Known.by_columns()`, or of a table with categories."""
    assert isinstance(equations, LevelEquations)
    return equations


def from_outside(weights: FloatArray, own: IntArray) -> FloatArray:
    """Return what columns outside a node make of its columns, those before them included."""
    T = np.linalg.inv(np.eye(len(own)) - weights[np.ix_(own, own)])
    outside = weights[:, own].copy()
    outside[own] = 0.0
    found: FloatArray = outside @ T
    return found


def shares_of(means: FloatArray) -> FloatArray:
    """Return the shares of all levels, the last included, for means of their columns (rows, k).

    Means are linear in the causes: below zero they count as zero, and all are made to sum to one.
    """
    shares = np.maximum(np.column_stack([means, 1.0 - means.sum(axis=1)]), 0.0)
    found: FloatArray = shares / shares.sum(axis=1, keepdims=True)
    return found


def drawn_levels(shares: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Draw a level for each of n rows, by shares that are its own or those of all."""
    return (rng.random((n, 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)


def _one(
    cut: Equations, levels: LevelColumns, cause: int, outcomes: IntArray, level: float
) -> tuple[float, float, float]:
    """Return the effect of a column on the sum of others, and its interval."""
    unit = levels.sd[outcomes] / levels.sd[cause]
    value = float(cut.paths[cause, outcomes] @ unit)
    error = cut.standard_error_of(cause, outcomes, unit)
    return value, *cut.interval(value, error, cause, int(outcomes[0]), level)


def _by_rows(scores: tuple[float, ...], values: FloatArray) -> tuple[float, ...]:
    """Return the scores that stand in the rows, that of most rows last; nothing for one alone."""
    counts = {score: int((values == score).sum()) for score in scores}
    seen = [score for score in scores if counts[score]]
    most = max(seen, key=lambda score: counts[score], default=0.0)
    return (*(score for score in seen if score != most), most) if len(seen) > 1 else ()


def level_names(
    codes: tuple[tuple[float, ...], ...], recipe: Recipe | None
) -> tuple[tuple[str, ...], ...]:
    """Return the levels that codes stand for, as the table spells them."""
    columns = [] if recipe is None else [column for column in recipe.columns if column.taken]
    names = []
    for k, own in enumerate(codes):
        named = columns[k] if columns and own else None
        known = dict(zip(named.scores, named.levels, strict=True)) if named else {}
        names.append(tuple(known.get(code, f"{code:g}") for code in own))
    return tuple(names)
