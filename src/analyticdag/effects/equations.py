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

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy import special

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import reachability
from analyticdag.least_squares import regressions_of, weights_on_parents
from analyticdag.moments import Moments

# Effects of two members of a class that agree to so many digits, in standard units, are one: they
# differ by rounding.
SAME_DIGITS = 9
SAME = 10.0**-SAME_DIGITS


@dataclass(frozen=True, eq=False)
class Equations:
    """Least squares on the parents of every node of a DAG."""

    graph: BoolArray
    moments: Moments

    adds_up: ClassVar[bool] = True  # an effect is a sum over paths

    @cached_property
    def weights(self) -> FloatArray:
        """Coefficients, [i, j] for i -> j."""
        return weights_on_parents(self.moments, self.graph)

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
        return reachability(self.graph)

    @cached_property
    def variances(self) -> FloatArray:
        """Noise variances, with the degrees of freedom that the parents took."""
        v: FloatArray = self.moments.residual_variances(self.weights)
        n = self.moments.samples_of
        return np.maximum(v, 0.0) * n / np.maximum(self.freedom, 1)

    @cached_property
    def freedom(self) -> IntArray:
        """Degrees of freedom left in the regression of each node."""
        return self.moments.samples_of - self.graph.sum(axis=0) - 1

    def without_causes_of(self, nodes: Collection[int]) -> Equations:
        """Return the equations once these nodes are set from outside: nothing moves them."""
        graph = self.graph.copy()
        graph[:, list(nodes)] = False
        return Equations(graph, self.moments)

    def effects_of(self, cause: int) -> FloatArray:
        """Return the total effects of one node on all; on itself one."""
        row: FloatArray = self.paths[cause]
        return row

    def standard_errors(self, cause: int) -> FloatArray:
        """Return the standard errors of the total effects of one node on all others."""
        if cause not in self._errors:
            self._errors[cause] = self._standard_errors(cause)
        return self._errors[cause]

    def standard_error_of(self, cause: int, nodes: IntArray, units: FloatArray) -> float:
        """Return the standard error of the total effect of one node on a weighted sum of others."""
        return float(np.sqrt(self._spread(cause) @ (self.paths[:, nodes] @ units) ** 2))

    def largest_effect(self, cause: int, outcome: int) -> float:
        """Return what an effect can be at most, in size; nothing limits a number."""
        return float("inf")

    def interval(
        self, value: float, error: float, cause: int, outcome: int, level: float
    ) -> tuple[float, float]:
        """Return a confidence interval of an effect; the fewest degrees of freedom on the way
        decide its width."""
        if error == 0.0:
            return value, value
        freedom = int(self.freedom[causal_nodes(self.reach, cause, outcome)].min())
        if freedom < 1:
            return -np.inf, np.inf
        half = float(special.stdtrit(freedom, 0.5 + level / 2.0)) * error
        return value - half, value + half

    @cached_property
    def _errors(self) -> dict[int, FloatArray]:
        return {}

    def _standard_errors(self, cause: int) -> FloatArray:
        return np.sqrt(self._spread(cause) @ (self.paths**2))

    def _spread(self, cause: int) -> FloatArray:
        """Return what the regression of each node adds to the variance of effects of `cause`."""
        T = self.paths
        u = np.zeros(len(T))
        for found in regressions_of(self.moments, self._of_children(cause)):
            along = T[cause, found.parents]
            u[found.nodes] = np.einsum("mi,mij,mj->m", along, found.inverse, along)
        return u * self.variances / self.moments.samples_of

    def _of_children(self, cause: int) -> BoolArray:
        """Return the edges into nodes that have a parent which `cause` reaches, or is."""
        return self.graph & self.graph[self.reach[cause]].any(axis=0)


def causal_nodes(reach: BoolArray, x: int, y: int) -> BoolArray:
    """Return the nodes on directed paths from x to y, x left out."""
    causal: BoolArray = reach[x] & reach[:, y]
    causal[x] = False
    return causal
