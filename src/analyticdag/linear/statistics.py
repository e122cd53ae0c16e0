"""What a fit sees of the data: covariance, means and names, and the rows where a loss needs them.

Constant columns stay, as columns that nothing can be said about: uncorrelated, with variance one,
and no edge may touch them. Standardising happens here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import constant_columns, looks_standardised, warn_about_columns
from analyticdag.candidates import correlations
from analyticdag.losses import covariance


@dataclass(frozen=True, eq=False)
class Statistics:
    """The data of a fit. `rows` are as given (scaled if standardised), never centred."""

    S: FloatArray
    n_samples: int
    names: list[Hashable]
    mean: FloatArray
    scale: FloatArray
    constant: BoolArray
    rows: FloatArray | None = None

    @classmethod
    def from_table(cls, X: FloatArray, names: list[Hashable], *, standardize: bool) -> Statistics:
        """Reduce a checked table to its statistics."""
        constant = constant_columns(X)
        # Two columns of very different size share one S: scaling first keeps the digits of both.
        size = np.where(constant, 1.0, X.std(axis=0))
        S = covariance(X / size) * np.outer(size, size)
        return cls._build(S, len(X), names, X.mean(axis=0), constant, X, standardize)

    @classmethod
    def from_covariance(
        cls, S: FloatArray, n_samples: int, names: list[Hashable], *, standardize: bool
    ) -> Statistics:
        """Take a checked covariance for the data, which are then said to have mean zero."""
        mean = np.zeros(len(S))
        return cls._build(S, n_samples, names, mean, np.diag(S) <= 0, None, standardize)

    @classmethod
    def _build(
        cls,
        S: FloatArray,
        n_samples: int,
        names: list[Hashable],
        mean: FloatArray,
        constant: BoolArray,
        rows: FloatArray | None,
        standardize: bool,
    ) -> Statistics:
        S = np.where(constant[:, None] | constant, np.eye(len(S)), S)
        warn_about_columns(correlations(S), constant, names, n_samples=n_samples)
        scale = np.sqrt(np.diag(S)) if standardize else np.ones(len(S))
        S = S / np.outer(scale, scale)
        if rows is not None and standardize:
            rows = rows / scale
        return cls(S, n_samples, names, mean, scale, constant, rows)

    @property
    def looks_standardised(self) -> bool:
        """Whether the scales carry no information any more."""
        return looks_standardised(np.diag(self.S)[~self.constant])

    @property
    def touchable(self) -> BoolArray:
        """Return the (d, d) mask of edges between columns that vary."""
        varies = ~self.constant
        touchable: BoolArray = varies[:, None] & varies
        return touchable
