"""``fit --model``: lines, networks, or whichever the diagnostics ask for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analyticdag.cli import main
from analyticdag.cli import model as module
from analyticdag.io import load_run

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    def run(*arguments: object) -> tuple[int, str]:
        out = ["--out", str(tmp_path / "run")]
        monkeypatch.setattr(sys, "argv", ["analyticdag", "fit", *map(str, arguments), *out])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), capsys.readouterr().err

    return run


def table(folder: Path, *, curved: bool) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 1] += X[:, 0] ** 2 + X[:, 0] if curved else 2.0 * X[:, 0]
    X[:, 2] += np.abs(2.0 * X[:, 1]) + X[:, 1] if curved else 2.0 * X[:, 1]
    file = folder / "data.csv"
    np.savetxt(file, X, delimiter=",", header="a,b,c", comments="")
    return file


def manifest(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "run" / "manifest.json").read_text())
    return found


def test_networks_are_fitted_saved_and_reported(fit: Command, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    options = ("--model", "nonlinear", "--max-steps", "20", "--solver", "order")
    code, err = fit(table(tmp_path, curved=True), *options)
    assert code == 0
    assert "--solver: for the linear model only, not used for the nonlinear one" in err
    run = load_run(tmp_path / "run")
    assert run.parameters["model"] == "mlp"
    assert run.loss_choice is not None
    assert "noise variance" in run.loss_choice["reason"]
    assert [check["name"] for check in run.diagnostics][:2] == ["constant columns", "few values"]
    assert "noise variance" in (tmp_path / "run" / "report.html").read_text()


def test_auto_takes_networks_where_lines_leave_curves(fit: Command, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    data = table(tmp_path, curved=True)
    code, err = fit(data, "--model", "auto", "--solver", "order", "--max-steps", "20")
    assert code == 0
    assert "note: --model auto: nonlinear, because under the linear one the noise depends" in err
    assert str(manifest(tmp_path)["model_choice"]).startswith("nonlinear, because")
    assert "Model: nonlinear, because" in (tmp_path / "run" / "report.html").read_text()
    assert load_run(tmp_path / "run").parameters["model"] == "mlp"


def test_auto_stays_with_lines_where_they_will_do(fit: Command, tmp_path: Path) -> None:
    data = table(tmp_path, curved=False)
    code, err = fit(data, "--model", "auto", "--solver", "order")
    assert code == 0
    assert "note: --model auto: linear, because at most one edge in ten" in err
    assert "solver" in load_run(tmp_path / "run").parameters


def test_without_torch_the_pip_command_is_given(
    fit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_has_torch", lambda: False)
    data = table(tmp_path, curved=True)
    code, err = fit(data, "--model", "nonlinear")
    assert code == 1
    assert err.count("\n") == 1
    assert "pip install 'analyticdag[nonlinear]'" in err
    assert not (tmp_path / "run").exists()
    code, err = fit(data, "--model", "auto", "--solver", "order")
    assert code == 0
    assert "linear, although" in err
    assert "pip install 'analyticdag[nonlinear]'" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "cubic"), "--model must be one of linear, nonlinear, auto, not 'cubic'"),
        (("--model", "nonlinear", "--interventions", "a"), "cannot use --interventions"),
    ],
)
def test_what_cannot_be_fitted_is_refused_first(
    fit: Command, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    code, err = fit(table(tmp_path, curved=False), *options)
    assert code == 2
    assert words in err


def test_the_fit_of_the_diagnostics_is_announced_and_can_be_left_out(
    fit: Command, tmp_path: Path
) -> None:
    announced = "fitting once more on standardised columns, for the diagnostics"
    data = table(tmp_path, curved=False)
    code, err = fit(data, "--solver", "order", "--loss", "mse", "--no-refit")
    assert code == 0
    assert announced not in err
    names = [check["name"] for check in load_run(tmp_path / "run").diagnostics]
    assert "standardised refit" not in names
    (tmp_path / "run").rename(tmp_path / "first")
    code, err = fit(data, "--solver", "order", "--loss", "mse", "-v")
    assert announced in err
