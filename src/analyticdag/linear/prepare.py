"""`Fit`, what a fit is about: its data, its options, and the edges that may exist.

    prepared(statistics, recipe, options)      -> Fit

It sees values or ranks of its rows, and discrete columns in every reading.

`covariance="rank"` (nonparanormal, Liu et al. 2012) asks that columns are normal after some
increasing function of each. Correlations are then 2 sin(π/6 · Spearman's), made positive definite,
and numbers stand by their normal scores wherever rows are looked at. A rank correlation of normal
columns is as certain as Pearson's from 91 % of the rows. Weights are least squares on the values as
they are, whatever the search saw.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.candidates import candidate_mask
from analyticdag.errors import DataError, DataWarning, ParameterError
from analyticdag.fitting.design import Design, Reading
from analyticdag.fitting.facts import Facts, RowFacts, facts_of
from analyticdag.fitting.placement import Placement, choose_placement
from analyticdag.fitting.rows import Rows
from analyticdag.fitting.statistics import Statistics, moments_with_gaps
from analyticdag.fitting.tally import MOST_COUNTED
from analyticdag.graphs import orient_with_knowledge
from analyticdag.interventions import equivalence_class
from analyticdag.knowledge import EdgeMasks
from analyticdag.linear.misfit import FEW_VALUES, ROWS_PER_VALUE, Misfit
from analyticdag.linear.options import Options
from analyticdag.linear.tails import Tails, normal_scores
from analyticdag.moments import Moments
from analyticdag.optimize.path import traits_of
from analyticdag.tables.latent import positive_definite
from analyticdag.tables.recipe import DISCRETE, Kind, Recipe

# Asymptotic relative efficiency of Spearman's correlation: (3/π)².
RANK_EFFICIENCY = (3.0 / np.pi) ** 2
# Rows that show of most tables that they hold more than codes.
_GLANCE = 200
# More columns of codes than this are learned as numbers: latent correlations take too long.
_MOST_CODED = 100
# Without some links others are found, of which a few rows may have made some as well. Own tables
# with t noise of two degrees of freedom needed up to three further searches.
ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Fit:
    """One fit: the data, what was asked for, and the edges that may exist.

    `like` is the caller's array: a path may run on the same device. `design` says which columns
    are discrete, `readings` how they can be read. `given` are the statistics without ranks, where
    the search sees others. Pairs of columns that only a few rows would join are kept `apart`
    (`tails.py`).
    """

    statistics: Statistics
    options: Options
    like: Any = None
    design: Design | None = None
    readings: tuple[Reading, ...] = ()
    given: Statistics | None = None
    apart: BoolArray | None = None

    @property
    def plain(self) -> Statistics:
        """Of the rows as they are, which weights refer to whatever the search sees."""
        return self.given or self.statistics

    @cached_property
    def known(self) -> EdgeMasks:
        """What knowledge alone leaves of the edges."""
        return self.options.knowledge.resolve(self.statistics.names)

    @cached_property
    def masks(self) -> EdgeMasks:
        """What knowledge, candidates and constant columns leave of the edges."""
        statistics = self.statistics
        plausible = candidate_mask(self.options.candidates, statistics.S, statistics.n_samples)
        touchable = (
            statistics.touchable if self.apart is None else ~self.apart & statistics.touchable
        )
        return self.known.restricted_to(plausible & touchable)

    def kept_apart(self, pairs: BoolArray) -> Fit:
        """Return the fit without edges between these pairs of columns, in either direction."""
        apart = pairs | pairs.T
        return replace(self, apart=apart if self.apart is None else apart | self.apart)

    def open_edges(self, graph: BoolArray) -> BoolArray:
        """Return the edges that data, interventions and knowledge leave open, both ways."""
        cpdag = equivalence_class(graph, self.statistics.perturbed)
        known: BoolArray = orient_with_knowledge(cpdag, self.known.allowed) != 0
        return known & known.T

    @cached_property
    def for_starts(self) -> Statistics:
        """What starts of the search are made from, its path too. A search that does not depend on
        units gets starts that do not either: from columns of variance one."""
        if self.options.refine and self.options.traits.score == "unequal":
            return self.statistics.with_unit_variances()
        return self.statistics

    @cached_property
    def misfit(self) -> Misfit:
        """How far the rows are from what graphs say."""
        return Misfit(self.statistics)

    @cached_property
    def tails(self) -> Tails:
        """What ranks leave of the evidence for edges."""
        return Tails(self.statistics)

    @cached_property
    def place(self) -> Placement:
        """Where the arrays of a path live; compiled kernels read NumPy's."""
        minimiser = self.options.minimiser
        if minimiser is None or not traits_of(minimiser).any_array:
            return choose_placement(None, None, None)
        device, dtype = (getattr(minimiser, name, None) for name in ("device", "dtype"))
        return choose_placement(self.like, device, dtype)


def prepared(statistics: Statistics, recipe: Recipe | None, options: Options, like: Any) -> Fit:
    """Return the fit of checked rows; the path takes discrete columns for numbers.

    Of more rows than memory holds there are counts and sums of all levels, which give the same
    readings as the rows (`fitting.facts`). Of a fit that partial_fit goes on from there is no
    sample, so yes/no and ordered columns are read by levels alone.
    """
    kinds = _kinds(statistics, options) if recipe is None else recipe.kinds
    facts, searched = facts_of(statistics), statistics
    if options.covariance == "rank":
        _refuse_ranks_without_rows(statistics)
    if facts is None:
        discrete = np.array([kind in DISCRETE for kind in kinds])
        return Fit(replace(statistics, discrete=discrete), options, like=like)
    _check_levels(facts, kinds, statistics)
    design = Design.of(facts, kinds)
    _refuse_categories(design, options, statistics)
    if options.covariance == "rank":
        searched, facts = _ranked(statistics, ~design.discrete)
    if not design.discrete.any() or not options.refine:
        return Fit(searched, options, like=like, given=statistics)
    searched = replace(searched, discrete=design.discrete)
    readings = design.readings(facts)
    return Fit(searched, options, like=like, design=design, readings=readings, given=statistics)


def _kinds(statistics: Statistics, options: Options) -> tuple[str, ...]:
    """Return what columns of plain numbers are: ordered where all of them hold codes only.

    A table of codes alone is one of levels, whatever their types say. Beside one measured number
    they may be counts, and stay numbers.
    """
    d, rows = len(statistics.names), statistics.rows
    numbers: tuple[str, ...] = (Kind.NUMBER,) * d
    if d > _MOST_CODED or rows is None or options.traits.score == "equal":
        return numbers
    is_coded = rows.ask(partial(_only_codes, scale=statistics.scale))
    return (Kind.ORDERED,) * d if is_coded else numbers


def _only_codes(rows: FloatArray, _: FloatArray | None, *, scale: FloatArray) -> bool:
    """Whether every column holds whole numbers, few of them and each in some rows."""
    most = min(FEW_VALUES, len(rows) / ROWS_PER_VALUE)
    # The first rows of most tables show already that it does not.
    return _hold_codes(rows[:_GLANCE] * scale, most) and _hold_codes(rows * scale, most)


def _hold_codes(X: FloatArray, most: float) -> bool:
    """Whether all columns hold whole numbers, no more of them than that."""
    present = (column[~np.isnan(column)] for column in X.T)
    return all((x == np.rint(x)).all() and len(np.unique(x)) <= most for x in present)


def _refuse_ranks_without_rows(statistics: Statistics) -> None:
    if statistics.rows is None or not statistics.rows.whole:
        raise ParameterError(
            "covariance='rank' needs all rows at once, and only sums are left of some (of a fit "
            "before partial_fit, or of more than memory holds); give all rows to partial_fit, "
            "from the first on, or fit them, or a sample of them, as one table"
        )


def _check_levels(facts: Facts, kinds: tuple[str, ...], statistics: Statistics) -> None:
    """Say which discrete columns have more levels than are counted; refuse it of a category."""
    for k in np.flatnonzero(facts.too_many & np.isin(kinds, DISCRETE)).tolist():
        name, kind = statistics.names[k], kinds[k]
        many = f"column {name!r} is {kind} and has more than {MOST_COUNTED} levels"
        if kind == Kind.CATEGORY:
            raise DataError(f"{many}, too many to add up in batches; join some of them first")
        if facts.can_ask:  # elsewhere ordered columns are read by their codes anyway
            warnings.warn(
                f"{many}, too many to add up in batches, so it is read as a number",
                DataWarning,
                stacklevel=4,
            )


def _refuse_categories(design: Design, options: Options, statistics: Statistics) -> None:
    if not design.is_block.any():
        return
    name = statistics.names[int(design.is_block.argmax())]
    wrong = f"loss={options.traits.name!r}" if options.traits.score == "equal" else ""
    if not options.refine:
        wrong = "refine=False"
    if wrong:
        raise ParameterError(
            f"{name!r} is a {Kind.CATEGORY}, which only the order search takes, with noise "
            f"variances of its own; use loss='auto' and refine=True instead of {wrong}, or drop it"
        )


def _ranked(statistics: Statistics, numbers: BoolArray) -> tuple[Statistics, RowFacts]:
    """Return statistics with rank correlations, and facts of normal scores in the old units."""
    assert statistics.rows is not None
    values, weights = statistics.rows.times(statistics.scale), statistics.rows.weights
    rows = values.copy()
    places = np.flatnonzero(numbers & ~statistics.constant)
    for k in places.tolist():
        rows[:, k] = as_normal(values[:, k])
    gaps, perturbed = bool(np.isnan(rows).any()), statistics.perturbed
    moments = moments_with_gaps(rows, perturbed) if gaps else Moments.of_rows(rows, perturbed)
    S = moments.covariances
    if not gaps and perturbed is None:
        S = _spearman(values, places, S[0])[None]
    constant = statistics.constant
    if constant.any():
        S = np.where(constant[:, None] | constant, np.eye(len(constant)), S)
    counts = np.maximum(np.round(moments.counts * RANK_EFFICIENCY), 2).astype(np.int64)
    moments = replace(moments, covariances=S, counts=counts).scaled(statistics.scale)
    seen = Rows(rows / statistics.scale)
    facts = RowFacts(rows, weights, perturbed)
    return replace(statistics, moments=moments, rows=seen, ranks=True), facts


def as_normal(column: FloatArray) -> FloatArray:
    """Return normal scores with the mean and the deviation of the column."""
    seen = ~np.isnan(column)
    scores = normal_scores(column[seen])
    scores = (scores - scores.mean()) / max(scores.std(), np.finfo(float).tiny)
    found = column.copy()
    found[seen] = column[seen].mean() + column[seen].std() * scores
    return found


def _spearman(values: FloatArray, places: Any, S: FloatArray) -> FloatArray:
    """Put rank correlations of numbers into a covariance."""
    if len(places) < 2:
        return S
    sd = np.sqrt(np.diag(S))
    unit = np.outer(sd, sd)
    R = S / np.where(unit > 0.0, unit, 1.0)
    ranks = rankdata(values[:, places], axis=0)
    R[np.ix_(places, places)] = 2.0 * np.sin(np.pi / 6.0 * np.corrcoef(ranks.T))
    np.fill_diagonal(R, 1.0)
    return positive_definite(R) * unit
