"""Equations of a table with categories, and what they say about its levels.

A category is a column for each level but the most frequent, the *reference*: one where a row has
the level, zero elsewhere. Equations are linear between all columns, so on such a column a
coefficient is a change of the share of its level. The columns of one category are joined among
themselves, each with those before it as further parents, so that whatever they have in common is
kept; errors of effects then follow as they do for numbers (`equations.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.effects.equations import Equations
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
        moments = Moments.of_rows(rows, np.zeros(rows.shape, dtype=bool))
        return cls(sizes, moments, labels, codes)

    @property
    def is_category(self) -> BoolArray:
        """Which nodes are categories."""
        return np.array([bool(labels) for labels in self.labels])

    @property
    def sd(self) -> FloatArray:
        """Standard deviations of the columns; one for constants."""
        own = np.sqrt(np.diag(self.moments.S))
        return np.where(own > 0.0, own, 1.0)

    def of(self, node: int) -> IntArray:
        """Return the columns of a node."""
        return self.columns_of(node)

    def joined(self, graph: BoolArray) -> BoolArray:
        """Return the edges between columns, for a graph of the nodes."""
        node = self.node
        within = (node[:, None] == node) & np.triu(np.ones((len(node),) * 2, dtype=bool), 1)
        edges: BoolArray = graph[np.ix_(node, node)] | within
        return edges

    def expanded(self, values: FloatArray) -> FloatArray:
        """Return rows of the table with a column for each level, the closest of which is taken."""
        columns = []
        for k, own in enumerate(self.codes):
            rows = values[:, [k]]
            if own:
                closest = np.abs(rows - np.array(own)).argmin(axis=1)
                rows = closest[:, None] == np.arange(len(own) - 1)
            columns.append(rows)
        return np.column_stack(columns).astype(np.float64)

    def expected(self, graph: BoolArray, values: FloatArray) -> FloatArray:
        """Return what the causes of each node make of its columns, row by row."""
        means, sd = self.moments.means[0], self.sd
        equations = Equations(self.joined(graph), self.moments.scaled(sd))
        rows = (self.expanded(values) - means) / sd
        found = np.empty(rows.shape)
        for k in range(len(self.sizes)):
            own = self.of(k)
            found[:, own] = rows @ from_outside(equations.weights, own) * sd[own] + means[own]
        return found


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

    def _of_nodes(self, matrix: FloatArray) -> FloatArray:
        first = self.levels.first
        return matrix[np.ix_(first, first)]

    def set(self, node: int) -> Equations:
        """Return the equations between columns once all columns of a node are set."""
        return self.columns.without_causes_of(self.levels.of(node).tolist())


def from_outside(weights: FloatArray, own: IntArray) -> FloatArray:
    """Return what columns outside a node make of its columns, those before them included."""
    T = np.linalg.inv(np.eye(len(own)) - weights[np.ix_(own, own)])
    outside = weights[:, own].copy()
    outside[own] = 0.0
    found: FloatArray = outside @ T
    return found


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
