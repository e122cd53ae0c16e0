"""Equations of a graph by counts: causes may act together in any way (`families.py`).

They answer what equations with levels answer (`levels.py`), but from shares in every combination of
causes. What setting a level of x does to y is then no sum over paths. *The* effect of a column with
an order is the slope of what y becomes at each level of x, the levels counting as often as they
come; of two levels it is the difference. Errors come from draws of shares that the rows allow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.effects.families import Families, Levels, Shares, after
from analyticdag.effects.levels import LevelEquations
from analyticdag.errors import InputError
from analyticdag.graphs import reachability, topological_order

# Standard errors from so many draws are off by a fourteenth.
_DRAWS = 100
# Scores of levels are rounded to nine decimals.
_SAME = 1e-8


@dataclass(frozen=True, eq=False)
class CountEquations(LevelEquations):
    """Shares of every node's levels in each combination of its causes."""

    families: Families

    @cached_property
    def tables(self) -> dict[int, Shares]:
        """The shares as they are in the rows."""
        return {j: one.plain() for j, one in self._counted.items()}

    @cached_property
    def _drawn_tables(self) -> dict[int, Shares]:
        """Draws of what they could be."""
        rng = np.random.default_rng(0)
        return {j: one.with_draws(_DRAWS, rng) for j, one in self._counted.items()}

    @cached_property
    def _counted(self) -> dict[int, Shares]:
        columns = enumerate(self.graph.T)
        return {j: self.families.shares(j, np.flatnonzero(causes)) for j, causes in columns}

    # --- what if -------------------------------------------------------------

    def distributions(
        self, setting: Mapping[int, float], level: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, sd, and the range of the values of every column, in units of the table."""
        do = self._shares_set(setting)
        found = after(self.tables, do, self._order_after(do))
        first, tail = self.levels.first, 0.5 - level / 2.0
        mean = self._columns(found)[:, 0]
        sd, low, high = np.sqrt(np.maximum(mean * (1.0 - mean), 0.0)), mean.copy(), mean.copy()
        for j, values in enumerate(self.families.values):
            if not self.levels.labels[j]:
                share, at = found[j][:, 0], first[j]
                sd[at] = np.sqrt(max(share @ (values - mean[at]) ** 2, 0.0))
                ends = np.searchsorted(np.cumsum(share), [tail, 1.0 - tail])
                low[at], high[at] = values[np.minimum(ends, len(values) - 1)]
        return mean, sd, low, high

    def draw(
        self,
        setting: Mapping[int, float],
        n: int,
        rng: np.random.Generator,
        by_share: Sequence[bool],
    ) -> FloatArray:
        """Draw n rows of all columns, in units of the table."""
        do, tables = self._shares_set(setting), self.tables
        cells = np.zeros((n, len(self.graph)), np.uint8)
        for j in self._order_after(do):
            own = tables[j]
            shares = do[j][None] if j in do else own.given(cells[:, own.causes])[:, :, 0]
            ends = np.cumsum(shares, axis=1)[:, :-1]
            cells[:, j] = (rng.random((n, 1)) > ends).sum(axis=1)
        rows = [np.eye(len(v))[cells[:, j]] for j, v in enumerate(self.families.values)]
        return self._columns({j: one.T for j, one in enumerate(rows)}).T

    def expected(self, values: FloatArray) -> FloatArray:
        """Return what the causes of each node make of its columns, row by row."""
        cells = np.column_stack(
            [_closest(own, values[:, j]) for j, own in enumerate(self.families.values)]
        )
        smooth = {j: one.smoothed() for j, one in self.tables.items()}
        found = {j: one.given(cells[:, one.causes])[:, :, 0].T for j, one in smooth.items()}
        return self._columns(found).T

    # --- effects -------------------------------------------------------------

    def effects_of(self, cause: int) -> FloatArray:
        """Return the total effects of one node on all, in standard units; on itself one."""
        return self._slopes(cause, self._means(cause))[:, 0]

    def _standard_errors(self, cause: int) -> FloatArray:
        return self._slopes(cause, self._drawn_means(cause)).std(axis=1)

    def _slopes(self, cause: int, means: FloatArray) -> FloatArray:
        """Return effects of a node on all nodes, (nodes, draws), in standard units."""
        first, sd = self.levels.first, self.levels.sd
        slopes = self._slope(cause, means[:, first]) * (sd[first[cause]] / sd[first])[:, None]
        slopes[~self.reach[cause]] = 0.0
        return slopes

    def _slope(self, cause: int, means: FloatArray) -> FloatArray:
        """Return the slope of means, (levels, ...), in the values of the levels of a cause."""
        values, share = self.families.values[cause], self.tables[cause].overall
        centred = share * (values - share @ values)
        size = float(centred @ values)
        return np.tensordot(centred / size if size > 0.0 else 0.0 * values, means, 1)

    def level_values(self, cause: int, outcome: int) -> FloatArray:
        """Return effects (levels of the cause but its reference, levels of the outcome)."""
        return self._changes(cause, outcome, self._means(cause))[:, :, 0]

    def level_table(self, cause: int, outcome: int, level: float) -> tuple[FloatArray, ...]:
        """Return the same and both ends of their intervals."""
        changes = self._changes(cause, outcome, self._drawn_means(cause))
        half = special.ndtri(0.5 + level / 2.0) * changes.std(axis=2)
        values = self.level_values(cause, outcome)
        return values, values - half, values + half

    def _changes(self, cause: int, outcome: int, means: FloatArray) -> FloatArray:
        """Return effects by level and draw; of a cause that is no category its slope."""
        own = means[:, self.levels.of(outcome)]
        if self.levels.labels[outcome]:
            own = np.concatenate([own, 1.0 - own.sum(axis=1, keepdims=True)], axis=1)
        if not self.levels.labels[cause]:
            return self._slope(cause, own)[None]
        own = own[[self._known_level(cause, k) for k in range(len(self.levels.codes[cause]))]]
        changes: FloatArray = own[:-1] - own[-1]
        return changes

    def _means(self, cause: int) -> FloatArray:
        """Return what all columns become at each level of a cause, (levels, columns, 1)."""
        if cause not in self._kept:
            self._kept[cause] = self._at_levels(cause, self.tables)
        return self._kept[cause]

    def _drawn_means(self, cause: int) -> FloatArray:
        """Return draws of what they could become, (levels, columns, draws)."""
        if cause not in self._kept_draws:
            self._kept_draws[cause] = self._at_levels(cause, self._drawn_tables)
        return self._kept_draws[cause]

    # The effects of one cause on all outcomes come together, and are asked for one by one.
    @cached_property
    def _kept(self) -> dict[int, FloatArray]:
        return {}

    @cached_property
    def _kept_draws(self) -> dict[int, FloatArray]:
        return {}

    def _at_levels(self, cause: int, tables: dict[int, Shares]) -> FloatArray:
        order = self._order_after((cause,), self.reach[cause])
        levels = np.eye(len(self.families.values[cause]))
        return np.array([self._columns(after(tables, {cause: one}, order)) for one in levels])

    # --- between nodes and columns -------------------------------------------

    def _order_after(self, nodes: Collection[int], wanted: BoolArray | None = None) -> list[int]:
        """Return some nodes (None: all) and what they come from once others are set, causes first.

        The next is always a node which, with all that it still comes from, leaves the fewest states
        waiting for effects.
        """
        graph = self.graph.copy()
        graph[:, list(nodes)] = False
        reach = reachability(graph)
        left: BoolArray = np.ones(len(graph), dtype=bool)
        if wanted is not None:
            left = np.asarray(reach[:, wanted].any(axis=1))
        graph &= left  # effects that nobody asks about do not wait
        sizes = np.log([len(values) for values in self.families.values])
        ranks = np.argsort(topological_order(graph))
        order: list[int] = []
        while left.any():
            ahead = np.flatnonzero(left)
            done = ~left[:, None] | reach[:, ahead]  # [:, k]: what is done after the k-th of them
            waits = done & (graph.astype(np.float64) @ ~done > 0.0)
            best = ahead[int(np.argmin(sizes @ waits + 1e-6 * done.sum(axis=0)))]
            new = np.flatnonzero(left & reach[:, best])
            order += new[np.argsort(ranks[new])].tolist()
            left[new] = False
        return order

    def _columns(self, shares: Mapping[int, FloatArray]) -> FloatArray:
        """Return the means of all columns, (columns, draws), for shares of levels (levels, draws).

        Those of nodes that are not asked about are zero.
        """
        n_draws = next(iter(shares.values())).shape[1]
        found = np.zeros((len(self.levels.node), n_draws))
        for j, own in shares.items():
            at = self.levels.of(j)
            if self.levels.labels[j]:
                places = [self._level(j, k) for k in range(len(at))]
                found[at] = np.vstack([own, np.zeros(n_draws)])[places]
            else:
                found[at[0]] = self.families.values[j] @ own
        return found

    def _shares_set(self, setting: Mapping[int, float]) -> dict[int, FloatArray]:
        """Return the shares of levels of nodes that are set, from columns in standard units."""
        found: dict[int, FloatArray] = {}
        levels = self.levels
        for j in sorted({int(levels.node[column]) for column in setting}):
            at, own = levels.of(j), self.families.values[j]
            amounts = np.array([setting[k] for k in at.tolist()]) * levels.sd[at]
            amounts += levels.moments.means[0][at]
            if levels.labels[j]:
                chosen = int(np.argmax([*amounts, 1.0 - amounts.sum()]))
                found[j] = np.eye(len(own))[self._known_level(j, chosen)]
            else:  # between two levels it is a mixture of both
                found[j] = np.array([np.interp(amounts[0], own, unit) for unit in np.eye(len(own))])
        return found

    def _level(self, node: int, k: int) -> int:
        """Return which level was counted for the k-th label of a category; -1 if it never was."""
        code, known = self.levels.codes[node][k], self.families.values[node]
        place = int(_closest(known, np.array([code]))[0])
        return place if abs(known[place] - code) <= _SAME else -1

    def _known_level(self, node: int, k: int) -> int:
        place = self._level(node, k)
        if place < 0:
            raise InputError(
                f"level {self.levels.labels[node][k]!r} stands only in rows with gaps, which are "
                "not counted, so nothing is known of what it does; fill the gaps of these rows"
            )
        return place


def _closest(known: FloatArray, values: FloatArray) -> Levels:
    """Return which of some rising values each number is closest to."""
    return np.searchsorted((known[1:] + known[:-1]) / 2.0, values).astype(np.uint8)
