"""What if: rows drawn from a model, with some columns set; the distribution after setting them.

Setting a column cuts it from its causes. Where the class leaves edges at a set column open, the
answer can differ between members: `intervene` then gives the range, and the drawn rows come from
one member with a warning that names the edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import networkx as nx
import numpy as np
from scipy import special

from analyticdag._parameters import LARGEST, level_of, number, whole
from analyticdag._typing import FloatArray
from analyticdag.effects.effect import pairs_text
from analyticdag.effects.equations import Equations
from analyticdag.effects.known import Known, position_of
from analyticdag.effects.levels import LevelColumns, LevelEquations
from analyticdag.effects.what_if_levels import distributions, drawn, frame_of, set_levels
from analyticdag.errors import OpenEdgesWarning, ParameterError
from analyticdag.graphs import topological_order

# Means that differ by less, in standard deviations, are one.
_ROUNDING = 1e-9


class Outcome(NamedTuple):
    """A column after an intervention: its mean and the range that holds `level` of its values.

    `smallest_mean` and `largest_mean` are over the members of the class; they differ only where
    open edges matter. `low` and `high` hold for every member. A category has an entry for each
    level, `name: level`: its mean is the share, which is linear in the causes and may leave [0, 1].
    """

    name: Hashable
    mean: float
    sd: float
    low: float
    high: float
    smallest_mean: float
    largest_mean: float


def intervene(model: Any, do: Mapping[Hashable, float], *, level: float = 0.95) -> list[Outcome]:
    """Return the distribution of every column when some are set to values."""
    level_of(level)
    known = Known.of(model)
    known.refuse_categories()
    if known.levels is not None:
        return _intervene_levels(known, known.levels, _checked(do), level)
    setting = _setting(known, do)
    every = known.choices_at(tuple(setting))
    cuts = [equations.without_causes_of(setting) for equations in every]
    means = np.array([_mean(known, cut, setting) for cut in cuts])
    sds = np.array([_sd(known, cut, setting) for cut in cuts])
    half = float(special.ndtri(0.5 + level / 2.0)) * sds
    own = next((k for k, e in enumerate(every) if e is known.equations), 0)
    if (np.ptp(means, axis=0) > _ROUNDING * known.sd).any():
        _warn_of_open(known.open_pairs(setting), stacklevel=3)
    lows, highs = (means - half).min(axis=0), (means + half).max(axis=0)
    return [
        _outcome(name, means[:, k], own, float(sds[own, k]), (float(lows[k]), float(highs[k])))
        for k, name in enumerate(known.names)
    ]


def sample(
    model: Any, n: int, do: Mapping[Hashable, float] | None = None, *, seed: int | None = None
) -> Any:
    """Draw n rows, with Gaussian noise, from the equations; columns in `do` are set.

    Of a table with categories they are a data frame, with levels in words.
    """
    known, n = Known.of(model), whole("n", n, 1)
    known.refuse_categories()
    nodes = [known.position(name, "do") for name in _checked(do or {})]
    if pairs := known.open_pairs(nodes):
        _warn_of_open(pairs, stacklevel=3)
    if known.levels is not None:
        levels, rng = set_levels(known, known.levels, do or {}), np.random.default_rng(seed)
        found = drawn(cast("LevelEquations", known.equations), levels, n, rng)
        return frame_of(known, known.levels, found)
    setting = _setting(known, do or {})
    equations, rng = known.equations, np.random.default_rng(seed)
    noise = rng.standard_normal((n, len(known.names))) * np.sqrt(equations.variances)
    rows = np.zeros_like(noise)
    for j in topological_order(equations.graph):
        rows[:, j] = setting.get(j, rows @ equations.weights[:, j] + noise[:, j])
    return rows * known.sd + known.mean


def _intervene_levels(
    known: Known, levels: LevelColumns, do: Mapping[Hashable, Any], level: float
) -> list[Outcome]:
    """Return the distribution of every number, and the share of every level, with `name: level`."""
    setting, nodes = set_levels(known, levels, do), [known.position(name, "do") for name in do]
    every = known.choices_at(tuple(nodes))
    own = next((k for k, e in enumerate(every) if e is known.equations), 0)
    made = [distributions(cast("LevelEquations", one), setting, level) for one in every]
    means, sds, lows, highs = (np.array([one[k] for one in made]) for k in range(4))
    if (np.ptp(means, axis=0) > _ROUNDING * levels.sd).any():
        _warn_of_open(known.open_pairs(nodes), stacklevel=4)
    found = []
    for k, name in enumerate(known.names):
        columns = levels.of(k)
        if not levels.labels[k]:
            mean, low, high = means[:, columns[0]], lows[:, columns[0]], highs[:, columns[0]]
            ends = (float(low.min()), float(high.max()))
            found.append(_outcome(name, mean, own, float(sds[own, columns[0]]), ends))
            continue
        shares = np.column_stack([means[:, columns], 1.0 - means[:, columns].sum(axis=1)])
        for label, share in zip(levels.labels[k], shares.T, strict=True):
            p = float(np.clip(share[own], 0.0, 1.0))
            found.append(_outcome(f"{name}: {label}", share, own, (p * (1.0 - p)) ** 0.5, (0, 1)))
    return found


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


def _setting(known: Known, do: Mapping[Hashable, float]) -> dict[int, float]:
    """Return the set columns by position, in standard units."""
    amounts = set_columns(known.names, do)
    return {x: (a - float(known.mean[x])) / float(known.sd[x]) for x, a in amounts.items()}


def set_columns(names: list[Hashable], do: Mapping[Hashable, float]) -> dict[int, float]:
    """Return the values that columns are set to, by position."""
    return {
        position_of(names, name, "do"): number(f"do[{name!r}]", value, -LARGEST)
        for name, value in _checked(do).items()
    }


def _mean(known: Known, cut: Equations, setting: dict[int, float]) -> FloatArray:
    shift = np.array(list(setting.values())) @ cut.paths[list(setting)]
    return known.mean + shift * known.sd


def _sd(known: Known, cut: Equations, setting: dict[int, float]) -> FloatArray:
    variances = cut.variances.copy()
    variances[list(setting)] = 0.0
    return np.sqrt(variances @ cut.paths**2) * known.sd


def target_place(graph: nx.DiGraph, target: Hashable) -> int:
    """Return the column of a target of prediction; warn where its causes are open."""
    names = list(graph.nodes)
    place = position_of(names, target, "target")
    edges = graph.in_edges(names[place], data="open")
    pairs = [(names[place], cause) for cause, _, is_open in edges if is_open]
    if pairs:
        _warn_of_open(pairs, stacklevel=3)
    return place


def _warn_of_open(pairs: Sequence[tuple[Hashable, Hashable]], *, stacklevel: int) -> None:
    """Warn that an answer depends on open edges, and name them."""
    warnings.warn(
        f"the answer depends on edges whose direction is open: {pairs_text(pairs[:10])}; settle "
        "them with knowledge, or read the range over the members",
        OpenEdgesWarning,
        stacklevel=stacklevel + 1,
    )
