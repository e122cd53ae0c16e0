"""Does a node need each of its parents? Additive regression on splines, one F-test per parent.

x_t is regressed on smooth functions of its parents, Σ_i g_i(x_i), each g_i a cubic spline. The test
for parent i compares the regression with and without g_i. This is the pruning step of CAM and of
GraN-DAG on least squares; what it returns also says how strong each edge is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, stats
from sklearn.preprocessing import SplineTransformer

from analyticdag._typing import BoolArray, FloatArray, IntArray

_DEGREE = 3
_KNOTS = 8  # ten functions of each parent, as CAM has
_ROWS_PER_FUNCTION = 3
_CUT = 1e-9  # eigenvalues below this share of the largest are rounding


@dataclass(frozen=True, eq=False)
class Significance:
    """For every edge, the p-value of its test and the share of variance it alone explains.

    `partial_r2[i, t]` is the part of what the other parents leave of x_t that x_i explains.
    Both are one and zero where there is no edge.
    """

    p_value: FloatArray
    partial_r2: FloatArray

    def keeps(self, level: float) -> BoolArray:
        """Return the edges whose test rejects at this level."""
        kept: BoolArray = self.p_value < level
        return kept


def significance(X: FloatArray, adjacency: BoolArray) -> Significance:
    """Test every edge of a graph on the (n, d) data."""
    p_value, partial_r2 = np.ones(adjacency.shape), np.zeros(adjacency.shape)
    for t in np.flatnonzero(adjacency.any(axis=0)):
        parents = np.flatnonzero(adjacency[:, t])
        p_value[parents, t], partial_r2[parents, t] = _tests(X, parents, X[:, t])
    return Significance(p_value, partial_r2)


def _tests(X: FloatArray, parents: IntArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Test the parents of one node against each other."""
    n = len(X)
    knots = _knots(n, len(parents))
    blocks = [_spline(X[:, i], knots) for i in parents]
    design = np.column_stack(blocks)
    owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    y = target - target.mean()
    gram = design.T @ design
    inverse, rank = linalg.pinvh(gram, rtol=_CUT, return_rank=True)
    slopes = inverse @ (design.T @ y)
    left = max(float(y @ y - slopes @ (design.T @ y)), np.finfo(float).tiny)
    freedom = n - 1 - rank
    if freedom < 1:
        return np.ones(len(blocks)), np.zeros(len(blocks))
    results = [_one_test(inverse, slopes, owner == k, left, freedom) for k in range(len(blocks))]
    return np.array([p for p, _ in results]), np.array([share for _, share in results])


def _one_test(
    inverse: FloatArray, slopes: FloatArray, mine: BoolArray, left: float, freedom: int
) -> tuple[float, float]:
    """Return p-value and partial R² of one block: what would be lost without it."""
    within, rank = linalg.pinvh(inverse[np.ix_(mine, mine)], rtol=_CUT, return_rank=True)
    gain = float(slopes[mine] @ within @ slopes[mine])
    if rank == 0:
        return 1.0, 0.0
    return float(stats.f.sf(gain / rank / (left / freedom), rank, freedom)), gain / (gain + left)


def _knots(n_rows: int, n_parents: int) -> int:
    """Return how many knots each parent gets: fewer where rows are few."""
    functions = n_rows // (_ROWS_PER_FUNCTION * n_parents)
    return int(np.clip(functions - _DEGREE + 1, 2, _KNOTS))


def _spline(column: FloatArray, knots: int) -> FloatArray:
    """Return centred spline functions of a column, of unit length; a line where rows are few."""
    centred = column - column.mean()
    # Knots at quantiles, each once: a column of few values has few knots.
    places = np.unique(np.quantile(column, np.linspace(0.0, 1.0, knots)))
    if len(places) < 3 or knots < 3:
        functions = centred[:, None]
    else:
        transformer = SplineTransformer(degree=_DEGREE, knots=places[:, None], include_bias=False)
        functions = transformer.fit_transform(column[:, None])
    functions = functions - functions.mean(axis=0)
    lengths = np.linalg.norm(functions, axis=0)
    kept = lengths > _CUT * max(lengths.max(), np.finfo(float).tiny)
    scaled: FloatArray = functions[:, kept] / lengths[kept]
    return scaled
