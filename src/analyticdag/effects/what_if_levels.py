"""What if, column by column: what is set, rows drawn, distributions, and answers in words.

Equations are those between the columns of all levels (`levels.py`), so the expected share of a
level is linear in the causes. Where rows are drawn, a level is drawn by its share (`words.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, cast

import numpy as np
from scipy import special

from analyticdag._typing import FloatArray, IntArray
from analyticdag.effects.equations import Equations
from analyticdag.effects.known import Known
from analyticdag.effects.levels import LevelColumns, LevelEquations, from_outside
from analyticdag.effects.words import shares_of, spoken
from analyticdag.errors import MissingDependencyError
from analyticdag.graphs import topological_order


def columns_of(known: Known) -> LevelColumns:
    """Return the columns of all nodes, of which a table without categories has one each."""
    return cast("LevelColumns", known.by_columns().levels)


def set_levels(known: Known, do: Mapping[Hashable, Any]) -> dict[int, float]:
    """Return the set columns by their place, in standard units."""
    levels, words = columns_of(known), spoken(known)
    means, sd = levels.moments.means[0], levels.sd
    setting: dict[int, float] = {}
    for name, value in do.items():
        node = known.position(name, "do")
        amounts = words[node].amounts(value)
        for column, amount in zip(levels.of(node).tolist(), amounts, strict=True):
            setting[column] = (amount - float(means[column])) / float(sd[column])
    return setting


def distributions(
    equations: LevelEquations, setting: dict[int, float], level: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return mean, sd, and the range of the values of every column, in units of the table."""
    levels = equations.levels
    cut = equations.columns.without_causes_of(setting)
    means, sd = levels.moments.means[0], levels.sd
    mean = means.copy()
    if setting:
        mean = means + np.array(list(setting.values())) @ cut.paths[list(setting)] * sd
    variances = cut.variances.copy()
    variances[list(setting)] = 0.0
    spread = np.sqrt(variances @ cut.paths**2) * sd
    half = float(special.ndtri(0.5 + level / 2.0)) * spread
    return mean, spread, mean - half, mean + half


def drawn(
    known: Known, setting: dict[int, float], n: int, rng: np.random.Generator
) -> dict[Hashable, Any]:
    """Draw n rows of the member, node by node; what is drawn by name, in words where it has any."""
    levels, words = columns_of(known), spoken(known)
    columns = cast("LevelEquations", known.by_columns().equations).columns
    rows = np.zeros((n, len(columns.graph)))
    found: dict[Hashable, Any] = dict.fromkeys(known.names)
    for node in topological_order(known.member).tolist():
        own = levels.of(node)
        if own[0] in setting:
            rows[:, own] = [setting[column] for column in own.tolist()]
        elif words[node].shares:
            rows[:, own] = _drawn_level(columns, levels, rows, own, rng)
        else:
            noise = rng.standard_normal(n) * np.sqrt(columns.variances[own[0]])
            rows[:, own[0]] = rows @ columns.weights[:, own[0]] + noise
        values = rows[:, own] * levels.sd[own] + levels.moments.means[0][own]
        found[known.names[node]] = words[node].said(values)
    return found


def _drawn_level(
    columns: Equations,
    levels: LevelColumns,
    rows: FloatArray,
    own: IntArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the columns of a node, in standard units, for levels drawn by their shares."""
    means, sd = levels.moments.means[0][own], levels.sd[own]
    shares = shares_of(rows @ from_outside(columns.weights, own) * sd + means)
    ends = np.cumsum(shares, axis=1)
    place = (rng.random((len(rows), 1)) > ends[:, :-1]).sum(axis=1)
    unit: FloatArray = ((place[:, None] == np.arange(len(own))) - means) / sd
    return unit


def predicted(known: Known, expected: FloatArray, node: int | None) -> Any:
    """Return expected columns as an answer: of levels, which are in a data frame, their shares."""
    levels, words = columns_of(known), spoken(known)
    chosen = range(len(words)) if node is None else [node]
    told = [words[k].expected(expected[:, levels.of(k)]) for k in chosen]
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
