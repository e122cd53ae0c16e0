"""`ladder_`: graphs of a falling series of prices."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.graphs import is_dag
from analyticdag.io import load_run, record_of, save_run
from analyticdag.search import effect_price, search_orders
from analyticdag.simulate import simulate


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    X = simulate("UD1.5", n_nodes=15, n_samples=400, effects=(0.05, 2.0), seed=[32, 0]).data
    return AnalyticDAG(solver="order", loss="likelihood-nv", n_jobs=1).fit(X)


def test_prices_fall_and_edges_become_more(model: AnalyticDAG) -> None:
    ladder = model.ladder_
    prices, counts = ([getattr(r, name) for r in ladder] for name in ("price", "n_edges"))
    assert prices == sorted(prices, reverse=True)
    assert counts[0] < len(model.edges_) < counts[-1]
    assert all(is_dag(rung.adjacency) for rung in ladder)
    assert model.ladder_ is ladder


def test_the_fit_is_one_of_the_rungs(model: AnalyticDAG) -> None:
    price = model.trace_.edge_price(model.loss_)
    own = next(rung for rung in model.ladder_ if rung.price == price)
    assert np.array_equal(own.adjacency, model.adjacency_matrix_ != 0)
    assert own.score == min(record.score for record in model.trace_.search)


def test_every_rung_is_as_good_as_a_search_from_scratch(model: AnalyticDAG) -> None:
    moments = model.moments_
    for rung in model.ladder_:
        fresh = search_orders(
            moments.S, moments.n_samples, price=rung.price, effort=0.0, random_state=0
        )
        assert rung.score <= fresh.score + 0.01 * rung.price


def test_every_edge_knows_where_it_enters(model: AnalyticDAG) -> None:
    ladder = model.ladder_
    for edge in model.edges_:
        i, j = edge.source, edge.target
        joined = [rung.price for rung in ladder if rung.adjacency[i, j] or rung.adjacency[j, i]]
        assert edge.enters_at == max(joined)


def test_knowledge_holds_on_every_rung() -> None:
    X = simulate("ER1", n_nodes=8, n_samples=200, standardize=True, seed=[32, 1]).data
    known = Knowledge(required_edges=[(0, 1)], forbidden_edges=[(3, 2)])
    for rung in AnalyticDAG(solver="order", knowledge=known).fit(X).ladder_:
        assert rung.adjacency[0, 1]
        assert not rung.adjacency[3, 2]
        assert not rung.cpdag[1, 0]


def test_equal_variances_leave_nothing_open() -> None:
    X = simulate("ER1", n_nodes=8, n_samples=500, seed=[32, 2]).data
    model = AnalyticDAG(loss="likelihood-ev", solver="order").fit(X)
    assert all(np.array_equal(rung.cpdag != 0, rung.adjacency) for rung in model.ladder_)


def test_a_path_has_no_prices() -> None:
    X = simulate("ER1", n_nodes=5, n_samples=200, seed=[32, 3]).data
    assert AnalyticDAG(refine=False).fit(X).ladder_ == ()


def test_it_is_made_after_a_copy_too(model: AnalyticDAG) -> None:
    copy = pickle.loads(pickle.dumps(model))
    copy._rungs = None
    assert [rung.score for rung in copy.ladder_] == [rung.score for rung in model.ladder_]


def test_a_saved_run_keeps_ladder_and_probabilities(model: AnalyticDAG, tmp_path: Path) -> None:
    ladder = model.ladder_
    save_run(record_of(model), tmp_path / "run")
    back = load_run(tmp_path / "run").to_estimator()
    assert [rung.price for rung in back.ladder_] == [rung.price for rung in ladder]
    for one, other in zip(back.ladder_, ladder, strict=True):
        assert np.array_equal(one.adjacency, other.adjacency)
        assert np.array_equal(one.cpdag, other.cpdag)
    found = {(e.source, e.target): e for e in back.edges_}
    for e in model.edges_:
        same = found[f"x{e.source}", f"x{e.target}"] if ("x0", "x1") in found else None
        same = same or found[str(e.source), str(e.target)]
        assert same[-3:] == e[-3:]
    assert back.excess_ == model.excess_


def test_nobody_who_does_not_ask_pays(model: AnalyticDAG) -> None:
    fresh = AnalyticDAG(solver="order").fit(np.random.default_rng(0).normal(size=(50, 3)))
    assert fresh._rungs is None
    assert record_of(fresh).ladder == ()


def test_the_smallest_effect_of_a_rung_is_what_pays_its_price() -> None:
    X = simulate("ER2", n_nodes=8, n_samples=300, seed=1).data
    for loss, equal in (("likelihood-ev", True), ("likelihood-nv", False)):
        for rung in AnalyticDAG(loss=loss).fit(X).ladder_:
            assert effect_price(rung.min_effect, 300, equal=equal) == pytest.approx(rung.price)
