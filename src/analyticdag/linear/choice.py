"""`loss="auto"`: let the data say whether the noise variances are equal.

Both models are fitted; equal variances has d - 1 fewer parameters. BIC compares

    unequal:  n·Σ_j log(v_j)           + log(n)·(edges + d)
    equal:    n·Σ_j log(v_j) + spread  + log(n)·(edges + 1)

where v_j are the residual variances. Each is taken at the better of the two graphs, the one found
under equal and the one found under unequal variances: the searches charge different prices for an
edge, and a difference in edges must not pass for one in variances.

With Gaussian noise the spread would be n·d·log(mean v) - n·Σ log(v): what one variance for all
costs in likelihood. Sample variances of noise with heavy tails differ by more than that allows:
log v_j has variance (kurtosis_j - 1)/n. Spread is therefore the sum of squares of log v_j around
their mean, each in units of its own variance; for a Gaussian, whose kurtosis is 3, the two agree
as long as the spread is small.

If the variances are equal and the graph is right, the spread is a chi-square with d - 1 degrees of
freedom. Where it looks like one, on data that are not standardised, there is nothing left for
unequal variances to explain, and they need not be searched: `variances_agree`. In large graphs one
node in 200 is left out of that: it may lack a parent.

Equal variances are never accepted on standardised data, nor beside discrete columns: a yes/no
column has the variance p(1 - p), which says nothing about its causes. Nor where the rows are too
few: where even variances that differ moderately would hardly be noticed (`_would_be_noticed`), or
where tails make each of them uncertain and they still differ by more than chance. Nor where the
variances of the columns themselves, of those that the graph joins, differ by no more than chance:
with equal noise an effect has a larger variance than its causes, and that is what directions are
read from. Some rows of a standardised table look so, and any data with weak effects; on simulations
the directions claimed there were right in 6 of 10 edges.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import chi2

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.fitting.rows import evenly
from analyticdag.fitting.statistics import Statistics
from analyticdag.losses import VARIANCE_FLOOR, EqualVariances, UnequalVariances

EQUAL, UNEQUAL = EqualVariances.traits.name, UnequalVariances.traits.name
GAUSSIAN = 3.0  # its kurtosis
_CHANCE = 0.999  # spreads up to this quantile are put down to chance
# Unequal variances of moderate size: their logarithms have this standard deviation (one noise is
# 1.3 times as large as another). A test that misses them in more than one table of three is weak.
_MODERATE, _LIKELY = 0.5, 2.0 / 3.0
# Standard error of a log variance from which BIC, which charges log n for each, misses too much of
# what differs. That of a Gaussian with 50 rows, or of an exponential with 200, is no larger.
_ROUGH = 0.2
# One node in so many may be left out of the comparison: most likely it lacks a parent, and one
# noisier node is not worth d - 1 more variances to BIC.
_ONE_IN = 200
# By far: in 1,800 tables with equal noise, from 40 rows on, also with heavy tails, none did. Above
# so many columns the inverse is not quick any more beside a search.
_FAR, _LARGEST_INVERSE = 10.0, 500
_BLOCK = 1000  # rows at a time: with 200 columns they stay in the cache
# Rows that a kurtosis is taken from, evenly spread over the table: a Gaussian's has a standard
# error of 0.07, and what is read from it is far coarser.
_ROWS = 5_000


@dataclass(frozen=True)
class LossChoice:
    """The two scores behind `loss="auto"`, of which the smaller wins; the mean kurtosis."""

    equal: float
    unequal: float
    kurtosis: float
    barred: str = ""  # why equal variances are out of the question, whatever the scores
    shape: str = ""  # what the shapes of the noise contribute, as a clause

    @property
    def loss(self) -> str:
        """The loss that was chosen."""
        return EQUAL if self.equal <= self.unequal and not self.barred else UNEQUAL

    @property
    def margin(self) -> float:
        """By how much it won."""
        return abs(self.equal - self.unequal)

    def __repr__(self) -> str:
        return f"LossChoice({self.loss}: {self.reason})"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data: both scores, the decision and its margin."""
        record = {**asdict(self), "loss": self.loss, "margin": self.margin, "reason": self.reason}
        del record["barred"], record["shape"]  # the reason says it
        return record

    @property
    def reason(self) -> str:
        """The decision in a sentence."""
        if self.loss == EQUAL:
            return (
                f"equal noise variances are accepted (BIC better by {self.margin:.1f}), and under "
                "them every direction is identified"
            )
        shape = f"; {self.shape}" if self.shape else ""
        if self.barred:
            return (
                f"equal noise variances are not assumed: {self.barred}; so only the equivalence "
                f"class is identified by the covariances{shape}"
            )
        return (
            f"equal noise variances are rejected (BIC worse by {self.margin:.1f}), so only the "
            f"equivalence class is identified by the covariances{shape}"
        )


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is left of the columns by a graph with weights W; rows are asked once."""

    statistics: Statistics
    W: FloatArray

    @cached_property
    def variances(self) -> FloatArray:
        """Of every column."""
        return self.statistics.residual_variances(self.W)

    @cached_property
    def kurtosis(self) -> FloatArray:
        """Of every column; a Gaussian's where there are no rows to tell."""
        rows = self.statistics.rows
        return np.full(len(self.W), GAUSSIAN) if rows is None else rows.ask(self._kurtosis)

    @cached_property
    def columns(self) -> Residuals:
        """What is left without any edge: the columns themselves."""
        return Residuals(self.statistics, np.zeros_like(self.W))

    def mean_kurtosis(self, columns: BoolArray) -> float:
        """Return that of some columns; a Gaussian's of none."""
        return float(self.kurtosis[columns].mean()) if columns.any() else GAUSSIAN

    def degrees(self, columns: BoolArray) -> IntArray:
        """Return the degrees of freedom of some columns: each parent takes one."""
        n = self.statistics.moments.samples_of[columns]
        return np.maximum(n - np.count_nonzero(self.W, axis=0)[columns] - 1, 1)

    def agree(self, columns: BoolArray) -> bool:
        """Whether the variances of some columns differ by no more than chance."""
        n, left = self.statistics.moments.samples_of[columns], self.degrees(columns)
        v = self.variances[columns] * n / left
        # That of one column is too uncertain, and would add to the spread: all get the mean.
        kurtosis = np.full(len(v), self.mean_kurtosis(columns))
        n_kept = len(v) - len(v) // _ONE_IN
        kept = np.argsort(_surprises(v, kurtosis, left))[:n_kept]
        spread = _spread(v[kept], kurtosis[kept], left[kept])
        return bool(spread <= chi2.ppf(_CHANCE, max(n_kept - 1, 1)))

    def scores(self) -> tuple[float, float]:
        """Return BIC of the graph under equal and under unequal variances."""
        varies = ~self.statistics.constant
        n = self.statistics.moments.samples_of[varies]
        v, price = self.variances[varies], np.log(self.statistics.n_samples)
        both = n @ np.log(v) + price * np.count_nonzero(self.W)
        spread = _spread(v, self.kurtosis[varies], n)
        return float(both + spread + price), float(both + price * len(v))

    def _kurtosis(self, rows: FloatArray, weights: FloatArray | None) -> FloatArray:
        sums = _power_sums(self, rows, weights)
        _, mean, square, cube, fourth = sums / np.maximum(sums[0], 1.0)
        spread = np.maximum(square - mean**2, np.finfo(float).eps)  # in units of their sd
        about_mean = fourth - 4 * mean * cube + 6 * mean**2 * square - 3 * mean**4
        return about_mean / spread / spread


def choose_loss(equal: Residuals, unequal: Residuals) -> LossChoice:
    """Compare the best graphs found under each assumption."""
    scores = [equal.scores(), unequal.scores()]
    return LossChoice(
        equal=min(one for one, _ in scores),
        unequal=min(one for _, one in scores),
        kurtosis=equal.mean_kurtosis(~equal.statistics.constant),
        barred=_barred(equal),
    )


def _barred(residuals: Residuals) -> str:
    """Say why these data cannot show that variances are equal; nothing where they can."""
    statistics, W = residuals.statistics, residuals.W
    before = barred_beforehand(statistics)
    if before:
        return before
    if not _would_be_noticed(residuals):
        return (
            f"{statistics.n_samples} rows of {int((~statistics.constant).sum())} columns are too "
            "few to notice unequal ones"
        )
    if _standard_error(residuals) > _ROUGH and not variances_agree(residuals):
        return (
            f"the residual variances differ by more than chance, and {statistics.n_samples} rows "
            "with such tails are too few for BIC to count that"
        )
    joined = ~statistics.constant & (W.any(axis=0) | W.any(axis=1))
    if joined.any() and residuals.columns.agree(joined):
        return (
            "the variances of the joined columns differ by no more than chance, too little to "
            "read directions from"
        )
    return ""


def barred_beforehand(statistics: Statistics) -> str:
    """Say why variances cannot be equal, whatever the graph; nothing where they can."""
    if statistics.ranks:
        return "ranks have no scale"
    if statistics.looks_standardised:
        return "the columns are standardised, and their noise was scaled with them"
    if statistics.discrete is not None and statistics.discrete.any():
        return "the variance of a discrete column follows from the shares of its levels"
    if _differ_by_far(statistics):
        return "what all others leave of some columns is more than others vary at all"
    return ""


def _differ_by_far(statistics: Statistics) -> bool:
    """Whether columns show, without any graph, that their noise differs by far.

    A column varies at least as much as its noise; given all others, at most as much. So with equal
    noise the largest variance given all others is at most the smallest variance. Asked where that
    is quick, and has rows enough. Perturbed rows have other noise, so with them nothing is asked.
    """
    if statistics.perturbed is not None:
        return False
    S, n = statistics.S[np.ix_(~statistics.constant, ~statistics.constant)], statistics.n_samples
    if not 0 < len(S) <= _LARGEST_INVERSE or n < 2 * len(S):
        return False
    R = correlations(S)
    np.fill_diagonal(R, 1.0 + VARIANCE_FLOOR)  # copies of a column have no inverse
    given_others = S.diagonal() / np.linalg.inv(R).diagonal()
    return bool(given_others.max() > _FAR * S.diagonal().min())


def _standard_error(residuals: Residuals) -> float:
    """Return how uncertain the logarithm of a residual variance is, given its tails."""
    tails = max(residuals.mean_kurtosis(~residuals.statistics.constant), GAUSSIAN)
    return float(np.sqrt((tails - 1.0) / residuals.statistics.n_samples))


def _would_be_noticed(residuals: Residuals) -> bool:
    """Whether BIC would most likely reject variances whose logarithms have deviation `_MODERATE`.

    Their spread would be a chi-square with d - 1 degrees of freedom, stretched by one plus their
    variance in units of chance; BIC rejects a spread above (d - 1)·log n.
    """
    varies = ~residuals.statistics.constant
    freedom = int(varies.sum()) - 1
    if freedom < 1:
        return True
    tails = max(residuals.mean_kurtosis(varies), GAUSSIAN) - 1.0
    stretch = 1.0 + _MODERATE**2 * residuals.degrees(varies).mean() / tails
    rejected = freedom * np.log(residuals.statistics.n_samples)
    return bool(chi2.sf(rejected / stretch, freedom) >= _LIKELY)


def variances_agree(residuals: Residuals) -> bool:
    """Whether the residual variances of a graph differ by no more than chance would make them.

    In large graphs a few may stand out. Standardised data are left to BIC:
    with weak effects all variances stay close to one there.
    """
    statistics = residuals.statistics
    return not statistics.looks_standardised and residuals.agree(~statistics.constant)


def _spread(variances: FloatArray, kurtosis: FloatArray, n_samples: IntArray) -> float:
    """Return how far the logarithms of the variances are apart, in units of chance."""
    return float(_surprises(variances, kurtosis, n_samples).sum())


def _surprises(variances: FloatArray, kurtosis: FloatArray, n_samples: IntArray) -> FloatArray:
    """Return the squared distance of each log variance from their mean, in units of chance."""
    if not len(variances):
        return variances
    logs = np.log(variances)
    # Tails lighter than a Gaussian's would sharpen the test; it is left as for a Gaussian.
    precision = n_samples / (np.maximum(kurtosis, GAUSSIAN) - 1.0)
    centre = np.average(logs, weights=precision)
    return precision * (logs - centre) ** 2


def _power_sums(residuals: Residuals, rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return the sums of the powers 0 to 4 of the residuals of some rows, in deviations."""
    statistics, W = residuals.statistics, residuals.W
    # Divided before they are squared: the fourth power of a tiny residual is zero.
    unit = np.sqrt(np.maximum(residuals.variances, np.finfo(float).tiny))[:, None]
    # Sparse, as most nodes have few parents.
    few = sparse.eye_array(len(W), format="csr") - sparse.csr_array(W.T)
    places = evenly(np.arange(len(rows)), _ROWS)
    centre, sums = np.nanmean(rows[places], axis=0), np.zeros((5, len(W)))
    for first in range(0, len(places), _BLOCK):
        block = places[first : first + _BLOCK]
        left = few @ np.ascontiguousarray((rows[block] - centre).T) / unit
        left[statistics.constant] = 0.0  # rounding of a huge constant is no residual
        power = np.ones_like(left)
        if statistics.perturbed is not None:
            power -= statistics.perturbed[block].T
        if weights is not None:
            power *= weights[block]
        # A gap of a node, or of one of its parents, takes a row out.
        power[np.isnan(left)] = 0.0
        np.nan_to_num(left, copy=False)
        for total in sums:
            total += power.sum(axis=1)
            power *= left
    return sums
