"""How probable an edge is, and its direction: from the search, lowered by what the rows show.

`search.gaps` says what the best graph without the edge (`apart`), or without its direction
(`turned`), would cost. If the model holds, gaps are evidence as they stand. Where it does not,
pairs that nothing joins have partial correlations too, and evidence that grows with the rows
proves nothing. So a gap is divided by

    excess = 1 + n · dependence of what is left of the columns (`misfit.py`), times a constant,

and a share of the edges, which grows with the excess, is only as good as edges in such tables are.
Where equal variances were accepted, the edges that only they direct would cost no more, turned,
than that assumption won by; of that margin of BIC half counts, as it prices variances that differ
by any amount and misses mild differences more easily.
What a few rows make is no evidence either: gaps, prices added, are multiplied by the share that
ranks leave of them (`tails.py`). In graphs that are too large for short searches, `apart` is made
of what the edge gains in its regression, and how sure directions are is not said.
False edges also come in triangles: where a cause of three columns was not measured, or measured
coarsely, all three are joined. So an edge counts less the more columns are joined to both its ends.
And a wrong direction is mostly one towards a node of many effects: any two of them may by chance
look as if they met there. So a direction counts less the more children its target has, and more the
more parents agree on it:

    common   = log(1 + columns joined to both ends)
    joined   = (1 - doubt) · sigma(a + b · min(root, limit) - c · common)
               + doubt · sigma(a' - c' · common),
    root     = sqrt((apart + price) / excess) - sqrt(price)
    directed = joined · sigma(b'' · sqrt(turned / excess'') - c'' · log(1 + children / parents))

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
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import expit

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import topological_order
from analyticdag.knowledge import EdgeMasks
from analyticdag.linear.learn import Learned
from analyticdag.linear.prepare import Fit
from analyticdag.linear.tails import edge_gains
from analyticdag.moments import Moments
from analyticdag.orders import canonical_order
from analyticdag.search.gaps import Gaps, edge_gaps
from analyticdag.search.setting import Setting, make_setting

# Edges times columns, times `effort`: beyond, gaps are taken from the regressions. Seconds for ER2
# with 1,000 rows: 500 nodes 1.2, at known scale 3.4; 1,000 nodes 3.1, and their search takes 6.4.
LARGEST = 1_000_000
# By which regressions say too much: docs/design/order-search.md.
_OVERSTATED = 1.8
# Share of the margin of equal variances that counts for a direction: 300 own tables, noise that
# differs by factors of up to 2.7 (docs/what-the-data-can-tell.md).
_MARGIN_THAT_COUNTS = 0.5
# Beyond this nothing is said: a matrix with an entry for every pair of columns takes a gigabyte.
_MOST_COLUMNS = 10_000
# Gaps beyond this say nothing more, and no simulation says that anything is surer.
_SURE, SUREST = 1e4, 0.999


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for edges, and against: an entry for each.

    `common` counts the columns joined to both ends, `fan` the children of the target for each of
    its parents (zero where equal variances tell directions); `dependence` is what the rows show of
    misfit, times their number.
    """

    apart: FloatArray
    turned: FloatArray
    common: FloatArray
    fan: FloatArray
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
    c: float
    dependence: float

    def probability(self, of: Evidence) -> FloatArray:
        """Return how probable it is that two that are joined are joined this way."""
        excess = 1.0 + self.dependence * of.dependence
        root = np.sqrt(np.minimum(of.turned, _SURE) / excess)
        return expit(self.b * root - self.c * np.log1p(of.fan))


JOINED = Joined(
    a=0.873,
    b=1.67,
    limit=2.49,
    c=1.6,
    a_doubtful=3.69,
    c_doubtful=2.6,
    doubt=0.978,
    dependence=0.688,
)
DIRECTED = Directed(b=1.33, c=1.87, dependence=1.27)


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Of the edges of a graph, as (d, d) matrices."""

    joined: FloatArray
    directed: FloatArray


@dataclass(frozen=True, eq=False)
class EdgeJudge:
    """What probabilities are made from: no rows any more, and nothing that the model has not."""

    moments: Moments
    masks: EdgeMasks
    order: IntArray  # the columns in an order that does not depend on their places
    adjacency: BoolArray
    open_edges: BoolArray | None
    noise: float | None  # the noise variance that all columns share; None: each has its own
    price: float
    dependence: float
    searched: bool = True  # whether gaps are those of short searches, or of the regressions
    backed: FloatArray | None = None  # share of the evidence that ranks leave (`tails.py`)
    most_turned: FloatArray | None = None  # what directions that an assumption fixed are worth

    @property
    def excess(self) -> float:
        """By what evidence is divided."""
        return 1.0 + JOINED.dependence * self.dependence

    def evidence(self) -> Evidence:
        """Return what speaks for the edges, and against the model."""
        gaps, edges = self._searched() if self.searched else self._regressed(), self.adjacency
        if self.backed is not None:
            lowered = (gaps.apart + self.price) * self.backed - self.price
            gaps = Gaps(lowered, gaps.turned * self.backed)
        if self.most_turned is not None:
            gaps = replace(gaps, turned=np.minimum(gaps.turned, self.most_turned))
        near = sparse.csr_array((edges | edges.T).astype(float))
        fans = edges.sum(axis=1) / np.maximum(edges.sum(axis=0), 1)
        if self.noise is not None:
            fans[:] = 0.0  # variances tell the direction, and no pair of effects enters
        return Evidence(
            apart=gaps.apart[edges],
            turned=gaps.turned[edges],
            common=(near @ near).toarray()[edges],
            fan=fans[np.nonzero(edges)[1]],
            price=np.full(edges.sum(), self.price),
            dependence=np.full(edges.sum(), self.dependence),
        )

    def _searched(self) -> Gaps:
        """Return what short searches find."""
        setting = make_setting(
            self.moments.in_order(self.order),
            "unequal" if self.noise is None else "equal",
            self.price,
            self.masks.in_order(self.order),
            noise=1.0 if self.noise is None else self.noise,
        )
        unequal = self.noise is None
        return gaps_of(setting, self.order, self.adjacency, self.open_edges, stretches=unequal)

    def _regressed(self) -> Gaps:
        """Return what edges gain in their regressions, less what these overstate.

        What another direction would cost is not known.
        """
        gains = edge_gains(self.moments, self.adjacency, self.noise)
        apart = np.maximum(gains - self.price, 0.0) / _OVERSTATED
        apart[self.masks.required] = np.inf
        return Gaps(apart, np.full_like(apart, np.nan))

    @cached_property
    def probabilities(self) -> Probabilities:
        """How probable the edges are."""
        evidence, edges = self.evidence(), self.adjacency
        joined = JOINED.probability(evidence)
        directed = joined * DIRECTED.probability(evidence)
        joined[np.isinf(evidence.apart)] = np.nan  # required: nothing that the data could say
        found = np.zeros((2, *edges.shape))
        found[:, edges] = np.minimum(joined, SUREST), np.minimum(directed, SUREST)
        return Probabilities(found[0], found[1])


def is_judged(fit: Fit, learned: Learned) -> bool:
    """Whether short searches say what edges are worth: not without a search, nor in too large
    a graph."""
    edges = learned.finished.adjacency
    size = int(edges.sum()) * len(edges)
    return bool(learned.trace.search) and 0 < size <= LARGEST * max(fit.options.effort, 1.0)


def gaps_of(
    setting: Setting,
    order: IntArray,
    adjacency: BoolArray,
    open_edges: BoolArray | None,
    *,
    stretches: bool = False,
) -> Gaps:
    """Return what the edges of a graph are worth; the setting has its nodes in another order."""
    own, back = np.ascontiguousarray(adjacency[np.ix_(order, order)]), np.argsort(order)
    found = edge_gaps(setting, own, topological_order(own), stretches=stretches)
    apart, turned = (gaps[np.ix_(back, back)] for gaps in (found.apart, found.turned))
    if open_edges is not None:
        # A member of the class that has the edge the other way costs the same; a search that turns
        # one edge may miss it, where others have to turn with it.
        turned[open_edges] = 0.0
    return Gaps(apart, turned)


def edge_judge(fit: Fit, learned: Learned) -> EdgeJudge | None:
    """Return what the probabilities of a graph are made from; None where there are none."""
    known = bool(learned.trace.search) and bool(learned.finished.adjacency.any())
    if not known or len(learned.finished.adjacency) > _MOST_COLUMNS:
        return None
    moments, weights = fit.statistics.moments, learned.finished.weights
    adjacency, equal = learned.finished.adjacency, learned.loss.score == "equal"
    left = moments.residual_variances(weights) if equal else None
    return EdgeJudge(
        moments,
        fit.masks,
        canonical_order(fit.for_starts.S),
        adjacency,
        open_edges=None if equal else fit.open_edges(adjacency),
        noise=None if left is None else float(np.average(left, weights=moments.samples_of)),
        price=learned.price,
        dependence=fit.statistics.n_samples * fit.misfit.dependence(weights),
        searched=is_judged(fit, learned),
        backed=fit.tails.backed(weights),
        most_turned=_most_turned(fit, learned) if equal else None,
    )


def _most_turned(fit: Fit, learned: Learned) -> FloatArray | None:
    """Return the most that directions count where equal variances were accepted, not asked for."""
    if learned.choice is None:
        return None
    assumed = fit.open_edges(learned.finished.adjacency)
    return np.where(assumed, _MARGIN_THAT_COUNTS * learned.choice.margin, np.inf)


def edge_evidence(fit: Fit, learned: Learned) -> Evidence | None:
    """Return what speaks for the edges, and against the model; None where none is judged."""
    judge = edge_judge(fit, learned)
    return judge.evidence() if judge is not None and judge.searched else None
