from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from analyticdag.cli import main
from analyticdag.cli.stability import _tell

SETTINGS = ("--loss", "likelihood-nv", "--solver", "order", "--refine", "--resamples", "6")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X = np.random.default_rng(0).normal(size=(120, 3))
    X[:, 2] += 2.0 * X[:, 0] + 2.0 * X[:, 1]
    file = tmp_path_factory.mktemp("data") / "data.csv"
    rows = ["a[b],c,d", *(",".join(f"{value:.6f}" for value in row) for row in X)]
    file.write_text("\n".join(rows) + "\n")
    return file


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["analyticdag", "stability", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_json_has_names_frequencies_and_the_bound(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "stability.json"
    arguments = (table, *SETTINGS, "--complementary", "--json", "--quiet", "--out", out)
    assert run(monkeypatch, *arguments) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == json.loads(out.read_text(encoding="utf-8"))
    assert shown["n_rows"] == 60
    first = shown["edges"][0]
    assert (first["source"], first["target"], first["direction"]) == ("a[b]", "d", 1.0)
    assert shown["selected"] == [["a[b]", "d"], ["c", "d"]]
    assert shown["expected_wrong_at_most"] > 0.0


def test_a_person_gets_a_table(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, table, *SETTINGS) == 0
    shown = capsys.readouterr().out
    assert "a[b] → d" in shown
    assert "2 pairs joined in at least 90%" in shown


@pytest.mark.parametrize(("fixed", "arrow"), [(0.25, "—"), (0.5, "→")])
def test_an_arrow_needs_most_of_the_resamples_that_join_the_two(
    fixed: float, arrow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"source": "a", "target": "b", "edge": 0.75, "direction": fixed, "skeleton": 0.8}
    bound = {"threshold": 0.9, "selected": [], "expected_wrong_at_most": None}
    _tell({"n_resamples": 10, "edges": [row], **bound}, as_json=False, quiet=False)
    shown = capsys.readouterr().out
    assert f"a {arrow} b" in shown
    # Beside an open edge how often a fit drew it this way would read as a direction.
    assert ("0.75" in shown) == (arrow == "→")


def test_an_open_pair_is_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    ways = (("b", "a", 0.6, 0.1), ("a", "b", 0.3, 0.1), ("d", "c", 0.2, 0.0), ("c", "d", 0.7, 0.7))
    rows = [
        {"source": s, "target": t, "edge": edge, "direction": fixed, "skeleton": 0.9}
        for s, t, edge, fixed in ways
    ]
    bound = {"threshold": 0.9, "selected": [], "expected_wrong_at_most": None}
    _tell({"n_resamples": 10, "edges": rows, **bound}, as_json=False, quiet=False)
    shown = capsys.readouterr().out
    assert shown.count("a — b") == shown.count("c → d") == 1
    assert "b — a" not in shown
    assert "d — c" not in shown


def test_bad_input_is_one_line_and_exit_code_two(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, table, *SETTINGS[:-1], 0) == 2
    assert "n_resamples must be a whole number of at least 1" in capsys.readouterr().err


def test_a_higher_price_gives_fewer_edges(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, table, *SETTINGS, "--gamma", 1000, "--json", "--quiet") == 0
    assert json.loads(capsys.readouterr().out)["edges"] == []
    assert run(monkeypatch, table, *SETTINGS, "--gamma", "much") == 2
    assert "gamma must be" in capsys.readouterr().err
