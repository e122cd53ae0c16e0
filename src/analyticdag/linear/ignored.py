"""What is said after a fit: parameters without influence, and a loss that cannot be right."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from analyticdag._parameters import shown
from analyticdag.errors import AnalyticDAGWarning, IgnoredParameterWarning

# Standard errors of a share that chance does not reach.
_SURE = 4.0


def warn_about_ignored(estimator: Any, *, path: bool, stacklevel: int) -> None:
    """Warn once, if something was set that had no influence on the graph.

    `path` says whether a path was followed. Parameters at their defaults are not mentioned.
    """
    said = []
    if estimator.refine and not estimator.loss_traits_.binary:
        said += _said(
            estimator,
            ("lambda1", "w_threshold"),
            "the score of the order search decides alone which edges stay; set gamma, the price of "
            "an edge, or refine=False for the path's own answer",
        )
    else:
        said += _said(
            estimator,
            ("gamma", "min_effect", "effort"),
            "it belongs to the order search; use refine=True",
        )
    if not path:
        said += _said(estimator, ("constraint",), "no path was followed; use solver='fast'")
    if said:
        warnings.warn("; ".join(said), IgnoredParameterWarning, stacklevel=stacklevel + 1)


def warn_about_base_rates(estimator: Any, *, stacklevel: int) -> None:
    """Warn that a loss of 0/1 data without intercepts does not know how rare a column is.

    Under it a column without causes is 1 in half of the rows.
    """
    roots = (estimator.adjacency_matrix_.sum(axis=0) == 0) & (estimator.noise_variances_ > 0.0)
    error = 0.5 / np.sqrt(estimator.moments_.n_samples)
    far = roots & (np.abs(estimator.mean_ - 0.5) > _SURE * error)
    if far.any():
        worst = int(np.argmax(np.where(far, np.abs(estimator.mean_ - 0.5), 0.0)))
        name = list(estimator.graph_.nodes)[worst]
        warnings.warn(
            f"loss={estimator.loss_!r} has no intercepts: a column without causes should be 1 in "
            f"half of the rows, and {name!r} is in {estimator.mean_[worst]:.0%}, so the graph is "
            "not to be trusted; use loss='auto'",
            AnalyticDAGWarning,
            stacklevel=stacklevel + 1,
        )


def _said(estimator: Any, names: tuple[str, ...], why: str) -> list[str]:
    defaults = inspect.signature(type(estimator).__init__).parameters
    given = [
        f"{name}={shown(getattr(estimator, name))}"
        for name in names
        if not _same(getattr(estimator, name), defaults[name].default)
    ]
    return [f"{' and '.join(given)} had no influence: {why}"] if given else []


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float) and value == default)
