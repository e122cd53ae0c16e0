"""`joint_effect`: several causes set at once, over all graphs that the class allows (joint IDA).

The effect of one of them is then what one more unit of it does while the others are held fixed:
along the paths that pass through none of the others. In a graph by counts it depends on where these
are held, and is the average over their own shares. The open edges at all of the causes are
pointed in every way that has a member, one cause after the other, with Meek's rules in between.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyticdag._parameters import level_of
from analyticdag._typing import FloatArray
from analyticdag.effects.arrows import tied_by
from analyticdag.effects.equations import SAME_DIGITS, Equations
from analyticdag.effects.known import Known
from analyticdag.effects.summary import members
from analyticdag.errors import ParameterError


@dataclass(frozen=True)
class JointEffect:
    """Effects of several causes at once on `outcome`, in the order of `causes`.

    values, standard_errors : None where the class leaves several sets of values possible.
    intervals : for each cause, the hull of its intervals over all of `possible`.
    possible : the distinct sets of values over the class; one member has each of them as a whole.
    zero_share : for each cause, the share of the graphs of the class in which it has no effect; NaN
        where they are too many to count.
    open_edges : pairs at the causes that would have to be settled; empty where identified.
    steps : for each cause, the two levels of a yes/no column that one more unit stands for.
    outcome_level : the level of a yes/no outcome whose share changes; empty of any other outcome.
    """

    causes: tuple[Hashable, ...]
    outcome: Hashable
    values: tuple[float, ...] | None
    standard_errors: tuple[float, ...] | None
    intervals: tuple[tuple[float, float], ...]
    possible: tuple[tuple[float, ...], ...]
    identified: bool
    zero_share: tuple[float, ...]
    open_edges: tuple[tuple[Hashable, Hashable], ...]
    level: float
    steps: tuple[tuple[str, str], ...] = ()
    outcome_level: str = ""


def joint_effect(
    model: Any, causes: Sequence[Hashable], outcome: Hashable, *, level: float = 0.95
) -> JointEffect:
    """Return what one more unit of each cause does to the outcome while the others are held fixed.

    With more than ten open edges at the causes there are too many members, which is an error.
    """
    level_of(level)
    known = Known.of(model)
    nodes, y = _checked(known, causes, outcome)
    for tied in filter(None, (tied_by(known, x, y) for x in nodes)):
        raise ParameterError(tied)
    counts = known.counts(known.unsettled(nodes))
    cuts = [one.without_causes_of(nodes) for one in known.choices_at(nodes)]
    units = known.sd[y] / known.sd[list(nodes)]
    values = np.array([[cut.effects_of(x)[y] for x in nodes] for cut in cuts])
    errors = np.array([[cut.standard_errors(x)[y] for x in nodes] for cut in cuts])
    distinct = {tuple(np.round(row, SAME_DIGITS)): k for k, row in enumerate(values)}
    kept = [distinct[key] for key in sorted(distinct)]
    one = len(kept) == 1
    return JointEffect(
        causes=tuple(known.names[x] for x in nodes),
        outcome=known.names[y],
        values=_plain(values[kept[0]] * units) if one else None,
        standard_errors=_plain(errors[kept[0]] * units) if one else None,
        intervals=tuple(
            _hull(cuts, x, y, values[:, k] * units[k], errors[:, k] * units[k], level)
            for k, x in enumerate(nodes)
        ),
        possible=tuple(_plain(values[k] * units) for k in kept),
        identified=one,
        zero_share=tuple(
            members(counts, [bool(cut.reach[x, y]) for cut in cuts])["zero_share"] for x in nodes
        ),
        open_edges=() if one else known.open_pairs(nodes),
        level=level,
        steps=tuple(map(known.step, nodes)),
        outcome_level=known.counted_level(y),
    )


def _checked(
    known: Known, causes: Sequence[Hashable], outcome: Hashable
) -> tuple[tuple[int, ...], int]:
    """Return the places of causes and outcome, which must be different numbers."""
    if isinstance(causes, str) or not isinstance(causes, Sequence):
        raise ParameterError(f"causes must be a list of columns, as ['X', 'Z']; got {causes!r}")
    nodes = tuple(known.position(cause, "causes") for cause in causes)
    y = known.position(outcome, "outcome")
    if not nodes or len({*nodes, y}) <= len(nodes):
        raise ParameterError("causes and outcome must be different columns, one cause at least")
    for x in nodes:
        category = known.category_between(x, y)
        if category is not None:
            raise ParameterError(
                f"{known.names[category]!r} is a category, and several causes at once are told of "
                "numbers; ask for one cause, or set its level with intervene"
            )
    return nodes, y


def _plain(row: FloatArray) -> tuple[float, ...]:
    return tuple(row.tolist())


def _hull(
    cuts: list[Equations], x: int, y: int, values: FloatArray, errors: FloatArray, level: float
) -> tuple[float, float]:
    ends = [
        cut.interval(float(value), float(error), x, y, level)
        for cut, value, error in zip(cuts, values, errors, strict=True)
    ]
    return min(low for low, _ in ends), max(high for _, high in ends)
