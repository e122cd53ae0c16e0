"""`level_effect`: the effect of a category, of each of its levels; or on one, on their shares."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.effects.effect import Effect, LevelEffect
from analyticdag.effects.equations import SAME, SAME_DIGITS, Equations
from analyticdag.effects.known import Known
from analyticdag.effects.levels import with_levels
from analyticdag.effects.summary import adjustment_sets, members, settling

# A level of the cause and one of the outcome.
Pair: TypeAlias = tuple[str, str]


def level_effect(known: Known, x: int, y: int, neighbours: list[int], level: float) -> Effect:
    """Return the effect of x on y, one of which is a category, level by level.

    `neighbours` are the open edges at x that matter.
    """
    every = known.choices((x,)) if neighbours else [known.equations]
    tables = [with_levels(one).level_table(x, y, level) for one in every]
    values, lows, highs = (np.array([table[k] for table in tables]) for k in range(3))
    reached = [bool(one.reach[x, y]) for one in every]
    identified = bool((np.ptp(values, axis=0) <= SAME).all())
    pairs = [] if identified else neighbours
    keys = [tuple(np.round(one, SAME_DIGITS).ravel().tolist()) for one in values]
    return Effect(
        cause=known.names[x],
        outcome=known.names[y],
        interval=(float(lows.min()), float(highs.max())),
        possible=() if any(reached) else (0.0,),
        identified=identified,
        open_edges=tuple((known.names[x], known.names[k]) for k in pairs),
        settling=tuple((known.names[x], known.names[k]) for k in settling(every, keys, x, pairs)),
        level=level,
        hidden=known.hidden_between(x, y),
        levels=_rows(known, x, y, values, lows, highs),
        step=known.step(x),
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
    tables = np.array([with_levels(one).level_values(x, y) for one in every])
    if levels.labels[x]:
        tables = np.concatenate([tables, np.zeros_like(tables[:, :1])], axis=1)
    return {
        (cause, outcome): tables[:, a, b]
        for a, cause in enumerate(causes)
        for b, outcome in enumerate(outcomes)
    }


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
            outcome_level=outcomes[b] if outcomes else known.counted_level(y),
            smallest=float(values[:, a, b].min()),
            largest=float(values[:, a, b].max()),
            low=float(lows[:, a, b].min()),
            high=float(highs[:, a, b].max()),
        )
        for a in range(values.shape[1])
        for b in range(values.shape[2])
    )
