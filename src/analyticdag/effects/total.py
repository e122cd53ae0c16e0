"""`total_effect`: what one more unit of x does to y, as far as graph and data can say."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from analyticdag._parameters import number
from analyticdag.effects.adjustment import minimal_set, optimal_set
from analyticdag.effects.equations import Equations
from analyticdag.effects.known import Known
from analyticdag.errors import ParameterError
from analyticdag.least_squares import regressions

# With more open edges than this at the cause, 2^10 orientations or more are possible: a bound
# instead of a list.
MOST_OPEN = 10
# Possible effects that agree to so many digits, in standard units, are one.
_DIGITS = 9


@dataclass(frozen=True)
class Possible:
    """One possible value of an effect, with what it would rest on."""

    value: float
    standard_error: float
    interval: tuple[float, float]
    parents: tuple[Hashable, ...]  # what would be the direct causes of x


@dataclass(frozen=True)
class Effect:
    """The total effect of `cause` on `outcome`: one more unit of the one, so many of the other.

    value, standard_error : None where the class leaves several values possible.
    interval : a confidence interval; over a class the hull of the intervals of all values.
    possible : one value for each distinct possible effect over the class, smallest first.
    identified : whether all members of the class agree on the value.
    zero_share : share of the ways to point the open edges at the cause that give no effect.
    standardized : the value in standard deviations; None like `value`.
    adjustment_set : columns that a regression of the outcome on the cause should adjust for, the
        choice with the smallest error; None where the effect is not identified.
    minimal_adjustment_set : a valid set of which nothing can be left out; None likewise.
    open_edges : the pairs at the cause that would have to be settled; empty where identified.
    bounded : True where there were too many open edges to list values: `interval` is a bound.
    """

    cause: Hashable
    outcome: Hashable
    value: float | None
    standard_error: float | None
    interval: tuple[float, float]
    possible: tuple[float, ...]
    identified: bool
    zero_share: float
    standardized: float | None
    adjustment_set: tuple[Hashable, ...] | None
    minimal_adjustment_set: tuple[Hashable, ...] | None
    open_edges: tuple[tuple[Hashable, Hashable], ...]
    details: tuple[Possible, ...] = ()
    level: float = 0.95
    bounded: bool = False

    def __str__(self) -> str:
        low, high = self.interval
        span = f"[{low:.4g}, {high:.4g}]"
        head = f"one more unit of {self.cause} changes {self.outcome} by "
        if self.value is not None:
            return f"{head}{self.value:.4g} {span}"
        pairs = ", ".join(f"{a} — {b}" for a, b in self.open_edges)
        if self.bounded:
            return f"{head}something within {span}; not identified: {pairs} are open"
        values = ", ".join(f"{value:.4g}" for value in self.possible)
        return f"{head}one of {values} {span}; not identified: {pairs} open"


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
    neighbours = [] if known.settled(x)[y] else known.open_at(x)
    if len(neighbours) > MOST_OPEN:
        return _bound(known, x, y, neighbours, level)
    return _summary(known, x, y, neighbours, level)


def _summary(known: Known, x: int, y: int, neighbours: list[int], level: float) -> Effect:
    names = known.names
    every = known.choices([x]) if neighbours else [known.equations]
    details = [_possible(known, equations, x, y, level) for equations in every]
    unit = known.sd[y] / known.sd[x]
    distinct = {round(one.value / unit, _DIGITS): one for one in details}
    ordered = [distinct[key] for key in sorted(distinct)]
    one = ordered[0] if len(ordered) == 1 else None
    graph, reach = every[0].graph, every[0].reach
    sets = None if one is None else [f(graph, reach, x, y) for f in (optimal_set, minimal_set)]
    return Effect(
        cause=names[x],
        outcome=names[y],
        value=None if one is None else one.value,
        standard_error=None if one is None else one.standard_error,
        interval=(min(o.interval[0] for o in ordered), max(o.interval[1] for o in ordered)),
        possible=tuple(o.value for o in ordered),
        identified=one is not None,
        zero_share=float(np.mean([not equations.reach[x, y] for equations in every])),
        standardized=None if one is None else one.value / unit,
        adjustment_set=None if sets is None else tuple(names[k] for k in sets[0]),
        minimal_adjustment_set=None if sets is None else tuple(names[k] for k in sets[1]),
        open_edges=() if one is not None else _pairs(known, x, neighbours),
        details=tuple(ordered),
        level=level,
    )


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
        interval=_interval(value, error, equations, x, y, level),
        parents=tuple(known.names[k] for k in np.flatnonzero(equations.graph[:, x])),
    )


def _interval(
    value: float, error: float, equations: Equations, x: int, y: int, level: float
) -> tuple[float, float]:
    """Return a confidence interval; the fewest degrees of freedom on the way decide its width."""
    if error == 0.0:
        return value, value
    causal = equations.reach[x] & equations.reach[:, y]
    causal[x] = False
    freedom = int(equations.freedom[causal].min())
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
    most = float(known.sd[y] / known.sd[x]) / left**0.5
    names = known.names
    return Effect(
        cause=names[x],
        outcome=names[y],
        value=None,
        standard_error=None,
        interval=(-most, most),
        possible=(),
        identified=False,
        zero_share=float("nan"),
        standardized=None,
        adjustment_set=None,
        minimal_adjustment_set=None,
        open_edges=_pairs(known, x, neighbours),
        level=level,
        bounded=True,
    )
