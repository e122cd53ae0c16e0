"""Every kernel against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import search_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from analyticdag._jit import kernel
from analyticdag.interventions import Moments
from analyticdag.search.hubs import (
    give_parents,
    move_node,
    parent_probabilities,
    spike_and_slab,
)
from analyticdag.search.layers import Rest, layered_order
from analyticdag.search.local import DRAWS, search
from analyticdag.search.moves import ANYWHERE
from analyticdag.search.parents import select
from analyticdag.search.regression import clear, toggle
from analyticdag.search.runs import open_desk, suspects
from analyticdag.search.scores import correlation, edge_penalty
from analyticdag.search.setting import Setting, new_desk
from analyticdag.search.tables import PARENT, WANTED

NOBODY = np.empty(0, np.int64)
N = 300


def setting_for(S, noise=None):
    d = len(S)
    none = np.zeros((d, d), bool)
    matrix = S if noise else correlation(S)
    moments = Moments.shared(matrix, N)
    return Setting(moments, none, none, edge_penalty(N, d, 0.5), noise, d - 1)


def test_a_node_above_the_noise_is_suspected_and_so_are_its_children():
    rng = np.random.default_rng(4)
    E = rng.normal(size=(N, 5))
    E[:, 0] *= 2.0  # node 0 is above the noise,
    E[:, 3] = 1.5 * E[:, 0] + E[:, 3]  # node 3 is its child,
    E[:, 4] = 1.5 * E[:, 2] + E[:, 4]  # and node 4 is the child of an ordinary node
    setting = setting_for(E.T @ E / N, noise=1.0)
    graph = open_desk(setting, np.arange(5)).graph
    assert suspects(setting, graph).tolist() == [True, False, False, True, False]


@kernel
def regression_after(task, bench, node, toggles):
    clear(task, bench, node)
    for p in toggles:
        toggle(task, bench, p)
    k = bench.size
    return (
        bench.members[:k].copy(),
        bench.weights[:k].copy(),
        bench.sharp[:k].copy(),
        bench.link.copy(),
        bench.spread.copy(),
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 7), max_size=25))
def test_toggling_is_regression_on_whoever_is_in(seed, toggles):
    S, _ = reference.covariance(np.random.default_rng(seed), n_nodes=8, n_samples=N)
    setting = setting_for(S)
    desk = new_desk(setting, np.arange(8))
    members, weights, sharp, link, spread = regression_after(
        desk.task, desk.mover, 0, np.array(toggles, np.int64)
    )
    expected = {p for p in toggles if toggles.count(p) % 2}
    assert set(members) == expected
    given_members = reference.conditional(setting.S, members)
    others = np.setdiff1d(np.arange(8), members)
    assert_allclose(link[others], given_members[0, others], atol=1e-8)
    assert_allclose(spread[others], np.diag(given_members)[others], atol=1e-8)
    block = setting.S[np.ix_(members, members)]
    assert_allclose(weights, np.linalg.solve(block, setting.S[members, 0]), rtol=1e-5, atol=1e-8)
    assert_allclose(sharp, np.diag(np.linalg.inv(block)), rtol=1e-5)


@pytest.mark.parametrize("noise", [None, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_select_is_grow_shrink(seed, noise):
    S, _ = reference.covariance(np.random.default_rng(seed), n_nodes=9, n_samples=N, degree=4)
    setting = setting_for(S, noise)
    desk = new_desk(setting, np.arange(9))
    value = select(desk.task, desk.mover, 8, 8)
    parents = reference.grow_shrink(setting.S, N, setting.penalty, 8, range(8), bool(noise))
    expected = reference.node_score(setting.S, N, setting.penalty, 8, parents, bool(noise))
    assert value == pytest.approx(expected, rel=1e-9)


def check_consistent(setting, desk):
    """What the tables say is what the graph says."""
    graph, S = desk.graph, setting.S
    for j in range(len(S)):
        parents = graph.parents[j, : graph.count[j]]
        expected = reference.node_score(S, N, setting.penalty, j, parents, False)
        assert graph.value[j] == pytest.approx(expected, rel=1e-7)
        place = np.argsort(graph.order)
        assert (place[parents] < place[j]).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_move_changes_the_score_by_what_it_says(seed):
    rng = np.random.default_rng(seed)
    S, _ = reference.covariance(rng, n_nodes=10, n_samples=N, degree=4)
    setting = setting_for(S)
    desk = open_desk(setting, rng.permutation(10))
    for x in rng.permutation(10):
        for target in (ANYWHERE, int(rng.integers(10))):
            before = desk.graph.score(setting)
            change = move_node(desk.task, desk.mover, desk.passed, int(x), target)
            assert desk.graph.score(setting) - before == pytest.approx(change, abs=1e-5)
            assert target == ANYWHERE or desk.graph.order[target] == x
            check_consistent(setting, desk)


@pytest.mark.parametrize("seed", range(3))
def test_descent_ends_where_no_node_wants_to_move(seed):
    rng = np.random.default_rng(seed)
    S, _ = reference.covariance(rng, n_nodes=10, n_samples=N, degree=3)
    setting = setting_for(S)
    desk = open_desk(setting, rng.permutation(10))
    assert search(desk.task, desk.mover, desk.passed, np.arange(10), np.empty((0, DRAWS))) <= 0.0
    order = desk.graph.order.copy()
    for x in range(10):
        assert move_node(desk.task, desk.mover, desk.passed, x, ANYWHERE) == 0.0
    assert_array_equal(desk.graph.order, order)


def test_iteration_gains_what_it_says_and_takes_back_what_did_not_pay():
    rng = np.random.default_rng(0)
    S, _ = reference.covariance(rng, n_nodes=12, n_samples=N, degree=4)
    setting = setting_for(S)
    desk = open_desk(setting, rng.permutation(12))
    before = desk.graph.score(setting)
    change = search(desk.task, desk.mover, desk.passed, NOBODY, rng.random((60, DRAWS)))
    assert change <= 0.0
    assert desk.graph.score(setting) - before == pytest.approx(change, abs=1e-5)
    check_consistent(setting, desk)


def test_installing_parents_refactors_now_and_then():
    rng = np.random.default_rng(1)
    S, _ = reference.covariance(rng, n_nodes=10, n_samples=N, degree=5)
    setting = setting_for(S)
    desk = open_desk(setting, np.arange(10))
    for _ in range(60):
        parents = rng.permutation(9)[: rng.integers(0, 9)]
        give_parents(desk.task, desk.mover, 9, parents, len(parents))
        expected = reference.node_score(setting.S, N, setting.penalty, 9, parents, False)
        assert desk.graph.value[9] == pytest.approx(expected, rel=1e-9, abs=1e-6)


@kernel
def ties_of(task, node):
    return task.tie[:, node].copy()


def test_ties_name_parents_and_those_that_would_lower_the_score():
    rng = np.random.default_rng(2)
    S, _ = reference.covariance(rng, n_nodes=9, n_samples=N, degree=4)
    setting = setting_for(S)
    desk = open_desk(setting, np.arange(9))
    for node in range(9):
        parents = set(desk.graph.parents[node, : desk.graph.count[node]])
        ties = ties_of(desk.task, node)
        assert set(np.flatnonzero(ties == PARENT)) == parents
        for other in set(range(9)) - parents - {node}:
            gain = reference.node_score(
                setting.S, N, setting.penalty, node, parents | {other}, False
            )
            assert (ties[other] == WANTED) == (gain < desk.graph.value[node])


def test_variances_given_all_nodes_placed():
    S, _ = reference.covariance(np.random.default_rng(3), n_nodes=8, n_samples=N)
    rest = Rest(S, N)
    rest.place(np.array([2, 5]))
    rest.place(np.array([1]))
    assert_allclose(rest.variances, np.diag(reference.conditional(S, [2, 5, 1])), atol=1e-8)


def test_layers_find_the_order_and_the_noise_level():
    rng = np.random.default_rng(4)
    S, W = reference.covariance(rng, n_nodes=20, n_samples=5000)
    setting = setting_for(S, 1.0)
    order, noise = layered_order(setting, np.zeros(S.shape, bool))
    assert (np.argsort(order)[np.argwhere(W)] @ [-1, 1] > 0).all()
    assert noise == pytest.approx(1.0, rel=0.1)


def test_sparse_regression_finds_more_parents_than_half_of_what_is_left_of_the_samples():
    rng = np.random.default_rng(5)
    n, candidates, parents = 200, 300, 60
    X = rng.normal(size=(n, candidates))
    true = np.zeros(candidates)
    true[:parents] = rng.uniform(0.5, 2.0, parents) * rng.choice([-1, 1], parents)
    y = X @ true + rng.normal(size=n)
    found = parent_probabilities(X.T @ X / n, X.T @ y / n, float(y @ y) / n, n) > 0.5
    assert found[:parents].sum() >= 0.9 * parents
    assert found[parents:].sum() <= 0.05 * parents


def test_belief_in_a_weight_is_that_of_numerical_integration():
    m, v, share, slab = 0.7, 0.2, 0.3, 1.5
    belief = spike_and_slab(np.array([m]), np.array([v]), share, slab)
    b = np.linspace(-12, 12, 200_001)
    seen = np.exp(-((b - m) ** 2) / (2 * v))
    dense = share * np.exp(-(b**2) / (2 * slab)) / np.sqrt(2 * np.pi * slab) * seen * (b[1] - b[0])
    spike = (1 - share) * np.exp(-(m**2) / (2 * v))
    total = spike + dense.sum()
    assert belief.probability[0] == pytest.approx(dense.sum() / total)
    assert belief.mean[0] == pytest.approx(dense @ b / total)
    assert belief.variance[0] == pytest.approx(dense @ b**2 / total - (dense @ b / total) ** 2)


@pytest.mark.parametrize("swapped", [False, True])
def test_hubs_find_their_parents_and_their_order(swapped):
    rng = np.random.default_rng(7)
    n, sources = N, 200
    X = rng.normal(size=(n, sources))
    weights = rng.uniform(3.0, 5.0, (2, sources)) * rng.choice([-1, 1], (2, sources))
    weights[:, 90:] = 0.0
    first = X @ weights[0] + rng.normal(size=n)
    second = 1.5 * first + X @ weights[1] + rng.normal(size=n)
    data = np.column_stack([X, first, second])
    order = np.arange(sources + 2)
    if swapped:
        order[-2:] = order[:-3:-1]
    desk = open_desk(setting_for(np.cov(data.T, bias=True), noise=1.0), order)
    assert_array_equal(desk.graph.order, np.arange(sources + 2))
    for node in (sources, sources + 1):
        found = desk.graph.parents[node, : desk.graph.count[node]]
        assert np.isin(found, np.r_[np.arange(90), sources]).mean() > 0.95
        assert desk.graph.count[node] >= 85
