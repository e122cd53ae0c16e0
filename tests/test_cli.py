from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from analyticdag import AnalyticDAG, NonlinearDAG, __version__
from analyticdag.cli import app, main
from analyticdag.io import load_run
from analyticdag.linear.options import LAMBDA1
from analyticdag.report.text import link


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command as a shell would and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["analyticdag", *arguments])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_constraints_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "constraints") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("exponential", "order-1", "order-4", "order-N", "∞"))
    assert f"Take {AnalyticDAG().constraint}" in shown


COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_default(name: str) -> None:
    """An option has a default that says itself, or a text that says what happens without it."""
    options = [option for option in COMMANDS[name].params if option.name != "help"]
    told = {o.name: o.show_default for o in options if o.default is None and not o.required}
    assert [option for option, text in told.items() if not isinstance(text, str)] == []
    flags = [o for o in options if getattr(o, "is_flag", False) and not o.secondary_opts]
    assert [o.name for o in flags if o.show_default is True] == []
    settings = AnalyticDAG().get_params() | {"lambda1": LAMBDA1}  # None stands for it
    for option in {"loss", "constraint", "lambda1", "w_threshold", "solver", "gamma"} & set(told):
        assert told[option].split(";")[0] == str(settings[option])


def test_help_defaults_of_the_nonlinear_model() -> None:
    told = {option.name: option.show_default for option in COMMANDS["fit"].params}
    settings = NonlinearDAG(model="mlp").get_params()
    assert told["constraint"].endswith(f"nonlinear: {settings['constraint']}")


def test_the_demo_learns_sachs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "demo"
    assert call(monkeypatch, "demo", "--out", str(out)) == 0
    shown = capsys.readouterr().out
    found = re.search(r"(\d+)\s+found\s+with\s+their\s+direction\s+open", shown)
    assert found is not None
    run = load_run(out)
    assert len(run.open_edges) >= int(found[1]) > 0
    assert all(link(run, edge) in shown for edge in run.edges)
    assert not any(" → ".join(run.edge_names(edge)) in shown for edge in run.open_edges)
    assert str(out / "report.html") in shown.replace("\n", "")
    assert "Sachs protein signalling" in (out / "report.html").read_text(encoding="utf-8")


def test_a_wrong_command_is_exit_code_two(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, "no-such-command") == 2


def test_no_command_shows_the_help_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch) == 2
    shown = capsys.readouterr()
    assert "Usage: analyticdag" in shown.out
    assert shown.err == "analyticdag: no command was given; name one of those above\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["st"], ["stability"]),
        (["fit", "--constr"], ["--constraint"]),
        (["fit", "--loss", "like"], ["likelihood-ev", "likelihood-nv"]),
    ],
)
def test_bash_completes_commands_options_and_values(
    words: list[str], offered: list[str], tmp_path: Path
) -> None:
    program = tmp_path / "analyticdag"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m analyticdag "$@"\n')
    program.chmod(0o755)
    line = shlex.join(["analyticdag", *words])
    script = (
        f'eval "$({program} --show-completion bash)"; '
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
        f'_analyticdag_completion {program}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered, done.stderr


def test_the_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "--version") == 0
    assert capsys.readouterr().out.strip() == __version__
    citation = Path(__file__).parent.parent / "CITATION.cff"
    assert f"\nversion: {__version__}\n" in citation.read_text()
