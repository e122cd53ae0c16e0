"""Where a path begins: at zero, at parents sorted by variance, or where the caller says.

Adam begins at zero, as published; the exact path at parents sorted by variance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.errors import ParameterError
from analyticdag.fitting.statistics import Statistics
from analyticdag.knowledge import EdgeMasks

NAMED = ("zero", "variance")


@dataclass(frozen=True, eq=False)
class Start:
    """A start by its name, with weights where the name alone does not give them."""

    name: str
    weights: FloatArray | None = None

    @classmethod
    def of(cls, asked: Any, default: str | None) -> Start:
        """Read what the caller asked for; without a default there is no path to begin."""
        if asked is None:
            return cls(default or "")
        if isinstance(asked, str) and asked not in NAMED:
            raise ParameterError(f"start must be one of {NAMED} or weights, not {asked!r}")
        return cls(asked) if isinstance(asked, str) else cls("given", asked)

    def checked(self, statistics: Statistics, masks: EdgeMasks) -> Start:
        """Refuse given weights that do not fit the columns."""
        if self.weights is None:
            return self
        d = len(statistics.names)
        try:
            W = np.array(self.weights, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError("start must hold numbers: the weights to begin with") from error
        if W.shape != (d, d) or not np.isfinite(W).all():
            raise ParameterError(
                f"start must be {d} x {d} finite weights, [i, j] for i -> j; got shape {W.shape}"
                + (" with NaN or infinite entries" if W.shape == (d, d) else "")
            )
        wrong = np.argwhere((W != 0.0) & ~masks.allowed)
        if len(wrong):
            i, j = (statistics.names[k] for k in wrong[0])
            raise ParameterError(
                f"start has a weight on {i!r} -> {j!r}, an edge that may not exist; set it to 0"
            )
        return replace(self, weights=W)

    def rescaled(self, before: Statistics, after: Statistics) -> Start:
        """Return the start in the units of other statistics of the same columns."""
        if self.weights is None:
            return self
        ratio = after.scale / before.scale
        return replace(self, weights=self.weights * ratio[:, None] / ratio)

    def of_path(self, statistics: Statistics, masks: EdgeMasks) -> FloatArray:
        """Return the weights to begin with."""
        if self.weights is not None:
            return self.weights
        if self.name == "zero":
            return np.zeros_like(statistics.S)
        # Compiled code: imported when it is used, so that importing the package stays cheap.
        from analyticdag.optimize.columns import starting_weights

        S, n = statistics.S, statistics.n_samples
        return starting_weights(S, n, "variance", masks.allowed, masks.required)
