"""What an edge has to be worth, judged by the data.

The *gain* of an edge is what the score without its price would lose with it. Where there is no
effect, gains are squares of standard normal numbers, and there are d(d - 1)/2 pairs to have one by
accident. So a *cautious* price is one that an accident exceeds in one table of fifty.

Edges found at that price tell how common weak effects are: those that gain little more than it. If
effects a little weaker are as common (per unit of log size), their number below the price is known,
and so is the number of accidents. The *fair* price is the lowest one at which at most 20 % of the
edges that just pay it are expected to be accidents. With strong effects only there are no weak
edges, nothing speaks for a lower price, and the cautious one stays.

Where the model does not hold, pairs without an effect have partial correlations of some size s
beside their standard error 1/sqrt(n) (`linear.misfit`). Gains of accidents are then larger by a
factor 1 + n s², and so is every price. A floor on the effect, |partial correlation| >= r, is a
price as well: n log(1/(1 - r²)). An automatic floor is three sizes, which the price always exceeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from analyticdag._typing import FloatArray, IntArray
from analyticdag.errors import ParameterError

__all__ = [
    "Floor",
    "as_single",
    "block_prices",
    "cautious_price",
    "checked_effect",
    "effect_price",
    "expected_false",
    "fair_price",
]

# Accidents in a whole table, on average, at the cautious price.
ACCIDENTS = 0.02
# Share of accidents among the edges that just pay the fair price. Not a half: a false edge spoils
# directions around it, too. Own seeds, docs/design/order-search.md.
FALSE = 0.2
# Weak effects are counted from the border up to this many times its size. Windows of 1.4 to 2 were
# compared together with FALSE (docs/design/order-search.md).
WINDOW = 1.5
# No price is below three standard errors, squared, unless the cautious one is: with a handful of
# columns there are too few edges to tell how common weak ones are. For the same reason an automatic
# floor is so many sizes of what misfit makes.
_LEAST = SIZES = 3.0
_RAREST = 1e-300  # probabilities below are no numbers any more


@dataclass(frozen=True, eq=False)
class Floor:
    """The smallest partial correlation of an edge: a number, or a function of a first graph."""

    effect: float | Callable[[FloatArray], float]
    n_samples: int
    equal: bool
    excess: float = 1.0  # by which accidents gain more than by chance

    @property
    def known(self) -> float:
        """The number; zero as long as there is no graph."""
        return 0.0 if callable(self.effect) else checked_effect(self.effect)

    @property
    def price(self) -> float:
        """The price that such an edge just pays."""
        return effect_price(self.known, self.n_samples, equal=self.equal)

    def after(self, W: FloatArray) -> Floor:
        """Ask the function, if it is one, about a graph with weights W."""
        if not callable(self.effect):
            return self
        floor = checked_effect(self.effect(W))
        return replace(self, effect=floor, excess=1.0 + self.n_samples * (floor / SIZES) ** 2)


def cautious_price(n_nodes: int) -> float:
    """Price that the gain of an accident exceeds in one table of fifty."""
    return float(ndtri(ACCIDENTS / 2.0 / _pairs(n_nodes)) ** 2)


def fair_price(gains: FloatArray, price: float, n_nodes: int) -> float:
    """Lowest price at which most of what is bought are effects, given gains at a higher price."""
    border = math.sqrt(price)
    seen = np.count_nonzero(gains < price * WINDOW**2) - expected_false(price, n_nodes)
    density = max(seen, 0.0) / math.log(WINDOW)  # effects per unit of log size
    allowed = density * FALSE / (1.0 - FALSE)

    def too_many(z: float) -> float:
        return _accidents_per_log(z, n_nodes) - allowed

    if border <= _LEAST or too_many(border) >= 0.0:
        return price
    if too_many(_LEAST) <= 0.0:
        return _LEAST**2
    return float(brentq(too_many, _LEAST, border)) ** 2


def expected_false(price: float, n_nodes: int) -> float:
    """Accidents to be expected among all edges bought at a price."""
    return _pairs(n_nodes) * 2.0 * float(ndtr(-math.sqrt(price)))


def effect_price(min_effect: float, n_samples: int, *, equal: bool) -> float:
    """Price that an edge pays exactly if its partial correlation is at least `min_effect`."""
    share = min_effect**2
    return n_samples * (share / (1.0 - share) if equal else -math.log1p(-share))


def block_prices(price: float, sizes: IntArray) -> FloatArray:
    """Prices of edges between blocks of these sizes, where one between columns has this price.

    An edge between k and l columns buys k·l coefficients, so the gain of an accident is a
    chi-square with so many degrees of freedom; it exceeds its price as rarely as that of a column.
    """
    freedom = np.outer(sizes, sizes)
    kinds, place = np.unique(freedom, return_inverse=True)
    by_kind = np.array([price if k == 1 else _exceeded(price, int(k)) for k in kinds])
    return np.ascontiguousarray(by_kind[place.reshape(freedom.shape)])


def _exceeded(price: float, freedom: int) -> float:
    """The value that a chi-square exceeds as rarely as one with one degree of freedom the price."""
    probability = float(chi2.sf(price, 1))
    if probability > _RAREST:
        return float(chi2.isf(probability, freedom))
    return price * freedom  # an edge this dear is never bought


def as_single(gains: FloatArray, freedom: IntArray | FloatArray) -> FloatArray:
    """Return gains of blocks as those of single columns that accidents exceed as rarely."""
    rarity = np.maximum(chi2.sf(gains, freedom), _RAREST)
    return chi2.isf(rarity, 1)


def checked_effect(min_effect: float) -> float:
    """A partial correlation below one."""
    if not 0.0 <= min_effect < 1.0:
        raise ParameterError(
            f"min_effect is a partial correlation: at least 0 and below 1, not {min_effect!r}"
        )
    return float(min_effect)


def _pairs(n_nodes: int) -> float:
    return max(n_nodes * (n_nodes - 1) / 2.0, 1.0)


def _accidents_per_log(z: float, n_nodes: int) -> float:
    """Accidents per unit of log size, among pairs whose gain is z²."""
    return _pairs(n_nodes) * 2.0 * math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi) * z
