"""Categories: which levels stand for themselves, their scores, and how new rows are read."""

from __future__ import annotations

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError
from analyticdag.tables import Cells, look_at
from analyticdag.tables.categories import FEWEST_ROWS, MOST_LEVELS, group_levels
from analyticdag.tables.recipe import OTHER

pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N = 600
CITY = RNG.choice(["Rome", "Oslo", "Cairo", "Lima"], N, p=[0.4, 0.3, 0.2, 0.1])
Y = np.select([CITY == "Rome", CITY == "Oslo"], [2.0, -1.0], 0.0) + RNG.standard_normal(N)


def look(**columns: list[str]) -> tuple[object, np.ndarray]:
    names = tuple(columns)
    cells = tuple(columns.values())
    return look_at(Cells(names, cells, range(len(cells[0]))))


def test_frequent_levels_stand_for_themselves_and_rare_ones_are_one() -> None:
    texts = ["a"] * 50 + ["b"] * 30 + ["c"] * 6 + ["d"] * 5
    assert group_levels(texts) == (("a", "b", OTHER), ())
    many = [f"town {k:02d}" for k in range(40) for _ in range(FEWEST_ROWS + k)]
    levels, merged = group_levels(many)
    assert len(levels) == MOST_LEVELS
    assert levels[0] == "town 39"
    assert levels[-1] == OTHER
    assert merged == ()


def test_a_handful_of_rare_rows_counts_with_the_most_frequent_level() -> None:
    assert group_levels(["b"] * 30 + ["a"] * 50 + ["c"] * 3) == (("a", "b"), ("c",))
    assert group_levels(["a"] * 50 + ["b"] * 3 + ["c"] * 2) == (("a",), ("b", "c"))
    texts = [*CITY.tolist()[:-4], "Quito", "Quito", "Bonn", "Bern"]
    found, values = look(city=texts, y=[str(v) for v in Y])
    said = str(found.decisions[0])  # type: ignore[attr-defined]
    assert "7 levels; 'Quito', 'Bern', 'Bonn': fewer than 10 rows, so counted with 'Rome'" in said
    (column, _) = found.columns  # type: ignore[attr-defined]
    assert set(column.levels) == {"Rome", "Oslo", "Cairo", "Lima"}
    np.testing.assert_array_equal(column.read(["quito", "Bern", "Rome"])[0], column.scores[0])
    assert column.read(["Paris"])[1] == [0]  # never seen: not understood
    assert np.isin(values[-4:, 0], column.scores[0]).all()


def test_a_column_without_a_level_of_ten_rows_is_left_out_and_the_audit_says_so() -> None:
    found, values = look(
        rare=[f"level {k // 4}" for k in range(80)], y=[str(v) for v in RNG.standard_normal(80)]
    )
    assert values.shape == (80, 1)
    said = str(found.decisions[0])  # type: ignore[attr-defined]
    assert "'rare' is a category: left out (20 levels, none of which has 10 rows" in said


def test_the_audit_says_what_became_of_a_category() -> None:
    rare = ["Quito"] * 9 + ["Bonn"] * 3 + ["Bern"]
    found, values = look(city=[*CITY.tolist()[:-13], *rare], y=[str(v) for v in Y])
    assert values.shape == (N, 2)
    said = [str(one) for one in found.decisions]  # type: ignore[attr-defined]
    assert said == [
        "'city' is a category: taken as one variable (7 levels, of which the 3 rarest are one)"
    ]
    assert found.options == ("--kind", "city=category")  # type: ignore[attr-defined]


def test_a_comma_in_a_level_is_no_reason_to_leave_it_out_of_the_options() -> None:
    texts = np.where(CITY == "Rome", "Rome, Italy", CITY).tolist()
    two = np.where(CITY == "Rome", "yes, often", "no").tolist()
    found, _ = look(city=texts, travels=two, y=[str(v) for v in Y])
    assert found.options == ("--kind", "city=category", "--kind", "travels=yes/no")  # type: ignore[attr-defined]
    again, _ = look_at(Cells(("travels",), (two,), range(N)), kinds={"travels": "yes/no"})
    assert again.columns[0].levels == ("no", "yes, often")


def test_a_copy_is_kept_as_what_it_is() -> None:
    same = CITY.tolist()
    answers = np.where(Y > 0.0, "yes", "no").tolist()
    found, _ = look(**{"city": same, "town": same, "sunny": answers, "is sunny": answers})
    said = [str(one) for one in found.decisions]  # type: ignore[attr-defined]
    assert "'town' is a copy: left out (the same as 'city'); --kind town=category keeps it" in said
    assert (
        "'is sunny' is a copy: left out (the same as 'sunny'); --kind 'is sunny=no,yes' keeps it"
        in said
    )
    names = [f"person {k // 40}" for k in range(N)]
    found, _ = look(person_id=names, y=[str(v) for v in Y])
    assert "--kind person_id=category keeps it" in str(found.decisions[0])  # type: ignore[attr-defined]
    found, _ = look(person_id=[f"p{k}" for k in range(N)], y=[str(v) for v in Y])
    assert "keeps it" not in str(found.decisions[0])  # type: ignore[attr-defined]


def test_scores_have_mean_zero_variance_one_and_differ() -> None:
    model = AnalyticDAG().fit(pandas.DataFrame({"city": CITY, "y": Y}))
    assert model.recipe_ is not None
    column = model.recipe_.columns[0]
    values, odd = column.read(CITY.tolist())
    assert not odd
    assert abs(values.mean()) < 1e-6
    assert values.std() == pytest.approx(1.0, abs=1e-6)
    assert len(set(column.scores)) == 4
    by_name = dict(zip(column.levels, column.scores, strict=True))
    # The levels differ most as their means of y do.
    assert by_name["Rome"] - by_name["Oslo"] > by_name["Cairo"] - by_name["Oslo"] > 0.0 or (
        by_name["Rome"] - by_name["Oslo"] < by_name["Cairo"] - by_name["Oslo"] < 0.0
    )


def test_new_levels_are_refused_or_belong_to_the_rest() -> None:
    frame = pandas.DataFrame({"city": CITY, "y": Y})
    model = AnalyticDAG().fit(frame)
    with pytest.raises(DataError, match="'Paris' in column 'city', row 0, which is none of"):
        model.score(frame.assign(city="Paris"))
    rare = frame.assign(city=np.where(np.arange(N) < 20, [f"t{k}" for k in range(N)], CITY))
    model = AnalyticDAG().fit(rare)
    assert np.isfinite(model.score(rare.assign(city="Paris")))


def test_whole_numbers_can_be_categories_with_and_without_gaps() -> None:
    codes = RNG.integers(1, 5, N)
    frame = pandas.DataFrame({"region": codes, "y": Y})
    model = AnalyticDAG(kinds={"region": "category"}).fit(frame)
    assert model.recipe_ is not None
    assert sorted(model.recipe_.columns[0].levels) == ["1", "2", "3", "4"]
    assert model.score(frame) == model.score(frame.assign(region=codes.astype(float)))


def test_infinity_beside_a_category_is_refused_by_name() -> None:
    table = pandas.DataFrame({"city": CITY, "y": Y})
    table.loc[3, "y"] = np.inf
    with pytest.raises(DataError, match=r"infinity \(inf\) in columns \['y'\].*row 3"):
        AnalyticDAG().fit(table)
