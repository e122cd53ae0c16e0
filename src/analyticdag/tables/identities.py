"""Columns that follow from others exactly: total = rent + food, score = (q1 + q2 + q3) / 3.

    identities_of(R, sd)     the sums, differences and means among columns, rounding apart; other
                             coefficients where nothing is left over
    tied_columns(…)          which columns stand in an identity together

Which of such columns has an edge is arbitrary: every set of them that determines the others is as
good as any other.
"""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve, lapack

from analyticdag._tables import one_line
from analyticdag._typing import BoolArray, FloatArray, IntArray

# What rounding leaves of the variance: a hundredth of a standard deviation, as between copies
# (`copies.py`). The mean of five answers from 1 to 5, to two decimals, leaves half as much.
_ROUNDING = 1e-4
# Of an identity rounding leaves less than this share of what other combinations leave.
_APART = 0.25
# Coefficients that are simple differ from one by less than this before they are rounded; what is
# left after rounding decides.
_NEARLY = 0.1
# Of coefficients with three digits, what may be left: the last digit of a number of six.
_EXACT, _DIGITS = 1e-8, 3
# A part that counts for less than this share of the largest is too small to be measured by.
_COUNTS = 0.05


@dataclass(frozen=True)
class Identity:
    """Of columns, by place, the last is computed: the sum of the others times their coefficients.

    With `whole` nothing is left over: all of them add up to the same in every row.
    """

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    whole: bool = False

    def at(self, places: IntArray) -> Identity:
        """Return it among all columns of a table, of which these were looked at."""
        return replace(self, columns=tuple(places[list(self.columns)].tolist()))

    def words(self, names: Sequence[Hashable]) -> str:
        """Return it as an equation."""
        shown = [one_line(str(names[k])) for k in self.columns]
        if self.whole:
            return f"{' + '.join(shown)} is the same in every row"
        sizes = {abs(one) for one in self.coefficients}
        factor = sizes.pop() if len(sizes) == 1 else 1.0
        # A plus first: change = after - before.
        terms = sorted(zip(self.coefficients, shown, strict=False), key=lambda term: term[0] < 0)
        said = "".join(
            f" {'+' if one > 0 else '-'} {_times(abs(one) / factor)}{name}" for one, name in terms
        )
        said = said.removeprefix(" + ").strip()
        n = len(self.coefficients)
        if factor != 1.0:
            said = f"({said}) / {n}" if abs(factor * n - 1.0) < 1e-9 else f"{factor:g} ({said})"
        return f"{shown[-1]} = {said}"

    def advice(self, names: Sequence[Hashable], copies: Iterable[tuple[int, int]] = ()) -> str:
        """Return the equation and what to do about it; copies of a column go with it."""
        last = self.columns[-1]
        same = {place for pair in copies if last in pair for place in pair} - {last}
        left = [names[k] for k in (last, *sorted(same))]
        options = " ".join(f"--drop {shlex.quote(one_line(str(name)))}" for name in left)
        return (
            f"{self.words(names)}: edges among these columns are arbitrary; leave one of them out "
            f"({options}; in Python X.drop(columns={left!r}))"
        )


def identities_of(R: FloatArray, sd: FloatArray) -> tuple[Identity, ...]:
    """Return the identities among columns with correlations R and standard deviations.

    Columns that are copies of others must not be among them.
    """
    found = (_identity(v, R, sd) for v in _combinations(R))
    return tuple(one for one in found if one is not None)


def tied_columns(groups: Iterable[Iterable[int]], n_columns: int) -> BoolArray:
    """Return the (d, d) mask of columns in the same group; groups with a column in common are one.

    What is in two identities makes a third, among all of their columns.
    """
    group = np.arange(n_columns)
    for columns in filter(None, map(list, groups)):
        group[np.isin(group, group[columns])] = group[columns].min()
    tied: BoolArray = group[:, None] == group
    np.fill_diagonal(tied, val=False)
    return tied


def _combinations(R: FloatArray) -> list[FloatArray]:
    """Return combinations of the standardised columns that next to nothing is left of."""
    factor, order, rank, _ = lapack.dpstrf(R, tol=_ROUNDING, lower=1)
    own, rest = order[:rank] - 1, order[rank:] - 1
    if not len(rest):
        return []
    slopes = cho_solve((factor[:rank, :rank], True), R[np.ix_(own, rest)])
    found = np.zeros((len(rest), len(R)))
    found[np.arange(len(rest)), rest] = -1.0
    found[:, own] = slopes.T
    return list(found)


def _identity(v: FloatArray, R: FloatArray, sd: FloatArray) -> Identity | None:
    """Return the identity that a combination is; None where its coefficients are not simple."""
    raw = np.abs(v / sd)
    # Of a column that hardly counts the coefficient is not known well.
    raw /= raw[np.abs(v) > _COUNTS * np.abs(v).max()].min()
    parts = np.flatnonzero(raw > 0.5)
    found = _simple(parts, raw[parts], np.sign(v[parts]).astype(int), R)
    if found is not None and _left(found, R, sd) <= _ROUNDING:
        return None if _measure_the_same(R[np.ix_(found.columns, found.columns)]) else found
    return _weighted(parts, v / sd, R, sd)


def _left(found: Identity, R: FloatArray, sd: FloatArray) -> float:
    """Return what is left over, as a share of the largest variance on either side."""
    places = list(found.columns)
    terms = np.array([*found.coefficients, 1.0 if found.whole else -1.0]) * sd[places]
    return float(terms @ R[np.ix_(places, places)] @ terms / (terms**2).max())


def _measure_the_same(R: FloatArray) -> bool:
    """Whether columns are so near to each other that any combination would leave as little."""
    least, second = np.linalg.eigvalsh(R)[:2]
    return bool(least > _APART * second)


def _weighted(
    parts: IntArray, slopes: FloatArray, R: FloatArray, sd: FloatArray
) -> Identity | None:
    """Return the column, the last that can be, which others give with short coefficients."""
    for last in parts[::-1].tolist() if len(parts) > 2 else ():
        others = parts[parts != last].tolist()
        short = tuple(float(f"{-slopes[k] / slopes[last]:.{_DIGITS}g}") for k in others)
        found = Identity((*others, last), short)
        if _left(found, R, sd) <= _EXACT:
            return found
    return None


def _times(size: float) -> str:
    return "" if size == 1.0 else f"{size:g} "


def _simple(parts: IntArray, sizes: FloatArray, signs: IntArray, R: FloatArray) -> Identity | None:
    """Return the sum, difference or mean that coefficients of such sizes and signs are."""
    if len(parts) < 3:
        return None
    if np.all(np.abs(sizes - 1.0) < _NEARLY):
        return _sum(parts, signs, R)
    k, n = int(sizes.argmax()), len(parts) - 1
    others = np.delete(np.arange(n + 1), k)
    is_mean = abs(sizes[k] / n - 1.0) < _NEARLY and np.all(signs[others] == -signs[k])
    if not is_mean or np.any(np.abs(sizes[others] - 1.0) >= _NEARLY):
        return None
    return Identity((*parts[others].tolist(), int(parts[k])), (1.0 / n,) * n)


def _sum(parts: IntArray, signs: IntArray, R: FloatArray) -> Identity:
    """Return a sum or a difference; the column that stands alone with its sign is the total."""
    alone = [k for k in range(len(parts)) if np.sum(signs == signs[k]) == 1]
    if not alone and len(set(signs.tolist())) == 1:
        return Identity(tuple(parts.tolist()), (1.0,) * (len(parts) - 1), whole=True)
    k = alone[0] if alone else len(parts) - 1
    others = np.delete(np.arange(len(parts)), k)
    first, last = parts[others[0]], parts[others[-1]]
    if len(others) == 2 and k < others[-1] and R[first, last] < 0.0:
        # after = before + change, a difference: what is computed mostly comes later in a table, and
        # parts of a whole seldom fall as the others rise.
        k, others = int(others[-1]), np.sort([others[0], k])
    own = np.where(signs[others] == signs[k], -1.0, 1.0)
    return Identity((*parts[others].tolist(), int(parts[k])), tuple(own.tolist()))
