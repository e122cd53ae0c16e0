"""What an effect rests on is said: arrows that are not sure, and links of an identity."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG
from analyticdag.effects import Arrow, effects, joint_effect, total_effect
from analyticdag.errors import DataWarning, ParameterError
from analyticdag.io import SavedRun, record_of, save_run
from analyticdag.report.answers import answers

Command: TypeAlias = Callable[..., Any]  # the fixture of tests/conftest.py
SHARES = {("rain", "wet"): 0.97, ("sprinkler", "wet"): 0.46, ("wet", "mud"): 0.8}
RESTS = "it rests on sprinkler → wet, which is 46 % likely to point this way"


@pytest.fixture(scope="module")
def garden() -> SavedRun:
    """Rain and sprinkler wet the grass, and mud follows; the fit is not sure of two arrows."""
    rng = np.random.default_rng(3)
    rain, sprinkler, e, f = rng.normal(size=(4, 500))
    wet = rain + sprinkler + 0.5 * e
    table = pd.DataFrame({"rain": rain, "sprinkler": sprinkler, "wet": wet, "mud": wet + f})
    run = record_of(AnalyticDAG().fit(table))
    assert {run.edge_names(edge) for edge in run.edges} == set(SHARES)
    shares = [SHARES[run.edge_names(edge)] for edge in run.edges]
    return replace(
        run,
        edges=tuple(
            replace(edge, direction_probability=share)
            for edge, share in zip(run.edges, shares, strict=True)
        ),
    )


@pytest.fixture(scope="module")
def budget() -> SavedRun:
    rng = np.random.default_rng(0)
    wage = rng.normal(3000.0, 500.0, 400).round(2)
    rent = (0.3 * wage + rng.gamma(3.0, 50.0, 400)).round(2)
    food = (rng.gamma(3.0, 80.0, 400)).round(2)
    mood = rng.normal(size=400)
    table = pd.DataFrame({"wage": wage, "rent": rent, "food": food, "total": rent + food})
    table["mood"], table["sleep"] = mood, mood + rng.normal(size=400)
    with pytest.warns(DataWarning, match="total = rent"):
        return record_of(AnalyticDAG().fit(table))


def test_the_least_sure_arrow_on_the_way_is_named(garden: SavedRun) -> None:
    model = garden.to_estimator()
    effect = total_effect(model, "sprinkler", "mud")
    assert effect.rests_on == Arrow("sprinkler", "wet", 0.46)
    assert RESTS in str(effect).splitlines()
    assert effect.as_dict()["rests_on"] == {"source": "sprinkler", "target": "wet", "likely": 0.46}
    assert total_effect(model, "rain", "mud").rests_on == Arrow("wet", "mud", 0.8)
    assert total_effect(model, "rain", "wet").rests_on is None
    rows = {row.cause: row for row in effects(model, on="mud")}
    assert list(rows)[-1] == "sprinkler"  # as strong as rain, but less likely than not
    assert abs(rows["sprinkler"].standardized) > 0.9 * abs(rows["rain"].standardized)
    assert rows["sprinkler"].rests_on == effect.rests_on
    assert rows["wet"].rests_on == Arrow("wet", "mud", 0.8)


def test_no_path_rests_on_the_arrows_that_would_make_one(garden: SavedRun) -> None:
    model = garden.to_estimator()
    back = total_effect(model, "mud", "wet")
    assert back.is_nowhere
    assert back.rests_on == Arrow("wet", "mud", 0.8)
    assert str(back).endswith("it rests on wet → mud, which is 80 % likely to point this way")
    turned = total_effect(model, "rain", "sprinkler")  # through wet, if it caused the sprinkler
    assert turned.rests_on == Arrow("sprinkler", "wet", 0.46)
    assert total_effect(model, "mud", "rain").rests_on is None  # takes two arrows turned


def test_commands_and_page_say_it(garden: SavedRun, command: Command, tmp_path: Path) -> None:
    run = save_run(garden, tmp_path / "garden")
    lines = command("effect", run, "--of", "sprinkler", "--on", "mud").out.splitlines()
    assert lines[1] == RESTS
    listed = command("effects", run, "--on", "mud").out
    assert "rests on sprinkler → wet, which is 46 % likely to point this way)" in listed
    assert listed.count("the interval takes the graph as given") == 1
    record = json.loads(command("effects", run, "--on", "mud", "--json").out)
    shares = {row["cause"]: row["rests_on"]["likely"] for row in record["effects"]}
    assert shares == {"sprinkler": 0.46, "rain": 0.8, "wet": 0.8}
    say = {(p["x"], p["y"]): p["say"] for p in answers(garden)["pairs"]}
    assert say[1, 3][1] == RESTS
    assert say[0, 1][1] == RESTS


def test_that_the_model_is_wrong_is_said(
    garden: SavedRun, command: Command, tmp_path: Path
) -> None:
    search = {**garden.parameters["search"], "excess": 3.0}
    wrong = replace(garden, parameters={**garden.parameters, "search": search})
    runs = [save_run(one, tmp_path / str(k)) for k, one in enumerate((garden, wrong))]
    for words in (("effect", "--of", "rain", "--on", "mud"), ("effects", "--on", "mud")):
        name, *rest = words
        said = ["The model is clearly wrong" in command(name, run, *rest).out for run in runs]
        assert said == [False, True]


def test_there_is_no_number_across_an_identity(
    budget: SavedRun, command: Command, tmp_path: Path
) -> None:
    model = budget.to_estimator()
    why = "only because total = rent + food; leave out what is computed (--drop total)"
    for cause, outcome in (("wage", "total"), ("rent", "food"), ("total", "rent")):
        effect = total_effect(model, cause, outcome)
        assert why in effect.tied
        assert (effect.value, effect.identified) == (None, False)
        assert math.isnan(effect.interval[0])
        assert str(effect) == f"no number for {cause} on {outcome}: {effect.tied}"
        assert effect.as_dict()["interval"] == [None, None]
    row = next(row for row in effects(model, on="total") if row.cause == "rent")
    assert why in row.tied
    assert math.isnan(row.smallest)
    assert not total_effect(model, "mood", "sleep").tied
    with pytest.raises(ParameterError, match=r"total = rent \+ food"):
        joint_effect(model, ["wage", "rent"], "total")
    run = save_run(budget, tmp_path / "budget")
    told = command("effects", run, "--on", "total").out
    assert told.startswith("no number for ")
    assert "what moves total" not in told
    assert why in told
    place = {name: k for k, name in enumerate(budget.names)}
    say = {(p["x"], p["y"]): p["say"] for p in answers(budget)["pairs"]}
    assert why in say[place["rent"], place["total"]][0]
