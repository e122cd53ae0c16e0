"""`Stability`: how often each edge came back, and what can be concluded from that.

A frequency is no probability that an edge is real: a method that errs the same way on every
resample is stable too. Stability selection turns frequencies from complementary pairs into a
bound on the expected number of pairs that are selected though a fit picks them no more often
than an average pair (Shah and Samworth, JRSS B 2013). With q pairs found per half, p pairs in
all and a threshold t on the frequency, that number is at most

    q²/p · 1/(2t - 1)                          without any assumption
    q²/p · 1/(2(2t - 1 - 1/2B))  for t ≤ 3/4   if frequencies of such pairs are unimodal,
    q²/p · 4(1 - t + 1/2B)/(1 + 1/B)  above    with B pairs of halves
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, TypeAlias

import networkx as nx
import numpy as np

from analyticdag._parameters import choice, shown
from analyticdag._typing import FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.stability.counts import Counts
from analyticdag.stability.judged import judged
from analyticdag.stability.resamples import COMPLEMENTARY, Scheme

Assumption: TypeAlias = Literal["none", "unimodal"]


@dataclass(frozen=True, eq=False)
class Stability:
    """Frequencies over the resamples, as (d, d) matrices, [i, j] for i -> j.

    `edge_frequency`: the DAG had i -> j. `direction_frequency`: its equivalence class had i -> j
    with that direction. `skeleton_frequency`: i and j were joined, either way.
    """

    names: tuple[Hashable, ...] = field(repr=False)
    n_resamples: int
    n_rows: int
    subsample: float | str | None
    seed: int
    edge_frequency: FloatArray = field(repr=False)
    direction_frequency: FloatArray = field(repr=False)
    skeleton_frequency: FloatArray = field(repr=False)
    grouped: bool = False  # whether rows were drawn in groups

    @classmethod
    def from_counts(cls, names: tuple[Hashable, ...], counts: Counts, scheme: Scheme) -> Stability:
        """Turn counts into frequencies."""
        return cls(
            names,
            counts.done,
            scheme.n_rows,
            scheme.subsample,
            scheme.seed,
            counts.edges / counts.done,
            counts.directed / counts.done,
            counts.skeleton / counts.done,
            grouped=scheme.members is not None,
        )

    def consensus_dag(self, threshold: float = 0.5) -> IntArray:
        """Return a 0/1 DAG of the pairs joined in at least a share `threshold` of the resamples.

        Each points the way most resamples have it, the clearest first, unless that would close a
        cycle with those before it: then the other way.
        """
        check_share(threshold)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(len(self.names)))
        F = self.edge_frequency
        pairs = np.argwhere(np.triu(self.skeleton_frequency >= threshold, 1))
        lead = np.abs(F[tuple(pairs.T)] - F[tuple(pairs[:, ::-1].T)])
        for i, j in pairs[np.argsort(-lead, kind="stable")].tolist():
            a, b = (i, j) if F[i, j] >= F[j, i] else (j, i)
            graph.add_edge(*((b, a) if nx.has_path(graph, b, a) else (a, b)))
        adjacency = np.zeros(F.shape, dtype=np.int64)
        adjacency[tuple(np.array(list(graph.edges), dtype=np.int64).reshape(-1, 2).T)] = 1
        return adjacency

    def consensus_cpdag(self, threshold: float = 0.5) -> IntArray:
        """Return the same pairs, directed where the class mostly was.

        In more than half of the resamples that join the pair, that is; other pairs are set in both
        entries. A vote need not be the class of any one DAG.
        """
        check_share(threshold)
        joined = self.skeleton_frequency >= threshold
        directed = joined & (self.direction_frequency > 0.5 * self.skeleton_frequency)
        return (joined & ~directed.T).astype(np.int64)

    def select(self, threshold: float = 0.9) -> list[tuple[Hashable, Hashable]]:
        """Return the pairs joined in at least a share `threshold` of the halves, by name."""
        check_share(threshold)
        pairs = np.argwhere(np.triu(self.skeleton_frequency >= threshold, 1))
        return [(self.names[i], self.names[j]) for i, j in pairs]

    def error_bound(self, threshold: float = 0.9, *, assumption: Assumption = "unimodal") -> float:
        """Return the bound on the expected number of wrong pairs that `select` returns."""
        if self.subsample != COMPLEMENTARY:
            raise ParameterError(
                "the error bound holds for complementary pairs only; run bootstrap with "
                f"subsample={COMPLEMENTARY!r}"
            )
        choice("assumption", assumption, ("none", "unimodal"))
        check_share(threshold, above=0.5)
        d = len(self.names)
        p = d * (d - 1) / 2
        q = float(self.skeleton_frequency.sum()) / 2
        if p == 0:
            return 0.0
        factor = 1.0 / (2.0 * threshold - 1.0)
        if assumption == "unimodal":
            factor = min(factor, _unimodal(threshold, q / p, self.n_resamples // 2))
        return q * q / p * factor

    def annotate(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        """Return the rows of `edges_` with their stability: `m.edges_ = s.annotate(m.edges_)`.

        A bootstrap counts in their probabilities too (`judged.py`), once; subsamples do not.
        """
        position = {name: k for k, name in enumerate(self.names)}
        try:
            return tuple(
                self._annotated(edge, position[edge.source], position[edge.target])
                for edge in edges
            )
        except KeyError as error:
            raise ParameterError(
                f"the edges name {error.args[0]!r}, which the resampled data do not have; "
                "resample the data that the estimator was fitted on"
            ) from error

    def _annotated(self, edge: Edge, i: int, j: int) -> Edge:
        # Knowledge and assumptions give a direction wherever the edge is; data only in the class.
        given = edge.fixed_by in (FixedBy.KNOWLEDGE, FixedBy.EQUAL_VARIANCES, FixedBy.EQUATIONS)
        fixed = self.edge_frequency if given else self.direction_frequency
        joined, directed = float(self.skeleton_frequency[i, j]), float(fixed[i, j])
        if self.subsample is None:
            edge = judged(edge, joined, directed, self.n_resamples, grouped=self.grouped)
        return edge._replace(stability=joined, direction_stability=directed)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, the pairs that ever came back as a list of rows."""
        rows = [
            {
                "source": self.names[i],
                "target": self.names[j],
                "edge": float(self.edge_frequency[i, j]),
                "direction": float(self.direction_frequency[i, j]),
                "skeleton": float(self.skeleton_frequency[i, j]),
            }
            for i, j in np.argwhere(self.edge_frequency > 0)
        ]
        return {
            "n_resamples": self.n_resamples,
            "n_rows": self.n_rows,
            "subsample": self.subsample,
            "seed": self.seed,
            "edges": rows,
        }


def _unimodal(threshold: float, theta: float, n_pairs: int) -> float:
    """Return the constant of Shah and Samworth's theorem 2, infinite where it does not hold."""
    half = 1.0 / (2.0 * n_pairs)
    lowest = min(0.5 + theta**2, 0.5 + half + 0.75 * theta**2)
    if theta > 1.0 / np.sqrt(3.0) or threshold <= lowest:
        return np.inf
    if threshold <= 0.75:
        room = 2.0 * threshold - 1.0 - half
        return 1.0 / (2.0 * room) if room > 0 else np.inf
    return 4.0 * (1.0 - threshold + half) / (1.0 + 2.0 * half)


def check_share(threshold: float, *, above: float = 0.0) -> None:
    """Raise ParameterError unless a threshold is a share above a bound."""
    if not isinstance(threshold, Real) or not above < threshold <= 1.0:
        raise ParameterError(
            f"threshold must be a share above {above:g} and at most 1, not {shown(threshold)}"
        )
