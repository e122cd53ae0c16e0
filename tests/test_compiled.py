"""The kernels: which build runs, that it is of this source, and what happens without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from analyticdag import _compiled
from analyticdag._compiled import VARIABLE, build_in, compiled_first, flat
from analyticdag.errors import ParameterError
from kernel_sources import build, newest_source

UNITS = [build.dotted(unit.with_suffix("")) for unit in build.units()]
WHERE = "import {package}; print({package}.__file__)"


def in_new_process(script: str, asked: str | None = None, home: Path | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    if asked is not None:
        environment[VARIABLE] = asked
    if home is not None:
        environment["PYTHONPATH"] = str(home)
    command = [sys.executable, "-W", "error", "-c", script]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return result.stdout.strip() or result.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("unit", UNITS)
def test_what_runs_is_of_this_source(unit):
    package = import_module(unit.rpartition(".")[0])
    if build_in(package.__path__) == "python":
        pytest.skip("nothing is compiled here")
    assert newest_source(unit) == import_module(unit).SOURCE


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("asked", ["v3", "baseline", "python"])
def test_a_build_can_be_asked_for(unit, asked):
    package = import_module(unit.rpartition(".")[0])
    home = Path(package.__file__).parent
    if asked != "python" and not any((home / f"_{asked}").glob("kernels*")):
        pytest.skip("that build is not made on this kind of machine")
    file = Path(in_new_process(WHERE.format(package=unit), asked))
    assert file.parent == (home if asked == "python" else home / f"_{asked}")


def test_an_unknown_build_is_refused():
    message = in_new_process("import analyticdag._constraint", "sse9")
    assert "ANALYTICDAG_KERNELS must be one of v3, baseline, python, got 'sse9'" in message


def test_a_build_that_is_not_there_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, "baseline")
    with pytest.raises(ParameterError, match="holds no such build"):
        compiled_first([str(tmp_path)])


def test_without_any_build_python_runs_and_says_so(tmp_path):
    ours = Path(_compiled.__file__).parent.parent
    skip = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(ours, tmp_path / "analyticdag", ignore=skip)
    script = "from analyticdag.spectral import spectral_radius; import numpy as np\n"
    script += "print(spectral_radius(np.array([[0.0, 0.5], [0.5, 0.0]])))"
    assert "kernels are not compiled here" in in_new_process(script, None, tmp_path)
    assert float(in_new_process(script, "python", tmp_path)) == pytest.approx(0.5)


def test_an_older_processor_gets_the_build_for_all(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    for name in ("_v3", "_baseline"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"kernels{_compiled.EXTENSION_SUFFIXES[0]}").touch()
    for newer, expected in ((True, "v3"), (False, "baseline")):
        monkeypatch.setattr(_compiled, "_is_v3", lambda newer=newer: newer)
        assert build_in(compiled_first([str(tmp_path)])) == expected


def test_a_vector_shares_its_memory_or_is_refused():
    matrix = np.zeros((2, 3))
    flat(matrix)[4] = 1.0
    assert matrix[1, 1] == 1.0
    with pytest.raises(ValueError, match="not contiguous"):
        flat(matrix.T)


def test_pieces_that_share_a_name_are_refused(tmp_path):
    pieces = [tmp_path / "one.py", tmp_path / "two.py"]
    for piece in pieces:
        piece.write_text("SIZE = 3\n")
    with pytest.raises(SystemExit, match="both define SIZE"):
        build.check_names(pieces)


UNIX_ONLY = ["fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"]
WITHOUT_UNIX = """
import importlib, pkgutil, sys
import jinja2, joblib, networkx, numpy, scipy.linalg, sklearn.utils.validation, typer, rich.console
import asyncio, multiprocessing, scipy.optimize, scipy.sparse.csgraph, scipy.stats
sys.modules.update(dict.fromkeys({hidden}))
import analyticdag
for module in pkgutil.walk_packages(analyticdag.__path__, "analyticdag."):
    if not module.name.endswith("__main__") and ".nonlinear" not in module.name:
        importlib.import_module(module.name)
from analyticdag.datasets import load_sachs
print(analyticdag.AnalyticDAG().fit(load_sachs().data).graph_.number_of_edges())
"""


def test_nothing_needs_unix():
    answer = in_new_process(WITHOUT_UNIX.format(hidden=UNIX_ONLY))
    assert int(answer) > 0
