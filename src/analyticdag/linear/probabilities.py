"""How probable an edge is, and its direction: from the search, lowered by what the rows show.

`search.gaps` says what the best graph without the edge (`apart`), or without its direction
(`turned`), would cost. If the model holds, gaps are evidence as they stand. Where it does not,
pairs that nothing joins have partial correlations too, and evidence that grows with the rows
proves nothing. So a gap is divided by

    excess = 1 + n · dependence of what is left of the columns (`misfit.py`), times a constant,

and a share of the edges, which grows with the excess, is only as good as edges in such tables are.
False edges also come in triangles: where a cause of three columns was not measured, or measured
coarsely, all three are joined. So an edge counts less the more columns are joined to both its ends:

    common   = log(1 + columns joined to both ends)
    joined   = (1 - doubt) · sigma(a + b · min(root, limit) - c · common)
               + doubt · sigma(a' - c' · common),
    root     = sqrt((apart + price) / excess) - sqrt(price)
    directed = joined · sigma(b'' · sqrt(turned / excess''))

Both mean what they say: of edges with joined = 0.8, eight in ten are in the true graph, one way or
the other; `directed` is the share that is there with this direction. An edge whose direction is
open has none: it would be half of `joined`, and say nothing. The constants are from simulated
tables, a third of them without violations, none of them used elsewhere
(docs/figures/edge_probabilities.py; what they are worth: docs/what-the-data-can-tell.md). Heavy
tails and columns of few values were among them, and turned out to lower nothing beyond what the
search asks of an edge there. A common cause that was not measured shows in triangles only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.fitting.edges import FIXED_IN_CLASS, Edge, FixedBy
from analyticdag.graphs import topological_order
from analyticdag.linear.learn import Learned
from analyticdag.linear.misfit import dependence_of
from analyticdag.linear.prepare import Fit
from analyticdag.linear.refine import SearchTable
from analyticdag.linear.shape import told
from analyticdag.noise_shape import SURE
from analyticdag.search.gaps import Gaps, edge_gaps
from analyticdag.search.setting import make_setting

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
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for edges, and against: an entry for each.

    `common` counts the columns joined to both ends; `dependence` is what the rows show of misfit,
    times their number.
    """

    apart: FloatArray
    turned: FloatArray
    common: FloatArray
    price: FloatArray
    dependence: FloatArray


@dataclass(frozen=True)
class Joined:
    """The constants of `joined`, in the letters of this module's docstring."""

    a: float
    b: float
    limit: float
    c: float
    a_doubtful: float
    c_doubtful: float
    doubt: float
    dependence: float

    def excess(self, of: Evidence) -> FloatArray:
        """Return by what the evidence for each edge is to be divided."""
        return 1.0 + self.dependence * of.dependence

    def probability(self, of: Evidence) -> FloatArray:
        """Return how probable it is that two are joined."""
        excess, common = self.excess(of), np.log1p(of.common)
        root = np.sqrt(np.minimum(of.apart + of.price, _SURE) / excess) - np.sqrt(of.price)
        sound = expit(self.a + self.b * np.minimum(root, self.limit) - self.c * common)
        doubtful = expit(self.a_doubtful - self.c_doubtful * common)
        doubt = self.doubt * (1.0 - 1.0 / excess)
        return (1.0 - doubt) * sound + doubt * doubtful


@dataclass(frozen=True)
class Directed:
    """The constants of `directed`."""

    b: float
    dependence: float

    def probability(self, of: Evidence) -> FloatArray:
        """Return how probable it is that two that are joined are joined this way."""
        excess = 1.0 + self.dependence * of.dependence
        return expit(self.b * np.sqrt(np.minimum(of.turned, _SURE) / excess))


JOINED = Joined(
    a=0.943,
    b=1.41,
    limit=2.98,
    c=1.54,
    a_doubtful=3.95,
    c_doubtful=2.23,
    doubt=0.958,
    dependence=0.566,
)
DIRECTED = Directed(b=0.972, dependence=1.01)


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Of the edges of a graph, as (d, d) matrices; `excess` is the median over its edges."""

    joined: FloatArray
    directed: FloatArray
    excess: float


def edge_probabilities(fit: Fit, learned: Learned) -> Probabilities | None:
    """Return how probable the edges are; None without a search, or of too large a graph."""
    evidence = edge_evidence(fit, learned)
    if evidence is None:
        return None
    joined = JOINED.probability(evidence)
    directed = joined * DIRECTED.probability(evidence)
    joined[np.isinf(evidence.apart)] = np.nan  # required: nothing that the data could say
    found, edges = np.zeros((2, *learned.finished.adjacency.shape)), learned.finished.adjacency
    found[:, edges] = np.minimum(joined, SUREST), np.minimum(directed, SUREST)
    excess = float(np.median(JOINED.excess(evidence)))
    return Probabilities(found[0], found[1], excess)


def edge_evidence(fit: Fit, learned: Learned) -> Evidence | None:
    """Return what speaks for the edges of a graph that was searched, and against the model."""
    edges = learned.finished.adjacency
    size = int(edges.sum()) * len(edges)
    if not learned.trace.search or not size or size > LARGEST * max(fit.options.effort, 1.0):
        return None
    price = learned.trace.edge_price(learned.loss.name)
    gaps = _gaps(fit, learned, price)
    misfit = fit.statistics.n_samples * dependence_of(fit.statistics, learned.finished.weights)
    near = sparse.csr_array((edges | edges.T).astype(float))
    return Evidence(
        apart=gaps.apart[edges],
        turned=gaps.turned[edges],
        common=(near @ near).toarray()[edges],
        price=np.full(edges.sum(), price),
        dependence=np.full(edges.sum(), misfit),
    )


def _gaps(fit: Fit, learned: Learned, price: float) -> Gaps:
    """Return what the edges are worth, from a search that does not depend on columns' places."""
    table = SearchTable.of(fit)
    places = np.ix_(table.order, table.order)
    adjacency: BoolArray = np.ascontiguousarray(learned.finished.adjacency[places])
    residuals = table.moments.residual_variances(learned.finished.weights[places])
    equal = learned.loss.score == "equal"
    setting = make_setting(
        table.moments,
        "equal" if equal else "unequal",
        price,
        table.masks.allowed,
        table.masks.required,
        table.masks.max_parents,
        noise=float(np.average(residuals, weights=table.moments.samples_of)),
    )
    gaps = edge_gaps(setting, adjacency, topological_order(adjacency))
    apart, turned = table.back_matrix(gaps.apart), table.back_matrix(gaps.turned)
    if not equal:
        # A member of the class that has the edge the other way costs the same; a search that turns
        # one edge may miss it, where others have to turn with it.
        turned[fit.open_edges(learned.finished.adjacency)] = 0.0
    return replace(gaps, apart=apart, turned=turned)


def with_sure_claims(learned: Learned, found: Probabilities | None) -> Learned:
    """Return what was learned, with directions by the shape of noise at probable edges only."""
    shaped = learned.shaped
    if shaped is None:
        return learned
    if found is not None:
        shaped = shaped.where(~(found.joined < SURE))
    choice = learned.choice and replace(learned.choice, shape=told(shaped))
    return replace(learned, shaped=shaped, choice=choice)


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
    elif edge.fixed_by in _BY_SCORE and not _against_score(edge):
        directed = float(found.directed[i, j])
    return edge._replace(probability=joined, direction_probability=directed)


def _against_score(edge: Edge) -> bool:
    """Whether the noise turned an edge that the covariances had fixed the other way."""
    return edge.fixed_by in FIXED_IN_CLASS and edge.margin is not None
