"""Least squares of nodes on their parents: the one place where a graph gets its weights.

All is computed in standard units, so that parents of very different sizes do not look as if they
determined each other. Parents that do determine each other share the weight: the solution of least
norm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.moments import Moments

__all__ = [
    "NodeColumns",
    "Regressions",
    "block_log_det",
    "block_slopes",
    "regressions",
    "regressions_of",
    "weights_of",
    "weights_on_parents",
]

# Of a parent's variance, given the other parents, less than this share is rounding.
_RANK = 1e-12
# Of blocks of columns, which are the levels of a category, directions with a smaller share are.
_BLOCK_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """Nodes of one column or several, node after node; `sizes` says how many each has."""

    sizes: IntArray

    @property
    def node(self) -> IntArray:
        """The node of each column."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def first(self) -> IntArray:
        """The first column of each node."""
        ends: IntArray = np.cumsum(self.sizes)
        return ends - self.sizes

    def columns_of(self, *nodes: int) -> IntArray:
        """Return the columns of some nodes."""
        ends = np.cumsum(self.sizes)
        own = [np.arange(ends[k] - self.sizes[k], ends[k]) for k in sorted(nodes)]
        return np.concatenate([np.empty(0, np.int64), *own])


@dataclass(frozen=True, eq=False)
class Regressions:
    """m nodes on k parents each: `slopes` (m, k), and `inverse` (m, k, k) of the covariances
    among the parents."""

    nodes: IntArray
    parents: IntArray
    inverse: FloatArray
    slopes: FloatArray
    explained: FloatArray  # (m,), of the nodes' variances

    @property
    def precisions(self) -> FloatArray:
        """(m, k): one over what is left of each parent's variance, given the other parents."""
        return np.diagonal(self.inverse, axis1=1, axis2=2)


def regressions(moments: Moments, nodes: IntArray, parents: IntArray) -> Regressions:
    """Regress nodes (m,) on equally many parents (m, k), each with the rows of its equation."""
    among, with_node = moments.of_parents(nodes, parents)
    variances = np.diagonal(among, axis1=1, axis2=2)
    inverse_sd = 1.0 / np.sqrt(np.where(variances > 0.0, variances, 1.0))
    units = inverse_sd[:, :, None] * inverse_sd[:, None, :]
    inverse = _inverses(among * units) * units
    slopes = np.einsum("mij,mj->mi", inverse, with_node)
    explained = np.einsum("mi,mi->m", slopes, with_node)
    return Regressions(nodes, parents, inverse, slopes, explained)


def regressions_of(moments: Moments, graph: BoolArray) -> Iterator[Regressions]:
    """Regress every node of a graph that has parents; those with equally many come together."""
    n_parents = graph.sum(axis=0)
    for k in np.unique(n_parents[n_parents > 0]).tolist():
        nodes = np.flatnonzero(n_parents == k)
        parents = np.nonzero(graph.T[nodes])[1].reshape(-1, k)
        yield regressions(moments, nodes, parents)


def weights_on_parents(moments: Moments, graph: BoolArray) -> FloatArray:
    """Return the weights of a graph, [i, j] for i -> j."""
    return weights_of(regressions_of(moments, graph), len(graph))


def weights_of(regressions: Iterable[Regressions], n_nodes: int) -> FloatArray:
    """Return the slopes of regressions as weights, [i, j] for i -> j."""
    W = np.zeros((n_nodes, n_nodes))
    for found in regressions:
        W[found.parents, found.nodes[:, None]] = found.slopes
    return W


def block_slopes(S: FloatArray, others: IntArray, own: IntArray) -> FloatArray:
    """Return coefficients of some columns on others, by a covariance of all of them."""
    R, sd = _correlations(S)
    found = np.linalg.lstsq(R[np.ix_(others, others)], R[np.ix_(others, own)], rcond=_BLOCK_RANK)[0]
    return found * sd[own] / sd[others][:, None]


def block_log_det(S: FloatArray, own: IntArray, others: IntArray) -> float:
    """Return log det of the correlations of some columns, given others."""
    R, _ = _correlations(S)
    left = R[np.ix_(own, own)]
    if len(others):
        across, among = R[np.ix_(others, own)], R[np.ix_(others, others)]
        left = left - across.T @ np.linalg.lstsq(among, across, rcond=_BLOCK_RANK)[0]
    return float(np.log(np.maximum(np.linalg.eigvalsh(left), _BLOCK_RANK)).sum())


def _correlations(S: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a covariance in standard units, and these."""
    sd = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    return S / np.outer(sd, sd), sd


def _inverses(correlations: FloatArray) -> FloatArray:
    """Return the (pseudo-)inverses; the eigenvalues of the latter take ten times as long."""
    try:
        left = np.diagonal(np.linalg.cholesky(correlations), axis1=1, axis2=2) ** 2
        if (left > _RANK).all():
            return np.asarray(np.linalg.inv(correlations), np.float64)
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.pinv(correlations, rcond=_RANK, hermitian=True), np.float64)
