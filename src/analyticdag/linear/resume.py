"""What `partial_fit` goes on from: the rows of earlier calls, or what a fit has left of its rows.

    with_rows(estimator, X, weights)    -> Seen

A fit of batches leaves what was seen. That of a table leaves the moments of its columns, of the
levels of its categories (`level_columns_`), and which columns have two values. It leaves no levels
of ordered columns, and no sample.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from analyticdag._typing import FloatArray
from analyticdag._validation import check_table, check_weights
from analyticdag.effects.levels import LevelColumns
from analyticdag.errors import ParameterError
from analyticdag.fitting.rows import Seen
from analyticdag.fitting.tally import MOST_COUNTED, MetLevels, Tally
from analyticdag.linear.rows import chosen, kinds_of, used_rows, warn_of_rare_levels
from analyticdag.sums import Sums
from analyticdag.tables.batches import BATCH_ROWS


def with_rows(estimator: Any, X: Any, sample_weight: Any) -> Seen:
    """Return what was seen so far and these rows; the estimator keeps what was seen before."""
    estimator._seen = _seen_so_far(estimator)
    seen: Seen = estimator._seen.copy()
    first = seen.tally is None
    values = check_table(estimator, X, reset=first, least=1, sample_weight=sample_weight)
    if first and len(values) < BATCH_ROWS:
        then = "from now on; begin with more rows"
        warn_of_rare_levels(estimator.recipe_, len(values), then)
    weights = check_weights(sample_weight, len(values))
    used = used_rows(estimator.missing, values, weights, least=0)
    seen.add(chosen(values, used), chosen(weights, used), kinds_of(estimator))
    return seen


def _seen_so_far(estimator: Any) -> Seen:
    """Return what `partial_fit` has seen, or what a fit has left of its rows."""
    kept: Seen | None = estimator._seen
    if kept is not None:
        return kept
    return Seen(_tally_of(estimator) if hasattr(estimator, "moments_") else None)


def _tally_of(estimator: Any) -> Tally:
    if estimator.interventions_ is not None:
        raise ParameterError(
            "partial_fit cannot go on from a fit with interventions, which has rows of its own "
            "for every column; fit all rows at once"
        )
    met = estimator._met or (None,) * len(estimator.mean_)
    if estimator.level_columns_ is not None:
        return _with_categories(estimator.level_columns_, met)
    varies, moments = estimator.noise_variances_ > 0.0, estimator.moments_
    unit = estimator.scale_ * varies
    S, n, means = moments.S * np.outer(unit, unit), moments.n_samples, estimator.mean_
    counts = tuple(_counts(own, mean, n) for own, mean in zip(met, means, strict=True))
    levels = replace(MetLevels.before_any_row(len(S)), met=met)
    return Tally(levels, counts, Sums.of_covariance(S, means, n))


def _counts(met: FloatArray | None, mean: float, n: float) -> FloatArray:
    """Return how often one or two values came, by their mean."""
    if met is None or len(met) < 2:
        return np.empty(0) if met is None else np.full(len(met), float(n))
    share = (mean - met[0]) / (met[1] - met[0])
    return np.rint(n * np.array([1.0 - share, share]))


def _with_categories(known: LevelColumns, met: tuple[FloatArray | None, ...]) -> Tally:
    """Return the tally of a fit with categories: their levels, and all else as numbers."""
    n, means = known.moments.n_samples, known.moments.means[0]
    none_yet, is_category = MetLevels.before_any_row(len(known.codes)), known.is_category.tolist()
    levels = MetLevels(
        tuple(
            np.sort(codes) if codes else own for codes, own in zip(known.codes, met, strict=True)
        ),
        tuple(np.where(is_category, MOST_COUNTED, none_yet.most).tolist()),
    )
    A, constants = sparse.lil_array((len(levels.node), len(means))), np.zeros(len(levels.node))
    counts = [np.empty(0)] * len(known.codes)
    for k, codes in enumerate(known.codes):
        own, made = known.columns_of(k), np.flatnonzero(levels.node == k)
        if not codes:
            A[made[0], own[0]] = 1.0
            counts[k] = _counts(met[k], means[own[0]], n)
            continue
        points = np.zeros((len(codes), len(known.codes)))
        points[:, k] = codes
        seen = levels.wide(points)[:, made]  # what is made of each level, the reference last
        A[np.ix_(made, own)] = (seen[:-1] - seen[-1]).T
        constants[made] = seen[-1]
        shares = np.append(means[own], 1.0 - means[own].sum())
        counts[k] = np.rint(n * shares)[np.argsort(codes)]
    sums = Sums.of_covariance(known.moments.S, means, n)
    return Tally(levels, tuple(counts), sums.mapped(A.tocsr(), constants, np.zeros(len(means))))
