"""Rounded columns, with the digits that were lost drawn at random.

Values on a grid would look like noise of a very special shape, and any column with such noise like
a cause. Each value is moved by less than half the way to the next one.
"""

from __future__ import annotations

import zlib

import numpy as np

from analyticdag._typing import FloatArray

__all__ = ["without_ties"]

# Rows per value from which a column is taken to be rounded.
_ROWS_PER_VALUE = 2
# Of a rounded column with 20,000 rows so many have fifty pairs of equal values: none is enough to
# tell that it is not rounded, and sorting all rows takes longer than all else.
_GLANCE = 1000


def without_ties(column: FloatArray) -> FloatArray:
    """Return a column in which values that occur again and again are spread evenly."""
    glance = column[:_GLANCE]
    if len(np.unique(glance)) == len(glance) == _GLANCE:
        return column
    values, place = np.unique(column, return_inverse=True)
    if len(values) < 2 or len(column) < _ROWS_PER_VALUE * len(values):
        return column
    gaps = np.diff(values)
    below, above = np.r_[gaps[0], gaps][place], np.r_[gaps, gaps[-1]][place]
    # Seeded by what is in it: a column gets the same digits wherever it stands, and others get
    # other ones.
    step = np.random.default_rng(zlib.crc32(column.tobytes())).uniform(-0.5, 0.5, len(column))
    return column + np.where(step < 0.0, step * below, step * above)
