"""Rows that are no cases are named: the header once more, units, a title, a total."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analyticdag.tables.odd_rows import far_row

Command = Callable[..., tuple[int, str, str]]
NAMES = "sales,cost,share"


def lines(n: int = 60) -> list[str]:
    rng = np.random.default_rng(0)
    sales = rng.normal(1000.0, 200.0, n)
    cost = 0.5 * sales + rng.normal(0.0, 60.0, n)
    share = rng.normal(20.0, 5.0, n)
    return [f"{a:.2f},{b:.2f},{c:.2f}" for a, b, c in zip(sales, cost, share, strict=True)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ([NAMES, *lines(), NAMES, *lines()], "row 62 repeats the header: delete it"),
        ([NAMES, *lines(), NAMES, NAMES], "rows 62, 63 repeat the header: delete them"),
        (
            [NAMES, "EUR,EUR,%", *lines()],
            "row 2 holds 'EUR', 'EUR', '%' and no number: are these units? delete it",
        ),
        (
            ["Report Q3 2024", "", NAMES, *lines()],
            "line 1 has 1 cell and the others 3: is it a title? delete it",
        ),
        (["Report Q3 2024,,", NAMES, *lines()], "line 1 has 1 cell and the others 3"),
    ],
)
def test_a_row_that_is_no_case_is_named_once(
    command: Command, tmp_path: Path, text: list[str], said: str
) -> None:
    (tmp_path / "t.csv").write_text("\n".join(text))
    code, _, err = command("fit", tmp_path / "t.csv")
    assert code == 2
    assert err.count(said) == 1
    assert "low,middle,high" not in err
    assert "gaps in" not in err
    assert "to say all of this yourself" not in err  # no option does it


def test_other_words_in_the_first_row_are_told_column_by_column(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("\n".join([NAMES, "much,490,20", *lines()]))
    code, _, err = command("fit", tmp_path / "t.csv")
    assert code == 2
    assert "units" not in err
    assert "gaps in" not in err  # a text is none until the user says so
    assert "column 'sales' holds the text 'much' in row 2" in err


def test_a_title_above_a_sheet(command: Command, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["Report Q3"], NAMES.split(","), *(map(float, one.split(",")) for one in lines())]:
        book.active.append(list(row))
    book.save(tmp_path / "t.xlsx")
    code, _, err = command("fit", tmp_path / "t.xlsx")
    assert code == 2
    assert "line 1 has 1 cell and the others 3: is it a title?" in err


def test_a_total_at_the_end_is_named_on_terminal_and_page(command: Command, tmp_path: Path) -> None:
    rows = lines()
    total = np.array([one.split(",") for one in rows], float).sum(axis=0)
    rows.append(",".join(f"{x:.2f}" for x in total))
    (tmp_path / "t.csv").write_text("\n".join([NAMES, *rows]))
    code, _, err = command("fit", tmp_path / "t.csv", "--out", tmp_path / "run")
    assert code == 0, err
    said = "ow 62 is far from all others in"
    assert said in err
    assert said in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_ordinary_rows_are_far_from_none() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = rng.gamma(0.5, size=(100, 1)) + rng.gamma(0.5, size=(100, 4))
        assert far_row(X, range(4)) is None
    X[7, :2] = 1e4
    assert far_row(X, range(4)) == (7, [0, 1])
    X[7, 1] = np.nan
    assert far_row(X, range(4)) is None
