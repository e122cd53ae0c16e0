"""Every kernel against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import search_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from analyticdag._validation import correlations
from analyticdag.extended_bic import edge_price
from analyticdag.moments import Moments
from analyticdag.search import kernels as built
from analyticdag.search.engine import open_search
from analyticdag.search.graph import Search, suspects
from analyticdag.search.hubs import parent_probabilities, spike_and_slab
from analyticdag.search.setting import Setting
from analyticdag.search.starts import Rest, layered_order
from analyticdag.search.steps import given as source
from analyticdag.search.steps.given import COLLINEAR
from analyticdag.search.steps.local import DRAWS
from analyticdag.search.steps.moves import ANYWHERE
from analyticdag.search.steps.records import PARENT, WANTED, Regression
from analyticdag.search.steps.regression import clear, toggle

N = 300


@pytest.fixture(params=["as built", "interpreted"])
def kernels(request, monkeypatch):
    """Let the search use the kernels as they were built, or their source as it is."""
    return reference.use_kernels(request.param, monkeypatch)


def setting_for(S, noise=None):
    d = len(S)
    matrix = S if noise else correlations(S)
    moments = Moments.shared(matrix, N)
    return Setting(moments, None, None, edge_price(N, d, 0.5), noise, d - 1)


def opened(setting, order, kernels=built):
    return open_search(setting, order, kernels.Stop())


def test_a_node_above_the_noise_is_suspected_and_so_are_its_children():
    rng = np.random.default_rng(4)
    E = rng.normal(size=(N, 5))
    E[:, 0] *= 2.0  # node 0 is above the noise,
    E[:, 3] = 1.5 * E[:, 0] + E[:, 3]  # node 3 is its child,
    E[:, 4] = 1.5 * E[:, 2] + E[:, 4]  # and node 4 is the child of an ordinary node
    setting = setting_for(E.T @ E / N, noise=1.0)
    graph = opened(setting, np.arange(5)).graph
    assert suspects(setting, graph).tolist() == [True, False, False, True, False]


def regression_after(S, node, toggles):
    d = len(S)
    data = source.Data(S, np.zeros(d, np.int64), np.full(d, float(N)), COLLINEAR * np.diag(S))
    work = Regression(d, d)
    tables = work.arrays
    clear(data, work, node)
    for p in toggles:
        toggle(data, work, p)
    names = ("members", "weights", "sharp")
    return *(tables[name][: work.size] for name in names), tables["link"], tables["spread"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 7), max_size=25))
def test_toggling_is_regression_on_whoever_is_in(seed, toggles):
    S, _ = reference.covariance(np.random.default_rng(seed), n_nodes=8, n_samples=N)
    R = correlations(S)
    members, weights, sharp, link, spread = regression_after(R, 0, toggles)
    expected = {p for p in toggles if toggles.count(p) % 2}
    assert set(members) == expected
    given_members = reference.conditional(R, members)
    others = np.setdiff1d(np.arange(8), members)
    assert_allclose(link[others], given_members[0, others], atol=1e-8)
    assert_allclose(spread[others], np.diag(given_members)[others], atol=1e-8)
    block = R[np.ix_(members, members)]
    assert_allclose(weights, np.linalg.solve(block, R[members, 0]), rtol=1e-5, atol=1e-8)
    assert_allclose(sharp, np.diag(np.linalg.inv(block)), rtol=1e-5)


@pytest.mark.parametrize("noise", [None, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_fitting_is_grow_shrink(kernels, seed, noise):
    S, _ = reference.covariance(np.random.default_rng(seed), n_nodes=9, n_samples=N, degree=4)
    setting = setting_for(S, noise)
    search = Search(setting, np.arange(9), kernels.Stop())
    search.fit(np.array([8]), np.array([8]), setting.rules())
    parents = reference.grow_shrink(setting.S, N, setting.price, 8, range(8), bool(noise))
    expected = reference.node_score(setting.S, N, setting.price, 8, parents, bool(noise))
    assert search.graph.value[8] == pytest.approx(expected, rel=1e-9)
    assert set(search.graph.parents[8, : search.graph.count[8]]) == parents


def check_consistent(setting, search):
    """What the tables say is what the graph says."""
    graph, S = search.graph, setting.S
    for j in range(len(S)):
        parents = graph.parents[j, : graph.count[j]]
        expected = reference.node_score(S, N, setting.price, j, parents, False)
        assert graph.value[j] == pytest.approx(expected, rel=1e-7)
        place = np.argsort(graph.order)
        assert (place[parents] < place[j]).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_move_changes_the_score_by_what_it_says(kernels, seed):
    rng = np.random.default_rng(seed)
    S, _ = reference.covariance(rng, n_nodes=10, n_samples=N, degree=4)
    setting = setting_for(S)
    search, rules = opened(setting, rng.permutation(10), kernels), setting.rules()
    for x in rng.permutation(10):
        for target in (ANYWHERE, int(rng.integers(10))):
            before = search.graph.score(setting)
            change = search.move(int(x), target, rules)
            assert search.graph.score(setting) - before == pytest.approx(change, abs=1e-5)
            assert target == ANYWHERE or search.graph.order[target] == x
            check_consistent(setting, search)


@pytest.mark.parametrize("seed", range(3))
def test_descent_ends_where_no_node_wants_to_move(kernels, seed):
    rng = np.random.default_rng(seed)
    S, _ = reference.covariance(rng, n_nodes=10, n_samples=N, degree=3)
    setting = setting_for(S)
    search, rules = opened(setting, rng.permutation(10), kernels), setting.rules()
    assert search.descend(np.arange(10), rules) <= 0.0
    order = search.graph.order.copy()
    for x in range(10):
        assert search.move(x, ANYWHERE, rules) == 0.0
    assert_array_equal(search.graph.order, order)


def test_iteration_gains_what_it_says_and_takes_back_what_did_not_pay(kernels):
    rng = np.random.default_rng(0)
    S, _ = reference.covariance(rng, n_nodes=12, n_samples=N, degree=4)
    setting = setting_for(S)
    search = opened(setting, rng.permutation(12), kernels)
    before = search.graph.score(setting)
    change = search.disturb(rng.random((60, DRAWS)), setting.rules())
    assert change <= 0.0
    assert search.graph.score(setting) - before == pytest.approx(change, abs=1e-5)
    check_consistent(setting, search)


@pytest.mark.parametrize("when", ["before fitting", "before moving"])
def test_a_search_that_is_told_to_stop_leaves_a_whole_graph(kernels, when):
    rng = np.random.default_rng(0)
    S, _ = reference.covariance(rng, n_nodes=12, n_samples=N, degree=4)
    setting, stop = setting_for(S), kernels.Stop()
    stop.asked = when == "before fitting"
    search = open_search(setting, rng.permutation(12), stop)
    assert search.graph.count.any() == (when == "before moving")
    stop.asked = True
    order = search.graph.order.copy()
    assert search.descend(np.arange(12), setting.rules()) == 0.0
    assert search.disturb(rng.random((60, DRAWS)), setting.rules()) == 0.0
    assert_array_equal(search.graph.order, order)
    check_consistent(setting, search)


def test_both_ways_give_the_same_search(monkeypatch):
    rng = np.random.default_rng(3)
    S, _ = reference.covariance(rng, n_nodes=15, n_samples=N, degree=4)
    order, draws, ends = rng.permutation(15), rng.random((40, DRAWS)), []
    for kind in ("as built", "interpreted"):
        chosen = reference.use_kernels(kind, monkeypatch)
        task = setting_for(S)
        search = opened(task, order, chosen)
        search.descend(order, task.rules())
        search.disturb(draws, task.rules())
        ends.append((search.graph.order.tolist(), search.graph.score(task)))
    assert ends[0][0] == ends[1][0]
    assert ends[0][1] == pytest.approx(ends[1][1], rel=1e-12)


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float32), np.zeros((3, 2))[:, 0]])
def test_an_array_that_kernels_would_misread_is_refused(kernels, wrong):
    with pytest.raises(TypeError, match="a kernel wants a contiguous array of float64"):
        kernels.Rules(1.0, None, wrong, 2, 0)


def test_installing_parents_refactors_now_and_then(kernels):
    rng = np.random.default_rng(1)
    S, _ = reference.covariance(rng, n_nodes=10, n_samples=N, degree=5)
    setting = setting_for(S)
    search = opened(setting, np.arange(10), kernels)
    for _ in range(60):
        parents = rng.permutation(9)[: rng.integers(0, 9)]
        search.give_parents(9, parents, setting.rules())
        expected = reference.node_score(setting.S, N, setting.price, 9, parents, False)
        assert search.graph.value[9] == pytest.approx(expected, rel=1e-9, abs=1e-6)
        given_parents = reference.conditional(setting.S, parents)
        assert_allclose(search.link[9], given_parents[9], atol=1e-8)
        assert_allclose(search.spread[9], np.diag(given_parents), atol=1e-8)


def test_ties_name_parents_and_those_that_would_lower_the_score(kernels):
    rng = np.random.default_rng(2)
    S, _ = reference.covariance(rng, n_nodes=9, n_samples=N, degree=4)
    setting = setting_for(S)
    search = opened(setting, np.arange(9), kernels)
    for node in range(9):
        parents = set(search.graph.parents[node, : search.graph.count[node]])
        ties = search.memory.state.arrays["tie"][:, node]
        assert set(np.flatnonzero(ties == PARENT)) == parents
        for other in set(range(9)) - parents - {node}:
            gain = reference.node_score(setting.S, N, setting.price, node, parents | {other}, False)
            assert (ties[other] == WANTED) == (gain < search.graph.value[node])


def test_variances_given_all_nodes_placed():
    S, _ = reference.covariance(np.random.default_rng(3), n_nodes=8, n_samples=N)
    rest = Rest(S, N)
    rest.place(np.array([2, 5]))
    rest.place(np.array([1]))
    assert_allclose(rest.variances, np.diag(reference.conditional(S, [2, 5, 1])), atol=1e-8)


def test_layers_find_the_order_and_the_noise_level(kernels):
    rng = np.random.default_rng(4)
    S, W = reference.covariance(rng, n_nodes=20, n_samples=5000)
    setting = setting_for(S, 1.0)
    order, noise = layered_order(setting, None, kernels.Stop())
    assert (np.argsort(order)[np.argwhere(W)] @ [-1, 1] > 0).all()
    assert noise == pytest.approx(1.0, rel=0.1)


def test_layers_that_are_told_to_stop_end_in_an_order():
    S, _ = reference.covariance(np.random.default_rng(4), n_nodes=9)
    stop, before = built.Stop(), np.zeros(S.shape, bool)
    stop.asked = before[8, 0] = True
    order, _ = layered_order(setting_for(S, 1.0), before, stop)
    assert sorted(order) == list(range(9))
    assert order.tolist().index(8) < order.tolist().index(0)


def test_sparse_regression_finds_more_parents_than_half_of_what_is_left_of_the_samples():
    rng = np.random.default_rng(5)
    n, candidates, parents = 200, 300, 60
    X = rng.normal(size=(n, candidates))
    true = np.zeros(candidates)
    true[:parents] = rng.uniform(0.5, 2.0, parents) * rng.choice([-1, 1], parents)
    y = X @ true + rng.normal(size=n)
    found = parent_probabilities(X.T @ X / n, X.T @ y / n, float(y @ y) / n, n, built.Stop()) > 0.5
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
    graph = opened(setting_for(np.cov(data.T, bias=True), noise=1.0), order).graph
    assert_array_equal(graph.order, np.arange(sources + 2))
    for node in (sources, sources + 1):
        found = graph.parents[node, : graph.count[node]]
        assert np.isin(found, np.r_[np.arange(90), sources]).mean() > 0.95
        assert graph.count[node] >= 85
