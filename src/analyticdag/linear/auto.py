"""`solver="auto"`: search first; follow the path where it can matter and is quick.

    columns     the path joins as a start
    up to 20    always: it takes a tenth of a second
    up to 50    with fewer rows than twice the columns, or where the cheap starts end at different
                scores: it takes half a second
    more        never: it would take 5 to 50 times as long as the search, which begins anew from
                random orders where the cheap starts differ

The decision rests on rows, columns and scores, never on measured time: a fit is
repeatable.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyticdag.fitting.statistics import Statistics
from analyticdag.optimize.trace import SearchRecord

# Columns up to which the path takes a tenth of a second, and half a second, standardised.
ALWAYS, AT_MOST = 20, 50
# Fewer rows than this for each column are few.
ROWS_PER_COLUMN = 2
# Scores of starts that met in one graph differ by rounding only.
_SAME = 1e-6


@dataclass(frozen=True)
class PathDecision:
    """Whether the path joins, and why, in a sentence."""

    path: bool
    why: str = ""


def before_the_search(statistics: Statistics) -> PathDecision:
    """Decide by the shape of the table."""
    n, d = statistics.n_samples, len(statistics.S)
    if d <= ALWAYS:
        return PathDecision(True, f"the path joined as a start: with {d} columns it costs little")
    if d <= AT_MOST and _few(n, d):
        return PathDecision(True, f"the path joined as a start: {n} rows are few for {d} columns")
    return PathDecision(False)


def after_the_search(statistics: Statistics, record: SearchRecord) -> PathDecision:
    """Decide by where the cheap starts ended."""
    n, d = statistics.n_samples, len(statistics.S)
    few, differ = _few(n, d), _differ(record)
    if not few and not differ:
        return PathDecision(False, "search from cheap starts, which agree; no path was needed")
    because = "the cheap starts ended at different scores"
    if few:
        because = f"{n} rows are few for {d} columns"
    if d <= AT_MOST:
        return PathDecision(True, f"search from cheap starts, then from the path: {because}")
    slow = f"with {d} columns the path would take many times as long"
    return PathDecision(False, f"search from cheap starts, no path although {because}; {slow}")


def _few(n: int, d: int) -> bool:
    return n < ROWS_PER_COLUMN * d


def _differ(record: SearchRecord) -> bool:
    """Whether the two best starts ended at different scores."""
    scores = [float(one["iterated"]) for one in record.contributions[:2]]
    return len(scores) == 2 and scores[1] - scores[0] > _SAME * abs(scores[0])
