"""What an edge has to be worth: cautious, fair where weak effects are common, floors on effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from analyticdag import AnalyticDAG
from analyticdag.errors import ParameterError
from analyticdag.extended_bic import edge_price, gamma_of
from analyticdag.least_squares import regressions_of
from analyticdag.losses import covariance
from analyticdag.metrics import compare
from analyticdag.moments import Moments
from analyticdag.search import effect_price, search_orders
from analyticdag.search.price import FALSE, cautious_price, fair_price
from analyticdag.simulate import Simulation, simulate


def weak(seed: int = 0, **changes: Any) -> Simulation:
    make = {"n_nodes": 60, "n_samples": 1000, "weight_range": (0.1, 0.5), "seed": seed}
    return simulate("ER4", **(make | changes))


def wrong(sim: Simulation, W: np.ndarray) -> int:
    return compare(sim.weights, (W != 0.0).astype(int)).shd


def partial_correlations(S: np.ndarray, n: int, W: np.ndarray) -> np.ndarray:
    found = [np.empty(0)]
    for r in regressions_of(Moments.shared(S, n), W != 0.0):
        left = (np.diag(S)[r.nodes] - r.explained)[:, None] * r.precisions
        found.append((np.abs(r.slopes) / np.sqrt(r.slopes**2 + left)).ravel())
    return np.concatenate(found)


# ---- the numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 10, 100, 2000])
def test_an_accident_exceeds_the_cautious_price_in_one_table_of_fifty(d: int) -> None:
    assert chi2.sf(cautious_price(d), 1) * d * (d - 1) / 2 == pytest.approx(0.02)


def test_the_more_weak_edges_the_lower_the_price() -> None:
    price = cautious_price(50)
    strong = np.full(100, 50.0 * price)
    prices = [fair_price(np.append(strong, np.full(k, 1.2 * price)), price, 50) for k in range(9)]
    assert prices[0] == price
    assert prices == sorted(prices, reverse=True)
    assert prices[8] < price - 2.0
    # The share of accidents and effects, per unit of log size, at the price that was found.
    z = np.sqrt(prices[8])
    accidents = 1225 * chi2.pdf(z**2, 1) * 2 * z**2
    effects = (8 - 0.02) / np.log(1.5)
    assert accidents / (accidents + effects) == pytest.approx(FALSE, abs=0.002)


def test_a_floor_on_the_effect_is_a_price() -> None:
    # What leaving out a parent with partial correlation 0.3 costs in n log r.
    assert effect_price(0.3, 500, equal=False) == pytest.approx(-500 * np.log(1 - 0.09))
    assert effect_price(0.0, 500, equal=True) == 0.0
    assert gamma_of(edge_price(500, 20, 0.7), 500, 20) == pytest.approx(0.7)


# ---- in the search -------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["equal", "unequal"])
def test_strong_effects_keep_the_cautious_price(score: Any) -> None:
    sim = simulate("ER2", n_nodes=60, n_samples=1000, seed=0)
    found = search_orders(covariance(sim.data), 1000, score=score, random_state=0)
    assert found.price == pytest.approx(cautious_price(60))
    assert compare(sim.weights, found.weights).shd_cpdag <= 2


def test_weak_effects_are_searched_for_from_every_node_at_a_lower_price() -> None:
    said: list[str] = []
    errors = []
    for seed in range(3):
        sim = weak(seed)
        S = covariance(sim.data)
        found = search_orders(S, 1000, score="equal", progress=said.append)
        assert found.price < cautious_price(60)
        at_usual_price = search_orders(S, 1000, score="equal", price=cautious_price(60))
        errors.append((wrong(sim, found.weights), wrong(sim, at_usual_price.weights)))
    ours, others = np.sum(errors, axis=0)
    assert ours < 0.8 * others
    assert ours < 0.15 * 3 * 240
    assert sum("weak" in text for text in said) == 3


def test_the_price_in_force_is_in_the_trace() -> None:
    model = AnalyticDAG(solver="order", loss="likelihood-ev").fit(weak().data)
    assert model.trace_.edge_price("likelihood-ev") < cautious_price(60)


def test_without_edges_the_price_stays() -> None:
    X = np.random.default_rng(0).normal(size=(500, 10))
    found = search_orders(covariance(X), 500, score="equal")
    assert found.price == pytest.approx(cautious_price(10))
    assert not found.weights.any()


@pytest.mark.parametrize("score", ["equal", "unequal"])
def test_no_edge_is_weaker_than_the_floor(score: Any) -> None:
    S = covariance(weak().data)
    free, floored = (
        search_orders(S, 1000, score=score, min_effect=floor, random_state=0)
        for floor in (0.0, 0.2)
    )
    assert partial_correlations(S, 1000, free.weights).min() < 0.15
    # With equal variances the noise is the pooled one, so a node's own share differs a little.
    assert partial_correlations(S, 1000, floored.weights).min() > (
        0.2 if score == "unequal" else 0.18
    )


@pytest.mark.parametrize("floor", [-0.1, 1.0, np.nan])
def test_a_floor_that_is_no_partial_correlation_is_refused(floor: float) -> None:
    with pytest.raises(ParameterError, match="min_effect is a partial correlation"):
        search_orders(np.eye(3), 100, min_effect=floor)
    with pytest.raises(ParameterError, match="min_effect must be a number of at least 0"):
        AnalyticDAG(min_effect=floor).fit(weak().data[:50, :4])


# ---- the floor that the rows ask for -------------------------------------------------------


def fitted(**changes: Any) -> tuple[Simulation, AnalyticDAG]:
    make = {"n_nodes": 20, "n_samples": 10_000, "effects": (0.3, 3.0), "units": (0.1, 10.0)}
    sim = simulate("UD1.5", **(make | changes), seed=1)
    return sim, AnalyticDAG(solver="order", loss="likelihood-nv").fit(sim.data)


def test_rows_that_agree_with_the_model_ask_for_no_floor() -> None:
    others = ({"n_samples": 100}, {"noise": "student"}, {"noise": "exponential"})
    for changes in ({}, *others):
        _, model = fitted(**changes)
        assert model.trace_.min_effect(model.loss_) < 0.02


@pytest.mark.parametrize("violation", [{"mechanism": "bent"}, {"regimes": 3}])
def test_bends_and_pooled_regimes_ask_for_one_and_lose_false_edges(violation: Any) -> None:
    sim, model = fitted(**violation)
    floor = model.trace_.min_effect(model.loss_)
    assert 0.03 < floor <= 0.2
    assert min(abs(edge.partial_correlation) for edge in model.edges_) >= floor - 1e-9
    free = AnalyticDAG(solver="order", loss="likelihood-nv", min_effect=0.0).fit(sim.data)
    assert compare(sim.weights, model.weights_).shd_cpdag < (
        0.8 * compare(sim.weights, free.weights_).shd_cpdag
    )


def test_columns_of_few_values_ask_for_a_floor_the_fewer_the_higher() -> None:
    def floor(levels: int) -> float:
        coded = fitted(levels=levels)[0].data / 3.0  # whole numbers alone would be ordered columns
        model = AnalyticDAG(solver="order", loss="likelihood-nv").fit(coded)
        return model.trace_.min_effect("likelihood-nv")

    floors = [floor(k) for k in (9, 5, 3)]
    assert 0.0 < floors[0] < floors[1] < floors[2] <= 0.2


def test_misfit_makes_every_price_higher_and_the_more_so_the_more_rows() -> None:
    S, asked = covariance(weak().data), []

    def floor(W: np.ndarray) -> float:
        asked.append(W)
        return 0.06

    for n in (1000, 4000):
        found = search_orders(S, n, min_effect=floor, random_state=0)
        plain = search_orders(S, n, random_state=0)
        excess = 1.0 + n * 0.02**2
        assert plain.price * 1.1 < found.price <= excess * cautious_price(60) + 1e-9
        assert found.price >= excess * 9.0  # three standard errors, of chance and misfit
        assert found.min_effect == 0.06
        assert partial_correlations(S, n, found.weights).min() >= 0.06
    assert len(asked) == 2  # once for each search


def test_a_floor_may_be_given_and_a_covariance_asks_for_none() -> None:
    sim, _ = fitted()
    given = AnalyticDAG(solver="order", min_effect=0.4).fit(sim.data)
    assert given.trace_.min_effect(given.loss_) == 0.4
    bare = AnalyticDAG(solver="order").fit_covariance(covariance(sim.data), n_samples=10_000)
    assert bare.trace_.min_effect(bare.loss_) == 0.0
