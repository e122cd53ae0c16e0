"""Smooth functions of one column: a basis of cubic splines with knots at quantiles."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import SplineTransformer

from analyticdag._typing import FloatArray

DEGREE = 3
CUT = 1e-9  # lengths and eigenvalues below this share of the largest are rounding


def spline_basis(column: FloatArray, knots: int) -> FloatArray:
    """Return centred spline functions of a column, of unit length; a line where rows are few."""
    centred = column - column.mean()
    # Knots at quantiles, each once: a column of few values has few knots.
    places = np.unique(np.quantile(column, np.linspace(0.0, 1.0, knots)))
    if len(places) < 3 or knots < 3:
        functions = centred[:, None]
    else:
        transformer = SplineTransformer(degree=DEGREE, knots=places[:, None], include_bias=False)
        functions = transformer.fit_transform(column[:, None])
    functions = functions - functions.mean(axis=0)
    lengths = np.linalg.norm(functions, axis=0)
    kept = lengths > CUT * max(lengths.max(), np.finfo(float).tiny)
    scaled: FloatArray = functions[:, kept] / lengths[kept]
    return scaled
