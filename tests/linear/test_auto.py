"""solver="auto", gamma, and what the default says about itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import IgnoredParameterWarning, ParameterError
from analyticdag.extended_bic import edge_price
from analyticdag.linear.choice import EQUAL, UNEQUAL
from analyticdag.metrics import compare
from analyticdag.optimize.columns import Columns
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import Status
from analyticdag.search.price import cautious_price
from analyticdag.simulate import simulate


def table(d: int, n: int, seed: int = 1, **changes: Any) -> Any:
    return simulate("ER1", n_nodes=d, n_samples=n, seed=seed, **changes)


@pytest.mark.parametrize(
    ("d", "n", "standardize", "path", "words"),
    [
        (8, 300, False, True, "with 8 columns it costs little"),
        (30, 50, False, True, "50 rows are few for 30 columns"),
        (30, 600, False, False, "cheap starts, which agree"),
        (60, 90, True, False, "no path although 90 rows are few for 60 columns"),
    ],
)
def test_the_trace_says_what_was_done_and_why(
    d: int, n: int, standardize: bool, path: bool, words: str
) -> None:
    drawn = table(d, n, standardize=standardize)
    model = AnalyticDAG().fit(drawn.data)
    assert words in model.trace_.plan
    assert bool(len(model.trace_)) is path
    again = AnalyticDAG(n_jobs=1).fit(drawn.data)
    np.testing.assert_array_equal(model.weights_, again.weights_)
    assert again.trace_.plan == model.trace_.plan


def test_a_second_search_from_the_path_never_ends_worse() -> None:
    drawn = simulate("ER3", n_nodes=40, n_samples=100, seed=2, standardize=True)
    first, second = AnalyticDAG().fit(drawn.data).trace_.search
    alone = AnalyticDAG(solver="order").fit(drawn.data)
    assert first.score == alone.trace_.search[-1].score
    assert second.score <= first.score + 1e-6 * abs(first.score)
    assert second.price == first.price
    assert alone.trace_.plan == ""


def test_the_search_goes_on_until_its_best_score_comes_back() -> None:
    drawn = simulate("UD2", n_nodes=60, n_samples=200, seed=1, effects=(0.05, 2.0), units=(1, 9))
    none, usual, more = (
        AnalyticDAG(solver="order", effort=effort).fit(drawn.data).trace_.search[-1]
        for effort in (0.0, 1.0, 4.0)
    )
    assert len(none.contributions) < len(usual.contributions) < len(more.contributions)
    assert none.score >= usual.score >= more.score
    assert usual.returns < 3  # or it would not have gone on


def test_without_refining_auto_is_the_exact_path() -> None:
    drawn = table(30, 300)
    auto, fast = (AnalyticDAG(solver=s, refine=False).fit(drawn.data) for s in ("auto", "fast"))
    np.testing.assert_array_equal(auto.weights_, fast.weights_)
    assert auto.trace_.records == fast.trace_.records


def test_fewer_rows_than_columns_are_searched_further() -> None:
    found = []
    for seed in (1, 2):
        drawn = simulate("ER2", n_nodes=60, n_samples=30, seed=seed)
        model = AnalyticDAG(loss="likelihood-ev").fit(drawn.data)
        (record,) = model.trace_.search
        assert {one["start"] for one in record.contributions} == {"layered", "variance"}
        found += [one["local"] - one["iterated"] for one in record.contributions]
    assert max(found) > 0.0


def test_gamma_is_the_users_or_the_datas() -> None:
    drawn = table(12, 400, standardize=True)
    auto = AnalyticDAG().fit(drawn.data)
    assert auto.trace_.edge_price(auto.loss_) == pytest.approx(cautious_price(12))
    for loss in ("likelihood-nv", "likelihood-ev"):
        data = np.array(drawn.data) * 3.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = AnalyticDAG(gamma=2.0, loss=loss).fit(data)
        assert given.trace_.gamma(loss) == 2.0
        assert given.trace_.edge_price(loss) == pytest.approx(edge_price(400, 12, 2.0))


@pytest.mark.parametrize("gamma", [-0.1, "cheap", np.nan, True])
def test_a_price_that_is_none_is_refused(gamma: Any) -> None:
    with pytest.raises(ParameterError, match="gamma must be a"):
        AnalyticDAG(gamma=gamma).fit(table(5, 50).data)


@pytest.mark.parametrize("seed", range(5))
def test_equal_variances_are_never_accepted_on_standardised_data(seed: int) -> None:
    drawn = simulate("ER2", n_nodes=100, n_samples=100, seed=seed, standardize=True)
    model = AnalyticDAG(solver="order").fit(drawn.data)
    assert model.loss_ == UNEQUAL
    assert model.loss_choice_ is not None
    assert "the columns are standardised" in model.loss_choice_.reason
    assert "only the equivalence class" in model.loss_choice_.reason


@pytest.mark.parametrize("weights", [(0.1, 0.3), (0.5, 2.0)])
def test_nor_on_data_standardised_in_another_way(weights: tuple[float, float]) -> None:
    X = simulate("ER2", n_nodes=30, n_samples=100, seed=3, weight_range=weights).data
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    drawn = np.random.default_rng(0).integers(len(Z), size=len(Z))
    for table in (Z, 10.0 * Z, Z[drawn]):
        assert AnalyticDAG(solver="order").fit(table).loss_ == UNEQUAL


def test_nor_where_variances_are_too_close_to_read_directions_from() -> None:
    X = simulate("ER2", n_nodes=10, n_samples=300, seed=1, weight_range=(0.1, 0.3)).data
    model = AnalyticDAG(solver="order").fit(X)
    assert model.loss_choice_ is not None
    assert "differ by no more than chance" in model.loss_choice_.reason
    strong = simulate("ER2", n_nodes=10, n_samples=300, seed=1).data
    assert AnalyticDAG(solver="order").fit(strong).loss_ == EQUAL


@pytest.mark.parametrize(("d", "n", "enough"), [(5, 20, False), (2, 100, False), (40, 50, True)])
def test_nor_where_the_rows_are_too_few_to_tell(d: int, n: int, enough: bool) -> None:
    X = 2.0 * np.random.default_rng(d).normal(size=(n, d))
    choice = AnalyticDAG(solver="order").fit(X).loss_choice_
    assert choice is not None
    assert ("too few to notice unequal ones" in choice.reason) is not enough


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lambda1": 0.5, "w_threshold": 0.1}, "lambda1=0.5 and w_threshold=0.1 had no influence"),
        ({"lambda1": "cv", "solver": "order"}, "lambda1='cv' had no influence: the score"),
        ({"w_threshold": "auto", "solver": "fast"}, "w_threshold='auto' had no influence"),
        ({"constraint": "order-3", "solver": "order"}, "constraint='order-3' .* no path was"),
        ({"gamma": 1.0, "refine": False}, "gamma=1.0 had no influence: it belongs to the order"),
        ({"min_effect": 0.1, "effort": 2.0, "refine": False}, "min_effect=0.1 and effort=2.0"),
    ],
)
def test_what_has_no_influence_is_said_once(settings: dict[str, Any], words: str) -> None:
    drawn = table(8, 300)
    with pytest.warns(IgnoredParameterWarning, match=words) as caught:
        model = AnalyticDAG(**settings).fit(drawn.data)
    assert len(caught) == 1
    assert model.selection_ is None
    left = {name: settings[name] for name in ("solver", "refine") if name in settings}
    np.testing.assert_array_equal(AnalyticDAG(**left).fit(drawn.data).weights_, model.weights_)


def test_a_path_that_only_starts_the_search_asks_for_nothing() -> None:
    drawn = table(8, 300)
    short = Schedule([Stage(1.0, max_steps=1, tol=1e-12)])
    model = AnalyticDAG(solver=Columns(schedule=short)).fit(drawn.data)  # warnings are errors here
    assert model.status_ in (Status.SEARCHED, Status.CLASS_FOUND)
    assert "no further move" not in model.advice_
    assert "trace_.search" in model.advice_
    assert compare(drawn.weights, model.weights_).shd_cpdag <= 1
