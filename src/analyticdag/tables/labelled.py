"""Files whose columns have types and labels: data frames, Stata, SPSS.

of_native(frame), stata(raw), spss(raw)     -> Cells
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import narwhals as nw

from analyticdag.errors import MissingDependencyError
from analyticdag.tables.cells import Cells


def of_native(table: Any) -> Cells:
    """Take the cells of a data frame from a file, of which rows count from 1."""
    frame = nw.from_native(table, eager_only=True)
    cells = Cells.of_frame(frame)
    return Cells(
        cells.names, cells.columns, range(1, len(cells) + 1), (), cells.levels, cells.ordered
    )


def stata(raw: bytes) -> Cells:
    """Read a Stata file."""
    try:
        import pandas
    except ImportError as error:
        raise MissingDependencyError("pandas", "data") from error
    # A label does not say that there is an order.
    return of_native(pandas.read_stata(io.BytesIO(raw), order_categoricals=False))


def spss(raw: bytes) -> Cells:
    """Read by way of a file: the reader takes nothing else."""
    try:
        import pandas
        import pyreadstat
    except ImportError as error:
        raise MissingDependencyError("pyreadstat", "spss") from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        path.write_bytes(raw)
        codes, about = pyreadstat.read_sav(path)
        frame = pandas.read_spss(path)
    for name, labels in about.variable_value_labels.items():
        if about.variable_measure.get(name) != "nominal" and len(labels) > 2:
            frame[name] = _in_order(codes[name], labels, frame[name], pandas)
    return of_native(frame)


def _in_order(codes: Any, labels: Mapping[Any, str], read: Any, pandas: Any) -> Any:
    """Return a labelled scale in the order of its codes; the codes where not each has a label.

    Of a scale often only the ends are labelled, and of an income only the codes for "missing". A
    code apart from the others, such as 9 beside 1 to 5, is hardly the upper end of a scale: then
    the column stays as it was `read`, without an order.
    """
    seen = codes.dropna()
    if not seen.isin(list(labels)).all() or len(set(labels.values())) < len(labels):
        return codes
    scale = [code for code in sorted(labels) if seen.min() <= code <= seen.max()]
    if len({after - before for before, after in pairwise(scale)}) != 1:
        return read
    return pandas.Categorical(codes.map(labels), [labels[code] for code in scale], ordered=True)
