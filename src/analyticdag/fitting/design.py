"""Tables with discrete columns as a search sees them: columns, blocks of columns, two readings.

    Design.of(values, kinds)      which columns are cuts, which are categories, and their columns
    Design.readings(...)          the moments that a search may take

A number is a column; so are yes/no and ordered columns; a category is a block with a column for
each level but the most frequent. Yes/no and ordered columns can be read in two ways:

| reading    | a yes/no or ordered column is           | right where                               |
|------------|-----------------------------------------|-------------------------------------------|
| "levels"   | its codes, as numbers                   | the level itself is cause or effect       |
| "cuts"     | a cut of a normal variable that was not | the level records a quantity roughly      |
|            | recorded: polychoric correlations       |                                           |

Under the wrong one, what the right graph explains is left unexplained and needs further edges. So
both are searched, and the better graph is taken (`linear/readings.py`).

Latent correlations are less certain than rows of numbers would make them, so "cuts" counts n·e²
rows: e is the harmonic mean of the pairs' efficiency (`tables.latent`), each with the weight of its
squared correlation, and squared because an edge rests on correlations given others, whose errors
come on top. On tables with own seeds n·e² had the fewest errors, beside n·e, n times the lowest
tenth of the efficiencies, and prices by pair (docs/design/categories.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.fitting.statistics import moments_with_gaps
from analyticdag.least_squares import NodeColumns
from analyticdag.moments import Moments
from analyticdag.tables.latent import (
    Cuts,
    counted,
    efficiency,
    latent_correlations,
    number_series,
    positive_definite,
    score_variances,
)
from analyticdag.tables.recipe import DISCRETE, Kind

LEVELS, CUTS = "levels", "cuts"
_CUT_KINDS = (Kind.YES_NO, Kind.ORDERED)
# Rows that are looked at first: of numbers, three are different nearly always.
_FIRST = 100


@dataclass(frozen=True, eq=False)
class Scores:
    """What is observed of cuts: correlations R of scores and their variances, times n; the series
    that leads from latent correlations to these."""

    R: FloatArray
    variance: FloatArray
    series: FloatArray
    n_samples: int


@dataclass(frozen=True, eq=False)
class Reading:
    """A way to read discrete columns: its name, and moments of the columns of all nodes."""

    name: str
    moments: Moments
    scores: Scores | None = None


@dataclass(frozen=True, eq=False)
class Design(NodeColumns):
    """The columns of every node, node after node.

    `levels` says which value of the category each column of a block stands for (NaN where it is no
    block), `cuts` holds the thresholds of cut columns by column.
    """

    kinds: tuple[str, ...]
    levels: FloatArray
    cuts: dict[int, Cuts]

    @classmethod
    def of(
        cls, values: FloatArray, kinds: tuple[str, ...], weights: FloatArray | None = None
    ) -> Design:
        """Look at the values; a number with two values is yes/no."""
        kinds = tuple(
            Kind.YES_NO if kind != Kind.CATEGORY and _two_valued(column) else kind
            for kind, column in zip(kinds, values.T, strict=True)
        )
        blocks = [
            _levels(column, weights) if kind == Kind.CATEGORY else np.array([np.nan])
            for kind, column in zip(kinds, values.T, strict=True)
        ]
        sizes = np.array([len(block) for block in blocks])
        first = np.cumsum(sizes) - sizes
        cuts = {
            int(first[k]): found
            for k, kind in enumerate(kinds)
            if kind in _CUT_KINDS and (found := Cuts.of(values[:, k], weights)) is not None
        }
        return cls(sizes, kinds, np.concatenate(blocks), cuts)

    @property
    def is_block(self) -> BoolArray:
        """Which nodes are categories."""
        return np.array([kind == Kind.CATEGORY for kind in self.kinds])

    @property
    def discrete(self) -> BoolArray:
        """Which nodes are yes/no, ordered or categories."""
        return np.array([kind in DISCRETE for kind in self.kinds])

    def expanded(self, values: FloatArray) -> FloatArray:
        """Return the rows with a column for each level of a category."""
        own = values[:, self.node]
        marked = np.where(np.isnan(own), np.nan, (own == self.levels).astype(np.float64))
        return np.where(np.isnan(self.levels), own, marked)

    def in_order(self, order: IntArray) -> tuple[Design, IntArray]:
        """Return the design of the nodes in another order, and the columns in theirs."""
        columns = np.concatenate([self.columns_of(k) for k in order])
        place = {int(column): k for k, column in enumerate(columns)}
        moved = replace(
            self,
            kinds=tuple(self.kinds[k] for k in order),
            sizes=self.sizes[order],
            levels=self.levels[columns],
            cuts={place[column]: cut for column, cut in self.cuts.items()},
        )
        return moved, columns

    def readings(
        self,
        values: FloatArray,
        perturbed: BoolArray | None = None,
        weights: FloatArray | None = None,
    ) -> tuple[Reading, ...]:
        """Return the readings of these rows: without interventions, the second one too."""
        levels = self.by_levels(values, perturbed, weights)
        found = (Reading(LEVELS, levels),)
        if not self.cuts or perturbed is not None:
            return found
        return (*found, self._latent(self.expanded(values), levels, weights))

    def by_levels(
        self, values: FloatArray, perturbed: BoolArray | None, weights: FloatArray | None
    ) -> Moments:
        """Return the moments of the columns as they are."""
        rows = self.expanded(values)
        mask = None if perturbed is None else perturbed[:, self.node]
        return _moments(rows, mask, weights)

    def _latent(self, rows: FloatArray, levels: Moments, weights: FloatArray | None) -> Reading:
        """Return moments with latent correlations, in the units of `levels`."""
        Z = rows.copy()
        for column, cut in self.cuts.items():
            Z[:, column] = cut.scored(rows[:, column])
        scores = _moments(Z, None, weights)
        series = np.tile(number_series(), (rows.shape[1], 1))
        for column, cut in self.cuts.items():
            series[column] = cut.series
        R = correlations(scores.S)
        latent = latent_correlations(R, series)
        sd = np.sqrt(np.diag(scores.S))
        unit = (Z - scores.means[0]) / np.where(sd > 0.0, sd, 1.0)
        variance = score_variances(np.where(np.isnan(unit), 0.0, unit), R, weights)
        share = _harmonic(efficiency(variance, latent, series), latent) ** 2
        size = np.sqrt(np.diag(levels.S))
        S = positive_definite(latent) * np.outer(size, size)
        counts = np.maximum(np.round(scores.counts * share), 3).astype(np.int64)
        observed = Scores(R, variance, series, int(scores.counts[0]))
        return Reading(CUTS, replace(levels, covariances=S[None], counts=counts), observed)


def _moments(rows: FloatArray, mask: BoolArray | None, weights: FloatArray | None) -> Moments:
    reduced = moments_with_gaps if np.isnan(rows).any() else Moments.of_rows
    return reduced(rows, mask, weights)


def _harmonic(worth: FloatArray, R: FloatArray) -> float:
    """Return the harmonic mean over pairs, each with the weight of its squared correlation."""
    weight = R**2
    np.fill_diagonal(weight, 0.0)
    if weight.sum() <= 0.0:
        return 1.0
    return float(weight.sum() / (weight / worth).sum())


def _two_valued(column: FloatArray) -> bool:
    """Whether there are two values; most columns have more among their first rows already."""
    if len(set(column[:_FIRST][~np.isnan(column[:_FIRST])].tolist())) > 2:
        return False
    seen = column[~np.isnan(column)]
    if not len(seen):
        return False
    low, high = seen.min(), seen.max()
    return bool(low < high and np.all((seen == low) | (seen == high)))


def _levels(column: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return the levels that get a column: all but the most frequent; the first of equals."""
    levels, counts = counted(column, weights)
    if len(levels) < 2:
        return np.array([np.nan])
    return np.delete(levels, counts.argmax())
