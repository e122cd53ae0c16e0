"""lambda1="auto" and w_threshold="auto"."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import ParameterError
from analyticdag.losses import covariance
from analyticdag.metrics import compare
from analyticdag.simulate import simulate

SIM = simulate("ER2", n_nodes=12, n_samples=300, seed=4)
SETTINGS: dict[str, Any] = {"loss": "mse", "solver": "fast", "refine": False}


@pytest.mark.parametrize("lambda1", ["auto", "cv", "stars"])
def test_every_criterion_finds_a_good_lambda(lambda1: str) -> None:
    model = AnalyticDAG(lambda1=lambda1, **SETTINGS).fit(SIM.data)
    chosen = model.selection_
    assert chosen is not None
    assert chosen.criterion == ("ebic" if lambda1 == "auto" else lambda1)
    lambdas = [point.lambda1 for point in chosen.points]
    assert lambdas == sorted(lambdas, reverse=True)
    assert chosen.points[0].n_edges <= chosen.points[-1].n_edges
    assert compare(SIM.weights, model.weights_).shd <= 3
    # What is said to be chosen is what was used.
    assert len(model.edges_) == chosen.best.n_edges
    assert AnalyticDAG(**SETTINGS).fit(SIM.data).selection_ is None


def test_ebic_takes_the_best_score_and_is_plain_data() -> None:
    model = AnalyticDAG(lambda1="ebic", **SETTINGS).fit(SIM.data)
    assert model.selection_ is not None
    record = json.loads(json.dumps(model.selection_.as_dict()))
    scores = [point["score"] for point in record["points"]]
    assert record["chosen"] == int(np.argmin(scores))


@pytest.mark.parametrize("lambda1", [0.02, "auto"])
def test_a_chosen_threshold_does_not_depend_on_units(lambda1: float | str) -> None:
    settings = {**SETTINGS, "loss": "likelihood-nv"}
    X = SIM.data / SIM.data.std(axis=0)
    auto = AnalyticDAG(lambda1=lambda1, w_threshold="auto", **settings).fit(X)
    assert auto.selection_ is not None
    assert len(auto.selection_.points) == (1 if lambda1 == 0.02 else 8)
    assert compare(SIM.weights, auto.adjacency_matrix_).missing <= 3
    kept = np.abs(auto.weights_[auto.weights_ != 0.0])
    assert kept.min() >= auto.selection_.best.w_threshold


def test_a_covariance_is_enough_for_ebic_only() -> None:
    S = covariance(SIM.data)
    model = AnalyticDAG(lambda1="auto", **SETTINGS).fit_covariance(S, n_samples=300)
    assert model.selection_ is not None
    for lambda1 in ("cv", "stars"):
        with pytest.raises(ParameterError, match=f"lambda1='{lambda1}' needs the rows"):
            AnalyticDAG(lambda1=lambda1, **SETTINGS).fit_covariance(S, n_samples=300)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(ParameterError, match="lambda1='cv' needs at least 10 rows"):
        AnalyticDAG(lambda1="cv", **SETTINGS).fit(SIM.data[:8, :3])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lambda1": "best"}, r"lambda1 must be .* or one of \['auto', 'ebic'"),
        ({"w_threshold": "cv"}, r"w_threshold must be .* or one of \['auto'\], not 'cv'"),
        (
            {"w_threshold": "auto", "loss": "logistic", "solver": "adam"},
            "give a number with loss='logistic'",
        ),
        (
            {"lambda1": "cv", "loss": "logistic", "solver": "adam"},
            "^choosing lambda1 compares Gaussian likelihoods; give a number",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        AnalyticDAG(**{**SETTINGS, **changes}).fit(SIM.data)
