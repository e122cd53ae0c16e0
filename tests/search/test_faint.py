"""Weak effects: noticed, and searched for with a cheaper price from every node."""

from __future__ import annotations

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.losses import covariance
from analyticdag.metrics import compare
from analyticdag.search import default_gamma, edge_penalty, search_orders
from analyticdag.simulate import Simulation, simulate

USUAL = edge_penalty(1000, 60, default_gamma("equal"))


def weak(seed: int = 0) -> Simulation:
    return simulate("ER4", n_nodes=60, n_samples=1000, weight_range=(0.1, 0.5), seed=seed)


def wrong(sim: Simulation, W: np.ndarray) -> int:
    return compare(sim.weights, (W != 0.0).astype(int)).shd


def test_strong_effects_keep_the_usual_price() -> None:
    sim = simulate("ER4", n_nodes=60, n_samples=1000, seed=0)
    found = search_orders(covariance(sim.data), 1000, score="equal")
    assert found.price == pytest.approx(USUAL)
    assert wrong(sim, found.weights) <= 2


def test_weak_effects_are_searched_for_from_every_node_at_a_lower_price() -> None:
    said: list[str] = []
    errors = []
    for seed in range(3):
        sim = weak(seed)
        S = covariance(sim.data)
        found = search_orders(S, 1000, score="equal", progress=said.append)
        assert found.price < USUAL
        at_usual_price = search_orders(S, 1000, score="equal", gamma=default_gamma("equal"))
        assert at_usual_price.price == pytest.approx(USUAL)
        errors.append((wrong(sim, found.weights), wrong(sim, at_usual_price.weights)))
    ours, usual = np.sum(errors, axis=0)
    assert ours < 0.8 * usual
    assert ours < 0.15 * 3 * 240
    assert sum("weak" in text for text in said) == 3


def test_the_price_in_force_is_in_the_trace() -> None:
    model = AnalyticDAG(solver="order", loss="likelihood-ev").fit(weak().data)
    assert model.trace_.edge_price("likelihood-ev") < USUAL


def test_no_edges_are_not_faint() -> None:
    X = np.random.default_rng(0).normal(size=(500, 10))
    found = search_orders(covariance(X), 500, score="equal")
    assert found.price == pytest.approx(edge_penalty(500, 10, default_gamma("equal")))
    assert not found.weights.any()
