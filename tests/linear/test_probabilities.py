"""How probable edges are: what is claimed must come true, and misfit must lower it."""

from __future__ import annotations

import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.linear import probabilities
from analyticdag.linear.probabilities import DIRECTED, JOINED, Evidence
from analyticdag.search.gaps import Gaps
from analyticdag.simulate import Simulation, simulate


def drawn(seed: int, graph: str = "UD1.5", **options: Any) -> Simulation:
    asked = {"effects": (0.05, 2.0), "n_nodes": 15, "n_samples": 300, **options}
    return simulate(graph, seed=[31, seed], **asked)


def claims(**options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of links and directions, and whether both are there."""
    claimed, true = [], []
    for seed in range(40):
        simulation = drawn(seed, **options)
        for e in AnalyticDAG(solver="order", n_jobs=1).fit(simulation.data).edges_:
            one, other = (
                simulation.weights[e.source, e.target],
                simulation.weights[e.target, e.source],
            )
            claimed.append((e.probability, e.direction_probability))
            true.append((bool(one or other), bool(one)))
    return np.array(claimed, dtype=float), np.array(true)


def test_in_the_model_claims_come_true() -> None:
    claimed, true = claims()
    assert len(claimed) > 300
    assert abs(claimed[:, 0].mean() - true[:, 0].mean()) < 0.05
    fixed = ~np.isnan(claimed[:, 1])
    assert fixed.sum() > 200
    assert abs(claimed[fixed, 1].mean() - true[fixed, 1].mean()) < 0.05


def test_towards_hubs_that_are_causes_no_more_is_claimed_than_comes_true() -> None:
    claimed, true = claims(graph="SC2", n_nodes=25)
    fixed = ~np.isnan(claimed[:, 1])
    assert fixed.sum() > 500
    assert claimed[fixed, 1].mean() < true[fixed, 1].mean() + 0.02


def test_equations_that_are_not_linear_lower_what_is_claimed() -> None:
    bent = {"mechanism": "mlp", "standardize": True, "effects": None, "units": None}
    plain, other = (drawn(0, n_samples=2000, **options).data for options in ({}, bent))
    mean = [
        np.mean([e.probability for e in AnalyticDAG(solver="order", n_jobs=1).fit(X).edges_])
        for X in (plain, other)
    ]
    assert mean[1] < mean[0] - 0.05


def test_probabilities_are_shares_and_a_direction_is_never_surer_than_its_link() -> None:
    for edge in AnalyticDAG(n_jobs=1).fit(drawn(0).data).edges_:
        assert edge.probability is not None
        if edge.fixed_by is FixedBy.NOTHING:
            assert edge.direction_probability is None
            continue
        assert edge.direction_probability is not None
        assert 0.0 < edge.direction_probability <= edge.probability <= probabilities.SUREST


def test_knowledge_gives_the_direction_and_required_edges_are_not_judged() -> None:
    X = drawn(1).data
    first = AnalyticDAG(solver="order").fit(X).edges_[0]
    tiers = Knowledge(forbidden_edges=[(first.target, first.source)])
    one = _edge(AnalyticDAG(solver="order", knowledge=tiers).fit(X).edges_, first)
    assert one.fixed_by is FixedBy.KNOWLEDGE
    assert one.direction_probability == one.probability
    required = Knowledge(required_edges=[(first.source, first.target)])
    one = _edge(AnalyticDAG(solver="order", knowledge=required).fit(X).edges_, first)
    assert one.probability is None


def _edge(edges: tuple[Edge, ...], like: Edge) -> Edge:
    return next(e for e in edges if (e.source, e.target) == (like.source, like.target))


def test_a_path_alone_has_none() -> None:
    X = drawn(2).data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = AnalyticDAG(refine=False, w_threshold=0.05, standardize=True).fit(X)
    assert path.edges_
    assert {e.probability for e in path.edges_} == {None}
    assert path.excess_ is None


def test_links_of_a_large_graph_are_judged_by_regressions(monkeypatch: pytest.MonkeyPatch) -> None:
    X = drawn(2).data
    searched = AnalyticDAG(solver="order").fit(X).edges_
    monkeypatch.setattr(probabilities, "LARGEST", 10)
    large = AnalyticDAG(solver="order").fit(X).edges_
    assert {e.direction_probability for e in large} == {None}
    one, other = (np.array([e.probability for e in edges]) for edges in (searched, large))
    assert np.abs(one - other).mean() < 0.05


def test_edges_are_judged_when_they_are_first_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, measure = [], probabilities.edge_gaps

    def counted(*given: Any, **also: Any) -> Gaps:
        asked.append(given)
        return measure(*given, **also)

    monkeypatch.setattr(probabilities, "edge_gaps", counted)
    X = drawn(3).data
    model = AnalyticDAG(n_jobs=1).fit(X)
    model.predict(X), model.score(X), model.weights_
    assert not asked
    later = pickle.loads(pickle.dumps(model))  # a model that was kept before anybody asked
    assert model.edges_ is model.edges_
    assert len(asked) == 1
    assert later.edges_ == model.edges_
    assert model.edges_[0].probability is not None


def test_edges_are_there_after_a_fit() -> None:
    with pytest.raises(AttributeError, match="edges_ is there after a fit"):
        _ = AnalyticDAG().edges_


def test_threads_may_read_edges_together() -> None:
    X = np.random.default_rng(1).normal(size=(200, 6)) @ (np.eye(6) + np.eye(6, k=1))
    models = [AnalyticDAG(loss="likelihood-nv").fit(X) for _ in range(8)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            read = list(pool.map(lambda k: models[k % 8].edges_, range(64)))
    finally:
        sys.setswitchinterval(before)
    assert all(edges == models[0].edges_ for edges in read)


def test_a_direction_is_no_surer_than_the_equal_variances_that_it_rests_on() -> None:
    rng = np.random.default_rng(12)
    X = rng.normal(size=(300, 2)) @ np.array([[1.0, 0.7], [0.0, 1.0]])
    chosen, asked = (AnalyticDAG(loss=loss).fit(X) for loss in ("auto", "likelihood-ev"))
    margin = chosen.loss_choice_.margin
    assert 0.0 < margin < 10.0
    (one,), (other,) = chosen.edges_, asked.edges_
    assert one.fixed_by is other.fixed_by is FixedBy.EQUAL_VARIANCES
    assert one.direction_probability < other.direction_probability  # type: ignore[operator]
    assert one.probability == other.probability


def evidence(**asked: float) -> Evidence:
    """One edge, clearly there, in a table that agrees with the model."""
    given = {"apart": 20.0, "turned": 20.0, "common": 0.0}
    given |= {"fan": 0.0, "price": 10.0, "dependence": 0.0}
    return Evidence(**{name: np.array([value]) for name, value in {**given, **asked}.items()})


def test_misfit_makes_evidence_count_less() -> None:
    plain, worse = evidence(), evidence(dependence=5.0)
    assert JOINED.excess(plain) == 1.0 < JOINED.excess(worse)
    for curve in (JOINED, DIRECTED):
        assert curve.probability(worse) < curve.probability(plain)


def test_triangles_count_less_and_no_gap_is_a_coin() -> None:
    assert JOINED.probability(evidence(common=2.0)) < JOINED.probability(evidence())
    assert DIRECTED.probability(evidence(turned=0.0)) == 0.5


def test_children_of_the_target_count_against_a_direction() -> None:
    assert DIRECTED.probability(evidence(fan=3.0)) < DIRECTED.probability(evidence(fan=0.5))


def test_a_direction_that_the_class_leaves_open_is_not_claimed() -> None:
    # A chain: turning one edge alone makes a collider, turning those behind it too costs nothing.
    W = np.diag([0.9, 0.8, 0.7], 1)
    S = np.linalg.inv((np.eye(4) - W) @ (np.eye(4) - W).T)
    edges = AnalyticDAG(loss="likelihood-nv").fit_covariance(S, n_samples=600).edges_
    assert [e.fixed_by for e in edges] == [FixedBy.NOTHING] * 3
    assert all(e.direction_probability is None and e.probability > 0.6 for e in edges)  # type: ignore[operator]
