"""Probabilities of edges, once more: by how often they come back on resamples.

What the score says of an edge (`linear.probabilities`) and how often it comes back are two looks at
the same rows, and each knows something that the other does not: a gap knows the whole sample and
one graph, resamples know graphs that the search would also have returned. Of k in n resamples,
counted as f = (k + 1/2) / (n + 1) so that neither none nor all is certain,

    logit joined   = logit joined by the score + c · (logit f - logit usual)
    logit directed = b · logit directed by the score + c · logit f

the latter with f of those that have this direction, both given that two are joined. So a link is
surer than the score says only if it comes back oftener than is usual. That is not much to ask of
independent rows: a weak link often misses its price in a resample, true or not. But rows that
belong together (`groups`), visits of a patient or stretches of a series, are worth less than the
score takes them for. Resamples draw them together and show it, so there more is asked.

The constants of independent rows are from simulated tables with twenty resamples each, a third of
them without violations (docs/figures/edge_probabilities.py), those of links in groups from series
(docs/figures/series_resamples.py); others say what they are worth (docs/what-the-data-can-tell.md).
An open direction has no probability, and gets none.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import expit, logit

from analyticdag._typing import FloatArray
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.linear.probabilities import SUREST


@dataclass(frozen=True)
class Links:
    """The constants of `joined`, in this module's docstring."""

    c: float
    usual: float

    def probability(self, by_score: FloatArray, k: FloatArray, n: FloatArray) -> FloatArray:
        """Return how probable links are that came back k times in n."""
        return expit(logit(by_score) + self.c * (logit(_share(k, n)) - logit(self.usual)))


@dataclass(frozen=True)
class Ways:
    """The constants of `directed`."""

    b: float
    c: float

    def probability(self, by_score: FloatArray, k: FloatArray, n: FloatArray) -> FloatArray:
        """Return how probable directions are that came back k times in n."""
        return expit(self.b * logit(by_score) + self.c * logit(_share(k, n)))


# What is usual of independent rows is hardly known: 0.03 to 0.3 surprise as little, within 0.002.
# Of links that came back in less than a quarter, no more were right than the score says.
JOINED, DIRECTED = Links(c=0.15, usual=0.25), Ways(b=0.7, c=0.15)
# Where rows were drawn in groups. Constants of their own made directions of other series no surer.
GROUPED_JOINED = Links(c=0.41, usual=0.87)


def judged(
    edge: Edge, joined: float, directed: float, n_resamples: int, *, grouped: bool = False
) -> Edge:
    """Return an edge with the probabilities that both looks give it; shares are of all resamples.

    `grouped` says that rows were drawn in groups. Without a probability by the score, or with a
    bootstrap that counts already, the edge stays as it is.
    """
    if edge.probability is None or edge.stability is not None:
        return edge
    n = n_resamples * joined
    p = _sure(GROUPED_JOINED if grouped else JOINED, edge.probability, n, n_resamples)
    way = edge.direction_probability
    if way is None:
        return edge._replace(probability=p)
    given = way / edge.probability
    if edge.fixed_by is not FixedBy.KNOWLEDGE:
        given = _sure(DIRECTED, min(given, SUREST), n_resamples * directed, n)
    return edge._replace(probability=p, direction_probability=p * given)


def _share(k: FloatArray, n: FloatArray) -> FloatArray:
    return (k + 0.5) / (n + 1.0)


def _sure(rule: Links | Ways, by_score: float, k: float, n: float) -> float:
    return min(float(rule.probability(by_score, k, n)), SUREST)  # type: ignore[arg-type]
