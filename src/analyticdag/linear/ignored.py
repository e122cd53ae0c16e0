"""What is said beside a fit: which parameters had no influence, and scales that are not there."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from analyticdag._parameters import shown
from analyticdag.errors import IgnoredParameterWarning, ScaleWarning
from analyticdag.fitting.statistics import Statistics
from analyticdag.linear.options import Options


def warn_about_ignored(estimator: Any, *, path: bool, stacklevel: int) -> None:
    """Warn once, if something was set that had no influence on the graph.

    `path` says whether a path was followed. Parameters at their defaults are not mentioned.
    """
    said, traits = [], estimator.loss_traits_
    if estimator.refine and not traits.binary:
        said += _said(
            estimator,
            ("lambda1", "w_threshold"),
            "the score of the order search decides alone which edges stay; set gamma, the price of "
            "an edge, or refine=False for the path's own answer",
        )
    else:
        without = f", which loss={traits.name!r} does without: lambda1 prices its edges"
        said += _said(
            estimator,
            ("gamma", "min_effect", "effort"),
            f"it belongs to the order search{without if traits.binary else '; use refine=True'}",
        )
    if not path:
        said += _said(estimator, ("constraint",), "no path was followed; use solver='fast'")
    if said:
        warnings.warn("; ".join(said), IgnoredParameterWarning, stacklevel=stacklevel + 1)


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


def warn_about_scale(statistics: Statistics, options: Options, *, stacklevel: int) -> None:
    """Warn where the loss reads directions from scales that standardised data no longer have."""
    if statistics.looks_standardised and options.traits.reads_scales:
        warnings.warn(
            f"loss={options.traits.name!r} reads directions from the scales of the columns, but "
            "all variances are the same; use loss='likelihood-nv', or data in their own units",
            ScaleWarning,
            stacklevel=stacklevel + 1,
        )
