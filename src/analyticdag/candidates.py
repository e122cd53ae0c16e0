"""Which edges the data make plausible: masks that keep the search small.

The named masks are symmetric: they say which pairs may be joined, not in which direction. A mask
of the caller's own may be directed.

| name            | keeps a pair when                                                             |
|-----------------|-------------------------------------------------------------------------------|
| `"correlation"` | its correlation exceeds 0.1 in absolute value, as in the paper's experiment    |
|                 | with data of unknown scale                                                    |
| `"markov"`      | its partial correlation given all other columns is significant (5 %, each     |
|                 | pair by itself: a lost edge costs more than a needless candidate)             |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import ParameterError

__all__ = ["CORRELATION_THRESHOLD", "MARKOV_LEVEL", "candidate_mask", "correlations"]

CORRELATION_THRESHOLD = 0.1
MARKOV_LEVEL = 0.05


def candidate_mask(candidates: Any, S: FloatArray, n_samples: int) -> BoolArray:
    """Return the (d, d) mask that `candidates` stands for on data with covariance S."""
    everything = ~np.eye(len(S), dtype=bool)
    if candidates is None:
        return everything
    if isinstance(candidates, str):
        return everything & _named_mask(candidates, S, n_samples)
    return everything & _given_mask(candidates, len(S))


def correlations(S: FloatArray) -> FloatArray:
    """Return the correlations of a covariance; a constant column correlates with nothing."""
    scale = np.sqrt(np.diag(S))
    with np.errstate(divide="ignore"):
        inverse = np.where(scale > 0, 1.0 / scale, 0.0)
    R: FloatArray = S * inverse[:, None] * inverse
    return R


def _named_mask(name: str, S: FloatArray, n_samples: int) -> BoolArray:
    if name == "correlation":
        return np.abs(correlations(S)) > CORRELATION_THRESHOLD
    if name == "markov":
        return _markov_mask(correlations(S), n_samples)
    if name == "pc":
        raise ParameterError(
            "candidates='pc' is not available in this version; use 'markov' or 'correlation'"
        )
    raise ParameterError(
        f"candidates must be None, 'correlation', 'markov' or a boolean mask, not {name!r}"
    )


def _markov_mask(R: FloatArray, n_samples: int) -> BoolArray:
    """Keep pairs whose partial correlation given all the others is significant (Fisher's z)."""
    d = len(R)
    freedom = n_samples - d - 1
    if freedom < 1:
        raise ParameterError(
            f"candidates='markov' needs more than d + 1 = {d + 1} rows, but there are "
            f"{n_samples}; use 'correlation'"
        )
    # The pseudo-inverse survives collinear columns, where the partial correlations are not unique.
    precision = np.linalg.pinv(R, hermitian=True)
    scale = np.sqrt(np.maximum(np.diag(precision), np.finfo(float).tiny))
    partial = np.clip(precision / np.outer(scale, scale), -1.0, 1.0)
    with np.errstate(divide="ignore"):
        z = np.abs(np.arctanh(partial)) * np.sqrt(freedom)
    mask: BoolArray = z > stats.norm.isf(MARKOV_LEVEL / 2.0)
    return mask


def _given_mask(candidates: Any, n_features: int) -> BoolArray:
    mask = np.asarray(candidates)
    if mask.dtype != bool or mask.shape != (n_features, n_features):
        raise ParameterError(
            f"a candidates mask must be boolean with shape {(n_features, n_features)}, "
            f"but it has dtype {mask.dtype} and shape {mask.shape}"
        )
    return mask
