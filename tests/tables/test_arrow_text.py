"""Text by pyarrow: the same cells as the slow way, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag.errors import DataError
from analyticdag.tables import text
from analyticdag.tables.batches import read_batches
from analyticdag.tables.files import read_cells

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


def write(path: Path, header: str, *parts: list[str]) -> list[str]:
    lines = [line for part in parts for line in part]
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    return lines


def in_small_batches(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    monkeypatch.setattr("analyticdag.tables.text.text_batches.__defaults__", (400,))
    batches = read_batches(path, **options)
    parts = [batch.values for batch in batches]
    assert len(parts) > 2
    return batches, np.concatenate(parts)


@pytest.mark.parametrize("first", [["01", "02", "A7", "z"], ["01", "003", "1", "2"]])
def test_levels_that_look_like_numbers_stay_levels(
    first: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    later = [f"{code},{k}.5" for k, code in enumerate([*first[:2], "NA"] * 70)]
    lines = write(path, "code,y", [f"{first[k % 4]},{k}" for k in range(80)], later)
    batches, values = in_small_batches(path, monkeypatch, kinds={"code": "category"})
    column = batches.look.columns[0]
    assert set(column.levels) == set(first)
    codes = [line.split(",")[0] for line in lines]
    score = dict(zip(column.levels, column.scores, strict=True))
    np.testing.assert_array_equal(values[:, 0], [score.get(code, np.nan) for code in codes])


def test_a_decimal_comma_is_one_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    write(path, "a;b", ["1.234.567;0,5"] * 3, [f"1.{k};{k},5" for k in range(100, 400)])
    _, values = in_small_batches(path, monkeypatch)
    b = np.arange(100, 400)
    np.testing.assert_array_equal(values[:3], [[1234567, 0.5]] * 3)
    np.testing.assert_array_equal(values[3:], np.column_stack([1000 + b, b + 0.5]))


@pytest.mark.parametrize("late", ["1.234,5", "1.234.567"])
def test_a_later_batch_with_another_decimal_mark_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    path = tmp_path / "table.csv"
    write(path, "a;b", [f"{k % 7}.{k};{k},5" for k in range(100, 400)], [f"{late};2,5"])
    with pytest.raises(DataError, match=r"row 302, .* have a point for the decimals: write all of"):
        in_small_batches(path, monkeypatch)


def test_a_null_character_is_refused_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    lines = [f"{k * k % 17},word {k % 3}" for k in range(600)]
    lines[550] = "1,wo\0rd 1"
    write(path, "a,b", lines)
    with pytest.raises(DataError, match=r"table.csv has a null character \(row 552\)"):
        read_cells(path)
    with pytest.raises(DataError, match=r"table.csv has a null character \(row 552\)"):
        in_small_batches(path, monkeypatch)


def test_a_row_of_a_later_batch_is_named_as_it_stands_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    write(path, "a,b", [f"{k * k % 17},{k}.5" for k in range(300)], ["1,2,3"])
    with pytest.raises(DataError, match="row 302 has 3 cells"):
        in_small_batches(path, monkeypatch)
