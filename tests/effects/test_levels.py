"""Effects of and on categories, rows drawn from such tables, and what happens if one is set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.cli import app
from analyticdag.effects import effects, joint_effect, total_effect
from analyticdag.errors import InputError, ParameterError
from analyticdag.io import load_run, record_of, save_run
from analyticdag.report.answers import answers

pandas = pytest.importorskip("pandas")
N = 4000


def frame() -> Any:
    """x acts on the category c, which acts on y; k depends on x and is on no way."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(N)
    wish = np.column_stack([0.6 + 0.0 * x, x, -0.5 * x]) + rng.gumbel(size=(N, 3))
    c = np.array(["a", "b", "c"])[wish.argmax(axis=1)]
    y = 1.0 * (c == "b") - 2.0 * (c == "c") + rng.standard_normal(N)
    return pandas.DataFrame({"k": x + rng.standard_normal(N), "x": x, "c": c, "y": y})


FRAME = frame()


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    known = Knowledge(tiers=[["x"], ["k", "c"], ["y"]])
    return AnalyticDAG(n_jobs=1, knowledge=known).fit(FRAME)


def shares(of: Any) -> Any:
    return np.column_stack([FRAME.c == level for level in of]).astype(float)


def test_each_level_of_a_cause_against_the_most_frequent(model: AnalyticDAG) -> None:
    effect = total_effect(model, "c", "y")
    assert {one.reference for one in effect.levels} == {FRAME.c.mode()[0]} == {"a"}
    means = FRAME.groupby("c").y.mean()
    for one in effect.levels:
        expected = means[one.cause_level] - means["a"]
        assert one.smallest == one.largest == pytest.approx(expected)
        rows = FRAME[FRAME.c.isin([one.cause_level, "a"])]
        # The noise is that of all rows, as one regression has it.
        left = FRAME.y - FRAME.c.map(means)
        error = left.std(ddof=3) * np.sqrt((1.0 / rows.c.value_counts()).sum())
        assert (one.high - one.low) / 2.0 == pytest.approx(1.96 * error, rel=0.01)
    assert effect.identified
    assert effect.value is None
    assert effect.adjustment_set == ()


def test_shares_of_an_outcome_add_up_to_nothing(model: AnalyticDAG) -> None:
    effect = total_effect(model, "x", "c")
    found = {one.outcome_level: one.smallest for one in effect.levels}
    assert sum(found.values()) == pytest.approx(0.0, abs=1e-12)
    for level, value in found.items():
        assert value == pytest.approx(np.polyfit(FRAME.x, FRAME.c == level, 1)[0])
    widths = {one.outcome_level: one.high - one.low for one in effect.levels}
    for level in found:
        _, left = np.polyfit(FRAME.x, FRAME.c == level, 1, full=True)[:2]
        error = np.sqrt(left[0] / (N - 2) / (N * FRAME.x.var(ddof=0)))
        assert widths[level] == pytest.approx(2 * 1.96 * error, rel=0.01)


def test_an_effect_goes_through_a_category(model: AnalyticDAG) -> None:
    effect = total_effect(model, "x", "y")
    slopes = np.polyfit(FRAME.x, shares("bc"), 1)[0]
    means = FRAME.groupby("c").y.mean()
    expected = slopes @ [means["b"] - means["a"], means["c"] - means["a"]]
    assert effect.value == pytest.approx(expected)
    assert effect.mediated == pytest.approx(expected)
    assert effect.interval[0] < np.polyfit(FRAME.x, FRAME.y, 1)[0] < effect.interval[1]


def test_all_of_it_on_the_command_line(model: AnalyticDAG, tmp_path: Path) -> None:
    run = tmp_path / "run"
    save_run(record_of(model), run)
    again = load_run(run).to_estimator()
    assert effects(again) == effects(model)
    said = CliRunner().invoke(app, ["effect", str(run), "--of", "c", "--on", "y"]).stdout
    assert "c: b instead of a → +" in said
    said = CliRunner().invoke(app, ["effects", str(run), "--on", "y"]).stdout
    assert "c: c instead of a" in said
    assert "one more unit of x" in said
    asked = ["effect", str(run), "--of", "x", "--on", "c", "--json"]
    record = json.loads(CliRunner().invoke(app, asked).stdout)
    assert {one["outcome_level"] for one in record["levels"]} == {"a", "b", "c"}
    pairs = {(one["x"], one["y"]): one for one in answers(load_run(run))["pairs"]}
    assert len([line for line in pairs[2, 3]["say"] if "instead of a" in line]) == 2
    assert pairs[2, 3]["on"]


def test_yes_no_columns_with_words_beside_a_category() -> None:
    words = FRAME.assign(k=np.where(FRAME.k > 0.0, "yes", "no"))
    model = AnalyticDAG(n_jobs=1).fit(words)
    assert model.level_columns_ is not None
    assert [len(labels) for labels in model.level_columns_.labels] == [0, 0, 3, 0]


def test_open_edges_give_a_range() -> None:
    effect = total_effect(AnalyticDAG(n_jobs=1).fit(FRAME[["c", "y"]]), "c", "y")
    assert not effect.identified
    assert effect.open_edges == effect.settling == (("c", "y"),)
    assert any(one.smallest == 0.0 < one.largest for one in effect.levels)
    assert " to " in str(effect)


def test_rows_are_drawn_level_by_level(model: AnalyticDAG) -> None:
    drawn = model.sample(20_000, seed=0)
    assert list(drawn.columns) == list(FRAME.columns)
    for level, rows in FRAME.groupby("c"):
        own = drawn[drawn.c == level]
        assert len(own) / len(drawn) == pytest.approx(len(rows) / N, abs=0.03)
        assert own.y.mean() == pytest.approx(rows.y.mean(), abs=0.06)
    again = AnalyticDAG(n_jobs=1).fit(drawn)
    assert {frozenset((e.source, e.target)) for e in again.edges_} == {
        frozenset(pair) for pair in (("x", "k"), ("x", "c"), ("c", "y"))
    }


def test_a_category_is_set_to_a_level(model: AnalyticDAG) -> None:
    outcomes = {one.name: one for one in model.intervene({"c": "b"})}
    assert outcomes["y"].mean == pytest.approx(FRAME.y[FRAME.c == "b"].mean())
    assert [outcomes[f"c: {level}"].mean for level in "abc"] == pytest.approx([0.0, 1.0, 0.0])
    drawn = model.sample(5000, do={"c": "b"}, seed=0)
    assert set(drawn.c) == {"b"}
    assert drawn.y.mean() == pytest.approx(outcomes["y"].mean, abs=0.05)
    shifted = {one.name: one for one in model.intervene({"x": 1.0})}
    slope = {one.outcome_level: one.smallest for one in total_effect(model, "x", "c").levels}
    for level in "abc":
        before = (FRAME.c == level).mean()
        expected = before + slope[level] * (1.0 - FRAME.x.mean())
        assert shifted[f"c: {level}"].mean == pytest.approx(expected)


def test_predictions_are_those_of_the_levels(model: AnalyticDAG) -> None:
    expected = FRAME.c.map(FRAME.groupby("c").y.mean())
    np.testing.assert_allclose(model.predict(FRAME, "y"), expected)


def test_what_makes_no_sense_is_refused_in_a_line(model: AnalyticDAG) -> None:
    with pytest.raises(InputError, match=r"do\['c'\]='q' is none of the levels") as unknown:
        model.sample(3, do={"c": "q"})
    with pytest.raises(ParameterError, match="'c' is a category, and several causes") as several:
        joint_effect(model, ["c", "x"], "y")
    assert all("\n" not in str(error.value) for error in (unknown, several))


@pytest.mark.parametrize("array", ["level_sizes", "level_codes", "level_covariances"])
def test_a_run_with_other_levels_is_refused(model: AnalyticDAG, tmp_path: Path, array: str) -> None:
    from analyticdag.io.state import Fitted

    fitted = Fitted.of(model)
    assert fitted is not None
    arrays = fitted.arrays()
    arrays[array] = arrays[array][..., :-1]
    with pytest.raises(ValueError, match="level"):
        Fitted.from_arrays(arrays, 1, 4, fitted.n_levels)
