"""The command line as a person uses it: files in, folders out, one line when something is wrong."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import pytest
from rich.progress import Progress

from analyticdag._watch import Bar
from analyticdag.cli import main
from analyticdag.io import SavedRun, load_run
from analyticdag.progress import StageBegins, StageEnds, Step
from analyticdag.report import render_report

HOSTILE = ("<script>alert(1)</script>", '"a", b', "=1+1", "🧬\x1b[31m")


Command: TypeAlias = Callable[..., Any]  # the fixture of conftest.py


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from analyticdag.cli.tools import simulate_command

    folder = tmp_path_factory.mktemp("simulated")
    simulate_command("ER1", out=folder, nodes=5, samples=100, quiet=True)
    return folder


STEPS = ("--max-steps", 60, "--solver", "adam", "--no-refine", "--loss", "mse")


def test_a_table_becomes_a_folder_and_a_page(command: Command, simulation: Path) -> None:
    result = command("fit", simulation / "data.csv", *STEPS)
    assert result.code == 0, result.err
    folder = simulation / "data-analyticdag"
    assert "5 variables" in result.out
    assert str(folder) in result.out
    assert result.err.count("did not finish (MAX_STEPS)") == 1
    assert "stage 1 of" not in result.err  # a pipe gets the answer, and the notes once
    assert {path.name for path in folder.iterdir()} == {
        "model.json",
        "weights.npz",
        "manifest.json",
        "graph.graphml",
        "graph.dot",
        "graph.dagitty",
        "edges.csv",
        "report.html",
    }
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["command"].startswith(f"analyticdag fit {simulation / 'data.csv'}")
    assert manifest["data"]["rows"] == 100
    again = command("fit", simulation / "data.csv", *STEPS)
    assert str(simulation / "data-analyticdag-2") in again.out
    assert not list(simulation.glob(".*checkpoint"))


def test_quiet_json_and_chosen_places(command: Command, simulation: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "deep" / "run", tmp_path / "pages" / "r.html"
    page.parent.mkdir()
    options = ("--out", out, "--report", page, "--quiet", "--json", *STEPS)
    result = command("fit", simulation / "data.csv", *options)
    assert (result.code, result.err) == (0, "")
    answer = json.loads(result.out)
    run = load_run(out)
    assert answer["n_edges"] == len(run.edges) == len(answer["edges"])
    assert answer["report"] == str(page)
    assert {"heavy tails", "varsortability"} <= {check["name"] for check in run.diagnostics}
    assert page.read_text(encoding="utf-8") == render_report(run)
    silent = command("fit", simulation / "data.csv", "--out", tmp_path / "b", "-q", *STEPS)
    assert (silent.code, silent.out, silent.err) == (0, "", "")


def test_warnings_of_the_data_are_notes_of_one_line(command: Command, tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 60))
    lines = [f"{a},{b},{2.0 * a},3" for a, b in zip(x, y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,k,c", *lines]) + "\n")
    result = command("fit", tmp_path / "t.csv", "--kind", "k=number")
    assert result.code == 0, result.err
    notes = result.err.splitlines()
    (copies,) = (note for note in notes if "('x', 'k')" in note)
    assert copies.startswith("note: column pairs [('x', 'k')] are copies of each other up to scale")
    assert sum(note.startswith("note: columns ['c'] are constant") for note in notes) == 1
    assert all(note.startswith("note: ") for note in notes)
    assert sum("constant" in note or "do not vary" in note for note in notes) == 1


def test_resamples_say_how_stable_an_edge_is(
    command: Command, simulation: Path, tmp_path: Path
) -> None:
    options = ("--solver", "fast", "--no-refine", "--loss", "mse", "--resamples", 6)
    result = command("fit", simulation / "data.csv", "--out", tmp_path / "run", *options)
    assert result.code == 0, result.err
    shares = [edge.stability for edge in load_run(tmp_path / "run").edges]
    assert shares
    assert all(share is not None and share * 6 == round(share * 6) for share in shares)
    assert max(share or 0.0 for share in shares) > 0.5
    head, first = result.out.splitlines()[1:3]
    assert head.endswith("  came back")
    assert re.search(r" \d+ %( |$)", first)
    assert "Joined: the share of resampled data sets" in (
        tmp_path / "run" / "report.html"
    ).read_text("utf-8")


def test_the_data_may_choose_lambda(command: Command, simulation: Path, tmp_path: Path) -> None:
    options = ("--lambda1", "auto", "--loss", "mse", "--no-refine", "--solver", "fast")
    result = command("fit", simulation / "data.csv", "--out", tmp_path / "run", *options)
    assert result.code == 0, result.err
    chosen = load_run(tmp_path / "run").parameters["chosen"]
    assert chosen["criterion"] == "ebic"
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert f"lambda1 = {chosen['lambda1']:.4g}, chosen by EBIC" in page


def test_interventions_fix_directions(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, done = rng.normal(size=300), np.repeat(["", "b"], 150)
    b = np.where(done == "b", 3.0 * rng.normal(size=300), a + 0.5 * rng.normal(size=300))
    lines = ["a,b,done", *(f"{x},{y},{what}" for x, y, what in zip(a, b, done, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    options = ("--loss", "likelihood-nv", "--solver", "order", "--out", tmp_path / "run")
    result = command("fit", tmp_path / "t.csv", "--interventions", "done", *options)
    assert result.code == 0, result.err
    assert "interventions in 150 of 300 rows, on b" in result.err
    (edge,) = load_run(tmp_path / "run").edges
    assert (edge.source, edge.target, edge.fixed_by) == (0, 1, "interventions")
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "rows in which one end was perturbed" in page
    again = ("--loss", "likelihood-nv", "--solver", "order", "--resamples", 4, "--json")
    stable = command("stability", tmp_path / "t.csv", "--interventions", "done", *again)
    assert json.loads(stable.out)["edges"][0]["direction"] == 1.0
    wrong = command("fit", tmp_path / "t.csv", "--interventions", "a")
    assert wrong.code == 2
    assert "which is no column of the data" in wrong.err


def test_a_report_is_rebuilt_from_the_records(
    command: Command, simulation: Path, tmp_path: Path
) -> None:
    command("fit", simulation / "data.csv", "--out", tmp_path / "run", "-q", *STEPS)
    first = (tmp_path / "run" / "report.html").read_bytes()
    (tmp_path / "run" / "report.html").unlink()
    assert command("report", tmp_path / "run").code == 0
    assert (tmp_path / "run" / "report.html").read_bytes() == first
    other = command("report", tmp_path / "run", "--out", tmp_path / "other.html", "-q")
    assert (other.code, other.out) == (0, "")
    assert (tmp_path / "other.html").read_bytes() == first


def test_standard_input_knowledge_and_hostile_names(command: Command, tmp_path: Path) -> None:
    import csv

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HOSTILE)
    writer.writerows(np.random.default_rng(0).normal(size=(50, 4)).tolist())
    knowledge = tmp_path / "k.toml"
    knowledge.write_text(f"required = [[{HOSTILE[0]!r}, '=1+1']]\n", encoding="utf-8")
    out = tmp_path / "run"
    options = ("--knowledge", knowledge, "--out", out, *STEPS)
    result = command("fit", "-", *options, stdin=text.getvalue().encode())
    assert result.code == 0, result.err
    assert "\x1b" not in result.out + result.err
    run = load_run(out)
    assert run.names == HOSTILE
    assert [run.edge_names(edge) for edge in run.edges] == [(HOSTILE[0], "=1+1")]
    assert run.edges[0].fixed_by == "knowledge"
    assert run.parameters["knowledge"]["required_edges"] == [[HOSTILE[0], "=1+1"]]
    assert "'=1+1" in (out / "edges.csv").read_text(encoding="utf-8")
    assert HOSTILE[0] not in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("absent.csv",), "there is no file 'absent.csv'"),
        (("{data}", "--loss", "nonsense"), "loss must be one of"),
        (("{data}", "--constraint", "order-0"), "order"),
        (("{data}", "--lambda1", "-1"), "lambda1 must be a number of at least 0"),
        (("{data}", "--lambda1", "much"), "lambda1"),
        (("{data}", "--max-steps", "0"), "--max-steps must be a whole number of at least 1"),
        (("{data}", "--drop", "x9"), "cannot drop"),
        (("{data}", "--knowledge", "absent.toml"), "cannot read 'absent.toml'"),
        (("{data}", "--out", "{used}"), "never overwritten"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(
    command: Command, simulation: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    used = tmp_path / "used"
    used.mkdir()
    (used / "model.json").write_text("{}")
    places = {"data": simulation / "data.csv", "used": used}
    result = command("fit", *(option.format(**places) for option in options))
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert message in result.err


def test_knowledge_of_a_column_that_is_not_there(
    command: Command, simulation: Path, tmp_path: Path
) -> None:
    (tmp_path / "k.toml").write_text("required = [['x0', 'y1']]")
    result = command("fit", simulation / "data.csv", "--knowledge", tmp_path / "k.toml")
    assert result.code == 2
    assert "knowledge names 'y1', which is not a column; the columns are 'x0', 'x1'" in result.err


def test_a_bug_is_one_line_too_unless_debugging(
    command: Command, simulation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a wheel\ncame off")

    monkeypatch.setattr("analyticdag.io.load_run", broken)
    (simulation / "report.html").unlink(missing_ok=True)
    result = command("report", simulation)
    assert result.code == 1
    assert "unexpected RuntimeError: a wheel came off; --debug shows where" in result.err
    monkeypatch.setattr(sys, "argv", ["analyticdag", "report", str(simulation), "--debug"])
    with pytest.raises(RuntimeError, match="a wheel"):
        main()


def test_graphs_are_compared(command: Command, simulation: Path, tmp_path: Path) -> None:
    truth = simulation / "truth.graphml"
    graph = nx.read_graphml(truth)
    edges = list(graph.edges)
    lines = ["source,target", *(f"{a},{b}" for a, b in edges[1:])]
    (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
    result = command("compare", truth, tmp_path / "edges.csv", "--json")
    assert json.loads(result.out)["missing"] == 1
    shown = command("compare", truth, truth)
    assert re.search(r"shd\W+0", shown.out)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.graphml", None, "there is no file or folder"),
        ("a.txt", "", "is no graph that can be read"),
        ("a.graphml", "<", "is not GraphML"),
        ("a.csv", "from,to\n", "needs the columns source and target"),
    ],
)
def test_what_is_no_graph(
    command: Command, tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    result = command("compare", tmp_path / name, tmp_path / name)
    assert result.code == 2
    assert message in result.err


def test_a_simulation_is_not_overwritten(command: Command, simulation: Path) -> None:
    result = command("simulate", "ER1", "--out", simulation)
    assert result.code == 2
    assert "is there already and is not overwritten" in result.err


def in_terminal(*arguments: object, interrupt_at: str | None = None) -> tuple[int, str]:
    """Run the command in a pseudo-terminal; press Ctrl-C once a text was shown."""
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150", "PYTHONUNBUFFERED": "1"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "analyticdag", *map(str, arguments)],
        stdin=child,
        stdout=child,
        stderr=child,
        env=environment,
        start_new_session=True,
        close_fds=True,
    )
    os.close(child)
    shown, pressed, deadline = "", False, time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            chunk = os.read(parent, 4096)
        except OSError:  # the other end is closed: the command has ended
            break
        if not chunk:
            break
        shown += chunk.decode(errors="replace")
        if interrupt_at and not pressed and interrupt_at in shown:
            process.send_signal(signal.SIGINT)
            pressed = True
    os.close(parent)
    return process.wait(timeout=30), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)


def test_a_terminal_shows_a_bar(simulation: Path, tmp_path: Path) -> None:
    code, shown = in_terminal("fit", simulation / "data.csv", "--out", tmp_path / "run", *STEPS)
    assert code == 0, shown
    assert "stage 5/5, score" in shown
    assert "left:" in shown
    assert "stage 1 of 5: mu" not in shown  # the plain lines of a pipe
    assert "report" in shown


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose stages take long enough to be interrupted."""
    from analyticdag.cli.tools import simulate_command

    folder = tmp_path_factory.mktemp("slow")
    simulate_command("ER2", out=folder, nodes=50, samples=200, quiet=True)
    return folder / "data.csv"


SLOW = (*STEPS[2:], "--max-steps", 1500)


@pytest.fixture(scope="module")
def undisturbed(slow: Path, tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    """What the slow fit comes to when nobody interrupts it."""
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    arguments = [sys.executable, "-m", "analyticdag", "fit", slow, "--out", out, "-q", *SLOW]
    subprocess.run(list(map(str, arguments)), check=True)
    return load_run(out)


def assert_same(first: SavedRun, second: SavedRun) -> None:
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.edges == second.edges
    assert first.trace == second.trace


def test_ctrl_c_keeps_the_finished_stages(
    command: Command, slow: Path, undisturbed: SavedRun
) -> None:
    same = ("fit", slow, *SLOW)
    # A stage is shown before it is written down: at the second, the first is safe.
    code, shown = in_terminal(*same, interrupt_at="stage 3/5")
    assert code == 130, shown
    assert "the same command goes on" in shown
    assert "Traceback" not in shown
    assert len(list(slow.parent.glob(".*.checkpoint"))) == 1
    assert not (slow.parent / "data-analyticdag").exists()
    result = command(*same, "-v")
    assert result.code == 0, result.err
    assert "stage 1 of 5" not in result.err
    assert "stage 5 of 5" in result.err
    assert list(slow.parent.glob(".*.checkpoint")) == []
    assert_same(load_run(slow.parent / "data-analyticdag"), undisturbed)


def test_a_checkpoint_survives_kill_9_and_ends_with_the_same_result(
    command: Command, slow: Path, undisturbed: SavedRun, tmp_path: Path
) -> None:
    state, out = tmp_path / "state", tmp_path / "run"
    same = ("fit", slow, "--checkpoint", state, "--out", out, "-v", *SLOW)
    process = subprocess.Popen(
        [sys.executable, "-m", "analyticdag", *map(str, same)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for shown in process.stderr:
        if "stage 2 of 5" in shown:  # the first is written down by now
            process.kill()
            break
    process.stderr.close()
    assert process.wait() == -signal.SIGKILL
    assert state.exists()
    assert not out.exists()
    result = command(*same)
    assert result.code == 0, result.err
    assert "stage 1 of 5" not in result.err
    assert "stage 5 of 5" in result.err
    assert_same(load_run(out), undisturbed)
    other = command("fit", slow, "--checkpoint", state, "--lambda1", 0.2, *SLOW)
    assert other.code == 2
    assert "belongs to a fit with other data or parameters" in other.err


def test_a_terminal_shows_what_happens_inside_a_stage(slow: Path, tmp_path: Path) -> None:
    long = (*STEPS[2:], "--max-steps", 200_000, "--out", tmp_path / "run")
    code, shown = in_terminal("fit", slow, *long, interrupt_at=", step ")
    assert re.search(r"stage 1/5, score \S+, h \S+, step \d+000", shown)
    assert code == 130
    assert (
        "interrupted; nothing was finished that could be kept: the same command begins anew"
        in shown
    )


ENDED = StageEnds(1, 4, mu=1, s=1, objective=2, h=0.5, n_steps=9, reason="done")


@pytest.mark.parametrize(
    ("events", "description", "done"),
    [
        ([StageBegins(2, 5)], "stage 2/5", 1.0),
        ([StageBegins(2, 5), Step("step", 50, 200, 3.0, 0.1)],
         "stage 2/5, score 3, h 0.1, step 50", 1.25),
        ([ENDED, StageBegins(2, 4), Step("sweep", 7, 100, 1.5, exact=False)],
         "stage 2/4, score 1.5, h 0.5, sweep 7", 1.0),
        ([dataclasses.replace(ENDED, stage=4, h=0.0)], "stage 4/4, score 2, h 0", 4.0),
        ([Step("step", 3, 9, 1.0)], "step 3 of 9: objective=1", 0.0),
        (["searching \x1b[31mred"], "searching \ufffd[31mred", 0.0),
    ],
)  # fmt: skip
def test_the_bar_shows_the_events(events: list[object], description: str, done: float) -> None:
    progress = Progress(disable=True)
    bar = Bar(progress)
    for event in events:
        bar.show(event)
    assert progress.tasks[0].description == description
    assert progress.tasks[0].completed == done


def test_a_log_prints_events_as_text() -> None:
    assert str(StageBegins(2, 5)) == "stage 2 of 5 begins"
    assert str(Step("sweep", 7, 100, 1.5, exact=False)) == "sweep 7 of at most 100: objective=1.5"
    assert str(ENDED) == "stage 1 of 4: mu=1 s=1 objective=2 h=0.5 after 9 steps: done"


def test_of_a_total_and_its_parts_the_print_names_the_sum_and_claims_nothing(
    tmp_path: Path, command: Command
) -> None:
    rng = np.random.default_rng(0)
    parts = rng.gamma(3.0, 10.0, (300, 2)).round(2)
    stress = 0.05 * parts.sum(axis=1) + rng.normal(size=300)
    rows = np.column_stack([parts, parts.sum(axis=1), stress])
    head = {"header": "rent,food,total,stress", "comments": "", "fmt": "%.2f"}
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", **head)
    done = command("fit", tmp_path / "t.csv", "--out", tmp_path / "r")
    assert "total = rent + food: " in done.err
    links = [line for line in done.out.splitlines() if line.startswith("  ")]
    inside = [line for line in links[1:] if "stress" not in line]
    assert inside
    assert not any("%" in line or "→" in line for line in inside)
    assert re.search(r"links? only repeats? an identity", done.out)
    assert "total = rent + food" in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    # Its graph is still the one that was found: not every way to turn those links round fits.
    run = load_run(tmp_path / "r")
    assert all(run.cpdag[edge.target, edge.source] for edge in run.open_edges)
    # Where there are no other links, there is none of which that could have been computed.
    alone = command("fit", tmp_path / "t.csv", "--drop", "stress", "--out", tmp_path / "alone")
    assert "an identity" in alone.out
    assert "How likely each link is" not in alone.out
    assert {edge.kind for edge in run.edges if edge.fixed_by == "identity"} == {"open"}
