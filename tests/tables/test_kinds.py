"""What a column is, and how its cells become numbers."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError, ParameterError
from analyticdag.tables import Cells, Kind, look_at, read_batches
from analyticdag.tables.codes import Codes
from analyticdag.tables.decisions import grouped
from analyticdag.tables.kinds import find_column
from analyticdag.tables.numbers import Style, days, format_of, style_of
from analyticdag.tables.recipe import Column

ROWS = 40
NUMBERS = [f"{k * 1.37 % 5:.2f}" for k in range(ROWS)]


def table(**columns: list[Any]) -> Cells:
    return Cells(tuple(columns), tuple(columns.values()), range(2, 2 + len(NUMBERS)))


def kind_of(name: str, cells: list[Any]) -> str:
    return str(find_column(name, cells, table(x=cells)).column.kind)


def repeated(*items: Any) -> list[Any]:
    return [items[k % len(items)] for k in range(ROWS)]


OWN_NUMBERS = [str(k * k + 7) for k in range(ROWS)]
COUNTS = ("number_of_rooms", "orders", "income", "turkey")
ROW_NAMES = (
    *("user", "Customer", "KundenNr", "Kundennummer", "order number", "invoice_no", "caseNum"),
    "key",
)


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("x", NUMBERS, "number"),
        ("x", [str(k * k + 3) for k in range(ROWS)], "count"),
        ("x", repeated("1", "2", "3", "4", "5"), "ordered"),
        ("x", repeated("low", "High", "medium"), "ordered"),
        ("x", repeated("never", "sometimes", "often", "always"), "ordered"),
        ("x", repeated("yes", "No"), "yes/no"),
        ("x", repeated("True", "False", "NA"), "yes/no"),
        ("x", repeated(True, False), "yes/no"),
        ("x", repeated("1", "2"), "yes/no"),
        ("x", repeated("female", "male"), "yes/no"),
        ("x", repeated("1", "2+"), "yes/no"),
        ("x", repeated("1", "1", "2+"), "yes/no"),
        ("x", repeated("red", "green", "blue"), "category"),
        ("x", [f"2021-03-{k % 28 + 1:02}" for k in range(ROWS)], "date"),
        ("x", [f"{k % 28 + 1}.3.2021" for k in range(ROWS)], "date"),
        ("x", [datetime.date(2020, 1, k % 28 + 1) for k in range(ROWS)], "date"),
        ("patient_id", [str(7 * k + 3) for k in range(ROWS)], "identifier"),
        ("patient_id", [str(k // 4) for k in range(ROWS)], "identifier"),
        ("PatientID", [f"P{k // 4}" for k in range(ROWS)], "identifier"),
        ("anything", [str(k + 1) for k in range(ROWS)], "identifier"),
        ("Unnamed: 0", [str(k) for k in range(ROWS)], "identifier"),
        ("code", [f"ab{k:03}" for k in range(ROWS)], "identifier"),
        ("x", ["7"] * ROWS, "constant"),
        ("x", ["NA", ""] * (ROWS // 2), "empty"),
        ("x", ["Germany"] * ROWS, "category"),
        ("x", [f"said {k} words to me" for k in range(ROWS)], "text"),
        ("paid", [str(7 * k + 3) for k in range(ROWS)], "count"),
        ("anything", [str((7 * k) % ROWS + 500) for k in range(ROWS)], "identifier"),
        ("anything", [str((7 * k) % ROWS) for k in range(ROWS - 1)], "count"),
        ("anything", [str((7 * k) % 19) for k in range(19)], "count"),
        *((name, OWN_NUMBERS, "identifier") for name in ROW_NAMES),
        *(
            (name, OWN_NUMBERS, "count")
            for name in ("number_of_rooms", "orders", "income", "turkey")
        ),
        *((name, [str(k // 2 * 7) for k in range(ROWS)], "count") for name in ROW_NAMES),
    ],
)
def test_every_kind_is_found(name: str, cells: list[Any], kind: str) -> None:
    assert kind_of(name, cells) == kind


def test_none_is_a_level_where_it_is_one() -> None:
    look, values = look_at(table(pain=repeated("none", "mild", "severe")))
    np.testing.assert_array_equal(values[:3, 0], [0, 1, 2])
    assert not look.gaps


@pytest.mark.parametrize("words", [("none", "beer", "wine"), ("none", "beer")])
def test_none_is_a_level_among_words_and_a_gap_among_numbers(words: tuple[str, ...]) -> None:
    look, _ = look_at(table(drink=repeated(*words), size=["none", *NUMBERS[1:]]))
    drink, size = look.recipe.columns
    assert set(drink.levels) == set(words)
    assert look.gaps == {"size": 1}
    assert size.kind in ("number", "count")


def test_none_as_python_writes_it_is_a_gap() -> None:
    look, _ = look_at(table(drink=repeated("None", "beer", "wine")))
    assert set(look.recipe.columns[0].levels) == {"beer", "wine"}
    assert look.gaps


@pytest.mark.parametrize("ordered", [False, True])
def test_every_declared_level_is_one(ordered: bool) -> None:
    words = ["NA", "beer", "none", "?"]
    cells = pd.Categorical(repeated(*words), categories=words, ordered=ordered)
    frame = pd.DataFrame({"land": cells, "x": np.arange(len(cells)) % 7})
    model = AnalyticDAG().fit(frame)
    assert set(model.recipe_.columns[0].levels) == set(words)


def test_a_copy_is_left_out_and_named() -> None:
    look, values = look_at(table(a=NUMBERS, b=list(reversed(NUMBERS)), c=NUMBERS))
    assert look.recipe.names == ("a", "b")
    assert values.shape == (ROWS, 2)
    assert [str(one) for one in look.decisions] == [
        "'c' is a copy: left out (the same as 'a'); --kind c=number keeps it"
    ]
    assert look_at(table(a=NUMBERS, b=NUMBERS[::-1], c=NUMBERS), drop=["c"])[0].recipe.names == (
        "a",
        "b",
    )
    kept, _ = look_at(table(a=NUMBERS, c=NUMBERS), kinds={"c": "number"})
    assert kept.recipe.names == ("a", "c")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("45,480", 45480.0),
        ("1,234,567.5", 1234567.5),
        ("$1,200.50", 1200.5),
        ("-$3", -3.0),
        ("45 480 €", 45480.0),
        ("1'234", 1234.0),
        ("20.0%", None),
        ("(1,200)", -1200.0),
        ("1e-3", 0.001),
        ("12,34", None),
        ("1,23,456", None),
        ("x", None),
        ("--3", None),
        ("1e999", None),
    ],
)
def test_thousands_and_currency_signs_are_read(text: str, number: float | None) -> None:
    style, _ = style_of(["$1", "€1", text]) if text[:1] not in "$-" else style_of([text])
    assert Style(".", style.unit if "$" in text else "€" * ("€" in text)).read(text) == number


def test_a_column_has_one_style() -> None:
    assert style_of(["1,5", "2,25", "1.234,5"]) == (Style(","), 3)
    assert style_of(["20.0%", "3 %", "7"]) == (Style(".", "%"), 2)
    assert style_of(["1,234", "5,678"]) == (Style("."), 2)
    assert style_of(["1,234", "5,678"], decimal_comma=True) == (Style(","), 2)
    assert Style(".", "%").read("20.0%") == 20.0
    assert Style(".", "%").read("0.2") is None  # a share, or a fifth of a per cent?


def test_signs_are_said_in_the_list() -> None:
    money = [f"${k * 137 % 1000 + 1000:,}" for k in range(ROWS)]
    share = [f"{k * 1.5:.1f}%" for k in range(ROWS)]
    thousands = [f"{k * 31_370 % 90_000 + 1000:,}" for k in range(ROWS)]
    look, values = look_at(table(money=money, share=share, thousands=thousands))
    assert [str(one) for one in look.decisions] == [
        "'money' is a count: read ($ taken off)",
        "'share' is a number: read (per cent)",
        "'thousands' is a count: read (thousands or other marks taken out)",
    ]
    np.testing.assert_array_equal(values[1], [1137, 1.5, 32370])


def test_a_stray_text_is_named_counted_and_left_to_the_user() -> None:
    cells = [*NUMBERS[:-2], "ca. 3", "see note"]
    look, _ = look_at(table(a=cells, b=NUMBERS))
    with pytest.raises(DataError, match=r"'a' holds the text 'ca. 3' in row 40 \(2 of 40 cells"):
        look.refuse_undecided()
    assert look.options == ("--kind", "a=number")
    told, values = look_at(table(a=cells, b=NUMBERS), kinds={"a": "number"})
    told.refuse_undecided()
    assert np.isnan(values[-2:, 0]).all()
    assert told.gaps == {"a": 2}
    assert "such cells are gaps, as asked" in str(told.decisions[0])


def test_dates_are_left_out_and_days_make_them_numbers() -> None:
    when = [f"2021-03-{k % 28 + 1:02}" for k in range(ROWS)]
    look, _ = look_at(table(a=NUMBERS, b=NUMBERS[::-1], when=when))
    assert look.recipe.names == ("a", "b")
    assert "--kind when=days makes it a number" in str(look.decisions[0])
    _, values = look_at(table(a=NUMBERS, when=when), kinds={"when": "days"})
    assert values[1, 1] - values[0, 1] == 1.0
    with pytest.raises(ParameterError, match="'a' cannot be read as days"):
        look_at(table(a=NUMBERS), kinds={"a": "days"})


@pytest.mark.parametrize(
    ("cell", "form", "day"),
    [
        ("1970-01-02", "ISO", 1.0),
        ("1970-01-02T12:00", "ISO", 1.5),
        ("1970-01-02T12:00+01:00", "ISO", 1.5 - 1 / 24),
        ("2.1.1970", "%d.%m.%Y", 1.0),
        ("01/31/1970", "%m/%d/%Y", 30.0),
        ("31/01/1970", "%d/%m/%Y", 30.0),
        (datetime.datetime(1970, 1, 2, 6), "ISO", 1.25),
    ],
)
def test_dates_of_many_formats(cell: Any, form: str, day: float) -> None:
    assert format_of([cell, None]) == form
    assert days(cell, form) == pytest.approx(day, abs=1e-12)


def test_digits_alone_are_no_date() -> None:
    assert format_of(["20210301"]) == ""


def test_the_user_can_say_what_a_column_is() -> None:
    dose = repeated("little", "some", "much")
    _, values = look_at(table(dose=dose), kinds={"dose": "little,some,much"})
    np.testing.assert_array_equal(values[:3, 0], [0, 1, 2])
    _, values = look_at(table(dose=dose), kinds={"dose": ["much", "some", "little"]})
    np.testing.assert_array_equal(values[:3, 0], [2, 1, 0])
    with pytest.raises(ParameterError, match="the order of column 'dose' is not known"):
        look_at(table(dose=dose), kinds={"dose": "ordered"})
    with pytest.raises(ParameterError, match="'dose' cannot be yes/no"):
        look_at(table(dose=dose), kinds={"dose": "yes/no"})
    with pytest.raises(ParameterError, match="cannot be 'colour'; kinds are number, count"):
        look_at(table(dose=dose), kinds={"dose": "colour"})
    with pytest.raises(ParameterError, match="must be two or more that differ"):
        look_at(table(dose=dose), kinds={"dose": ["a", "A"]})
    with pytest.raises(ParameterError, match="cannot be read as number: no cell is one"):
        look_at(table(dose=dose), kinds={"dose": "number"})
    with pytest.raises(DataError, match="cannot read by kind"):
        look_at(table(dose=dose), kinds={"drug": "number"})


def test_a_logarithm_is_taken_of_positive_numbers_only() -> None:
    positive = ["1", "", "2.5", *NUMBERS[3:]]
    look, values = look_at(table(a=positive), kinds={"a": "log"})
    assert values[[0, 2], 0].tolist() == [0.0, np.log(2.5)]
    assert look.gaps == {"a": 1}
    cells = ["1", "0", "-2.5", *NUMBERS[3:]]
    with pytest.raises(DataError, match=r"'a' has no logarithm in 2 of 40 rows.* 0 in row 3\)"):
        look_at(table(a=cells), kinds={"a": "log"})
    # Zero may be said to mean missing; that is the user's word.
    look, _ = look_at(table(a=cells), kinds={"a": "log"}, na=Codes.read(["a=0,-2.5"]))
    assert look.gaps == {"a": 2}


def test_a_later_batch_without_a_logarithm_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(1.0, 40_001.0), "b": np.arange(40_000.0) % 7})
    frame.loc[39_000, "a"] = 0.0
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"'a' has no logarithm in 1 of .* 0 in row 39001"):
        list(read_batches(tmp_path / "x.parquet", kinds={"a": "log"}))


def drawn(n: int = 200) -> np.ndarray:
    return np.random.default_rng(0).normal(50, 10, n).round(2)


def test_a_copy_does_not_come_in_the_place_of_what_is_dropped() -> None:
    cells = table(a=NUMBERS, b=list(reversed(NUMBERS)), c=NUMBERS)
    look, _ = look_at(cells, drop=["a"])
    assert look.recipe.names == ("b",)
    assert [one.what for one in look.decisions] == ["'c' is a copy"]
    assert look_at(cells, drop=["a"], kinds={"c": "number"})[0].recipe.names == ("b", "c")


def test_a_copy_in_another_unit_or_apart_from_gaps_is_left_out() -> None:
    spend = drawn()
    gapped, turned = spend.copy(), (-spend).tolist()
    gapped[::9] = np.nan
    near = (spend + np.random.default_rng(1).normal(0, 0.5, len(spend))).tolist()
    columns = {
        "gapped": gapped.tolist(),
        "spend": spend.tolist(),
        "usd": (1.08 * spend).round(2).tolist(),
        "near": near,
        "turned": turned,
    }
    cells = Cells(tuple(columns), tuple(columns.values()), range(len(spend)))
    look, _ = look_at(cells)
    assert look.recipe.names == ("spend", "near")
    assert [str(one) for one in look.decisions] == [
        "'gapped' is a copy: left out (the same as 'spend' where both are there); --kind "
        "gapped=number keeps it",
        "'usd' is a copy: left out (the same as 'spend' in another unit); --kind usd=number "
        "keeps it",
        "'turned' is a copy: left out (the same as 'spend' in another unit); --kind "
        "turned=number keeps it",
    ]
    assert look_at(cells, kinds={"usd": "number"})[0].recipe.names == ("spend", "usd", "near")


def test_rows_that_are_far_in_both_columns_make_no_copy() -> None:
    one, other = drawn(), drawn()[::-1].copy()
    one[3] = other[3] = 1e9
    cells = Cells(("one", "other"), (one.tolist(), other.tolist()), range(len(one)))
    assert look_at(cells)[0].recipe.names == ("one", "other")


def test_levels_with_numbers_get_the_option_that_orders_them() -> None:
    look, _ = look_at(table(**{"Tumour grade": repeated("G2", "G10", "G1"), "b": NUMBERS}))
    assert str(look.decisions[0]) == (
        "'Tumour grade' is a category: taken as one variable (3 levels); if they have an order: "
        "--kind 'Tumour grade=G1,G2,G10'"
    )
    look, _ = look_at(table(stage=repeated("T1b", "T1a", "T2a"), b=NUMBERS))
    assert "--kind stage=T1a,T1b,T2a" in str(look.decisions[0])
    look, _ = look_at(table(town=repeated("Ulm 1", "Bonn 1", "Bonn 2"), b=NUMBERS))
    assert "--kind" not in str(look.decisions[0])


def test_levels_with_words_of_a_scale_get_the_option_that_orders_them() -> None:
    look, _ = look_at(table(Arm=repeated("high dose", "placebo", "low dose"), b=NUMBERS))
    assert str(look.decisions[0]) == (
        "'Arm' is a category: taken as one variable (3 levels); if they have an order: "
        "--kind 'Arm=placebo,low dose,high dose'"
    )
    for words in (("Ulm", "Bonn", "Low Moor"), ("low", "high dose", "a, b")):
        look, _ = look_at(table(town=repeated(*words), b=NUMBERS))
        assert "--kind" not in str(look.decisions[0])


def test_of_a_constant_only_the_fit_speaks() -> None:
    look, _ = look_at(table(country=["DE"] * ROWS, k=["3"] * ROWS, b=NUMBERS))
    assert look.recipe.names == ("country", "k", "b")
    assert look.decisions == ()


def test_columns_that_are_read_alike_share_a_line() -> None:
    words = repeated("never", "sometimes", "often")
    shifted = {f"q{k}": words[k:] + words[:k] for k in range(1, 3)}
    others = {f"q{k}": [words[j * k % 40] for j in range(40)] for k in range(3, 7)}
    look, _ = look_at(table(**shifted, **others, sex=repeated("f", "m")))
    assert [": ".join(pair) for pair in grouped(look.decisions)] == [
        "'q1', 'q2', 'q3' and 3 more: each is ordered: taken by its order (never = 0, "
        "sometimes = 1, often = 2)",
        "'sex' is yes/no: taken as two values (f = 0, m = 1)",
    ]
    assert len(look.decisions) == 7


def test_columns_can_be_taken_and_dropped_by_name() -> None:
    cells = table(a=NUMBERS, b=NUMBERS[::-1], c=repeated("1.5", "2", "4"))
    assert look_at(cells, columns=["c", "a"])[0].recipe.names == ("a", "c")
    assert look_at(cells, drop=["b"])[0].recipe.names == ("a", "c")
    with pytest.raises(DataError, match=r"cannot take \['d'\]: the columns are 'a', 'b', 'c'"):
        look_at(cells, columns=["d"])


def test_kinds_say_whether_they_are_variables() -> None:
    assert {kind for kind in Kind if not kind.taken} == {
        Kind.DATE,
        Kind.IDENTIFIER,
        Kind.EMPTY,
        Kind.COPY,
        Kind.TEXT,
    }


def test_levels_that_no_cell_holds_are_refused() -> None:
    table = Cells(("pain",), (["mild", "severe"] * 20,), range(40))
    with pytest.raises(ParameterError, match=r"no cell of column 'pain' holds one of its levels"):
        look_at(table, kinds={"pain": "low,high"})


def test_a_decimal_comma_is_read_the_same_beside_any_other_cell() -> None:
    column = Column("a", Kind.NUMBER, decimal=",")
    assert column.read(["1.234", "2.500", ""])[0][:2].tolist() == [1234.0, 2500.0]
    assert column.read(["1.234", "2,5", "1.234.567"])[0].tolist() == [1234.0, 2.5, 1234567.0]
    assert column.read([1.234, np.nan])[0][0] == 1.234  # numbers already
    assert column.read(np.array([1.5, 2.25], np.float32))[0].tolist() == [1.5, 2.25]
