"""The order search from outside: right answers, hard knowledge, same answer on any thread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import search_reference as reference
from numpy.testing import assert_allclose, assert_array_equal

from analyticdag._validation import correlations
from analyticdag.errors import DataError, KnowledgeError, ParameterError
from analyticdag.extended_bic import edge_price
from analyticdag.graphs import is_dag
from analyticdag.knowledge import EdgeMasks
from analyticdag.metrics import compare
from analyticdag.moments import Moments
from analyticdag.search import (
    graph_score,
    search_orders,
    select_parents,
)
from analyticdag.simulate import simulate


@pytest.fixture(scope="module")
def er2():
    sim = simulate("ER2", n_nodes=30, n_samples=2000, seed=3)
    return sim.weights, np.cov(sim.data.T, bias=True)


def test_finds_the_equivalence_class(er2):
    W, S = er2
    result = search_orders(S, 2000, random_state=0)
    assert is_dag(result.weights)
    assert compare(W, result.weights).shd_cpdag <= 2
    moments = Moments.shared(S, 2000)
    true = graph_score(moments, refit(S, W != 0), score="unequal", price=result.price)
    assert result.score <= true + 1e-6


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("kind", ["ER2", "SF2"])
def test_equal_variances_give_the_graph_itself_in_any_unit(kind, unit):
    sim = simulate(kind, n_nodes=40, n_samples=2000, seed=1)
    S = np.cov(sim.data.T, bias=True) * unit**2
    result = search_orders(S, 2000, score="equal")
    assert compare(sim.weights, result.weights).shd <= 1
    assert result.start == "layered"
    assert result.score == pytest.approx(
        graph_score(Moments.shared(S, 2000), result.weights, score="equal", price=result.price)
    )
    assert result.contributions[0].iterated == pytest.approx(result.score)


def test_scale_of_the_variables_does_not_matter(er2):
    _, S = er2
    scale = 10.0 ** np.random.default_rng(0).uniform(-9, 9, len(S))
    plain = search_orders(S, 2000, random_state=0)
    scaled = search_orders(S * np.outer(scale, scale), 2000, random_state=0)
    assert_array_equal(plain.weights != 0, scaled.weights != 0)
    assert_allclose(scaled.weights * scale[:, None] / scale, plain.weights, rtol=1e-6)
    assert scaled.score == pytest.approx(plain.score)


def test_same_answer_for_a_seed_on_any_number_of_threads(er2):
    _, S = er2
    one = search_orders(S, 2000, random_state=5, n_jobs=1)
    many = search_orders(S, 2000, random_state=5, n_jobs=4)
    assert_array_equal(one.weights, many.weights)
    assert_array_equal(one.order, many.order)
    assert one.start == many.start
    assert [c.start for c in one.contributions] == [c.start for c in many.contributions]


@pytest.mark.parametrize("score", ["unequal", "equal"])
def test_order_and_weights_agree(er2, score):
    _, S = er2
    result = search_orders(S, 2000, score=score, random_state=0)
    in_order = result.weights[np.ix_(result.order, result.order)]
    assert_array_equal(in_order, np.triu(in_order, 1))
    assert_allclose(refit(S, result.weights != 0), result.weights, atol=1e-8)


def test_contributions_tell_what_each_start_was_worth(er2):
    _, S = er2
    mine = {"mine": np.arange(len(S))}
    result = search_orders(S, 2000, starts=mine, effort=0.0, random_state=0)
    (only,) = result.contributions
    assert result.start == only.start == "mine"
    assert only.initial >= only.local >= only.iterated
    assert only.iterated == pytest.approx(result.score)
    assert only.edges == np.count_nonzero(result.weights)


@pytest.mark.parametrize("score", ["unequal", "equal"])
def test_forbidden_edges_stay_out_and_required_ones_in(er2, score):
    W, S = er2
    rng = np.random.default_rng(1)
    allowed = rng.random(W.shape) < 0.7
    required = np.triu(rng.random(W.shape) < 0.05, 1)
    allowed |= required
    masks = EdgeMasks(allowed, required)
    result = search_orders(S, 2000, score=score, masks=masks, random_state=0)
    assert is_dag(result.weights)
    assert not (result.weights != 0)[~allowed].any()
    assert (result.weights != 0)[required].all()


@pytest.mark.parametrize("score", ["unequal", "equal"])
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_no_node_has_more_parents_than_asked_for(er2, limit, score):
    _, S = er2
    masks = replace(EdgeMasks.free(len(S)), max_parents=limit)
    result = search_orders(S, 2000, score=score, masks=masks, random_state=0)
    assert np.count_nonzero(result.weights, axis=0).max() == limit


@pytest.mark.parametrize("seed", range(5))
def test_select_parents_is_grow_shrink_over_the_predecessors(seed):
    rng = np.random.default_rng(seed)
    S, _ = reference.covariance(rng, n_nodes=9, degree=4)
    order, price, R = rng.permutation(9), edge_price(200, 9, 1.0), correlations(S)
    weights = select_parents(S, 200, order, price=price)
    for t, node in enumerate(order):
        expected = reference.grow_shrink(R, 200, price, node, order[:t])
        assert set(np.flatnonzero(weights[:, node])) == expected


@pytest.mark.parametrize("score", ["unequal", "equal"])
def test_duplicate_and_constant_columns_are_survived(er2, score):
    _, S = er2
    d = len(S)
    twice = np.zeros((d + 2, d + 2))
    twice[:d, :d] = S
    twice[d, :d] = twice[:d, d] = S[0]
    twice[d, d] = S[0, 0]
    result = search_orders(twice, 2000, score=score, random_state=0)
    assert np.isfinite(result.weights).all()
    assert np.isfinite(result.score)
    assert is_dag(result.weights)
    assert not result.weights[:, d + 1].any()
    assert not result.weights[d + 1].any()


@pytest.mark.parametrize("score", ["unequal", "equal"])
def test_fewer_rows_than_columns(score):
    sim = simulate("ER1", n_nodes=40, n_samples=30, seed=0)
    result = search_orders(np.cov(sim.data.T, bias=True), 30, score=score, random_state=0)
    assert is_dag(result.weights)
    assert np.isfinite(result.score)


@pytest.mark.parametrize("score", ["unequal", "equal"])
@pytest.mark.parametrize("d", [1, 2])
def test_smallest_problems(d, score):
    S = np.eye(d) + 0.9 * (np.ones((d, d)) - np.eye(d))
    result = search_orders(S, 100, score=score, random_state=0)
    assert np.count_nonzero(result.weights) == d - 1


def test_progress_is_told_in_words(er2):
    _, S = er2
    said: list[str] = []
    search_orders(S, 2000, random_state=0, progress=said.append)
    assert any("r2" in line for line in said)


def test_refusals(er2):
    _, S = er2
    d, free = len(S), EdgeMasks.free(len(S))
    with pytest.raises(DataError, match="square"):
        search_orders(S[:3], 100)
    with pytest.raises(DataError, match="NaN"):
        search_orders(np.full((2, 2), np.nan), 100)
    with pytest.raises(DataError, match="symmetric"):
        search_orders(np.triu(np.ones((3, 3))), 100)
    with pytest.raises(ParameterError, match="permutation"):
        search_orders(S, 100, starts={"bad": np.zeros(d, int)})
    with pytest.raises(ParameterError, match="allowed must be"):
        search_orders(S, 100, masks=EdgeMasks.free(2))
    with pytest.raises(ParameterError, match="'unequal' or 'equal'"):
        search_orders(S, 100, score="bic")
    with pytest.raises(ParameterError, match="max_parents"):
        search_orders(S, 100, masks=replace(free, max_parents=-1))
    edge = np.zeros((d, d), bool)
    edge[0, 1] = True
    with pytest.raises(KnowledgeError, match="required but not allowed"):
        search_orders(S, 100, masks=EdgeMasks(~edge, edge))
    with pytest.raises(KnowledgeError, match="more required parents"):
        search_orders(S, 100, masks=EdgeMasks(free.allowed, edge, 0))
    with pytest.raises(ValueError, match="cycle"):
        search_orders(S, 100, masks=EdgeMasks(free.allowed, edge | edge.T))


def refit(S, edges):
    W = np.zeros(S.shape)
    for j in range(len(S)):
        pa = np.flatnonzero(edges[:, j])
        if len(pa) > 0:
            W[pa, j] = np.linalg.solve(S[np.ix_(pa, pa)], S[pa, j])
    return W


@pytest.mark.parametrize("score", ["unequal", "equal"])
def test_nodes_are_scored_on_rows_of_their_own(score):
    W = simulate("ER2", n_nodes=8, n_samples=2, seed=1).weights
    X = np.random.default_rng(0).normal(size=(600, 8))
    mask = np.zeros(X.shape, bool)
    mask[300:450, 2] = mask[400:600, 5] = True
    X[mask] *= 10.0
    for row, perturbed in enumerate(mask):  # what is perturbed does not listen to its causes
        X[row] = np.linalg.solve((np.eye(8) - np.where(perturbed, 0.0, W)).T, X[row])
    moments = Moments.of_rows(X, mask)
    result = search_orders(moments.S, 600, moments=moments, score=score, random_state=0)
    misfit, n = np.empty(8), 600 - mask.sum(axis=0)
    for j in range(8):
        kept = X[~mask[:, j]] - X[~mask[:, j]].mean(axis=0)
        parents = np.flatnonzero(result.weights[:, j])
        weights = np.linalg.lstsq(kept[:, parents], kept[:, j], rcond=None)[0]
        assert_allclose(result.weights[parents, j], weights, rtol=1e-6)
        left = np.mean((kept[:, j] - kept[:, parents] @ weights) ** 2)
        misfit[j] = left if score == "equal" else n[j] * np.log(left / kept[:, j].var())
    price = result.price * np.count_nonzero(result.weights)
    total = misfit.sum() if score == "unequal" else n.sum() * np.log(np.average(misfit, weights=n))
    assert result.score == pytest.approx(total + price)
    assert compare(W, result.weights).shd_cpdag <= 2
