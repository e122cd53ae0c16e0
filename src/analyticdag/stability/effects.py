"""`bootstrap_effects`: effects that know that the graph was learned from the same rows.

An interval for a given graph does not know that another sample would have given another graph. So
the whole procedure is repeated on resamples: learn a class, then take the effect of x on y in every
way to point the open edges at x. All values of one resample share its weight. What is reported is
their mean, in which share of it all x is a cause of y, and an interval: from the smallest possible
effect to the largest, less a tail of resamples on either side.

Effects of a category are told for each level, against the most frequent one of all rows; effects on
one as changes of the shares of its levels. A resample without one of the levels does not count.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from analyticdag._parameters import jobs, level_of
from analyticdag._tables import NamedColumns
from analyticdag._typing import FloatArray
from analyticdag.effects.by_level import Pair, level_values
from analyticdag.effects.known import MOST_OPEN, Known, position_of
from analyticdag.errors import AnalyticDAGWarning
from analyticdag.stability.resamples import Data, Scheme, check_scheme, fitted_on
from analyticdag.stability.run import each, resampled, seed_of_bootstrap
from analyticdag.tables.recipe import Column, Recipe


class AveragedEffect(NamedTuple):
    """The total effect of one column on another, averaged over graphs learned from resamples.

    value : the mean over resamples, and over the graphs of each class; zero where there is none.
    low, high : from the smallest to the largest possible effect, as `level` of the resamples have
        them.
    cause_share : the share in which the cause has an effect on the outcome at all.
    certain_share : the share of resamples in which it has one in every graph of the class.
    n_resamples : how many resamples could be used; in the others open edges were too many to list,
        or a level had no rows.
    cause_level, reference : of a category, the level and the one that it is compared with.
    outcome_level : of a category, and of a yes/no column, the level whose share changes.
    """

    cause: Hashable
    outcome: Hashable
    value: float
    low: float
    high: float
    cause_share: float
    certain_share: float
    n_resamples: int
    cause_level: str = ""
    reference: str = ""
    outcome_level: str = ""


def bootstrap_effects(
    estimator: Any,
    X: Any,
    n_resamples: int = 100,
    *,
    on: Hashable | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: int | None = 0,
    interventions: Any = None,
    groups: Any = None,
) -> list[AveragedEffect]:
    """Learn the graph on resamples of X; return the effects of all columns on `on`, averaged.

    Without `on` those of all pairs. The surest causes come first. `estimator` is an `AnalyticDAG`,
    fitted or not; it is not changed. The other arguments are those of `bootstrap`.
    """
    level_of(level)
    single, data, values, names = resampled(estimator, X, interventions)
    seed = seed_of_bootstrap(random_state, None)
    scheme = check_scheme(len(values), None, seed, n_resamples, groups)
    outcomes = list(range(len(names))) if on is None else [position_of(names, on, "on")]
    effects, processes = partial(_effects_on, outcomes=outcomes), jobs("processes", n_jobs, "one")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalyticDAGWarning)
        found = list(each(effects, single, data, scheme, range(n_resamples), processes))
    table = data[0]
    recipe = table.recipe if isinstance(table, NamedColumns) else None
    levels, counted = _levels(values, recipe), _counted(recipe, len(names))
    rows = [
        row._replace(outcome_level=row.outcome_level or counted[y])
        for x, y in found[0]
        for row in _told(
            names[x], names[y], [one[x, y] for one in found], (levels[x], levels[y]), level
        )
    ]
    told = [row for row in rows if row.n_resamples]
    untold = [row for row in rows if not row.n_resamples]
    return [*sorted(told, key=lambda row: (-row.cause_share, -abs(row.value))), *untold]


def _levels(values: FloatArray, recipe: Recipe | None) -> list[tuple[str, ...]]:
    """Return the levels of categories, the most frequent first; of other columns one, unnamed."""
    if recipe is None:
        return [("",)] * values.shape[1]
    taken = [column for column in recipe.columns if column.taken]
    return [_by_frequency(column, own) for column, own in zip(taken, values.T, strict=True)]


def _counted(recipe: Recipe | None, n_columns: int) -> list[str]:
    """Return of yes/no columns the level that counts; of others nothing."""
    if recipe is None:
        return [""] * n_columns
    return [column.counted for column in recipe.columns if column.taken]


def _by_frequency(column: Column, values: FloatArray) -> tuple[str, ...]:
    named = zip(column.scores, column.levels, strict=False)  # only a category has scores
    counts = {level: int((values == score).sum()) for score, level in named}
    return tuple(sorted(counts, key=lambda level: -counts[level])) or ("",)


def _effects_on(
    estimator: Any, data: Data, scheme: Scheme, resample: int, parent: int, *, outcomes: list[int]
) -> dict[tuple[int, int], dict[Pair, FloatArray]]:
    """Return for each cause and outcome the possible effects in one resample, by their levels."""
    known = Known.of(fitted_on(estimator, data, scheme, resample, parent))
    causes = range(len(known.names))
    return {(x, y): _possible(known, x, y) for y in outcomes for x in causes if x != y}


def _possible(known: Known, x: int, y: int) -> dict[Pair, FloatArray]:
    """Return the possible effects by level; nothing where they are too many."""
    if known.settled(x)[y]:
        every = [known.equations]
    elif len(known.open_at(x)) > MOST_OPEN:
        return {}
    else:
        every = known.choices((x,))
    if known.category_between(x, y) is not None:
        return level_values(known, every, x, y)
    unit = known.sd[y] / known.sd[x]
    return {("", ""): np.array([equations.effects_of(x)[y] * unit for equations in every])}


def _told(
    cause: Hashable,
    outcome: Hashable,
    found: list[dict[Pair, FloatArray]],
    levels: tuple[tuple[str, ...], tuple[str, ...]],
    level: float,
) -> list[AveragedEffect]:
    """Return a row for each level of the cause but the first, and each level of the outcome."""
    (reference, *others), outcomes = levels
    rows = []
    for own, other in product(others or [reference], outcomes):
        used = [one for one in found if {(own, other), (reference, other)} <= set(one)]
        values = [
            one[own, other] - one[reference, other] if others else one[own, other] for one in used
        ]
        row = _averaged(cause, outcome, values, level)
        rows.append(row._replace(cause_level=own, reference=reference, outcome_level=other))
    return rows


def _averaged(
    cause: Hashable, outcome: Hashable, used: list[FloatArray], level: float
) -> AveragedEffect:
    if not used:
        nan = float("nan")
        return AveragedEffect(cause, outcome, nan, nan, nan, nan, nan, 0)
    values = np.concatenate(used)
    weights = np.concatenate([np.full(len(one), 1.0 / len(one)) for one in used])
    tail = 0.5 - level / 2.0
    low = np.quantile([one.min() for one in used], tail, method="inverted_cdf")
    high = np.quantile([one.max() for one in used], 1.0 - tail, method="inverted_cdf")
    return AveragedEffect(
        cause,
        outcome,
        value=float(np.average(values, weights=weights)),
        low=float(low),
        high=float(high),
        cause_share=float(np.average(values != 0.0, weights=weights)),
        certain_share=float(np.mean([(one != 0.0).all() for one in used])),
        n_resamples=len(used),
    )
