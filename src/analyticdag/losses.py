"""How well weights explain the data: the first term of the objective.

Each loss is a frozen value with `value(W)` and `gradient(W)`, where x_j = Σ_i W[i, j] x_i + e_j.
The Gaussian ones see the data through the covariance S alone, so their cost does not depend on
the number of rows; the logistic one needs the rows.

| loss                  | name            | value                                                |
|-----------------------|-----------------|------------------------------------------------------|
| `LeastSquares(S)`     | "mse"           | ½ tr (I-W)'S(I-W) = 1/(2n) ‖X - XW‖²                 |
| `EqualVariances(S)`   | "likelihood-ev" | minus the Gaussian log-likelihood per row, one noise |
|                       |                 | variance for all nodes (GOLEM-EV)                    |
| `UnequalVariances(S)` | "likelihood-nv" | the same, one noise variance each (GOLEM-NV)         |
| `Logistic(X)`         | "logistic"      | minus the Bernoulli log-likelihood per row, 0/1 data |

A gradient costs d³, that of the logistic loss n·d². Every array may be of any library that follows
the array API standard; a gradient is of the kind of W, a value is a float.

What the rest of the library has to know of a loss, its class says by `traits` (`LossTraits`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from array_api_compat import array_namespace
from array_api_compat import device as device_of

from analyticdag._arrays import as_square_matrix
from analyticdag._parameters import shown
from analyticdag._typing import Array
from analyticdag.errors import DataError, ParameterError

__all__ = [
    "LOSSES",
    "EqualVariances",
    "GaussianLikelihood",
    "LeastSquares",
    "Logistic",
    "Loss",
    "LossTraits",
    "UnequalVariances",
    "covariance",
    "loss_class",
    "loss_traits",
    "noise_variances",
    "residual_variances",
]

# Residual variances below this fraction of a node's own variance are rounding (a node that is an
# exact combination of others); without a floor the likelihood would run off to infinity there.
VARIANCE_FLOOR = 1e-10
# The log-odds of a constant column would be infinite; no table has a share this close to 0 or 1.
RAREST = 1e-12


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


LossClass: TypeAlias = Callable[[Array], Loss]


@dataclass(frozen=True)
class LossTraits:
    """What a loss says about itself, as the class attribute `traits`; without one: these defaults.

    Parameters
    ----------
    name : what `loss_` is called; the name of the class where it is empty.
    description : the same in words, for a report.
    score : the score of the order search that goes with it, "equal" or "unequal" (noise variances);
        None: there is none, so the path's answer cannot be refined.
    variances : for losses that are least squares once noise variances are given, which the exact
        path needs: "unit" (all one), "equal" (one for all nodes, estimated) or "each".
    reads_scales : whether directions are read from the scales of the columns. None: as the score.
    needs_rows : whether it is made from the rows, a covariance being not enough.
    binary : whether columns are 0/1 and the equations those of log-odds, not of the columns.
    """

    name: str = ""
    description: str = ""
    score: Literal["equal", "unequal"] | None = None
    variances: Literal["unit", "equal", "each"] | None = None
    reads_scales: bool | None = None
    needs_rows: bool = False
    binary: bool = False

    def __post_init__(self) -> None:
        if self.score not in (None, "equal", "unequal"):
            raise ParameterError(f"score must be 'equal', 'unequal' or None, not {self.score!r}")
        if self.variances not in (None, "unit", "equal", "each"):
            raise ParameterError(
                f"variances must be 'unit', 'equal', 'each' or None, not {self.variances!r}"
            )
        by_score = self.score == "equal"
        if self.reads_scales is None:
            object.__setattr__(self, "reads_scales", by_score)
        elif self.score is not None and self.reads_scales != by_score:
            raise ParameterError(
                f"reads_scales={self.reads_scales} contradicts score={self.score!r}: the score of "
                "equal variances reads directions from scales, that of unequal ones does not"
            )

    def check_weighted(self) -> None:
        """Refuse a loss that is not least squares once noise variances are given."""
        if self.variances is None:
            raise ParameterError(
                f"loss={self.name!r} does not say that it is least squares once noise variances "
                "are given (LossTraits.variances), and the exact path solves no other loss; use "
                "solver='adam'"
            )

    @property
    def fixed_by(self) -> str:
        """What fixes a direction that only this loss prefers, as the table of edges calls it."""
        return "equal variances" if self.reads_scales else "not fixed"


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


def noise_variances(loss: Loss, W: Array) -> Array:
    """Return the noise variances that make a loss of a covariance S weighted least squares."""
    kind, S = loss_traits(type(loss)).variances, loss.S  # type: ignore[attr-defined]
    xp = array_namespace(W)
    if kind == "unit":
        return xp.ones_like(W[0])
    v = xp.maximum(residual_variances(S, W), VARIANCE_FLOOR * xp.linalg.diagonal(S))
    return xp.mean(v) * xp.ones_like(v) if kind == "equal" else v


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """½ tr (I-W)'S(I-W), which is 1/(2n) ‖X - XW‖² on centred data; `weights` are by column."""

    S: Array
    weights: Array | None = None

    traits: ClassVar[LossTraits] = LossTraits(
        name="mse", description="least squares", score="equal", variances="unit"
    )

    def __post_init__(self) -> None:
        as_square_matrix(self.S, "a covariance")

    def value(self, W: Array) -> float:
        """Return the loss at W."""
        xp, G = array_namespace(W), self._weighted(self.S @ W - self.S)
        return 0.5 * float(xp.sum(W * G) - xp.sum(xp.linalg.diagonal(G)))

    def gradient(self, W: Array) -> Array:
        """Return S(W - I)."""
        # Instead of building I - W, and in place: this runs at every step of Adam.
        G = self.S @ W
        G -= self.S
        return self._weighted(G)

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return the loss and its gradient at W."""
        xp = array_namespace(W)
        D = _identity_minus(W)
        SD = self._weighted(self.S @ D)
        return 0.5 * float(xp.sum(D * SD)), -SD

    def _weighted(self, columns: Array) -> Array:
        return columns if self.weights is None else columns * self.weights


@dataclass(frozen=True, eq=False)
class GaussianLikelihood:
    """Minus the Gaussian log-likelihood per row, with the best noise variances put in.

    GOLEM's losses with their constants kept: ½ Σ_j log v_j - log|det(I - W)| + d/2·(1 + log 2π),
    where v_j is the residual variance of node j, or the mean of them all under equal variances.
    The determinant is 1 on a DAG; on the way there it keeps two-cycles from looking good.
    """

    S: Array

    traits: ClassVar[LossTraits]

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
        return self.S @ _identity_minus(W), noise_variances(self, W)

    def _gradient(self, W: Array, SD: Array, variances: Array) -> Array:
        xp = array_namespace(W)
        return xp.linalg.inv(_identity_minus(W)).T - SD / variances


@dataclass(frozen=True, eq=False)
class EqualVariances(GaussianLikelihood):
    """The Gaussian likelihood with one noise variance for all nodes."""

    traits: ClassVar[LossTraits] = LossTraits(
        name="likelihood-ev",
        description="the Gaussian likelihood with equal noise variances",
        score="equal",
        variances="equal",
    )


@dataclass(frozen=True, eq=False)
class UnequalVariances(GaussianLikelihood):
    """The Gaussian likelihood with a noise variance for each node."""

    traits: ClassVar[LossTraits] = LossTraits(
        name="likelihood-nv",
        description="the Gaussian likelihood with a noise variance for each variable",
        score="unequal",
        variances="each",
    )


@dataclass(frozen=True, eq=False)
class Logistic:
    """Minus the Bernoulli log-likelihood per row of 0/1 data.

    P(x_j = 1) = σ(log-odds of p_j + Σ_i W[i, j] (x_i - p_i)), where p are the shares of ones, by
    default those of X. As published it has no p: there a column that is not 1 in half of the rows
    needs causes. It has no sufficient statistics: a step costs n·d².
    """

    X: Array
    shares: Array = None

    traits: ClassVar[LossTraits] = LossTraits(
        name="logistic",
        description="the Bernoulli likelihood of 0/1 variables",
        needs_rows=True,
        binary=True,
    )

    def __post_init__(self) -> None:
        xp = array_namespace(self.X)
        bad = xp.any((self.X != 0) & (self.X != 1), axis=0)
        if bool(xp.any(bad)):
            columns = [j for j in range(self.X.shape[1]) if bool(bad[j])]
            raise DataError(
                f"the logistic loss needs 0/1 data, but columns {columns[:10]} hold other "
                "values; recode them, or choose a loss for continuous data such as 'mse'"
            )
        if self.shares is None:
            object.__setattr__(self, "shares", xp.mean(self.X, axis=0))

    def value(self, W: Array) -> float:
        """Return the loss at W."""
        xp = array_namespace(W)
        Z = self._log_odds(W)
        total = float(xp.sum(xp.logaddexp(Z, xp.zeros_like(Z)) - self.X * Z))
        return total / int(self.X.shape[0])

    def gradient(self, W: Array) -> Array:
        """Return (X - p)'(σ - X)/n."""
        xp = array_namespace(W)
        # σ(z) through tanh: exp(-z) would overflow for very negative z.
        residual = 0.5 * (1.0 + xp.tanh(0.5 * self._log_odds(W))) - self.X
        own = self.shares[:, None] * xp.mean(residual, axis=0)[None, :]
        return self.X.T @ residual / self.X.shape[0] - own

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return the loss and its gradient at W."""
        return self.value(W), self.gradient(W)

    def _log_odds(self, W: Array) -> Array:
        xp = array_namespace(W)
        p = xp.clip(self.shares, RAREST, 1.0 - RAREST)
        return self.X @ W + (xp.log(p / (1.0 - p)) - self.shares @ W)


# By the names that the estimator takes.
LOSSES: Mapping[str, LossClass] = MappingProxyType(
    {loss.traits.name: loss for loss in (LeastSquares, EqualVariances, UnequalVariances, Logistic)}
)


def loss_class(loss: Any) -> LossClass:
    """Return the class of a loss given by its name, or as that class."""
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    if callable(loss) and callable(getattr(loss, "value_and_gradient", None)):
        return loss
    raise ParameterError(
        f"loss must be one of {('auto', *LOSSES)}, or a class of losses (see `losses.Loss`), not "
        f"{shown(loss)}"
    )


def loss_traits(loss: str | LossClass) -> LossTraits:
    """Return what a loss, or the loss of that name, says about itself; else the defaults."""
    if isinstance(loss, str):
        return LOSSES[loss].traits if loss in LOSSES else LossTraits(loss, loss)  # type: ignore[attr-defined]
    traits: LossTraits = getattr(loss, "traits", LossTraits())
    name = traits.name or str(getattr(loss, "__name__", loss))
    return replace(traits, name=name, description=traits.description or name)


def _identity_minus(W: Array) -> Array:
    xp = array_namespace(W)
    return xp.eye(W.shape[0], dtype=W.dtype, device=device_of(W)) - W
