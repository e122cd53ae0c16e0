"""Rows and distributions of nonlinear equations when columns are set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

from analyticdag import Knowledge, NonlinearDAG
from analyticdag.effects import total_effect
from analyticdag.errors import InputError, ParameterError


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """A wave of x, in units of its own, and a square of the wave."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = 50.0 + 10.0 * np.sin(1.5 * x) + 2.0 * rng.normal(size=300)
    z = (y - 50.0) ** 2 / 20.0 + rng.normal(size=300)
    return pd.DataFrame({"x": x, "y": y, "z": z})


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> NonlinearDAG:
    known = Knowledge(required_edges=[("x", "y"), ("y", "z")], forbidden_edges=[("x", "z")])
    return NonlinearDAG(model="mlp", variance="constant", knowledge=known, max_steps=400).fit(table)


def test_setting_a_cause_bends_what_follows(model: NonlinearDAG) -> None:
    after = {row.name: row for row in model.intervene({"x": 1.0})}
    assert after["x"].mean == pytest.approx(1.0)
    assert after["x"].sd == pytest.approx(0.0, abs=1e-9)
    assert after["y"].mean == pytest.approx(50.0 + 10.0 * np.sin(1.5), abs=1.5)
    assert after["y"].low < after["y"].mean < after["y"].high
    # A line through the wave would move y as far down as it moves up: here the sign follows it.
    below = {row.name: row for row in model.intervene({"x": -1.0})}
    assert below["y"].mean == pytest.approx(50.0 - 10.0 * np.sin(1.5), abs=1.5)
    assert below["z"].mean == pytest.approx(after["z"].mean, abs=1.5)


def test_setting_an_effect_leaves_its_cause_alone(model: NonlinearDAG, table: pd.DataFrame) -> None:
    after = {row.name: row for row in model.intervene({"y": 70.0})}
    assert after["x"].mean == pytest.approx(table["x"].mean(), abs=0.1)
    assert after["x"].sd == pytest.approx(table["x"].std(), rel=0.1)


def test_rows_are_drawn_by_a_seed(model: NonlinearDAG, table: pd.DataFrame) -> None:
    rows = model.sample(4000, seed=1)
    assert rows.shape == (4000, 3)
    assert np.array_equal(rows, model.sample(4000, seed=1))
    assert rows.mean(axis=0) == pytest.approx(table.mean().to_numpy(), rel=0.15, abs=0.15)
    assert model.sample(5, do={"y": 3.0}, seed=0)[:, 1] == pytest.approx(3.0)


def test_prediction_is_from_causes_only(model: NonlinearDAG, table: pd.DataFrame) -> None:
    every = model.predict(table)
    assert every.shape == table.shape
    assert every[:, 0] == pytest.approx(table["x"].mean(), abs=0.1)
    moved = table.assign(y=0.0, z=0.0)
    assert model.predict(moved, target="y") == pytest.approx(every[:, 1])
    assert np.corrcoef(every[:, 1], table["y"])[0, 1] > 0.9


def test_refusals(model: NonlinearDAG) -> None:
    with pytest.raises(InputError, match="no column"):
        model.sample(3, do={"w": 1.0})
    with pytest.raises(ParameterError, match="do must map columns to values"):
        model.intervene(3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="n must be a whole number"):
        model.sample(0)
    with pytest.raises(ParameterError, match="nonlinear equations have no one effect"):
        total_effect(model, "x", "y")
