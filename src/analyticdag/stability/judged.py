"""Probabilities of edges, once more: by how often they come back on resamples.

What the score says of an edge (`linear.probabilities`) and how often it comes back are two looks at
the same rows, and each knows something that the other does not: a gap knows the whole sample and
one graph, resamples know graphs that the search would also have returned. Of k in n resamples,
counted as f = (k + 1/2) / (n + 1) so that neither none nor all is certain,

    logit joined   = a + b · logit joined by the score + c · logit f
    logit directed = the same of those that have this direction, both given that two are joined

The constants are from simulated tables with twenty resamples each, a third of them without
violations (docs/figures/edge_probabilities.py); others say what they are worth
(docs/what-the-data-can-tell.md). An open direction has no probability, and gets none.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import expit, logit

from analyticdag._typing import FloatArray
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.linear.probabilities import SUREST


@dataclass(frozen=True)
class Combined:
    """The constants of one line of this module's docstring."""

    a: float
    b: float
    c: float

    def probability(self, by_score: FloatArray, k: FloatArray, n: FloatArray) -> FloatArray:
        """Return how probable something is that came back k times in n."""
        share = (k + 0.5) / (n + 1.0)
        return expit(self.a + self.b * logit(by_score) + self.c * logit(share))


JOINED = Combined(a=0.722, b=0.796, c=0.148)
DIRECTED = Combined(a=0.0, b=0.7, c=0.15)


def judged(edge: Edge, joined: float, directed: float, n_resamples: int) -> Edge:
    """Return an edge with the probabilities that both looks give it; shares are of all resamples.

    Without a probability by the score, or with a bootstrap that counts already, it stays as it is.
    """
    if edge.probability is None or edge.stability is not None:
        return edge
    n = n_resamples * joined
    p = _sure(JOINED, edge.probability, n, n_resamples)
    way = edge.direction_probability
    if way is None:
        return edge._replace(probability=p)
    given = way / edge.probability
    if edge.fixed_by is not FixedBy.KNOWLEDGE:
        given = _sure(DIRECTED, min(given, SUREST), n_resamples * directed, n)
    return edge._replace(probability=p, direction_probability=p * given)


def _sure(rule: Combined, by_score: float, k: float, n: float) -> float:
    return min(float(rule.probability(by_score, k, n)), SUREST)  # type: ignore[arg-type]
