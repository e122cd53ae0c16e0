"""Dates as people write them, and what they are in days.

    format_of(cells)       the one format in which every cell is a date; "" where there is none
    days(cell, format)     days since 1970-01-01, with a fraction for the time of the day

Days count from a fixed date, so that rows that come later are read as those of the fit were.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from typing import Any

from analyticdag.tables.cells import text_of

ISO = "ISO"
_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y")
_WORDS = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
# The month goes first where every date could be read both ways.
FORMATS = (ISO, *(day + time for day, time in itertools.product((*_DAYS, *_WORDS), _TIMES)))
_EPOCH = datetime.datetime(1970, 1, 1)


def format_of(cells: Sequence[Any]) -> str:
    """Return the first format in which every cell is a date; a missing cell is no reason."""
    present = [cell for cell in cells if text_of(cell)]
    if not present:
        return ""
    for form in FORMATS:
        if all(days(cell, form) is not None for cell in present):
            return form
    return ""


def days(cell: Any, form: str) -> float | None:
    """Return a date as days since 1970-01-01; None where it is none."""
    moment = cell if isinstance(cell, datetime.date) else _parsed(text_of(cell), form)
    if moment is None:
        return None
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - _EPOCH) / datetime.timedelta(days=1)


def _parsed(text: str, form: str) -> datetime.datetime | None:
    # Digits alone are a number; fromisoformat would take 20210301 for a date.
    if text.isdigit():
        return None
    try:
        if form == ISO:
            return datetime.datetime.fromisoformat(text)
        return datetime.datetime.strptime(text, form)
    except ValueError:
        return None
