"""Directions from the shape of the noise: the mathematics, beside brute force where it is short."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from analyticdag import AnalyticDAG
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.fitting import FixedBy
from analyticdag.graphs import is_dag, to_cpdag
from analyticdag.knowledge import EdgeMasks
from analyticdag.moments import Moments
from analyticdag.noise_shape import LocalGains, Shaped, orient
from analyticdag.noise_shape.density import N_BINS, bins_of, fitted_gains
from analyticdag.noise_shape.local import without_ties
from analyticdag.noise_shape.turning import components, visited

NOISE = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "laplace": lambda rng, n: rng.laplace(size=n),
    "student": lambda rng, n: rng.standard_t(5, size=n),
}
PRICE = 10.0  # of an edge in the score of a search


def drawn(dag: BoolArray, noise: str, n: int = 1500, seed: int = 0) -> FloatArray:
    """Draw standardised rows of a DAG whose nodes are in causal order, weights of one."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, len(dag)))
    for j in range(len(dag)):
        X[:, j] = X @ dag[:, j] + (
            rng.normal(size=n) if noise == "gaussian" else NOISE[noise](rng, n)
        )
    return (X - X.mean(axis=0)) / X.std(axis=0)


def gains_of(X: FloatArray) -> LocalGains:
    return LocalGains(X, Moments.of_rows(X), None)


def turned(X: FloatArray, dag: BoolArray, masks: EdgeMasks | None = None) -> Shaped:
    """Ask the noise of X about the class of a DAG."""
    masks = masks or EdgeMasks.free(len(dag))
    return orient(gains_of(X), dag, class_of, masks, np.zeros(len(dag), dtype=bool), PRICE)


def class_of(dag: BoolArray) -> tuple[BoolArray, BoolArray]:
    cpdag = to_cpdag(dag) != 0
    return cpdag, cpdag


def chain(d: int) -> BoolArray:
    return np.eye(d, k=1, dtype=bool)


def test_a_gaussian_gains_nothing_and_other_shapes_their_negentropy() -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    samples = {"gaussian": rng.normal(size=n), "laplace": rng.laplace(size=n) / np.sqrt(2.0)}
    gained = {}
    for name, u in samples.items():
        counts = np.bincount(bins_of(u), minlength=N_BINS).astype(float)[None]
        gained[name] = float((counts * fitted_gains(counts)).sum()) / n
    assert abs(gained["gaussian"]) < 1e-3
    # log f/φ of a Laplace with variance one has the mean 0.0724.
    negentropy = 0.5 * np.log(2 * np.pi * np.e) - (1.0 + np.log(np.sqrt(2.0)))
    assert_allclose(gained["laplace"], negentropy, atol=0.012)


def test_a_fitted_density_integrates_to_one() -> None:
    edges = np.linspace(-4.0, 4.0, N_BINS + 1)
    gaussian = np.diff(norm.cdf(np.r_[-np.inf, edges[1:-1], np.inf]))
    u = np.random.default_rng(1).exponential(size=(3, 500)) - 1.0
    counts = np.stack([np.bincount(bins_of(one), minlength=N_BINS) for one in u]).astype(float)
    assert_allclose((gaussian * np.exp(fitted_gains(counts))).sum(axis=1), 1.0, rtol=1e-9)


def test_one_outlier_gains_no_more_than_the_edge_of_the_grid() -> None:
    assert_array_equal(bins_of(np.array([-1e9, -4.1, 4.1, 1e9])), [0, 0, N_BINS - 1, N_BINS - 1])


def members_by_force(dag: BoolArray) -> set[bytes]:
    """Return all DAGs with the class of a small one."""
    pairs = np.argwhere(dag)
    found = set()
    for flips in itertools.product([False, True], repeat=len(pairs)):
        other = np.zeros_like(dag)
        for (i, j), flip in zip(pairs, flips, strict=True):
            other[(j, i) if flip else (i, j)] = True
        if is_dag(other) and np.array_equal(to_cpdag(other), to_cpdag(dag)):
            found.add(other.tobytes())
    return found


@pytest.mark.parametrize("density", [0.3, 0.7, 1.0])
def test_every_member_of_a_small_class_is_visited_with_its_own_gain(density: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        dag = np.triu(rng.random((5, 5)) < density, 1)
        X = drawn(dag, "laplace", n=200)
        gains = gains_of(X)
        for component in components(to_cpdag(dag) != 0):
            nodes = list(component.nodes)
            found = visited(component, component.inside(dag), gains)
            inside = np.ix_(nodes, nodes)
            seen = set()
            for member, gain in found.items():
                graph = dag.copy()
                graph[inside] = False
                for arc in component.arcs(member):
                    graph[arc] = True
                seen.add(graph[inside].tobytes())
                assert_allclose(
                    gain, sum(gains.total(one) for one in component.families(member)), rtol=1e-9
                )
            expected = members_by_force(dag[inside])
            assert seen == expected


def test_a_search_that_ends_early_has_still_seen_every_edge_both_ways() -> None:
    dag = np.triu(np.ones((7, 7), dtype=bool), 1)  # 5,040 members
    gains = gains_of(drawn(dag, "uniform", n=120))
    (component,) = components(to_cpdag(dag) != 0)
    found = visited(component, component.inside(dag), gains, most=20)
    seen = set().union(*(component.arcs(member) for member in found))
    assert len(found) < 100
    assert seen == {(i, j) for i in range(7) for j in range(7) if i != j}


@pytest.mark.parametrize("noise", list(NOISE))
def test_a_chain_is_turned_and_claimed(noise: str) -> None:
    dag = chain(6)
    X = drawn(dag, noise, n=6000 if noise == "student" else 1500)
    shaped = orient(
        gains_of(X),
        dag.T.copy(),  # in the class, and all wrong
        class_of,
        EdgeMasks.free(6),
        np.zeros(6, dtype=bool),
        PRICE,
    )
    assert_array_equal(shaped.member, dag)
    assert_array_equal(shaped.known, dag)
    assert min(shaped.margins.values()) >= 3.0


def test_gaussian_noise_claims_nothing() -> None:
    dag = chain(8)
    for seed in range(5):
        shaped = turned(drawn(dag, "gaussian", seed=seed), dag)
        assert_array_equal(shaped.known, dag | dag.T)


def test_a_direction_that_knowledge_rules_out_is_neither_taken_nor_claimed() -> None:
    dag = chain(2)
    X = drawn(dag, "exponential")[:, ::-1]  # the truth is now 1 -> 0
    allowed = ~np.eye(2, dtype=bool)
    allowed[1, 0] = False
    masks = EdgeMasks(allowed, np.zeros((2, 2), dtype=bool))
    shaped = turned(X, dag, masks)
    assert_array_equal(shaped.member, dag)
    assert shaped.margins == {}
    assert_array_equal(shaped.known, dag | dag.T)


def test_no_member_has_more_parents_than_allowed() -> None:
    # The best member of a triangle whose first node is Gaussian and a mixture of the others.
    triangle = np.triu(np.ones((3, 3), dtype=bool), 1)
    X = drawn(triangle, "uniform")[:, [2, 1, 0]]
    free = turned(X, triangle)
    assert free.member.sum(axis=0).max() == 2
    assert_array_equal(free.member, triangle.T)
    pair = np.zeros((3, 3), dtype=bool)
    pair[0, 1:] = True  # 1 <- 0 -> 2: any member has one parent at most
    limited = EdgeMasks(~np.eye(3, dtype=bool), np.zeros((3, 3), dtype=bool), 0)
    assert_array_equal(turned(X, pair, limited).member, pair)  # nothing fits: left as it is


def test_columns_without_added_noise_are_not_claimed() -> None:
    dag = chain(3)
    X = drawn(dag, "exponential")
    none = orient(gains_of(X), dag, class_of, EdgeMasks.free(3), np.ones(3, dtype=bool), PRICE)
    assert_array_equal(none.known, to_cpdag(dag) != 0)


@pytest.mark.parametrize("bend", [np.tanh, lambda x: x + 0.4 * x**2])
def test_a_bent_equation_with_gaussian_noise_claims_nothing(bend: object) -> None:
    rng = np.random.default_rng(5)
    X = np.zeros((1500, 6))
    for j in range(6):
        before = bend(X[:, j - 1]) if j else 0.0  # type: ignore[operator]
        X[:, j] = 1.5 * before + 0.7 * rng.normal(size=1500)
        X[:, j] = (X[:, j] - X[:, j].mean()) / X[:, j].std()
    dag = chain(6)
    shaped = turned(X, dag)
    assert_array_equal(shaped.known, dag | dag.T)
    assert_array_equal(shaped.member, dag)


@pytest.mark.parametrize("grid", [0.5, 0.25, 1.0])
def test_rounding_makes_no_directions(grid: float) -> None:
    dag = chain(6)
    X = drawn(dag, "gaussian", n=3000)
    X[:, ::2] = np.round(X[:, ::2] / grid) * grid
    assert_array_equal(turned(X, dag).known, dag | dag.T)


def test_ties_are_spread_by_less_than_half_a_step_and_nothing_else_changes() -> None:
    rng = np.random.default_rng(2)
    column = np.round(rng.normal(size=400))
    spread = without_ties(column)
    assert_array_equal(np.round(spread), column)
    assert len(np.unique(spread)) == 400
    smooth = rng.normal(size=400)
    assert without_ties(smooth) is smooth


def test_rows_that_were_perturbed_tell_nothing_about_their_own_column() -> None:
    dag = chain(2)
    X = drawn(dag, "exponential", n=2000)
    mask = np.zeros(X.shape, dtype=bool)
    mask[1000:, 1] = True
    X[1000:, 1] = np.random.default_rng(0).normal(size=1000)
    gains = LocalGains(X, Moments.of_rows(X, mask), mask)
    rows = gains.of_rows((1, (0,)))
    assert_array_equal(rows[1000:], 0.0)
    alone = gains_of(X[:1000]).of_rows((1, (0,)))
    assert_allclose(rows[:1000], alone, atol=1e-4)


def test_a_column_that_its_parents_determine_has_no_shape() -> None:
    rng = np.random.default_rng(0)
    a = rng.exponential(size=300)
    X = np.stack([a, 2.0 * a], axis=1)
    assert gains_of(X).total((1, (0,))) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_a_column_of_few_values_decides_no_other_edge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=2000)
    y = x + rng.normal(size=2000)
    codes = np.clip(np.round(y + rng.normal(size=2000)) + 2, 0, 4)
    model = AnalyticDAG().fit(np.column_stack([x, y, codes]))
    assert {edge.fixed_by for edge in model.edges_} == {FixedBy.NOTHING}


@pytest.mark.parametrize("noise", ["gaussian", "exponential"])
def test_effects_of_a_yes_or_no_are_compared_beside_it(noise: str) -> None:
    """Digits drawn for the two values had been noise of its effects, and pointed y -> x."""
    rng = np.random.default_rng(1000)
    draw = rng.normal if noise == "gaussian" else rng.exponential
    b = (rng.random(2000) < 0.5).astype(float)
    x = 2.0 * b + draw(size=2000)
    y = x + 1.5 * b + draw(size=2000)
    model = AnalyticDAG().fit(np.column_stack([x, y, b]))
    by_shape = {(e.source, e.target) for e in model.edges_ if e.fixed_by is FixedBy.NOISE_SHAPE}
    assert by_shape == (set() if noise == "gaussian" else {(0, 1)})
