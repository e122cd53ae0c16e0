"""`check_graph`: does a graph from anywhere fit the data? `fit_graph`: its equations.

A DAG implies that every node is independent of its non-descendants given its parents. For each
pair that is not joined one such statement is tested, with the parents of the later of the two: by
the partial correlation, corrected for the number of tests by Holm's method.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from scipy import special

from analyticdag._parameters import level_of
from analyticdag._tables import read_columns, refuse_nonfinite, refuse_out_of_range
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.effects.known import Known
from analyticdag.errors import InputError
from analyticdag.graphs import (
    adjacency,
    from_networkx,
    member_of,
    orient_with_knowledge,
    topological_order,
)
from analyticdag.least_squares import regressions
from analyticdag.moments import Moments
from analyticdag.search import default_gamma, graph_score, search_orders


class Independence(NamedTuple):
    """One implied independence, and how clearly the data contradict it; `p_value` is corrected."""

    first: Hashable
    second: Hashable
    given: tuple[Hashable, ...]
    partial_correlation: float
    p_value: float


@dataclass(frozen=True)
class GraphCheck:
    """What the data say about a graph.

    n_tests : how many independences the graph implies, one for each pair that is not joined.
    violated : those that the data contradict, the clearest first: edges to think of adding.
    unsupported : edges that do not pay for themselves in the score: edges to think of dropping.
    score, best_score : penalised scores of the graph, and of the best one that a search found;
        smaller is better.
    """

    n_tests: int
    violated: tuple[Independence, ...]
    unsupported: tuple[tuple[Hashable, Hashable], ...]
    score: float
    best_score: float

    def __str__(self) -> str:
        return (
            f"{len(self.violated)} of {self.n_tests} implied independences contradict the data; "
            f"{len(self.unsupported)} edges do not pay for themselves; score {self.score:.1f}, "
            f"the best found {self.best_score:.1f} (smaller is better)"
        )


def fit_graph(graph: Any, data: Any) -> Known:
    """Fit the equations of a given graph to data, for `total_effect`, `effects` and the rest.

    `graph` is a networkx.DiGraph on the names of the columns, or a (d, d) matrix, [i, j] for
    i -> j. An edge in both directions is open.
    """
    values, found = read_columns(data, "data")
    names: list[Hashable] = list(range(values.shape[1])) if found is None else found
    refuse_nonfinite(values, names, "data")
    refuse_out_of_range(values, names, "data")
    edges = _edges(graph, names)
    member = member_of(edges)
    topological_order(member, names)  # raises and names the cycle, if there is one
    moments = Moments.of_rows(values, np.zeros(values.shape, dtype=bool))
    return Known.standardised(names, edges, member, moments, values.mean(axis=0))


def check_graph(graph: Any, data: Any, *, level: float = 0.05) -> GraphCheck:
    """Test a graph against data; `level` is the chance of any false alarm among the tests."""
    level_of(level)
    known = fit_graph(graph, data)
    tests = sorted(_corrected(list(_independences(known))), key=lambda test: test.p_value)
    gamma = default_gamma("unequal")
    best = search_orders(known.moments.S, known.moments.n_samples, score="unequal", gamma=gamma)
    W = known.equations.weights
    return GraphCheck(
        n_tests=len(tests),
        violated=tuple(test for test in tests if test.p_value <= level),
        unsupported=tuple(_unsupported(known, best.price)),
        score=graph_score(known.moments, W, score="unequal", gamma=gamma),
        best_score=float(best.score),
    )


def _edges(graph: Any, names: list[Hashable]) -> BoolArray:
    """Return the edges of a graph on the columns, closed under what its open edges imply."""
    if isinstance(graph, nx.DiGraph):
        edges: BoolArray = from_networkx(graph, names)[0] != 0.0
    else:
        edges = adjacency(graph)
    if len(edges) != len(names):
        raise InputError(
            f"the graph has {len(edges)} nodes and the data {len(names)} columns; give one node "
            "for each column"
        )
    return orient_with_knowledge(edges, np.ones_like(edges)) != 0


def _independences(known: Known) -> Iterator[Independence]:
    """Yield one statement for each pair that is not joined."""
    graph, names = known.member, known.names
    order = topological_order(graph)
    for place, j in enumerate(order.tolist()):
        parents = np.flatnonzero(graph[:, j])
        others = np.setdiff1d(order[:place], parents)
        if not len(others):
            continue
        given = tuple(names[k] for k in parents)
        freedom = int(known.moments.samples_of[j]) - len(parents) - 2
        for i, r in zip(others.tolist(), _partial(known, j, others, parents), strict=True):
            yield Independence(names[i], names[j], given, float(r), _p_value(float(r), freedom))


def _partial(known: Known, j: int, others: Any, parents: Any) -> FloatArray:
    """Return the correlations of j with others, given the parents."""
    S = known.moments.covariance_of(j)
    both = np.append(others, j)
    inside = regressions(known.moments, np.array([j]), parents[None]).inverse[0]
    left = S[np.ix_(both, both)] - S[np.ix_(both, parents)] @ inside @ S[np.ix_(parents, both)]
    sd = np.sqrt(np.maximum(np.diag(left), np.finfo(float).eps))
    return np.clip(left[-1, :-1] / sd[:-1] / sd[-1], -1.0, 1.0)


def _p_value(r: float, freedom: int) -> float:
    if freedom < 1:
        return 1.0
    t = abs(r) * np.sqrt(freedom / max(1.0 - r * r, np.finfo(float).eps))
    return float(2.0 * special.stdtr(freedom, -t))


def _corrected(tests: list[Independence]) -> list[Independence]:
    """Return the tests with Holm's correction: each p-value times the tests still in play."""
    ordered = sorted(tests, key=lambda test: test.p_value)
    worst, found = 0.0, []
    for k, test in enumerate(ordered):
        worst = max(worst, min(1.0, test.p_value * (len(ordered) - k)))
        found.append(test._replace(p_value=worst))
    return found


def _unsupported(known: Known, price: float) -> Iterator[tuple[Hashable, Hashable]]:
    """Yield the edges that gain less in n·log(residual variance) than an edge costs."""
    for i, j in np.argwhere(known.member).tolist():
        parents = np.setdiff1d(np.flatnonzero(known.member[:, j]), [i])
        r = min(abs(float(_partial(known, j, np.array([i]), parents)[0])), 1.0 - 1e-15)
        if -float(known.moments.samples_of[j]) * np.log1p(-(r**2)) < price:
            yield known.names[i], known.names[j]
