"""Columns that repeat another one: the same cells, or the same numbers in another unit.

    copies_of(found)      place of a column -> which one it repeats, and in what sense

A number repeats another where a straight line leaves no more than rounding, gaps apart. The
column with the fewest gaps is kept, of several the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.tables.cells import short
from analyticdag.tables.kinds import FEW_ROWS, Found
from analyticdag.tables.recipe import Kind

# Kilograms and pounds to one decimal leave 0.6 % of a standard deviation in the worst row, two
# thermometers side by side several per cent.
_ROUNDING = 0.01
# Rows and correlation by which pairs are chosen that are then compared row by row: the line of a
# copy leaves so little that its correlation is far above this in any rows.
_SCREENED, _NEAR = 500, 0.999
# Columns whose correlations with all others are in memory at a time.
_BLOCK = 256


def copies_of(found: Sequence[Found]) -> dict[int, str]:
    """Return the places of columns that repeat another one, and in what sense."""
    values = {
        k: one.values
        for k, one in enumerate(found)
        if one.values is not None and _is_compared(one) and len(one.values) >= FEW_ROWS
    }
    words: dict[int, str] = {}
    first: dict[bytes, int] = {}
    order = sorted(values, key=lambda k: int(np.isnan(values[k]).sum()))
    for k in order:
        same = first.setdefault(values[k].tobytes(), k)
        if same != k:
            words[k] = f"the same as {short(found[same].column.name)}"
    numbers = [k for k in order if k not in words and found[k].column.kind != Kind.CATEGORY]
    for i, j in _near_pairs([values[k] for k in numbers]):
        kept, other = numbers[i], numbers[j]
        how = "" if {kept, other} & set(words) else _how_alike(values[kept], values[other])
        if how:
            words[other] = f"the same as {short(found[kept].column.name)} {how}"
    return words


def _is_compared(found: Found) -> bool:
    # Texts that were not read are for the user to decide on.
    return found.column.taken and found.column.kind != Kind.CONSTANT and not found.strays


def _near_pairs(columns: Sequence[FloatArray]) -> Iterator[tuple[int, int]]:
    """Yield pairs of columns, the earlier first, that some of the rows do not tell apart."""
    if not columns:
        return
    step = max(len(columns[0]) // _SCREENED, 1)
    rows = np.column_stack([column[::step] for column in columns])
    for first in range(0, len(columns), _BLOCK):
        near = np.abs(_correlations(rows[:, first : first + _BLOCK], rows)) > _NEAR
        pairs = np.argwhere(near).tolist()
        yield from ((first + i, j) for i, j in pairs if first + i < j)


def _correlations(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the correlations of columns over the rows in which both are there."""
    (a, m), (b, w) = _units(A), _units(B)
    n, x, y = m.T @ w, a.T @ w, m.T @ b
    variances = (n * ((a * a).T @ w) - x * x) * (n * (m.T @ (b * b)) - y * y)
    found: FloatArray = (n * (a.T @ b) - x * y) / np.sqrt(np.maximum(variances, 1e-300))
    return found


def _units(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return columns of a common size, zero in gaps, and where they are there."""
    seen = ~np.isnan(values)
    filled = np.where(seen, values, 0.0)
    filled /= np.maximum(np.abs(filled).max(axis=0), 1e-300)  # squares of 1e200 are no numbers
    centred = np.where(seen, filled - filled.sum(axis=0) / np.maximum(seen.sum(axis=0), 1), 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
    return centred / np.where(spread > 0.0, spread, 1.0), seen.astype(np.float64)


def _how_alike(first: FloatArray, other: FloatArray) -> str:
    """Say in what sense a column repeats another; nothing where it does not."""
    both = ~(np.isnan(first) | np.isnan(other))
    if both.sum() < FEW_ROWS:
        return ""
    x, y = first[both], other[both]
    if np.array_equal(x, y):
        return "where both are there"
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    x, y = x - x.mean(), y - y.mean()
    # A line through one far row correlates too: what counts is the row that it fits worst.
    off = np.abs(y - x * (x @ y) / max(x @ x, 1e-300)).max()
    spread = 1.4826 * np.median(np.abs(y - np.median(y))) or y.std()
    return "in another unit" if off <= _ROUNDING * spread else ""
