"""What the shape of one node's noise gains, given its parents: computed once for each choice.

The residual is that of least squares. Standardised, it gets a density (`density`), and the gain is
the logarithm of its likelihood beyond a Gaussian's. The members of an equivalence class have the
same Gaussian likelihood, so gains are all that they are compared by.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.least_squares import regressions
from analyticdag.losses import VARIANCE_FLOOR
from analyticdag.moments import Moments
from analyticdag.noise_shape.density import N_BINS, bins_of, fitted_gains

Family: TypeAlias = tuple[int, tuple[int, ...]]  # a node and its parents, in ascending order
_TOGETHER = 256  # residuals worked on at once: a few MB
# Rows per value from which a column is taken to be rounded.
_ROWS_PER_VALUE = 2
# Of a rounded column with 20,000 rows so many have fifty pairs of equal values: none is enough to
# tell that it is not rounded, and sorting all rows takes longer than all else.
_GLANCE = 1000


def family_in(graph: BoolArray, node: int) -> Family:
    """Return a node of a graph with its parents."""
    return node, tuple(np.flatnonzero(graph[:, node]).tolist())


class LocalGains:
    """Gains by node and parents.

    `perturbed[r, j]` says that row r tells nothing about node j: its gain there is zero. Columns
    marked in `few` stay as they are, because digits drawn for so few values would be noise that
    their effects do not have.
    """

    def __init__(
        self,
        rows: FloatArray,
        moments: Moments,
        perturbed: BoolArray | None,
        few: BoolArray | None = None,
    ) -> None:
        self.moments = moments
        kept = np.zeros(rows.shape[1], dtype=bool) if few is None else few
        spread = [
            (column, column if keep else without_ties(column))
            for column, keep in zip(rows.T, kept, strict=True)
        ]
        self.columns = np.array([column for _, column in spread])
        self.rounded = np.array([column is not before for before, column in spread])
        self.used = None if perturbed is None else np.ascontiguousarray(~perturbed.T)
        self._gains: dict[Family, FloatArray] = {}  # of every bin
        self._totals: dict[Family, float] = {}
        # Parents on which the noise of the node depends; `evidence` finds them.
        self.dependent: dict[Family, list[int]] = {}

    def total(self, family: Family) -> float:
        """Return the gain of all rows."""
        if family not in self._totals:
            self.prepare([family])
        return self._totals[family]

    def of_rows(self, family: Family) -> FloatArray:
        """Return the gain of every row."""
        self.total(family)
        node, parents = family
        u = self.residuals(np.array([node]), np.array([parents], dtype=np.int64))[0]
        gains: FloatArray = self._gains[family][bins_of(u)]
        return gains if self.used is None else gains * self.used[node]

    def prepare(self, families: Iterable[Family]) -> None:
        """Compute what is not known yet, many at a time."""
        new = sorted({one for one in families if one not in self._totals}, key=_size_first)
        for first in range(0, len(new), _TOGETHER):
            some = new[first : first + _TOGETHER]
            counts = np.concatenate([self._counts(group) for group in _by_size(some)])
            gains = fitted_gains(counts)
            totals = np.einsum("mb,mb->m", counts, gains)
            self._gains.update(zip(some, gains.astype(np.float32), strict=True))
            self._totals.update(zip(some, totals.tolist(), strict=True))

    def _counts(self, families: list[Family]) -> FloatArray:
        """Count the standardised residuals of families of one size by bins."""
        nodes = np.array([node for node, _ in families])
        parents = np.array([parents for _, parents in families], dtype=np.int64)
        residuals = self.residuals(nodes, parents)
        bins = bins_of(residuals)
        weights = None if self.used is None else self.used[nodes].ravel().astype(np.float64)
        flat = (bins + N_BINS * np.arange(len(nodes))[:, None]).ravel()
        counts = np.bincount(flat, weights, minlength=N_BINS * len(nodes))
        by_node = counts.reshape(len(nodes), N_BINS).astype(np.float64)
        by_node[np.ptp(residuals, axis=1) == 0.0] = 0.0
        return by_node

    def residuals(self, nodes: IntArray, parents: IntArray) -> FloatArray:
        """Return standardised residuals (m, n) of nodes (m,) on their parents (m, k).

        What is left of a node that its parents determine is rounding, and has no shape: zero.
        """
        moments = self.moments
        left = self.columns[nodes] - moments.means[moments.of[nodes], nodes][:, None]
        variances = moments.own_variances[nodes]
        floor = VARIANCE_FLOOR * variances
        if parents.shape[1]:
            found = regressions(moments, nodes, parents)
            means = moments.means[moments.of[nodes, None], parents]
            for k, slopes in enumerate(found.slopes.T):
                left -= slopes[:, None] * (self.columns[parents[:, k]] - means[:, k, None])
            variances = variances - found.explained
        scale = np.where(variances > 2.0 * floor, np.sqrt(np.maximum(variances, floor)), np.inf)
        return left / scale[:, None]


def _size_first(family: Family) -> tuple[int, Family]:
    return len(family[1]), family


def _by_size(families: list[Family]) -> list[list[Family]]:
    """Return families, given by size, in groups of one size."""
    groups: dict[int, list[Family]] = {}
    for one in families:
        groups.setdefault(len(one[1]), []).append(one)
    return list(groups.values())


def without_ties(column: FloatArray) -> FloatArray:
    """Return a rounded column with the digits that were lost drawn at random.

    Values on a grid would look like noise of a very special shape, and any column with such noise
    like a cause. Each value is moved by less than half the way to the next one.
    """
    glance = column[:_GLANCE]
    if len(np.unique(glance)) == len(glance) == _GLANCE:
        return column
    values, place = np.unique(column, return_inverse=True)
    if len(values) < 2 or len(column) < _ROWS_PER_VALUE * len(values):
        return column
    gaps = np.diff(values)
    below, above = np.r_[gaps[0], gaps][place], np.r_[gaps, gaps[-1]][place]
    # Seeded by what is in it: a column gets the same digits wherever it stands, and others get
    # other ones.
    step = np.random.default_rng(zlib.crc32(column.tobytes())).uniform(-0.5, 0.5, len(column))
    return column + np.where(step < 0.0, step * below, step * above)
