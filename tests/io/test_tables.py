from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analyticdag.errors import DataError, MissingDependencyError, OutputError
from analyticdag.io import read_table, write_table, write_text
from analyticdag.tables.batches import read_batches


def read(text: str | bytes, **options: object) -> tuple[list[str], list[list[float]]]:
    raw = text.encode() if isinstance(text, str) else text
    table = read_table("-", stdin=io.BytesIO(raw), **options)  # type: ignore[arg-type]
    return list(table.names), table.values.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2.5\n3,4\n",
        "\ufeffa,b\r\n1,2.5\r\n3,4\r\n",
        "a\tb\n1\t2.5\n3\t4\n",
        "a;b\n1;2,5\n3;4\n",
        "a;b\n1;2.5\n3;4\n",
        "a|b\n1|2.5\n3|4\n",
        '"a","b"\n"1","2.5"\n\n"3","4"\n',
        '"","a","b"\n"1",1,2.5\n"2",3,4\n',
        ",a,b\n0,1,2.5\n1,3,4\n",
        "\ufeffa\tb\n1\t2.5\n3\t4\n".encode("utf-16-le"),
    ],
)
def test_the_same_table_in_many_spellings(text: str | bytes) -> None:
    assert read(text) == (["a", "b"], [[1.0, 2.5], [3.0, 4.0]])


def test_numbers_only_get_names_and_a_counting_header_is_one() -> None:
    assert read("5,6\n7,8\n") == (["0", "1"], [[5, 6], [7, 8]])
    assert read("0,1\n7,8\n") == (["0", "1"], [[7, 8]])
    assert read("1,2\n7,8\n") == (["1", "2"], [[7, 8]])


def test_a_name_may_hold_the_delimiter_quotes_and_line_breaks() -> None:
    assert read('"a,b","say ""hi""\nthere"\n1,2\n')[0] == ["a,b", 'say "hi"\nthere']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; pass a table"),
        ("a,b\n", "has a header and no rows"),
        ("a,b\n1,2\n\n1,x\n", r"column 'b' holds the text 'x' in row 4 \(1 of 2 cells"),
        ("a,b\n1,2\n,NA\n3,NA\n", r"'a' has 1 missing values, the first in row 3 \(and 1 more"),
        ("a,b\n1,2\n1,inf\n", "column 'b' holds infinity in row 3; replace"),
        ("a,b\n1,2\n1\n", "row 3 has 1 cells and the header 2; check the delimiter"),
        ("a,a\n1,2\n", r"more than one column is named \['a'\]; rename"),
        ("a,\n1,2\n", "column 2 has no name; give it one"),
        (",a\n7,1\n9,2\n", "column 1 has no name; give it one"),
        (
            "Dear Sir,\nhere it is,\nYours,\n",
            "not look like a table: .* column 2 has no name; pass a",
        ),
        ("Dear Sir, hello\nhere it is indeed.\nYours\n", "not look like a table: .* 2 of 2 rows"),
        ("a,b\nx,y\nx\ny,y\n", "row 3 has 1 cells and the header 2; check the delimiter"),
        ("a,b\nx,2\n" + '"' + "y" * 200_000 + '",3\n', "field larger than field limit"),
        (b"a,b\n1,2\n\xe9,3\n", r"not UTF-8 text \(row 3\); save it as"),
        (b"PAR1 and then nothing of the kind", "cannot be read as Parquet"),
    ],
)
def test_refusals_name_column_row_and_cure(text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(text)


def test_columns_and_rows_can_be_left_out() -> None:
    text = "id,a,b\nx,1,2\ny,,3\nz,5,6\n"
    assert read(text, drop=["id"], missing="drop") == (["a", "b"], [[1, 2], [5, 6]])
    table = read_table("-", stdin=io.BytesIO(text.encode()), drop=["id"], missing="drop")
    assert table.rows_dropped == 1
    assert table.notes == ("left out as asked: id", "1 rows with missing values left out")
    with pytest.raises(DataError, match=r"cannot drop \['c'\]: the columns are 'id', 'a', 'b'"):
        read(text, drop=["c"])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="is a folder, which only fit adds up"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="there is none here"):
        read_table("-")


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "data.parquet"
    polars.DataFrame({"a": [1, 2], "b": [0.5, None]}).write_parquet(path)
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    table = read_table(path, missing="drop")
    assert (table.names, table.values.tolist()) == (("a", "b"), [[1.0, 0.5]])
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingDependencyError, match=r"analyticdag\[parquet\]"):
        read_table(path)


def test_parquet_through_pyarrow(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    polars.DataFrame({"a": [True, False], "b": [0.5, 2.0]}).write_parquet(tmp_path / "x.pq")
    assert read_table(tmp_path / "x.pq").values.tolist() == [[1.0, 0.5], [0.0, 2.0]]


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(values=hnp.arrays(np.float64, (3, 2), elements=FINITE))
def test_what_is_written_is_read_back_to_the_bit(
    values: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    write_table(path, values, ["x, y", '"z"'])
    table = read_table(path)
    assert table.names == ("x, y", '"z"')
    np.testing.assert_array_equal(table.values, values)


def test_writers_replace_nothing_unless_told(tmp_path: Path) -> None:
    path, values = tmp_path / "mine.csv", np.eye(2)
    path.write_text("years of work")
    with pytest.raises(OutputError, match="is not overwritten"):
        write_table(path, values, ["a", "b"])
    with pytest.raises(OutputError, match="is not overwritten"):
        write_text(path, "other")
    assert path.read_text() == "years of work"
    write_table(path, values, ["a", "b"], overwrite=True)
    assert read_table(path).names == ("a", "b")


def test_a_column_may_name_what_was_perturbed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,done to,b\n1,,4\n2,b,5\n3,NA,6\n,a,7\n5,a,8\n")
    table = read_table(path, interventions="done to", missing="drop")
    assert table.names == ("a", "b")
    assert table.targets == (None, "b", None, "a")
    assert "interventions in 3 of 5 rows, on a, b" in table.notes
    assert read_table(path, drop=["done to"], missing="drop").targets is None
    with pytest.raises(DataError, match="there is no column 'c' that could name the perturbed"):
        read_table(path, interventions="c")
    with pytest.raises(DataError, match="'done to' names 'b' in row 3, which is no column of"):
        read_table(path, interventions="done to", drop=["b"])


def test_a_parquet_file_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    zeros = pa.table({f"x{k}": np.zeros(2_000_000) for k in range(3)})
    pq.write_table(zeros, tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 60_000
    with pytest.raises(DataError, match=r"bytes would unpack to 6000000 cells"):
        read_table(tmp_path / "bomb.parquet")
    pytest.importorskip("pyarrow.feather").write_feather(zeros, tmp_path / "b.feather", "zstd")
    with pytest.raises(DataError, match=r"bytes would unpack to 6000000 cells"):
        read_table(tmp_path / "b.feather")
    (tmp_path / "folder").mkdir()
    pq.write_table(zeros, tmp_path / "folder" / "part.parquet")
    for path in (tmp_path / "folder", tmp_path / "b.feather"):
        with pytest.raises(DataError, match=r"bytes would unpack to 6000000 cells"):
            next(iter(read_batches(path)))


def test_a_sheet_that_unpacks_to_gigabytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in range(1, 4):
        book.active.cell(row, 16_384, row)  # the cells before it are there as well
    book.save(tmp_path / "wide.xlsx")
    monkeypatch.setattr("analyticdag.tables.files._MANY_CELLS", 30_000)
    monkeypatch.setattr("analyticdag.tables.files._CELLS_PER_BYTE", 1)
    with pytest.raises(DataError, match=r"bytes would unpack to 32768 cells"):
        read_table(tmp_path / "wide.xlsx")
    monkeypatch.setattr("analyticdag.tables.files._MANY_BYTES", 5_000)
    with pytest.raises(DataError, match=r"bytes would unpack to more than"):
        read_table(tmp_path / "wide.xlsx")


@pytest.mark.parametrize("is_category", [False, True])
def test_a_long_text_that_is_repeated_is_not_unpacked(tmp_path: Path, is_category: bool) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    places = pa.array(np.zeros(100_000, np.int32))
    for length, file in ((5, "fair.parquet"), (20_000, "bomb.parquet")):
        text = pa.DictionaryArray.from_arrays(places, ["x" * length])
        table = pa.table({"a": text, "b": np.random.default_rng(0).normal(size=100_000)})
        pq.write_table(table, tmp_path / file, store_schema=is_category)
    assert read_table(tmp_path / "fair.parquet", drop=["a"]).names == ("b",)
    with pytest.raises(DataError, match="would unpack to 2000000000 bytes of text"):
        read_table(tmp_path / "bomb.parquet")
    assert read_batches(tmp_path / "fair.parquet", drop=["a"]).look.recipe.names == ("b",)
    with pytest.raises(DataError, match=r"would unpack to .* bytes of text"):
        read_batches(tmp_path / "bomb.parquet")


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_long_texts_in_a_feather_file_are_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    pa, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    monkeypatch.setattr("analyticdag.tables.files._MANY_BYTES", 100_000)
    numbers = np.random.default_rng(0).normal(size=1000)
    for length, file in ((5, "fair.feather"), (10_000, "bomb.feather")):
        texts = pa.array(["x" * length] * 1000, pa.type_for_alias(kind))
        table = pa.table({"a": texts, "b": numbers})
        feather.write_feather(table, tmp_path / file, "zstd", chunksize=200)
    assert read_table(tmp_path / "fair.feather", drop=["a"]).names == ("b",)
    with pytest.raises(DataError, match="bytes would unpack to more than"):
        read_table(tmp_path / "bomb.feather")
    with pytest.raises(DataError, match=r"would unpack to .* bytes of text"):
        read_batches(tmp_path / "bomb.feather")
