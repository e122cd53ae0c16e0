"""`analyticdag check`, and `compare` link by link."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

Command: TypeAlias = Callable[..., Any]  # the fixture of conftest.py


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Rain and a sprinkler wet the grass, which has nothing to do with the news."""
    rng = np.random.default_rng(3)
    rain, sprinkler, news = rng.normal(size=(3, 500))
    wet = rain + sprinkler + 0.5 * rng.normal(size=500)
    rows = np.column_stack([rain, sprinkler, wet, news])
    path = tmp_path / "garden.csv"
    np.savetxt(path, rows, delimiter=",", header="rain,sprinkler,wet,news", comments="")
    return path


def test_a_graph_that_fits(command: Command, table: Path, tmp_path: Path) -> None:
    graph = tmp_path / "good.csv"
    graph.write_text("source,target\nrain,wet\nsprinkler,wet\n")
    result = command("check", graph, table)
    assert result.code == 0
    assert "0 of 4 pairs that the graph does not join" in result.out
    assert "0 of 2 links are not needed" in result.out


def test_a_graph_that_does_not(command: Command, table: Path, tmp_path: Path) -> None:
    graph = tmp_path / "bad.csv"
    graph.write_text("source,target\nrain,wet\nnews,wet\n")
    result = command("check", graph, table, "--json")
    found = json.loads(result.out)
    assert any({t["first"], t["second"]} == {"sprinkler", "wet"} for t in found["violated"])
    assert found["unsupported"] == ["news → wet"]
    assert found["score"] > found["best_score"]
    shown = command("check", graph, table)
    assert "news → wet" in shown.out
    assert "partial correlation" in shown.out


def test_names_that_the_table_lacks(command: Command, table: Path, tmp_path: Path) -> None:
    graph = tmp_path / "other.csv"
    graph.write_text("source,target\nsnow,wet\n")
    result = command("check", graph, table)
    assert result.code == 2
    assert "snow" in result.err
    assert result.err.count("\n") == 1


def test_compare_lists_what_differs(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target\nx,y\ny,z\nz,w\n")
    (tmp_path / "b.csv").write_text(
        "source,target,direction\ny,x,directed\ny,z,open\nx,w,directed\n"
    )
    result = command("compare", tmp_path / "a.csv", tmp_path / "b.csv")
    for text in ("reversed    x → y, here y → x", "unoriented  y → z, here y — z"):
        assert text in result.out
    assert "extra       x → w" in result.out
    assert "missing     z → w" in result.out
    listed = json.loads(command("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--json").out)
    assert len(listed["differences"]) == listed["shd"] == 4
