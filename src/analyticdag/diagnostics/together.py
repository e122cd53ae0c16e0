"""Do rows belong together? Then they are worth fewer rows than there are, and links look too sure.

Two signs: an identifier that stands in several rows, and rows in the order of a date or a row
number whose residuals repeat themselves from one row to the next.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.diagnostics.result import Check, Level, listing
from analyticdag.tables.look import Look, quoted
from analyticdag.tables.together import autocorrelation, worth

_NAME = "rows that belong together"
_SURER = "so links look surer than they are"


def check_together(look: Look, residuals: FloatArray | None, names: Sequence[Hashable]) -> Check:
    """Look for repeated identifiers, and for residuals that follow each other."""
    if look.repeated:
        column = look.repeated[0]
        advice = (
            f"{listing(look.repeated)} stands in several rows: such rows repeat each other, "
            f"{_SURER}; resample by group to see which hold (--groups {quoted(column)} "
            "--resamples 100)"
        )
        return Check(_NAME, Level.WARNING, advice, {"columns": list(look.repeated)})
    if look.ordering and residuals is not None:
        return _in_order(look.ordering[0], residuals, names)
    return Check(_NAME, Level.FINE, "nothing in the table says that rows belong together")


def _in_order(column: str, residuals: FloatArray, names: Sequence[Hashable]) -> Check:
    found, chance = autocorrelation(residuals)
    order = np.argsort(-found)
    strong = [names[k] for k in order.tolist() if found[k] > chance]
    largest = float(found.max(initial=0.0))
    numbers = {"largest": largest, "columns": strong}
    if not strong:
        advice = f"the rows stand in the order of {column}, and no residual follows the one before"
        return Check(_NAME, Level.FINE, advice, numbers)
    left = worth(len(residuals), [largest])
    advice = (
        f"the rows stand in the order of {column}, and what is left of {listing(strong)} follows "
        f"the row before: {len(residuals)} rows are worth about {left}, {_SURER}; resample by "
        f"blocks of rows to see which hold (--groups {quoted(column)} --resamples 100)"
    )
    return Check(_NAME, Level.WARNING, advice, numbers)
