"""What if: rows drawn from a model, with some columns set; the distribution after setting them.

Setting a column cuts it from its causes. Where the class leaves edges at a set column open, the
answer can differ between members: `intervene` then gives the range, and the drawn rows come from
one member with a warning that names the edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from analyticdag._parameters import LARGEST, generator_of, level_of, number, whole
from analyticdag._typing import FloatArray
from analyticdag.effects.effect import pairs_text
from analyticdag.effects.equations import SAME
from analyticdag.effects.known import Known, position_of
from analyticdag.effects.levels import with_levels
from analyticdag.effects.what_if_levels import (
    columns_of,
    data_frame,
    drawn,
    far_out,
    set_levels,
)
from analyticdag.effects.words import spoken
from analyticdag.errors import DataWarning, OpenEdgesWarning, ParameterError


class Outcome(NamedTuple):
    """A column after an intervention: its mean and the range that holds `level` of its values.

    `smallest_mean` and `largest_mean` are over the members of the class; they differ only where
    open edges matter. `low` and `high` hold for every member. A category, and a yes/no column in
    words, has an entry for each level, `name: level`: its mean is the share of the level, and `low`
    and `high` are the smallest and the largest share over the members. So has a column of 0 and 1,
    under its name, for the share of 1. Shares are linear in the causes, cut off at 0 and 1; of a
    graph by counts they are those of every combination of causes.
    """

    name: Hashable
    mean: float
    sd: float
    low: float
    high: float
    smallest_mean: float
    largest_mean: float


def intervene(model: Any, do: Mapping[Hashable, Any], *, level: float = 0.95) -> list[Outcome]:
    """Return the distribution of every number, and the share of every level, when some are set."""
    level_of(level)
    known = Known.of(model).by_columns()
    setting, nodes = set_levels(known, _checked(do)), [known.position(name, "do") for name in do]
    _warn_of_far(known, do, stacklevel=3)
    every = known.choices_at(tuple(nodes))
    own = next((k for k, e in enumerate(every) if e is known.equations), 0)
    made = [with_levels(one).distributions(setting, level) for one in every]
    means, sds, lows, highs = (np.array([one[k] for one in made]) for k in range(4))
    levels = columns_of(known)
    if (np.ptp(means, axis=0) > SAME * levels.sd).any():
        _warn_of_open(known.open_pairs(nodes), stacklevel=3)
    found = []
    for k, word in enumerate(spoken(known)):
        first, told = levels.first[k], word.expected(means[:, levels.columns_of(k)])
        for name, share in zip(word.shares, told.T, strict=False):
            p, ends = float(share[own]), (float(share.min()), float(share.max()))
            found.append(_outcome(name, share, own, (p * (1.0 - p)) ** 0.5, ends))
        if not word.shares:
            ends = (float(lows[:, first].min()), float(highs[:, first].max()))
            found.append(_outcome(word.name, means[:, first], own, float(sds[own, first]), ends))
    return found


def sample(
    model: Any, n: int, do: Mapping[Hashable, Any] | None = None, *, seed: int | None = None
) -> Any:
    """Draw n rows from the equations; columns in `do` are set.

    Numbers have Gaussian noise, levels are drawn by their shares. Where a column has words, the
    rows are a data frame.
    """
    known, n = Known.of(model).by_columns(), whole("n", n, 1)
    setting = set_levels(known, _checked(do or {}))
    _warn_of_far(known, do or {}, stacklevel=3)
    if pairs := known.open_pairs([known.position(name, "do") for name in do or {}]):
        _warn_of_open(pairs, stacklevel=3)
    rows = drawn(known, setting, n, generator_of(seed))
    if any(word.in_words for word in spoken(known)):
        return data_frame(rows)
    return np.column_stack(list(rows.values()))


def _outcome(
    name: Hashable, means: FloatArray, own: int, sd: float, ends: tuple[float, float]
) -> Outcome:
    return Outcome(
        name=name,
        mean=float(means[own]),
        sd=sd,
        low=float(ends[0]),
        high=float(ends[1]),
        smallest_mean=float(means.min()),
        largest_mean=float(means.max()),
    )


def _checked(do: Mapping[Hashable, Any]) -> Mapping[Hashable, Any]:
    if not isinstance(do, Mapping):
        raise ParameterError(f"do must map columns to values, as {{'X': 1.0}}; got {do!r}")
    return do


def set_columns(names: list[Hashable], do: Mapping[Hashable, float]) -> dict[int, float]:
    """Return the values that columns are set to, by position."""
    return {
        position_of(names, name, "do"): number(f"do[{name!r}]", value, -LARGEST)
        for name, value in _checked(do).items()
    }


def target_place(graph: nx.DiGraph, target: Hashable) -> int:
    """Return the column of a target of prediction; warn where its causes are open."""
    names = list(graph.nodes)
    place = position_of(names, target, "target")
    edges = graph.in_edges(names[place], data="open")
    pairs = [(names[place], cause) for cause, _, is_open in edges if is_open]
    if pairs:
        _warn_of_open(pairs, stacklevel=3)
    return place


def _warn_of_far(known: Known, do: Mapping[Hashable, Any], *, stacklevel: int) -> None:
    """Warn in one line of numbers that are set to where rows do not lie."""
    if told := far_out(known, do):
        warnings.warn(
            f"{'; '.join(told)}: hardly a row lies so far out, and the answer takes for granted "
            "that effects are the same there",
            DataWarning,
            stacklevel=stacklevel + 1,
        )


def _warn_of_open(pairs: Sequence[tuple[Hashable, Hashable]], *, stacklevel: int) -> None:
    """Warn that an answer depends on open edges, and name them."""
    warnings.warn(
        f"the answer depends on edges whose direction is open: {pairs_text(pairs[:10])}; settle "
        "them with knowledge, or read the range over the members",
        OpenEdgesWarning,
        stacklevel=stacklevel + 1,
    )
