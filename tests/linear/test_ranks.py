"""`covariance="rank"`, `--log`, and the words that recommend them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.cli import main
from analyticdag.diagnostics import Level, diagnose
from analyticdag.errors import ParameterError
from analyticdag.graphs import to_cpdag
from analyticdag.io import load_run
from analyticdag.simulate import simulate

DRAWN = simulate("ER1", n_nodes=8, n_samples=1000, seed=4, weight_range=(0.5, 1.0))
Z = (DRAWN.data - DRAWN.data.mean(axis=0)) / DRAWN.data.std(axis=0)
BENT = np.exp(2.0 * Z)  # monotone, with tails that hide correlations


def errors(model: AnalyticDAG) -> int:
    found, true = (to_cpdag(A != 0) for A in (model.adjacency_matrix_, DRAWN.adjacency_matrix))
    return int(np.triu((found != true) | (found != true).T, 1).sum())


def test_ranks_see_through_monotone_distortions_and_heavy_tails() -> None:
    ranks = AnalyticDAG(covariance="rank").fit(BENT)
    assert errors(ranks) < errors(AnalyticDAG(covariance="sample").fit(BENT))
    assert errors(ranks) <= errors(AnalyticDAG(loss="likelihood-nv").fit(Z)) + 2
    assert ranks.loss_ == "likelihood-nv"
    again = AnalyticDAG(covariance="rank").fit(Z)
    np.testing.assert_array_equal(ranks.cpdag_, again.cpdag_)  # rounding picks the member


def test_auto_takes_ranks_where_they_describe_the_rows_better() -> None:
    model = AnalyticDAG().fit(BENT)
    assert model.covariance_ == "rank"
    asked = AnalyticDAG(covariance="rank").fit(BENT)
    np.testing.assert_array_equal(model.adjacency_matrix_, asked.adjacency_matrix_)
    rng = np.random.default_rng(0)
    wild = np.where(rng.random(Z.shape) < 0.01, 20.0 * rng.normal(size=Z.shape), Z)
    assert AnalyticDAG().fit(wild).covariance_ == "rank"


@pytest.mark.parametrize("noise", ["gaussian", "exponential", "gumbel"])
@pytest.mark.parametrize("digits", [None, 0])
def test_auto_leaves_straight_lines_as_they_are(noise: str, digits: int | None) -> None:
    drawn = simulate("ER1", n_nodes=8, n_samples=1000, seed=5, noise=noise)
    data = drawn.data if digits is None else np.round(drawn.data, digits)
    assert AnalyticDAG().fit(data).covariance_ == "sample"


def test_columns_that_have_nothing_in_common_get_no_links_by_heavy_tails() -> None:
    rng = np.random.default_rng(0)
    for noise in (np.exp(rng.normal(size=(150, 60))), rng.standard_t(2, size=(500, 60))):
        assert len(AnalyticDAG().fit(noise).edges_) == 0


def test_ranks_are_not_taken_where_they_were_not_left_open() -> None:
    assert AnalyticDAG(loss="likelihood-ev").fit(BENT).covariance_ == "sample"
    assert AnalyticDAG(solver="fast").fit(BENT).covariance_ == "sample"
    assert AnalyticDAG().fit(BENT, sample_weight=np.ones(len(BENT))).covariance_ == "sample"
    S = np.cov(BENT.T)
    assert AnalyticDAG().fit_covariance(S, n_samples=len(BENT)).covariance_ == "sample"
    gaps = BENT.copy()
    gaps[::17, 2] = np.nan
    assert AnalyticDAG(missing="em").fit(gaps).covariance_ == "rank"


def test_weights_are_least_squares_on_the_values_as_they_are() -> None:
    model = AnalyticDAG(covariance="rank").fit(Z)
    j = int(model.adjacency_matrix_.sum(axis=0).argmax())
    parents = np.flatnonzero(model.adjacency_matrix_[:, j])
    slopes = np.linalg.lstsq(Z[:, parents], Z[:, j], rcond=None)[0]
    np.testing.assert_allclose(model.weights_[parents, j], slopes, rtol=1e-6)


def test_what_ranks_cannot_do_is_refused_in_a_line() -> None:
    with pytest.raises(ParameterError, match="covariance must be"):
        AnalyticDAG(covariance="kendall").fit(Z)
    with pytest.raises(ParameterError, match="covariance='rank' is made from rows"):
        AnalyticDAG(covariance="rank").fit_covariance(np.eye(3), n_samples=10)
    with pytest.raises(ParameterError, match="covariance='rank' goes by single rows"):
        AnalyticDAG(covariance="rank").fit(Z, sample_weight=np.ones(len(Z)))


def test_diagnostics_recommend_logarithms_and_ranks_by_column() -> None:
    model = AnalyticDAG(covariance="sample").fit(BENT)
    said = diagnose(model, BENT, refit=False)["heavy tails"].advice
    assert "take logarithms (--log " in said
    assert "use rank correlations (--covariance rank)" in said
    negative = BENT - 10.0
    model = AnalyticDAG(covariance="sample").fit(negative)
    said = diagnose(model, negative, refit=False)["heavy tails"].advice
    assert "--log" not in said
    assert "--covariance rank" in said


def test_a_graph_by_ranks_is_checked_on_normal_scores() -> None:
    found = diagnose(AnalyticDAG().fit(BENT), BENT, refit=False)
    for name in ("heavy tails", "residual correlation", "residual independence"):
        assert found[name].level is Level.FINE, found[name].advice
    asked = diagnose(AnalyticDAG(covariance="sample").fit(BENT), BENT, refit=False)
    assert asked["heavy tails"].level is not Level.FINE


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "bent.csv"
    rows = [",".join(f"x{k}" for k in range(8))]
    rows += [",".join(map(repr, row)) for row in BENT.tolist()]
    path.write_text("\n".join(rows))
    return path


def test_both_options_work_on_the_command_line(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["analyticdag", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0)

    out = str(table.parent / "ranks")
    assert run("fit", str(table), "--covariance", "rank", "--out", out, "--no-refit", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    kept = load_run(out)
    assert kept.manifest["parameters"]["covariance"] == "rank"
    assert "by their rank correlations" in (table.parent / "ranks" / "report.html").read_text()
    assert found["n_edges"] > 0
    out = str(table.parent / "logs")
    logs = [word for k in range(8) for word in ("--log", f"x{k}")]
    assert run("fit", str(table), *logs, "--out", out, "--no-refit", "--json") == 0
    kept = load_run(out)
    assert kept.look is not None
    assert set(kept.look.recipe.kinds) == {"log"}
    capsys.readouterr()
    assert run("fit", str(table), "--log", "x0", "--kind", "x0=number") == 2
    assert "--log x0 and --kind x0=number contradict each other" in capsys.readouterr().err
