"""Graphs from anywhere beside categories: all levels are asked, not one score for each."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.diagnostics import diagnose
from analyticdag.effects import check_graph, fit_graph, total_effect
from analyticdag.io import read_table

pandas = pytest.importorskip("pandas")


def frame(seed: int = 0, n: int = 1500) -> Any:
    """c acts on x and y in two different ways: no single score of its levels explains both."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 3, n)
    x = np.array([0.0, 2.0, 0.0])[c] + rng.standard_normal(n)
    y = np.array([0.0, 1.0, 3.0])[c] + rng.standard_normal(n)
    z = x + rng.standard_normal(n)
    return pandas.DataFrame({"c": np.array(list("abc"))[c], "x": x, "y": y, "z": z})


TRUE = nx.DiGraph([("c", "x"), ("c", "y"), ("x", "z")])


def test_the_true_graph_is_not_contradicted() -> None:
    contradicted = 0
    for seed in range(10):
        found = check_graph(TRUE, frame(seed))
        assert found.n_tests == 3
        assert found.unsupported == ()
        assert found.best_score <= found.score + 1e-6
        contradicted += bool(found.violated)
    assert contradicted <= 2  # 5 % each


def test_a_missing_edge_of_a_category_is_named_and_a_needless_one_too() -> None:
    less = nx.DiGraph([("c", "x"), ("x", "z")])
    less.add_node("y")
    first = check_graph(less, frame()).violated[0]
    assert {first.first, first.second} == {"c", "y"}
    assert first.p_value < 1e-6
    more = nx.DiGraph([*TRUE.edges, ("c", "z")])
    assert check_graph(more, frame()).unsupported == (("c", "z"),)


def test_a_file_and_a_frame_are_the_same(tmp_path: Any) -> None:
    path = tmp_path / "table.csv"
    frame().to_csv(path, index=False)
    from_file, from_frame = (check_graph(TRUE, X) for X in (read_table(path).columns, frame()))
    assert from_file.score == pytest.approx(from_frame.score)
    assert from_file.violated == from_frame.violated


def test_effects_of_a_given_graph_go_by_levels() -> None:
    table = frame()
    effect = total_effect(fit_graph(TRUE, table), "c", "y")
    means = table.groupby("c").y.mean()
    for one in effect.levels:
        expected = means[one.cause_level] - means[one.reference]
        assert one.smallest == pytest.approx(expected)


def test_no_false_alarm_about_residuals_beside_a_category() -> None:
    known = Knowledge(tiers=[["c"], ["x", "y"], ["z"]])
    table = frame()
    model = AnalyticDAG(n_jobs=1, knowledge=known).fit(table)
    assert set(model.graph_.edges) == set(TRUE.edges)
    checks = {check.name: check for check in diagnose(model, table, refit=False).checks}
    assert checks["residual correlation"].numbers["pairs"] == []


def test_scores_are_plain_floats() -> None:
    numbers = frame().drop(columns="c")
    beside_numbers = check_graph(nx.DiGraph([("x", "z"), ("x", "y")]), numbers)
    for found in (check_graph(TRUE, frame()), beside_numbers):
        assert type(found.score) is float
        assert type(found.best_score) is float
