"""The harness under fire: failures, limits, kill -9, two runs at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from analyticdag.errors import DataError
from benchmarks.plan import parse_plan
from benchmarks.records import BusyError, RecordFile, read_records
from benchmarks.run import Report, run

HERE = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def _children_find_our_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), *filter(None, sys.path)]))


def plan_text(task: str, methods: str, extra: str = "", numbers: str = "[1]") -> str:
    return f"""
    task = "bench_tasks:{task}"
    methods = {methods}
    {extra}
    [[settings]]
    number = {numbers}
    """


def test_a_record_says_everything_about_its_cell(tmp_path: Path) -> None:
    plan = parse_plan("p", plan_text("draw", '["m"]', "threads = 1"))
    run(plan, tmp_path)
    (record,) = read_records(tmp_path)
    assert record["setting"] == {"number": 1}
    assert record["method"] == "m"
    assert record["exit"] == "ok"
    assert record["metrics"]["draw"] == plan.cells[0].rng().random()
    assert record["metrics"]["count"] == 3
    assert record["metrics"]["nan"] is None
    assert {"numpy", "python", "analyticdag"} <= set(record["versions"])
    assert record["threads"]
    assert set(record["threads"].values()) == {1}
    assert record["wall_seconds"] >= 0
    assert record["cpu_seconds"] >= 0
    assert record["peak_rss_mib"] > 1


def test_finished_cells_are_never_run_again(tmp_path: Path) -> None:
    small = parse_plan("p", plan_text("draw", '["m"]'))
    grown = parse_plan("p", plan_text("draw", '["m", "n"]', numbers="[1, 2]"))
    assert len(run(small, tmp_path)) == 1
    assert len(run(small, tmp_path)) == 0
    assert len(run(grown, tmp_path)) == 3
    assert len(read_records(tmp_path)) == 4


def test_failing_is_a_record_and_limits_hold(tmp_path: Path) -> None:
    methods = '["raise", "missing", "hang", "hoard", "abort", "chatter"]'
    limits = "time_limit = 8\n    memory_limit = 1.0"
    seen: list[tuple[int, int]] = []

    def show(report: Report) -> None:
        assert report.seconds_left >= 0
        seen.append((report.done, report.total))

    plan = parse_plan("p", plan_text("misbehave", methods, limits))
    records = {r["method"]: r for r in run(plan, tmp_path, n_jobs=3, progress=show)}
    exits = {name: record["exit"] for name, record in records.items()}
    assert exits == {
        "raise": "error",
        "missing": "missing",
        "hang": "timeout",
        "hoard": "memory",
        "abort": "crash",
        "chatter": "ok",
    }
    assert records["raise"]["reason"] == "ZeroDivisionError: on purpose"
    assert "pip install './benchmarks[peers]'" in records["missing"]["reason"]
    assert records["hang"]["reason"] == "stopped after 8 seconds"
    assert "SIGABRT" in records["abort"]["reason"]
    assert all(record["isolated"] for record in records.values())
    assert seen == [(done, 6) for done in range(1, 7)]
    assert len(read_records(tmp_path)) == 6


def test_warnings_are_recorded_once(tmp_path: Path) -> None:
    (record,) = run(parse_plan("p", plan_text("misbehave", '["warn"]')), tmp_path)
    assert record["exit"] == "ok"
    assert record["warnings"] == ["RuntimeWarning: careful"]


def test_failures_are_finished_unless_a_retry_is_asked_for(tmp_path: Path) -> None:
    plan = parse_plan("p", plan_text("misbehave", '["raise", "fine"]'))
    assert len(run(plan, tmp_path)) == 2
    assert run(plan, tmp_path) == []
    assert [record["method"] for record in run(plan, tmp_path, retry=True)] == ["raise"]


def test_an_unknown_task_is_a_record_with_the_reason(tmp_path: Path) -> None:
    text = plan_text("draw", '["m"]').replace("bench_tasks:draw", "no-such-task")
    (record,) = run(parse_plan("p", text), tmp_path)
    assert record["exit"] == "error"
    assert "known: constraint-cost, " in record["reason"]
    assert ", gradient-norms, " in record["reason"]


def test_kill_minus_nine_loses_at_most_the_running_cells(tmp_path: Path) -> None:
    marks, plan_file = tmp_path / "marks", tmp_path / "survivor.toml"
    method = f'[{{ name = "m", file = "{marks}", seconds = 0.2 }}]'
    plan_file.write_text(plan_text("leave_a_mark", method, "time_limit = 60", "[1, 2, 3, 4, 5, 6]"))
    out = tmp_path / "out"
    script = (
        "from pathlib import Path\n"
        "from benchmarks.plan import load_plan\n"
        "from benchmarks.run import run\n"
        f"run(load_plan({str(plan_file)!r}), Path({str(out)!r}), n_jobs=2)"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    while len(read_records(out)) < 2:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = read_records(out)
    with (out / "survivor.jsonl").open("ab") as file:
        file.write(b'{"key": "torn')  # what a kill in the middle of a write leaves behind

    made = run(parse_plan("survivor", plan_file.read_text()), out, n_jobs=2)
    records = read_records(out)
    assert records[: len(kept)] == kept
    assert len(made) == 6 - len(kept)
    assert sorted(record["setting"]["number"] for record in records) == [1, 2, 3, 4, 5, 6]
    # Only cells that were running when the kill came may have been started twice.
    starts = Counter(marks.read_text().split())
    assert all(starts[str(record["setting"]["number"])] == 1 for record in kept)


def test_a_cell_dies_with_the_run_that_started_it(tmp_path: Path) -> None:
    marks, plan_file = tmp_path / "marks", tmp_path / "orphan.toml"
    method = f'[{{ name = "m", file = "{marks}", seconds = 600 }}]'
    plan_file.write_text(plan_text("die_if_orphaned", method, "time_limit = 60"))
    script = (
        "from pathlib import Path\n"
        "from benchmarks.plan import load_plan\n"
        "from benchmarks.run import run\n"
        f"run(load_plan({str(plan_file)!r}), Path({str(tmp_path)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    while not marks.exists() or "\n" not in marks.read_text():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    child = int(marks.read_text())
    for _ in range(500):
        if not is_running(child):
            break
        time.sleep(0.02)
    assert not is_running(child)


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder with a file that is called like a library, and tells when it is run."""
    folder = tmp_path / "trap"
    folder.mkdir()
    text = f"open({str(tmp_path / 'sprung')!r}, 'w').close()\nraise SystemExit\n"
    (folder / "threadpoolctl.py").write_text(text)
    return folder


def test_a_cell_imports_nothing_from_the_current_folder(
    trap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap)
    plan = parse_plan("p", plan_text("draw", '["m"]', "time_limit = 60"))
    (record,) = run(plan, tmp_path / "out")
    assert record["exit"] == "ok", record["reason"]
    assert not (tmp_path / "sprung").exists()


def test_the_command_imports_nothing_from_the_current_folder(trap: Path, tmp_path: Path) -> None:
    plan = tmp_path / "p.toml"
    plan.write_text(plan_text("draw", '["m"]'))
    command = [sys.executable, "-m", "benchmarks", "run", str(plan), "--out", str(tmp_path / "out")]
    result = subprocess.run(command, cwd=trap, capture_output=True, text=True, check=False)
    assert "1 cells run now (0 without a result)" in result.stderr
    assert not (tmp_path / "sprung").exists()


def test_two_runs_do_not_share_a_file(tmp_path: Path) -> None:
    plan = parse_plan("p", plan_text("draw", '["m"]'))
    with RecordFile(tmp_path / "p.jsonl"), pytest.raises(BusyError, match="another run is writing"):
        run(plan, tmp_path)
    assert len(run(plan, tmp_path)) == 1


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"key": "a"}\nnot json\n{"key": "b"}\n')
    with pytest.raises(DataError, match="line 2 is not a record"):
        read_records(tmp_path)


def test_no_folder_means_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path / "nowhere") == []
