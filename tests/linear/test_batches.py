"""More rows than memory: files, iterables, partial_fit; the same answer as one table gives."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag._tables import NamedColumns
from analyticdag.errors import DataError, ParameterError
from analyticdag.fitting import rows as kept_rows
from analyticdag.fitting.rows import Sample
from analyticdag.simulate import simulate
from analyticdag.sums import Sums
from analyticdag.tables import read_batches

pandas = pytest.importorskip("pandas")
NAMES = [f"x{k}" for k in range(6)]
X = simulate("ER1", n_nodes=6, n_samples=1000, noise_scale=(0.5, 2.0), seed=3).data
FRAME = pandas.DataFrame(X, columns=NAMES)
WHOLE = AnalyticDAG().fit(FRAME)


def pieces(table: Any, size: int) -> Iterator[Any]:
    return (table[first : first + size] for first in range(0, len(table), size))


def check(model: AnalyticDAG, like: AnalyticDAG = WHOLE) -> None:
    S = like.moments_.S
    np.testing.assert_allclose(model.moments_.S, S, rtol=1e-10, atol=1e-10 * S.max())
    np.testing.assert_allclose(model.mean_, like.mean_, rtol=1e-10, atol=1e-12)
    assert model.moments_.n_samples == like.moments_.n_samples
    # Of members of one class rounding may take either: they fit equally well.
    np.testing.assert_array_equal(model.cpdag_, like.cpdag_)
    assert model.loss_ == like.loss_


@pytest.mark.parametrize("size", [1, 7, 333, 1000, 5000])
def test_batches_of_any_size_give_the_same_graph(size: int) -> None:
    check(AnalyticDAG().fit(pieces(FRAME, size)))


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
@pytest.mark.parametrize("size", [1, 3, 64, 999])
def test_sums_keep_their_digits_whatever_the_batch_and_the_offset(offset: float, size: int) -> None:
    moved = np.round(X, 6) + offset  # the digits that are left of the numbers themselves
    sums = Sums.of_rows(moved[:size])
    for batch in pieces(moved[size:], size):
        sums = sums.merge(Sums.of_rows(batch))
    exact = np.cov((moved - offset).T, bias=True)
    sd = np.sqrt(np.diag(exact))
    np.testing.assert_allclose(
        sums.covariance / np.outer(sd, sd), exact / np.outer(sd, sd), atol=1e-10, rtol=0
    )
    np.testing.assert_allclose(
        sums.mean, offset + (moved - offset).mean(axis=0), rtol=1e-14, atol=1e-13
    )
    assert sums.n == len(X)


def test_columns_of_very_different_size_share_their_sums() -> None:
    scale = np.array([1e-120, 1.0, 1e120, 3.0, 1e60, 1e-60])
    sums = Sums.of_rows(X[:400] * scale).merge(Sums.of_rows(X[400:] * scale * 1.0))
    one = Sums.of_rows(X * scale)
    np.testing.assert_allclose(sums.covariance, one.covariance, rtol=1e-10)


def test_what_is_a_batch() -> None:
    arrow = pytest.importorskip("pyarrow")
    torch = pytest.importorskip("torch")
    check(AnalyticDAG().fit([X[:600], X[600:]]))
    check(AnalyticDAG().fit(arrow.Table.from_pandas(FRAME).to_reader(max_chunksize=100)))
    check(AnalyticDAG().fit({0: X[:600], 1: X[600:]}.values()))
    data = torch.utils.data.TensorDataset(torch.tensor(X))
    check(AnalyticDAG().fit(torch.utils.data.DataLoader(data, batch_size=128)))


def test_files_are_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr("analyticdag.tables.batches.BATCH_ROWS", 77)
    monkeypatch.setattr("analyticdag.tables.text.text_batches.__defaults__", (5000,))
    FRAME.to_parquet(tmp_path / "x.parquet", index=False)
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    FRAME.to_feather(tmp_path / "x.feather")
    (tmp_path / "many").mkdir()
    FRAME[:300].to_parquet(tmp_path / "many" / "a.parquet", index=False)
    FRAME[300:].to_parquet(tmp_path / "many" / "b.parquet", index=False)
    for name in ("x.parquet", "x.csv", "x.feather", "many"):
        assert len(list(read_batches(tmp_path / name))) > 5
        model = AnalyticDAG().fit(tmp_path / name)
        check(model)
        assert list(model.feature_names_in_) == NAMES
        assert model.score(FRAME) == pytest.approx(WHOLE.score(FRAME))
    dataset = arrow.dataset.dataset(tmp_path / "x.parquet")
    check(AnalyticDAG().fit(dataset))
    check(AnalyticDAG().fit(str(tmp_path / "x.csv")))


def test_partial_fit_goes_on_from_all_rows_before() -> None:
    model = AnalyticDAG()
    for batch in pieces(FRAME, 250):
        model.partial_fit(batch)
    check(model)
    after = AnalyticDAG().fit(FRAME[:400]).partial_fit(FRAME[400:])
    np.testing.assert_allclose(after.moments_.S, WHOLE.moments_.S, rtol=1e-10, atol=1e-10)
    check(model.fit(FRAME))  # a fit begins anew
    model = AnalyticDAG(standardize=True).fit(FRAME[:400]).partial_fit(FRAME[400:])
    np.testing.assert_allclose(model.mean_, WHOLE.mean_)
    np.testing.assert_allclose(model.scale_, X.std(axis=0))
    with pytest.raises(DataError, match="5 features, but AnalyticDAG is expecting 6"):
        model.partial_fit(X[:, :5])


def test_partial_fit_with_weights_is_that_of_repeated_rows() -> None:
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = AnalyticDAG()
    for first in (0, 500):
        model.partial_fit(FRAME[first : first + 500], sample_weight=weights[first : first + 500])
    check(model, AnalyticDAG().fit(FRAME.iloc[np.repeat(np.arange(len(X)), weights)]))


def test_a_column_that_is_constant_in_one_batch_only_is_not_constant() -> None:
    Y = X.copy()
    Y[:500, 2] = 7.0
    model = AnalyticDAG().fit(pieces(Y, 500))
    assert model.noise_variances_[2] > 0.0
    Y[:, 2] = 7.0
    with pytest.warns(UserWarning, match=r"columns \[2\] are constant"):
        AnalyticDAG().fit(pieces(Y, 500))


def test_a_sample_is_fair_and_the_same_whatever_the_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_rows, "MOST_ROWS", 1000)
    numbers = np.arange(64_000.0)[:, None]
    found = []
    for size in (64_000, 999, 64):
        sample = Sample()
        for batch in pieces(numbers, size):
            sample.add(batch)
        found.append(sample.rows.values.ravel())
        assert not sample.rows.whole
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert 850 < len(found[0]) < 1150
    # Every fourth row, as every first visit of a patient, is there as often as the others.
    assert np.bincount(found[0].astype(int) % 4).min() > 190
    assert np.bincount((found[0] / 16_000).astype(int)).min() > 190


def test_kurtosis_and_misfit_come_from_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    table = simulate("ER1", n_nodes=5, n_samples=20_000, noise="student", seed=1).data
    whole = AnalyticDAG().fit(table)
    monkeypatch.setattr(kept_rows, "MOST_ROWS", 5000)
    model = AnalyticDAG().fit(pieces(table, 3000))
    assert whole.loss_choice_ is not None
    assert model.loss_choice_ is not None
    assert model.loss_choice_.kurtosis == pytest.approx(whole.loss_choice_.kurtosis, rel=0.5)
    assert model.loss_choice_.kurtosis > 3.5
    assert model.loss_ == whole.loss_


def test_rows_with_gaps_are_refused_or_left_out() -> None:
    holes = FRAME.copy()
    holes.loc[701, "x2"] = np.nan
    with pytest.raises(DataError, match=r"batch 2: X has NaN in columns \['x2'\].*row 101"):
        AnalyticDAG().fit(pieces(holes, 300))
    check(AnalyticDAG(missing="drop").fit(pieces(holes, 300)), AnalyticDAG().fit(holes.dropna()))
    with pytest.raises(ParameterError, match="missing='em' needs all rows at once"):
        AnalyticDAG(missing="em").fit(pieces(holes, 300))
    with pytest.raises(ParameterError, match="missing='em' needs all rows at once"):
        AnalyticDAG(missing="em").partial_fit(holes)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "logistic", "solver": "adam"}, "loss='logistic' needs all rows at once"),
        ({"lambda1": "cv", "loss": "mse"}, "lambda1='cv' needs all rows at once"),
    ],
)
def test_what_needs_every_row_says_so(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        AnalyticDAG(**settings, refine=False).fit(pieces(X, 300))


def test_what_does_not_go_with_batches_is_refused(tmp_path: Path) -> None:
    model = AnalyticDAG()
    with pytest.raises(ParameterError, match="to partial_fit, one after the other"):
        model.fit(pieces(X, 300), sample_weight=np.ones(1000))
    with pytest.raises(ParameterError, match="interventions need all rows at once"):
        model.fit(pieces(X, 300), interventions=[None] * 1000)
    with pytest.raises(DataError, match=r"X gives single rows; pass list\(X\)"):
        model.fit(row for row in X)
    with pytest.raises(DataError, match="n_samples=0 rows"):
        model.fit(iter([]))
    with pytest.raises(DataError, match="n_samples=1 rows"):
        AnalyticDAG().partial_fit(X[:1])
    with pytest.raises(DataError, match=r"batch 1: .*the feature names should match"):
        model.fit(iter([FRAME, FRAME[NAMES[::-1]]]))
    with pytest.raises(DataError, match="there is no file"):
        model.fit(tmp_path / "nothing.parquet")
    with pytest.raises(DataError, match="an address on the net"):
        model.fit("https://example.org/x.csv")
    FRAME.assign(who=[f"p{k}" for k in range(1000)]).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(DataError, match=r"cannot be variables: \['who \(identifier\)'\]"):
        model.fit(tmp_path / "x.csv")
    check(model.fit(read_batches(tmp_path / "x.csv", drop=["who"])))
    mask = np.zeros(X.shape, dtype=bool)
    mask[:100, 0] = True
    with pytest.raises(ParameterError, match="cannot go on from a fit with interventions"):
        AnalyticDAG().fit(X, interventions=mask).partial_fit(X)


def test_text_in_batches_is_what_it_is_at_once(tmp_path: Path) -> None:
    rows = ["# by hand", "a;b;who"]
    rows += [f'{k},5;{(7 * k) % 11};"x\n{k % 2}"' for k in range(200)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join([*rows, "# the end", ""]))
    from analyticdag.tables import read_cells
    from analyticdag.tables.text import text_batches

    whole = read_cells(path)[0]
    for size in (10, 100, 1000, 10**6):
        parts = list(text_batches(path, size))
        assert {part.names for part in parts} == {whole.names}
        assert [row for part in parts for row in part.rows] == list(whole.rows)
        for k in range(3):
            assert [c for part in parts for c in part.columns[k]] == list(whole.columns[k])
    path.write_text("8 2\n3 4\nNA 5\n6 7\n" * 10)  # no header
    parts = list(text_batches(path, 4))
    assert {part.names for part in parts} == {("0", "1")}
    assert sum(len(part) for part in parts) == 40
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16 text cannot be read in batches"):
        list(text_batches(path))


def test_a_cell_that_does_not_fit_in_later_is_refused_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    lines = [f"{k * k % 7},{k * k % 17},{'yes' if k % 3 else 'no'}" for k in range(400)]
    lines[300] = "300,a lot,yes"
    path.write_text("\n".join(["a,b,c", *lines]))
    monkeypatch.setattr("analyticdag.tables.text.text_batches.__defaults__", (500,))
    with pytest.raises(DataError, match="'a lot' in column 'b', row 302"):
        AnalyticDAG().fit(path)
    lines[300] = "300,1,perhaps"
    path.write_text("\n".join(["a,b,c", *lines]))
    with pytest.raises(DataError, match=r"'perhaps' in column 'c', row 302, which is none of"):
        AnalyticDAG().fit(path)


@pytest.mark.filterwarnings("ignore")
def test_a_real_cluster_adds_up_and_no_rows_come_here() -> None:
    dask = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        frame = dask.from_pandas(FRAME, npartitions=7)
        model = AnalyticDAG().fit(frame)
        check(model)
        assert model.loss_choice_ is not None
        assert WHOLE.loss_choice_ is not None
        assert model.loss_choice_.kurtosis == pytest.approx(WHOLE.loss_choice_.kurtosis)
        holes = FRAME.copy()
        holes.loc[701, "x2"] = np.nan
        with pytest.raises(DataError, match=r"X has NaN in columns \['x2'\]"):
            AnalyticDAG().fit(dask.from_pandas(holes, npartitions=7))
        days = pandas.date_range("2020-01-01", periods=1000)
        with pytest.raises(DataError, match=r"columns that are not numbers: \['s'\]"):
            AnalyticDAG().fit(dask.from_pandas(FRAME.assign(s=days), npartitions=2))
        with warnings.catch_warnings():
            dropped = AnalyticDAG(missing="drop").fit(dask.from_pandas(holes, npartitions=7))
        check(dropped, AnalyticDAG().fit(holes.dropna()))
        words = np.array(["red", "green", "blue"])[(X[:, 0] > 0) + (np.arange(1000) % 7 == 0) * 1]
        mixed = FRAME.assign(colour=words, x1=np.clip(np.round(X[:, 1]), -1, 1))
        models = [
            AnalyticDAG(kinds={"x1": "ordered"}).fit(table)
            for table in (dask.from_pandas(mixed, npartitions=1), mixed)
        ]
        read = NamedColumns(
            models[0].recipe_.read(mixed, gaps=()), list(mixed.columns), models[0].recipe_
        )
        check(models[0], AnalyticDAG().fit(read))
        assert "better by" in models[0].trace_.plan
        parts = AnalyticDAG(kinds={"x1": "ordered"}).fit(dask.from_pandas(mixed, npartitions=4))
        assert parts.recipe_.kinds == models[1].recipe_.kinds
        assert len(parts.level_columns_.labels[-1]) == 3


def test_yes_no_columns_in_batches_have_no_noise_to_compare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("analyticdag.fitting.rows.MOST_ROWS", 500)
    drawn = simulate("ER1", n_nodes=8, n_samples=2000, noise="binary", seed=[22, 0])
    model = AnalyticDAG().fit([drawn.data[:900], drawn.data[900:]])
    assert model.loss_choice_ is not None
    assert "discrete column" in model.loss_choice_.reason


def test_rows_of_a_call_that_fails_do_not_count() -> None:
    colour = np.array(list("abcd"))[np.arange(1000) % 4]
    mixed = FRAME.assign(colour=colour)
    model = AnalyticDAG(loss="mse")
    with pytest.raises(ParameterError, match="'colour' is a category"):
        model.partial_fit(mixed)
    assert model.set_params(loss="auto").partial_fit(mixed).moments_.n_samples == 1000
    model = AnalyticDAG().partial_fit(FRAME[:500])
    with pytest.raises(DataError, match="NaN"):
        model.partial_fit(FRAME[500:].where(FRAME["x0"] > 0.0))
    check(model.partial_fit(FRAME[500:]))
    other = AnalyticDAG()  # nothing was counted: it begins anew, with other columns too
    with pytest.raises(DataError, match="n_samples=1 rows"):
        other.partial_fit(X[:1])
    assert other.partial_fit(FRAME[:100]).moments_.n_samples == 100


def test_a_copy_sees_its_rows_for_itself() -> None:
    model = AnalyticDAG().partial_fit(FRAME[:500])
    copied = copy.copy(model)
    copied.partial_fit(FRAME[:300])
    check(model.partial_fit(FRAME[500:]))
    assert copied.moments_.n_samples == 800


def test_rows_of_weight_zero_add_nothing() -> None:
    model = AnalyticDAG().partial_fit(FRAME)
    check(model.partial_fit(FRAME, sample_weight=np.zeros(1000)))
    with pytest.raises(DataError, match="n_samples=0 rows"):
        AnalyticDAG().partial_fit(FRAME, sample_weight=np.zeros(1000))
