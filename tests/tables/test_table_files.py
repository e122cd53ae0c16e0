"""Files of many formats become the same cells; what is not supported is named."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from analyticdag.errors import DataError, MissingDependencyError
from analyticdag.io import read_table
from analyticdag.tables.batches import cell_batches
from analyticdag.tables.files import read_cells, unreadable

CSV = "a,b,sex\n1.5,2,f\n3,5,m\n,7,f\n4.5,11,m\n"
VALUES = [[1.5, 2, 0], [3, 5, 1], [np.nan, 7, 0], [4.5, 11, 1]]


def check(path: Path) -> None:
    table = read_table(path, missing="em")
    assert table.names == ("a", "b", "sex")
    np.testing.assert_array_equal(table.values, VALUES)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("x.csv.bz2", bz2.compress(CSV.encode())),
        ("x.csv.xz", lzma.compress(CSV.encode())),
        ("x.txt", CSV.replace(",,", ",NA,").replace(",", " ").replace("\n ", "\nNA ").encode()),
        ("x.txt", CSV.replace("\n,", "\nNA,").replace(",", "   ").encode()),
        ("x.csv", ("# made by hand\n# in 2020\n" + CSV + "# the end\n").encode()),
        ("x.csv", b"# by hand\n# a,b,sex\n1.5,2,0\n3,5,1\n,7,0\n4.5,11,1\n"),
        ("x.tsv", CSV.replace(",", "\t").encode()),
        (
            "x.jsonl",
            b'{"a": 1.5, "b": 2, "sex": "f"}\n{"a": 3, "b": 5, "sex": "m"}\n'
            b'{"b": 7, "sex": "f"}\n{"a": 4.5, "b": 11, "sex": "m"}\n',
        ),
        (
            "x.json",
            b'[{"a": 1.5, "b": 2, "sex": "f"}, {"a": 3, "b": 5, "sex": "m"},'
            b' {"a": null, "b": 7, "sex": "f"}, {"a": 4.5, "b": 11, "sex": "m"}]',
        ),
    ],
)
def test_the_same_table_in_many_files(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    check(tmp_path / name)


def test_zip_holds_one_table(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/x.csv", CSV)
        archive.writestr("__MACOSX/._x.csv", "nothing")
    check(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("y.csv", CSV)
    with pytest.raises(DataError, match=r"holds 2 files \(data/x.csv, y.csv\); pack one table"):
        read_cells(path)


@pytest.mark.parametrize("writer", ["feather", "parquet", "excel", "stata"])
def test_files_that_pandas_writes(tmp_path: Path, writer: str) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip({"excel": "openpyxl"}.get(writer, "pyarrow"))
    frame = pandas.read_csv(io.StringIO(CSV))
    path = tmp_path / {"excel": "x.xlsx", "stata": "x.dta"}.get(writer, f"x.{writer}")
    options = {"write_index": False} if writer == "stata" else {"index": False}
    getattr(frame, f"to_{writer}")(path, **({} if writer == "feather" else options))
    check(path)


def test_spss(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(pandas.read_csv(io.StringIO(CSV)), str(tmp_path / "x.sav"))
    check(tmp_path / "x.sav")


def test_labelled_scales_of_spss_keep_the_order_of_their_codes(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pyreadstat = pytest.importorskip("pyreadstat")
    codes = np.random.default_rng(0).integers(1, 6, (200, 4)).astype(float)
    frame = pandas.DataFrame(codes, columns=["Q1", "scale", "ends", "region"])
    answers = {1: "no", 2: "rather no", 3: "mixed", 4: "rather yes", 5: "yes"}
    labels = {"Q1": answers, "scale": answers, "ends": {1: "no", 5: "yes", 9: "refused"}}
    labels["region"] = dict(zip(answers, "NSEWX", strict=True))
    path = tmp_path / "s.sav"
    measure = {"Q1": "ordinal", "scale": "scale", "ends": "scale", "region": "nominal"}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, variable_measure=measure)
    table = read_table(path)
    assert table.look is not None
    first, other, _, region = table.look.columns
    assert (first.kind, first.levels) == ("ordered", tuple(answers.values()))
    assert other.levels == first.levels
    assert table.values[:, 0].tolist() == (codes[:, 0] - 1.0).tolist()
    assert table.values[:, 2].tolist() == codes[:, 2].tolist()  # as a CSV has them
    assert region.kind == "category"


def test_a_labelled_code_apart_from_the_scale_is_no_end_of_it(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pyreadstat = pytest.importorskip("pyreadstat")
    scale = np.random.default_rng(0).integers(1, 4, (60, 2)).astype(float)
    frame = pandas.DataFrame(scale, columns=["asked", "all"])
    frame.loc[::10, "asked"] = 9.0
    answers = {1: "no", 2: "mixed", 3: "yes", 9: "no answer"}
    path = tmp_path / "s.sav"
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"asked": answers, "all": answers})
    table = read_table(path)
    assert table.look is not None
    asked, every = table.look.columns
    assert asked.kind == "category"
    assert (every.kind, every.levels) == ("ordered", ("no", "mixed", "yes"))


def test_excel_rows_are_counted_as_the_sheet_does(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([], ["a", "b"], [1, 2], [], ["oops", 3], [4, 5], [6, 7]):
        book.active.append(row)
    book.create_sheet("other")
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match=r"'oops' in row 5 \(1 of 4 cells"):
        read_table(tmp_path / "x.xlsx")
    table = read_table(tmp_path / "x.xlsx", kinds={"a": "number"}, missing="drop")
    assert table.values.tolist() == [[1, 2], [4, 5], [6, 7]]
    assert any(note.startswith("only the first sheet, 'Sheet', is read") for note in table.notes)


def test_where_the_first_sheet_holds_notes_the_others_are_named(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    about = [["About this file"], ["made by us"], ["in May"], ["see data"]]
    for k, notes in enumerate((about, [["a", "", "b"], [1, 2, 3]], [])):
        book = openpyxl.Workbook()
        for row in notes:
            book.active.append(row)
        book.create_sheet("Data 2021")
        book.save(tmp_path / f"{k}.xlsx")
        with pytest.raises(DataError, match=r"\('Data 2021'\), put that first or save it as CSV"):
            read_table(tmp_path / f"{k}.xlsx")


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [("openpyxl", "x.xlsx", "excel"), ("pyreadstat", "x.sav", "spss"), ("pandas", "x.dta", "data")],
)
def test_a_missing_reader_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, extra: str
) -> None:
    (tmp_path / name).write_bytes(b"whatever")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'analyticdag\[{extra}\]'"):
        read_cells(tmp_path / name)


def test_an_address_is_refused_in_a_sentence() -> None:
    for address in ("https://example.org/x.csv", "s3://bucket/x.parquet", "ftp://a/b.csv"):
        with pytest.raises(DataError, match="is an address on the net, and nothing is fetched"):
            read_cells(address)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("x.xls", b"\xd0\xcf\x11\xe0" + bytes(100), r"an old Excel file \(.xls\)"),
        ("x.csv", b"\xd0\xcf\x11\xe0" + bytes(100), r"an old Excel file \(.xls\)"),
        ("x.ods", b"PK\x03\x04" + bytes(100), "an OpenDocument spreadsheet"),
        ("x.sas7bdat", bytes(200), "a SAS file"),
        ("x.rds", b"\x00\x01", r"an R object \(.rds\)"),
        ("x.h5", b"\x89HDF", "an HDF5 file"),
        ("x.npy", b"\x93NUMPY", "a NumPy array"),
        ("x.pdf", b"%PDF-1.7", "a PDF document"),
        ("x.weird", b"ab\0\xff\xfe", r"a binary file \(.weird\) of a kind"),
    ],
)
def test_other_formats_are_named(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name} is {what}.*not supported; save it as CSV") as told:
        read_cells(tmp_path / name)
    assert "UTF-8" not in str(told.value)
    assert "iconv" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("x.csv.gz", b"\x1f\x8b and nothing", "cannot be read as packed"),
        ("x.zip", b"PK\x03\x04 and nothing", "is a damaged zip archive"),
        ("x.feather", b"ARROW1 and nothing", "cannot be read as Feather"),
        ("x.xlsx", b"no sheet", "cannot be read as Excel"),
        ("x.dta", b"no table", "cannot be read as Stata"),
        ("x.jsonl", b'{"a": 1}\n{"a"', "cannot be read as JSON lines"),
        ("x.jsonl", b"[1, 2]", "must hold one JSON object for each row"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=what):
        read_cells(tmp_path / name)


def test_a_folder_of_feather_files_is_read_as_such(tmp_path: Path) -> None:
    feather = pytest.importorskip("pyarrow.feather")
    table = importlib.import_module("pyarrow").table({"a": [1.5, 2.5, 4.0], "b": [2.0, 1.0, 7.0]})
    feather.write_feather(table, tmp_path / "one.feather")
    feather.write_feather(table, tmp_path / "two.arrow")
    assert sum(map(len, cell_batches(tmp_path))) == 6
    whole = (tmp_path / "one.feather").read_bytes()
    (tmp_path / "one.feather").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot be read as feather .*one\.feather") as told:
        list(cell_batches(tmp_path))
    assert re.search(r"( …|\w[.?']?)\); write it again$", str(told.value))


def test_a_long_reason_ends_between_words() -> None:
    told = str(unreadable("x", "Feather", ValueError("no\nmagic bytes " * 30)))
    assert re.fullmatch(
        r"x cannot be read as Feather \((no |magic |bytes )+…\); write it again", told
    )


def test_what_unpacks_to_more_than_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyticdag.tables.files._MANY_BYTES", 10_000)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"0,0\n" * 1_000_000))
    with pytest.raises(DataError, match="bytes would unpack to more than"):
        read_cells(tmp_path / "x.csv.gz")


def test_row_names_that_r_writes(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text('"a" "b"\n"r1" 1.5 2\n"r2" 2.5 3\n"r3" 4.5 9\n')
    cells, _, _ = read_cells(tmp_path / "x.txt")
    assert cells.names == ("row names", "a", "b")
    assert read_table(tmp_path / "x.txt").names == ("a", "b")


def test_a_whole_header_tells_the_delimiter_from_a_decimal_comma(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("umsatz;y\n1.701.397;-0,3807\n2.000.001;1,5\n")
    assert read_cells(path)[0].names == ("umsatz", "y")


def test_blanks_and_decimal_commas(tmp_path: Path) -> None:
    path, rows = tmp_path / "x.txt", "1,5 2,25 3\n4,5 NA 1,234\n"
    for header, names in (("a b c\n", ("a", "b", "c")), ("", ("0", "1", "2"))):
        path.write_text(header + "1,5 2,5 3,5\n" + rows)
        table = read_table(path, missing="em")
        assert table.names == names
        np.testing.assert_array_equal(
            table.columns.values[1:], [[1.5, 2.25, 3], [4.5, np.nan, 1.234]]
        )
    for text in ("a, b\n1, 2\n3, 4\n", "a,b\n1 2,3\n4 5,6\n", "a c,b c\n1 234,5 678\n" * 2):
        path.write_text(text)
        assert len(read_cells(path)[0].names) == 2
