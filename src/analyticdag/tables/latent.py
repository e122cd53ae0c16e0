"""Columns of a few levels as cuts of a normal variable that was not recorded.

    Cuts.between(levels, counts)       thresholds and a score for each level
    latent_correlations(R, series)     polychoric and polyserial correlations, all pairs at once
    efficiency(v, latent, series)      what a row tells about them, beside a row of numbers

Two steps, as usual (Olsson 1979): thresholds from the counts, then correlations. The score of a
level is the mean of the normal variable between its thresholds. With h_m the normalised Hermite
polynomials and a_im = E[score_i(z) h_m(z)], scores of two columns with latent correlation ρ have
the covariance

    Σ_m a_im a_jm ρᵐ

which increases in ρ, so the one observed gives ρ. For two columns of two levels this is the
tetrachoric correlation exactly; for a number beside a cut only the first term is left, and it is
the polyserial one. No pair needs its own table of counts: hundreds of columns take a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from analyticdag._typing import FloatArray, IntArray

# Terms of the series. What is left out is largest for two columns of two levels, about ρ^100/500.
TERMS = 100
# Latent correlations beyond this cannot be told from one, and would make a singular matrix.
MOST = 0.98
# On each side of a cut there are at least so many rows; a cut with fewer is not made.
FEWEST = 10
# Least eigenvalue of rank correlations, and of numbers beside latent columns: pairs need not fit
# together, and below it equations cannot be solved with enough digits.
LEAST = 1e-3
# Newton's steps at most, and the change at which it has settled: digits far beyond any table's
# standard error.
_STEPS, _CLOSE = 25, 1e-9
# Variances below this are rounding.
_ROUNDING = 1e-12
# Correlations near one would make a pair worth nothing.
_LEAST_WORTH = 1e-3
# Columns solved together, so that scratch stays at so many rows.
_BLOCK = 32


@dataclass(frozen=True, eq=False)
class Cuts:
    """The levels of a column, how often each came, and the score of each."""

    levels: FloatArray
    counts: FloatArray
    thresholds: FloatArray
    scores: FloatArray

    @classmethod
    def between(cls, levels: FloatArray, counts: FloatArray) -> Cuts | None:
        """Cut where enough rows are on both sides; None where no such cut is left."""
        below, n = np.cumsum(counts)[:-1], counts.sum()
        made = (below >= FEWEST) & (n - below >= FEWEST)
        # Of neighbouring cuts with too few rows between them the later one is left out.
        kept: list[int] = []
        for k in np.flatnonzero(made).tolist():
            if not kept or below[k] - below[kept[-1]] >= FEWEST:
                kept.append(k)
        if not kept:
            return None
        shares = np.concatenate([[0.0], below[kept] / n, [1.0]])
        thresholds = ndtri(shares)
        of_group = -np.diff(_density(thresholds)) / np.diff(shares)
        group = np.searchsorted(kept, np.arange(len(levels)), side="left")
        return cls(levels, counts, thresholds[1:-1], of_group[group])

    def scored(self, values: FloatArray) -> FloatArray:
        """Return the scores of values; a value between levels has that of the one below it."""
        place = np.clip(np.searchsorted(self.levels, values, side="right") - 1, 0, None)
        return np.where(np.isnan(values), np.nan, self.scores[place])

    @property
    def series(self) -> FloatArray:
        """The coefficients a_1, a_2, … of the score in standard units."""
        ends = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        scores = self.scores[np.flatnonzero(np.diff(self.scores, prepend=-np.inf))]
        density = _density(ends)
        finite = np.where(np.isfinite(ends), ends, 0.0)
        before, here = np.zeros_like(finite), np.ones_like(finite)
        found = np.empty(TERMS)
        for m in range(1, TERMS + 1):
            # ∫ h_m φ = -h_{m-1} φ / √m between two ends
            found[m - 1] = scores @ -np.diff(here * density) / np.sqrt(m)
            before, here = here, (finite * here - np.sqrt(m - 1) * before) / np.sqrt(m)
        return found / np.sqrt(found[0])  # the variance of the scores is a_1


def counted(values: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values and how often each came; a weight counts for so many rows."""
    seen = ~np.isnan(values)
    levels, place = np.unique(values[seen], return_inverse=True)
    counts = np.bincount(place, None if weights is None else weights[seen], len(levels))
    return levels, counts.astype(np.float64)


def _density(z: FloatArray) -> FloatArray:
    return np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)


def number_series() -> FloatArray:
    """The coefficients of a number: it is its own score."""
    return np.eye(1, TERMS)[0]


def cut_columns(series: FloatArray) -> IntArray:
    """Return which columns are cuts: the series of a number ends after its first term."""
    return np.flatnonzero(np.any(series[:, 1:] != 0.0, axis=1))


def latent_correlations(R: FloatArray, series: FloatArray) -> FloatArray:
    """Return the latent correlations behind the correlations R of scores; `series` is (d, m)."""
    observed = np.array(R)
    np.fill_diagonal(observed, 0.0)
    latent = observed.copy()
    cut = cut_columns(series)
    for first in range(0, len(cut), _BLOCK):
        some = cut[first : first + _BLOCK]
        latent[some] = _solve(observed[some], series[some], series)
        latent[:, some] = latent[some].T
    latent = (latent + latent.T) / 2.0
    np.fill_diagonal(latent, 1.0)
    return latent


def _solve(covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Solve Σ_m left[i, m] right[j, m] ρᵐ = covariance[i, j], by Newton's steps in a bracket."""
    low, high = np.full(covariance.shape, -MOST), np.full(covariance.shape, MOST)
    rho = np.clip(covariance / np.outer(left[:, 0], right[:, 0]), -MOST, MOST)
    for _ in range(_STEPS):
        value, slope = _sums(rho, left, right)
        above = value > covariance
        high, low = np.where(above, rho, high), np.where(above, low, rho)
        step = rho - (value - covariance) / np.maximum(slope, np.finfo(float).tiny)
        # At the solution rounding may put the step on an end of the bracket, or past it.
        fits = (step > low) & (step < high) | (np.abs(step - rho) < _CLOSE)
        after = np.where(fits, step, (low + high) / 2.0)
        settled = np.abs(after - rho).max() < _CLOSE
        rho = after
        if settled:
            break
    return rho


def _sums(rho: FloatArray, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Σ_m left[i, m] right[j, m] ρᵐ (from m = 1) and its derivative."""
    value, slope = np.zeros_like(rho), np.zeros_like(rho)
    for m in range(left.shape[1] - 1, -1, -1):
        slope *= rho
        slope += value
        value *= rho
        value += np.outer(left[:, m], right[:, m])
    return value * rho, slope * rho + value


def positive_definite(R: FloatArray) -> FloatArray:
    """Return correlations with eigenvalues of at least `LEAST`: pairs need not fit together."""
    return _correlations(_raised(R, LEAST))


def repaired(R: FloatArray, latent: IntArray, least: float) -> FloatArray:
    """Return correlations whose `latent` columns keep eigenvalues of `least` given all others.

    Errors of pairs push the smallest eigenvalues down, and a direction with nearly no variance pays
    for dozens of false edges. Correlations among the other columns come from rows, and stay,
    unless they have an eigenvalue below `LEAST`.
    """
    rest = np.setdiff1d(np.arange(len(R)), latent)
    known, across = positive_definite(R[np.ix_(rest, rest)]), R[np.ix_(rest, latent)]
    explained = across.T @ np.linalg.solve(known, across)
    fixed = R.copy()
    fixed[np.ix_(rest, rest)] = known
    fixed[np.ix_(latent, latent)] = explained + _raised(
        R[np.ix_(latent, latent)] - explained, least
    )
    return _correlations(fixed)


def _raised(S: FloatArray, least: float) -> FloatArray:
    values, vectors = np.linalg.eigh(S)
    if not len(S) or values[0] >= least:
        return S
    return (vectors * np.maximum(values, least)) @ vectors.T


def _correlations(S: FloatArray) -> FloatArray:
    sd = np.sqrt(np.diag(S))
    fixed: FloatArray = S / np.outer(sd, sd)
    fixed = (fixed + fixed.T) / 2.0
    np.fill_diagonal(fixed, 1.0)
    return fixed


def score_correlations(latent: FloatArray, series: FloatArray) -> FloatArray:
    """Return the correlations of scores that latent ones make: `latent_correlations` undone."""
    R = np.empty_like(latent)
    for first in range(0, len(latent), _BLOCK):
        some = slice(first, first + _BLOCK)
        R[some] = _sums(latent[some], series[some], series)[0]
    np.fill_diagonal(R, 1.0)
    return R


def score_variances(Z: FloatArray, R: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return n times the variance of each correlation R of scores Z, by their fourth moments."""
    share = np.ones(len(Z)) if weights is None else weights
    share = (share / share.sum())[:, None]
    square = Z**2
    two_two = (share * square).T @ square
    three_one = (share * Z**3).T @ Z
    four = np.sum(share * square**2, axis=0)
    variance = two_two - R * (three_one + three_one.T)
    variance += R**2 / 4.0 * (four[:, None] + four + 2.0 * two_two)
    return np.maximum(variance, _ROUNDING)


def efficiency(variance: FloatArray, latent: FloatArray, series: FloatArray) -> FloatArray:
    """Return for each pair the rows of numbers that one row of scores is worth.

    A correlation ρ of numbers has the variance (1 - ρ²)²/n. That of a latent one is that of the
    correlation of scores over the squared derivative of the series.
    """
    worth = np.ones_like(latent)
    for first in range(0, len(latent), _BLOCK):
        some = slice(first, first + _BLOCK)
        slope = _sums(latent[some], series[some], series)[1]
        worth[some] = (1.0 - latent[some] ** 2) ** 2 * slope**2 / variance[some]
    np.fill_diagonal(worth, 1.0)
    return np.clip(worth, _LEAST_WORTH, 1.0)
