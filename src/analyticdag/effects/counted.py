"""Equations of a graph by counts: causes may act together in any way (`families.py`).

They answer what equations with levels answer (`levels.py`), but from shares in every combination of
causes. What setting a level of x does to y is then no sum over paths. *The* effect of a column with
an order is the slope of what y becomes at each level of x, the levels counting as often as they
come; of two levels it is the difference. Errors come from draws of shares that the rows allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.effects.families import (
    Families,
    FamilyCounts,
    LevelArray,
    Shares,
    after,
    thrifty_order,
)
from analyticdag.effects.levels import LevelEquations, drawn_levels
from analyticdag.errors import InputError
from analyticdag.graphs import topological_order

# Standard errors from so many draws are off by a fourteenth.
_DRAWS = 100
# Values were divided by a scale and multiplied again; scores of levels are 1e-6 apart at least
# (`categories.py`).
SAME = 1e-8


@dataclass(frozen=True, eq=False)
class CountEquations(LevelEquations):
    """Shares of every node's levels in each combination of its causes.

    `weights`, `paths` and `columns` stay those of equations that add up effects.
    """

    families: Families

    adds_up = False

    @cached_property
    def _counts(self) -> tuple[FamilyCounts, ...]:
        causes = map(np.flatnonzero, self.graph.T)
        return tuple(self.families.counts(j, own) for j, own in enumerate(causes))

    @cached_property
    def _shares(self) -> tuple[Shares, ...]:
        return tuple(one.shares() for one in self._counts)

    @cached_property
    def _drawn_shares(self) -> tuple[Shares, ...]:
        rng = np.random.default_rng(0)
        return tuple(one.drawn(_DRAWS, rng) for one in self._counts)

    @property
    def _n_levels(self) -> list[int]:
        return [len(values) for values in self.families.values]

    @cached_property
    def freedom(self) -> IntArray:
        """As many as rows: draws know what few counts leave open."""
        return self.moments.samples_of

    # --- what if -------------------------------------------------------------

    def distributions(
        self, setting: Mapping[int, float], level: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, sd, and the range of the values of every column, in units of the table.

        Of columns that stand for levels, only the mean.
        """
        do = self._set_shares(setting)
        found = after(self._shares, do, thrifty_order(self.graph, self._n_levels, do))
        first, tail = self.levels.first, 0.5 - level / 2.0
        mean = self._columns(found)[:, 0]
        sd, low, high = np.zeros((3, len(mean)))
        for j, values in enumerate(self.families.values):
            if not self.levels.labels[j]:
                share, at = found[j][:, 0], first[j]
                sd[at] = np.sqrt(share @ (values - mean[at]) ** 2)
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
        """Draw n rows of all columns, in units of the table; every node by its shares."""
        do = self._set_shares(setting)
        cells = np.zeros((n, len(self.graph)), np.uint8)
        for j in topological_order(self.graph).tolist():
            own = self._shares[j]
            shares = do[j][None] if j in do else own.given(cells[:, own.causes])[:, :, 0]
            cells[:, j] = drawn_levels(shares, n, rng)
        rows = np.empty((n, len(self.levels.node)))
        for j, values in enumerate(self.families.values):
            at = self.levels.columns_of(j)
            if self.levels.labels[j]:
                rows[:, at] = cells[:, [j]] == [self._level(j, k) for k in range(len(at))]
            else:
                rows[:, at[0]] = values[cells[:, j]]
        return rows

    def expected(self, values: FloatArray) -> FloatArray:
        """Return what the causes of each node make of its columns, row by row."""
        known = enumerate(self.families.values)
        cells = np.column_stack([_closest(own, values[:, j]) for j, own in known])
        smooth = (one.smoothed().given(cells[:, one.causes])[:, :, 0] for one in self._counts)
        return self._columns({j: shares.T for j, shares in enumerate(smooth)}).T

    # --- effects -------------------------------------------------------------

    def effects_of(self, cause: int) -> FloatArray:
        """Return the total effects of one node on all, in standard units; on itself one."""
        return self._slopes(cause, self._means(cause))[:, 0]

    def _standard_errors(self, cause: int) -> FloatArray:
        return self._slopes(cause, self._means(cause, drawn=True)).std(axis=1)

    def _slopes(self, cause: int, means: FloatArray) -> FloatArray:
        """Return effects of a node on all nodes, (nodes, draws), in standard units."""
        first, sd = self.levels.first, self.levels.sd
        slopes = self._slope(cause, means[:, first]) * (sd[first[cause]] / sd[first])[:, None]
        slopes[~self.reach[cause]] = 0.0
        return slopes

    def _slope(self, cause: int, means: FloatArray) -> FloatArray:
        """Return the slope of means, (levels, ...), in the values of the levels of a cause."""
        return np.tensordot(self._slope_weights(cause), means, 1)

    def _slope_weights(self, cause: int) -> FloatArray:
        """Return what the mean at each level of a cause adds to a slope; nothing of a constant."""
        values, share = self.families.values[cause], self._counts[cause].overall
        centred = values - share @ values
        variance = float(share @ centred**2)
        weights: FloatArray = share * centred / variance if variance > 0.0 else 0.0 * share
        return weights

    def largest_effect(self, cause: int, outcome: int) -> float:
        """Return what an effect between two columns that are no categories can be at most, in size:
        the outcome lies at one of its ends wherever the slope gains by it."""
        width = float(np.ptp(self.families.values[outcome]))
        return 0.5 * width * float(np.abs(self._slope_weights(cause)).sum())

    def level_values(self, cause: int, outcome: int) -> FloatArray:
        """Return effects (levels of the cause but its reference, levels of the outcome)."""
        return self._changes(cause, outcome, self._means(cause))[:, :, 0]

    def level_table(self, cause: int, outcome: int, level: float) -> tuple[FloatArray, ...]:
        """Return the same and both ends of their intervals."""
        values = self.level_values(cause, outcome)
        errors = self._changes(cause, outcome, self._means(cause, drawn=True)).std(axis=2)
        ends = [
            self.interval(value, error, cause, outcome, level)
            for value, error in zip(values.ravel().tolist(), errors.ravel().tolist(), strict=True)
        ]
        lows, highs = np.array(ends).T.reshape(2, *values.shape)
        return values, lows, highs

    def _changes(self, cause: int, outcome: int, means: FloatArray) -> FloatArray:
        """Return effects by level and draw; of a cause that is no category its slope."""
        own = means[:, self.levels.columns_of(outcome)]
        if self.levels.labels[outcome]:
            own = np.concatenate([own, 1.0 - own.sum(axis=1, keepdims=True)], axis=1)
        if not self.reach[cause, outcome]:
            own = 0.0 * own  # not even by rounding
        if not self.levels.labels[cause]:
            return self._slope(cause, own)[None]
        own = own[[self._known_level(cause, k) for k in range(len(self.levels.codes[cause]))]]
        changes: FloatArray = own[:-1] - own[-1]
        return changes

    def _means(self, cause: int, *, drawn: bool = False) -> FloatArray:
        """Return what all columns become at each level of a cause, (levels, columns, draws)."""
        if (cause, drawn) not in self._kept:
            tables = self._drawn_shares if drawn else self._shares
            order = thrifty_order(self.graph, self._n_levels, (cause,), self.reach[cause])
            made = [after(tables, {cause: one}, order) for one in np.eye(self._n_levels[cause])]
            self._kept[cause, drawn] = np.array([self._columns(shares) for shares in made])
        return self._kept[cause, drawn]

    # The effects of one cause on all outcomes come together, and are asked for one by one.
    @cached_property
    def _kept(self) -> dict[tuple[int, bool], FloatArray]:
        return {}

    # --- between nodes and columns -------------------------------------------

    def _columns(self, shares: Mapping[int, FloatArray]) -> FloatArray:
        """Return means of all columns, (columns, n), for shares of levels (levels, n).

        Those of nodes that are not asked about are zero.
        """
        n = next(iter(shares.values())).shape[1]
        found = np.zeros((len(self.levels.node), n))
        for j, own in shares.items():
            at = self.levels.columns_of(j)
            if self.levels.labels[j]:
                places = [self._level(j, k) for k in range(len(at))]
                found[at] = np.vstack([own, np.zeros(n)])[places]  # the last if never counted
            else:
                found[at[0]] = self.families.values[j] @ own
        return found

    def _set_shares(self, setting: Mapping[int, float]) -> dict[int, FloatArray]:
        """Return the shares of levels of nodes that are set, from what their columns are set to."""
        found: dict[int, FloatArray] = {}
        for j in sorted({int(self.levels.node[column]) for column in setting}):
            amounts = [setting[column] for column in self.levels.columns_of(j).tolist()]
            own = self.families.values[j]
            if self.levels.labels[j]:
                chosen = int(np.argmax([*amounts, 1.0 - sum(amounts)]))
                found[j] = np.eye(len(own))[self._known_level(j, chosen)]
            else:  # between two levels it is a mixture of both
                found[j] = np.array([np.interp(amounts[0], own, unit) for unit in np.eye(len(own))])
        return found

    def _level(self, node: int, k: int) -> int:
        """Return which level was counted for the k-th label of a category; -1 if it never was."""
        code, known = self.levels.codes[node][k], self.families.values[node]
        place = int(_closest(known, np.array([code]))[0])
        return place if abs(known[place] - code) <= SAME else -1

    def _known_level(self, node: int, k: int) -> int:
        place = self._level(node, k)
        if place < 0:
            raise InputError(
                f"level {self.levels.labels[node][k]!r} stands only in rows with gaps, which are "
                "not counted, so nothing is known of what it does; fill the gaps of these rows"
            )
        return place


def _closest(known: FloatArray, values: FloatArray) -> LevelArray:
    """Return which of some rising values each number is closest to."""
    return np.searchsorted((known[1:] + known[:-1]) / 2.0, values).astype(np.uint8)
