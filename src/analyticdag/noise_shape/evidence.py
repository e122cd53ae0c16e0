"""How clearly the shapes of noise prefer a direction, and when that is enough to claim it.

For an edge that a class leaves open, the best member with the edge one way is compared with the
best member with the edge the other way, row by row (Vuong 1989): the difference of their gains, in
units of its standard error over the rows, is the *margin* of the edge. It is claimed where

1. the margin is at least 3 standard errors, and the difference at least 20 units of log-likelihood,
2. the noise of the effect does not depend on the cause: where an equation bends, the noise changes
   its size, or a common cause was not measured, it does, whichever way the edge points,
3. neither end holds a few values only: such columns have no noise that is added. Nor do they decide
   about other edges: members are compared that have the edges at such columns the same way,
4. the edge is probable, where probabilities are known; the margin is at least 6 where an open edge
   at its ends is not.

Where the noise depends on the cause at many edges, the model does not hold, and nothing is claimed
at all: a margin says how far two wrong models are apart, not which is right. All numbers are from
simulations with own seeds (docs/benchmarks/noise-shape.md): with Gaussian noise, the largest
difference in 1,164 open edges was 18, and the margin was beyond 3 in one of 68.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.noise_shape.local import Family, LocalGains, family_in
from analyticdag.noise_shape.turning import Arc, Component, Member

LEAST_MARGIN, LEAST_GAINED = 3.0, 20.0
# The least probability of an edge that is claimed, and the margin where an open edge beside it has
# less. Of 12,070 labels (own seeds, 300 and 1,000 rows) 20 were wrong, with these rules 11 of
# 11,850. Those they take out came several in one table.
SURE, MARGIN_BESIDE_DOUBT = 0.9, 6.0
# A member of the class is preferred to the one that was found from here on: below is rounding. With
# t noise (5 degrees) and 300 rows 0.9 errors in 50 nodes were left, 1.7 at a limit of ten. With
# Gaussian noise either is as good as the other (3.7 and 3.6).
WORTH_TURNING = 1.0
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
        """Whether it is enough to claim a direction, or to leave a class for another."""
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
    return preference(difference)


def preference(difference: FloatArray) -> Preference:
    """Judge differences row by row (Vuong 1989)."""
    error = float(difference.std() * np.sqrt(len(difference)))
    gained = float(difference.sum())
    return Preference(gained, gained / error if error > 0.0 else 0.0)


def noise_depends(gains: LocalGains, graph: BoolArray) -> set[Arc]:
    """Return the edges of which the noise of the effect depends on the cause, in size or bend."""
    return {
        (cause, effect)
        for effect in np.flatnonzero(graph.any(axis=0)).tolist()
        for cause in dependent_causes(gains, family_in(graph, effect))
    }


def dependent_causes(gains: LocalGains, family: Family) -> list[int]:
    """Return the parents of a node on which its noise depends."""
    if family not in gains.dependent:
        gains.dependent[family] = _dependent_causes(gains, *family) if family[1] else []
    return gains.dependent[family]


def _dependent_causes(gains: LocalGains, effect: int, causes: tuple[int, ...]) -> list[int]:
    used = slice(None) if gains.used is None else gains.used[effect]
    parents, no_parents = np.array(causes), np.empty((len(causes), 0), dtype=np.int64)
    u = gains.residuals(np.array([effect]), parents[None])[:, used].clip(-_CLIP, _CLIP)
    X = gains.residuals(parents, no_parents)[:, used].clip(-_CLIP, _CLIP)
    return parents[_dependence(u, X) > _DEPENDENT].tolist()


def _dependence(u: FloatArray, X: FloatArray) -> FloatArray:
    """Return the largest of five correlations that are zero where u (1, n) and a row of X are
    independent.

    They are in standard errors. Least squares leaves no correlation of u and x themselves, and that
    its slope is an estimate is taken into account: what a change of the slope would do to a
    correlation is taken off.
    """
    size = np.abs(u) - float(np.sign(u).mean()) * u
    bend = u * u * u - 3.0 * float(np.mean(u * u)) * u
    noise, x = _centred(np.concatenate([u, size, bend])), _centred(X)
    square = np.einsum("kn,kn->k", x, x)
    found = [_correlations(noise[1:], x)]
    for values, rows in ((np.abs(X), slice(0, 2)), (X * X * X, slice(0, 1))):
        beside = _centred(values)  # what is left of them by a line through x
        slope = np.einsum("kn,kn->k", beside, x) / np.where(square > 0.0, square, 1.0)
        beside -= slope[:, None] * x
        found.append(_correlations(noise[rows], beside))
    largest: FloatArray = np.abs(np.concatenate(found)).max(axis=0)
    return largest * np.sqrt(u.shape[1])


def _correlations(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the correlations of each row of a with each of b; both are centred."""
    size = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    return (a @ b.T) / np.where(size > 0.0, size, 1.0)


def _centred(rows: FloatArray) -> FloatArray:
    return rows - rows.mean(axis=1, keepdims=True)
