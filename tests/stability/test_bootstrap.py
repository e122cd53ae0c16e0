"""The resampling machinery: seeds, backends, checkpoints, refusals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.errors import DataError, ParameterError
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.simulate import simulate
from analyticdag.stability import Stability, bootstrap
from analyticdag.stability.resamples import Scheme


class TopCorrelation(BaseEstimator):
    """Joins the two columns that correlate most: as quick as an estimator can be."""

    def __init__(self, flip: bool = False, checkpoint: str | None = None) -> None:
        self.flip = flip
        self.checkpoint = checkpoint

    def fit(self, X: Any) -> TopCorrelation:
        size = np.triu(np.abs(np.corrcoef(np.asarray(X).T)), 1)
        self.adjacency_matrix_ = (size == size.max()).astype(int)
        if self.flip:
            self.adjacency_matrix_ = self.adjacency_matrix_.T
        return self


def data(n: int = 60) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=(n, 4))


def quick_fit(**changes: Any) -> AnalyticDAG:
    schedule = Schedule([Stage(mu=0.1, s=1.0, max_steps=40)])
    adam = Adam(learning_rate=0.02, schedule=schedule)
    return AnalyticDAG(loss="mse", solver=adam, refine=False, **changes)


def frequencies(result: Stability) -> list[Any]:
    return [result.edge_frequency, result.direction_frequency, result.skeleton_frequency]


def assert_same(left: Stability, right: Stability) -> None:
    for a, b in zip(frequencies(left), frequencies(right), strict=True):
        np.testing.assert_array_equal(a, b)


def test_frequencies_are_the_shares_of_fits_done_by_hand() -> None:
    X = data()
    result = bootstrap(TopCorrelation(), X, 12, random_state=3)
    scheme = Scheme(len(X), None, 3)
    by_hand = [TopCorrelation().fit(X[scheme.rows(k)]).adjacency_matrix_ for k in range(12)]
    np.testing.assert_allclose(result.edge_frequency, np.mean(by_hand, axis=0))
    np.testing.assert_allclose(
        result.skeleton_frequency, result.edge_frequency + result.edge_frequency.T
    )
    # One edge alone is undirected in its class.
    assert not result.direction_frequency.any()
    assert result.skeleton_frequency.sum() == pytest.approx(2.0)


def test_seeds_are_the_children_of_one_seed() -> None:
    child = np.random.SeedSequence(5).spawn(3)[2]
    expected = np.random.default_rng(child).integers(50, size=50)
    np.testing.assert_array_equal(Scheme(50, None, 5).rows(2), expected)


def test_pairs_are_disjoint_halves_and_fractions_draw_without_replacement() -> None:
    scheme = Scheme(11, "complementary", 0)
    first, second, third = scheme.rows(0), scheme.rows(1), scheme.rows(2)
    assert len(first) == len(second) == 5
    assert len({*first, *second}) == 10
    assert not np.array_equal(first, third)
    some = Scheme(10, 0.7, 0).rows(0)
    assert len(some) == len(set(some)) == 7


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_numbers_do_not_depend_on_backend_or_workers(backend: str) -> None:
    X = simulate("ER1", n_nodes=4, n_samples=60, seed=0).data
    alone = bootstrap(quick_fit(), X, 6)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert_same(alone, bootstrap(quick_fit(), X, 6))
    assert alone.edge_frequency.any()


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_numbers() -> None:
    distributed = pytest.importorskip("distributed")
    X = simulate("ER1", n_nodes=4, n_samples=60, seed=0).data
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        there = bootstrap(quick_fit(), X, 6)
    assert_same(there, bootstrap(quick_fit(), X, 6))


def test_names_and_knowledge_go_with_the_rows() -> None:
    X = pd.DataFrame(data(), columns=list("abcd"))
    known = Knowledge(required_edges=[("d", "a")])
    result = bootstrap(quick_fit(knowledge=known), X, 3)
    assert result.names == ("a", "b", "c", "d")
    assert result.edge_frequency[3, 0] == 1.0


KILLED = """
    import os, signal, sys
    import numpy as np
    sys.path.insert(0, {tests!r})
    from test_bootstrap import TopCorrelation, data
    from analyticdag.stability import bootstrap

    def die(done, total):
        if done == 27:
            os.kill(os.getpid(), signal.SIGKILL)

    bootstrap(TopCorrelation(), data(), 40, checkpoint={file!r}, progress=die)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_run_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    file = tmp_path / "counts.npz"
    script = KILLED.format(tests=str(Path(__file__).parent), file=str(file))
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert ended.returncode == -signal.SIGKILL
    seen: list[int] = []
    resumed = bootstrap(
        TopCorrelation(), data(), 40, checkpoint=file, progress=lambda done, _: seen.append(done)
    )
    assert seen == list(range(21, 41))  # saved every ten
    assert_same(resumed, bootstrap(TopCorrelation(), data(), 40))


def test_more_resamples_go_on_from_a_finished_file(tmp_path: Path) -> None:
    file = tmp_path / "counts.npz"
    bootstrap(TopCorrelation(), data(), 7, checkpoint=file)
    assert_same(
        bootstrap(TopCorrelation(), data(), 15, checkpoint=file),
        bootstrap(TopCorrelation(), data(), 15),
    )
    with pytest.raises(ParameterError, match="already holds 15 resamples, more than"):
        bootstrap(TopCorrelation(), data(), 8, checkpoint=file)


def test_a_file_of_another_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "counts.npz"
    bootstrap(TopCorrelation(), data(), 4, checkpoint=file)
    for other in (
        {"estimator": TopCorrelation(flip=True)},
        {"X": data(61)},
        {"random_state": 1},
        {"subsample": 0.5},
    ):
        call: dict[str, Any] = {"estimator": TopCorrelation(), "X": data(), **other}
        with pytest.raises(ParameterError, match="other data, estimator or seed"):
            bootstrap(**call, n_resamples=4, checkpoint=file)
    file.write_text("something else")
    with pytest.raises(ParameterError, match="not a checkpoint of a bootstrap"):
        bootstrap(TopCorrelation(), data(), 4, checkpoint=file)


def test_no_seed_draws_another_one_each_time() -> None:
    one, two = (bootstrap(TopCorrelation(), data(), 2, random_state=None) for _ in range(2))
    assert one.seed != two.seed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be a whole number of at least 1 and .*, not 0"),
        ({"subsample": 1.5}, "a fraction between 0 and 1, or 'complementary', not 1.5"),
        ({"subsample": "half"}, "or 'complementary', not 'half'"),
        ({"subsample": "complementary", "n_resamples": 7}, "even n_resamples, not 7; use 8"),
        ({"random_state": -1}, "random_state must be None, or a whole number of at least 0"),
        ({"random_state": None, "checkpoint": "file"}, "give random_state a number"),
        ({"estimator": TopCorrelation(checkpoint="a")}, "the estimator has a checkpoint file"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    call = {"estimator": TopCorrelation(), "X": data(), "n_resamples": 4, **changes}
    with pytest.raises(ParameterError, match=message):
        bootstrap(**call)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(DataError, match=r"subsample=0\.1 of 10 rows leaves 1; at least 2"):
        bootstrap(TopCorrelation(), data(10), 4, subsample=0.1)


def test_interventions_are_drawn_with_their_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    mask = np.zeros(X.shape, dtype=bool)
    mask[150:, 1] = True
    X[:150, 1] += X[:150, 0]  # a -> b, except where b is perturbed
    model = AnalyticDAG(loss="likelihood-nv", solver="order")
    file = tmp_path / "counts.npz"
    found = bootstrap(model, X, 8, interventions=mask, checkpoint=file)
    assert found.direction_frequency[0, 1] == 1.0
    assert bootstrap(model, X, 8).direction_frequency.max() == 0.0
    with pytest.raises(ParameterError, match="belongs to a bootstrap with other data"):
        bootstrap(model, X, 8, checkpoint=file)


def test_a_damaged_checkpoint_is_one_line_and_left_alone(tmp_path: Path) -> None:
    file, expected = tmp_path / "counts.npz", bootstrap(TopCorrelation(), data(), 20)
    bootstrap(TopCorrelation(), data(), 10, checkpoint=file)
    whole = file.read_bytes()
    flips = [bytearray(whole) for _ in range(40)]
    for k, flipped in enumerate(flips):
        flipped[len(whole) * k // 40] ^= 1 << k % 8
    refused = 0
    for content in (b"", b"years of work", whole[:200], *map(bytes, flips)):
        file.write_bytes(content)
        try:
            assert_same(bootstrap(TopCorrelation(), data(), 20, checkpoint=file), expected)
        except ParameterError as error:
            assert "delete it or name another file" in str(error)  # noqa: PT017
            assert file.read_bytes() == content
            refused += 1
    assert refused > 25


@pytest.mark.parametrize(
    "changes",
    [{"done": 1}, {"edges": np.zeros((2, 2), dtype=np.int64)}, {"edges": np.ones((4, 4))}],
)
def test_counts_that_cannot_be_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    file = tmp_path / "counts.npz"
    bootstrap(TopCorrelation(), data(), 10, checkpoint=file)
    with np.load(file) as saved:
        arrays = dict(saved)
    note = json.loads(str(arrays["note"]))
    note["done"] = changes.pop("done", note["done"])
    np.savez(file, **{**arrays, **changes, "note": json.dumps(note)})
    with pytest.raises(ParameterError, match="is not a checkpoint of a bootstrap, or damaged"):
        bootstrap(TopCorrelation(), data(), 20, checkpoint=file)


def test_two_at_one_checkpoint(tmp_path: Path) -> None:
    file = tmp_path / "counts.npz"

    def another(done: int, _: int) -> None:
        with pytest.raises(ParameterError, match="in use by another run"):
            bootstrap(TopCorrelation(), data(), 3, checkpoint=file)

    bootstrap(TopCorrelation(), data(), 3, checkpoint=file, progress=another)
    assert list(tmp_path.iterdir()) == [file]
