"""`effects`: the total effects of all pairs, or of everything on one outcome, as a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from analyticdag._parameters import level_of
from analyticdag._typing import FloatArray
from analyticdag.effects.arrows import rests_on, tied_by
from analyticdag.effects.effect import Arrow
from analyticdag.effects.equations import SAME, Equations
from analyticdag.effects.known import MOST_OPEN, Known
from analyticdag.effects.summary import members
from analyticdag.effects.total import total_effect
from analyticdag.fitting.edges import EVEN, is_below


class EffectRow(NamedTuple):
    """One line of the table: over a class, the smallest and the largest possible effect.

    `low` and `high` are the ends of the interval, or of the hull of all intervals. `standardized`
    is the possible effect closest to zero, in standard deviations: what is certain at least.
    `zero_share` is the share of the graphs of the class without an effect; NaN where they are too
    many to count. `hidden`: whether a pair on the way looks as if it had a common cause that was
    not measured.
    Of or on a category there is a line for each level: `cause_level` instead of `reference`, and
    what becomes of the share of `outcome_level`. A yes/no cause has these two levels as well, and a
    yes/no outcome the level whose share changes.
    `rests_on` and `tied` are those of `Effect`: the least sure arrow on the way, and why there is
    no number (the others are NaN then).
    """

    cause: Hashable
    outcome: Hashable
    smallest: float
    largest: float
    low: float
    high: float
    standardized: float
    identified: bool
    zero_share: float
    hidden: bool
    cause_level: str = ""
    reference: str = ""
    outcome_level: str = ""
    rests_on: Arrow | None = None
    tied: str = ""


def effects(model: Any, *, on: Hashable | None = None, level: float = 0.95) -> list[EffectRow]:
    """Return the total effect of every column on every other that it may cause.

    With `on` only effects on that outcome, the strongest first, those without a number last.
    Pairs without any possible effect are left out.
    `pandas.DataFrame(effects(model))` is a table.
    """
    level_of(level)
    known = Known.of(model)
    outcomes = range(len(known.names)) if on is None else [known.position(on, "on")]
    rows = [row for x in range(len(known.names)) for row in _of_cause(known, x, outcomes, level)]
    if on is not None:
        rows.sort(key=lambda row: _strength(known, row), reverse=True)
    return rows


def _strength(known: Known, row: EffectRow) -> tuple[float, float]:
    """Return what an effect is at least, then at most: open ones are often zero at least, and so
    are those that rest on an arrow which is drawn as a line."""
    if row.tied:
        return -1.0, 0.0
    largest = max(abs(row.smallest), abs(row.largest))
    is_line = row.rests_on is not None and is_below(row.rests_on.likely, EVEN)
    return 0.0 if is_line else abs(row.standardized), largest * float(
        known.sd[known.position(row.cause, "of")]
    )


def _of_cause(known: Known, x: int, outcomes: Any, level: float) -> Iterator[EffectRow]:
    others = [y for y in outcomes if y != x]
    tied = {y: said for y in others if (said := tied_by(known, x, y))}
    told = [y for y in others if y not in tied and known.between(x, y)[y]]
    numbers = [y for y in told if known.category_between(x, y) is None]
    found = {row.outcome: row for row in _of_number(known, x, numbers, level)} if numbers else {}
    for y in others:
        if y in tied:
            yield _untold(known, x, y, tied[y])
        elif known.names[y] in found:
            yield found[known.names[y]]._replace(rests_on=rests_on(known, x, y))
        elif y in told and y not in numbers:
            yield from _by_level(known, x, y, level)


def _untold(known: Known, x: int, y: int, tied: str) -> EffectRow:
    nothing = (float("nan"),) * 5
    share = float("nan")
    ends = known.names[x], known.names[y]
    return EffectRow(*ends, *nothing, identified=False, zero_share=share, hidden=False, tied=tied)


def _of_number(known: Known, x: int, outcomes: list[int], level: float) -> Iterator[EffectRow]:
    if len(known.open_at(x)) > MOST_OPEN:
        every = [known.equations]
        bounded = ~known.settled(x)
    else:
        every = known.choices((x,))
        bounded = np.zeros(len(known.names), dtype=bool)
    values = np.array([equations.effects_of(x) for equations in every])
    halves = np.array([_half_widths(equations, x, level) for equations in every])
    reached = np.array([equations.reach[x] for equations in every])
    unit, (to, since) = known.sd / known.sd[x], known.step(x)
    counts: list[int | None] = known.counts((x,)) if len(every) > 1 else [1]
    for y in outcomes:
        if bounded[y]:
            yield _bounded(known, x, y, level)
        elif reached[:, y].any():
            closest = values[np.argmin(np.abs(values[:, y])), y]
            yield EffectRow(
                cause=known.names[x],
                outcome=known.names[y],
                smallest=float(values[:, y].min() * unit[y]),
                largest=float(values[:, y].max() * unit[y]),
                low=float((values - halves)[:, y].min() * unit[y]),
                high=float((values + halves)[:, y].max() * unit[y]),
                standardized=float(closest),
                identified=bool(np.ptp(values[:, y]) <= SAME),
                zero_share=members(counts, reached[:, y].tolist())["zero_share"],
                hidden=bool(known.hidden_between(x, y)),
                cause_level=to,
                reference=since,
                outcome_level=known.counted_level(y),
            )


def _by_level(known: Known, x: int, y: int, level: float) -> Iterator[EffectRow]:
    """Yield a line for each level, of the cause or of the outcome; none where nothing is told."""
    assert known.levels is not None
    if len(known.open_at(x)) > MOST_OPEN and not known.settled(x)[y]:
        return  # too many members to list, and a share has no bound to give instead
    effect = total_effect(known, known.names[x], known.names[y], level=level)
    levels, sd = known.levels, known.levels.sd
    causes, outcomes = levels.columns_of(x), levels.columns_of(y)
    for k, one in enumerate(effect.levels if not effect.possible else ()):
        n_outcomes = max(len(levels.labels[y]), 1)
        a, b = causes[k // n_outcomes], outcomes[min(k % n_outcomes, len(outcomes) - 1)]
        ends = (one.smallest, one.largest)
        closest = 0.0 if ends[0] < 0.0 < ends[1] else min(ends, key=abs)
        yield EffectRow(
            cause=effect.cause,
            outcome=effect.outcome,
            smallest=one.smallest,
            largest=one.largest,
            low=one.low,
            high=one.high,
            standardized=float(closest * sd[a] / sd[b]),
            identified=effect.identified,
            zero_share=effect.zero_share,
            hidden=bool(effect.hidden),
            cause_level=one.cause_level,
            reference=one.reference,
            outcome_level=one.outcome_level,
            rests_on=effect.rests_on,
        )


def _half_widths(equations: Equations, x: int, level: float) -> FloatArray:
    """Return half the width of the intervals of the effects of x on all columns."""
    # The fewest degrees of freedom of any equation: a little wide where others decide.
    freedom = max(int(equations.freedom.min()), 1)
    return special.stdtrit(freedom, 0.5 + level / 2.0) * equations.standard_errors(x)


def _bounded(known: Known, x: int, y: int, level: float) -> EffectRow:
    effect = total_effect(known, known.names[x], known.names[y], level=level)
    low, high = effect.interval
    ends = (low, high, low, high)
    closest, share, hidden = 0.0, float("nan"), bool(effect.hidden)
    return EffectRow(
        effect.cause,
        effect.outcome,
        *ends,
        closest,
        False,
        share,
        hidden,
        *effect.step,
        effect.outcome_level,
    )
