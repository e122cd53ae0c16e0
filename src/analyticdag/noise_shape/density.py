"""The shape of noise: how much better a flexible density fits a residual than a Gaussian one.

A residual u, with mean zero and variance one, gets the density

    f(u) = φ(u) · exp(s(u) - A),      s = a cubic spline on [-4, 4], constant outside

with A such that f integrates to one. φ is the Gaussian density, and s = 0 is Gaussian noise. The
spline maximises the likelihood less a penalty on its bends, and where that gains less than its
degrees of freedom explain, it is zero. The *gain* of a row is s(u) - A = log f(u)/φ(u). It is
bounded: no outlier decides anything by itself.

Values are put into bins first, so that a fit costs the same for a hundred rows and for a million.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline
from scipy.stats import norm

from analyticdag._typing import FloatArray, IntArray

# The spline has intervals of half a standard deviation; values are in bins of a tenth of that.
_END, _INTERVAL, _BIN = 4.0, 0.5, 0.05
# Weights of the penalty on bends, the smoothest first; AIC takes one of them.
_PENALTIES = (100.0, 3.0)
_RIDGE = 1e-3  # the level of s is free without it
_STEPS, _CLOSE = 25, 1e-4
_LONGEST = 2.0  # a step of Newton's method changes s by no more: further out it may overshoot

N_BINS = round(2 * _END / _BIN)
_EDGES = np.linspace(-_END, _END, N_BINS + 1)


def _splines() -> FloatArray:
    """Return cubic B-splines, one in each column, at the centres of the bins."""
    knots = np.arange(-_END - 3 * _INTERVAL, _END + 3.5 * _INTERVAL, _INTERVAL)
    centres = (_EDGES[:-1] + _EDGES[1:]) / 2
    return np.stack([BSpline(knots, one, 3)(centres) for one in np.eye(len(knots) - 4)], axis=1)


_B = _splines()
_K = _B.shape[1]
_PRODUCTS = (_B[:, :, None] * _B[:, None, :]).reshape(N_BINS, -1)
# The share of a Gaussian in every bin; its tails belong to the last ones.
_GAUSSIAN = np.diff(norm.cdf(np.r_[-np.inf, _EDGES[1:-1], np.inf]))
_BENDS = np.diff(np.eye(_K), 2, axis=0)


def bins_of(u: FloatArray) -> IntArray:
    """Return the bin of every value; what lies outside belongs to the last ones."""
    return np.clip(((u + _END) / _BIN).astype(np.int64), 0, N_BINS - 1)


def fitted_gains(counts: FloatArray) -> FloatArray:
    """Return log f/φ in every bin for densities (m, bins) of which the values are counted.

    AIC chooses the penalty; no gain at all is a choice too.
    """
    best, most = np.zeros_like(counts), np.zeros(len(counts))
    theta = np.zeros((len(counts), _K))
    for penalty in _PENALTIES:
        theta, gain, freedom = _maximise(counts, penalty, theta)
        score = np.einsum("mb,mb->m", counts, gain) - freedom
        better = score > most
        best[better], most[better] = gain[better], score[better]
    return best


def _maximise(
    counts: FloatArray, penalty: float, theta: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Maximise Σ counts·gain - penalty/2·|bends of θ|² by Newton's method.

    Also return the gain of every bin, and the degrees of freedom.
    """
    n = counts.sum(axis=1, keepdims=True)
    observed = counts @ _B
    R = penalty * _BENDS.T @ _BENDS + _RIDGE * np.eye(_K)
    for _ in range(_STEPS):
        gain, share = _gain(theta)
        mean = share @ _B
        slope = observed - n * mean - theta @ R
        information = (share @ _PRODUCTS).reshape(-1, _K, _K) - mean[:, :, None] * mean[:, None, :]
        information *= n[:, :, None]
        step = np.linalg.solve(information + R, slope[:, :, None])[:, :, 0]
        change = np.abs(step @ _B.T).max(axis=1)
        theta = theta + step * np.minimum(1.0, _LONGEST / np.maximum(change, _LONGEST))[:, None]
        if np.einsum("mk,mk->m", step, slope).max() < _CLOSE:
            break
    gain, _ = _gain(theta)
    freedom = np.trace(np.linalg.solve(information + R, information), axis1=1, axis2=2)
    return theta, gain, freedom


def _gain(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return s - A for every bin, and the share of f in it."""
    s = theta @ _B.T
    s -= s.max(axis=1, keepdims=True)
    weights = _GAUSSIAN * np.exp(s)
    total = weights.sum(axis=1, keepdims=True)
    return s - np.log(total), weights / total
