"""What if, column by column: what is set, rows drawn, and answers in words.

Equations are those between the columns of all levels (`levels.py`), so the expected share of a
level is linear in the causes; those of a graph by counts have shares for every combination of
causes (`counted.py`). Where rows are drawn, a level is drawn by its share.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from analyticdag._parameters import shown
from analyticdag._typing import FloatArray
from analyticdag.effects.counted import SAME
from analyticdag.effects.known import Known
from analyticdag.effects.levels import LevelColumns, with_levels
from analyticdag.effects.words import spoken
from analyticdag.errors import InputError, MissingDependencyError

# At most one row in 64 is as many standard deviations from the mean, whatever the column.
_FAR = 8.0


def columns_of(known: Known) -> LevelColumns:
    """Return the columns of all nodes, of which a table without categories has one each."""
    levels = known.by_columns().levels
    assert levels is not None
    return levels


def set_levels(known: Known, do: Mapping[Hashable, Any]) -> dict[int, float]:
    """Return what columns are set to, by their place, in units of the table."""
    levels, words = columns_of(known), spoken(known)
    setting: dict[int, float] = {}
    nodes: set[int] = set()
    for name, value in do.items():
        node = known.position(name, "do")
        if node in nodes:
            raise InputError(f"do names {known.names[node]!r} twice; give it one value")
        nodes.add(node)
        columns, amounts = levels.columns_of(node).tolist(), words[node].amounts(value)
        if known.families is not None and not levels.labels[node]:
            _refuse_uncounted(known, node, amounts[0], f"do[{name!r}]={shown(value)}")
        setting |= dict(zip(columns, amounts, strict=True))
    return setting


def far_out(known: Known, do: Mapping[Hashable, Any]) -> list[str]:
    """Say of each number that is set how far out it is, if that is further than rows lie.

    The range of a column is not kept, its mean and its standard deviation are.
    """
    if known.families is not None:
        return []  # what was not counted is refused
    words, told = spoken(known), []
    for name, value in do.items():
        node = known.position(name, "do")
        if words[node].is_bounded or known.moments.S[node, node] == 0.0:
            continue
        mean, sd = float(known.mean[node]), float(known.sd[node])
        away = abs(words[node].amounts(value)[0] - mean) / sd
        if away > _FAR:
            told.append(
                f"do[{name!r}]={shown(value)} is {round(away):.4g} standard deviations from the "
                f"mean ({mean:.4g})"
            )
    return told


def _refuse_uncounted(known: Known, node: int, amount: float, what: str) -> None:
    """Refuse a value of which a graph by counts knows nothing; between two levels is a mixture."""
    assert known.families is not None
    counted, words = known.families.values[node], spoken(known)[node].in_words
    close = SAME * max(float(np.abs(counted).max()), 1.0)
    met = bool((np.abs(counted - amount) <= close).any())
    between = counted[0] < amount < counted[-1] and not (words and amount == round(amount))
    if not (met or between):
        raise InputError(
            f"{what} was not counted: in rows without gaps the column has levels from "
            f"{counted[0]:g} to {counted[-1]:g}; set one of these"
        )


def drawn(
    known: Known, setting: dict[int, float], n: int, rng: np.random.Generator
) -> dict[Hashable, Any]:
    """Draw n rows of the member; what is drawn by name, in words where it has any."""
    levels, words = columns_of(known), spoken(known)
    equations = with_levels(known.by_columns().equations)
    rows = equations.draw(setting, n, rng, [bool(word.shares) for word in words])
    return {word.name: word.said(rows[:, levels.columns_of(k)]) for k, word in enumerate(words)}


def predicted(known: Known, expected: FloatArray, node: int | None) -> Any:
    """Return expected columns as an answer: of levels, which are in a data frame, their shares."""
    levels, words = columns_of(known), spoken(known)
    chosen = range(len(words)) if node is None else [node]
    told = [words[k].expected(expected[:, levels.columns_of(k)]) for k in chosen]
    if not any(words[k].in_words and words[k].shares for k in chosen):
        rows = np.column_stack(told)
        return rows if node is None else rows[:, 0]
    names = [name for k in chosen for name in words[k].shares or (words[k].name,)]
    if node is not None:
        names = list(words[node].labels)
    return data_frame(dict(zip(names, np.column_stack(told).T, strict=True)))


def data_frame(columns: Mapping[Hashable, Any]) -> Any:
    """Return columns as a data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError("pandas", "data") from error
    return pd.DataFrame(columns)
