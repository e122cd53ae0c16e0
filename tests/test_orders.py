from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyticdag import orders
from analyticdag.errors import InputError, ParameterError
from analyticdag.graphs import is_dag
from analyticdag.simulate import simulate


def population_covariance(W: np.ndarray, scales: np.ndarray) -> np.ndarray:
    mixing = np.linalg.inv(np.eye(len(W)) - W)
    return mixing.T @ np.diag(scales**2) @ mixing


def agrees(order: np.ndarray, before: np.ndarray) -> bool:
    position = np.argsort(order)
    return all(position[i] < position[j] for i, j in np.argwhere(before))


def covariance(seed: int, d: int) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(3 * d + 2, d)) ** 3
    return np.cov(X.T, bias=True).reshape(d, d)


ORDERS = {
    "variance": orders.variance_order,
    "conditional variance": orders.conditional_variance_order,
    "r2": orders.r2_order,
    "random": lambda S, before=None: orders.random_order(
        S, np.random.default_rng(0), before=before
    ),
}


@pytest.mark.parametrize("name", ORDERS)
@given(seed=st.integers(0, 10_000), d=st.integers(1, 9))
def test_every_order_is_a_permutation_that_respects_knowledge(name: str, seed: int, d: int) -> None:
    S = covariance(seed, d)
    kept = S.copy()
    order = ORDERS[name](S)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(d))
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(d)
    before = np.zeros((d, d), dtype=bool)
    before[np.ix_(shuffled, shuffled)] = np.triu(rng.random((d, d)) < 0.4, 1)
    bent = ORDERS[name](S, before=before)
    assert sorted(bent.tolist()) == list(range(d))
    assert agrees(bent, before)
    if agrees(order, before):
        assert np.array_equal(bent, order)
    assert np.array_equal(S, kept)


def slow_conditional_variance_order(S: np.ndarray) -> list[int]:
    placed: list[int] = []
    while len(placed) < len(S):
        best = {}
        for j in set(range(len(S))) - set(placed):
            s = S[placed, j]
            best[j] = S[j, j] - s @ np.linalg.solve(S[np.ix_(placed, placed)], s)
        placed.append(min(best, key=best.__getitem__))
    return placed


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_conditional_variances_are_those_of_regressions(seed: int, d: int) -> None:
    S = covariance(seed, d)
    assert orders.conditional_variance_order(S).tolist() == slow_conditional_variance_order(S)


@pytest.mark.parametrize("graph", ["ER2", "SF2"])
def test_conditional_variance_finds_the_order_under_equal_variances(graph: str) -> None:
    # 200 nodes: more than one block of pivots.
    sim = simulate(graph, n_nodes=200, n_samples=1, seed=1)
    S = population_covariance(sim.weights, np.ones(200))
    # The population covariance of a large graph is ill-conditioned; small ties may swap.
    order = orders.conditional_variance_order(S)
    position = np.argsort(order)
    i, j = np.nonzero(sim.weights)
    assert (position[i] < position[j]).mean() > 0.99


def test_conditional_variance_finds_the_order_from_rows() -> None:
    sim = simulate("ER2", n_nodes=30, n_samples=2000, seed=0)
    order = orders.conditional_variance_order(np.cov(sim.data.T))
    assert agrees(order, sim.weights != 0)


def test_variance_order_sorts_the_diagonal() -> None:
    assert orders.variance_order(np.diag([3.0, 1.0, 2.0])).tolist() == [1, 2, 0]


def test_r2_order_sorts_by_regression_on_all_others_in_any_unit() -> None:
    X = simulate("ER2", n_nodes=8, n_samples=400, seed=2).data
    S = np.cov(X.T)
    r2 = []
    for j in range(8):
        rest = np.delete(X, j, axis=1)
        design = np.column_stack([np.ones(400), rest])
        fitted = design @ np.linalg.lstsq(design, X[:, j], rcond=None)[0]
        r2.append(np.corrcoef(fitted, X[:, j])[0, 1] ** 2)
    assert orders.r2_order(S).tolist() == np.argsort(r2).tolist()
    units = 10.0 ** np.arange(-4, 4)
    assert orders.r2_order(S * np.outer(units, units)).tolist() == np.argsort(r2).tolist()


def test_r2_order_survives_few_rows_duplicates_and_constants() -> None:
    X = simulate("ER2", n_nodes=20, n_samples=10, seed=2).data
    few = orders.r2_order(np.cov(X.T), n_samples=10)
    assert sorted(few.tolist()) == list(range(20))
    X = simulate("ER1", n_nodes=4, n_samples=100, seed=2).data
    S = np.cov(np.column_stack([X, X[:, 0], np.ones(100)]).T)
    order = orders.r2_order(S).tolist()
    assert order[0] == 5  # the constant column is explained by nothing
    assert set(order[-2:]) == {0, 4}  # the duplicates explain each other


def test_conditional_variance_order_of_determined_nodes_goes_by_variance() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    X = np.column_stack([y * 10, 3 * x, x, 2 * x])
    order = orders.conditional_variance_order(np.cov(X.T))
    assert order.tolist() == [2, 3, 1, 0]


def test_consistent_order_moves_no_more_than_it_must() -> None:
    before = np.zeros((5, 5), dtype=bool)
    before[3, 0] = True
    assert orders.consistent_order([4, 3, 2, 1, 0], before).tolist() == [4, 3, 2, 1, 0]
    assert orders.consistent_order([0, 3, 4, 2, 1], before).tolist() == [3, 0, 4, 2, 1]
    assert orders.consistent_order([1, 0], None).tolist() == [1, 0]


# ---- precedence ----------------------------------------------------------------------------


def test_precedence_of_tiers() -> None:
    allowed = ~np.eye(3, dtype=bool)
    allowed[2, :2] = False  # node 2 is in the last tier
    before = orders.precedence(allowed)
    assert np.argwhere(before).tolist() == [[0, 2], [1, 2]]


@given(st.integers(0, 10_000), st.integers(1, 7))
def test_precedence_always_has_an_order_and_keeps_required_edges(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(d)
    required = np.zeros((d, d), dtype=bool)
    required[np.ix_(shuffled, shuffled)] = np.triu(rng.random((d, d)) < 0.3, 1)
    allowed = (rng.random((d, d)) < 0.5) & ~required.T | required
    before = orders.precedence(allowed, required)
    assert is_dag(before)
    assert (before >= required).all()


def test_precedence_leaves_a_circle_of_one_way_pairs_free() -> None:
    circle = np.roll(np.eye(3), 1, axis=1)
    assert not orders.precedence(circle).any()


# ---- refusals ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("S", "before", "message"),
    [
        (np.zeros((2, 3)), None, "must be a square matrix"),
        (np.diag([1.0, -1.0]), None, "negative variance"),
        (np.full((2, 2), np.nan), None, "S has NaN in columns"),
        (np.eye(2), np.ones(2), r"shape \(2, 2\); got \(2,\)"),
        (np.eye(2), 1 - np.eye(2), "has the cycle"),
    ],
)
@pytest.mark.parametrize("name", ORDERS)
def test_refusals(name: str, S: Any, before: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ORDERS[name](S, before=before)


def test_an_order_lists_every_node_once() -> None:
    with pytest.raises(ParameterError, match="every node from 0 to d-1 once"):
        orders.consistent_order([0, 0, 1], None)


def test_random_orders_differ_and_repeat() -> None:
    S = np.eye(20)
    first, second = (orders.random_order(S, np.random.default_rng(s)) for s in (0, 1))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, orders.random_order(S, np.random.default_rng(0)))
