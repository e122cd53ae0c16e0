"""The equations of a given DAG, and what they say about total effects.

Every node is regressed on its parents, with the rows that its own equation may use. With W the
coefficients, T = (I - W)⁻¹ sums the products of coefficients over all directed paths, so T[x, y] is
the total effect of x on y. This is efficient among estimates by least squares (Guo and Perković
2022), and it splits exactly into paths.

A coefficient has the covariance C_j = v_j·(S_pp)⁻¹/n_j of its regression (v_j the
residual sum of squares over n_j - k_j - 1), and the
regressions of different nodes are independent in large samples. The derivative of T[x, y] in
W[i, j] is T[x, i]·T[j, y], so

    variance of T[x, y] = Σ_j T[j, y]²·u_j,     u_j = T[x, pa_j] C_j T[x, pa_j]'.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import topological_order
from analyticdag.interventions import Moments

# Eigenvalues below this share of the largest are rounding: parents that determine each other.
_RANK = 1e-12


@dataclass(frozen=True, eq=False)
class Equations:
    """Least squares on the parents of every node of a DAG.

    `moments` should be of columns in standard units: parents of very different sizes would look as
    if they determined each other.
    """

    graph: BoolArray
    moments: Moments

    @cached_property
    def weights(self) -> FloatArray:
        """Coefficients, [i, j] for i -> j."""
        W = np.zeros(self.graph.shape)
        for j in np.flatnonzero(self.graph.any(axis=0)).tolist():
            parents, inverse, with_node = self._regression(j)
            W[parents, j] = inverse @ with_node
        return W

    @cached_property
    def paths(self) -> FloatArray:
        """T = (I - W)⁻¹: total effects of every node on every node; one on the diagonal."""
        T = np.asarray(np.linalg.inv(np.eye(len(self.graph)) - self.weights), np.float64)
        # Rounding must not make an effect where no directed path is.
        T[~self.reach] = 0.0
        return T

    @cached_property
    def reach(self) -> BoolArray:
        """[i, j]: whether a directed path leads from i to j; every node reaches itself."""
        reach = np.eye(len(self.graph), dtype=bool)
        for node in topological_order(self.graph)[::-1]:
            reach[node] |= reach[self.graph[node]].any(axis=0)
        return reach

    @cached_property
    def variances(self) -> FloatArray:
        """Noise variances, with the degrees of freedom that the parents took."""
        v: FloatArray = self.moments.residual_variances(self.weights)
        n = self.moments.samples_of
        return np.maximum(v, 0.0) * n / np.maximum(self.freedom, 1)

    @cached_property
    def freedom(self) -> IntArray:
        """Degrees of freedom left in the regression of each node."""
        left: IntArray = self.moments.samples_of - self.graph.sum(axis=0) - 1
        return left

    def standard_errors(self, cause: int) -> FloatArray:
        """Return the standard errors of the total effects of one node on all others."""
        T = self.paths
        u = np.zeros(len(T))
        for j in np.flatnonzero(self.graph[self.reach[cause]].any(axis=0)).tolist():
            parents, inverse, _ = self._regression(j)
            along = T[cause, parents]
            u[j] = along @ inverse @ along * self.variances[j] / self.moments.samples_of[j]
        errors: FloatArray = np.sqrt(u @ (T**2))
        return errors

    def _regression(self, j: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the parents of j, the inverse of their covariance, and their covariance with j."""
        parents: IntArray = np.flatnonzero(self.graph[:, j])
        S = self.moments.covariance_of(j)
        inverse = np.linalg.pinv(S[np.ix_(parents, parents)], rcond=_RANK, hermitian=True)
        return parents, np.asarray(inverse, np.float64), S[parents, j]
