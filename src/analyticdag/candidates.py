"""Which edges the data make plausible: masks that keep the search small.

The first two named masks are symmetric: they say which pairs may be joined, not in which
direction. A mask of the caller's own may be directed.

| name            | keeps a pair when                                                             |
|-----------------|-------------------------------------------------------------------------------|
| `"correlation"` | its correlation exceeds 0.1 in absolute value, as in the paper's experiment    |
|                 | with data of unknown scale                                                    |
| `"markov"`      | its partial correlation given all other columns is significant (5 %, each     |
|                 | pair by itself: a lost edge costs more than a needless candidate)             |
| `"pc"`          | the PC algorithm (package pybnesian) joins it; what PC directs, in that       |
|                 | direction only                                                                |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from analyticdag._parameters import shown
from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import correlations
from analyticdag.errors import MissingDependencyError, ParameterError

__all__ = [
    "CORRELATION_THRESHOLD",
    "MARKOV_LEVEL",
    "PC_LEVEL",
    "candidate_mask",
    "correlations",
]

# Where these come from stands in the table above; the level of PC is the default of pybnesian.
CORRELATION_THRESHOLD = 0.1
MARKOV_LEVEL = 0.05
PC_LEVEL = 0.05
_MOST_CELLS = 200_000_000  # 1.6 GB, and as much again for the work on them


def candidate_mask(candidates: Any, S: FloatArray, n_samples: int) -> BoolArray:
    """Return the (d, d) mask that `candidates` stands for on data with covariance S."""
    everything = ~np.eye(len(S), dtype=bool)
    if candidates is None:
        return everything
    if isinstance(candidates, str):
        return everything & _named_mask(candidates, S, n_samples)
    return everything & _given_mask(candidates, len(S))


def _named_mask(name: str, S: FloatArray, n_samples: int) -> BoolArray:
    if name == "correlation":
        return np.abs(correlations(S)) > CORRELATION_THRESHOLD
    if name == "markov":
        return _markov_mask(correlations(S), n_samples)
    if name == "pc":
        return _pc_mask(correlations(S), n_samples)
    raise ParameterError(
        "candidates must be None, 'correlation', 'markov', 'pc' or a boolean mask, not "
        f"{shown(name)}"
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
    return z > stats.norm.isf(MARKOV_LEVEL / 2.0)


def _pc_mask(R: FloatArray, n_samples: int) -> BoolArray:
    """Keep what the CPDAG of the PC algorithm has, at its level of 5 % for each test."""
    try:
        from pyarrow import RecordBatch
        from pybnesian import PC, LinearCorrelation
    except ImportError as error:
        raise MissingDependencyError("pybnesian", "pc") from error
    rank = int(np.linalg.matrix_rank(R, hermitian=True))
    if n_samples <= rank:
        raise ParameterError(
            f"candidates='pc' needs more rows than the covariance has rank, {rank}, but there are "
            f"{n_samples}; use 'correlation'"
        )
    if n_samples * len(R) > _MOST_CELLS:
        raise ParameterError(
            f"candidates='pc' works on rows, and {n_samples} rows of {len(R)} columns are more "
            f"than {_MOST_CELLS:,} cells; use 'correlation' or 'markov'"
        )
    columns = list(np.ascontiguousarray(_rows_with_covariance(R, n_samples).T))
    rows = RecordBatch.from_arrays(columns, [str(j) for j in range(len(R))])
    found = PC().estimate(LinearCorrelation(rows), alpha=PC_LEVEL, use_sepsets=True)
    mask = np.zeros(R.shape, dtype=bool)
    for i, j in [*found.arcs(), *found.edges(), *(edge[::-1] for edge in found.edges())]:
        mask[int(i), int(j)] = True
    return mask


def _rows_with_covariance(S: FloatArray, n_samples: int) -> FloatArray:
    """Return rows whose covariance is S: the test reads nothing else, but wants rows."""
    # Cosines of different frequencies are orthogonal and have mean zero; no randomness needed.
    # There are n - 1 of them: as many directions as the covariance of n rows can have.
    directions = min(len(S), n_samples - 1)
    turns = np.outer((np.arange(n_samples) + 0.5) / n_samples, np.arange(1, directions + 1))
    basis = np.sqrt(2.0 / n_samples) * np.cos(np.pi * turns)
    values, vectors = np.linalg.eigh(S)
    root = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, len(S) - directions :]
    return np.sqrt(n_samples) * basis @ root.T


def _given_mask(candidates: Any, n_features: int) -> BoolArray:
    try:
        mask = np.asarray(candidates)
    except ValueError:  # rows of different lengths
        mask = np.empty(0)
    if mask.dtype != bool or mask.shape != (n_features, n_features):
        raise ParameterError(
            f"a candidates mask must be boolean with shape {(n_features, n_features)}, "
            f"but it has dtype {mask.dtype} and shape {mask.shape}; compare with 0 to make one"
        )
    return mask
