"""`level_effect`: the effect of a category, of each of its levels; or on one, on their shares."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.effects.effect import Effect, LevelEffect
from analyticdag.effects.equations import Equations
from analyticdag.effects.known import Known
from analyticdag.effects.levels import LevelColumns, LevelEquations
from analyticdag.effects.summary import adjustment_sets, interval_of, members, settling

# Values that agree to so many digits, in the units of the columns, are one.
_DIGITS = 9
# A level of the cause and one of the outcome.
Pair: TypeAlias = tuple[str, str]


def level_effect(known: Known, x: int, y: int, neighbours: list[int], level: float) -> Effect:
    """Return the effect of x on y, one of which is a category, level by level.

    `neighbours` are the open edges at x that matter.
    """
    every = known.choices((x,)) if neighbours else [known.equations]
    tables = [_table(one, x, y, level) for one in every]
    values, lows, highs = (np.array([table[k] for table in tables]) for k in range(3))
    reached = [bool(one.reach[x, y]) for one in every]
    identified = bool((np.ptp(values, axis=0) <= 10.0**-_DIGITS).all())
    pairs = [] if identified else neighbours
    keys = [tuple(np.round(one, _DIGITS).ravel().tolist()) for one in values]
    return Effect(
        cause=known.names[x],
        outcome=known.names[y],
        interval=(float(lows.min()), float(highs.max())),
        possible=() if any(reached) else (0.0,),
        identified=identified,
        zero_share=float(np.mean(np.logical_not(reached))),
        open_edges=tuple((known.names[x], known.names[k]) for k in pairs),
        settling=tuple((known.names[x], known.names[k]) for k in settling(every, keys, x, pairs)),
        level=level,
        hidden=known.hidden_between(x, y),
        levels=_rows(known, x, y, values, lows, highs),
        **(adjustment_sets(known, every[0], x, y) if identified else {}),
        **members(known.counts((x,) if neighbours else ()), reached),
    )


def level_values(known: Known, every: list[Equations], x: int, y: int) -> dict[Pair, FloatArray]:
    """Return the effect of each level of x on each of y in every member, by their names.

    That of the reference of x, which the others are compared with, is zero; a number has one level
    without a name.
    """
    levels = known.levels
    assert levels is not None
    causes, outcomes = levels.labels[x] or ("",), levels.labels[y] or ("",)
    tables = np.array([_values(one, x, y) for one in every])
    if levels.labels[x]:
        tables = np.concatenate([tables, np.zeros_like(tables[:, :1])], axis=1)
    return {
        (cause, outcome): tables[:, a, b]
        for a, cause in enumerate(causes)
        for b, outcome in enumerate(outcomes)
    }


def _values(equations: Any, x: int, y: int) -> FloatArray:
    """Return effects (levels of x, levels of y) in one member; x has no row for its reference."""
    assert isinstance(equations, LevelEquations)
    levels = equations.levels
    own, other = levels.of(x), levels.of(y)
    values = equations.set(x).paths[np.ix_(own, other)] * levels.sd[other] / levels.sd[own, None]
    if levels.labels[y]:  # the reference loses what the others gain
        values = np.column_stack([values, 0.0 - values.sum(axis=1)])
    return values


def _rows(
    known: Known, x: int, y: int, values: FloatArray, lows: FloatArray, highs: FloatArray
) -> tuple[LevelEffect, ...]:
    levels = known.levels
    assert levels is not None
    causes, outcomes = levels.labels[x], levels.labels[y]
    return tuple(
        LevelEffect(
            cause_level=causes[a] if causes else "",
            reference=causes[-1] if causes else "",
            outcome_level=outcomes[b] if outcomes else "",
            smallest=float(values[:, a, b].min()),
            largest=float(values[:, a, b].max()),
            low=float(lows[:, a, b].min()),
            high=float(highs[:, a, b].max()),
        )
        for a in range(values.shape[1])
        for b in range(values.shape[2])
    )


def _table(equations: Any, x: int, y: int, level: float) -> tuple[FloatArray, ...]:
    """Return values and both ends of intervals, (levels of x, levels of y), in one member."""
    assert isinstance(equations, LevelEquations)
    levels, cut = equations.levels, equations.set(x)
    causes, outcomes = levels.of(x), list(levels.of(y)[:, None])
    if levels.labels[y]:
        outcomes.append(levels.of(y))  # the reference loses what the others gain
    found = np.array([[_one(cut, levels, int(a), b, level) for b in outcomes] for a in causes])
    values, lows, highs = (found[:, :, k] for k in range(3))
    if levels.labels[y]:
        values[:, -1] = 0.0 - values[:, -1]
        lows[:, -1], highs[:, -1] = 0.0 - highs[:, -1], 0.0 - lows[:, -1]
    return values, lows, highs


def _one(
    cut: Equations, levels: LevelColumns, cause: int, outcomes: IntArray, level: float
) -> tuple[float, float, float]:
    """Return the effect of a column on the sum of others, and its interval."""
    unit = levels.sd[outcomes] / levels.sd[cause]
    value = float(cut.paths[cause, outcomes] @ unit)
    error = cut.standard_error_of(cause, outcomes, unit)
    return value, *interval_of(value, error, cut, cause, int(outcomes[0]), level)
