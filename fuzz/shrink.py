"""The smallest program with the same violation: lines are left out, tables made smaller."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.case import Case, Outcome

_SIZE = re.compile(r"^n, d = (\d+), (\d+)$")
_MOST = 120  # runs; a hang or a kill gets fewer, for each takes long


def shrink(
    case: Case, found: Outcome, run: Callable[[Case], Outcome], most: int = _MOST
) -> tuple[Case, Outcome]:
    """Return a smaller case with the same violation, and its outcome."""
    left = most
    smaller = True
    while smaller:
        smaller = False
        for attempt in _attempts(case):
            if not left:
                return case, found
            left -= 1
            outcome = run(attempt)
            if outcome.is_violation and outcome.identity == found.identity:
                case, found, smaller = attempt, outcome, True
                break
    return case, found


def _attempts(case: Case) -> Iterator[Case]:
    for index in reversed(range(len(case.lines))):
        yield case.without(index)
    for index, line in enumerate(case.lines):
        for simpler in _simpler(line):
            lines = (*case.lines[:index], simpler, *case.lines[index + 1 :])
            yield replace(case, lines=lines)


def _simpler(line: str) -> Iterator[str]:
    """Yield the line with a smaller table."""
    size = _SIZE.match(line)
    if not size:
        return
    n, d = map(int, size.groups())
    for rows, columns in ((n // 2, d // 2), (n, d - 1), (n // 2, d), (n - 1, d)):
        if rows >= 0 and columns >= 0 and (rows, columns) != (n, d):
            yield f"n, d = {rows}, {columns}"
