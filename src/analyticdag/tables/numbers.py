"""Numbers and dates as people write them: 45,480 · 1.234,56 · 20.0% · $9.99 · (1,200) · 1 234.

    style_of(texts)        how a column writes its numbers: the style that reads most of them
    Style.read(text)       the number, None where the text is none in that style

A per cent sign is taken off and the number stays as it is written: 20% is 20. In a column of per
cents a number without the sign is not read: 0.2 could be either.

    format_of(cells)       the one format in which every cell is a date; "" where there is none
    days(cell, format)     days since 1970-01-01, with a fraction for the time of the day

Days count from a fixed date, so that rows that come later are read as those of the fit were.
"""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analyticdag.tables.cells import text_of

_CURRENCY = r"[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD"
_SIGNED = re.compile(rf"([+-]?)\s*({_CURRENCY})?\s*([+-]?)(.*?)\s*({_CURRENCY}|%)?", re.DOTALL)
# Blanks (also those that do not break) and apostrophes between groups of three digits.
_GROUPS = re.compile(r"(?<=\d)[ \u00a0\u202f'’](?=\d{3}(?!\d))")
# Plain, or in groups of three digits that the other mark separates.
_PATTERN = r"[+-]?(?:(?:\d+D?\d*|D\d+)(?:[eE][+-]?\d+)?|\d{1,3}(?:G\d{3})+(?:D\d*)?)"
_NUMBER = {
    mark: re.compile(_PATTERN.replace("D", f"[{mark}]").replace("G", f"[{other}]"), re.ASCII)
    for mark, other in (".,", ",.")
}
ISO = "ISO"
_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y")
_WORDS = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
# The month goes first where every date could be read both ways.
FORMATS = (ISO, *(day + time for day, time in itertools.product((*_DAYS, *_WORDS), _TIMES)))
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Style:
    """A decimal mark, and the sign that the numbers carry: a currency, %, or none."""

    decimal: str = "."
    unit: str = ""

    def read(self, text: str) -> float | None:
        """Return the number that a text is in this style; None where it is none."""
        body, unit = _parts(text)
        if unit != self.unit and (unit or self.unit == "%"):
            return None
        if not _NUMBER[self.decimal].fullmatch(body):
            return None
        mark = "," if self.decimal == "." else "."
        number = float(body.replace(mark, "").replace(",", "."))
        return number if math.isfinite(number) else None

    @property
    def words(self) -> str:
        """What was done to read such numbers; nothing for plain ones."""
        found = ["decimal comma"] if self.decimal == "," else []
        if self.unit:
            found.append("per cent" if self.unit == "%" else f"{self.unit} taken off")
        return ", ".join(found)


def _parts(text: str) -> tuple[str, str]:
    """Return the digits of a number, with its sign, and its unit."""
    text = text.strip()
    bracketed = len(text) > 2 and text[0] == "(" and text[-1] == ")"
    match = _SIGNED.fullmatch(text[1:-1] if bracketed else text)
    assert match is not None
    outer, before, inner, body, after = match.groups(default="")
    sign = "-" * bracketed + outer + inner  # books bracket what is negative; two signs are none
    return sign + _GROUPS.sub("", body), before or after


def style_of(texts: Sequence[str], *, decimal_comma: bool = False) -> tuple[Style, int]:
    """Return the style that reads most of the texts, and how many; in doubt the first."""
    times = Counter(texts)
    units: Counter[str] = Counter()
    for text, n in times.items():
        units[_parts(text)[1]] += n
    unit = max((one for one in units if one), key=lambda one: units[one], default="")
    # A minority of signs is not what the column is about.
    unit = unit if unit != "%" or units[unit] >= units[""] else ""
    has_points = any("." in text and "," not in text for text in times)
    marks = ",." if decimal_comma and not has_points else ".,"
    styles = [Style(mark, unit) for mark in marks]
    counts = [
        sum(n for text, n in times.items() if style.read(text) is not None) for style in styles
    ]
    best = max(range(len(styles)), key=lambda k: counts[k])
    return styles[best], counts[best]


def format_of(cells: Sequence[Any]) -> str:
    """Return the first format in which every cell is a date; a missing cell is no reason."""
    texts = dict.fromkeys(cell for cell in cells if type(cell) is str)
    others = (cell for cell in cells if type(cell) is not str)
    present = [cell for cell in (*texts, *others) if text_of(cell)]
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
