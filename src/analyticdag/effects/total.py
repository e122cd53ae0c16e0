"""`total_effect`: what one more unit of x does to y, and along which directed paths.

Which columns should one regression of y on x adjust for? In a DAG let the *causal nodes* be those
on directed paths from x to y, x left out. Adjusting for a descendant of one of them is forbidden:
it would take part of the effect away. The *optimal* set is the parents of the causal nodes less the
forbidden ones: no other valid set gives a smaller error (Henckel, Perković and Maathuis 2022). A
*minimal* set is a valid one with as few columns as can be.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from scipy import special

from analyticdag._parameters import number
from analyticdag._typing import BoolArray, IntArray
from analyticdag.effects.effect import Effect, Path, Possible
from analyticdag.effects.equations import Equations
from analyticdag.effects.known import MOST_OPEN, Known
from analyticdag.errors import ParameterError
from analyticdag.graphs import topological_order
from analyticdag.least_squares import regressions

# Possible effects that agree to so many digits, in standard units, are one.
_DIGITS = 9
# As many as a person reads.
MOST_PATHS = 20


def total_effect(model: Any, cause: Hashable, outcome: Hashable, *, level: float = 0.95) -> Effect:
    """Return the total effect of one column on another, over all graphs that the class allows.

    `model` is a fitted `AnalyticDAG`, or what `fit_graph(graph, data)` returns. The cause and the
    outcome are names, or positions. `level` is the confidence of the intervals.
    """
    number("level", level, 0.0, 1.0)
    known = Known.of(model)
    x, y = known.position(cause, "cause"), known.position(outcome, "outcome")
    if x == y:
        raise ParameterError(f"cause and outcome are both {cause!r}; name two different columns")
    known.refuse_categories(x, y)
    neighbours = [] if known.settled(x)[y] else known.open_at(x)
    if len(neighbours) > MOST_OPEN:
        return _bound(known, x, y, neighbours, level)
    return _summary(known, x, y, neighbours, level)


def _summary(known: Known, x: int, y: int, neighbours: list[int], level: float) -> Effect:
    names = known.names
    every = known.choices((x,)) if neighbours else [known.equations]
    reached = [bool(equations.reach[x, y]) for equations in every]
    details = [_possible(known, equations, x, y, level) for equations in every]
    unit = float(known.sd[y] / known.sd[x])
    distinct = {round(one.value / unit, _DIGITS): one for one in details}
    ordered = [distinct[key] for key in sorted(distinct)]
    one = ordered[0] if len(ordered) == 1 else None
    return Effect(
        cause=names[x],
        outcome=names[y],
        value=None if one is None else one.value,
        standard_error=None if one is None else one.standard_error,
        interval=(min(o.interval[0] for o in ordered), max(o.interval[1] for o in ordered)),
        possible=tuple(o.value for o in ordered),
        identified=one is not None,
        zero_share=float(np.mean(np.logical_not(reached))),
        standardized=None if one is None else one.value / unit,
        open_edges=() if one is not None else _pairs(known, x, neighbours),
        settling=() if one is not None else _pairs(known, x, _settling(every, x, y, neighbours)),
        details=tuple(ordered),
        level=level,
        unit=unit,
        hidden=known.hidden_between(x, y),
        **_members(known.counts((x,) if neighbours else ()), reached),
        **({} if one is None else _split(known, every[0], x, y)),
    )


def _split(known: Known, equations: Equations, x: int, y: int) -> dict[str, Any]:
    """Return what an identified effect is made of, and what a regression should adjust for."""
    graph, reach, names = equations.graph, equations.reach, known.names
    best, least = (
        tuple(names[k] for k in chosen(graph, reach, x, y)) for chosen in (optimal_set, minimal_set)
    )
    sets = {"adjustment_set": best, "minimal_adjustment_set": least}
    way = known.between(x, y)
    if any(known.open_at(node) for node in np.flatnonzero(way).tolist()):
        return sets  # members share the total, not the paths
    unit = float(known.sd[y] / known.sd[x])
    direct = float(equations.weights[x, y]) * unit
    found = paths_between(equations, x, y)
    return sets | {
        "direct": direct,
        "mediated": float(equations.paths[x, y]) * unit - direct,
        "paths": tuple(
            Path(tuple(names[k] for k in nodes), product * unit)
            for product, nodes in found.strongest
        ),
        "n_paths": found.count,
    }


def _members(counts: list[int | None], reached: list[bool]) -> dict[str, Any]:
    """Return how many members there are, and in how many of them there is no effect."""
    if any(count is None for count in counts):
        return {"n_members": None, "n_zero": None}
    pairs = list(zip(counts, reached, strict=True))
    return {
        "n_members": sum(count or 0 for count, _ in pairs),
        "n_zero": sum(count or 0 for count, has_effect in pairs if not has_effect),
    }


def _settling(every: list[Equations], x: int, y: int, neighbours: list[int]) -> list[int]:
    """Return the open edges at x that settle the effect alone: one value for each direction."""
    values = np.array([round(float(equations.paths[x, y]), _DIGITS) for equations in every])
    found = []
    for node in neighbours:
        into = np.array([bool(equations.graph[node, x]) for equations in every])
        if all(len(set(values[way].tolist())) == 1 for way in (into, ~into)):
            found.append(node)
    return found


def _pairs(known: Known, x: int, neighbours: list[int]) -> tuple[tuple[Hashable, Hashable], ...]:
    return tuple((known.names[x], known.names[k]) for k in neighbours)


def _possible(known: Known, equations: Equations, x: int, y: int, level: float) -> Possible:
    """Return the effect in one member, in the units of the columns."""
    unit = float(known.sd[y] / known.sd[x])
    value = float(equations.paths[x, y]) * unit
    error = float(equations.standard_errors(x)[y]) * unit
    return Possible(
        value=value,
        standard_error=error,
        interval=interval_of(value, error, equations, x, y, level),
        parents=tuple(known.names[k] for k in np.flatnonzero(equations.graph[:, x])),
    )


def interval_of(
    value: float, error: float, equations: Equations, x: int, y: int, level: float
) -> tuple[float, float]:
    """Return a confidence interval; the fewest degrees of freedom on the way decide its width."""
    if error == 0.0:
        return value, value
    freedom = int(equations.freedom[causal_nodes(equations.reach, x, y)].min())
    if freedom < 1:
        return -np.inf, np.inf
    half = float(special.stdtrit(freedom, 0.5 + level / 2.0)) * error
    return value - half, value + half


def _bound(known: Known, x: int, y: int, neighbours: list[int], level: float) -> Effect:
    """Bound the effect without listing members.

    In any of them it is cov(x, y | P) / var(x | P) for the parents P of x, at most
    sd(y) / sd(x | P) in size, and sd(x | P) is smallest when every possible parent is in P.
    """
    parents = np.flatnonzero(known.edges[:, x])
    explained = regressions(known.moments, np.array([x]), parents[None]).explained[0]
    left = max(float(known.moments.own_variances[x] - explained), np.finfo(float).tiny)
    unit = float(known.sd[y] / known.sd[x])
    most = unit / left**0.5
    names = known.names
    return Effect(
        cause=names[x],
        outcome=names[y],
        interval=(-most, most),
        identified=False,
        zero_share=float("nan"),
        open_edges=_pairs(known, x, neighbours),
        level=level,
        bounded=True,
        unit=unit,
        hidden=known.hidden_between(x, y),
    )


@dataclass(frozen=True)
class Paths:
    """The strongest paths of one cause to one outcome, and how many there are in all."""

    strongest: tuple[tuple[float, tuple[int, ...]], ...]
    count: int


def paths_between(equations: Equations, x: int, y: int) -> Paths:
    """Return the strongest paths from x to y: their products, and the nodes on them.

    There can be far too many to list. The strongest ones to a node are among the strongest ones to
    its parents, each with one edge more, so a few of them are found without going through all.
    """
    causal = equations.reach[x] & equations.reach[:, y]
    if not causal[y]:
        return Paths((), 0)
    order = [node for node in topological_order(equations.graph).tolist() if causal[node]]
    best: dict[int, list[tuple[float, tuple[int, ...]]]] = {x: [(1.0, (x,))]}
    count = {x: 1}
    for node in order[1:]:
        parents: IntArray = np.flatnonzero(equations.graph[:, node] & causal)
        count[node] = sum(count[parent] for parent in parents.tolist())
        longer = [
            (product * float(equations.weights[parent, node]), (*nodes, node))
            for parent in parents.tolist()
            for product, nodes in best[parent]
        ]
        best[node] = sorted(longer, key=lambda path: (-abs(path[0]), path[1]))[:MOST_PATHS]
    return Paths(tuple(best[y]), count[y])


def optimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return the optimal adjustment set; empty where x has no effect on y."""
    causal = causal_nodes(reach, x, y)
    parents = graph[:, causal].any(axis=1)
    return np.flatnonzero(parents & ~_forbidden(reach, x, y))


def minimal_set(graph: BoolArray, reach: BoolArray, x: int, y: int) -> IntArray:
    """Return a smallest set that removes all confounding; empty where x has no effect on y.

    Valid sets are those that separate x from y once the edges from x into causal nodes are gone. By
    separation in the moral graph of the ancestors that is a cut of nodes, and the smallest one
    comes from a maximum flow (van der Zander, Liśkiewicz and Textor 2019).
    """
    if not reach[x, y]:
        return np.array([], dtype=np.int64)
    others = graph.copy()
    others[x, causal_nodes(reach, x, y)] = False
    back = nx.DiGraph(np.argwhere(others).tolist())
    back.add_nodes_from((x, y))
    older = nx.ancestors(back, x) | nx.ancestors(back, y) | {x, y}
    moral = nx.moral_graph(back.subgraph(older))
    forbidden = _forbidden(reach, x, y)
    flow = nx.DiGraph()
    for node in older - {x, y}:
        # Without a capacity an edge cannot be cut.
        flow.add_edge((node, "in"), (node, "out"), **({} if forbidden[node] else {"capacity": 1}))
    for a, b in moral.edges:
        flow.add_edge((a, "out"), (b, "in"))
        flow.add_edge((b, "out"), (a, "in"))
    flow.add_nodes_from([(x, "out"), (y, "in")])
    _, (near, _) = nx.minimum_cut(flow, (x, "out"), (y, "in"))
    cut = [node for node in older if (node, "in") in near and (node, "out") not in near]
    return np.array(sorted(set(cut) - {x, y}), dtype=np.int64)


def causal_nodes(reach: BoolArray, x: int, y: int) -> BoolArray:
    """Return the nodes on directed paths from x to y, x left out."""
    causal: BoolArray = reach[x] & reach[:, y]
    causal[x] = False
    return causal


def _forbidden(reach: BoolArray, x: int, y: int) -> BoolArray:
    """Return what would take part of the effect away: what causal nodes cause, and x."""
    forbidden: BoolArray = np.any(reach[causal_nodes(reach, x, y)], axis=0)
    forbidden[x] = True
    return forbidden
