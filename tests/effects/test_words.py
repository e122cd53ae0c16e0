"""What if, in the words of the table: yes/no columns, ordered ones, columns of 0 and 1."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.cli.answer import answer
from analyticdag.effects import effects, joint_effect, total_effect
from analyticdag.effects.effect import LevelEffect, level_of_column
from analyticdag.errors import AnalyticDAGError, DataWarning, InputError, ParameterError
from analyticdag.io import load_run, record_of, save_run
from analyticdag.report import render_report
from analyticdag.stability import bootstrap_effects

pandas = pytest.importorskip("pandas")
N = 2000


def shop() -> Any:
    """Price and colour act on whether something is bought, and that on what is spent."""
    rng = np.random.default_rng(2)
    colour = rng.choice(["red", "green", "blue"], N, p=[0.5, 0.3, 0.2])
    price = rng.normal(10.0, 2.0, N) + 3.0 * (colour == "red")
    bought = rng.random(N) < 1.0 / (1.0 + np.exp(0.5 * price - 5.0 - 2.0 * (colour == "blue")))
    size = np.array(["small", "medium", "large"])[rng.choice(3, N, p=[0.3, 0.5, 0.2])]
    spent = 5.0 + 20.0 * bought + 4.0 * (size == "large") + rng.normal(0.0, 3.0, N)
    words = np.where(bought, "yes", "no")
    columns = {"colour": colour, "price": price, "bought": words, "size": size, "spent": spent}
    return pandas.DataFrame(columns)


SHOP = shop()
TIERS = Knowledge(tiers=[["colour", "size"], ["price"], ["bought"], ["spent"]])


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    return AnalyticDAG(n_jobs=1, knowledge=TIERS).fit(SHOP)


@pytest.fixture(scope="module")
def plain() -> AnalyticDAG:
    """The same without a category."""
    known = Knowledge(tiers=[["size"], ["price"], ["bought"], ["spent"]])
    return AnalyticDAG(n_jobs=1, knowledge=known).fit(SHOP.drop(columns="colour"))


def told(model: AnalyticDAG, do: dict[str, Any]) -> dict[Any, Any]:
    return {row.name: row for row in model.intervene(do)}


@pytest.mark.parametrize("which", ["model", "plain"])
def test_a_yes_no_column_is_set_by_its_word(which: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(which)
    yes, no = (told(model, {"bought": word}) for word in ("yes", "NO"))
    spent = SHOP.groupby("bought").spent.mean()
    assert yes["spent"].mean == pytest.approx(spent["yes"], abs=0.3)
    assert no["spent"].mean == pytest.approx(spent["no"], abs=0.3)
    assert (yes["bought: yes"].mean, yes["bought: no"].mean) == pytest.approx((1.0, 0.0))
    assert told(model, {"bought": 1}) == told(model, {"bought": True}) == yes


def test_shares_of_levels_are_told_after_an_intervention(model: AnalyticDAG) -> None:
    red = told(model, {"colour": "red"})
    of_red = SHOP[SHOP.colour == "red"]
    assert red["price"].mean == pytest.approx(of_red.price.mean(), abs=0.1)
    assert red["bought: yes"].mean == pytest.approx((of_red.bought == "yes").mean(), abs=0.03)
    assert red["bought: yes"].mean + red["bought: no"].mean == pytest.approx(1.0)
    assert red["colour: red"].mean == red["colour: red"].low == pytest.approx(1.0)
    assert red["colour: blue"].high == pytest.approx(0.0)
    # Far from the data a line leaves [0, 1]; a share does not.
    with pytest.warns(DataWarning, match="standard deviations from the mean"):
        assert told(model, {"price": 60.0})["bought: no"].mean == 1.0


@pytest.mark.parametrize("which", ["model", "plain"])
def test_rows_hold_the_words_of_the_table(which: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(which)
    rows = model.sample(20_000, seed=0)
    assert set(rows.bought) == {"yes", "no"}
    assert set(rows["size"]) == {"small", "medium", "large"}
    assert (rows.bought == "yes").mean() == pytest.approx((SHOP.bought == "yes").mean(), abs=0.02)
    means, own = (frame.groupby("bought").spent.mean() for frame in (rows, SHOP))
    assert dict(means) == pytest.approx(dict(own), abs=0.5)
    set_to = model.sample(50, do={"bought": "yes", "size": "large"}, seed=0)
    assert set(set_to.bought) == {"yes"}
    assert set(set_to["size"]) == {"large"}
    AnalyticDAG(n_jobs=1).fit(rows)  # such rows are a table again


def test_predictions_are_probabilities_of_levels(model: AnalyticDAG) -> None:
    colours = model.predict(SHOP, "colour")
    assert sorted(colours.columns) == ["blue", "green", "red"]
    np.testing.assert_allclose(colours.sum(axis=1), 1.0)
    bought = model.predict(SHOP, "bought")
    assert list(bought.columns) == ["yes", "no"]
    assert bought.min().min() >= 0.0
    assert bought.yes.mean() == pytest.approx((SHOP.bought == "yes").mean(), abs=0.02)
    every = model.predict(SHOP)
    assert {"colour: red", "bought: yes", "price", "size", "spent"} <= set(every.columns)
    np.testing.assert_array_equal(every["bought: yes"], bought.yes)


def test_a_run_from_disk_answers_the_same(model: AnalyticDAG, tmp_path: Path) -> None:
    import narwhals as nw

    from analyticdag.tables import look_at
    from analyticdag.tables.cells import Cells

    look, _ = look_at(Cells.of_frame(nw.from_native(SHOP)))
    save_run(record_of(model, look=look), tmp_path / "run")
    again = load_run(tmp_path / "run").to_estimator()
    assert again.intervene({"bought": "yes"}) == model.intervene({"bought": "yes"})
    pandas.testing.assert_frame_equal(again.sample(20, seed=1), model.sample(20, seed=1))


def test_columns_of_0_and_1_stay_numbers() -> None:
    table = SHOP.assign(bought=(SHOP.bought == "yes").astype(int))[["price", "bought", "spent"]]
    known = Knowledge(tiers=[["price"], ["bought"], ["spent"]])
    model = AnalyticDAG(n_jobs=1, knowledge=known).fit(table)
    rows = model.sample(5000, seed=0)
    assert isinstance(rows, np.ndarray)
    assert set(rows[:, 1]) == {0.0, 1.0}
    assert len(set(rows[:, 0])) == 5000
    with pytest.warns(DataWarning, match="standard deviations from the mean"):
        assert told(model, {"price": 60.0})["bought"].mean == 0.0
    assert told(model, {"bought": 0.5})["spent"].mean == pytest.approx(15.8, abs=0.3)
    assert 0.0 <= model.predict(table)[:, 1].min() <= model.predict(table)[:, 1].max() <= 1.0
    with pytest.raises(ParameterError, match="at most 1"):
        model.intervene({"bought": 2.0})


def test_a_number_is_the_level_of_that_name() -> None:
    rng = np.random.default_rng(8)
    children, rooms = rng.choice(2, N, p=[0.3, 0.7]), rng.integers(0, 3, N)
    cost = 2.0 * children + 4.0 * rooms + rng.normal(size=N)
    words = {
        "children": np.array(["1", "2+"])[children],
        "rooms": np.array(["1", "2", "3+"])[rooms],
    }
    known = Knowledge(tiers=[["children", "rooms"], ["cost"]])
    model = AnalyticDAG(n_jobs=1, knowledge=known)
    model.set_params(kinds={"rooms": ["1", "2", "3+"]})
    model.fit(pandas.DataFrame(words | {"cost": cost}))
    assert told(model, {"children": 1}) == told(model, {"children": "1"})
    assert told(model, {"rooms": 1.0}) == told(model, {"rooms": "1"})
    assert told(model, {"rooms": 1})["cost"].mean == pytest.approx(1.4, abs=0.2)
    for do in ({"rooms": 3}, {"rooms": 0}, {"rooms": 1.5}):
        with pytest.raises(InputError, match="none of the levels of the column: '1', '2', '3\\+'"):
            model.intervene(do)
    with pytest.raises(InputError, match="none of the levels of the column: '2\\+', '1'"):
        model.intervene({"children": 0})


def test_a_place_between_two_levels_stays_a_number(model: AnalyticDAG) -> None:
    low, middle, high = (told(model, {"size": place})["spent"].mean for place in (0, 0.5, 1))
    assert middle == pytest.approx((low + high) / 2)
    assert high == told(model, {"size": "medium"})["spent"].mean


@pytest.mark.parametrize("yes", [True, np.True_])
def test_a_column_of_bools_is_set_by_a_bool(yes: Any) -> None:
    table = SHOP.assign(bought=SHOP.bought == "yes")[["bought", "spent"]]
    known = Knowledge(tiers=[["bought"], ["spent"]])
    model = AnalyticDAG(n_jobs=1, knowledge=known).fit(table)
    assert told(model, {"bought": yes}) == told(model, {"bought": 1})
    assert told(model, {"bought": not yes}) == told(model, {"bought": 0})


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ({"bought": "maybe"}, r"none of the levels of the column: 'yes', 'no'"),
        ({"bought": 0.5}, "none of the levels"),
        ({"bought": pandas.NA}, "none of the levels"),
        ({"bought": np.array([1])}, "none of the levels"),
        ({"size": "huge"}, "'small', 'medium', 'large'"),
        ({"size": 7}, "none of the levels of the column: 'small', 'medium', 'large'"),
        ({"size": -1}, "none of the levels"),
        ({"size": True}, "none of the levels"),
        ({"size": np.array([1])}, "none of the levels"),
        ({"size": pandas.NA}, "none of the levels"),
        ({"price": "high"}, "must be a number"),
        ({"color": "red"}, "is no column"),
    ],
)
def test_other_words_are_refused_in_a_line(model: AnalyticDAG, do: Any, said: str) -> None:
    with pytest.raises(AnalyticDAGError, match=said) as refused:
        model.intervene(do)
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, InputError | ParameterError)


@pytest.mark.parametrize("which", ["colour", "bought", "price"])
def test_a_category_with_one_level_keeps_its_word(which: str) -> None:
    table = SHOP[[which, "spent"]].assign(shop="north")
    with pytest.warns(DataWarning, match="constant"):
        model = AnalyticDAG(n_jobs=1).fit(table)
    assert set(model.sample(5).shop) == {"north"}
    assert set(model.sample(5, do={"shop": "North"}).shop) == {"north"}
    assert told(model, {"shop": "north"})["shop: north"].mean == 1.0
    assert told(model, {"shop": "north"})["spent"].mean == pytest.approx(table.spent.mean())
    assert (model.predict(table)["shop: north"] == 1.0).all()
    assert list(model.predict(table, "shop")) == ["north"]
    with pytest.raises(InputError, match=r"'south' is none of the levels of the column: 'north'"):
        model.intervene({"shop": "south"})


def test_the_level_that_is_left_keeps_its_word() -> None:
    table = SHOP[["price", "spent", "colour"]].copy()
    table.loc[table.colour != "green", "price"] = np.nan
    with pytest.warns(DataWarning, match="constant"):
        model = AnalyticDAG(n_jobs=1, missing="drop").fit(table)
    assert set(model.sample(5).colour) == {"green"}


def test_an_effect_on_a_yes_no_column_names_the_level_that_is_counted(
    model: AnalyticDAG, plain: AnalyticDAG
) -> None:
    for fitted in (model, plain):
        effect = total_effect(fitted, "price", "bought")
        assert effect.outcome_level == "yes"
        assert effect.value < 0.0  # whatever is dearer is bought less often
        assert "] in the share of yes (bought)" in str(effect)
        assert {row.outcome_level for row in effects(fitted, on="bought")} == {"yes"}
        assert joint_effect(fitted, ["price"], "bought").outcome_level == "yes"
        assert total_effect(fitted, "bought", "spent").outcome_level == ""
    by_level = total_effect(model, "colour", "bought")
    assert {one.outcome_level for one in by_level.levels} == {"yes"}
    assert "in the share of yes (bought)" in str(by_level)
    assert "in the share of red (colour)" in total_effect(model, "size", "colour").of_level(
        LevelEffect("", "", "red", 0.1, 0.1, 0.0, 0.2), {}
    )


def test_a_missed_link_to_a_yes_no_column_names_its_level(plain: AnalyticDAG) -> None:
    effect = total_effect(plain, "size", "bought")
    assert effect.missed is not None
    assert effect.sentence().endswith("] in the share of yes (bought)")


def test_averaged_effects_name_the_level_that_is_counted() -> None:
    table = SHOP[["price", "bought", "spent"]]
    known = Knowledge(tiers=[["price"], ["bought"], ["spent"]])
    rows = bootstrap_effects(AnalyticDAG(knowledge=known), table, 2)
    assert {row.outcome_level for row in rows if row.outcome == "bought"} == {"yes"}
    assert {row.outcome_level for row in rows if row.outcome != "bought"} == {""}


def test_lists_of_links_say_which_level_a_sign_is_about(plain: AnalyticDAG) -> None:
    run = record_of(plain)
    said = "For a yes/no variable a sign is about one level: yes (bought)."
    assert said in answer(run)
    page = render_report(run)
    assert said in page
    assert "Yes/no variables (bought: yes = 1) count as 0 and 1" in page
    numbers = AnalyticDAG().fit(SHOP[["price", "spent"]])
    assert not any("yes/no" in text for text in answer(record_of(numbers)))


def test_a_level_called_as_its_column_is_named_once() -> None:
    assert level_of_column("died", "died") == "died"
    assert level_of_column("yes", "smoker") == "yes (smoker)"


def test_a_number_far_from_all_rows_is_answered_with_a_warning(plain: AnalyticDAG) -> None:
    said = r"do\['price'\]=500 is \d+ standard deviations from the mean \(1\d\.\d+\): hardly a row"
    with pytest.warns(DataWarning, match=said):
        plain.intervene({"price": 500})
    with pytest.warns(DataWarning, match=said):
        plain.sample(2, do={"price": 500}, seed=0)
    with pytest.warns(DataWarning, match=r"is \d\.\d+e\+\d+ standard deviations"):
        plain.intervene({"price": 1e200})


def test_what_rows_hold_is_set_without_a_warning(plain: AnalyticDAG) -> None:
    rare = np.zeros(400)
    rare[:4] = 1.0  # ten standard deviations from the mean
    y = rare + 0.1 * np.random.default_rng(0).normal(size=400)
    table = pandas.DataFrame({"flag": rare, "y": y})
    known = Knowledge(tiers=[["flag"], ["y"]])
    flags = AnalyticDAG(knowledge=known).fit(table)
    # As 1 and 2 the moments do not tell it from a number: its kind does.
    codes = AnalyticDAG(knowledge=known, kinds={"flag": "yes/no"}).fit(table.assign(flag=1 + rare))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        for price in (SHOP.price.min(), SHOP.price.max()):
            plain.intervene({"price": price, "bought": "yes", "size": "large"})
        flags.sample(2, do={"flag": 1}, seed=0)
        codes.sample(2, do={"flag": 2}, seed=0)
