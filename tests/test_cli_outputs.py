"""Outputs are reserved before work begins; nothing is overwritten and nothing finished is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from analyticdag.cli import main
from analyticdag.io import SavedRun, load_run, run_of_weights, save_run
from analyticdag.report import render_report


class Result(NamedTuple):
    code: int
    out: str
    err: str


ORDER = ("--solver", "order", "--loss", "mse")
ADAM = ("--solver", "adam", "--no-refine", "--loss", "mse", "--max-steps", 60)


class Shell:
    """Runs commands in this process, with output and exit code."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: object) -> Result:
        self.monkeypatch.setattr(sys, "argv", ["analyticdag", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = self.capsys.readouterr()
        return Result(int(stop.value.code or 0), captured.out, captured.err)

    def refused(self, *arguments: object, message: str) -> None:
        result = self(*arguments)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result
        assert message in result.err


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table in a folder of its own, which is the current one."""
    X = np.random.default_rng(0).normal(size=(40, 3)) @ np.triu(np.ones((3, 3)))
    lines = ["a,b,c", *(",".join(map(repr, row)) for row in X.tolist())]
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "d.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(folder)
    return folder / "d.csv"


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts to fit fails the test."""

    def worked(*_: object, **__: object) -> None:
        raise AssertionError("work began before the outputs were checked")

    monkeypatch.setattr("analyticdag.linear.AnalyticDAG.fit", worked)
    monkeypatch.setattr("analyticdag.stability.run.each", worked)


LONG = "x" * 300  # no file system takes it as a name


@pytest.mark.parametrize(
    "words",
    [
        ("fit", LONG),
        ("fit", f"{LONG}/{LONG}"),
        ("fit", "d.csv", "--out", LONG),
        ("fit", "d.csv", "--out", f"{LONG}/{LONG}"),
        ("fit", "d.csv", "--report", LONG),
        ("fit", "d.csv", "--knowledge", LONG),
        ("stability", LONG),
        ("stability", "d.csv", "--out", LONG),
        ("compare", LONG, "d.csv"),
        ("check", "d.csv", LONG),
        ("report", LONG),
    ],
)
@pytest.mark.usefixtures("no_work", "table")
def test_a_name_that_is_too_long_is_one_line(shell: Shell, words: tuple[str, ...]) -> None:
    ended = shell(*words)
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert "unexpected" not in ended.err


@pytest.mark.usefixtures("no_work")
def test_the_input_is_never_an_output(shell: Shell, table: Path) -> None:
    before = table.read_bytes()
    (table.parent / "soft.html").symlink_to(table)
    os.link(table, table.parent / "hard.html")
    for page in ("d.csv", table, "../here/d.csv", "soft.html", "hard.html"):
        for force in ((), ("--force",)):
            shell.refused("fit", "d.csv", "--report", page, *force, message="is an input of this")
            shell.refused("stability", "d.csv", "--out", page, *force, message="is an input of")
    for command in ("fit", "stability"):
        shell.refused(command, "d.csv", "--checkpoint", "soft.html", message="is an input of this")
    (table.parent / "k.toml").write_text("")
    shell.refused(
        "fit", "d.csv", "--knowledge", "k.toml", "--report", "k.toml", message="is an input"
    )
    assert table.read_bytes() == before


@pytest.mark.usefixtures("no_work")
def test_nothing_that_is_there_is_overwritten(shell: Shell, table: Path) -> None:
    notes = table.parent / "notes.html"
    notes.write_text("years of work")
    shell.refused("fit", "d.csv", "--report", notes, message="is there already")
    shell.refused("stability", "d.csv", "--out", notes, message="is there already")
    (table.parent / "run").mkdir()
    (table.parent / "run" / "report.html").write_text("mine")
    shell.refused("fit", "d.csv", "--out", "run", message="is there already")
    shell.refused("fit", "d.csv", "--out", "d.csv", message="is a file; name a folder")
    assert notes.read_text() == "years of work"


def test_a_page_that_appears_meanwhile_stays(
    shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, render = table.parent / "notes.html", render_report

    def slowly(run: SavedRun) -> str:
        notes.write_text("years of work")
        return render(run)

    same = ("fit", table, "--out", "run", "--report", notes, *ORDER, "-q")
    with monkeypatch.context() as patch:
        patch.setattr("analyticdag.cli.record.render_report", slowly)
        result = shell(*same)
    assert result.code == 1
    assert "is not overwritten; move it away and repeat" in result.err
    assert notes.read_text() == "years of work"
    notes.rename("kept.html")
    assert shell(*same).code == 0
    assert notes.read_text() == render_report(load_run("run"))


@pytest.mark.usefixtures("no_work")
def test_places_are_checked_before_the_work(shell: Shell, table: Path) -> None:
    shell.refused("stability", "d.csv", "--out", "no/s.json", message="there is no folder 'no'")
    shell.refused("fit", "d.csv", "--report", "no/r.html", message="there is no folder 'no'")
    (table.parent / "loop").symlink_to("loop")
    for place in ("loop/run", "d.csv/run"):
        shell.refused("fit", "d.csv", "--out", place, message="cannot make the folder")
    shell.refused("stability", "d.csv", "--out", "loop/s.json", message="Too many levels")
    shell.refused("fit", "d.csv", "--out", "loop", message="is a file; name a folder")
    shell.refused("stability", "d.csv", "--out", ".", message="is no plain file")
    shell.refused("stability", "d.csv", "--out", "n" * 300, message="File name too long")
    shell.refused(
        "fit", "d.csv", "--out", "run", "--report", "run/model.json", message="a file of the run"
    )
    assert sorted(path.name for path in table.parent.iterdir()) == ["d.csv", "loop"]


@pytest.mark.usefixtures("no_work", "table")
def test_numbers_are_checked_before_the_work(shell: Shell) -> None:
    shell.refused("fit", "d.csv", "--resamples", -1, message="--resamples must be a whole number")
    shell.refused("fit", "d.csv", "--resamples", 10**400, message="at most 100000000")
    shell.refused("fit", "d.csv", "--seed", -1, message="--seed must be a whole number")
    shell.refused("stability", "d.csv", "--threshold", 5, message="threshold must be a share")
    shell.refused("stability", "d.csv", "--resamples", -1, message="n_resamples must be")
    shell.refused("stability", "d.csv", "--seed", -1, message="random_state must be")
    shell.refused("stability", "d.csv", "--complementary", "--threshold", 0.4, message="above 0.5")
    shell.refused("simulate", "--seed", -1, "--out", "sim", message="seed")
    shell.refused("fit", "d.csv", "--resamples", "many", message="--resamples")
    shell.refused("fit", message="Missing argument")


def test_force_means_it(shell: Shell, table: Path) -> None:
    page = table.parent / "r.html"
    page.write_text('<meta name="generator" content="analyticdag">')
    assert shell("fit", "d.csv", "--out", "run", *ORDER).code == 0
    first = (table.parent / "run" / "model.json").read_bytes()
    result = shell("fit", "d.csv", "--out", "run", "--report", page, "--force", *ORDER)
    assert result.code == 0, result.err
    run = load_run("run")
    assert page.read_text("utf-8") == render_report(run)
    assert (table.parent / "run" / "model.json").read_bytes() == first
    shell.refused("report", "run", message="is there already")
    assert shell("report", "run", "--force").code == 0
    shell.refused("report", "run", "--out", "run/model.json", "--force", message="is an input")
    (table.parent / "s.json").write_text('{\n "n_resamples": 1}')
    few = ("stability", "d.csv", "--resamples", 2, "--out", "s.json", *ORDER)
    shell.refused(*few, message="is there already")
    assert shell(*few, "--force").code == 0
    assert json.loads((table.parent / "s.json").read_text())["n_resamples"] == 2
    assert shell("simulate", "ER1", "--nodes", 3, "--samples", 5, "--out", "sim").code == 0
    shell.refused("simulate", "ER1", "--out", "sim", message="is there already")
    again = ("simulate", "ER1", "--nodes", 3, "--samples", 6, "--out", "sim", "--force")
    assert shell(*again).code == 0


def test_force_overwrites_results_and_no_other_file(shell: Shell, table: Path) -> None:
    """A report had replaced the table by a page; --force is for results."""
    assert shell("fit", "d.csv", "--out", "run", *ORDER).code == 0
    before = table.read_bytes()
    said = "is no result of analyticdag and would be overwritten"
    shell.refused("report", "run", "--out", "d.csv", "--force", message=said)
    notes, folder = table.parent / "notes.txt", table.parent / "mine"
    notes.write_text("mine")
    shell.refused("stability", "d.csv", "--out", notes, "--force", message=said)
    shell.refused("fit", "d.csv", "--report", notes, "--force", message=said)
    folder.mkdir()
    (folder / "edges.csv").write_text("mine")
    shell.refused(
        "fit", "d.csv", "--out", folder, "--force", message="holds 'edges.csv' and no run"
    )
    (folder / "data.csv").write_text("mine")
    shell.refused("simulate", "ER1", "--out", folder, "--force", message=said)
    assert {path.read_text() for path in (notes, *folder.iterdir())} == {"mine"}
    assert table.read_bytes() == before


def test_a_page_inside_the_new_folder(shell: Shell, table: Path) -> None:
    result = shell("fit", "d.csv", "--out", "run", "--report", "run/page.html", *ORDER)
    assert result.code == 0, result.err
    assert not (table.parent / "run" / "report.html").exists()
    assert (table.parent / "run" / "page.html").exists()


def test_the_states_go_last(shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = ("fit", "d.csv", "--resamples", 2, *ADAM)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        patch.setattr("analyticdag.fitting.checkpoint.Checkpoint.save", lambda *_: None)
        patch.setattr("analyticdag.stability.counts.CountsFile.save", lambda *_: None)
        result = shell(*same)
    assert result.code == 1
    assert "No space left on device" in result.err
    for moment in ("analyticdag.cli.record._diagnostics", "analyticdag.cli.record.save_with_page"):
        with monkeypatch.context() as patch:
            patch.setattr(moment, full)
            assert shell(*same).code == 1
        kept = {path.suffix for path in table.parent.glob(".d-analyticdag-*")}
        assert kept == {".checkpoint", ".resamples"}
    result = shell(*same, "-v")
    assert result.code == 0
    assert "stage 1 of" not in result.err  # gone on from, not done again
    assert sorted(path.name for path in table.parent.iterdir()) == ["d-analyticdag", "d.csv"]


KILLED = """
import os, signal, sys
from pathlib import Path
import analyticdag._files as files
from analyticdag.cli import main

at, move = sys.argv.pop(1), files._move

def killing(temporary, path, *, overwrite):
    before = at == f"before {path.name}"
    if before:
        os.kill(os.getpid(), signal.SIGKILL)
    move(temporary, path, overwrite=overwrite)
    if at == f"after {path.name}":
        os.kill(os.getpid(), signal.SIGKILL)

files._move = killing
main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9")
@pytest.mark.parametrize(
    "moment",
    [
        "before .saving",
        "before weights.npz",
        "after graph.dot",
        "before model.json",
        "after r.html",
    ],
)
def test_a_kill_while_saving_is_made_good_by_the_same_command(
    shell: Shell, table: Path, moment: str
) -> None:
    same = ["fit", "d.csv", "--out", "run", "--report", "r.html", *map(str, ADAM)]
    killed = subprocess.run([sys.executable, "-c", KILLED, moment, *same], capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list(table.parent.glob(".run-*.checkpoint"))) == 1
    if "model.json" in moment:
        shell.refused("report", "run", message="cannot read 'run/model.json'")
        shell.refused("fit", "d.csv", "--out", "run", message="was not saved to its end")
    result = shell(*same)
    assert result.code == 0, result.err
    assert (table.parent / "r.html").read_text("utf-8") == render_report(load_run("run"))
    left = sorted(path.name for path in table.parent.rglob(".*"))
    assert left == [], left


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A table whose fit takes long enough to be met by another."""
    X = np.random.default_rng(0).normal(size=(200, 40))
    lines = [",".join(f"x{k}" for k in range(40)), *(",".join(map(repr, r)) for r in X.tolist())]
    (tmp_path / "slow.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "slow.csv"


def started(*arguments: object, until: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own and wait for it to say something."""
    command = [sys.executable, "-m", "analyticdag", *map(str, arguments), "-v"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert any(until in line for line in process.stderr)
    return process


def test_two_at_one_place(shell: Shell, slow: Path) -> None:
    long = ("--solver", "adam", "--no-refine", "--loss", "mse", "--max-steps", 400_000)
    folder, state = slow.parent, slow.parent / "state"
    first = ("fit", slow, "--out", folder / "a", "--checkpoint", state, *long)
    process = started(*first, until="")
    try:
        deadline = time.monotonic() + 100
        while not (folder / ".state.lock").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        shell.refused(*first, message=f"the folder {str(folder / 'a')!r} is in use by another run")
        second = ("fit", slow, "--out", folder / "b", "--checkpoint", state, *long)
        shell.refused(*second, "-q", message="the checkpoint")
        assert not (folder / "b").exists()
    finally:
        process.kill()
        process.communicate()
    short = ("fit", slow, "--out", folder / "a", "--checkpoint", folder / "other", *ADAM, "-q")
    assert shell(*short).code == 0  # locks of the dead do not count


def test_ctrl_c_ends_threads_in_compiled_code(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 900)) @ np.triu(rng.normal(size=(900, 900)) * 0.1 + np.eye(900))
    lines = [",".join(f"x{k}" for k in range(900)), *(",".join(map(repr, r)) for r in X.tolist())]
    (tmp_path / "big.csv").write_text("\n".join(lines) + "\n")
    long = ("fit", tmp_path / "big.csv", "--solver", "order", "--loss", "likelihood-nv")
    process = started(*long, until="order search from")
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("analyticdag: interrupted")
    assert "Traceback" not in said


def test_ctrl_c_among_resamples_says_what_is_kept(table: Path) -> None:
    kept = table.parent / "kept"
    many = ("--resamples", 1_000_000, "--jobs", 2, "--checkpoint", kept, *ORDER)
    command = [sys.executable, "-m", "analyticdag", "stability", *map(str, (table, *many))]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        deadline = time.monotonic() + 100
        while not kept.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to the workers too
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    # One line of ours; none of the workers, none of joblib's about what they left behind.
    assert len(said.splitlines()) == 1, said
    assert said.startswith(f"analyticdag: interrupted; what was finished is kept in {kept}")


LEAVES = """
import time, joblib
from analyticdag.cli.interrupt import deaf_workers, leave
with deaf_workers(2):
    naps = (joblib.delayed(time.sleep)(0.1 * k) for k in range(1000))
    results = joblib.Parallel(n_jobs=2, return_as="generator")(naps)
    next(results)
    leave()
"""


def test_a_command_that_does_not_wait_for_its_workers_ends_in_silence() -> None:
    command = [sys.executable, "-c", LEAVES]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(mount).returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_noticed_before_the_work(
    shell: Shell, table: Path, tiny_disk: Path, no_work: None
) -> None:
    shell.refused("fit", table, "--out", tiny_disk / "run", message="has room for 0.12 MiB")
    shell.refused("stability", table, "--out", tiny_disk / "s.json", message="make room or name")
    assert list(tiny_disk.iterdir()) == []


def test_a_disk_that_fills_up_while_saving(tiny_disk: Path) -> None:
    from analyticdag.errors import OutputError

    names = [f"{k}{'n' * 2000}" for k in range(40)]
    run = run_of_weights(np.diag(np.ones(39), 1), names)
    with pytest.raises(OutputError, match="No space left on device"):
        save_run(run, tiny_disk / "run")
    assert not (tiny_disk / "run" / "model.json").exists()
    assert not list(tiny_disk.rglob("*.partial"))


@pytest.mark.parametrize("cell", ["1" + "0" * 400, "1e200", "-1e308", "1e-300"])
def test_huge_cells_are_one_line_or_a_result(shell: Shell, table: Path, cell: str) -> None:
    rows = table.read_text().splitlines()
    table.write_text("\n".join([rows[0], f"{cell},0.5,1.5", *rows[1:]]) + "\n")
    result = shell("fit", "d.csv", "--out", "run", "-q", *ORDER)
    assert result.code in (0, 2), result.err
    assert result.err.count("\n") == (1 if result.code else 0)
    assert "unexpected" not in result.err
    # The file tells more than the array that is fitted: the name and the row of a spreadsheet.
    assert result.code == 0 or ("column" in result.err and "row 2" in result.err)
