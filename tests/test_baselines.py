"""Baselines: each returns a DAG, each is the method it is named after."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from analyticdag.baselines import BASELINES, conditional_variance, dagma, golem, notears, tmpi
from analyticdag.errors import NotConvergedWarning, ParameterError
from analyticdag.graphs import is_dag
from analyticdag.metrics import compare
from analyticdag.optimize.schedule import Schedule
from analyticdag.simulate import simulate

# Enough for six nodes; the published schedules take 180,000 steps.
SHORT = Schedule.geometric(s=(1.0, 0.9), max_steps=300)
OPTIONS: dict[str, dict[str, Any]] = {
    "dagma": {"schedule": SHORT, "w_threshold": 0.1},
    "tmpi": {"schedule": SHORT, "w_threshold": 0.1},
    "golem": {"schedule": SHORT},
}


def data(graph: str = "ER1", d: int = 6) -> Any:
    return simulate(graph, n_nodes=d, n_samples=500, noise="gaussian", seed=1)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_returns_a_dag_and_leaves_the_data_alone(name: str) -> None:
    X = data().data
    before = np.array(X)
    W = BASELINES[name](X, **OPTIONS.get(name, {}))
    assert W.shape == (6, 6)
    assert is_dag(W)
    np.testing.assert_array_equal(X, before)
    assert (name == "empty") == (not W.any())


@pytest.mark.parametrize("name", ["conditional-variance", "sort-and-regress"])
def test_known_scale_makes_sorting_strong(name: str) -> None:
    sim = simulate("ER2", n_nodes=30, n_samples=2000, noise="gaussian", seed=0)
    shd = compare(sim.weights, BASELINES[name](sim.data)).shd
    assert shd <= (0 if name == "conditional-variance" else 30)


def test_parents_are_selected_not_taken_as_they_come() -> None:
    X = np.random.default_rng(0).normal(size=(500, 8))
    assert not conditional_variance(X).any()
    X[:, 5] += X[:, :2].sum(axis=1)
    W = conditional_variance(X)
    np.testing.assert_array_equal(np.argwhere(W), [[0, 5], [1, 5]])


def test_selected_parents_survive_copies() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    W = conditional_variance(np.column_stack([X, X[:, 0]]))
    assert is_dag(W)
    assert np.isfinite(W).all()


def test_selection_refuses_a_negative_gamma() -> None:
    with pytest.raises(ParameterError, match="gamma must be at least 0"):
        conditional_variance(data().data, gamma=-1.0)


def test_notears_finds_an_easy_graph() -> None:
    sim = data()
    assert compare(sim.weights, notears(sim.data)).shd <= 1


def test_notears_meets_its_constraint_before_the_threshold() -> None:
    W = notears(data().data, w_threshold=0.0)
    assert np.trace(expm(W * W)) - 6 < 1e-6


def test_dagma_is_the_dagma_package() -> None:
    """The same steps as the package, where it is installed."""
    linear = pytest.importorskip("dagma.linear")
    X = data().data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        ours = dagma(X, schedule=SHORT, w_threshold=0.1)
    theirs = linear.DagmaLinear("l2").fit(
        X.copy(), T=2, s=[1.0, 0.9], warm_iter=300, max_iter=300, w_threshold=0.1
    )
    # Ours has no diagonal from the first step on; theirs lets it move below the threshold.
    np.testing.assert_allclose(ours, theirs * (ours != 0), atol=2e-2)


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
def test_settings_can_be_changed() -> None:
    X = data().data
    assert not dagma(X, schedule=SHORT, w_threshold=100.0).any()
    assert not tmpi(X, degree=3, schedule=SHORT, w_threshold=100.0).any()
    assert not golem(X, equal_variances=False, schedule=SHORT, w_threshold=100.0).any()
