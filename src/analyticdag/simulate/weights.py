"""The sizes of the weights: uniform, or effects over decades; and units of the columns."""

from __future__ import annotations

import numpy as np

from analyticdag._parameters import shown
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import ParameterError
from analyticdag.graphs import topological_order
from analyticdag.simulate.mechanisms import signed_uniform

__all__ = ["check_range", "draw_units", "effect_weights", "uniform_weights"]


def uniform_weights(
    edges: BoolArray, low: float, high: float, rng: np.random.Generator
) -> FloatArray:
    """Draw ±U(low, high) for every edge."""
    weights = np.zeros(edges.shape)
    weights[edges] = signed_uniform(low, high, int(edges.sum()), rng)
    return weights


def effect_weights(
    edges: BoolArray, sizes: tuple[float, float], scales: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw the size of every effect, log-uniform, and return the weights that give it.

    An effect is in noise scales of the child per standard deviation of the parent, so that a
    parent far down the graph, which varies a lot, has no larger effects than the others.
    """
    size = draw_units(sizes, int(edges.sum()), rng)
    weights = np.zeros(edges.shape)
    weights[edges] = np.where(rng.random(len(size)) < 0.5, -size, size)
    mixing = np.diag(scales)  # column j: how x_j depends on the standard noise of every node
    for j in topological_order(edges):
        parents = np.flatnonzero(edges[:, j])
        if len(parents):
            sd = np.linalg.norm(mixing[:, parents], axis=0)
            weights[parents, j] *= scales[j] / sd
            mixing[:, j] += mixing[:, parents] @ weights[parents, j]
    return weights


def draw_units(bounds: tuple[float, float], size: int, rng: np.random.Generator) -> FloatArray:
    """Draw log-uniform factors."""
    low, high = np.log(bounds)
    return np.asarray(np.exp(rng.uniform(low, high, size=size)), dtype=np.float64)


def check_range(name: str, bounds: tuple[float, float]) -> tuple[float, float]:
    """Read (low, high), both positive."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"{name} must be (low, high); got {shown(bounds)}") from error
    if not 0.0 < low <= high < np.inf:
        raise ParameterError(f"{name} needs 0 < low <= high; got {shown(bounds)}")
    return low, high
