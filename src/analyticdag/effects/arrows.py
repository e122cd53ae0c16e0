"""What an effect rests on: arrows that the fit is not sure of, links that are there by an identity.

    rests_on(known, x, y)    the arrow that is least sure, if any is less than nine tenths likely
    tied_by(known, x, y)     why there is no effect in numbers, and what to do about it

A path rests on all of its arrows. That there is none rests on each arrow that, turned round, would
make one. Links of an identity could as well be other ones: a path is taken over them either way.
"""

from __future__ import annotations

import shlex

import numpy as np

from analyticdag._tables import first_few, one_line
from analyticdag.effects.effect import Arrow
from analyticdag.effects.known import Known

# Identities, or columns, that one line names.
_SHOWN = 3


def rests_on(known: Known, x: int, y: int) -> Arrow | None:
    """Return the least sure arrow on which the effect of x on y rests, or that there is none."""
    if not np.isfinite(known.unsure).any():
        return None
    way = known.between(x, y)
    ends = way | (np.arange(len(way)) == x), way
    if not way.any():
        ends = known.reached(y, back=True), known.reached(x)
    shares = np.where(np.outer(*ends), known.unsure, np.nan)
    if np.isnan(shares).all():
        return None
    i, j = np.unravel_index(np.nanargmin(shares), shares.shape)
    return Arrow(known.names[i], known.names[j], float(shares[i, j]))


def tied_by(known: Known, x: int, y: int) -> str:
    """Say that links of an identity are on the way from x to y; nothing where none is."""
    if not known.tied.any():
        return ""
    way = known.across_ties.between(x, y)
    way[x] = way.any()
    columns = np.flatnonzero((known.tied & np.outer(way, way)).any(axis=0))
    if not len(columns):
        return ""
    why = _why(known, set(columns.tolist()))
    return one_line(f"paths run over links that are there only because {why}")


def _why(known: Known, columns: set[int]) -> str:
    """Return the identities in which two of these columns stand, and what to do about them."""
    found = [one for one in known.identities if len(columns & set(one.columns)) > 1][:_SHOWN]
    if not found:
        listed = first_few([str(known.names[k]) for k in sorted(columns)], _SHOWN)
        return f"columns determine each other ({listed}); leave some of them out and fit again"
    why = " and ".join(one.words(known.names) for one in found)
    drops = " ".join(f"--drop {shlex.quote(str(known.names[one.columns[-1]]))}" for one in found)
    return f"{why}; leave out what is computed ({drops}) and fit again"
