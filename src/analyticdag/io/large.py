"""A table too large for memory: added up in one pass, with a sample of its rows to look at.

    is_large(file)         whether a file is read this way: by its size
    read_large(file)       -> `Table` with `summed` for the fit, and the sample as its values

The look at the columns is one at the first rows; the audit and the diagnostics are of the sample.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._files import is_folder, is_there
from analyticdag._tables import NamedColumns
from analyticdag._validation import check_values
from analyticdag.errors import DataError
from analyticdag.fitting.rows import Seen, Summed
from analyticdag.io.tables import Table
from analyticdag.tables.batches import has_batches, read_batches
from analyticdag.tables.cells import short
from analyticdag.tables.codes import NO_CODES, Codes

# Bytes from which a file is read in batches: as cells it would take ten times as much, or more.
LARGE = 200 * 2**20


def is_large(source: str | Path) -> bool:
    """Whether a file is too large to be read at once, and can be read in batches."""
    path = Path(source)
    if str(source) == "-" or not is_there(path) or not has_batches(path):
        return False
    return is_folder(path) or path.stat().st_size > LARGE


def read_large(
    source: str | Path,
    *,
    columns: Collection[str] | None = None,
    drop: Collection[str] = (),
    kinds: Mapping[str, Any] | None = None,
    missing: str = "error",
    na: Codes = NO_CODES,
    looked: Any = None,
) -> Table:
    """Read a large file in one pass; rows with gaps are left out if `missing` is "drop".

    `na` says which cells mean "missing".
    """
    path = Path(source)
    batches = read_batches(path, kinds=kinds, columns=columns, drop=drop, na=na, looked=looked)
    seen, n_out, kinds_read = Seen(), 0, batches.look.recipe.kinds
    for batch in batches:
        full = ~np.isnan(batch.values).any(axis=1)
        if missing != "drop":
            _refuse_gaps(batch, path.name)
        n_out += int((~full).sum())
        seen.add(check_values(batch.values[full], batch.names, None), kinds=kinds_read)
    if seen.tally is None:
        raise DataError(f"{path.name} has no rows without gaps; leave the emptiest columns out")
    names = batches.look.recipe.names
    kept = seen.sample.rows.values
    notes = (
        f"{path.name} is read in parts: its {seen.sample.n_seen} rows are added up. The columns "
        f"are judged by the first {batches.look.n_rows} rows, the diagnostics look at {len(kept)}",
        *((f"{n_out} rows with missing values left out",) if n_out else ()),
        *batches.look.cautions,
    )
    digest = "" if is_folder(path) else _digest(path)
    summed = Summed(names, seen, batches.look.recipe)
    return Table(kept, names, path.name, digest, n_out, notes, look=batches.look, summed=summed)


def _refuse_gaps(batch: NamedColumns, name: str) -> None:
    gaps = np.isnan(batch.values).any(axis=0)
    if gaps.any():
        column = str(batch.names[int(gaps.argmax())])
        raise DataError(
            f"column {short(column)} of {name} has missing values, and maximum likelihood from "
            "rows with gaps needs all rows in memory; leave such rows out (--missing drop), leave "
            "the column out (--drop), or pass some of the rows"
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
