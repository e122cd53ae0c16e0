"""How well weights explain the data: the first term of the objective.

Each loss is a frozen value with `value(W)` and `gradient(W)`, where x_j = Σ_i W[i, j] x_i + e_j.
The Gaussian ones see the data through the covariance S alone, so their cost does not depend on
the number of rows; the logistic one needs the rows.

| loss                           | value                                        | gradient costs |
|--------------------------------|----------------------------------------------|----------------|
| `LeastSquares(S)`              | ½ tr (I-W)'S(I-W) = 1/(2n) ‖X - XW‖²         | d³             |
| `GaussianLikelihood(S, True)`  | minus the log-likelihood per row, one noise  | d³             |
|                                | variance for all nodes (GOLEM-EV)            |                |
| `GaussianLikelihood(S, False)` | the same, one noise variance each (GOLEM-NV) | d³             |
| `Logistic(X)`                  | minus the log-likelihood per row, 0/1 data   | n d²           |

`covariance_loss` finds one by the estimator's name for it. Every array may be of any library that
follows the array API standard; a gradient is of the kind of W, a value is a float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from array_api_compat import array_namespace
from array_api_compat import device as device_of

from analyticdag._arrays import as_square_matrix
from analyticdag._typing import Array
from analyticdag.errors import DataError, ParameterError

__all__ = [
    "COVARIANCE_LOSSES",
    "GaussianLikelihood",
    "LeastSquares",
    "Logistic",
    "Loss",
    "covariance",
    "covariance_loss",
    "residual_variances",
]

# Residual variances below this fraction of a node's own variance are rounding (a node that is an
# exact combination of others); without a floor the likelihood would run off to infinity there.
VARIANCE_FLOOR = 1e-10


class Loss(Protocol):
    """What a minimiser asks of a loss."""

    def value(self, W: Array) -> float:
        """Return the loss at W."""
        ...

    def gradient(self, W: Array) -> Array:
        """Return the gradient of the loss in W."""
        ...

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return both, for the price of the gradient."""
        ...


def covariance(X: Array) -> Array:
    """Return the covariance of the rows of X, centred and divided by the number of rows."""
    xp = array_namespace(X)
    centred = X - xp.mean(X, axis=0, keepdims=True)
    return centred.T @ centred / X.shape[0]


def residual_variances(S: Array, W: Array) -> Array:
    """Return the variance that W leaves in every node: the diagonal of (I-W)'S(I-W)."""
    xp = array_namespace(S, W)
    D = _identity_minus(W)
    return xp.sum(D * (S @ D), axis=0)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """½ tr (I-W)'S(I-W), which is 1/(2n) ‖X - XW‖² on centred data."""

    S: Array

    def __post_init__(self) -> None:
        as_square_matrix(self.S, "a covariance")

    def value(self, W: Array) -> float:
        """Return the loss at W."""
        return self.value_and_gradient(W)[0]

    def gradient(self, W: Array) -> Array:
        """Return S(W - I)."""
        # Two operations instead of building I - W: this line runs at every step of Adam.
        return self.S @ W - self.S

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return the loss and its gradient at W."""
        xp = array_namespace(W)
        D = _identity_minus(W)
        SD = self.S @ D
        return 0.5 * float(xp.sum(D * SD)), -SD


@dataclass(frozen=True, eq=False)
class GaussianLikelihood:
    """Minus the Gaussian log-likelihood per row, with the best noise variances put in.

    GOLEM's losses with their constants kept: ½ Σ_j log v_j - log|det(I - W)| + d/2·(1 + log 2π),
    where v_j is the residual variance of node j, or the mean of them all under equal variances.
    The determinant is 1 on a DAG; on the way there it keeps two-cycles from looking good.
    """

    S: Array
    equal_variances: bool

    def __post_init__(self) -> None:
        as_square_matrix(self.S, "a covariance")
        xp = array_namespace(self.S)
        if not bool(xp.all(xp.linalg.diagonal(self.S) > 0)):
            raise DataError(
                "the Gaussian likelihood needs every variance to be positive, but the covariance "
                "has a zero or negative entry on its diagonal; drop the constant columns"
            )

    def value(self, W: Array) -> float:
        """Return the loss at W; infinite where I - W is singular."""
        return self.value_and_gradient(W)[0]

    def gradient(self, W: Array) -> Array:
        """Return the gradient at W."""
        SD, variances = self._residuals(W)
        return self._gradient(W, SD, variances)

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return the loss and its gradient at W."""
        xp = array_namespace(W)
        SD, variances = self._residuals(W)
        sign, logdet = xp.linalg.slogdet(_identity_minus(W))
        if float(sign) == 0.0:
            return math.inf, xp.zeros_like(W)
        fit = 0.5 * float(xp.sum(xp.log(variances)))
        value = fit - float(logdet) + 0.5 * W.shape[0] * (1.0 + math.log(2.0 * math.pi))
        return value, self._gradient(W, SD, variances)

    def _residuals(self, W: Array) -> tuple[Array, Array]:
        """Return S(I - W) and the noise variance that each node is held to."""
        xp = array_namespace(W)
        D = _identity_minus(W)
        SD = self.S @ D
        variances = xp.sum(D * SD, axis=0)
        variances = xp.maximum(variances, VARIANCE_FLOOR * xp.linalg.diagonal(self.S))
        if self.equal_variances:
            variances = xp.mean(variances) * xp.ones_like(variances)
        return SD, variances

    def _gradient(self, W: Array, SD: Array, variances: Array) -> Array:
        xp = array_namespace(W)
        return xp.linalg.inv(_identity_minus(W)).T - SD / variances


@dataclass(frozen=True, eq=False)
class Logistic:
    """Minus the Bernoulli log-likelihood per row of 0/1 data, P(x_j = 1) = σ(Σ_i W[i, j] x_i).

    As published there is no intercept. It has no sufficient statistics: a step costs n·d².
    """

    X: Array

    def __post_init__(self) -> None:
        xp = array_namespace(self.X)
        bad = xp.any((self.X != 0) & (self.X != 1), axis=0)
        if bool(xp.any(bad)):
            columns = [j for j in range(self.X.shape[1]) if bool(bad[j])]
            raise DataError(
                f"the logistic loss needs 0/1 data, but columns {columns[:10]} hold other "
                "values; recode them, or choose a loss for continuous data such as 'mse'"
            )

    def value(self, W: Array) -> float:
        """Return the loss at W."""
        xp = array_namespace(W)
        Z = self.X @ W
        total = float(xp.sum(xp.logaddexp(Z, xp.zeros_like(Z)) - self.X * Z))
        return total / int(self.X.shape[0])

    def gradient(self, W: Array) -> Array:
        """Return X'(σ(XW) - X)/n."""
        xp = array_namespace(W)
        # σ(z) through tanh: exp(-z) would overflow for very negative z.
        residual = 0.5 * (1.0 + xp.tanh(0.5 * (self.X @ W))) - self.X
        return self.X.T @ residual / self.X.shape[0]

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return the loss and its gradient at W."""
        return self.value(W), self.gradient(W)


# The losses that need nothing but a covariance, by the names the estimator takes.
COVARIANCE_LOSSES: Mapping[str, Callable[[Array], Loss]] = MappingProxyType(
    {
        "mse": LeastSquares,
        "likelihood-ev": lambda S: GaussianLikelihood(S, equal_variances=True),
        "likelihood-nv": lambda S: GaussianLikelihood(S, equal_variances=False),
    }
)


def covariance_loss(name: str, S: Array) -> Loss:
    """Return the named loss on the covariance S."""
    if name not in COVARIANCE_LOSSES:
        raise ParameterError(
            f"loss must be one of {sorted(COVARIANCE_LOSSES)} where only a covariance is known, "
            f"not {name!r}"
        )
    return COVARIANCE_LOSSES[name](S)


def _identity_minus(W: Array) -> Array:
    xp = array_namespace(W)
    return xp.eye(W.shape[0], dtype=W.dtype, device=device_of(W)) - W
