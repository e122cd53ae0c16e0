"""What was done is kept: a saved run gives a fitted model back, and reads new rows as the first."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from people import as_csv, people

from analyticdag import AnalyticDAG
from analyticdag.effects import total_effect
from analyticdag.errors import DataError, DataWarning, InputError
from analyticdag.io import SavedRun, load_run, read_table, record_of, run_of_weights, save_run
from analyticdag.tables import read_cells

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AnalyticDAG]:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "people.csv").write_text(as_csv(people()))
    table = read_table(folder / "people.csv", missing="em", kinds={"visit": "days"})
    model = AnalyticDAG(missing="em").fit(table.columns)
    save_run(record_of(model, look=table.look), folder / "run")
    return folder, model


def frame(folder: Path) -> Any:
    return pandas.read_csv(folder / "people.csv")


def test_the_run_holds_kinds_levels_centre_scale_covariance_and_rows(
    saved: tuple[Path, AnalyticDAG],
) -> None:
    folder, model = saved
    run = load_run(folder / "run")
    assert json.loads((folder / "run" / "model.json").read_text())["version"] == 2
    assert run.look is not None
    columns = {column.name: column for column in run.look.columns}
    assert columns["smoker"].levels == ("no", "Yes")
    assert (columns["savings"].kind, columns["savings"].unit) == ("number", "%")
    assert (columns["visit"].kind, columns["visit"].dates) == ("days", "ISO")
    assert columns["patient_id"].kind == "identifier"
    assert run.fitted is not None
    np.testing.assert_array_equal(run.fitted.moments.covariances, model.moments_.covariances)
    assert run.fitted.moments.n_samples == model.moments_.n_samples < 400
    np.testing.assert_array_equal(run.fitted.mean, model.mean_)
    np.testing.assert_array_equal(run.fitted.scale, model.scale_)


def test_a_saved_run_gives_a_fitted_model_back(saved: tuple[Path, AnalyticDAG]) -> None:
    folder, model = saved
    again = load_run(folder / "run").to_estimator()
    assert again.edges_ == model.edges_
    assert set(again.class_graph_.edges) == set(model.class_graph_.edges)
    assert total_effect(again, "smoker", "risk") == total_effect(model, "smoker", "risk")
    assert again.missing == "em"
    np.testing.assert_array_equal(again.sample(5, seed=1), model.sample(5, seed=1))
    assert repr(again.status_) == repr(model.status_)


def test_new_rows_go_through_the_same_steps(saved: tuple[Path, AnalyticDAG]) -> None:
    folder, model = saved
    again = load_run(folder / "run").to_estimator()
    table = read_table(folder / "people.csv", missing="em", kinds={"visit": "days"})
    score = model.score(table.columns)
    assert again.score(frame(folder)) == pytest.approx(score, rel=1e-12)
    assert again.score(read_cells(folder / "people.csv")[0]) == pytest.approx(score, rel=1e-12)
    some = frame(folder)[["active", "smoker", "sex", "age", "sbp", "height", "weight", "income"]]
    with pytest.raises(DataError, match=r"missing \['visit', 'savings', 'risk', 'region'\]"):
        again.score(some)
    with pytest.raises(DataError, match=r"new \['height in feet'\]"):
        again.score(frame(folder).rename(columns={"height": "height in feet"}))


def test_a_level_that_the_fit_has_not_seen(saved: tuple[Path, AnalyticDAG]) -> None:
    folder, _ = saved
    again = load_run(folder / "run").to_estimator()
    odd = frame(folder).astype({"smoker": object})
    odd.loc[7, "smoker"] = "sometimes"
    missing = odd.copy()
    missing.loc[7, "smoker"] = None
    with pytest.warns(DataWarning, match="'sometimes' in column 'smoker', row 7, .* as a gap"):
        score = again.score(odd)
    assert score == again.score(missing)  # a gap, for a model that knows gaps
    with pytest.raises(DataError, match=r"'sometimes' in column 'smoker', row 7.*'no', 'Yes'"):
        again.set_params(missing="error").score(odd)


def test_a_graph_from_elsewhere_is_no_model() -> None:
    with pytest.raises(InputError, match="a graph from elsewhere"):
        run_of_weights([[0, 1], [0, 0]], ["a", "b"]).to_estimator()


def test_interventions_are_kept_with_their_moments(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(300)
    X = np.column_stack([x, 2 * x + rng.standard_normal(300)])
    targets = [None] * 200 + [1] * 100
    X[200:, 1] = rng.standard_normal(100)
    model = AnalyticDAG().fit(X, interventions=targets)
    again = load_run(save_run(record_of(model), tmp_path / "run")).to_estimator()
    assert total_effect(again, "0", "1").value == total_effect(model, 0, 1).value
    np.testing.assert_array_equal(again.moments_.of, [0, 1])


def damaged(run: SavedRun, change: Callable[[dict[str, Any]], None], folder: Path) -> None:
    """Save a run with changed arrays, hash included."""
    save_run(run, folder)
    with np.load(folder / "weights.npz") as arrays:
        new = {name: arrays[name] for name in arrays.files}
    change(new)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **new)
    (folder / "weights.npz").write_bytes(buffer.getvalue())
    model = json.loads((folder / "model.json").read_text())
    model["weights_sha256"] = hashlib.sha256(buffer.getvalue()).hexdigest()
    (folder / "model.json").write_text(json.dumps(model))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("covariances", np.zeros((1, 2, 2)), "covariances is not float64 of 1 sets, 12 columns"),
        ("covariances", -np.eye(12)[None], "must be symmetric, with variances"),
        ("covariances", np.triu(np.ones((1, 12, 12))), "must be symmetric"),
        ("counts", np.array([0]), "every column must have a set of rows"),
        ("of", np.full(12, 3), "every column must have a set of rows"),
        ("scale", np.zeros(12), "scale and noise must be above zero"),
        ("mean", np.full(12, np.nan), "mean must be finite"),
    ],
)
def test_a_state_that_cannot_be_is_refused(
    saved: tuple[Path, AnalyticDAG], tmp_path: Path, name: str, value: Any, message: str
) -> None:
    run = load_run(saved[0] / "run")
    damaged(run, lambda arrays: arrays.update({name: value}), tmp_path / "run")
    with pytest.raises(InputError, match=message):
        load_run(tmp_path / "run")


def test_a_look_at_another_table_is_refused(
    saved: tuple[Path, AnalyticDAG], tmp_path: Path
) -> None:
    run = load_run(saved[0] / "run")
    assert run.look is not None
    save_run(replace(run, look=replace(run.look, columns=run.look.columns[:-3])), tmp_path / "run")
    with pytest.raises(InputError, match="look is of a table with other columns"):
        load_run(tmp_path / "run")
