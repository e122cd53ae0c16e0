"""What a fit of `NonlinearDAG` may not depend on, and in which order its steps come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone

from analyticdag import Knowledge, NonlinearDAG
from analyticdag.errors import DataWarning, NotConvergedWarning
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear import learn
from analyticdag.nonlinear.learn import _finished
from analyticdag.nonlinear.networks import Networks, Shape
from analyticdag.nonlinear.quasi_newton import Minimum
from analyticdag.nonlinear.training import Trained
from analyticdag.optimize.trace import Status, Stop, Trace

FEW_STEPS = pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")


def bent(n: int = 150) -> np.ndarray:
    """0 -> 1 -> 2 by curves."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    X[:, 1] = np.sin(2.0 * X[:, 0]) + X[:, 0] + 0.3 * X[:, 1]
    X[:, 2] = 2.0 * np.tanh(2.0 * X[:, 1]) + 0.3 * X[:, 2]
    return X


def test_gran_dag_learns_even_where_no_cycle_is_allowed() -> None:
    ordered = Knowledge(tiers=[[0], [1], [2]])
    fitted = NonlinearDAG(knowledge=ordered, max_steps=5000).fit(bent())
    assert fitted.status_ is Status.CONVERGED
    assert fitted.n_iter_ > 200
    assert set(fitted.graph_.edges) == {(0, 1), (1, 2)}


@pytest.mark.parametrize("model", ["gran-dag", "mlp"])
def test_steps_that_run_out_before_anything_settled_say_what_to_do(model: str) -> None:
    ordered = Knowledge(tiers=[[0], [1], [2]])
    with pytest.warns(NotConvergedWarning, match="raise max_steps$"):
        fitted = NonlinearDAG(model, knowledge=ordered, max_steps=5).fit(bent())
    assert fitted.status_ is Status.MAX_STEPS


@FEW_STEPS
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_that_were_switched_off_are_no_obstacle(mode: Callable[[], Any]) -> None:
    expected = NonlinearDAG(max_steps=5, device=None).fit(bent())
    with mode():
        fitted = NonlinearDAG(max_steps=5).fit(bent())
        score = fitted.score(bent())
    np.testing.assert_array_equal(fitted.weights_, expected.weights_)
    assert score == expected.score(bent())


@FEW_STEPS
def test_training_takes_one_thread_and_gives_the_others_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    monkeypatch.setattr(torch, "set_num_threads", seen.append)
    NonlinearDAG(max_steps=5).fit(bent())
    assert seen == [1, 7]


def test_a_pruned_edge_takes_up_no_place() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 2] += X[:, 0]
    strength = np.zeros((3, 3))
    strength[0, 2], strength[1, 2] = 0.5, 0.9  # noise, 1, got the larger weight
    networks = Networks.drawn(Shape(3, ()), 0, torch.float64, "cpu")
    trained = Trained(networks, strength, 0.1, Trace(), 0)
    limited = replace(EdgeMasks.free(3), max_parents=1)
    assert np.argwhere(_finished(trained, X, 1e-3, limited).adjacency).tolist() == [[0, 2]]
    assert np.argwhere(_finished(trained, X, None, limited).adjacency).tolist() == [[1, 2]]


@FEW_STEPS
@pytest.mark.parametrize("model", ["gran-dag", "mlp"])
@pytest.mark.parametrize(
    "stored", [np.asfortranarray, pd.DataFrame, pl.DataFrame], ids=["fortran", "pandas", "polars"]
)
def test_the_order_in_memory_changes_nothing(model: str, stored: Callable[..., Any]) -> None:
    plain, other = (NonlinearDAG(model, max_steps=30).fit(X) for X in (bent(), stored(bent())))
    np.testing.assert_array_equal(other.weights_, plain.weights_)
    assert other.trace_ == plain.trace_


# A power of two rounds nothing; the others round, and steps of the minimiser amplify that.
@FEW_STEPS
@pytest.mark.parametrize(("factor", "close"), [(128.0, 1e-9), (100.0, 0.1), (0.01, 0.1)])
def test_the_common_unit_of_the_columns_does_not_matter(factor: float, close: float) -> None:
    model = NonlinearDAG("mlp", variance="equal", max_steps=60)
    plain, scaled = (clone(model).fit(k * bent()) for k in (1.0, factor))
    np.testing.assert_array_equal(scaled.adjacency_matrix_, plain.adjacency_matrix_)
    np.testing.assert_allclose(scaled.scale_, factor * plain.scale_)
    np.testing.assert_allclose(scaled.weights_, plain.weights_, rtol=close)
    ratio = scaled.noise_variances_ / plain.noise_variances_
    np.testing.assert_allclose(ratio, factor**2, rtol=close)
    shift = 3 * np.log(factor)
    assert scaled.score(factor * bent()) == pytest.approx(plain.score(bent()) - shift, abs=close)


@FEW_STEPS
def test_equal_variances_are_one_variance() -> None:
    fitted = NonlinearDAG("mlp", variance="equal", max_steps=30).fit(bent())
    assert len(np.unique(fitted.noise_variances_)) == 1
    X = bent()
    X[:, 2] = 1.0
    with pytest.warns(DataWarning):
        fitted = NonlinearDAG("mlp", variance="equal", max_steps=30).fit(X)
    assert fitted.noise_variances_[2] == 0.0
    assert fitted.noise_variances_[0] == fitted.noise_variances_[1] > 0.0
    assert fitted.interventions_ is None


@FEW_STEPS
@pytest.mark.parametrize("variance", ["constant", "learned"])
def test_noise_variances_are_in_the_units_of_the_data(variance: str) -> None:
    X = 10.0 * bent()
    known = Knowledge(tiers=[[0], [1, 2]])
    fitted = NonlinearDAG(variance=variance, knowledge=known, max_steps=300).fit(X)
    assert fitted.noise_variances_[0] == pytest.approx(X[:, 0].var(), rel=0.5)


@FEW_STEPS
@pytest.mark.parametrize("model", ["gran-dag", "mlp"])
def test_a_required_edge_at_a_constant_column_has_no_effect(model: str) -> None:
    X = bent(60)
    X[:, 2] = 1.0
    known = Knowledge(required_edges=[(2, 1)])
    with pytest.warns(DataWarning):
        fitted = NonlinearDAG(model, knowledge=known, max_steps=20).fit(X)
    assert fitted.adjacency_matrix_[2, 1] == 1
    assert fitted.weights_[2, 1] == 0.0
    assert fitted.p_values_[2, 1] == 1.0


def test_a_refit_looks_further_than_one_bad_round(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = iter([5.0, 6.0, 4.0, 7.0, 7.0, 7.0, 0.0])
    monkeypatch.setattr(learn, "average_loss", lambda *_: next(losses))
    seen: list[torch.Tensor] = []

    def step(_: Any, start: torch.Tensor, *_a: Any, **_k: Any) -> Minimum:
        seen.append(start + 1.0)
        return Minimum(seen[-1], 0.0, 1, Stop.MAX_STEPS)

    monkeypatch.setattr(learn, "minimise", step)
    networks = Networks.drawn(Shape(2, ()), 0, torch.float64, "cpu")
    columns, mask = torch.ones(2, 4, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
    best = learn.refit(networks, columns, columns, mask)
    assert len(seen) == 5  # the second was the best; three more did not help
    torch.testing.assert_close(best.values, seen[1])
