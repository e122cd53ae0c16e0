"""Links that a few rows make: ranks have to back them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag._typing import FloatArray
from analyticdag.fitting.statistics import Statistics
from analyticdag.least_squares import weights_on_parents
from analyticdag.linear.tails import Tails, edge_gains, normal_scores

GRAPH = np.triu(np.ones((3, 3), dtype=bool), 1)


def chain(n: int, seed: int = 0) -> FloatArray:
    """Two causes of a third column, one of them of the other, with tails of two degrees."""
    E = np.random.default_rng(seed).standard_t(2, size=(n, 3))
    E[:, 1] += 0.9 * E[:, 0]
    E[:, 2] += 0.8 * E[:, 0] - 0.7 * E[:, 1]
    return E


def statistics_of(X: FloatArray, weights: FloatArray | None = None) -> Statistics:
    names = list(range(X.shape[1]))
    return Statistics.from_table(X, names, standardize=False, weights=weights)


@pytest.mark.parametrize(("n", "seed"), [(60, 1), (400, 2)])
def test_independent_columns_with_heavy_tails_have_no_links(n: int, seed: int) -> None:
    X = np.random.default_rng(seed).standard_t(2, size=(n, 60))
    # The search alone finds some: the test would show nothing otherwise.
    assert AnalyticDAG(solver="order").fit_covariance(np.cov(X.T), n_samples=n).edges_
    assert not AnalyticDAG(solver="order").fit(X).edges_


def test_real_effects_between_columns_with_heavy_tails_stay() -> None:
    X = chain(300)
    assert len(AnalyticDAG(loss="likelihood-nv", solver="order").fit(X).edges_) == 3


def test_ranks_are_of_what_the_other_parents_leave_of_both_columns() -> None:
    X = chain(300)
    statistics = statistics_of(X)
    W = weights_on_parents(statistics.moments, GRAPH)
    shares = Tails(statistics).backed(W)
    assert shares is not None
    assert (shares[GRAPH] > 0.4).all()
    assert Tails(statistics).unpaid(W, 10.0, equal=False) is None


def test_one_row_far_out_in_two_columns_makes_no_link() -> None:
    X = np.random.default_rng(3).normal(size=(300, 3))
    X[7, :2] = 30.0
    statistics = statistics_of(X)
    W = weights_on_parents(statistics.moments, GRAPH)
    assert edge_gains(statistics.moments, GRAPH, None)[0, 1] > 200.0
    for equal in (False, True):
        dropped = Tails(statistics).unpaid(W, 10.0, equal=equal)
        assert dropped is not None
        assert np.argwhere(dropped).tolist() == [[0, 1]]


def test_a_row_of_weight_two_counts_as_two() -> None:
    X, weights = chain(60), np.ones(60)
    weights[:20] = 2.0
    found = [
        Tails(statistics).backed(weights_on_parents(statistics.moments, GRAPH))
        for statistics in (statistics_of(X, weights), statistics_of(np.vstack([X, X[:20]])))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert (found[0] < 1.0).any()
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_normal_columns_are_not_looked_at() -> None:
    X = np.random.default_rng(4).normal(size=(200, 3)) @ np.triu(np.ones((3, 3)))
    statistics = statistics_of(X)
    assert Tails(statistics).backed(weights_on_parents(statistics.moments, GRAPH)) is None


def test_equal_values_have_equal_scores() -> None:
    scores = normal_scores(np.array([3.0, 1.0, 3.0, 2.0]), np.ones(4))
    assert scores[0] == scores[2]
    assert scores[1] < scores[3] < scores[0]


def test_a_required_link_stays() -> None:
    X = np.random.default_rng(3).normal(size=(300, 3))
    X[7, :2] = 30.0
    known = Knowledge(required_edges=[(0, 1)])
    model = AnalyticDAG(solver="order", knowledge=known).fit(X)
    assert [(edge.source, edge.target) for edge in model.edges_] == [(0, 1)]


def test_a_checkpoint_is_that_of_the_first_search(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_t(1.2, size=(400, 6))
    rows[7, :2] = 4000.0
    kept = AnalyticDAG(checkpoint=tmp_path / "path").fit(rows)
    np.testing.assert_array_equal(kept.weights_, AnalyticDAG().fit(rows).weights_)
