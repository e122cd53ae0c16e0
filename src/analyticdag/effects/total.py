"""`total_effect`: what one more unit of x does to y, and along which directed paths."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analyticdag._parameters import level_of
from analyticdag._typing import IntArray
from analyticdag.effects.arrows import rests_on, tied_by
from analyticdag.effects.by_level import level_effect
from analyticdag.effects.effect import Effect, Path, Possible
from analyticdag.effects.equations import SAME_DIGITS, Equations
from analyticdag.effects.known import MOST_OPEN, Known
from analyticdag.effects.summary import adjustment_sets, members, settling
from analyticdag.errors import ParameterError
from analyticdag.graphs import topological_order
from analyticdag.least_squares import regressions

# As many as a person reads.
MOST_PATHS = 20


def total_effect(model: Any, cause: Hashable, outcome: Hashable, *, level: float = 0.95) -> Effect:
    """Return the total effect of one column on another, over all graphs that the class allows.

    `model` is a fitted `AnalyticDAG`, or what `fit_graph(graph, data)` returns. The cause and the
    outcome are names, or positions. `level` is the confidence of the intervals.
    """
    level_of(level)
    known = Known.of(model)
    x, y = known.position(cause, "cause"), known.position(outcome, "outcome")
    if x == y:
        raise ParameterError(f"cause and outcome are both {cause!r}; name two different columns")
    tied = tied_by(known, x, y)
    if tied:
        return _untold(known, x, y, tied, level)
    return replace(_effect(known, x, y, level), rests_on=rests_on(known, x, y))


def _untold(known: Known, x: int, y: int, tied: str, level: float) -> Effect:
    """Return an effect without a number."""
    nan = float("nan")
    return Effect(
        cause=known.names[x],
        outcome=known.names[y],
        interval=(nan, nan),
        identified=False,
        zero_share=nan,
        open_edges=(),
        level=level,
        tied=tied,
    )


def _effect(known: Known, x: int, y: int, level: float) -> Effect:
    neighbours = [] if known.settled(x)[y] else known.open_at(x)
    if known.category_between(x, y) is not None:
        known.refuse_many_open((x,) if neighbours else ())
        return level_effect(known, x, y, neighbours, level)
    if len(neighbours) > MOST_OPEN:
        return _bound(known, x, y, neighbours, level)
    return _summary(known, x, y, neighbours, level)


def _summary(known: Known, x: int, y: int, neighbours: list[int], level: float) -> Effect:
    names = known.names
    every = known.choices((x,)) if neighbours else [known.equations]
    reached = [bool(equations.reach[x, y]) for equations in every]
    details = [_possible(known, equations, x, y, level) for equations in every]
    unit = float(known.sd[y] / known.sd[x])
    distinct = {round(one.value / unit, SAME_DIGITS): one for one in details}
    ordered = [distinct[key] for key in sorted(distinct)]
    values = [round(one.value / unit, SAME_DIGITS) for one in details]
    one = ordered[0] if len(ordered) == 1 else None
    settled_by = [] if one is not None else settling(every, values, x, neighbours)
    return Effect(
        cause=names[x],
        outcome=names[y],
        value=None if one is None else one.value,
        standard_error=None if one is None else one.standard_error,
        interval=(min(o.interval[0] for o in ordered), max(o.interval[1] for o in ordered)),
        possible=tuple(o.value for o in ordered),
        identified=one is not None,
        standardized=None if one is None else one.value / unit,
        open_edges=() if one is not None else _pairs(known, x, neighbours),
        settling=_pairs(known, x, settled_by),
        details=tuple(ordered),
        level=level,
        unit=unit,
        hidden=known.hidden_between(x, y),
        step=known.step(x),
        outcome_level=known.counted_level(y),
        **members(known.counts((x,) if neighbours else ()), reached),
        **({} if one is None else _split(known, every[0], x, y)),
        **({} if any(reached) else _without_path(known, every[0], x, y, level)),
    )


def _without_path(
    known: Known, equations: Equations, x: int, y: int, level: float
) -> dict[str, Any]:
    """Return what there may be where no path leads from x to y: one back, or a link not seen."""
    if equations.reach[y, x]:
        return {"leads_back": True}
    if not equations.adds_up or known.categories & {x, y}:
        return {}
    graph = equations.graph.copy()
    graph[x, y] = True
    return {"missed": _possible(known, replace(equations, graph=graph), x, y, level)}


def _split(known: Known, equations: Equations, x: int, y: int) -> dict[str, Any]:
    """Return what an identified effect is made of, and what a regression should adjust for."""
    names, sets = known.names, adjustment_sets(known, equations, x, y)
    way = known.between(x, y)
    if not equations.adds_up:
        return sets
    if any(known.open_at(node) for node in np.flatnonzero(way).tolist()):
        return sets  # members share the total, not the paths
    unit = float(known.sd[y] / known.sd[x])
    direct = float(equations.weights[x, y]) * unit
    sets |= {"direct": direct, "mediated": float(equations.paths[x, y]) * unit - direct}
    if known.categories & set(np.flatnonzero(way).tolist()):
        return sets  # a path through a category has no one number
    found = paths_between(equations, x, y)
    return sets | {
        "paths": tuple(
            Path(tuple(names[k] for k in nodes), product * unit)
            for product, nodes in found.strongest
        ),
        "n_paths": found.count,
    }


def _pairs(known: Known, x: int, neighbours: list[int]) -> tuple[tuple[Hashable, Hashable], ...]:
    return tuple((known.names[x], known.names[k]) for k in neighbours)


def _possible(known: Known, equations: Equations, x: int, y: int, level: float) -> Possible:
    """Return the effect in one member, in the units of the columns."""
    unit = float(known.sd[y] / known.sd[x])
    value = float(equations.effects_of(x)[y]) * unit
    error = float(equations.standard_errors(x)[y]) * unit
    return Possible(
        value=value,
        standard_error=error,
        interval=equations.interval(value, error, x, y, level),
        parents=tuple(known.names[k] for k in np.flatnonzero(equations.graph[:, x])),
    )


def _bound(known: Known, x: int, y: int, neighbours: list[int], level: float) -> Effect:
    """Bound the effect without listing members.

    In any of them it is cov(x, y | P) / var(x | P) for the parents P of x, at most
    sd(y) / sd(x | P) in size, and sd(x | P) is smallest when every possible parent is in P.
    """
    parents = np.flatnonzero(known.edges[:, x])
    explained = regressions(known.moments, np.array([x]), parents[None]).explained[0]
    left = max(float(known.moments.own_variances[x] - explained), np.finfo(float).tiny)
    unit = float(known.sd[y] / known.sd[x])
    most = min(unit / left**0.5, known.equations.largest_effect(x, y))
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
        step=known.step(x),
        outcome_level=known.counted_level(y),
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
