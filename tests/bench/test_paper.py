from __future__ import annotations

from collections import Counter

import pytest
from making import cells_of, failed, made_up

from benchmarks.paper import paper_figures, paper_tables
from benchmarks.paper.tables import group_of
from benchmarks.plan import load_plan


@pytest.mark.parametrize("plan", ["paper-table-1", "paper-table-2"])
def test_every_setting_of_the_paper_has_its_five_figures(plan: str) -> None:
    figures = paper_figures(plan)
    assert len(figures) == 21 * 5
    settings = Counter((figure.graph, figure.noise, figure.nodes) for figure in figures)
    planned = {
        (cell.setting["graph"], cell.setting["noise"], cell.setting["nodes"])
        for cell in load_plan(plan).cells
    }
    assert set(settings) == planned
    assert {figure.method for figure in figures} == {"dagma", *(f"order-{k}" for k in range(1, 5))}


def test_the_best_figures_are_those_the_paper_claims() -> None:
    def best(plan: str, graph: str, nodes: int) -> float:
        return min(
            figure.mean
            for figure in paper_figures(plan)
            if (figure.graph, figure.nodes, figure.noise) == (graph, nodes, "gaussian")
        )

    assert best("paper-table-1", "ER4", 2000) == 1574.1
    assert best("paper-table-2", "SF4", 2000) == 1395.6
    assert best("paper-table-3", "ER1", 1000) == 389.4
    assert len(paper_figures("paper-table-4")) == 20
    assert paper_figures("no-such-plan") == []


def test_methods_belong_to_the_paper_to_the_engine_or_to_others() -> None:
    groups = {
        cell.method.name: group_of(made_up(cell)) for cell in cells_of("paper-table-1", repeat=0)
    }
    of = {
        kind: {name for name, group in groups.items() if group == kind} for kind in groups.values()
    }
    assert of["paper"] == {"exponential", "order-1", "order-2", "order-3", "order-4"}
    assert {"fast-order-1", "order-search", "analyticdag"} < of["engine"]
    assert {"dagma", "empty", "conditional-variance", "flop", "notears"} < of["baseline"]


def test_measured_and_printed_figures_stand_together() -> None:
    here = {"graph": "ER2", "noise": "gaussian", "nodes": 500}
    found = {"order-1": (40, 60), "order-search": (0, 1), "empty": (1000, 1000), "dagma": (50, 70)}
    records = [
        made_up(cell, shd=found[cell.method.name][cell.repeat])
        for cell in cells_of("paper-table-1", **here)
        if cell.repeat < 2 and cell.method.name in found
    ]
    (slow,) = cells_of("paper-table-1", **here, method="order-2", repeat=0)
    records.append(failed(slow, "timeout", "stopped after 60 seconds"))
    faithful, engine = paper_tables("paper-table-1", records).split("### The engine")
    lines = faithful.splitlines()
    assert "| graph | noise | nodes |  | dagma | order-1 | order-2 |" in faithful
    assert (
        "| ER2 | gaussian | 500 | measured | 60 ± 14.14 | 50 ± 14.14 | 1 timeout, 1 seed "
        "| 29.80 ± 20.97 (order-4) | 1.68 | 60 (dagma) | 2 |"
    ) in lines
    assert (
        "|  |  |  | paper | 44.90 ± 32.95 | 33.40 ± 23.46 | 31.70 ± 19.47 |  |  |  | 10 |" in lines
    )
    assert (
        "| ER2 | gaussian | 500 | measured | 0.5 ± 0.707 | 29.80 ± 20.97 (order-4) | 0.0168 "
        "| 60 (dagma) | 2 |"
    ) in engine


def test_the_exact_path_stands_beside_what_the_paper_prints_for_its_constraint() -> None:
    here = {"graph": "ER2", "noise": "gaussian", "nodes": 500, "repeat": 0}
    (cell,) = cells_of("paper-table-1", **here, method="fast-order-1")
    lines = paper_tables("paper-table-1", [made_up(cell, shd=32)]).splitlines()
    assert lines[-2].startswith("| ER2 | gaussian | 500 | measured | 32 |")
    assert lines[-1].startswith("|  |  |  | paper | 33.40 ± 23.46 |")


def test_table_3_has_a_line_for_each_method_run_or_printed() -> None:
    names = {"fast-order-1": 554, "fast-order-1, no mask": 749, "pc, compiled": 1734}
    records = [
        made_up(cell, shd=names[cell.method.name])
        for cell in cells_of("paper-table-3", repeat=0)
        if cell.method.name in names
    ]
    lines = paper_tables("paper-table-3", records).splitlines()
    assert {
        "| fast-order-1 | 554 | 429.60 ± 24.73 | 1 |",
        "| fast-order-1, no mask | 749 |  | 1 |",
        "| pc, compiled | 1734 | 563.90 ± 23.84 | 1 |",
        "| ges | – | 4490 ± 62.52 | 0 |",
    } < set(lines)
    assert not any(line.startswith(("| order-1 |", "| pc |")) for line in lines)


def test_a_group_without_records_is_left_out() -> None:
    (cell,) = cells_of(
        "paper-table-1", graph="ER2", noise="gaussian", nodes=500, method="order-1", repeat=0
    )
    text = paper_tables("paper-table-1", [made_up(cell, shd=3)])
    assert text.startswith("### The paper's method: Adam from zero")
    assert "### The engine" not in text


def test_table_4_has_both_distances_beside_the_papers() -> None:
    distances = {"exponential float32": (14, 9), "order-1 float64": (13, 8)}
    records = [
        made_up(cell, shd=distances[cell.method.name][0], shd_cpdag=distances[cell.method.name][1])
        for cell in cells_of("paper-table-4")
        if cell.method.name in distances and cell.repeat < 2
    ]
    lines = paper_tables("paper-table-4", records).splitlines()
    assert lines[0].startswith("| constraint | precision | SHD | paper's SHD | SHD-CPDAG |")
    assert set(lines[2:]) == {
        "| exponential | float32 | 14 ± 0 | 15 | 9 ± 0 | 10 | 2 |",
        "| order-1 | float64 | 13 ± 0 | 13 | 8 ± 0 | 9 | 2 |",
    }
