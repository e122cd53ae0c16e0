"""Does a node need each of its parents? Additive regression on splines, one F-test per parent.

x_t is regressed on smooth functions of its parents, Σ_i g_i(x_i), each g_i a cubic spline. The test
for parent i compares the regression with and without g_i. This is the pruning step of CAM and of
GraN-DAG on least squares; what it returns also says how strong each edge is.

Where parents say the same (copies, columns that add up to one), none of them is needed beside the
others. The weakest is then set aside, with a p-value of one, and the rest are tested again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, stats

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.nonlinear.surfaces import CUT, DEGREE, spline_basis

_KNOTS = 8  # ten functions of each parent, as CAM has
_ROWS_PER_FUNCTION = 3


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
        return self.p_value < level


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
    blocks = [spline_basis(X[:, i], knots) for i in parents]
    design = np.column_stack(blocks)
    owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    y = target - target.mean()
    gram = design.T @ design
    inverse, rank = linalg.pinvh(gram, rtol=CUT, return_rank=True)
    slopes = inverse @ (design.T @ y)
    left = max(float(y @ y - slopes @ (design.T @ y)), _floor(y))
    freedom = n - 1 - rank
    if freedom < 1:
        return np.ones(len(blocks)), np.zeros(len(blocks))
    if rank < len(gram):
        return _without_repetition(blocks, y)
    results = [_one_test(inverse, slopes, owner == k, left, freedom) for k in range(len(blocks))]
    return np.array([p for p, _ in results]), np.array([share for _, share in results])


def _without_repetition(blocks: list[FloatArray], y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Test parents of which some may repeat others: drop the weakest that does, and retest."""
    p_value, partial_r2 = np.ones(len(blocks)), np.zeros(len(blocks))
    members = list(range(len(blocks)))
    while members:
        left, rank = _residual_sum([blocks[k] for k in members], y)
        others = [_residual_sum([blocks[m] for m in members if m != k], y) for k in members]
        added = np.array([rank - less for _, less in others])
        gains = np.array([max(more - left, 0.0) for more, _ in others])
        repeats = np.flatnonzero(added <= 0)
        if len(repeats) == 0:
            freedom = max(len(y) - 1 - rank, 1)
            p_value[members] = stats.f.sf(gains / added / (left / freedom), added, freedom)
            partial_r2[members] = gains / (gains + left)
            break
        total = _residual_sum([], y)[0]
        alone = [_residual_sum([blocks[members[k]]], y)[0] / total for k in repeats]
        # Of parents with equal sums, but for rounding, the last one is dropped.
        worst = max(range(len(repeats)), key=lambda k: (round(alone[k], 9), k))
        del members[repeats[worst]]
    return p_value, partial_r2


def _residual_sum(blocks: list[FloatArray], y: FloatArray) -> tuple[float, int]:
    """Return the sum of squares that least squares leaves, and the rank of the design."""
    design = np.column_stack([np.empty((len(y), 0)), *blocks])
    if design.shape[1] == 0:
        return max(float(y @ y), _floor(y)), 0
    # The same cut as on eigenvalues of the Gram matrix, which are squares of these.
    slopes, _, rank, _ = linalg.lstsq(design, y, cond=np.sqrt(CUT))
    residual = y - design @ slopes
    return max(float(residual @ residual), _floor(y)), int(rank)


def _floor(y: FloatArray) -> float:
    """Return the least a sum of squared residuals can be told from zero."""
    precision = np.finfo(float)
    return max(float(y @ y) * float(precision.eps), float(precision.tiny))


def _one_test(
    inverse: FloatArray, slopes: FloatArray, mine: BoolArray, left: float, freedom: int
) -> tuple[float, float]:
    """Return p-value and partial R² of one block: what would be lost without it."""
    within, rank = linalg.pinvh(inverse[np.ix_(mine, mine)], rtol=CUT, return_rank=True)
    gain = float(slopes[mine] @ within @ slopes[mine])
    if rank == 0:
        return 1.0, 0.0
    return float(stats.f.sf(gain / rank / (left / freedom), rank, freedom)), gain / (gain + left)


def _knots(n_rows: int, n_parents: int) -> int:
    """Return how many knots each parent gets: fewer where rows are few."""
    functions = n_rows // (_ROWS_PER_FUNCTION * n_parents)
    return int(np.clip(functions - DEGREE + 1, 2, _KNOTS))
