"""Every method of every shipped plan, on a problem small enough to run here."""

from __future__ import annotations

import pytest

from benchmarks.cell import run_cell
from benchmarks.methods import shortened
from benchmarks.plan import Cell, Method, load_plan, shipped_plans

_SMALL = {"nodes": 10, "samples": 200}


def shrunk(cell: Cell) -> Cell:
    """The same cell with few nodes, rows and steps: a plan has to work, not to find anything."""
    setting = {**cell.setting, **{k: v for k, v in _SMALL.items() if k in cell.setting}}
    short = shortened(cell.method)
    if cell.method.call == "notears":
        short = {"max_rounds": 1}
    if cell.task == "gradient-norms":
        short = {"steps": 20}
        if "sampled" not in cell.method.options:
            short["every"] = 10
    options = {**cell.method.options, **short}
    method = Method(cell.method.name, cell.method.call, options)
    return Cell(cell.plan, cell.task, setting, method, 0, 0)


def small_cells() -> dict[str, Cell]:
    """One cell for each thing that shipped plans call, whichever plan it is in."""
    found: dict[str, Cell] = {}
    for name in shipped_plans():
        for cell in map(shrunk, load_plan(name).cells):
            found.setdefault(f"{cell.task} {cell.method.call} {cell.method.options}", cell)
            found.setdefault(f"{cell.task} {sorted(cell.setting.items())}", cell)
    return {f"{cell.plan} {cell.method.name}": cell for cell in found.values()}


CELLS = small_cells()


@pytest.mark.parametrize("name", CELLS)
def test_every_method_of_every_plan_works(name: str) -> None:
    record = run_cell(CELLS[name], threads=1)
    assert record["exit"] in ("ok", "missing"), record["reason"]


def test_the_papers_settings_are_all_there() -> None:
    for name, family in (("paper-table-1", "ER"), ("paper-table-2", "SF")):
        settings = {cell.setting_name: cell.setting for cell in load_plan(name).cells}.values()
        assert len(settings) == 21
        assert {str(setting["graph"])[:2] for setting in settings} == {family}
        assert {setting["samples"] for setting in settings} == {1000}
    (only,) = {cell.setting_name for cell in load_plan("paper-table-3").cells}
    assert "standardize=True" in only
    assert "nodes=1000" in only
