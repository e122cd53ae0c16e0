"""Least squares of blocks of columns on blocks, and the correlations that a graph implies."""

from __future__ import annotations

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.design import Design

# Directions with less than this share of the variance are rounding.
_RANK = 1e-10


def slopes(S: FloatArray, others: IntArray, own: IntArray) -> FloatArray:
    """Return coefficients of least squares, in standard units meanwhile."""
    sd = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    R = S / np.outer(sd, sd)
    found = np.linalg.lstsq(R[np.ix_(others, others)], R[np.ix_(others, own)], rcond=_RANK)[0]
    scaled: FloatArray = found * sd[own] / sd[others][:, None]
    return scaled


def log_det(S: FloatArray, own: IntArray, others: IntArray) -> float:
    """Return log det of the correlations of some columns, given others."""
    sd = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    R = S / np.outer(sd, sd)
    left = R[np.ix_(own, own)]
    if len(others):
        across = R[np.ix_(others, own)]
        left = left - across.T @ np.linalg.lstsq(R[np.ix_(others, others)], across, rcond=_RANK)[0]
    return float(np.log(np.maximum(np.linalg.eigvalsh(left), _RANK)).sum())


def implied_correlations(design: Design, R: FloatArray, graph: BoolArray) -> FloatArray:
    """Return the correlations that the equations of a graph make, fitted to the correlations R."""
    W, noise = np.zeros_like(R), np.zeros_like(R)
    for j in range(len(graph)):
        own = design.columns_of(np.array([j]))
        others = design.columns_of(np.flatnonzero(graph[:, j]))
        left = R[np.ix_(own, own)]
        if len(others):
            found = slopes(R, others, own)
            W[np.ix_(others, own)] = found
            left = left - found.T @ R[np.ix_(others, own)]
        noise[np.ix_(own, own)] = left
    paths = np.linalg.inv(np.eye(len(R)) - W)
    S = paths.T @ noise @ paths
    sd = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    implied: FloatArray = S / np.outer(sd, sd)
    return implied
