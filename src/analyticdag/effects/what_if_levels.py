"""What if, in a table with categories: rows drawn level by level, shares after an intervention.

Equations are those between the columns of all levels (`levels.py`), so the expected share of a
level is linear in the causes. Where rows are drawn, shares below zero count as zero, those of one
row are made to add up to one, and a level is drawn by them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from scipy import special

from analyticdag._parameters import LARGEST, number
from analyticdag._typing import FloatArray, IntArray
from analyticdag.effects.equations import Equations
from analyticdag.effects.known import Known
from analyticdag.effects.levels import LevelColumns, LevelEquations, from_outside
from analyticdag.errors import InputError, MissingDependencyError
from analyticdag.graphs import topological_order


def set_levels(known: Known, levels: LevelColumns, do: Mapping[Hashable, Any]) -> dict[int, float]:
    """Return the set columns by their place, in standard units; a category is set to a level."""
    means, sd = levels.moments.means[0], levels.sd
    setting: dict[int, float] = {}
    for name, value in do.items():
        node = known.position(name, "do")
        labels = levels.labels[node]
        if labels and value not in labels:
            raise InputError(
                f"do[{name!r}]={value!r} is none of the levels of the category: {list(labels)[:12]}"
            )
        amounts = [float(value == label) for label in labels[:-1]]
        amounts = amounts or [number(f"do[{name!r}]", value, -LARGEST)]
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
    equations: LevelEquations, setting: dict[int, float], n: int, rng: np.random.Generator
) -> list[FloatArray | IntArray]:
    """Draw n rows, node by node: numbers, or places of levels, the reference last."""
    levels, columns = equations.levels, equations.columns
    rows = np.zeros((n, len(columns.graph)))
    found: list[FloatArray | IntArray] = [np.zeros(n)] * len(levels.sizes)
    for node in topological_order(equations.graph).tolist():
        own = levels.of(node)
        if own[0] in setting:
            rows[:, own] = [setting[column] for column in own.tolist()]
        elif levels.labels[node]:
            rows[:, own] = _drawn_level(columns, levels, rows, own, rng)
        else:
            noise = rng.standard_normal(n) * np.sqrt(columns.variances[own[0]])
            rows[:, own[0]] = rows @ columns.weights[:, own[0]] + noise
        values = rows[:, own] * levels.sd[own] + levels.moments.means[0][own]
        found[node] = _places(values) if levels.labels[node] else values[:, 0]
    return found


def _drawn_level(
    columns: Equations,
    levels: LevelColumns,
    rows: FloatArray,
    own: IntArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the columns of a category, in standard units, for levels drawn by their shares."""
    means, sd = levels.moments.means[0][own], levels.sd[own]
    shares = np.maximum(rows @ from_outside(columns.weights, own) * sd + means, 0.0)
    shares = np.column_stack([shares, np.maximum(1.0 - shares.sum(axis=1), 0.0)])
    ends = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
    place = (rng.random((len(rows), 1)) > ends[:, :-1]).sum(axis=1)
    unit: FloatArray = ((place[:, None] == np.arange(len(own))) - means) / sd
    return unit


def _places(values: FloatArray) -> IntArray:
    """Return which level each row has, the reference last."""
    marks = np.column_stack([values, 1.0 - values.sum(axis=1)])
    places: IntArray = marks.argmax(axis=1)
    return places


def frame_of(known: Known, levels: LevelColumns, found: list[FloatArray | IntArray]) -> Any:
    """Return rows as a data frame, levels in words."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError("pandas", "data") from error
    columns = {
        name: np.array(levels.labels[k], dtype=object)[values] if levels.labels[k] else values
        for k, (name, values) in enumerate(zip(known.names, found, strict=True))
    }
    return pd.DataFrame(columns)
