"""What the columns of a table are like, and what that means for the method.

Least squares and the equal-variance likelihood read directions from the scales of the columns;
that is legitimate where scales carry meaning, and worthless where they are units of measurement.
*Varsortability* (Reisach et al. 2021) says how far ordering the columns by variance alone would
have given the learned graph: near 1, the graph may be no more than that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from analyticdag._redundant import COLLINEAR, copied_pairs
from analyticdag._tables import constant_columns
from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import looks_standardised
from analyticdag.tables.recipe import Recipe

# Enough points for a scatter plot, few enough columns for a page; more would be the table itself.
SAMPLED_ROWS, SAMPLED_COLUMNS = 150, 60


@dataclass(frozen=True)
class ColumnAudit:
    """One column: its size and spread, whether it is constant, how many rows have each level."""

    mean: float
    sd: float
    minimum: float
    maximum: float
    constant: bool
    counts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Audit:
    """One table: rows, columns, what is wrong with them, how they are scaled.

    `sample` holds some rows for scatter plots, in standard deviations from the mean.
    """

    n_rows: int
    rows_dropped: int
    columns: tuple[ColumnAudit, ...]
    collinear: bool
    copies: tuple[tuple[int, int], ...]
    standardised: bool
    varsortability: float | None
    notes: tuple[str, ...] = ()
    sample: tuple[tuple[float, ...], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as JSON can hold it."""
        return asdict(self)


def audit_table(
    values: FloatArray,
    adjacency: BoolArray,
    *,
    rows_dropped: int = 0,
    notes: Sequence[str] = (),
    keep_rows: bool = False,
    recipe: Recipe | None = None,
) -> Audit:
    """Look at a table, NaN for gaps, and the graph that was learned from it.

    `keep_rows` keeps a sample of its rows; by the `recipe` levels are counted.
    """
    constant = constant_columns(values)
    lows, highs = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    # In units of the largest entry: squares of 1e200 are not finite.
    unit = np.maximum(np.abs(lows), np.abs(highs))
    unit = np.where(unit > 0.0, unit, 1.0)
    scaled = values / unit
    sd = np.where(constant, 0.0, np.nanstd(scaled, axis=0) * unit)
    means = np.nanmean(scaled, axis=0) * unit
    columns = (one.tolist() for one in (means, sd, lows, highs, constant))
    counts = _counts(values, recipe)
    copies, collinear = _redundancy(scaled, constant)
    return Audit(
        n_rows=len(values),
        rows_dropped=rows_dropped,
        columns=tuple(map(ColumnAudit, *columns, counts)),
        collinear=collinear,
        copies=copies,
        standardised=looks_standardised((sd[~constant] / (sd.max() or 1.0)) ** 2),
        varsortability=varsortability(adjacency, (sd / (sd.max() or 1.0)) ** 2),
        notes=tuple(notes),
        sample=_sample(scaled, means / unit, sd / unit) if keep_rows else (),
    )


def _counts(values: FloatArray, recipe: Recipe | None) -> list[tuple[int, ...]]:
    """Return how many rows have each level of a column; nothing of one without levels."""
    if recipe is None:
        return [()] * values.shape[1]
    counts = []
    for column, own in zip((c for c in recipe.columns if c.taken), values.T, strict=True):
        codes = column.scores or range(len(column.levels))
        counts.append(tuple(int(np.isclose(own, code).sum()) for code in codes))
    return counts


def _sample(values: FloatArray, means: FloatArray, sd: FloatArray) -> tuple[tuple[float, ...], ...]:
    """Return some rows without a gap, evenly from first to last, as far as a plot can show them."""
    complete = np.flatnonzero(~np.isnan(values).any(axis=1))
    if values.shape[1] > SAMPLED_COLUMNS or not len(complete):
        return ()
    count = min(SAMPLED_ROWS, len(complete))
    rows = values[complete[np.linspace(0, len(complete) - 1, count).astype(int)]]
    units = (rows - means) / np.where(sd > 0.0, sd, 1.0)
    return tuple(map(tuple, units.round(2).tolist()))


def _redundancy(
    values: FloatArray, constant: BoolArray
) -> tuple[tuple[tuple[int, int], ...], bool]:
    """Return pairs of columns that are copies up to scale, and whether others are collinear."""
    kept = np.flatnonzero(~constant)
    if len(kept) < 2:
        return (), False
    if np.isnan(values).any():  # the fit has judged the columns by their maximum likelihood
        return (), False
    R: FloatArray = np.asarray(np.corrcoef(values[:, kept].T))
    copies = tuple((int(kept[i]), int(kept[j])) for i, j in copied_pairs(R))
    collinear = len(values) > len(kept) and np.linalg.eigvalsh(R)[0] < COLLINEAR
    return copies, bool(collinear and not copies)


def varsortability(adjacency: BoolArray, variances: FloatArray) -> float | None:
    """Return the share of directed paths that lead to a larger variance; None without edges.

    Pairs are counted once for each length of a path between them, as in the paper's own code;
    a tie counts one half.
    """
    edges = sparse.csr_array(adjacency.astype(np.int8))
    paths, n_paths, n_sorted = edges, 0, 0.0
    for _ in range(len(adjacency)):
        tails, heads = paths.nonzero()
        if not len(tails):
            break
        low, high = variances[tails], variances[heads]
        tie = np.isclose(low, high, rtol=1e-9, atol=0.0)
        n_paths += len(tails)
        n_sorted += float(np.sum((low < high) & ~tie) + 0.5 * np.sum(tie))
        paths = (paths @ edges).astype(bool).astype(np.int8)
    return n_sorted / n_paths if n_paths else None
