"""Algorithm 1: h, its gradient, and the s they were taken at.

    W inside the domain:   h and its gradient at s
    elsewhere:             the same, with s reset to rho(A) + 0.1 * order
                           (or a millionth above rho(A), where that is more)

How (I - A/s)^-1 is formed does not matter here: by elimination on the CPU, by the published
doubling of the series on other devices (``matrix_functions``). What matters is when W counts as
inside. That is a value, a ``Reset``:

* ``OUTSIDE``: s is reset where the series diverges, rho(A) >= s, and nowhere else.
* ``SHORT_SERIES``: also next to the edge of the domain, where the pole is of order two or more. The
  paper's code sums at most 2d terms of the series, so it resets s as soon as (A/s)^2d has not died
  out. Next to such a pole the gradient is so large that Adam, which divides by the size of past
  gradients, hardly moves for a thousand steps. The simple pole of order-1 does no such harm
  (measured), so there it is the same as ``OUTSIDE``.

DAGMA does not reset s: it raises s and starts the stage again (``optimize/adam.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from analyticdag._typing import Array
from analyticdag.errors import OutsideDomainError
from analyticdag.functions import AnalyticFunction, Truncated

__all__ = ["OUTSIDE", "SHORT_SERIES", "Constraint", "Reset", "algorithm1"]


class Constraint(Protocol):
    """What Algorithm 1 asks of a constraint (see ``Acyclicity``)."""

    @property
    def function(self) -> AnalyticFunction | Truncated:
        """The f of tr f(A) - c0 d."""

    def value_and_gradient(self, W: Any) -> tuple[Any, Array]:
        """h and its gradient; OutsideDomainError where the series diverges."""

    def scaled(self, s: float) -> Constraint:
        """The constraint with f(x/s)."""


_C = TypeVar("_C", bound=Constraint)

_PER_ORDER = 0.1  # the paper's xi, per order of the pole
# Of rho: beside a large one xi would be lost, and with it the digits of I - A/s.
_LEAST_SHARE = 1e-6
_RESIDUAL = 1e-6  # the paper's tolerance for what is left of the series
# What the paper's code has for a hundred nodes. With 2d terms of a few nodes half of the domain
# would count as its edge.
_FEWEST_TERMS = 200


@dataclass(frozen=True)
class Reset:
    """When s is reset.

    ``terms_per_node`` limits the terms of the series, as the published loop does: W counts as
    inside where less than a residual is left after them. None is no limit.
    """

    terms_per_node: int | None = None

    def share(self, function: AnalyticFunction | Truncated, n_nodes: int) -> float:
        """The rho(A)/radius up to which W counts as inside; 1 is the whole domain."""
        if self.terms_per_node is None or math.isinf(function.radius) or function.pole_order < 2:
            return 1.0
        terms = max(self.terms_per_node * n_nodes, _FEWEST_TERMS)
        return float(_RESIDUAL ** (1.0 / 2.0 ** math.ceil(math.log2(terms))))

    def check(self, constraint: Constraint, W: Array, h: Any) -> None:
        """Raise OutsideDomainError where a W inside the domain, with this h, counts as outside."""
        f, d = constraint.function, W.shape[0]
        share = self.share(f, d)
        # One cycle through all nodes has at least this h at the edge: most W need no second look.
        if share < 1.0 and float(h) >= f.coefficient(1) * f.radius * share**d:
            constraint.scaled(share).value_and_gradient(W)

    def widened(self, constraint: _C, rho: float) -> _C:
        """The constraint with s reset for a matrix of spectral radius rho."""
        f = constraint.function
        s = rho + max(_PER_ORDER * f.pole_order, _LEAST_SHARE * rho)
        return constraint.scaled(s / f.radius)  # type: ignore[return-value]  # its own kind


OUTSIDE = Reset()
SHORT_SERIES = Reset(terms_per_node=2)


def algorithm1(constraint: Constraint, W: Any, reset: Reset) -> tuple[Any, Array, float]:
    """h, its gradient in W and the s used."""
    try:
        h, gradient = constraint.value_and_gradient(W)
        reset.check(constraint, W, h)
    except OutsideDomainError as outside:
        widened = reset.widened(constraint, outside.spectral_radius)
        return *widened.value_and_gradient(W), widened.function.scale
    return h, gradient, constraint.function.scale
