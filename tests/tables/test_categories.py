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
    assert group_levels(texts) == ("a", "b", OTHER)
    many = [f"town {k:02d}" for k in range(40) for _ in range(FEWEST_ROWS + k)]
    levels = group_levels(many)
    assert len(levels) == MOST_LEVELS
    assert levels[0] == "town 39"
    assert levels[-1] == OTHER


def test_the_rest_takes_a_level_along_where_it_is_too_small_itself() -> None:
    assert group_levels(["a"] * 50 + ["b"] * 30 + ["c"] * 3) == ("a", OTHER)
    assert group_levels(["a"] * 50 + ["b"] * 3) == (OTHER,)


def test_a_column_without_two_levels_of_ten_rows_is_left_out_and_the_audit_says_so() -> None:
    found, values = look(
        rare=[f"level {k // 4}" for k in range(80)], y=[str(v) for v in RNG.standard_normal(80)]
    )
    assert values.shape == (80, 1)
    said = str(found.decisions[0])  # type: ignore[attr-defined]
    assert "'rare' is a category: left out (20 levels, no two of which have 10 rows" in said


def test_the_audit_says_what_became_of_a_category() -> None:
    texts = [*CITY.tolist()[:-5], "Quito", "Quito", "Bonn", "Bonn", "Bern"]
    found, values = look(city=texts, y=[str(v) for v in Y])
    assert values.shape == (N, 2)
    said = [str(one) for one in found.decisions]  # type: ignore[attr-defined]
    assert said == [
        "'city' is a category: taken as one variable (7 levels, of which the 4 rarest are one)"
    ]
    assert found.options == ("--kind", "city=category")  # type: ignore[attr-defined]


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
