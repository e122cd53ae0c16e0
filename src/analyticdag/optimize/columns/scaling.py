"""The stage problem in other units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import FloatArray


@dataclass(frozen=True)
class UnitVariances:
    """The stage problem with every variable rescaled to variance one.

    tr f(D⁻¹AD) = tr f(A), so the variables may be rescaled at will: with every variance 1, the
    entries of M stay moderate where a node of standard deviation 3,000 would drown the rest. The
    loss of column j is then weighted by its variance, and the l1 penalty differs by entry.
    """

    S: FloatArray
    weight: FloatArray
    lam: FloatArray
    deviations: FloatArray

    @classmethod
    def of(cls, S: FloatArray, weight: FloatArray, penalty: FloatArray) -> UnitVariances:
        """Rescale Σ_j weight_j·loss_j + Σ_ij penalty_ij·|W_ij|; a constant column stays."""
        variances = S.diagonal()
        deviations = np.sqrt(np.where(variances > 0, variances, 1.0))
        weight = weight * deviations**2
        lam = (penalty * deviations / deviations[:, None] / weight).T
        scaled = S / deviations / deviations[:, None]
        return cls(np.ascontiguousarray(scaled), weight, np.ascontiguousarray(lam), deviations)

    def inward(self, W: FloatArray) -> FloatArray:
        """W in unit variances, transposed: row j is column j."""
        return np.ascontiguousarray((W * self.deviations[:, None] / self.deviations).T)

    def outward(self, WT: FloatArray) -> FloatArray:
        """The inverse of ``inward``."""
        return np.ascontiguousarray(WT.T * self.deviations / self.deviations[:, None])
