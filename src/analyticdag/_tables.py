"""The gate for values: whatever the caller has becomes float64 columns with names, or a refusal.

    read_columns(X)        arrays, data frames of any library, lists of rows
    refuse_nonfinite, refuse_out_of_range, check_square        what most callers ask of them next

Every refusal is one line that names the column, the cell and the cure. `_validation` adds what an
estimator asks of its table.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from array_api_compat import is_cupy_array, is_torch_array
from scipy import sparse

from analyticdag._parameters import is_missing, shown
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import DataError, DataKindError

# Values between these have squares that are numbers, and so have sums of 1e8 of them.
SMALLEST, LARGEST = 1e-150, 1e150
_SHOWN = 10
# Names that a message offers for one that is none.
_MEANT = 3
# A column whose spread is below this fraction of its size differs by rounding only.
CONSTANT = 1e-13
# The square of a smaller spread is zero.
INVISIBLE = 1e-154


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """A table that has been read already: numbers, one name for each column, and by what recipe."""

    values: FloatArray
    names: Sequence[Hashable]
    recipe: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """How many rows and columns there are."""
        return self.values.shape

    def take(self, rows: IntArray) -> NamedColumns:
        """Return some of the rows, under the same names."""
        return NamedColumns(self.values[rows], self.names, self.recipe)


def read_columns(X: Any, what: str = "X") -> tuple[FloatArray, list[Hashable] | None]:
    """Return a table's values, one row each, and its column names; None where it has none.

    Missing values come back as NaN, masked cells too. X itself is never changed.
    """
    if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2:
        return X, None
    if isinstance(X, NamedColumns):
        return X.values, list(X.names)
    _refuse_kind(X, what)
    X = _as_frame(to_host(X))
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        _names(X.columns, what)  # pandas allows a name twice; narwhals refuses in its own words
    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
        columns = frame.columns if isinstance(frame, nw.DataFrame) else []
    except nw.exceptions.DuplicateError as error:
        raise DataError(
            f"{what} has more than one column of the same name; rename or drop them"
        ) from error
    if isinstance(frame, nw.LazyFrame):
        raise DataKindError(f"{what} is lazy and holds no values yet; pass {what}.collect()")
    if isinstance(frame, nw.DataFrame):
        names = _names(columns, what)
        return _frame_values(frame, names, what), names
    return _array_values(X, what), None


def _as_frame(X: Any) -> Any:
    """Return a record batch of Arrow as a table, which narwhals knows; anything else as it is."""
    is_batch = type(X).__name__ == "RecordBatch" and hasattr(X, "schema")
    return nw.from_arrow(X, backend="pyarrow").to_native() if is_batch else X


def to_host(array: Any) -> Any:
    """Return a Torch or CuPy array as NumPy; anything else as it is."""
    if is_torch_array(array):
        try:
            return array.detach().cpu().resolve_conj().resolve_neg().numpy()
        except (TypeError, RuntimeError) as error:  # sparse, quantised, of a kind NumPy has not
            raise DataKindError(
                f"a tensor of layout {array.layout} and type {array.dtype} is no table; pass "
                "X.to_dense().double()"
            ) from error
    return array.get() if is_cupy_array(array) else array


def check_square(array: Any, what: str) -> None:
    """Refuse what is no square matrix, whatever library it is of."""
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise DataError(
            f"{what} must be a square matrix, one row and one column per node; got shape "
            f"{tuple(array.shape)}"
        )


def _refuse_kind(X: Any, what: str) -> None:
    """Say what to do with things that hold values, but are no table."""
    if isinstance(X, str | bytes | os.PathLike):
        raise DataKindError(
            f"{what} is a path or a text, {shown(X)}, not a table; read the file first, for "
            "example with pandas.read_csv"
        )
    if sparse.issparse(X):
        raise DataKindError(f"{what} is sparse, and covariances are not; pass {what}.toarray()")
    if isinstance(X, Mapping):
        raise DataKindError(f"{what} is a dict; make a table of it, as pandas.DataFrame({what})")
    if isinstance(X, Iterator):
        raise DataKindError(f"{what} gives its rows only once; pass list({what})")
    if X is None or isinstance(X, Set | bool | int | float | complex):
        raise DataKindError(f"{what} must be a table of numbers, not {shown(X)}")


def _names(columns: Any, what: str) -> list[Hashable]:
    """Return the column names, each once."""
    names = [as_name(column) for column in columns]
    seen: dict[str, int] = {}
    for name in names:
        seen[str(name)] = seen.get(str(name), 0) + 1
    twice = sorted(name for name, count in seen.items() if count > 1)
    if twice:
        raise DataError(
            f"{what} has more than one column named {listing(twice)}; rename or drop them"
        )
    return names


def as_name(column: Any) -> Hashable:
    """Return what a column is called: a whole number stays one, everything else is text."""
    is_whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    return int(column) if is_whole else str(column)


def finder(names: Sequence[Hashable]) -> Callable[[Any], int | None]:
    """Return a function from a column to its place; None where there is no such column.

    Columns are named as in the user's own table. Where no name is a number, a number is a place.
    """
    place_of = {as_name(name): k for k, name in enumerate(names)}
    numbered = any(isinstance(name, int) for name in place_of)

    def find(column: Any) -> int | None:
        name = as_name(column)
        if name not in place_of and isinstance(column, float) and column.is_integer():
            name = int(column)  # whole numbers beside NaN
        if (
            name not in place_of and str(name) in place_of
        ):  # a table with words has made its names texts
            name = str(name)
        if name not in place_of and isinstance(name, int) and not numbered:
            return name if 0 <= name < len(names) else None
        return place_of.get(name)

    return find


def _frame_values(frame: Any, names: list[Hashable], what: str) -> FloatArray:
    """Return the values of a data frame of any library."""
    kinds = list(frame.schema.values())
    wrong = [
        name
        for name, kind in zip(names, kinds, strict=True)
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown))
    ]
    if wrong:
        raise DataError(
            f"{what} has columns that are not numbers: {listing(wrong)}; drop them or encode them "
            "(for example one column of 0/1 per category)"
        )
    if names and all(kind == nw.Float64 for kind in kinds):
        return np.asarray(frame.to_numpy(), dtype=np.float64)  # all at once, null as NaN
    values = np.empty(frame.shape)
    for k, name in enumerate(names):
        column = frame[:, k]
        if kinds[k].is_numeric() and not column.is_null().any():
            values[:, k] = column.to_numpy()
        else:
            values[:, k] = _cells(column.to_list(), name, what)
    return values


def _array_values(X: Any, what: str) -> FloatArray:
    """Return the values of an array, or of rows in lists."""
    try:
        array = _masked_as_nan(X) if _has_mask(X) else np.asarray(X)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise DataError(
            f"{what} must be a table of numbers, every row as long as the others{_odd_row(X)}"
        ) from error
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {what} is complex; pass {what}.real")
    if array.dtype.kind in "mMV":
        raise DataError(
            f"{what} holds {array.dtype}, not numbers; convert it to numbers, or to a data frame"
        )
    if array.ndim != 2:
        cure = f"; Reshape your data, for one column with {what}.reshape(-1, 1)"
        raise DataError(
            f"{what} must have rows and columns, but its shape is {array.shape}"
            + (cure if what.isidentifier() else "")
        )
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double may be too large: it becomes infinite
            return array.astype(np.float64, copy=False)
    values = np.empty(array.shape)
    for k in range(array.shape[1]):
        values[:, k] = _cells(array[:, k].tolist(), k, what)
    return values


def _odd_row(X: Any) -> str:
    """Return words on the first row that is not as long as the one at the top."""
    lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X] if np.iterable(X) else []
    odd = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
    return "" if odd is None else f"; row {odd} has {lengths[odd]} values, row 0 has {lengths[0]}"


def _has_mask(X: Any) -> bool:
    in_rows = isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X)
    return in_rows or isinstance(X, np.ma.MaskedArray)


def _masked_as_nan(X: Any) -> Any:
    array: Any = np.ma.array(X)
    if not np.ma.is_masked(array):
        return np.asarray(array)
    if array.dtype.kind not in "biuf":
        cells = np.array(np.ma.getdata(array), dtype=object)
        cells[np.ma.getmaskarray(array)] = None
        return cells
    return array.astype(np.float64).filled(np.nan)


def _cells(cells: Sequence[Any], name: Hashable, what: str) -> list[float]:
    """Return the cells of one column as numbers, NaN where one is missing."""
    values = []
    for row, cell in enumerate(cells):
        try:
            values.append(np.nan if is_missing(cell) else float(cell))
        except OverflowError as error:
            raise DataError(
                f"{what} has an integer of {cell.bit_length()} bits in column {name!r}, row {row}: "
                "too large for a number; rescale the column"
            ) from error
        except ValueError as error:
            raise DataError(
                f"{what} has {shown(cell)} in column {name!r}, row {row}, which is text, not a "
                "number; drop the column or encode it"
            ) from error
        except TypeError as error:
            raise DataKindError(
                f"{what} has {shown(cell)} in column {name!r}, row {row}, but the argument must be "
                "numbers, or strings that each read as a number; drop the column or encode it"
            ) from error
    return values


def refuse_nonfinite(
    values: FloatArray,
    names: Sequence[Hashable],
    what: str = "X",
    *,
    cure: str = "impute or drop them",
) -> None:
    """Name the columns with missing or infinite values, and the first of them."""
    if np.isfinite(values).all():
        return
    for kind, bad, advice in (
        ("NaN", np.isnan(values), cure),
        ("infinity (inf)", np.isinf(values), "replace or drop the rows that hold them"),
    ):
        if bad.any():
            culprits = listing(pick(names, np.asarray(bad.any(axis=0))))
            row = int(bad.any(axis=1).argmax())
            raise DataError(f"{what} has {kind} in columns {culprits}; {advice} (first: row {row})")


def refuse_out_of_range(
    values: FloatArray,
    names: Sequence[Hashable],
    what: str = "X",
    rows: Sequence[int] | None = None,
    *,
    largest: FloatArray | None = None,
) -> None:
    """Name a column whose squares would overflow, or vanish.

    `rows` are numbers for messages, `largest` are the largest sizes where they are known.
    """
    largest = largest_sizes(values) if largest is None else largest
    for bad, size in (
        (largest > LARGEST, f"larger than {LARGEST:g}"),
        ((largest > 0) & (largest < SMALLEST), f"all smaller than {SMALLEST:g}"),
    ):
        if bad.any():
            k = int(bad.argmax())
            row = int(np.abs(values[:, k]).argmax())
            shown = row if rows is None else rows[row]
            raise DataError(
                f"{what} has values {size} in column {names[k]!r} ({values[row, k]:.6g} in row "
                f"{shown}), and their squares are no numbers; rescale the column"
            )


def largest_sizes(values: FloatArray) -> FloatArray:
    """Return the largest size in each column; NaN or infinite where some value is."""
    return np.maximum(values.max(axis=0), -values.min(axis=0))  # no copy of the table


def constant_columns(values: FloatArray) -> BoolArray:
    """Return which columns of a table hold one value only, up to rounding; gaps hold none."""
    return one_value(np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0))


def one_value(lowest: FloatArray, highest: FloatArray) -> BoolArray:
    """Return which columns with these least and largest values hold one value only."""
    size = np.maximum(np.abs(highest), np.abs(lowest))
    return highest - lowest <= np.maximum(CONSTANT * size, INVISIBLE)


def pick(names: Sequence[Hashable], chosen: BoolArray) -> list[Hashable]:
    """Return the names that were chosen."""
    return [name for name, keep in zip(names, chosen, strict=True) if keep]


def meant(name: object, names: Sequence[Hashable]) -> str:
    """Say which columns may be meant by a name that is none; which there are, if none is near."""
    known = {str(one): str(one).casefold() for one in names}
    close = _nearest(str(name).strip().casefold(), known)
    if close:
        return f"did you mean {' or '.join(map(shown, close))}?"
    return f"the columns are {first_few(list(map(shown, names)), _SHOWN)}"


def _nearest(asked: str, known: Mapping[str, str]) -> list[str]:
    """Return the names that differ by capitals only, else those that begin so, else alike ones."""
    same = [name for name, folded in known.items() if folded == asked]
    begun = [name for name, folded in known.items() if asked and folded.startswith(asked)]
    alike = difflib.get_close_matches(asked, known.values(), n=_MEANT)
    close = same or begun or [name for name, folded in known.items() if folded in alike]
    return close[:_MEANT]


def listing(items: Sequence[Any]) -> str:
    """Return the first of the items as a message lists them."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return f"{list(items)[:_SHOWN]}{more}"


def first_few(texts: Sequence[str], most: int) -> str:
    """Return the first of some texts as a sentence lists them: a, b and 3 more."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def one_line(text: str) -> str:
    """Return a text with line breaks and orders to a terminal spelled out: names may hold them."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
