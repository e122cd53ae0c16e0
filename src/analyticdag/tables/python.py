"""Data frames in Python: which columns need more than the gate for values, and what they become.

`recipe_of(X, kinds)` is None for a table of plain numbers. Categorical columns are taken at their
word, columns of words for yes/no, ordered or a category; the others are what `kinds` says, and
numbers where it says nothing. Unlike a command, an
estimator leaves no column out: what cannot be a variable is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw

from analyticdag._parameters import shown
from analyticdag._tables import NamedColumns, listing
from analyticdag._typing import FloatArray
from analyticdag.errors import DataError, ParameterError
from analyticdag.tables.categories import FEWEST_ROWS
from analyticdag.tables.cells import Cells
from analyticdag.tables.kinds import Found, asked_column, find_column
from analyticdag.tables.recipe import DISCRETE, Column, Kind, Recipe


def recipe_of(
    X: Any, kinds: Mapping[str, Any] | None, weights: FloatArray | None = None
) -> Recipe | None:
    """Return how the columns of X are read; None where all are plain numbers.

    Rows of X count by `weights`, and those of weight zero are not there.
    """
    if isinstance(X, NamedColumns) and not kinds:
        return X.recipe
    frame = frame_to_read(X, kinds)
    if frame is None:
        return None
    if weights is not None:
        frame, weights = frame.filter((weights > 0.0).tolist()), weights[weights > 0.0]
    return recipe_for(frame, replace(Cells.of_frame(frame), weights=weights), kinds)


def recipe_for(frame: nw.DataFrame[Any], table: Cells, kinds: Mapping[str, Any] | None) -> Recipe:
    """Return how the cells of a table are read, the first rows of which are a data frame."""
    kinds = {str(name): kind for name, kind in (kinds or {}).items()}
    table.refuse_unknown(kinds, "kinds names columns that are not there,")
    _refuse_others(frame, kinds)
    found = [_found(name, table, kinds) for name in table.names]
    words = {str(name) for name, kind in frame.schema.items() if isinstance(kind, nw.String)}
    _refuse(
        [
            one.column.name
            for one in found
            if one.column.name in words - set(kinds) and one.column.kind not in DISCRETE
        ]
    )
    left = [f"{one.column.name} ({one.column.kind})" for one in found if not one.column.taken]
    if left:
        raise DataError(
            f"X has columns that cannot be variables: {listing(left)}; drop them, or name the "
            "levels of an ordered one from low to high in kinds, as ['low', 'middle', 'high']; a "
            f"category needs a level in {FEWEST_ROWS} rows or more, here of {len(table)}"
        )
    return Recipe(tuple(one.column for one in found))


def frame_to_read(X: Any, kinds: Mapping[str, Any] | None) -> nw.DataFrame[Any] | None:
    """Return X as a data frame where its columns are more than plain numbers; None elsewhere."""
    if kinds is not None and not isinstance(kinds, Mapping):
        raise ParameterError(
            f"kinds must map names of columns to what they are, or be None, not {shown(kinds)}"
        )
    frame = None if isinstance(X, NamedColumns) else _frame(X)
    if frame is None:
        if kinds:
            raise ParameterError("kinds names columns, and X has no names; pass a data frame")
        return None
    typed = any(
        isinstance(kind, nw.Categorical | nw.Enum | nw.String) for kind in frame.schema.values()
    )
    return frame if kinds or typed else None


def _frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return X as a data frame; None where it is none, which the gate judges."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas allows a name twice
        names = list(map(str, X.columns))
        if len(set(names)) < len(names):
            return None
    try:
        frame = nw.from_native(X, pass_through=True)
        # Names given twice are noticed here or only when the columns are asked for.
        return frame if isinstance(frame, nw.DataFrame) and frame.columns else None
    except nw.exceptions.DuplicateError:
        return None


def _refuse_others(frame: nw.DataFrame[Any], kinds: Mapping[str, Any]) -> None:
    """Refuse types that are neither numbers nor words, such as dates, unless `kinds` has them."""
    others = [
        name
        for name, kind in frame.schema.items()
        if str(name) not in kinds
        and not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown))
        and not isinstance(kind, nw.Categorical | nw.Enum | nw.String)
    ]
    _refuse(others)


def _refuse(names: list[str]) -> None:
    if names:
        raise DataError(
            f"X has columns that are not numbers: {listing(names)}; drop them or say in kinds what "
            "they are, as 'number' (other texts are then gaps) or levels from low to high"
        )


def _found(name: str, table: Cells, kinds: Mapping[str, Any]) -> Found:
    cells = table.column(name)
    if name in kinds:
        return asked_column(name, cells, kinds[name], table)
    if name in table.levels or any(isinstance(cell, str) for cell in cells):
        return find_column(name, cells, table)
    return Found(Column(name, Kind.NUMBER), "")
