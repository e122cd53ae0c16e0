"""How clearly the shapes of noise prefer a direction, and when that is enough to claim it.

For an edge that a class leaves open, the best member with the edge one way is compared with the
best member with the edge the other way, row by row (Vuong 1989): the difference of their gains, in
units of its standard error over the rows, is the *margin* of the edge. It is claimed where

1. the margin is at least 3 standard errors, and the difference at least 20 units of log-likelihood,
2. the noise of the effect does not depend on the cause: where an equation bends, the noise changes
   its size, or a common cause was not measured, it does, whichever way the edge points,
3. neither end holds a few values only: such columns have no noise that is added.

Where the noise depends on the cause at many edges, the model does not hold, and nothing is claimed
at all: a margin says how far two wrong models are apart, not which is right. All numbers are from
simulations with own seeds (docs/benchmarks/noise-shape.md): with Gaussian noise, the largest
difference in 1,164 open edges was 18, and the margin was beyond 3 in one of 68.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.noise_shape.local import LocalGains
from analyticdag.noise_shape.turning import Arc, Component, Member

__all__ = ["WORTH_TURNING", "Preference", "compare", "in_doubt", "noise_depends"]

LEAST_MARGIN, LEAST_GAINED = 3.0, 20.0
# Less than this is chance, and no reason to prefer another member to the one that was found.
WORTH_TURNING = 10.0
_CLIP = 3.0  # values further out count as this many deviations: a few rows must not decide
# Chance makes one of five correlations as large, in standard errors, for one edge in 75.
_DEPENDENT = 3.0
# Edges with dependent noise, beside one, from which on the model is in doubt: with linear equations
# and independent noise it was at most one in ten, with violations one in six and more.
_DOUBTFUL = 0.1


@dataclass(frozen=True)
class Preference:
    """By how much one member gains more than another, also in standard errors."""

    gained: float
    margin: float

    @property
    def is_clear(self) -> bool:
        """Whether it is enough to claim a direction."""
        return self.gained >= LEAST_GAINED and self.margin >= LEAST_MARGIN


def in_doubt(dependent: set[Arc], graph: BoolArray) -> bool:
    """Whether so many edges of a graph have dependent noise that the model does not hold."""
    return len(dependent) > 1 + _DOUBTFUL * int(graph.sum())


def compare(component: Component, gains: LocalGains, better: Member, worse: Member) -> Preference:
    """Compare two members row by row."""
    difference = np.zeros(gains.columns.shape[1])
    pairs = zip(component.families(better), component.families(worse), strict=True)
    for one, other in pairs:
        if one != other:
            difference += gains.of_rows(one)
            difference -= gains.of_rows(other)
    error = float(difference.std() * np.sqrt(len(difference)))
    gained = float(difference.sum())
    return Preference(gained, gained / error if error > 0.0 else 0.0)


def noise_depends(gains: LocalGains, graph: BoolArray) -> set[Arc]:
    """Return the edges of which the noise of the effect depends on the cause, in size or bend."""
    found, no_parents = set(), np.empty((1, 0), dtype=np.int64)
    for effect in np.flatnonzero(graph.any(axis=0)).tolist():
        parents = np.flatnonzero(graph[:, effect])
        used = slice(None) if gains.used is None else gains.used[effect]
        u = gains.residuals(np.array([effect]), parents[None])[0, used].clip(-_CLIP, _CLIP)
        for cause in parents.tolist():
            x = gains.residuals(np.array([cause]), no_parents)[0, used].clip(-_CLIP, _CLIP)
            if _dependence(u, x) > _DEPENDENT:
                found.add((cause, effect))
    return found


def _dependence(u: FloatArray, x: FloatArray) -> float:
    """Return the largest of five correlations that are zero between independent columns.

    They are in standard errors. Least squares leaves no correlation of u and x themselves, and that
    its slope is an estimate is taken into account: what a change of the slope would do to a
    correlation is taken off.
    """
    size = np.abs(u) - float(np.sign(u).mean()) * u
    bend = u**3 - 3.0 * float(np.mean(u**2)) * u
    distance, bent = _beside_line(np.abs(x), x), _beside_line(x**3, x)
    pairs = ((size, x), (bend, x), (u, distance), (u, bent), (size, distance))
    return max(abs(_correlation(*pair)) for pair in pairs) * float(np.sqrt(len(u)))


def _beside_line(values: FloatArray, x: FloatArray) -> FloatArray:
    """Return what is left of values by a line through x."""
    centred = x - x.mean()
    square = float(centred @ centred)
    left: FloatArray = values - values.mean()
    return left - centred * (float(left @ centred) / square) if square > 0.0 else left


def _correlation(a: FloatArray, b: FloatArray) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0.0 else 0.0
