"""Moments: all that a linear fit has to know of the rows.

Without interventions it is one covariance, one mean and the number of rows. With interventions
every equation is learned from the rows that left its own variable alone, so some nodes have a
covariance of their own (`interventions.py` says which rows those are).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.sums import Sums, equal_rows_together, products, to_own_units, unit_sizes

__all__ = ["Moments", "row_sets"]

# A graph of no more nodes is multiplied as it is: a sparse matrix takes longer to make than to use.
_FEW = 200
# Nodes whose rows of a matrix are worked on together: large tables must not be there twice.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Moments:
    """Covariances (g, d, d) and means (g, d) of g sets of rows, and `counts` (g,) of these rows.

    The equation of node j is learned from set `of[j]`; the first set is all rows. Where columns
    have gaps, `held[i, j]` says which share of the rows that count for the equation of j hold both
    columns, at most one.
    """

    covariances: FloatArray
    means: FloatArray
    counts: IntArray
    of: IntArray
    held: FloatArray | None = None

    @classmethod
    def shared(cls, S: FloatArray, n_samples: int, mean: FloatArray | None = None) -> Moments:
        """Return the moments of data without interventions: one covariance for every node."""
        d = len(S)
        means = np.zeros((1, d)) if mean is None else mean[None]
        return cls(S[None], means, np.array([n_samples]), np.zeros(d, np.int64))

    @classmethod
    def of_rows(
        cls,
        X: FloatArray,
        mask: BoolArray | None = None,
        weights: FloatArray | None = None,
        spread: FloatArray | None = None,
    ) -> Moments:
        """Return the moments of rows with interventions; nodes with equal rows share them.

        Weights act like rows that are repeated so often. `spread` is the range of each column,
        where it is known.
        """
        if mask is None:
            X, weights = equal_rows_together(X, weights)
        parts, of = row_sets(X, mask)
        own = [None] * len(parts) if weights is None else row_sets(weights, mask)[0]
        size = unit_sizes(np.ptp(X, axis=0) if spread is None else spread)
        pairs = list(zip(parts, own, strict=True))
        means = [np.average(part, axis=0, weights=w) for part, w in pairs]
        counts = [float(len(part)) if w is None else float(w.sum()) for part, w in pairs]
        S = [
            _covariance(products(part, mean, size, w), n, size)
            for (part, w), mean, n in zip(pairs, means, counts, strict=True)
        ]
        return cls(
            covariances=S[0][None] if len(S) == 1 else np.array(S),
            means=np.array(means),
            counts=np.rint(counts).astype(np.int64),
            of=of,
        )

    @classmethod
    def of_sums(cls, sums: Sums) -> Moments:
        """Return the moments of rows that were added up batch by batch."""
        return cls.shared(sums.covariance, round(sums.n), sums.mean)

    @property
    def S(self) -> FloatArray:  # noqa: N802 (a letter of the mathematics)
        """The covariance of all rows."""
        return self.covariances[0]

    @property
    def n_samples(self) -> int:
        """How many rows there are in all."""
        return int(self.counts[0])

    @property
    def samples_of(self) -> IntArray:
        """How many rows the equation of each node is learned from."""
        return self.counts[self.of]

    @property
    def variances(self) -> FloatArray:
        """[i, j]: the variance of column i in the rows that the equation of j is learned from."""
        return np.diagonal(self.covariances, axis1=1, axis2=2)[self.of].T

    @property
    def own_variances(self) -> FloatArray:
        """The variance of each column in the rows that its own equation is learned from."""
        diagonals = np.diagonal(self.covariances, axis1=1, axis2=2)
        return diagonals[self.of, np.arange(len(self.of))]

    def covariance_of(self, node: int) -> FloatArray:
        """Return the covariance that the equation of a node is learned from."""
        return self.covariances[self.of[node]]

    def of_parents(self, nodes: IntArray, parents: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return covariances among the parents (m, k) of each node, and of these with the node."""
        of = self.of[nodes]
        among: FloatArray = self.covariances[
            of[:, None, None], parents[:, :, None], parents[:, None, :]
        ]
        with_node: FloatArray = self.covariances[of[:, None], parents, nodes[:, None]]
        return among, with_node

    def among(self, nodes: IntArray) -> Moments:
        """Return the moments of some nodes alone, in this order."""
        S = self.covariances[:, nodes[:, None], nodes]
        return Moments(S, self.means[:, nodes], self.counts, self.of[nodes])

    def residual_variances(self, W: FloatArray) -> FloatArray:
        """Return what W leaves unexplained of every node, in the rows of its own equation."""
        if len(W) <= _FEW:
            dense = np.eye(len(W)) - W.T
            found = np.array([np.einsum("ji,ji->j", dense @ S, dense) for S in self.covariances])
            return found[self.of, np.arange(len(W))]
        # Sparse, and few nodes at a time: a dense product would cost more than the search.
        E = sparse.eye_array(len(W), format="csr") - sparse.csr_array(W.T)
        left = np.empty((len(self.covariances), len(W)))
        for k, S in enumerate(self.covariances):
            for first in range(0, len(W), _BLOCK):
                some = E[first : first + _BLOCK]
                left[k, first : first + _BLOCK] = some.multiply(some @ S).sum(axis=1)
        return left[self.of, np.arange(len(W))]

    def scaled(self, scale: FloatArray) -> Moments:
        """Return the moments of the columns divided by `scale`."""
        if np.all(scale == 1.0):
            return self
        return replace(
            self, covariances=self.covariances / np.outer(scale, scale), means=self.means / scale
        )

    def standardised(self) -> Moments:
        """Return the moments of the columns divided by their standard deviations."""
        sd = np.sqrt(np.diag(self.S))
        covariances = self.covariances / np.outer(sd, sd)
        np.fill_diagonal(covariances[0], 1.0)  # exactly: rounding must not rank them
        return replace(self, covariances=covariances, means=self.means / sd)

    def in_order(self, order: IntArray) -> Moments:
        """Return the moments of the columns in another order."""
        covariances = np.ascontiguousarray(self.covariances[:, order[:, None], order])
        held = None if self.held is None else self.held[np.ix_(order, order)]
        return Moments(covariances, self.means[:, order], self.counts, self.of[order], held)

    def undisturbed_mean(self, W: FloatArray) -> FloatArray:
        """Return the mean of all columns where nothing is done to any of them."""
        own = self.means[self.of]
        intercepts = np.diag(own) - np.einsum("ji,ij->j", own, W)
        return np.linalg.solve((np.eye(len(W)) - W).T, intercepts)


def row_sets(X: FloatArray, mask: BoolArray | None) -> tuple[list[FloatArray], IntArray]:
    """Return the distinct sets of rows that equations are learned from, and which is whose.

    The first set is all rows; `mask[r, j]` says that row r tells nothing about column j. X may be
    anything that has an entry for each row.
    """
    if mask is None:
        return [X], np.zeros(X.shape[-1], np.int64)
    numbers = {np.zeros(len(X), dtype=bool).tobytes(): 0}
    of = [numbers.setdefault(column.tobytes(), len(numbers)) for column in mask.T]
    left_out = (mask[:, of.index(k)] for k in range(1, len(numbers)))
    return [X, *(X[~rows] for rows in left_out)], np.array(of, dtype=np.int64)


def _covariance(total: FloatArray, n: float, size: FloatArray) -> FloatArray:
    """Divide products by n and bring them into their own units; all in place."""
    total /= n
    return to_own_units(total, size)
