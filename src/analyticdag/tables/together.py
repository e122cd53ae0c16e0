"""Rows that belong together: a patient's visits, a series in time.

Such rows repeat each other. The graph may still be right, but whatever counts rows counts too many:
edges look surer than they are, and a bootstrap of single rows does not see it.

    group_members(groups, n)       the rows of each group
    order_blocks(n)                consecutive blocks of rows, for a series in time
    autocorrelation(residuals)     how much a row tells about the next one
    block_length(n, correlation)   how long blocks of such rows should be
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from analyticdag._typing import FloatArray
from analyticdag.errors import DataError

# A correlation that chance exceeds anywhere with this probability is none of chance.
LEVEL = 0.01


def group_members(groups: Any, n_rows: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of each group, groups in the order of their first row.

    Where every row has a label of its own, as in a series of dates, blocks of consecutive rows
    stand for groups.
    """
    labels = list(groups)
    if len(labels) != n_rows:
        raise DataError(
            f"groups must have a label for each of the {n_rows} rows, not {len(labels)}"
        )
    members: dict[Any, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(label, []).append(row)
    if len(members) < 2:
        raise DataError("groups puts all rows into one group; at least 2 groups are needed")
    if len(members) == n_rows:
        return order_blocks(n_rows)
    return tuple(map(tuple, members.values()))


def order_blocks(n_rows: int) -> tuple[tuple[int, ...], ...]:
    """Return blocks of consecutive rows, each 2·∛n long: longer than most memories, and many."""
    length = max(int(np.ceil(2.0 * np.cbrt(n_rows))), 1)
    rows = range(n_rows)
    return tuple(tuple(rows[first : first + length]) for first in range(0, n_rows, length))


def block_length(n_rows: int, correlation: float) -> int:
    """Return how many rows a block should have where each follows the one before like this.

    Ten times as many as count for one, so that few neighbours are torn apart, but ten blocks at
    least.
    """
    memory = 10.0 * n_rows / worth(n_rows, [correlation])
    return max(min(int(np.ceil(max(memory, 2.0 * np.cbrt(n_rows)))), n_rows // 10), 2)


def autocorrelation(residuals: FloatArray) -> tuple[FloatArray, float]:
    """Return the correlation of each column with itself one row later, and what chance allows."""
    centred = residuals - residuals.mean(axis=0)
    square = np.maximum((centred**2).sum(axis=0), np.finfo(float).tiny)
    found: FloatArray = (centred[1:] * centred[:-1]).sum(axis=0) / square
    n, d = residuals.shape
    return found, float(stats.norm.isf(LEVEL / 2.0 / max(d, 1)) / np.sqrt(max(n, 1)))


def worth(n_rows: int, correlations: Sequence[float]) -> int:
    """Return how many independent rows rows are worth that follow each other like this."""
    rho = float(np.clip(np.max(correlations), 0.0, 0.99))
    return max(int(n_rows * (1.0 - rho) / (1.0 + rho)), 2)
