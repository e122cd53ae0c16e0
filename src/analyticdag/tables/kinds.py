"""What is this column? Found from its cells, its type and its name; the user's word goes first.

    find_column(name, cells, table)       the kind, and how its cells are read
    asked_column(name, cells, asked)      the same where the user named the kind

The questions come in this order: is it empty, one value only, numbers, numbers with a few other
texts, an identifier by name, dates, an ordered scale, two values, an identifier, free text; what is
left is a category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analyticdag._parameters import is_missing
from analyticdag._typing import FloatArray
from analyticdag.errors import ParameterError
from analyticdag.tables.categories import FEWEST_ROWS, group_levels
from analyticdag.tables.cells import Cells, key_of, of_each, short, text_of
from analyticdag.tables.numbers import format_of, style_of
from analyticdag.tables.recipe import OTHER, Column, Kind, plain_numbers
from analyticdag.tables.two_levels import two_levels

# Names that people and programs give to identifiers.
_ID_NAME = re.compile(
    r"unnamed: ?\d+|index|row_?(nr|no|num|number|names?)?|(.*[_\W])?(id|ids|uuid|guid)",
    re.IGNORECASE,
)
# Words that name a row by themselves, and words that do so as the last of several, in English and
# German. Counts and amounts have them first: number_of_rooms.
_ROW_NAMES = frozenset(
    (
        *("user", "customer", "client", "patient", "person", "subject", "participant", "kunde"),
        *("respondent", "employee", "member", "account", "order", "invoice", "case"),
    )
)
_NUMBER_OF = ("number", "nummer", "nr")  # Kundennummer
_LAST_WORDS = frozenset(("no", "num", "key", "id", "uuid", "guid"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
_CAMEL_ID = re.compile(r".*[a-z](ID|Id)|ID|Id")
_OWN_VALUE = "a different value in every row"
# With fewer rows numbers may count up, or columns may agree, by chance.
FEW_ROWS = 20
# Whole numbers without a hole from 0 or 1 to at most this are a rating scale.
_SCALE_TOP = 7
# A text column with more distinct values than this share of its rows is free text.
_FREE_TEXT = 0.5
# Answers that questionnaires offer, from the least to the most.
SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "mid", "high"),
    ("low", "moderate", "high"),
    ("small", "medium", "large"),
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("never", "former", "current"),
)
# What a user can say that a column is; the others are found.
_VARIABLES = ("number", "count", "log", "ordered", "yes/no", "category", "days")
ASKABLE = (*_VARIABLES, "date", "identifier", "text")


@dataclass(frozen=True, eq=False)
class Found:
    """A column, why it was taken for what it is, its numbers, and cells that were not read.

    `kept_as` is the kind that would keep a column which is left out, if one would.
    """

    column: Column
    why: str
    values: FloatArray | None = None
    strays: tuple[int, ...] = ()
    kept_as: str = ""

    @property
    def constant(self) -> bool:
        """Whether a category has one level in every row, none put together."""
        return self.why.endswith(": no links")

    @property
    def repeated(self) -> bool:
        """Whether the same identifier stands in several rows."""
        return self.column.kind == Kind.IDENTIFIER and "stand in several rows" in self.why


def find_column(name: str, cells: Sequence[Any], table: Cells) -> Found:
    """Find out what a column is."""
    if name in table.levels:
        return _typed(name, cells, table)
    plain = plain_numbers(cells)
    if plain is not None:
        return _of_numbers(Column(name, Kind.NUMBER), plain)
    texts = _texts(cells)
    style, n_read = style_of(texts, decimal_comma=table.decimal_comma)
    column = Column(name, Kind.NUMBER, decimal=style.decimal, unit=style.unit)
    if 2 * n_read < len(texts):
        return _of_texts(name, cells, table)
    values, strays = column.read(cells)
    if strays and _are_two_levels(texts):
        return _of_texts(name, cells, table)
    if strays:
        return Found(column, style.words, values, tuple(strays))
    return _of_numbers(column, values, style.words or "thousands or other marks taken out")


def _texts(cells: Sequence[Any]) -> list[str]:
    """Return the texts of the cells that are not missing."""
    return [text for text in of_each(text_of, cells) if text]


def _are_two_levels(texts: list[str]) -> bool:
    """Whether there are two texts, such as "1" and "2+", neither of them in a few rows only."""
    counts = Counter(of_each(key_of, texts))
    return len(counts) == 2 and min(counts.values()) >= FEWEST_ROWS


def _typed(name: str, cells: Sequence[Any], table: Cells) -> Found:
    """Take a column whose type has categories at its word."""
    levels = table.levels[name]
    if name in table.ordered and len(levels) > 2:
        return _coded(name, cells, Kind.ORDERED, levels, "an ordered categorical")
    if len(levels) == 2:
        pair = levels if name in table.ordered else _two(name, levels)
        return _coded(name, cells, Kind.YES_NO, pair, "")
    if not levels:
        return Found(Column(name, Kind.EMPTY), "it has no values")
    return _category(name, cells, table)


def _of_numbers(column: Column, values: FloatArray, why: str = "") -> Found:
    seen = values[~np.isnan(values)]
    if not len(seen):
        return Found(Column(column.name, Kind.EMPTY), "it has no values")
    distinct = np.unique(seen)
    whole = bool(np.all(seen == np.round(seen)))
    kind = Kind.NUMBER
    if len(distinct) == 1:
        kind = Kind.CONSTANT
    elif whole and (reason := _why_row_names(column.name, values, distinct)):
        return Found(replace(column, kind=Kind.IDENTIFIER), reason, kept_as=Kind.NUMBER)
    elif len(distinct) == 2:
        kind = Kind.YES_NO
    elif whole and names_identifier(column.name):
        why = _why_identifier(len(seen), len(distinct))
        return Found(replace(column, kind=Kind.IDENTIFIER), why, kept_as=Kind.NUMBER)
    elif whole and distinct[0] >= 0:
        is_scale = distinct[0] in (0, 1) and distinct[-1] <= _SCALE_TOP
        without_hole = distinct[-1] - distinct[0] == len(distinct) - 1
        kind = Kind.ORDERED if is_scale and without_hole and len(seen) >= FEW_ROWS else Kind.COUNT
    return Found(replace(column, kind=kind), why, values)


def _why_row_names(name: str, values: FloatArray, distinct: FloatArray) -> str:
    """Say why whole numbers name the rows; nothing where they do not."""
    reason = _counts_rows(name, values)
    if reason or len(distinct) < len(values) or len(values) < FEW_ROWS:
        return reason
    if distinct[-1] - distinct[0] == len(values) - 1:
        return f"every whole number from {distinct[0]:.0f} to {distinct[-1]:.0f} stands in one row"
    return _OWN_VALUE if _names_rows(name) else ""


def _names_rows(name: str) -> bool:
    """Whether a column is called as what names a row: `customer`, `order number`, `KundenNr`."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return bool(words) and (
        words[-1] in _LAST_WORDS
        or words[-1].endswith(_NUMBER_OF)
        or (len(words) == 1 and words[0] in _ROW_NAMES)
    )


def _counts_rows(name: str, values: FloatArray) -> str:
    """Say that a column counts the rows; nothing where it does not."""
    counts = len(values) > 2 and bool(
        np.all(values[1:] == values[:-1] + 1.0) and values[0] < np.inf
    )
    if not counts or (len(values) < FEW_ROWS and not names_identifier(name)):
        return ""
    return "it counts the rows"


def names_identifier(name: str) -> bool:
    """Whether a column is called as identifiers are."""
    return bool(_ID_NAME.fullmatch(name.strip()) or _CAMEL_ID.fullmatch(name.strip()))


def _why_identifier(n_seen: int, n_distinct: int) -> str:
    if n_distinct == n_seen:
        return _OWN_VALUE
    return f"{n_distinct} values that stand in several rows each"


def _of_texts(name: str, cells: Sequence[Any], table: Cells) -> Found:
    texts = [text for text in of_each(_word_of, cells) if text]
    spelled: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        spelled.setdefault(key_of(text), text)
    if names_identifier(name) and len(spelled) > 2:
        kept_as = Kind.CATEGORY if _category(name, cells, table).column.taken else ""
        why = _why_identifier(len(texts), len(spelled))
        return Found(Column(name, Kind.IDENTIFIER), why, kept_as=kept_as)
    if len(spelled) == 1:
        return _category(name, cells, table)
    form = format_of(cells)
    if form:
        return Found(Column(name, Kind.DATE, dates=form), "")
    scale = _scale(set(spelled))
    if len(scale) > 2:
        return _coded(name, cells, Kind.ORDERED, scale, "")
    if len(spelled) == 2:
        return _coded(name, cells, Kind.YES_NO, _two(name, list(spelled.values())), "")
    if len(spelled) == len(texts) and len(texts) >= FEW_ROWS and not any(" " in t for t in texts):
        return Found(Column(name, Kind.IDENTIFIER), "a different value in every row")
    if len(spelled) > _FREE_TEXT * len(texts):
        return Found(Column(name, Kind.TEXT), f"{len(spelled)} different texts")
    return _category(name, cells, table)


def _category(name: str, cells: Sequence[Any], table: Cells) -> Found:
    """Return a category by the rule of `categories.py`: codes, until scores are known."""
    word = _declared if name in table.levels else _word_of
    words = of_each(word, cells)
    seen = [k for k, text in enumerate(words) if text]
    texts = [words[k] for k in seen]
    n_levels = len(set(map(key_of, set(texts))))
    weights = None if table.weights is None else table.weights[seen].tolist()
    levels, merged = group_levels(texts, weights)
    column = Column(name, Kind.CATEGORY, levels, merged=merged)
    if not column.taken:
        why = f"{n_levels} levels, none of which has {FEWEST_ROWS} rows or more"
        return Found(column, why)
    why = f"{n_levels} levels" if n_levels > 1 else f"{short(texts[0])} in every row: no links"
    rare = n_levels - len(column.levels) + 1
    if column.levels[-1] == OTHER and rare > 1:
        why += f", of which the {rare} rarest are one"
    if merged:
        few = f"fewer than {FEWEST_ROWS} rows, so counted with {short(levels[0])}"
        why += f"; {', '.join(map(short, merged[:3]))}{' …' if len(merged) > 3 else ''}: {few}"
    return Found(column, why, column.read(cells)[0])


def _word_of(cell: Any) -> str:
    """Return the level that a cell of words holds, "" where it is missing.

    The word none is a level, as it is for pandas; None, as Python writes it, is a gap.
    """
    whole = isinstance(cell, float) and cell.is_integer()
    text = text_of(int(cell) if whole else cell)
    return text or ("none" if isinstance(cell, str) and cell.strip() == "none" else "")


def _declared(cell: Any) -> str:
    """Return the level of a cell in a column whose type has levels: any word may be one."""
    return "" if is_missing(cell) else str(cell).strip()


def _two(name: str, levels: Sequence[str]) -> tuple[str, ...]:
    """Return two levels, that of 0 first: of a scale its lower end, else by the alphabet."""
    scale = _scale(set(map(key_of, levels)))
    by_alphabet = sorted(levels)
    return two_levels(name, sorted(by_alphabet, key=lambda level: _place(scale, level)))


def _place(scale: tuple[str, ...], level: str) -> int:
    return scale.index(key_of(level)) if scale else 0


def _scale(keys: set[str]) -> tuple[str, ...]:
    for scale in SCALES:
        if keys <= set(scale):
            return tuple(level for level in scale if level in keys)
    return ()


def _coded(name: str, cells: Sequence[Any], kind: Kind, levels: tuple[str, ...], why: str) -> Found:
    """Return a column of levels; levels that are numbers keep their values."""
    column = Column(name, kind, levels)
    if _ascending(levels):
        column = Column(name, kind)
    else:
        codes = ", ".join(f"{level} = {k}" for k, level in enumerate(levels[:_SCALE_TOP]))
        why = f"{why}; {codes}" if why else codes
    values, strays = column.read(cells)
    return Found(column, why, values, tuple(strays))


def _ascending(levels: tuple[str, ...]) -> bool:
    """Whether the levels are numbers in their own order."""
    numbers = plain_numbers(levels)
    return numbers is not None and bool(np.all(np.diff(numbers) > 0.0))


def asked_column(name: str, cells: Sequence[Any], asked: Any, table: Cells) -> Found:
    """Read a column as the user says: a kind, or the levels of an ordered one from low to high."""
    if not isinstance(asked, str):
        return _with_levels(name, cells, tuple(map(str, asked)))
    if "," in asked:
        return _with_levels(name, cells, tuple(part.strip() for part in asked.split(",")))
    if asked not in ASKABLE:
        raise ParameterError(
            f"column {short(name)} cannot be {short(asked)}; kinds are {', '.join(ASKABLE)}, or "
            "the levels of an ordered column from low to high, with commas between them"
        )
    return _of_kind(name, cells, Kind(asked), table)


def _with_levels(name: str, cells: Sequence[Any], levels: tuple[str, ...]) -> Found:
    if len(set(map(key_of, levels))) < max(len(levels), 2):
        raise ParameterError(f"the levels of {short(name)} must be two or more that differ")
    found = _coded(name, cells, Kind.YES_NO if len(levels) == 2 else Kind.ORDERED, levels, "")
    if found.values is not None and np.isnan(found.values).all() and any(map(text_of, cells)):
        named = ", ".join(map(short, levels[:_SCALE_TOP]))
        raise ParameterError(
            f"no cell of column {short(name)} holds one of its levels {named}{_example(cells)}; "
            "name them as the cells spell them"
        )
    return found


def _of_kind(name: str, cells: Sequence[Any], kind: Kind, table: Cells) -> Found:
    if not kind.taken:
        return Found(Column(name, kind), "as asked")
    if kind is Kind.CATEGORY:
        return _category(name, cells, table)
    if kind is Kind.DAYS:
        form = format_of(cells)
        if not form:
            raise ParameterError(
                f"column {short(name)} cannot be read as days: its cells are not all dates of one "
                f"format, such as 2021-03-01{_example(cells)}"
            )
        column = Column(name, kind, dates=form)
        return Found(column, "days since 1970-01-01", column.read(cells)[0])
    found = find_column(name, cells, table)
    if kind in (Kind.ORDERED, Kind.YES_NO):
        return _levelled(found, kind, cells)
    texts = _texts(cells)
    style, n_read = style_of(texts, decimal_comma=table.decimal_comma)
    column = Column(name, kind, decimal=style.decimal, unit=style.unit)
    column.refuse_no_logarithm(cells, table.rows)
    values, strays = column.read(cells)
    if texts and not n_read:
        raise ParameterError(
            f"column {short(name)} cannot be read as {kind}: no cell is one{_example(cells)}"
        )
    return Found(column, style.words, values, tuple(strays))


def _levelled(found: Found, kind: Kind, cells: Sequence[Any]) -> Found:
    """Take what was found for yes/no or ordered, if it has an order."""
    column, name = found.column, found.column.name
    n_levels = len(column.levels) or len(np.unique(found.values)) if found.values is not None else 0
    if kind is Kind.YES_NO and n_levels != 2:
        raise ParameterError(f"column {short(name)} cannot be yes/no: it has not two values")
    if found.values is None or column.kind == Kind.CATEGORY:
        raise ParameterError(
            f"the order of column {short(name)} is not known{_example(cells)}; name its levels "
            f"from low to high: --kind {short(name + '=low,middle,high')}"
        )
    return replace(found, column=replace(column, kind=kind))


def _example(cells: Sequence[Any]) -> str:
    first = next((text for cell in cells if (text := text_of(cell))), "")
    return f" (the first is {short(first)})" if first else ""
