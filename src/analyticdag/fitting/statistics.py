"""What a fit sees of the data: covariances, means and names, and the rows where a loss needs them.

There is one covariance for every column, unless interventions give some of them rows of their own.

Constant columns stay, as columns that nothing can be said about: uncorrelated, with variance one,
and no edge may touch them. Standardising happens here and nowhere else; and here columns that
are all very large or very small are brought into range, by one power of two for all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from analyticdag._redundant import (
    NOTHING_REDUNDANT,
    Redundant,
    redundant_columns,
    warn_about_columns,
)
from analyticdag._tables import constant_columns, listing, one_value
from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import looks_standardised
from analyticdag.errors import DataError, DataWarning
from analyticdag.fitting.rows import Rows
from analyticdag.fitting.tally import Tally
from analyticdag.losses import VARIANCE_FLOOR
from analyticdag.moments import Moments, row_sets
from analyticdag.tables.gaps import SEEN_TOGETHER, Gaussian, effective_rows, pair_counts

# Standard deviations within these have covariances whose ratios can be squared, as the search does
# with a covariance and the noise variance; what lies outside is brought inside first.
_ORDINARY = 1e-25, 1e25


def _common_unit(sd: FloatArray, constant: BoolArray, names: list[Hashable]) -> float:
    """Return the power of two that brings the columns into range: one, unless they are far out.

    One unit for all leaves the scales as they are to each other, and the weights as they are.
    """
    if constant.all():
        return 1.0
    varying = np.flatnonzero(~constant)
    least, most = (int(varying[k]) for k in (sd[varying].argmin(), sd[varying].argmax()))
    if _ORDINARY[0] <= sd[least] and sd[most] <= _ORDINARY[1]:
        return 1.0
    if np.log2(sd[most]) - np.log2(sd[least]) > np.log2(_ORDINARY[1] / _ORDINARY[0]):
        middle = float(np.median(np.log2(sd[varying])))
        far = max(least, most, key=lambda k: abs(np.log2(sd[k]) - middle))
        raise DataError(
            f"column {names[far]!r} has a standard deviation of {sd[far]:.3g}, and that of others "
            "is more than 1e50 times as large or as small, too far apart to compute with; rescale "
            "it, or standardise the columns"
        )
    return float(2.0 ** np.round((np.log2(sd[least]) + np.log2(sd[most])) / 2.0))


@dataclass(frozen=True, eq=False)
class Statistics:
    """The data of a fit. `rows` are as given (scaled if standardised), never centred; of more rows
    than memory holds they are a sample.

    `perturbed[r, j]` says that row r tells nothing about the equation of column j, `unseen[i, j]`
    that gaps leave next to no row with both columns.
    """

    moments: Moments
    names: list[Hashable]
    mean: FloatArray
    scale: FloatArray
    constant: BoolArray
    rows: Rows | None = None
    perturbed: BoolArray | None = None
    unseen: BoolArray | None = None
    discrete: BoolArray | None = None  # which columns are yes/no, ordered or categories
    ranks: bool = False  # whether correlations are those of ranks, which have no scale
    tally: Tally | None = None  # all rows added up, levels and all, where they came in batches
    redundant: Redundant = NOTHING_REDUNDANT
    sample: Rows | None = None  # and a fair sample of them, in their own units

    @classmethod
    def from_table(
        cls,
        X: FloatArray,
        names: list[Hashable],
        *,
        standardize: bool,
        perturbed: BoolArray | None = None,
        weights: FloatArray | None = None,
    ) -> Statistics:
        """Reduce a checked table, with NaN for gaps, to its statistics; a weight is positive."""
        low, high = X.min(axis=0), X.max(axis=0)
        gaps = bool(np.isnan(low).any())
        if gaps:
            moments, constant = moments_with_gaps(X, perturbed, weights), constant_columns(X)
        else:
            moments = Moments.of_rows(X, perturbed, weights, spread=high - low)
            constant = one_value(low, high)
        statistics = cls._build(moments, names, constant, standardize, X if gaps else None)
        rows = Rows(X, weights).divided(statistics.scale)
        unseen = pair_counts(X, weights) < SEEN_TOGETHER if gaps else None
        _warn_unseen(unseen, names)
        mean = moments.means[0]
        return replace(statistics, mean=mean, rows=rows, perturbed=perturbed, unseen=unseen)

    @classmethod
    def from_sums(
        cls, tally: Tally, rows: Rows | None, names: list[Hashable], *, standardize: bool
    ) -> Statistics:
        """Take rows that were added up batch by batch, and a sample of them."""
        sums = tally.columns
        statistics = cls._build(Moments.of_sums(sums), names, sums.constant, standardize)
        scaled = None if rows is None else rows.divided(statistics.scale)
        sample = rows if rows is not None and rows.fair else None
        return replace(statistics, mean=sums.mean, rows=scaled, tally=tally, sample=sample)

    @classmethod
    def from_covariance(
        cls, S: FloatArray, n_samples: int, names: list[Hashable], *, standardize: bool
    ) -> Statistics:
        """Take a checked covariance for the data, which are then said to have mean zero."""
        return cls._build(Moments.shared(S, n_samples), names, np.diag(S) <= 0, standardize)

    @classmethod
    def _build(
        cls,
        moments: Moments,
        names: list[Hashable],
        constant: BoolArray,
        standardize: bool,
        gapped: FloatArray | None = None,
    ) -> Statistics:
        d = len(constant)
        S = moments.covariances
        if constant.any():
            S = np.where(constant[:, None] | constant, np.eye(d), S)
        n_samples = moments.n_samples
        redundant = redundant_columns(S[0], ~constant, n_samples=n_samples, gapped=gapped)
        warn_about_columns(redundant, constant, names)
        sd = np.sqrt(np.diag(S[0]))
        moments = replace(moments, covariances=S)
        if standardize:  # constant columns have variance one
            own = cls(moments.standardised(), names, np.zeros(d), sd, constant)
            return replace(own, redundant=redundant)
        scale = np.where(constant, 1.0, _common_unit(sd, constant, names))
        own = cls(moments.scaled(scale), names, np.zeros(d), scale, constant)
        return replace(own, redundant=redundant)

    @property
    def S(self) -> FloatArray:  # noqa: N802 (a letter of the mathematics)
        """The covariance of all rows."""
        return self.moments.S

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return self.moments.n_samples

    def with_unit_variances(self) -> Statistics:
        """Return the statistics of the columns in units of their standard deviations."""
        sd = np.sqrt(np.diag(self.S))
        moments = self.moments.standardised()
        rows = None if self.rows is None else self.rows.divided(sd)
        return replace(self, moments=moments, scale=self.scale * sd, rows=rows)

    def residual_variances(self, W: FloatArray) -> FloatArray:
        """Return what W leaves unexplained of every column, never less than rounding makes it."""
        floor = VARIANCE_FLOOR * np.diag(self.S)
        return np.maximum(self.moments.residual_variances(W), floor)

    def noise_variances(self, W: FloatArray, *, pooled: bool) -> FloatArray:
        """Return the noise variances, one for all if pooled; zero for constant columns."""
        v = self.residual_variances(W)
        varies = ~self.constant
        if pooled and varies.any():
            v[varies] = np.average(v[varies], weights=self.moments.samples_of[varies])
        return np.where(varies, v, 0.0)

    def undisturbed_mean(self, W: FloatArray) -> FloatArray:
        """Return the mean of the columns, in their own units, where nothing is done to any."""
        if self.perturbed is None:
            return self.mean
        return self.moments.undisturbed_mean(W) * self.scale

    @property
    def unjudged(self) -> BoolArray:
        """Which columns have no noise that could be compared with a model's."""
        return self.constant if self.discrete is None else self.constant | self.discrete

    @property
    def has_gaps(self) -> bool:
        """Whether some rows have gaps."""
        return self.unseen is not None

    @property
    def looks_standardised(self) -> bool:
        """Whether the scales carry no information any more."""
        return self.ranks or looks_standardised(np.diag(self.S)[~self.constant])

    @property
    def touchable(self) -> BoolArray:
        """Return the (d, d) mask of edges between columns that vary, and are seen together."""
        varies = ~self.constant
        touchable: BoolArray = varies[:, None] & varies
        return touchable if self.unseen is None else touchable & ~self.unseen


def moments_with_gaps(
    X: FloatArray, perturbed: BoolArray | None, weights: FloatArray | None = None
) -> Moments:
    """Return maximum likelihood moments of rows with gaps; `counts` are the rows they are worth.

    Every set of rows that an equation may use is taken for a Gaussian of its own.
    """
    parts, of = row_sets(X, perturbed)
    own = [None] * len(parts) if weights is None else row_sets(weights, perturbed)[0]
    pairs = list(zip(parts, own, strict=True))
    everything = Gaussian.of_rows(X, weights=weights)
    found = [everything, *(Gaussian.of_rows(part, everything, weights=w) for part, w in pairs[1:])]
    counts = [effective_rows(part, one.S, w) for (part, w), one in zip(pairs, found, strict=True)]
    held = np.array(
        [np.minimum(pair_counts(*pair) / n, 1.0) for pair, n in zip(pairs, counts, strict=True)]
    )
    return Moments(
        np.array([one.S for one in found]),
        np.array([one.mean for one in found]),
        np.array(counts),
        of,
        held[of, :, np.arange(len(of))].T,
    )


def moments_of(X: FloatArray) -> Moments:
    """Return the moments of rows in which nothing was perturbed, with gaps or without."""
    nowhere = np.zeros(X.shape, dtype=bool)
    return moments_with_gaps(X, None) if np.isnan(X).any() else Moments.of_rows(X, nowhere)


def _warn_unseen(unseen: BoolArray | None, names: list[Hashable]) -> None:
    if unseen is None or not unseen.any():
        return
    pairs = [(names[i], names[j]) for i, j in np.argwhere(np.triu(unseen, 1)).tolist()]
    warnings.warn(
        f"columns {listing(pairs)} are there together in fewer than {SEEN_TOGETHER} rows: whether "
        "they are joined cannot be known, and no edge is looked for",
        DataWarning,
        stacklevel=4,
    )
