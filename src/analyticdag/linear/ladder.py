"""`ladder_`: the graphs of a falling series of prices, each of them searched.

An edge costs its price in the score. At a high one only strong edges are bought; going down, weaker
ones enter, and now and then one leaves or turns because another explains more. So a graph at
another price is not the same graph with some edges hidden: every rung is a search of its own, from
the order of the rung above and from that of the fit. The rung at the fit's own price is the fit.

It is made when somebody asks for it, not by every fit: with ten rungs it takes about as long as the
fit itself, and most fits (of resamples, for instance) are never asked. Nothing but moments is
needed, so that it can be made later. The command line asks, for its page.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from analyticdag._threads import one_blas_thread
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import column_names
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.graphs import orient_with_knowledge, topological_order
from analyticdag.interventions import equivalence_class
from analyticdag.knowledge import EdgeMasks
from analyticdag.linear.learn import Learned
from analyticdag.linear.prepare import Fit
from analyticdag.losses import LossTraits
from analyticdag.moments import Moments
from analyticdag.orders import canonical_order
from analyticdag.search import search_orders

# Rungs above the fit's price, each twice the next; and below it, as shares of it.
ABOVE = 7
BELOW = (2.0**-0.5, 0.5)
LOWEST = 4.0  # two standard errors, squared: below, most edges are accidents


@dataclass(frozen=True, eq=False)
class Rung:
    """The best graph found at one price; `min_effect` is the partial correlation that pays it.

    `adjacency` and `cpdag` are (d, d), in the order of the columns; what knowledge, interventions
    or accepted assumptions fix is fixed in the cpdag. The score is that of the search; smaller is
    better, and scores of different prices do not compare.
    """

    price: float
    min_effect: float
    score: float
    adjacency: BoolArray
    cpdag: IntArray

    @property
    def n_edges(self) -> int:
        """How many edges there are."""
        return int(self.adjacency.sum())


@dataclass(frozen=True, eq=False)
class LadderTask:
    """What a ladder is made from."""

    moments: Moments
    masks: EdgeMasks
    loss: LossTraits
    price: float
    score: float
    weights: FloatArray
    seed: int
    n_jobs: int | None
    known: BoolArray  # edges that knowledge alone permits
    perturbed: BoolArray | None

    @classmethod
    def of(
        cls, fit: Fit, learned: Learned, moments: Moments | None = None, **own: Any
    ) -> Self | None:
        """Return the task of a fit, with fields of its own; None where nothing was searched."""
        scores = [one.score for one in learned.trace.search if one.loss == learned.loss.name]
        if not scores:
            return None
        return cls(
            moments or fit.statistics.moments,
            fit.masks,
            learned.loss,
            learned.price,
            min(scores),
            learned.finished.weights,
            fit.options.seed,
            fit.options.n_jobs,
            fit.known.allowed,
            fit.statistics.perturbed,
            **own,
        )

    def rungs(self) -> tuple[Rung, ...]:
        """Search all rungs, from the highest price down; the fit's own is among them."""
        order = self._order()
        fit = np.argsort(order)[topological_order(self.weights != 0.0)]
        rungs, above = [], fit
        for price in self._prices():
            if price == self.price:
                rungs.append(self._rung(price, self.score, self.weights != 0.0))
                above = fit
                continue
            starts = {"fit": fit} if above is fit else {"fit": fit, "rung above": above}
            rung, above = self._search(price, order, starts)
            rungs.append(rung)
        return tuple(rungs)

    def _order(self) -> IntArray:
        """Return the nodes in an order that does not depend on their places."""
        return canonical_order(self.moments.S)

    def _most(self) -> float:
        """Return what the strongest edge gains, at most."""
        own, left = self.moments.own_variances, self.moments.residual_variances(self.weights)
        # A column may be constant in the rows of its own equation: nothing of it is explained.
        shares = np.divide(left, own, out=np.ones(len(own)), where=own > 0.0)
        return -self.moments.n_samples * math.log(max(float(np.min(shares)), 1e-10))

    def _prices(self) -> list[float]:
        """Return the prices, falling; the highest is above what the strongest edge gains."""
        most = self._most()
        steps = math.ceil(math.log2(max(most / self.price, 1.0)))
        higher = [self.price * 2.0**k for k in range(min(steps, ABOVE), 0, -1)]
        return [*higher, self.price, *(p for k in BELOW if (p := self.price * k) >= LOWEST)]

    def _search(
        self, price: float, order: IntArray, starts: dict[str, IntArray]
    ) -> tuple[Rung, IntArray]:
        """Search at a price; the rung, and the order to go on from."""
        moments = self.moments.in_order(order)
        found = search_orders(
            moments.S,
            moments.n_samples,
            score="equal" if self.loss.score == "equal" else "unequal",
            price=price,
            effort=0.0,  # from these starts alone
            masks=self.masks.in_order(order),
            moments=moments,
            starts=starts,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        back = np.argsort(order)
        adjacency = (found.weights != 0.0)[np.ix_(back, back)] | self.masks.required
        return self._rung(price, float(found.score), adjacency), found.order

    def _rung(self, price: float, score: float, adjacency: BoolArray) -> Rung:
        share = price / self.moments.n_samples
        # The inverse of `search.effect_price`.
        equal = self.loss.score == "equal"
        effect = math.sqrt(share / (1.0 + share) if equal else -math.expm1(-share))
        cpdag = adjacency.astype(np.int64)
        if self.loss.fixed_by == FixedBy.NOTHING:
            found = equivalence_class(adjacency, self.perturbed)
            cpdag = orient_with_knowledge(found, self.known).astype(np.int64)
        return Rung(price, effect, score, adjacency, cpdag)


def with_entries(
    edges: tuple[Edge, ...], names: Sequence[Hashable], ladder: tuple[Rung, ...]
) -> tuple[Edge, ...]:
    """Return the edges with the highest price at which the two are joined."""
    place = {name: k for k, name in enumerate(names)}
    marked = []
    for edge in edges:
        i, j = place[edge.source], place[edge.target]
        joined = (rung.price for rung in ladder if rung.adjacency[i, j] or rung.adjacency[j, i])
        marked.append(edge._replace(enters_at=max(joined, default=None)))
    return tuple(marked)


class HasLadder:
    """An estimator that can make its ladder when it is asked for."""

    edges_: tuple[Edge, ...]
    n_features_in_: int
    _ladder: LadderTask | None
    _rungs: tuple[Rung, ...] | None

    @property
    def ladder_(self) -> tuple[Rung, ...]:
        """The graphs of a falling series of prices, searched when this is first asked for.

        From then on `edges_` say at which price they enter. Without a search there are none.
        """
        check_is_fitted(self)
        if self._rungs is None:
            with one_blas_thread():
                self._rungs = () if self._ladder is None else self._ladder.rungs()
            names = column_names(self, self.n_features_in_)
            self.edges_ = with_entries(self.edges_, names, self._rungs)
        return self._rungs
