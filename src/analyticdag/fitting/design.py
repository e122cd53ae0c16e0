"""Tables with discrete columns as a search sees them: columns, blocks of columns, two readings.

    Design.of(facts, kinds)       which columns are cuts, which are categories, and their columns
    Design.readings(facts)        the moments that a search may take

A number is a column; so are yes/no and ordered columns; a category is a block with a column for
each level but the most frequent. Discrete columns can be read in two ways:

| reading    | a yes/no or ordered column is           | right where                               |
|------------|-----------------------------------------|-------------------------------------------|
| "levels"   | its codes, as numbers                   | the level itself is cause or effect       |
| "cuts"     | a cut of a normal variable that was not | the level records a quantity roughly      |
|            | recorded: polychoric correlations       |                                           |

A category is a cut too where one score explains what its levels explain: between the levels of a
cut the means of all other columns differ in one direction, and that direction shows the order of
the levels, which was lost. Other categories are blocks in both readings. Groups of a number that
is there as well stay their scores in both.

Where all columns are discrete there is a third way, by counts (`linear/by_counts.py`).

Under the wrong one, what the right graph explains is left unexplained and needs further edges. So
both are searched, and the better graph is taken (`linear/readings.py`).

Facts are what the rows say, whether they are a table or were added up in batches (`facts.py`).

Latent correlations are less certain than rows of numbers would make them, so "cuts" counts n·e²
rows: e is the harmonic mean of the pairs' efficiency (`tables.latent`), each with the weight of its
squared correlation, and squared because an edge rests on correlations given others, whose errors
come on top. On tables with own seeds n·e² had the fewest errors, beside n·e, n times the lowest
tenth of the efficiencies, and prices by pair (docs/design/categories.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.fitting.facts import Facts
from analyticdag.least_squares import NodeColumns, block_slopes
from analyticdag.moments import Moments
from analyticdag.search import LevelCounts
from analyticdag.tables.latent import (
    Cuts,
    cut_columns,
    efficiency,
    latent_correlations,
    number_series,
    repaired,
    score_variances,
)
from analyticdag.tables.recipe import CUTS, DISCRETE, LEVELS, Kind

_CUT_KINDS = (Kind.YES_NO, Kind.ORDERED)
# A category is taken for a cut where its score explains so much of what its levels explain. In 72
# categories of cut tables the least was 0.95, in 72 of conditional ones half had less than 0.7 and
# nine in ten less than 0.9 (own seeds, 500 to 10,000 rows).
_AS_MUCH = 0.93
# Standard deviations by which a category must explain another node better than chance before it is
# asked whether it is a cut. Without that, independent categories of ten levels were taken for cuts,
# and had two to three false edges in tables of eight columns and 300 to 1,000 rows.
_CLEARLY = 4.0
# With a latent correlation of so much with a number, a column is that number in groups (age groups
# beside age) and no record of something else. On own tables, wrong links with groups and with cuts
# that a number explains strongly: 0.07 and 0.41 at 0.93, 0.10 and 0.24 here, 0.39 and 0.20 at 0.97.
_GROUPS = 0.95


@dataclass(frozen=True, eq=False)
class Scores:
    """What is observed of cuts: correlations R of scores and their variances, times n; the series
    that leads from latent correlations to these. `levels` are the correlations with a column for
    each level of every category, `blend` (columns of levels, scores) makes scores of these."""

    R: FloatArray
    variance: FloatArray
    series: FloatArray
    n_samples: int
    levels: FloatArray
    blend: FloatArray


@dataclass(frozen=True, eq=False)
class Reading:
    """A way to read discrete columns: its name, the columns of all nodes and their moments."""

    name: str
    design: Design
    moments: Moments
    scores: Scores | None = None
    counts: LevelCounts | None = None
    level_values: tuple[FloatArray, ...] = ()  # what the levels that were counted stand for


@dataclass(frozen=True, eq=False)
class Design(NodeColumns):
    """The columns of every node, node after node.

    `levels` says which value of the category each column of a block stands for (NaN where it is no
    block), `references` which value of each node has no column, `cuts` holds the thresholds of cut
    columns by column.
    """

    kinds: tuple[str, ...]
    levels: FloatArray
    references: FloatArray
    cuts: dict[int, Cuts]

    @classmethod
    def of(cls, facts: Facts, kinds: tuple[str, ...]) -> Design:
        """Look at the facts; a number with two values is yes/no."""
        kinds = tuple(
            Kind.YES_NO if kind != Kind.CATEGORY and two else kind
            for kind, two in zip(kinds, facts.two_valued.tolist(), strict=True)
        )
        blocks = [
            _levels(facts, k) if kind == Kind.CATEGORY else (np.array([np.nan]), np.nan)
            for k, kind in enumerate(kinds)
        ]
        sizes = np.array([len(levels) for levels, _ in blocks])
        first = np.cumsum(sizes) - sizes
        cuts = {
            int(first[k]): found
            for k, kind in enumerate(kinds)
            if kind in _CUT_KINDS and (found := Cuts.between(*facts.counted(k))) is not None
        }
        levels, references = (list(parts) for parts in zip(*blocks, strict=True))
        return cls(sizes, kinds, np.concatenate(levels), np.array(references), cuts)

    @property
    def is_block(self) -> BoolArray:
        """Which nodes are categories; with a single level they are constant columns."""
        return ~np.isnan(self.levels[self.first])

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
            references=self.references[order],
            cuts={place[column]: cut for column, cut in self.cuts.items()},
        )
        return moved, columns

    def readings(self, facts: Facts) -> tuple[Reading, ...]:
        """Return the readings that the facts allow: by levels, and as cuts where there are such."""
        plain = self.by_levels(facts)
        found = (Reading(LEVELS, self, plain),)
        if not facts.can_ask:
            return found
        cut = self._with_cut_categories(facts, plain)
        base = plain if cut is self else cut.by_levels(facts)
        return (*found, cut._as_cuts(self, base, facts)) if cut.cuts else found

    def by_levels(self, facts: Facts) -> Moments:
        """Return the moments of the columns as they are."""
        return facts.moments(self.expanded, self.node)

    def _with_cut_categories(self, facts: Facts, plain: Moments) -> Design:
        """Return the design with categories that look like cuts as ordered, by their scores."""
        R, kinds = correlations(plain.S), list(self.kinds)
        for k in np.flatnonzero(self.is_block).tolist():
            own, cut = self.columns_of(k), Cuts.between(*facts.counted(k))
            if cut is None or plain.S[own, own].min() <= 0.0:
                continue
            steps = self._steps(k, cut) * np.sqrt(plain.S[own, own])
            if not self._is_related(R, k, plain.n_samples):
                continue  # by chance alone any order explains something
            if _explained_by_score(R, own, self.node != k, steps, plain.n_samples) >= _AS_MUCH:
                kinds[k] = Kind.ORDERED
        return self if tuple(kinds) == self.kinds else Design.of(facts, tuple(kinds))

    def _is_related(self, R: FloatArray, k: int, n: int) -> bool:
        """Whether the levels of a category explain one of the other nodes clearly better than
        chance, whose share in the columns of a node has k·l degrees of freedom, times n."""
        own = self.columns_of(k)
        explained = n * np.sum(R[own] * block_slopes(R, own, np.arange(len(R))), axis=0)
        for other in range(len(self.sizes)):
            there = self.columns_of(other)
            spread = np.sqrt(2.0 * len(own) * np.sum(R[np.ix_(there, there)] ** 2))
            clearly = explained[there].sum() - len(own) * len(there) > _CLEARLY * spread
            if other != k and clearly:
                return True
        return False

    def _steps(self, k: int, cut: Cuts) -> FloatArray:
        """Return the scores of the levels of a category that have a column, against the other."""
        own = self.levels[self.columns_of(k)]
        return cut.scored(own) - cut.scored(self.references[[k]])

    def _as_cuts(self, full: Design, base: Moments, facts: Facts) -> Reading:
        """Return the reading of this design, whose columns have the moments `base`, beside the
        `full` design, which has the levels of all categories."""
        moments = facts.moments(self.scored, self.node)
        R, sd = correlations(moments.S), np.sqrt(np.diag(moments.S))
        latent, series = self._latent(R)
        spread = np.where(sd > 0.0, sd, 1.0)
        variance = facts.ask(partial(self._variances, R=R, mean=moments.means[0], sd=spread))
        share = _harmonic(efficiency(variance, latent, series), latent) ** 2
        counts = np.maximum(np.round(moments.counts * share), 3).astype(np.int64)
        # What others leave of a latent column is known to a standard error, 1/√(rows counted). A
        # smaller eigenvalue is an error of pairs, and would pay for false edges.
        least, size = counts[0] ** -0.5, np.sqrt(np.diag(base.S))
        S = repaired(latent, cut_columns(series), least) * np.outer(size, size)
        seen = full._beside(self, R, facts)
        observed = Scores(R, variance, series, int(moments.counts[0]), *seen)
        return Reading(CUTS, self, replace(base, covariances=S[None], counts=counts), observed)

    def _latent(self, R: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the latent correlations behind those of scores, R, and the series between them.

        Groups of a number stay their scores: as a cut, they would take the number's place. The
        score of such a column correlates with another latent variable as its own latent variable
        does, times the correlation of these two, `with_score`.
        """
        series = np.tile(number_series(), (len(R), 1))
        for column, cut in self.cuts.items():
            series[column] = cut.series
        latent = latent_correlations(R, series)
        numbers = np.flatnonzero([self.kinds[k] not in DISCRETE for k in self.node])
        cuts = list(self.cuts)
        for column in cuts:
            with_score = series[column, 0]
            if np.abs(R[column, numbers]).max(initial=0.0) >= _GROUPS * with_score:
                own = R[column].copy()
                own[cuts] = with_score * latent[column, cuts]
                own[column] = 1.0
                latent[column] = latent[:, column] = own
                series[column] = number_series()
        return latent, series

    def _variances(
        self,
        values: FloatArray,
        weights: FloatArray | None,
        *,
        R: FloatArray,
        mean: FloatArray,
        sd: FloatArray,
    ) -> FloatArray:
        """Return n times the variances of the correlations R of scores, as a question to rows."""
        unit = (self.scored(values) - mean) / sd
        return score_variances(np.where(np.isnan(unit), 0.0, unit), R, weights)

    def scored(self, values: FloatArray) -> FloatArray:
        """Return the rows of all columns, cuts by their scores."""
        Z = self.expanded(values)
        for column, cut in self.cuts.items():
            Z[:, column] = cut.scored(Z[:, column])
        return Z

    def _beside(self, cut: Design, R: FloatArray, facts: Facts) -> tuple[FloatArray, FloatArray]:
        """Return `levels` and `blend` of the scores of `cut`, which have the correlations R."""
        if cut is self:
            return R, np.eye(len(R))
        S = facts.moments(self.scored, self.node).S
        blend = np.zeros((len(S), len(R)))
        for k in range(len(self.sizes)):
            own, scores = self.columns_of(k), cut.columns_of(k)
            blend[np.ix_(own, scores)] = np.eye(len(own), len(scores))
            if self.is_block[k] and not cut.is_block[k]:
                blend[own, scores[0]] = self._steps(k, cut.cuts[int(scores[0])]) * np.sqrt(
                    S[own, own]
                )
        return correlations(S), blend


def _explained_by_score(
    R: FloatArray, own: IntArray, others: BoolArray, steps: FloatArray, n: int
) -> float:
    """Return how much of what a block explains of the other columns its score explains.

    `steps` are the coefficients of the score on the columns of the block in standard units. What
    chance explains is taken off both.
    """
    among, across = R[np.ix_(own, own)], R[np.ix_(own, others)]
    by_block = float(np.sum(across * block_slopes(R, own, np.flatnonzero(others))))
    by_score = float(np.sum((steps @ across) ** 2) / (steps @ among @ steps))
    chance = across.shape[1] / n
    return (by_score - chance) / max(by_block - chance * len(own), np.finfo(float).tiny)


def _harmonic(worth: FloatArray, R: FloatArray) -> float:
    """Return the harmonic mean over pairs, each with the weight of its squared correlation."""
    weight = R**2
    np.fill_diagonal(weight, 0.0)
    if weight.sum() <= 0.0:
        return 1.0
    return float(weight.sum() / (weight / worth).sum())


def _levels(facts: Facts, k: int) -> tuple[FloatArray, float]:
    """Return the levels of a category that get a column, and the most frequent, the first of
    equals, which gets none."""
    levels, counts = facts.counted(k)
    if len(levels) < 2:
        return np.array([np.nan]), float(levels[0]) if len(levels) else np.nan
    most = int(counts.argmax())
    return np.delete(levels, most), float(levels[most])
