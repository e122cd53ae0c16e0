"""Columns that others determine: copies, sums and means, and whatever else is collinear.

redundant_columns(S, varies)    which they are, given the covariance
warn_about_columns(found)       what can be survived is said
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from analyticdag._tables import constant_columns, listing, pick
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations, eigenvalues_exceed
from analyticdag.errors import DataWarning
from analyticdag.tables.identities import Identity, identities_of, tied_columns
from analyticdag.tables.kinds import FEW_ROWS

# An eigenvalue of the correlations below this is collinearity, not noise.
COLLINEAR = 1e-10
# Between copies with gaps, maximum likelihood finds correlations nearer to one than this.
_NEAR_COPY = 1e-3


@dataclass(frozen=True)
class Redundant:
    """Columns that others determine, by place: copies, identities, and what else is collinear."""

    copies: tuple[tuple[int, int], ...] = ()
    identities: tuple[Identity, ...] = ()
    collinear: tuple[int, ...] = ()

    def tied(self, n_columns: int) -> BoolArray:
        """Return the (d, d) mask of columns between which any edge is arbitrary."""
        sums = [one.columns for one in self.identities]
        return tied_columns([*self.copies, *sums, self.collinear], n_columns)


NOTHING_REDUNDANT = Redundant()


def redundant_columns(
    S: FloatArray, varies: BoolArray, *, n_samples: int, gapped: FloatArray | None = None
) -> Redundant:
    """Find columns that others determine, given the covariance S of columns.

    Where it was estimated from rows with gaps, these rows are `gapped`. No more rows than columns
    make every column a combination of others.
    """
    kept = np.flatnonzero(varies)
    R, sd = correlations(S[np.ix_(kept, kept)]), np.sqrt(np.diag(S)[kept])
    pairs = copied_pairs(R, None if gapped is None else gapped[:, kept])
    copies = tuple((int(kept[i]), int(kept[j])) for i, j in pairs)
    if not n_samples > len(kept) > 1:
        return Redundant(copies)
    own = _without(np.arange(len(kept)), [j for _, j in pairs])
    found = identities_of(R[np.ix_(own, own)], sd[own])
    left = _without(np.arange(len(own)), [one.columns[-1] for one in found])
    rest = own[left]
    left_R = R[np.ix_(rest, rest)]
    others = () if eigenvalues_exceed(left_R, COLLINEAR) else kept[rest[_null_columns(left_R)]]
    return Redundant(
        copies, tuple(one.at(kept[own]) for one in found), tuple(np.asarray(others).tolist())
    )


def _without(places: IntArray, left_out: Sequence[int]) -> IntArray:
    return np.delete(places, sorted(set(left_out)))


def warn_about_columns(
    redundant: Redundant, constant: BoolArray, names: Sequence[Hashable]
) -> None:
    """Warn of constant, duplicate and collinear columns."""
    if constant.any():
        culprits = listing(pick(names, constant))
        warnings.warn(
            f"columns {culprits} are constant; they are kept as isolated nodes, drop them if "
            "that is not wanted",
            DataWarning,
            stacklevel=3,
        )
    if redundant.copies:
        culprits = listing([(names[i], names[j]) for i, j in redundant.copies])
        warnings.warn(
            f"column pairs {culprits} are copies of each other up to scale; edges to and from "
            "them are arbitrary, keep one of each pair",
            DataWarning,
            stacklevel=3,
        )
    for one in redundant.identities:
        warnings.warn(one.advice(names, redundant.copies), DataWarning, stacklevel=3)
    if redundant.collinear:
        culprits = listing([names[k] for k in redundant.collinear])
        warnings.warn(
            f"columns {culprits} are collinear (some are exact combinations of others); edges "
            "among them are arbitrary, drop the redundant ones",
            DataWarning,
            stacklevel=3,
        )


def copied_pairs(R: FloatArray, gapped: FloatArray | None = None) -> list[tuple[int, int]]:
    """Return the pairs of columns that are copies of each other up to scale.

    Of rows with gaps R is an estimate: those that hold both columns decide.
    """
    near = 1.0 - (COLLINEAR if gapped is None else _NEAR_COPY)
    # Row by row, which takes no memory.
    later = (np.flatnonzero(np.abs(R[i, i + 1 :]) > near) + i + 1 for i in range(len(R)))
    pairs = [(i, j) for i, others in enumerate(later) for j in others.tolist()]
    return pairs if gapped is None else [one for one in pairs if _are_copies(gapped[:, one])]


def _are_copies(pair: FloatArray) -> bool:
    """Whether two columns are the same up to scale wherever both are there."""
    both = pair[~np.isnan(pair).any(axis=1)]
    if len(both) < FEW_ROWS or constant_columns(both).any():
        return False
    both = both / np.abs(both).max(axis=0)  # squares of 1e200 are no numbers
    return bool(abs(np.corrcoef(both.T)[0, 1]) > 1.0 - COLLINEAR)


def _null_columns(R: FloatArray) -> BoolArray:
    """Return which columns take part in the null space of the correlations."""
    values, vectors = np.linalg.eigh(R)
    found: BoolArray = np.abs(vectors[:, values < COLLINEAR]).max(axis=1, initial=0.0) > 1e-4
    return found
