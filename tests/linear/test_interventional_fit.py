"""Fits with interventions: equations from undisturbed rows, directions nothing else fixes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analyticdag import AnalyticDAG, Knowledge
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import DataError, ParameterError
from analyticdag.fitting.edges import FixedBy
from analyticdag.graphs import to_cpdag
from analyticdag.interventions import equivalence_class
from analyticdag.metrics import compare
from analyticdag.simulate import simulate

CHAIN = np.array([[0, 0.8, 0], [0, 0, 0.8], [0, 0, 0]])


def experiment(W: FloatArray, mask: BoolArray, *, seed: int = 0, spread: float = 1.0) -> FloatArray:
    """Draw rows from W with noise of different sizes; what is perturbed ignores its causes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=mask.shape) * np.linspace(1.0, spread, len(W))
    X[mask] = rng.normal(2.0, 2.0, size=int(mask.sum()))
    for row, perturbed in enumerate(mask):
        X[row] = np.linalg.solve((np.eye(len(W)) - np.where(perturbed, 0.0, W)).T, X[row])
    return X


def perturbing(node: int, *, rows: int = 300, d: int = 3) -> BoolArray:
    mask = np.zeros((2 * rows, d), dtype=bool)
    mask[rows:, node] = True
    return mask


@pytest.mark.parametrize("solver", ["order", "fast"])
@pytest.mark.parametrize("loss", ["likelihood-nv", "auto"])
def test_an_intervention_orients_what_observations_cannot(loss: str, solver: str) -> None:
    mask = perturbing(1)
    X = experiment(CHAIN, mask, spread=0.3)
    seen = AnalyticDAG(loss=loss, solver=solver).fit(X[~mask.any(axis=1)])
    assert {edge.fixed_by for edge in seen.edges_} == {FixedBy.NOTHING}
    model = AnalyticDAG(loss=loss, solver=solver).fit(X, interventions=mask)
    assert model.loss_ == "likelihood-nv"
    assert_array_equal(model.adjacency_matrix_, CHAIN != 0)
    assert_array_equal(model.cpdag_, CHAIN != 0)
    assert {edge.fixed_by for edge in model.edges_} == {FixedBy.INTERVENTIONS}
    assert_array_equal(model.interventions_, mask)


def test_weights_errors_and_noise_are_those_of_the_undisturbed_rows() -> None:
    mask = perturbing(1)
    X = experiment(CHAIN, mask)
    model = AnalyticDAG(loss="likelihood-nv", solver="order").fit(X, interventions=mask)
    (first, second) = model.edges_
    for edge, j in ((first, 1), (second, 2)):
        kept = X[~mask[:, j]]
        a, b = kept[:, j - 1], kept[:, j]
        slope, intercept = np.polyfit(a, b, 1)
        left = b - slope * a - intercept
        assert edge.weight == pytest.approx(slope)
        error = np.sqrt(left.var() / a.var() / (len(kept) - 2))
        assert edge.standard_error == pytest.approx(error)
        assert model.noise_variances_[j] == pytest.approx(left.var())
        # What the model expects where nothing is done, at the cause's own mean there.
        assert model.mean_[j] == pytest.approx(intercept + slope * model.mean_[j - 1])
    undisturbed = X[~mask.any(axis=1)]
    assert model.score(undisturbed) > model.score(X)


def test_rows_may_be_named() -> None:
    mask = perturbing(1)
    X = pd.DataFrame(experiment(CHAIN, mask), columns=list("abc"))
    target = pd.Series(np.where(mask[:, 1], "b", None))
    named = AnalyticDAG(loss="likelihood-nv", solver="order").fit(X, interventions=target)
    masked = AnalyticDAG(loss="likelihood-nv", solver="order").fit(X, interventions=mask)
    assert_allclose(named.weights_, masked.weights_)
    assert [(e.source, e.target) for e in named.edges_] == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize("loss", ["likelihood-nv", "likelihood-ev", "auto"])
def test_a_larger_graph_with_several_targets(loss: str) -> None:
    W = simulate("ER2", n_nodes=12, n_samples=2, seed=3).weights
    mask = np.zeros((1800, 12), dtype=bool)
    for k, node in enumerate((1, 4, 7, 9)):
        mask[600 + 300 * k : 900 + 300 * k, node] = True
    X = experiment(W, mask, seed=1)
    model = AnalyticDAG(loss=loss, solver="order").fit(X, interventions=mask)
    assert compare(W, model.weights_).shd <= 1
    assert model.loss_ == ("likelihood-nv" if loss == "likelihood-nv" else "likelihood-ev")
    # Taking the experiments for observations makes edges of what was done.
    naive = AnalyticDAG(loss=loss, solver="order").fit(X)
    assert compare(W, naive.cpdag_).shd > compare(W, model.cpdag_).shd


def test_the_class_keeps_open_what_was_perturbed_together() -> None:
    graph = CHAIN != 0
    mask = np.array([[0, 0, 0], [1, 1, 0]], dtype=bool)
    # b and c are told apart, a and b are not; but c - b - a with b -> c leaves a - b open.
    assert_array_equal(equivalence_class(graph, mask), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    mask = np.array([[0, 0, 0], [0, 1, 1], [0, 0, 0]], dtype=bool)
    assert_array_equal(equivalence_class(graph, mask), graph)  # b -> c follows from a -> b
    assert_array_equal(equivalence_class(graph, None), to_cpdag(graph))


def test_knowledge_comes_before_interventions_and_colliders_stay() -> None:
    mask = perturbing(2, d=4)
    W = np.zeros((4, 4))
    W[0, 2] = W[1, 2] = W[2, 3] = 0.8
    X = experiment(W, mask, spread=0.5)
    knowledge = Knowledge(forbidden_edges=[(2, 0)])
    model = AnalyticDAG(loss="likelihood-nv", solver="order", knowledge=knowledge)
    fixed = {(e.source, e.target): e.fixed_by for e in model.fit(X, interventions=mask).edges_}
    assert fixed == {
        (0, 2): FixedBy.KNOWLEDGE,
        (1, 2): FixedBy.COLLIDER,
        (2, 3): FixedBy.ORIENTATION_RULES,
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"refine": False, "loss": "mse"}, "use refine=True, which lets the path be a start"),
        ({"candidates": "correlation"}, "takes all rows for undisturbed"),
    ],
)
def test_what_cannot_be_done_soundly_is_refused(settings: dict[str, Any], message: str) -> None:
    mask = perturbing(1, rows=20)
    with pytest.raises(ParameterError, match=message):
        AnalyticDAG(**settings).fit(experiment(CHAIN, mask), interventions=mask)


def test_a_column_that_is_always_perturbed_is_refused_by_name() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    with pytest.raises(DataError, match=r"perturb \['b'\] in all rows but 0"):
        AnalyticDAG().fit(X, interventions=["b"] * 20)
