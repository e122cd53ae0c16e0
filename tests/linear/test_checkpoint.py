"""Checkpoints: a killed fit goes on to the same numbers; foreign files are refused."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analyticdag import AnalyticDAG
from analyticdag.errors import InputError, ParameterError
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.schedule import Schedule
from analyticdag.stability import bootstrap

X = np.random.default_rng(0).normal(size=(50, 4)) @ np.triu(np.ones((4, 4)))


def model(file: Any, **changes: Any) -> AnalyticDAG:
    settings = {
        "loss": "mse",
        "refine": False,
        "solver": Adam(
            1e-2,
            check_every=20,
            schedule=Schedule.geometric(s=(1.0, 0.9, 0.8), max_steps=200, tol=1e-3),
        ),
    }
    return AnalyticDAG(checkpoint=file, **{**settings, **changes})


class KilledError(Exception):
    """Stands for a kill in the middle of a fit."""


def kill_in_stage(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    minimise = Adam.minimise

    def dying(self: Adam, problem: Any, W: Any, stage: Any, at: int) -> Any:
        if at == number:
            raise KilledError
        return minimise(self, problem, W, stage, at)

    monkeypatch.setattr(Adam, "minimise", dying)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
@pytest.mark.parametrize("make", [np.asarray, torch.tensor])
@pytest.mark.parametrize("stage", [0, 1, 2])
def test_a_killed_fit_goes_on_to_the_same_numbers(
    stage: int, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, file = model(None).fit(make(X)), tmp_path / "fit.npz"
    with monkeypatch.context() as patch:
        kill_in_stage(patch, stage)
        with pytest.raises(KilledError):
            model(file).fit(make(X))
    assert file.exists() == (stage > 0)
    resumed = model(str(file)).fit(make(X))
    np.testing.assert_array_equal(resumed.weights_, expected.weights_)
    assert resumed.trace_ == expected.trace_
    assert resumed.n_iter_ == expected.n_iter_
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
def test_a_finished_fit_takes_no_step_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "fit.npz"
    first = model(file).fit(X)
    monkeypatch.setattr(Adam, "minimise", lambda *_: pytest.fail("a step was taken"))
    np.testing.assert_array_equal(model(file).fit(X).weights_, first.weights_)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
def test_another_fit_is_refused_the_file(tmp_path: Path) -> None:
    file = tmp_path / "fit.npz"
    model(file).fit(X)
    for other in (model(file, lambda1=0.2), model(file, constraint="order-3")):
        with pytest.raises(ParameterError, match="belongs to a fit with other data or parameters"):
            other.fit(X)
    with pytest.raises(ParameterError, match="belongs to a fit with other data or parameters"):
        model(file).fit(2.0 * X)


def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "thesis.txt"
    file.write_text("years of work")
    with pytest.raises(ParameterError, match="is not a checkpoint of analyticdag"):
        model(file).fit(X)
    assert file.read_text() == "years of work"


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
@pytest.mark.parametrize("leads_to", ["link", "nowhere"])
def test_a_link_that_leads_nowhere_is_left_alone(tmp_path: Path, leads_to: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(leads_to)
    with pytest.raises(InputError, match="cannot read"):
        model(link).fit(X)
    with pytest.raises(InputError, match="cannot read"):
        bootstrap(model(None), X, 1, checkpoint=link)
    assert link.is_symlink()


def test_a_damaged_file_is_one_line_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "fit.npz"
    expected = model(file).fit(X).weights_
    whole = file.read_bytes()
    halves = [whole[: len(whole) * k // 10] for k in range(10)]
    flips = [bytearray(whole) for _ in range(60)]
    for k, flipped in enumerate(flips):
        flipped[len(whole) * k // 60] ^= 1 << k % 8
    refused = 0
    for content in (*halves, *map(bytes, flips)):
        file.write_bytes(content)
        try:
            np.testing.assert_array_equal(model(file).fit(X).weights_, expected)
        except ParameterError as error:
            assert "delete it or name another file" in str(error)  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017
            assert file.read_bytes() == content
            refused += 1
    assert refused > 40  # what is left are bits that mean nothing, such as dates


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
def test_a_bomb_and_a_file_of_another_shape_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "fit.npz"
    np.savez_compressed(file, header="{}", mse=np.zeros(50_000_000))
    with pytest.raises(ParameterError, match="would unpack to more than"):
        model(file).fit(X)
    model(tmp_path / "small.npz").fit(X[:, :3])
    with pytest.raises(ParameterError, match="its entries do not fit"):
        model(tmp_path / "small.npz").fit(X)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
def test_a_path_that_diverged_is_read_back(tmp_path: Path) -> None:
    from analyticdag.fitting.checkpoint import Checkpoint
    from analyticdag.fitting.placement import choose_placement
    from analyticdag.optimize.path import PathState
    from analyticdag.optimize.trace import Stop, Trace, TraceRecord

    record = TraceRecord(0, 5, 1.0, 1.0, 1.0, np.nan, np.inf, 0.0, 1.0, 1.0, Stop.NOT_FINITE)
    file = Checkpoint(tmp_path / "f", "mse", "print", choose_placement(None, None, None))
    file.save(PathState(np.full((2, 2), np.nan), Trace((record,), start="zero"), 5, 1))
    found = file.load((2, 2))
    assert found is not None
    assert repr(found.trace.records[0]) == repr(record)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
def test_threads_on_one_file_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    expected, file = model(None).fit(X).weights_, tmp_path / "fit.npz"
    start, ends = threading.Barrier(6), []

    def fit() -> None:
        start.wait()
        try:
            ends.append(np.array_equal(model(file).fit(X).weights_, expected))
        except ParameterError as error:
            ends.append("in use by another run" in str(error))

    threads = [threading.Thread(target=fit) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [True] * 6
    np.testing.assert_array_equal(model(file).fit(X).weights_, expected)
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_missing_is_noticed_first(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="is in a folder that does not exist"):
        model(tmp_path / "absent" / "fit.npz").fit(X)
