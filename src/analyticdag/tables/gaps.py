"""Rows with gaps: maximum likelihood of a Gaussian's mean and covariance from what is there.

    Gaussian.of_rows(X)       EM: the mean and covariance under which the cells that are there are
                              most likely (Dempster, Laird and Rubin 1977)
    pair_counts(X)            in how many rows both columns of a pair are there
    effective_rows(X, S)      how many full rows they are worth

This is right where gaps are by chance, or where what is there explains them (MCAR and MAR); where
a value is missing because of what it would have been, nothing in the table can tell.

With K the inverse of the covariance, the missing part m of a row has, given the rest o, the mean
μ_m - K_mm⁻¹ K_mo (x_o - μ_o) and the covariance K_mm⁻¹: rows with the same gaps share one small
inverse. Anderson's mixing of the last steps makes EM several times as fast; a mixed step that is
no covariance, or less likely than the one before, is replaced by the plain one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from analyticdag._tables import constant_columns
from analyticdag._typing import BoolArray, FloatArray, IntArray

# Places of rows, columns and cells; half as long as usual, for there may be millions.
Places: TypeAlias = NDArray[np.int32]
MISSING_RULES = ("error", "drop", "em")
# A step of EM that changes no mean and no covariance by more than this share of a standard error,
# which is 1/√n in standard units, is the last: what is left to gain is beyond what n rows can tell.
TOLERANCE = 1e-3
_MOST_STEPS = 1000
# Pairs that are there together in fewer rows have no correlation that could be estimated.
SEEN_TOGETHER = 3
# How many steps are mixed; more hardly helps.
_MIXED = 5
# Added to the variances, as a share: keeps copies of columns from making a singular matrix.
_RIDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A mean and a covariance, and what they say about rows with gaps."""

    mean: FloatArray
    S: FloatArray
    n_steps: int = 0

    @classmethod
    def of_rows(
        cls,
        X: FloatArray,
        start: Gaussian | None = None,
        *,
        weights: FloatArray | None = None,
        tolerance: float = TOLERANCE,
    ) -> Gaussian:
        """Return the maximum likelihood estimate from rows with NaN for gaps.

        Weights act like rows that are repeated so often.
        """
        centre, scale = _units(X)
        keep = np.flatnonzero(scale > 0.0)  # a constant is known wherever it is missing
        block = np.ix_(keep, keep)
        unit = np.outer(scale, scale)[block]
        mean, S = np.zeros(len(keep)), np.eye(len(keep))
        if start is not None and np.all(start.S.diagonal()[keep] > 0.0):
            mean, S = (start.mean - centre)[keep] / scale[keep], start.S[block] / unit
        rows = _Rows((X[:, keep] - centre[keep]) / scale[keep], weights)
        (mean, S), n_steps = _climb(rows, mean, S, tolerance / np.sqrt(rows.n))
        found = cls(centre, np.zeros(2 * centre.shape), n_steps)
        found.mean[keep] += scale[keep] * mean
        found.S[block] = S * unit
        return found

    def log_likelihood(self, X: FloatArray, weights: FloatArray | None = None) -> float:
        """Return the log-likelihood of the cells that are there."""
        scale, seen = _deviations(self.S), ~np.isnan(X)
        if weights is not None:
            seen = seen * weights[:, None]
        rows = _Rows((X - self.mean) / scale, weights)
        mean, S = np.zeros(len(scale)), self.S / np.outer(scale, scale)
        constants = seen.sum(axis=0) @ (0.5 * np.log(2.0 * np.pi) + np.log(scale))
        return rows.step(mean, S)[2] - float(constants)

    def filled(self, X: FloatArray, rng: np.random.Generator | None = None) -> FloatArray:
        """Return the rows with gaps filled by what is expected; with `rng`, by a draw."""
        keep = np.flatnonzero(self.S.diagonal() > 0.0)
        scale = np.sqrt(self.S.diagonal()[keep])
        filled = np.where(np.isnan(X), self.mean, X)
        K = _inverse(self.S[np.ix_(keep, keep)] / np.outer(scale, scale))[0]
        for rows, gaps, S, centre in _Rows((X - self.mean)[:, keep] / scale).expected(K):
            if rng is not None:
                centre = centre + rng.standard_normal(centre.shape) @ np.linalg.cholesky(S).T
            at = rows[:, None], keep[gaps]
            filled[at] = self.mean[keep[gaps]] + scale[gaps] * centre
        return filled


def _deviations(S: FloatArray) -> FloatArray:
    sd = np.sqrt(np.diag(S))
    return np.where(sd > 0.0, sd, 1.0)


def _units(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the deviation of what is there of each column; 0 for a constant."""
    n_seen = np.count_nonzero(~np.isnan(X), axis=0)
    centre = np.nansum(X, axis=0) / np.maximum(n_seen, 1)
    size = np.nanmax(np.abs(X - centre), axis=0, initial=0.0)
    size = np.where(size > 0.0, size, 1.0)  # squares of 1e150 are no numbers
    spread = np.nansum(((X - centre) / size) ** 2, axis=0) / np.maximum(n_seen, 1)
    deviation = np.where(constant_columns(X), 0.0, size * np.sqrt(spread))
    return np.where(deviation > 0.0, centre, np.fmax.reduce(X, axis=0)), deviation


class _Rows:
    """Rows in standard units, those with the same gaps together."""

    def __init__(self, Z: FloatArray, weights: FloatArray | None = None) -> None:
        absent = np.isnan(Z)
        self.Z, self.weights = np.where(absent, 0.0, Z), weights
        self.n = float(len(Z) if weights is None else weights.sum())
        self.absent = absent
        self.parts = list(_patterns(absent))
        self.worth = [
            float(len(rows) if weights is None else weights[rows].sum())
            for rows, _, _ in self.parts
        ]

    def expected(self, K: FloatArray) -> Iterator[tuple[Places, Places, FloatArray, FloatArray]]:
        """Yield rows, their gaps, the covariance of these and their means, if all means are 0."""
        pulled = self.Z @ K
        for rows, gaps, block in self.parts:
            if len(gaps):
                inverse = _inverse(K.ravel()[block])[0]
                yield rows, gaps, inverse, -pulled[rows[:, None], gaps] @ inverse

    def step(self, mean: FloatArray, S: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return the next mean and covariance of EM, and the log-likelihood of these ones."""
        K, logdet = _inverse(S)
        apart = np.where(self.absent, 0.0, self.Z - mean)
        pulled, spread = apart @ K, self.n * logdet
        unsure = np.zeros(S.size)
        for (rows, gaps, block), n in zip(self.parts, self.worth, strict=True):
            if len(gaps):
                factor, own = _factor(K.ravel()[block])
                at = rows[:, None], gaps
                apart[at] = -lapack.dpotrs(factor, pulled[at].T, lower=1)[0].T
                # The upper half of this is waste of the factor, and not looked at below.
                unsure[block] += n * lapack.dpotri(factor, lower=1)[0]
                spread += n * own
        weighed = apart if self.weights is None else apart * self.weights[:, None]
        likelihood = -0.5 * (spread + float(np.einsum("ij,ij->", apart @ K, weighed)))
        moved = weighed.sum(axis=0) / self.n
        found = apart.T @ weighed + _symmetric(unsure.reshape(S.shape))
        return mean + moved, found / self.n - np.outer(moved, moved), likelihood


def _patterns(absent: BoolArray) -> Iterator[tuple[Places, Places, Places]]:
    """Yield the rows of every pattern of gaps, the missing columns, and where their block is."""
    packed = np.packbits(absent, axis=1)
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(inverse.ravel()))
    for k, rows in enumerate(np.split(order.astype(np.int32), ends[:-1])):
        gaps = np.flatnonzero(absent[first[k]]).astype(np.int32)
        yield rows, gaps, gaps[:, None] * np.int32(absent.shape[1]) + gaps


def _factor(S: FloatArray) -> tuple[FloatArray, float]:
    """Return the lower Cholesky factor of a covariance and the logarithm of its determinant."""
    factor, failed = lapack.dpotrf(S, lower=1)
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    return factor, 2.0 * float(np.log(factor.diagonal()).sum())


def _inverse(S: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverse of a covariance and the logarithm of its determinant."""
    factor, logdet = _factor(S + np.diag(_RIDGE * S.diagonal()))
    return _symmetric(lapack.dpotri(factor, lower=1)[0]), logdet


def _symmetric(lower: FloatArray) -> FloatArray:
    """Return a symmetric matrix of its lower half."""
    half = np.tril(lower, -1)
    full: FloatArray = half + half.T
    np.fill_diagonal(full, lower.diagonal())
    return full


def _climb(
    rows: _Rows, mean: FloatArray, S: FloatArray, tolerance: float
) -> tuple[tuple[FloatArray, FloatArray], int]:
    """Repeat EM's step, mixing the last ones, until nothing moves."""
    d = len(mean)
    upper = np.triu_indices(d)
    here = np.concatenate([mean, S[upper]])
    plain, best = here, -np.inf
    points: list[FloatArray] = []
    steps: list[FloatArray] = []
    for n_steps in range(1, _MOST_STEPS + 1):  # noqa: B007 (it is returned)
        try:
            after, found, likelihood = rows.step(*_unpacked(here, upper, d))
            worse = likelihood < best - 1e-9 * abs(best)
        except np.linalg.LinAlgError:
            worse = True
        if worse and here is not plain:
            here, points, steps = plain, [], []
            continue
        best = max(best, likelihood)
        plain = np.concatenate([after, found[upper]])
        if np.abs(plain - here).max() <= tolerance:
            break
        points, steps = [*points, plain][-_MIXED:], [*steps, plain - here][-_MIXED:]
        here = _mixed(points, steps)
    return _unpacked(plain, upper, d), n_steps


def _mixed(points: list[FloatArray], steps: list[FloatArray]) -> FloatArray:
    """Return the mixture of the last points whose mixed step is the shortest."""
    if len(points) < 2:
        return points[-1]
    differences = np.diff(np.array(steps), axis=0).T
    shares = np.linalg.lstsq(differences, steps[-1], rcond=1e-10)[0]
    return points[-1] - np.diff(np.array(points), axis=0).T @ shares


def _unpacked(
    point: FloatArray, upper: tuple[IntArray, IntArray], d: int
) -> tuple[FloatArray, FloatArray]:
    S = np.empty((d, d))
    S[upper] = point[d:]
    S.T[upper] = point[d:]
    return point[:d], S


def pair_counts(X: FloatArray, weights: FloatArray | None = None) -> IntArray:
    """Return in how many rows both columns of a pair are there."""
    seen = (~np.isnan(X)).astype(np.float64)
    weighed = seen if weights is None else seen * weights[:, None]
    return np.rint(seen.T @ weighed).astype(np.int64)


def effective_rows(X: FloatArray, S: FloatArray, weights: FloatArray | None = None) -> int:
    """Return how many full rows would make the pairs that matter as certain as these rows do.

    A correlation from m rows has a variance of 1/m, so this is the harmonic mean of `pair_counts`,
    each pair with the weight of its squared correlation: pairs without one decide nothing. One
    number for all keeps the score the same for equivalent graphs. On simulations it did as well as
    the smallest count, and the number of rows finds edges that are not there (docs/benchmarks/
    tables.md).
    """
    counts, sd = pair_counts(X, weights), _deviations(S)
    weight = (S / np.outer(sd, sd)) ** 2
    np.fill_diagonal(weight, 0.0)
    weight[counts < SEEN_TOGETHER] = 0.0
    if weight.sum() <= 0.0:
        return max(int(np.median(np.diag(counts))), 2)
    return max(int(weight.sum() / (weight / np.maximum(counts, 1)).sum()), 2)
