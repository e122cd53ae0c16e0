"""The layout by Graphviz: the real program where it is installed, and what happens without it."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

from analyticdag.drawing.graphviz import graphviz_layout
from analyticdag.drawing.layout import layered_layout
from analyticdag.io import run_of_weights
from analyticdag.report.page import picture_of
from analyticdag.simulate import simulate

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
CHAIN = np.diag(np.ones(2, dtype=bool), 1)


def program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `dot` of our own before every other."""
    path = folder / "dot"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return path


@needs_dot
@pytest.mark.parametrize(("code", "d"), [("ER1", 12), ("ER2", 40), ("SF2", 150)])
def test_causes_are_above_effects_and_boxes_do_not_overlap(code: str, d: int) -> None:
    edges = simulate(code, n_nodes=d, n_samples=2, seed=1).weights != 0.0
    layout = graphviz_layout(edges, [60.0] * d, 30.0)
    assert layout is not None
    tails, heads = np.nonzero(edges)
    assert np.all(layout.y[tails] < layout.y[heads])
    for y in np.unique(layout.y):
        assert np.all(np.diff(np.sort(layout.x[layout.y == y])) >= 60.0 - 0.1)
    for tail, head, bends in zip(tails, heads, layout.bends, strict=True):
        passed = [y for _, y in bends]
        assert passed == sorted(passed)
        assert all(layout.y[tail] < y < layout.y[head] for y in passed)
        assert all(0.0 <= x <= layout.width for x, _ in bends)


@needs_dot
def test_long_edges_keep_clear_of_the_boxes_they_pass() -> None:
    edges = simulate("ER2", n_nodes=30, n_samples=2, seed=0).weights != 0.0
    layout = graphviz_layout(edges, [60.0] * 30, 30.0)
    assert layout is not None
    bends = [point for chain in layout.bends for point in chain]
    assert len(bends) > 10
    for x, y in bends:
        beside = np.abs(layout.y - y) < 1.0
        assert np.all(np.abs(layout.x[beside] - x) > 30.0)


@needs_dot
def test_nodes_without_edges_are_set_apart() -> None:
    edges = np.zeros((30, 30), dtype=bool)
    edges[0, 1] = True
    layout = graphviz_layout(edges, [60.0] * 30, 30.0)
    assert layout is not None
    assert layout.y[2:].min() > layout.y[1]


def test_names_never_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, f"cat > {tmp_path}/asked; exit 1", monkeypatch)
    names = ['"]; n0 [label=<b>', "$(touch owned)", "x\n}"]
    picture_of(run_of_weights(CHAIN * 0.5, names))
    asked = (tmp_path / "asked").read_text()
    assert "n0 -> n1;" in asked
    assert all(name not in asked for name in (*names, "owned", "<b>"))


@pytest.mark.parametrize(
    "script",
    [
        "exit 3",
        "cat > /dev/null; echo graph 1 1 1",
        "cat > /dev/null; echo node n0 nonsense",
        "cat > /dev/null; echo node n77 1 1; echo stop",
        "sleep 5",
    ],
)
def test_anything_unexpected_leaves_it_to_our_own_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr("analyticdag.drawing.graphviz.SECONDS", 0.2)
    program(tmp_path, script, monkeypatch)
    assert graphviz_layout(CHAIN, [60.0] * 3, 30.0) is None
    picture = picture_of(run_of_weights(CHAIN * 0.5, ["a", "b", "c"]))
    expected = layered_layout(CHAIN, [node.width for node in picture.nodes])
    assert [node.x for node in picture.nodes] == expected.x.tolist()


def test_without_it_or_without_edges_there_is_nothing_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, f"touch {tmp_path}/asked", monkeypatch)
    assert graphviz_layout(np.zeros((2, 2), dtype=bool), [60.0] * 2, 30.0) is None
    assert not (tmp_path / "asked").exists()
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert graphviz_layout(CHAIN, [60.0] * 3, 30.0) is None
