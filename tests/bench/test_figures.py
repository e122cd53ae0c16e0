from __future__ import annotations

import sys
from pathlib import Path

import pytest
from making import cells_of, keep, made_up, some_records

from analyticdag.errors import MissingDependencyError
from benchmarks.figures import can_draw, draw, draw_all, figure_name
from benchmarks.growth import along, exponent

TRACE = {"stage": [0, 0, 1], "step": [0, 10, 10], "constraint": [1.0, 2.0, 0.5]}


def test_every_figure_is_drawn_twice_the_same(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    keep(tmp_path, "paper-table-1", some_records("paper-table-1", repeat=0))
    keep(tmp_path, "scaling", some_records("scaling"))
    gradients = [made_up(cell, trace=TRACE) for cell in cells_of("gradient-norms")]
    keep(tmp_path, "gradient-norms", gradients)
    ends = [made_up(cell, end_0=3.0, end_1=1.0) for cell in cells_of("gradient-norms-1000")]
    keep(tmp_path, "gradient-norms-1000", ends)
    written = draw_all(tmp_path)
    assert {path.stem for path in written} == {
        "gradient-norms",
        "gradient-norms-1000-stage-ends",
        "paper-table-1-shd-nodes",
        "paper-table-1-seconds-nodes",
        "paper-table-1-pareto",
        "scaling-seconds-nodes",
        "scaling-memory-nodes",
        "scaling-seconds-samples",
    }
    assert {path.suffix for path in written} == {".svg", ".png"}
    drawing = (tmp_path / "figures" / "scaling-seconds-nodes.svg").read_text(encoding="utf-8")
    assert "order-search  ~ d^" in drawing
    before = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in draw_all(tmp_path)] == before


def test_too_little_is_not_drawn() -> None:
    one_size = some_records("paper-table-1", nodes=500, repeat=0)
    assert not can_draw("shd-nodes", "paper-table-1", one_size)
    assert can_draw("pareto", "paper-table-1", one_size)
    assert not can_draw("pareto", "paper-table-1", one_size[:1])
    assert not can_draw("seconds-nodes", "scaling", [])


def test_names_are_not_doubled() -> None:
    assert figure_name("gradient-norms", "gradient-norms") == "gradient-norms"
    assert figure_name("scaling", "memory-nodes") == "scaling-memory-nodes"


def test_a_series_differs_in_one_thing_only() -> None:
    records = some_records("scaling", method="dagma")
    assert {r["setting"]["samples"] for r in along(records, "nodes")} == {1000}
    assert {r["setting"]["nodes"] for r in along(records, "samples")} == {200}
    assert along(records, "no-such-key") == []


def test_the_exponent_of_a_power_law() -> None:
    sizes = [100.0, 200.0, 400.0, 800.0]
    assert exponent(sizes, [3e-6 * d**2.5 for d in sizes]) == pytest.approx(2.5)
    assert exponent(sizes[:3], [1.0, 2.0, 3.0]) is None  # two sizes of 200 or more are no fit


def test_without_matplotlib_the_cure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install './benchmarks\[plots\]'"):
        draw("pareto", "paper-table-1", some_records("paper-table-1", repeat=0), tmp_path)


def test_a_cost_that_was_not_measured_is_not_drawn() -> None:
    """In one process the peak of a small cell is that of the largest before it: not recorded."""
    cells = cells_of("scaling", method="order-search", samples=1000)
    records = [made_up(cell, shd=0, seconds=1.0) | {"isolated": False} for cell in cells]
    assert can_draw("seconds-nodes", "scaling", records)
    assert not can_draw("memory-nodes", "scaling", records)
