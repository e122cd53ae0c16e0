"""Numbers that look like codes for "missing": -999, 9999, 99.

    suspects(values)         values of a column that look like codes, and how sure that is
    suspects_of(columns)     the same for a table: what is a code in one column is one in others
    warn_of_codes(values)    what an estimator says of them: it changes no cell

A code is the least or the largest value of its column, is repeated, and leaves a gap to the rest
that is wider than any gap inside it. Zero never is one: too many things are truly zero. How often
codes are found, and ordinary values taken for such: docs/figures/codes_for_missing.py.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analyticdag._typing import FloatArray, IntArray
from analyticdag.errors import DataWarning

# What questionnaires (7, 8 and 9, repeated: refused, do not know, no answer; 97 and 98 likewise),
# panels (-1 to -9), weather services (99.9, 999.9) and overflowing integers leave for "missing".
_REPEATED = [float(digit * length) for digit in "789" for length in range(1, 7)]
_CLASSIC = frozenset(
    [sign * size for size in (*_REPEATED, 97.0, 98.0, 997.0, 998.0) for sign in (1.0, -1.0)]
    + [sign * size for size in (99.9, 999.9, 9999.9, 99.99, 999.99) for sign in (1.0, -1.0)]
    + [-float(size) for size in range(1, 10)]
    + [-32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0]
)
# From here on a code is no rating, dose or number of children.
_LARGE = 77.0
# The limits are those of the simulation above. A value is repeated in so many rows, and so large a
# share of them; one that is no classic code in no larger share: that would be a group of its own.
_ROWS, _SHARE, _MOST = 5, 0.01, 0.2
# Fewer rows, or fewer different values, show no shape: prices and doses have wide gaps by design.
_FEWEST, _FEW_VALUES = 20, 20
# With so many values from zero on -1 is none of -1, 0 and 1.
_COUNTS = 10
# Robust deviations from the median, and ranges of the rest, that are far.
_FAR, _RANGES = 5.0, 3.0
# Steps of doses may double or treble: of few values a gap must be wider than so many inner ones.
_STEPS = 3.0
# Rows in which an estimator looks for codes: a hundred of them hold one in a hundred.
_LOOKED_AT = 10_000
# Codes at either end: refused, do not know, no answer.
_AT_AN_END = 3
# Neighbours that a spike is compared with, and how often it must stand there beside them.
_NEIGHBOURS, _TIMES = 5, 3


@dataclass(frozen=True)
class Suspect:
    """A value that looks like a code, in how many rows, and the least and largest of the rest."""

    value: float
    rows: int
    low: float
    high: float
    certain: bool

    @property
    def text(self) -> str:
        """The value as a user writes it."""
        return f"{self.value:.15g}"

    @property
    def words(self) -> str:
        """Where it stands."""
        rest = f"{self.low:.6g} to {self.high:.6g}"
        inside = self.low <= self.value <= self.high
        below = self.value < 0.0 <= self.low and self.low - self.value < self.high - self.low
        out = "alone below zero" if below else "far from the rest"
        where = "more often than its neighbours" if inside else out
        return f"holds {self.text} in {self.rows} row{'s' * (self.rows != 1)}, {where} ({rest})"


def suspects(values: FloatArray) -> tuple[Suspect, ...]:
    """Return the values of a column that look like codes, as many as one look explains."""
    seen = values[~np.isnan(values)]
    if len(seen) < _FEWEST or not _worth_a_look(seen):
        return ()
    levels, counts = np.unique(seen, return_counts=True)
    ends = itertools.product(range(_AT_AN_END + 1), repeat=2)
    for n_low, n_high in sorted(ends, key=sum, reverse=True)[:-1]:
        found = _at_the_ends(levels, counts, n_low, n_high)
        if found:
            return found
    return ()


def _worth_a_look(seen: FloatArray) -> bool:
    """Whether an end of the column is a classic code, or repeated: cheap, and mostly no."""
    ends = float(seen.min()), float(seen.max())
    return any(end in _CLASSIC or np.sum(seen == end) >= _least(len(seen)) for end in ends)


def _least(n_rows: int) -> float:
    return max(_ROWS, _SHARE * n_rows)


def _at_the_ends(
    levels: FloatArray, counts: IntArray, n_low: int, n_high: int
) -> tuple[Suspect, ...]:
    """Return the outermost values as suspects, if every one of them looks like a code."""
    inside = slice(n_low, len(levels) - n_high)
    rest, times = levels[inside], counts[inside]
    if len(rest) < 2:
        return ()
    places = [*range(n_low), *range(len(levels) - n_high, len(levels))]
    n_rows, alone, found = int(counts.sum()), len(places) == 1, []
    for value, rows in ((float(levels[k]), int(counts[k])) for k in places):
        repeated = rows >= _least(n_rows)
        if value in _CLASSIC:
            certain, suspected = _classic(value, rest, repeated=repeated, alone=alone)
            certain = certain and n_rows - rows >= _FEWEST  # or next to nothing would be left
        else:
            few = repeated and rows <= _MOST * n_rows
            certain, suspected = False, alone and few and _is_far(value, rest, times)
        if not (certain or suspected):
            return ()
        found.append(Suspect(value, rows, float(rest[0]), float(rest[-1]), certain))
    return tuple(found)


def _classic(value: float, rest: FloatArray, *, repeated: bool, alone: bool) -> tuple[bool, bool]:
    """Return whether a classic code certainly is one beside the rest, and whether it may be.

    -1 next to 0 is one floor below as well as no answer: that is only told of.
    """
    gap = float(max(rest[0] - value, value - rest[-1]))
    alone_below_zero = value < 0.0 <= rest[0]
    apart = _is_apart(gap, rest)
    suspected = repeated and (apart or (alone and alone_below_zero and len(rest) >= _COUNTS))
    far = gap >= _RANGES * (rest[-1] - rest[0])
    certain = far and (abs(value) >= _LARGE or (value < 0.0 and repeated))
    return bool(certain or (repeated and apart and alone_below_zero)), bool(suspected)


def _is_apart(gap: float, rest: FloatArray) -> bool:
    """Whether a gap is wider than those inside the rest, for as many values as there are."""
    widest = float(np.diff(rest).max())
    if len(rest) >= _FEW_VALUES:
        return gap > widest
    is_scale = len(rest) > 2 and widest == 1.0 and bool(np.all(rest == np.round(rest)))
    return gap >= 2.0 if is_scale else gap > _STEPS * widest


def _is_far(value: float, rest: FloatArray, times: IntArray) -> bool:
    """Whether any whole number, but zero, is far from the rest as a code is."""
    gap = float(max(rest[0] - value, value - rest[-1]))
    is_written = value != 0.0 and value == round(value)
    if not is_written or len(rest) < _FEW_VALUES or not gap > np.diff(rest).max():
        return False
    median = _median(rest, times)
    off = np.abs(rest - median)
    order = np.argsort(off)
    # 1.4826 median deviations are a standard deviation of a Gaussian.
    return bool(abs(value - median) > _FAR * 1.4826 * _median(off[order], times[order]) > 0.0)


def _median(levels: FloatArray, times: IntArray) -> float:
    return float(levels[np.searchsorted(np.cumsum(times), times.sum() / 2.0)])


def suspects_of(columns: Mapping[str, FloatArray]) -> dict[str, tuple[Suspect, ...]]:
    """Return the suspects of every column; what is certain in one is certain in others.

    It may stand inside the numbers of others, as 99 does among blood pressures: there it is a
    spike, far more frequent than its neighbours.
    """
    with np.errstate(over="ignore"):  # such sizes are refused later on
        found = {name: suspects(values) for name, values in columns.items()}
    sure = {one.value for every in found.values() for one in every if one.certain}
    for name, values in columns.items():
        own = {one.value for one in found[name]}
        known = tuple(replace(one, certain=one.value in sure) for one in found[name])
        spikes = (_spike(values, code) for code in sorted(sure - own))
        found[name] = (*known, *(one for one in spikes if one is not None))
    return {name: every for name, every in found.items() if every}


def warn_of_codes(values: FloatArray, names: Sequence[Hashable], numbers: Sequence[int]) -> None:
    """Warn of values that may be codes, in the columns at the places that hold `numbers`."""
    step = max(len(values) // _LOOKED_AT, 1)
    columns = {str(names[k]): values[:, k] for k in numbers}
    found = suspects_of({name: column[::step] for name, column in columns.items()})
    for name, every in found.items():
        counts = [int(np.sum(columns[name] == one.value)) for one in every]
        exact = [replace(one, rows=n) for one, n in zip(every, counts, strict=True)]
        warn_of_suspects({name: exact})


def warn_of_suspects(found: Mapping[str, Sequence[Suspect]]) -> None:
    """Warn of numbers that may be codes."""
    for name, every in found.items():
        for one in every:
            warnings.warn(
                f"column {name!r} {one.words}: if that is a code for a missing value, put NaN in "
                "its place and pass missing='em' (of batches 'drop')",
                DataWarning,
                stacklevel=5,
            )


def _spike(values: FloatArray, code: float) -> Suspect | None:
    """Return a code of other columns that stands inside this one, far more often than near it."""
    rows = int(np.sum(values == code))
    if rows < _least(len(values)):
        return None
    levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    place = int(np.searchsorted(levels, code))
    if not 0 < place < len(levels) - 1 or len(levels) < _FEW_VALUES:
        return None
    near = counts[max(place - _NEIGHBOURS, 0) : place + _NEIGHBOURS + 1]
    if rows < _ROWS + _TIMES * int(np.sort(near)[-2]):
        return None
    return Suspect(code, rows, float(levels[0]), float(levels[-1]), True)
