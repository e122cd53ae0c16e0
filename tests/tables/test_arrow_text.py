"""Text by pyarrow: the same cells as the slow way, or none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analyticdag.errors import DataError
from analyticdag.tables import text
from analyticdag.tables.batches import read_batches

pytest.importorskip("pyarrow")
LINES = {
    "numbers": ["a,b", "1,2.5", "3,-4e-3", "5,.5"],
    "gaps": ["a,b", "1,2.5", "NA,3", "4,", "nan,1"],
    "other gaps": ["a,b", "1,2.5", "?,3", "4,-", "5,6"],
    "words": ["a,answer", "1,yes", "3,no", "2,yes"],
    "booleans": ["a,is_it", "1,true", "3,false", "2,true"],
    "dates": ["a,day", "1,2021-03-01", "3,2021-03-02", "2,2021-03-05"],
    "quotes": ["a,b", '"1,234",2', '"5",3', "7,4"],
    "decimal commas": ["a;b", "1,5;2", "2,5;3", "4;5"],
    "leading zeros and blanks": ["a,b", "007, 1", "012,2 ", "+3,3"],
    "a comment below": ["a,b", "1,2", "# said", "3,4"],
    "an empty line": ["a,b", "1,2", "", "3,4"],
    "a line break in quotes": ["a,note", '1,"two\nlines"', "3,one", "4,one"],
    "no header": ["1.5,2", "3,4", "5,7"],
    "an index without a name": [",a,b", "0,1,2", "1,4,3", "2,9,1"],
    "row names": ["a,b", "x,1,2", "y,4,3", "z,9,1"],
}


def cells(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows with their numbers, cells as text or as numbers."""
    rows = []
    for batch in text.text_batches(path, 30):
        for k, number in enumerate(batch.rows):
            rows.append((number, [_one(column[k]) for column in batch.columns]))
    return rows


def _one(cell: object) -> str:
    told = "" if cell is None else str(cell).strip()
    try:
        return "" if told in ("", "NA") or np.isnan(float(told)) else repr(float(told))
    except ValueError:
        return told


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES.keys())
def test_the_same_cells_as_the_slow_way(
    lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    fast = cells(path)
    monkeypatch.setattr(text, "by_arrow", lambda *_: None)
    assert fast == cells(path)


def test_plain_rows_are_read_all_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    X = np.random.default_rng(0).standard_normal((500, 3))
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    monkeypatch.setattr(text, "_batch", None)  # the slow way must not be asked
    values = np.concatenate([batch.values for batch in read_batches(path)])
    np.testing.assert_allclose(values, X, rtol=1e-15)


@pytest.mark.parametrize("bad", ["1,2,3", "0x10,2", "1,ab\ncd"])
def test_what_is_wrong_is_said_as_ever(bad: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,2\n" * 30 + f"{bad}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"row 3\d|row 32|'0x10'"):
        list(read_batches(path))
