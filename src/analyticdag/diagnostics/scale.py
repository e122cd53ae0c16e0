"""Does the answer rest on the units of the data?

*Sortability* (Reisach et al. 2021, 2023): the share of causal paths in the learned graph along
which the variance, or the R² on all other columns, grows. Near 1, sorting the columns by that
number alone would have given the same order. For variances that is no evidence where units are
arbitrary; R² does not depend on units, but is as easily a trait of simulations.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import looks_standardised
from analyticdag.diagnostics.result import Check, Level, listing
from analyticdag.errors import AnalyticDAGWarning
from analyticdag.io.audit import varsortability
from analyticdag.losses import LossTraits, loss_traits
from analyticdag.orders import shares_explained

logger = logging.getLogger(__name__)

# Above this share the order of the columns by that number explains the learned order.
SORTED = 0.9


def check_varsortability(adjacency: BoolArray, S: FloatArray, *, scale_matters: bool) -> Check:
    """Say how far sorting by variance explains the learned order."""
    share = varsortability(adjacency, np.diag(S))
    name = "varsortability"
    if share is None:
        return Check(name, Level.FINE, "there are no edges to sort", {"share": None})
    if share < SORTED:
        advice = "the learned order is not the order of the variances"
        return Check(name, Level.FINE, advice, {"share": share})
    level = Level.WARNING if scale_matters else Level.NOTE
    advice = (
        f"sorting the columns by variance explains {share:.0%} of the learned order"
        + (
            ", and the loss feeds on variances; trust directions only if all columns share one "
            "meaningful unit"
            if scale_matters
            else ", but the score does not depend on units"
        )
    )  # fmt: skip
    return Check(name, level, advice, {"share": share})


def check_r2_sortability(adjacency: BoolArray, R: FloatArray, n_samples: int) -> Check:
    """Say how far sorting by R² explains the learned order."""
    name = "R2-sortability"
    if n_samples <= len(R) + 1:
        advice = "with no more rows than columns every R² is 1; it cannot be judged"
        return Check(name, Level.NOTE, advice, {"share": None})
    share = varsortability(adjacency, shares_explained(R))
    if share is None:
        return Check(name, Level.FINE, "there are no edges to sort", {"share": None})
    if share < SORTED:
        advice = "the learned order is not the order of how well columns are explained"
        return Check(name, Level.FINE, advice, {"share": share})
    advice = (
        f"sorting the columns by R² explains {share:.0%} of the learned order; simulated data "
        "often look so, and a good result on them promises little for other data"
    )
    return Check(name, Level.NOTE, advice, {"share": share})


def check_standardised_refit(
    estimator: Any, X: Any, variances: FloatArray, names: Sequence[Hashable]
) -> Check:
    """Fit once more on standardised columns and list the edges that differ."""
    name = "standardised refit"
    why_not = _needs_no_refit(estimator, variances)
    if why_not:
        return Check(name, Level.FINE, why_not)
    logger.info("fitting once more on standardised columns, for the diagnostics")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalyticDAGWarning)
        silent = {"verbose": 0} if "verbose" in estimator.get_params(deep=False) else {}
        other = clone(estimator).set_params(standardize=True, checkpoint=None, **silent)
        mask = getattr(estimator, "interventions_", None)
        other.fit(X, **({} if mask is None else {"interventions": mask}))
    before, after = estimator.adjacency_matrix_ != 0, other.adjacency_matrix_ != 0
    # Directions that both results leave open are no claim that could change.
    open_before, open_after = _open(estimator), _open(other)
    kinds = _differences(before, after, open_before & open_after, names)
    numbers = {"loss": other.loss_, **{kind: [list(e) for e in kinds[kind]] for kind in kinds}}
    n_changed = sum(map(len, kinds.values()))
    if not n_changed:
        advice = "standardising the columns does not change one edge"
        return Check(name, Level.FINE, advice, numbers)
    level = Level.WARNING if kinds["lost"] or kinds["gained"] else Level.NOTE
    advice = (
        f"on standardised columns {len(kinds['reversed'])} edges turn round, "
        f"{len(kinds['lost'])} vanish and {len(kinds['gained'])} appear "
        f"({listing([e for kind in kinds.values() for e in kind])}); "
        "these rest on the units of the data, so trust them only if the units mean something"
    )
    return Check(name, level, advice, numbers)


def loss_of(estimator: Any) -> LossTraits:
    """Return what the loss of a fit assumes; of an estimator that is not ours, by its name."""
    named = loss_traits(str(getattr(estimator, "loss_", "")))
    return getattr(estimator, "loss_traits_", named)


def _needs_no_refit(estimator: Any, variances: FloatArray) -> str:
    """Say why standardising cannot change the answer, or nothing."""
    if estimator.standardize or looks_standardised(variances[variances > 0]):
        return "the columns were standardised: units play no part"
    if loss_of(estimator).binary:
        return "0/1 data have no units"
    # A refit would only find another local optimum, and say nothing about units. Without a search
    # the penalty and the threshold of the path decide, and these read units under any loss.
    searched = getattr(estimator, "refine", True) or getattr(estimator, "solver", "") == "order"
    if not loss_of(estimator).reads_scales and searched:
        return "the score does not depend on units"
    return ""


def _open(estimator: Any) -> BoolArray:
    """Return the pairs whose direction the result does not claim to know."""
    cpdag: BoolArray = estimator.cpdag_ != 0
    claimed = loss_of(estimator).reads_scales
    return np.zeros_like(cpdag) if claimed else cpdag & cpdag.T


def _differences(
    before: BoolArray, after: BoolArray, both_open: BoolArray, names: Sequence[Hashable]
) -> dict[str, list[tuple[Hashable, Hashable]]]:
    """Return the edges of the fit that turned round or vanished, and those that appeared."""

    def named(edges: BoolArray) -> list[tuple[Hashable, Hashable]]:
        return [(names[i], names[j]) for i, j in np.argwhere(edges)]

    return {
        "reversed": named(before & after.T & ~both_open),
        "lost": named(before & ~after & ~after.T),
        "gained": named(after & ~before & ~before.T),
    }
