"""Effects over a class agree with every member, one by one."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from classes import Class, classes, effects_of, members, random_dag

from analyticdag import AnalyticDAG
from analyticdag.effects import Effect, Known, effects, joint_effect, total_effect
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


def assert_agree(known: Known, graphs: list[np.ndarray], each: np.ndarray) -> None:
    """Compare all pairs with the effects [graph, x, y] in each of the graphs."""
    rows = {(row.cause, row.outcome): row for row in effects(known)}
    reached = np.abs(each) > 1e-9
    for x, y in np.argwhere(~np.eye(len(known.names), dtype=bool)).tolist():
        true = sorted({round(float(value), 7) + 0.0 for value in each[:, x, y]})
        found = total_effect(known, x, y)
        assert np.array(found.possible) == pytest.approx(true, abs=1e-6)
        assert found.identified == (len(true) == 1)
        assert (found.n_members, found.n_zero) == (len(graphs), np.sum(~reached[:, x, y]))
        assert found.zero_share == found.n_zero / found.n_members
        if found.identified:
            assert_adjustment(known, found, true[0])
        if found.direct is not None:
            assert_split(found, graphs, x, y)
        row = rows.get((x, y))
        if row is None:
            assert true == [0.0]
        else:
            assert [row.smallest, row.largest] == pytest.approx([true[0], true[-1]], abs=1e-6)
            assert row.zero_share == found.zero_share


def assert_adjustment(known: Known, found: Effect, true: float) -> None:
    """One regression on the cause and either set gives the effect: in the population, that is."""
    everyone = Equations(known.member, known.moments)
    T = everyone.paths
    S = (T.T * known.moments.residual_variances(everyone.weights)) @ T  # as the graph implies it
    for chosen in (found.adjustment_set, found.minimal_adjustment_set):
        columns = [found.cause, *chosen]
        slope = np.linalg.solve(S[np.ix_(columns, columns)], S[columns, found.outcome])[0]
        unit = known.sd[found.outcome] / known.sd[found.cause]
        if true != 0.0:
            assert slope * unit == pytest.approx(true, abs=1e-6)


def assert_split(found: Effect, graphs: list[np.ndarray], x: int, y: int) -> None:
    """The parts add up, and every member has the same directed paths."""
    assert found.direct + found.mediated == pytest.approx(found.value, abs=1e-9)
    assert sum(path.value for path in found.paths) == pytest.approx(found.value, abs=1e-9)
    listed = {path.nodes for path in found.paths}
    assert len(listed) == found.n_paths
    for graph in (graphs[0], graphs[-1]):
        drawn = nx.DiGraph(list(map(tuple, np.argwhere(graph).tolist())))
        drawn.add_nodes_from((x, y))
        assert {tuple(path) for path in nx.all_simple_paths(drawn, x, y)} == listed


def agree_with_all(one: Class, X: np.ndarray) -> None:
    assert_agree(known_of(one.edges, one.members[-1], X), list(one.members), one.effects)


@pytest.mark.parametrize(("d", "n_classes", "n_shapes"), [(2, 2, 2), (3, 11, 5), (4, 185, 20)])
def test_every_class_of_up_to_four_nodes(d: int, n_classes: int, n_shapes: int) -> None:
    X = some_data(d, 0)
    every = classes(d, np.cov(X.T, bias=True))
    assert len(every) == n_classes
    for one in one_of_each_shape(every, n_shapes):
        agree_with_all(one, X)


def test_every_class_of_five_nodes() -> None:
    """Under one naming; under all 8,782 namings it is docs/figures/effects_brute_force.py."""
    X = some_data(5, 0)
    every = classes(5, np.cov(X.T, bias=True))
    assert len(every) == 8782
    for one in one_of_each_shape(every, 142):
        agree_with_all(one, X)


def one_of_each_shape(every: list[Class], n_shapes: int) -> list[Class]:
    """Return one class of all those that renaming nodes turns into each other, named at random."""
    d = len(every[0].edges)
    edges = np.array([one.edges for one in every]).reshape(len(every), -1)
    places = np.arange(d * d).reshape(d, d)
    bits = 1 << np.arange(d * d)
    orders = itertools.permutations(range(d))
    codes = np.min([edges[:, places[np.ix_(o, o)].ravel()] @ bits for o in orders], axis=0)
    shuffled = np.random.default_rng(0).permutation(len(every))
    _, first = np.unique(codes[shuffled], return_index=True)
    assert len(first) == n_shapes
    return [every[k] for k in shuffled[first]]


@pytest.mark.parametrize("seed", range(10))
def test_random_classes_of_six_nodes(seed: int) -> None:
    graph = random_dag(6, np.random.default_rng(seed), 0.5)
    cpdag, X = to_cpdag(graph) != 0, some_data(6, seed)
    graphs = members(cpdag)
    each = effects_of(graphs, np.cov(X.T, bias=True))
    assert_agree(known_of(cpdag, graph, X), graphs, each)


@pytest.mark.parametrize("seed", range(20))
def test_classes_narrowed_by_knowledge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_dag(6, rng, 0.4)
    cpdag, X = to_cpdag(graph) != 0, some_data(6, seed)
    allowed = graph | (rng.random((6, 6)) < 0.6)
    known = orient_with_knowledge(cpdag, allowed) != 0
    graphs = np.array([one for one in members(cpdag) if (one <= allowed).all()])
    each = effects_of(graphs, np.cov(X.T, bias=True))
    assert_agree(known_of(known, graph, X), graphs, each)


@pytest.mark.parametrize("seed", range(15))
def test_several_causes_at_once(seed: int) -> None:
    """Joint effects agree with those of all members, each with the edges into the causes cut."""
    rng = np.random.default_rng([seed, 1])
    graph = random_dag(6, rng, 0.5)
    cpdag, X = to_cpdag(graph) != 0, some_data(6, seed)
    allowed = graph | (rng.random((6, 6)) < (0.6 if seed % 2 else 1.1))  # every other: knowledge
    graphs = np.array([one for one in members(cpdag) if (one <= allowed).all()])
    x, z, y = rng.permutation(6)[:3].tolist()
    S = np.cov(X.T, bias=True)
    # Coefficients come from the whole graph, so the edges are cut afterwards.
    W = np.eye(6) - np.linalg.inv(effects_of(graphs, S))
    W[:, :, [x, z]] = 0.0
    T = np.linalg.inv(np.eye(6) - W)
    true = sorted({tuple(np.round(one, 7) + 0.0) for one in T[:, [x, z], y]})
    known = known_of(orient_with_knowledge(cpdag, allowed) != 0, graph, X)
    found = joint_effect(known, [x, z], y)
    possible = sorted(tuple(np.round(one, 7) + 0.0) for one in found.possible)
    assert np.array(possible) == pytest.approx(np.array(true), abs=1e-6)
    assert found.identified == (len(true) == 1)
    for k in range(2):
        low, high = found.intervals[k]
        assert all(low <= values[k] <= high for values in found.possible)


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


def test_without_a_path_a_link_that_was_missed_is_told() -> None:
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 400))
    y = 0.08 * x + z + rng.normal(size=400)  # too weak an effect for the search
    model = AnalyticDAG(loss="likelihood-nv").fit(np.column_stack([x, z, y]))
    assert not model.adjacency_matrix_[0].any()
    found = total_effect(model, 0, 2)
    assert found.identified
    assert found.value == 0.0
    assert found.missed is not None
    slopes = np.linalg.lstsq(np.column_stack([x, z, np.ones(400)]), y, rcond=None)[0]
    adjusted = bool(model.graph_.has_edge(1, 2))  # z may be an effect of y: then it is left out
    assert found.missed.value == pytest.approx(
        slopes[0] if adjusted else np.cov(x, y)[0, 1] / x.var(ddof=1)
    )
    low, high = found.missed.interval
    assert low < 0.08 < high
    said = str(found)
    assert "no effect if the graph is right" in said
    assert f"[{low:.4g}, {high:.4g}]" in said


def test_a_path_back_is_no_link_that_was_missed() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 500))
    collider = np.column_stack([a, b, a + b + rng.normal(size=500)])
    found = total_effect(AnalyticDAG(loss="likelihood-nv").fit(collider), 2, 0)
    assert found.missed is None
    assert found.leads_back
    assert "which leads from 0 to 2, so no effect" in str(found)
