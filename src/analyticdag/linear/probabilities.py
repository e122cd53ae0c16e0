"""How probable an edge is, and its direction: from the search, lowered by what the rows show.

`search.gaps` says what the best graph without the edge (`apart`), or without its direction
(`turned`), would cost. If the model holds, gaps are evidence as they stand. Where it does not,
pairs that nothing joins have partial correlations too, and evidence that grows with the rows
proves nothing. So a gap is divided by

    excess = 1 + n · (dependence, few values, spread)

and a share of the edges, which grows with the excess, is only as good as edges in such tables are:

    joined   = (1 - doubt) · sigma(a + b · (sqrt((apart + price) / excess) - sqrt(price)))
               + doubt · base
    directed = joined · sigma(a' + b' · sqrt(turned / excess'))

Both mean what they say: of edges with joined = 0.8, eight in ten are in the true graph, one way or
the other; `directed` is the share that is there with this direction. a and b are from simulations
without violations, the rest from simulated violations, none of them used elsewhere
(docs/figures/edge_probabilities.py; what they are worth: docs/what-the-data-can-tell.md). Heavy
tails were among them, and turned out to lower nothing. A common cause that was not measured does
not show in the rows, and lowers nothing either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.graphs import orient_with_knowledge, topological_order
from analyticdag.interventions import equivalence_class
from analyticdag.linear.learn import Learned
from analyticdag.linear.misfit import Misfit, misfit_of
from analyticdag.linear.paths import Fit
from analyticdag.linear.refine import SearchTable

if TYPE_CHECKING:
    from analyticdag.search.gaps import Gaps

# Edges times columns, times `effort`: beyond, doing without each edge takes longer than the search.
LARGEST = 100_000
# Gaps beyond this say nothing more, and no simulation says that anything is surer.
_SURE, SUREST = 1e4, 0.999
# Why an edge points as it does, where the score says how sure that is.
_BY_SCORE = (
    FixedBy.COLLIDER,
    FixedBy.ORIENTATION_RULES,
    FixedBy.INTERVENTIONS,
    FixedBy.EQUAL_VARIANCES,
    FixedBy.NOTHING,
)


@dataclass(frozen=True)
class Calibration:
    """sigma(level + slope · root of the evidence), and what makes evidence count less."""

    level: float
    slope: float
    dependence: float
    coarse: float
    spread: float

    def excess(self, misfit: Misfit, n_samples: int) -> FloatArray:
        """Return by what the evidence for each edge is to be divided."""
        coarse = np.maximum(misfit.coarse[:, None], misfit.coarse)
        shown = self.dependence * misfit.dependence + self.coarse * coarse
        return 1.0 + n_samples * (shown + self.spread * misfit.spread)


JOINED = Calibration(level=0.352, slope=3.26, dependence=2.33, coarse=0.00449, spread=0.045)
DIRECTED = Calibration(level=0.162, slope=0.834, dependence=0.769, coarse=0.0, spread=0.044)
# Share of edges that the excess makes doubtful, at most, and how many of those are there.
DOUBT, BASE = 0.831, 0.963


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Of the edges of a graph, as (d, d) matrices; `excess` is the median over its edges."""

    joined: FloatArray
    directed: FloatArray
    excess: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """What probabilities are made from; edges of one graph."""

    apart: FloatArray
    turned: FloatArray
    price: float
    n_samples: int
    misfit: Misfit

    def probabilities(
        self, joined: Calibration, directed: Calibration, doubt: float, base: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return how probable it is that two are joined, and that they are joined this way."""
        excess = joined.excess(self.misfit, self.n_samples)
        root = np.sqrt(np.minimum(self.apart + self.price, _SURE) / excess) - np.sqrt(self.price)
        doubtful = doubt * (1.0 - 1.0 / excess)
        p = (1.0 - doubtful) * expit(joined.level + joined.slope * root) + doubtful * base
        less = directed.excess(self.misfit, self.n_samples)
        turned = np.sqrt(np.minimum(self.turned, _SURE) / less)
        return p, p * expit(directed.level + directed.slope * turned)


def edge_probabilities(fit: Fit, learned: Learned) -> Probabilities | None:
    """Return how probable the edges are; None without a search, or of too large a graph."""
    evidence = edge_evidence(fit, learned)
    if evidence is None:
        return None
    joined, directed = evidence.probabilities(JOINED, DIRECTED, DOUBT, BASE)
    joined, directed = np.minimum(joined, SUREST), np.minimum(directed, SUREST)
    joined[np.isinf(evidence.apart)] = np.nan  # required: nothing that the data could say
    excess = JOINED.excess(evidence.misfit, evidence.n_samples)[learned.finished.adjacency]
    return Probabilities(joined, directed, float(np.median(excess)))


def edge_evidence(fit: Fit, learned: Learned) -> Evidence | None:
    """Return what speaks for the edges of a graph that was searched, and against the model."""
    adjacency = learned.finished.adjacency
    size = int(adjacency.sum()) * len(adjacency)
    if not learned.trace.search or not size or size > LARGEST * max(fit.options.effort, 1.0):
        return None
    price = learned.trace.edge_price(learned.loss.name)
    gaps = _gaps(fit, learned, price)
    misfit = misfit_of(fit.statistics, learned.finished.weights)
    return Evidence(gaps.apart, gaps.turned, price, fit.statistics.n_samples, misfit)


def _gaps(fit: Fit, learned: Learned, price: float) -> Gaps:
    """Return what the edges are worth, from a search that does not depend on columns' places."""
    # Compiled code: imported when it is used, so that importing the package stays cheap.
    from analyticdag.search.gaps import edge_gaps

    table = SearchTable.of(fit)
    places = np.ix_(table.order, table.order)
    adjacency: BoolArray = np.ascontiguousarray(learned.finished.adjacency[places])
    residuals = table.moments.residual_variances(learned.finished.weights[places])
    equal = learned.loss.score == "equal"
    gaps = edge_gaps(
        table.moments,
        adjacency,
        topological_order(adjacency),
        score="equal" if equal else "unequal",
        price=price,
        noise=float(np.average(residuals, weights=table.moments.samples_of)) if equal else None,
        allowed=table.masks.allowed,
        required=table.masks.required,
        max_parents=table.masks.max_parents,
    )
    apart, turned = table.back_matrix(gaps.apart), table.back_matrix(gaps.turned)
    if not equal:
        # A member of the class that has the edge the other way costs the same; a search that turns
        # one edge may miss it, where others have to turn with it.
        turned[_open(fit, learned.finished.adjacency)] = 0.0
    return replace(gaps, apart=apart, turned=turned)


def _open(fit: Fit, adjacency: BoolArray) -> BoolArray:
    """Return the edges that data, interventions and knowledge leave open, both ways."""
    cpdag = equivalence_class(adjacency, fit.statistics.perturbed)
    allowed = fit.options.knowledge.resolve(fit.statistics.names).allowed
    known: BoolArray = orient_with_knowledge(cpdag, allowed) != 0
    return known & known.T


def with_probabilities(
    edges: tuple[Edge, ...], places: list[tuple[int, int]], found: Probabilities | None
) -> tuple[Edge, ...]:
    """Return the edges with their probabilities; a known direction is as sure as its edge."""
    if found is None:
        return edges
    return tuple(_with(edge, *place, found) for edge, place in zip(edges, places, strict=True))


def _with(edge: Edge, i: int, j: int, found: Probabilities) -> Edge:
    joined, directed = float(found.joined[i, j]), None
    if np.isnan(joined):
        return edge
    if edge.fixed_by is FixedBy.KNOWLEDGE:
        directed = joined
    elif edge.fixed_by in _BY_SCORE:
        directed = float(found.directed[i, j])
    return edge._replace(probability=joined, direction_probability=directed)
