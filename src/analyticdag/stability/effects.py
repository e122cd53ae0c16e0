"""`bootstrap_effects`: effects that know that the graph was learned from the same rows.

An interval for a given graph does not know that another sample would have given another graph. So
the whole procedure is repeated on resamples: learn a class, then take the effect of x on y in every
way to point the open edges at x. All values of one resample share its weight. What is reported is
their mean, in which share of it all x is a cause of y, and an interval: from the smallest possible
effect to the largest, less a tail of resamples on either side.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable
from typing import Any, NamedTuple

import joblib
import numpy as np

from analyticdag._parameters import jobs, level_of
from analyticdag._tables import NamedColumns
from analyticdag._typing import FloatArray
from analyticdag._validation import check_table, column_names
from analyticdag.effects.known import MOST_OPEN, Known, position_of
from analyticdag.errors import AnalyticDAGWarning
from analyticdag.interventions import intervention_mask
from analyticdag.stability.resamples import Data, Scheme, check_scheme, fitted_on
from analyticdag.stability.run import refuse_batches, seed_of_bootstrap, single_threaded


class AveragedEffect(NamedTuple):
    """The total effect of one column on another, averaged over graphs learned from resamples.

    value : the mean over resamples, and over the graphs of each class; zero where there is none.
    low, high : from the smallest to the largest possible effect, as `level` of the resamples have
        them.
    cause_share : the share in which the cause has an effect on the outcome at all.
    certain_share : the share of resamples in which it has one in every graph of the class.
    n_resamples : how many resamples could be used; in the others open edges were too many to list.
    """

    cause: Hashable
    outcome: Hashable
    value: float
    low: float
    high: float
    cause_share: float
    certain_share: float
    n_resamples: int


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
    probe = single_threaded(estimator)
    refuse_batches(X)
    values = check_table(probe, X, reset=True)
    names = column_names(probe, values.shape[1])
    mask = intervention_mask(interventions, names, len(values))
    seed = seed_of_bootstrap(random_state, None)
    scheme = check_scheme(len(values), None, seed, n_resamples, groups)
    table = NamedColumns(values, names, getattr(probe, "recipe_", None))
    single = single_threaded(estimator)
    if "kinds" in single.get_params(deep=False):
        single.set_params(kinds=None)  # read above: a resample need not have all levels
    outcomes = list(range(len(names))) if on is None else [position_of(names, on, "on")]
    parallel = joblib.Parallel(n_jobs=jobs("processes", n_jobs, "one"), return_as="list")
    work = joblib.delayed(_effects_on)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalyticDAGWarning)
        found = parallel(
            work(single, (table, mask), scheme, k, os.getpid(), outcomes)
            for k in range(n_resamples)
        )
    rows = [_averaged(names[x], names[y], [one[x, y] for one in found], level) for x, y in found[0]]
    told = [row for row in rows if row.n_resamples]
    untold = [row for row in rows if not row.n_resamples]
    return [*sorted(told, key=lambda row: (-row.cause_share, -abs(row.value))), *untold]


def _effects_on(
    estimator: Any, data: Data, scheme: Scheme, resample: int, parent: int, outcomes: list[int]
) -> dict[tuple[int, int], FloatArray]:
    """Return for each cause and outcome the possible effects in one resample.

    NaN where they are too many, or where a category is on the way.
    """
    known = Known.of(fitted_on(estimator, data, scheme, resample, parent))
    causes = range(len(known.names))
    return {(x, y): _possible(known, x, y) for y in outcomes for x in causes if x != y}


def _possible(known: Known, x: int, y: int) -> FloatArray:
    if known.category_between(x, y) is not None:
        return np.array([np.nan])
    if known.settled(x)[y]:
        every = [known.equations]
    elif len(known.open_at(x)) > MOST_OPEN:
        return np.array([np.nan])
    else:
        every = known.choices((x,))
    unit = known.sd[y] / known.sd[x]
    return np.array([equations.paths[x, y] * unit for equations in every])


def _averaged(
    cause: Hashable, outcome: Hashable, found: list[FloatArray], level: float
) -> AveragedEffect:
    used = [values for values in found if not np.isnan(values).any()]
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
