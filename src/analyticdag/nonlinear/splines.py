"""Smooth functions of one column: a basis of cubic splines with knots at quantiles."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import SplineTransformer

from analyticdag._typing import FloatArray

DEGREE = 3
CUT = 1e-9  # singular values and eigenvalues below this share of the largest are rounding


def spline_basis(column: FloatArray, knots: int) -> FloatArray:
    """Return orthonormal, centred spline functions of a column; a line for fewer than 3 knots.

    A column of few values has no more functions than tell its values apart, one that does not vary
    has none.
    """
    values = np.unique(column)
    functions = (column - column.mean())[:, None]
    if len(values) >= 3 and knots >= 3:
        transformer = SplineTransformer(
            degree=DEGREE, knots=_places(column, values, knots)[:, None], include_bias=False
        )
        functions = transformer.fit_transform(column[:, None])
        functions = functions - functions.mean(axis=0)
    orthonormal, sizes, _ = np.linalg.svd(functions, full_matrices=False)
    basis: FloatArray = orthonormal[:, sizes > CUT * max(sizes[0], np.finfo(float).tiny)]
    return basis


def _places(column: FloatArray, values: FloatArray, knots: int) -> FloatArray:
    """Return where the knots are: at quantiles, each once, or at values where these are few."""
    shares = np.linspace(0.0, 1.0, knots)
    places: FloatArray = np.unique(np.quantile(column, shares))
    if len(places) < min(knots, len(values)):
        places = np.unique(np.quantile(values, shares)) if len(values) > knots else values
    return places
