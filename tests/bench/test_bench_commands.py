"""The commands of the harness, as a shell would give them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks.cli import main


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command as a shell would and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(
        "task = 'learn'\nmethods = ['empty', 'no-such-method']\n"
        "[[settings]]\ngraph = 'ER1'\nnodes = [4, 5]\nsamples = 20\n"
    )
    return path


def test_a_benchmark_runs_and_renders(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert call(monkeypatch, "run", str(plan), "--out", str(out), "--quiet") == 0
    assert "4 cells run now (2 without a result), 0 were recorded" in capsys.readouterr().err
    records = [json.loads(line) for line in (out / "tiny.jsonl").read_text().splitlines()]
    assert [record["exit"] for record in records] == ["ok", "error", "ok", "error"]

    assert call(monkeypatch, "run", str(plan), "--out", str(out), "--quiet") == 0
    assert "0 cells run now" in capsys.readouterr().err

    assert call(monkeypatch, "render", str(out), "--metric", "shd") == 0
    shown = capsys.readouterr().out
    assert "| nodes | empty | no-such-method | seeds |" in shown
    assert "| 4 | 4 | 1 error | 1 |" in shown


def test_a_part_of_a_plan_reports_each_cell_and_the_time_left(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("run", str(plan), "--out", str(tmp_path), "--where", "nodes=5")
    assert call(monkeypatch, *arguments) == 0
    shown = capsys.readouterr().err
    assert re.search(r"1/2 empty ER1 5 20: ok in [\d.]+ s, about \d+ s left", shown)
    assert "2/2 no-such-method ER1 5 20: error" in shown


def test_records_are_packed_and_pages_written(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, pages = tmp_path / "runs", tmp_path / "pages"
    assert call(monkeypatch, "run", str(plan), "--out", str(runs), "--quiet") == 0
    assert call(monkeypatch, "pack", str(runs), str(pages / "records")) == 0
    assert "tiny: 4 records" in capsys.readouterr().out
    (pages / "page.md").write_text("<!-- bench methods quick -->\n<!-- bench end -->\n")
    assert call(monkeypatch, "report", str(pages), "--no-figures") == 0
    assert "page.md" in capsys.readouterr().out.replace("\n", "")
    assert "Not run yet." in (pages / "page.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backend", "dask"], "--backend dask and --scheduler ADDRESS go together"),
        (["--scheduler", "tcp://x:1"], "--backend dask and --scheduler ADDRESS go together"),
        (["--backend", "mpi"], "backend must be local or dask, not 'mpi'"),
        (["--where", "size=1"], "a condition is key=value with one of the keys method, graph"),
        (["--jobs", "0"], "jobs must be a number of processes"),
    ],
)
def test_bad_ways_to_run_are_refused(
    arguments: list[str],
    message: str,
    plan: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["run", str(plan), "--out", str(tmp_path / "out"), *arguments]
    assert call(monkeypatch, *command) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_plans_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "plans") == 0
    assert "constraint-cost" in capsys.readouterr().out


def test_bad_input_is_exit_code_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert call(monkeypatch, "run", "no-such-plan", "--out", str(tmp_path)) == 2
    assert "no plan is called 'no-such-plan'" in capsys.readouterr().err
    assert call(monkeypatch, "no-such-command") == 2
