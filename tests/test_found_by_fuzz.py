"""What the campaign found after the gates were built, each by the program it printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, NonlinearDAG
from analyticdag._files import in_use
from analyticdag.errors import AnalyticDAGWarning, DataError, DataWarning, ParameterError
from analyticdag.optimize.schedule import Schedule
from analyticdag.stability import bootstrap

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("name", [".", "", b"x", "a\0b", "\ud800", 3, "no/folder/state"])
@pytest.mark.parametrize(
    "fit",
    [
        lambda name: AnalyticDAG(checkpoint=name).fit(X),
        lambda name: NonlinearDAG(checkpoint=name).fit(X),
        lambda name: bootstrap(AnalyticDAG(solver="order"), X, 2, checkpoint=name),
    ],
    ids=["linear", "nonlinear", "bootstrap"],
)
def test_a_checkpoint_that_is_no_file_is_refused(
    name: Any, fit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="checkpoint"):
        fit(name)
    assert list(tmp_path.iterdir()) == []


def changed(file: Path, name: str, change: float) -> None:
    with np.load(file) as saved:
        arrays = {key: saved[key] for key in saved.files}
    arrays[name] = arrays[name] + np.asarray(change, dtype=arrays[name].dtype)
    with file.open("wb") as handle:
        np.savez(handle, **arrays)


def test_changed_weights_in_a_checkpoint_are_refused(tmp_path: Path) -> None:
    model = AnalyticDAG(loss="mse", checkpoint=tmp_path / "state").fit(X)
    changed(tmp_path / "state", "mse", 0.5)
    with pytest.raises(ParameterError, match="changed after it had been written"):
        model.fit(X)


def test_changed_counts_in_a_checkpoint_are_refused(tmp_path: Path) -> None:
    model = AnalyticDAG(solver="order")
    bootstrap(model, X, 3, checkpoint=tmp_path / "state")
    changed(tmp_path / "state", "directed", 1)
    with pytest.raises(ParameterError, match="damaged"):
        bootstrap(model, X, 4, checkpoint=tmp_path / "state")


def test_a_schedule_wants_a_list_of_scales() -> None:
    with pytest.raises(ParameterError, match="one number for each stage"):
        Schedule.geometric(s=1.0)  # type: ignore[arg-type]


def test_a_sparse_tensor_is_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(DataError, match="to_dense"):
        AnalyticDAG().fit(torch.tensor(X).to_sparse())


def test_progress_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(ParameterError, match="progress must be a function"):
        bootstrap(AnalyticDAG(solver="order"), X, 2, progress=0.5)  # type: ignore[arg-type]


def test_the_current_folder_can_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    again = in_use(tmp_path / "here", "the folder")
    with in_use(".", "the folder"), pytest.raises(ParameterError, match="in use"), again:
        pass


def test_numbers_of_400_digits_are_refused() -> None:
    with pytest.raises(ParameterError, match="n_samples"):
        AnalyticDAG().fit_covariance(np.eye(2), n_samples=10**400)
    with pytest.raises(ParameterError, match="subsample"):
        bootstrap(AnalyticDAG(solver="order"), X, 2, subsample=-(10**400))


def test_verbose_that_is_an_array_is_refused() -> None:
    with pytest.raises(ParameterError, match="verbose"):
        NonlinearDAG(verbose=np.array(["a", None], dtype=object)).fit(X)


def test_columns_of_one_name_in_an_arrow_table_are_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_arrays([pa.array([1.0, 2.0]), pa.array([2.0, 1.0])], names=["a", "a"])
    with pytest.raises(DataError, match="more than one column"):
        AnalyticDAG().fit(table)


def test_a_tensor_with_a_gradient_is_resampled() -> None:
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X, requires_grad=True)
    assert bootstrap(AnalyticDAG(solver="order"), rows, 2).n_resamples == 2


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
def test_columns_that_fit_exactly_overflow_nothing() -> None:
    rng = np.random.default_rng(630)
    exact = (rng.normal(size=(5, 2)) > 0).astype(float)
    exact = exact @ np.linalg.inv(np.eye(2) - np.triu(rng.normal(size=(2, 2)), 1))
    assert np.isfinite(AnalyticDAG(solver="order").fit(exact).weights_).all()


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
def test_more_columns_than_rows_overflow_no_start() -> None:
    few = np.random.default_rng(36).standard_cauchy(size=(4, 17))
    few[:, 1] *= 1e9
    assert np.isfinite(AnalyticDAG(refine=False).fit(few).weights_).all()


def test_a_price_of_an_edge_is_a_number() -> None:
    with pytest.raises(ParameterError, match=r"gamma must be .* at most 1e\+100 or 'auto'"):
        AnalyticDAG(gamma=1e308).fit(X)
    assert not AnalyticDAG(gamma=1e100).fit(X).edges_


@pytest.mark.parametrize("rule", [np.array([1.0, 2.0]), ["em"], 0.5])
def test_a_rule_for_gaps_that_is_none_is_refused(rule: Any) -> None:
    with pytest.raises(ParameterError, match="missing must be"):
        bootstrap(AnalyticDAG(missing=rule), X, 1)
    with pytest.raises(ParameterError, match="missing must be"):
        AnalyticDAG(missing=rule).fit(X)


def test_a_column_that_is_constant_in_a_fold_divides_by_nothing() -> None:
    spike = np.zeros((40, 3))
    spike[0, 1] = 1.0
    with np.errstate(all="raise"), pytest.warns(DataWarning, match="constant"):
        AnalyticDAG(refine=False, lambda1="cv").fit(spike)


def test_a_penalty_is_a_number_in_every_unit() -> None:
    with pytest.raises(ParameterError, match=r"lambda1 must be .* at most 1e\+100"):
        AnalyticDAG(refine=False, lambda1=1e300).fit(1e16 * X)
    assert not AnalyticDAG(refine=False, lambda1=1e100).fit(1e16 * X).edges_


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
def test_a_table_of_constants_has_a_score() -> None:
    model = AnalyticDAG(solver="order").fit(np.full((8, 3), 1e100))
    assert model.score(np.full((8, 3), 1e100)) == 0.0
    assert model.score(np.full((8, 3), 1e100), sample_weight=np.ones(8)) == 0.0


@pytest.mark.parametrize("effort", [1e308, 1001.0])
def test_an_effort_without_end_is_refused(effort: float) -> None:
    with pytest.raises(ParameterError, match=r"effort must be .* at most 1000"):
        AnalyticDAG(effort=effort).fit(X)


def test_a_name_that_no_file_can_hold_is_in_the_table_of_edges() -> None:
    pd = pytest.importorskip("pandas")
    names = ["\ud800", 1, "b"]
    chain = np.cumsum(X[:, :3], axis=1)
    frame = pd.DataFrame(chain, columns=pd.Index(names, dtype=object))
    edges = AnalyticDAG(solver="order").fit(frame).edges_frame()
    assert len(edges) > 0
    assert {*edges["source"], *edges["target"]} <= set(names)
    assert edges["weight"].dtype == float


def test_a_checkpoint_whose_name_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x" * 300, f"{'x' * 300}/state"):
        with pytest.raises(ParameterError, match=r"File name too long|does not exist"):
            AnalyticDAG(checkpoint=name).fit(X)


def test_a_level_of_400_digits_is_refused() -> None:
    with pytest.raises(ParameterError, match="pruning must be"):
        NonlinearDAG(pruning=10**400).fit(X)


def test_names_with_line_ends_are_one_line_in_warnings() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.cumsum(X, axis=1), columns=["a\nb", "c", "d"])
    model = AnalyticDAG(loss="likelihood-nv").fit(frame)
    with pytest.warns(AnalyticDAGWarning, match="direction is open") as warned:
        model.intervene({"c": 1.0})
    assert all(len(str(warning.message).splitlines()) == 1 for warning in warned)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("d", [1, 3])
def test_the_callers_rows_stay_as_they_are(order: Any, d: int) -> None:
    rows = np.array(5.0 + np.random.default_rng(1).uniform(size=(53, d)), order=order)
    kept = rows.copy()
    AnalyticDAG().fit(rows)
    assert np.array_equal(rows, kept)
    rows.flags.writeable = False
    AnalyticDAG().fit(rows)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
def test_a_column_without_variance_in_its_own_rows_has_a_ladder() -> None:
    rows = np.random.default_rng(0).uniform(size=(12, 2))
    rows[:, 0] = np.arange(12) == 0
    targets = [k % 2 if k % 3 == 0 else None for k in range(12)]
    with np.errstate(all="raise"):
        assert AnalyticDAG().fit(rows, interventions=targets).ladder_ is not None


def test_infinite_cells_of_text_are_refused_without_a_warning() -> None:
    pd = pytest.importorskip("pandas")
    text = pd.DataFrame({"a": ["inf"] * 9, "b": [str(x) for x in X[:9, 0]]})
    with np.errstate(all="raise"), pytest.raises(DataError):
        AnalyticDAG().fit(text)


def test_cells_that_are_lists_are_no_table_of_their_own() -> None:
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": [[1.0], [2.0]] * 10, "b": np.arange(20.0)})
    model = AnalyticDAG(kinds={"a": "yes/no"}).fit(table)
    assert model.feature_names_in_.tolist() == ["a", "b"]
