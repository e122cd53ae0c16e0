"""Effects over a class agree with every member, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from classes import classes, members, random_dag

from analyticdag.effects import Known, effects, total_effect
from analyticdag.effects.equations import Equations
from analyticdag.errors import InputError, ParameterError
from analyticdag.graphs import orient_with_knowledge, to_cpdag
from analyticdag.moments import Moments


def some_data(d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([d, seed])
    return rng.normal(size=(20, d)) @ rng.normal(size=(d, d))


def known_of(edges: np.ndarray, member: np.ndarray, X: np.ndarray) -> Known:
    moments = Moments.shared(np.cov(X.T, bias=True), len(X))
    return Known.standardised(list(range(len(edges))), edges, member, moments, X.mean(axis=0))


def assert_agree(known: Known, graphs: list[np.ndarray]) -> None:
    """Compare all pairs with the effects in each of the graphs."""
    every = [Equations(graph, known.moments) for graph in graphs]
    rows = {(row.cause, row.outcome): row for row in effects(known)}
    d = len(known.names)
    for x, y in np.argwhere(~np.eye(d, dtype=bool)).tolist():
        unit = known.sd[y] / known.sd[x]
        true = sorted({round(float(e.paths[x, y]), 8) + 0.0 for e in every})
        found = total_effect(known, x, y)
        assert np.array(found.possible) / unit == pytest.approx(true, abs=1e-7)
        assert found.identified == (len(true) == 1)
        assert found.zero_share == 0.0 or 0.0 in true
        row = rows.get((x, y))
        if row is None:
            assert true == [0.0]
        else:
            ends = np.array([row.smallest, row.largest]) / unit
            assert ends == pytest.approx([true[0], true[-1]], abs=1e-7)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_every_class_of_up_to_four_nodes(d: int) -> None:
    for number, (key, graphs) in enumerate(classes(d).items()):
        cpdag = np.frombuffer(key, dtype=bool).reshape(d, d)
        assert_agree(known_of(cpdag, graphs[0], some_data(d, number)), graphs)


@pytest.mark.parametrize("seed", range(20))
def test_random_classes_of_six_nodes(seed: int) -> None:
    graph = random_dag(6, np.random.default_rng(seed), 0.5)
    cpdag = to_cpdag(graph) != 0
    assert_agree(known_of(cpdag, graph, some_data(6, seed)), members(cpdag))


@pytest.mark.parametrize("seed", range(20))
def test_classes_narrowed_by_knowledge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_dag(6, rng, 0.4)
    cpdag = to_cpdag(graph) != 0
    allowed = graph | (rng.random((6, 6)) < 0.6)
    known = orient_with_knowledge(cpdag, allowed) != 0
    graphs = [member for member in members(cpdag) if (member <= allowed).all()]
    assert_agree(known_of(known, graph, some_data(6, seed)), graphs)


@pytest.mark.parametrize("n", [200, 1000])
def test_intervals_hold_the_true_effect(n: int) -> None:
    rng = np.random.default_rng(n)
    inside = total = 0
    for _ in range(100):
        graph = random_dag(6, rng, 0.5)
        W = np.where(graph, rng.uniform(-1, 1, graph.shape), 0.0)
        T = np.linalg.inv(np.eye(6) - W)
        X = rng.normal(size=(n, 6)) @ T
        known = known_of(graph, graph, X)
        for row in effects(known):
            inside += row.low <= T[row.cause, row.outcome] <= row.high
            total += 1
    assert total > 500
    assert 0.93 <= inside / total <= 0.97


def test_adjustment_sets_of_a_textbook_graph() -> None:
    # z confounds x and y, m mediates, w is a parent of y only.
    names = ["z", "x", "m", "w", "y"]
    graph = np.zeros((5, 5), dtype=bool)
    for a, b in [("z", "x"), ("z", "y"), ("x", "m"), ("m", "y"), ("w", "y")]:
        graph[names.index(a), names.index(b)] = True
    X = some_data(5, 0)
    moments = Moments.shared(np.cov(X.T, bias=True), len(X))
    known = Known.standardised(names, graph, graph, moments, X.mean(axis=0))
    effect = total_effect(known, "x", "y")
    assert set(effect.adjustment_set) == {"z", "w"}
    assert effect.minimal_adjustment_set == ("z",)
    assert effect.identified
    assert total_effect(known, "y", "x").value == 0.0


def test_many_open_edges_give_a_bound() -> None:
    d = 13
    edges = ~np.eye(d, dtype=bool)
    member = np.triu(edges)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, d)) @ (np.eye(d) + rng.normal(size=(d, d)) * 0.3)
    known = known_of(edges, member, X)
    effect = total_effect(known, 0, 5)
    assert effect.bounded
    low, high = effect.interval
    for order in (rng.permutation(d) for _ in range(50)):
        graph = np.zeros((d, d), dtype=bool)
        graph[np.ix_(order, order)] = np.triu(np.ones((d, d), dtype=bool), 1)
        unit = known.sd[5] / known.sd[0]
        assert low <= Equations(graph, known.moments).paths[0, 5] * unit <= high


def test_wrong_names_and_levels_are_refused() -> None:
    graph = np.array([[False, True], [False, False]])
    known = known_of(graph, graph, some_data(2, 0))
    with pytest.raises(InputError, match="cause='a' is no column; the columns are"):
        total_effect(known, "a", 1)
    with pytest.raises(ParameterError, match="name two different columns"):
        total_effect(known, 0, 0)
    with pytest.raises(ParameterError, match="level must be a number of at least 0 and at most 1"):
        total_effect(known, 0, 1, level=95)
    with pytest.raises(ParameterError, match="effects need a fitted AnalyticDAG"):
        total_effect("model", 0, 1)
