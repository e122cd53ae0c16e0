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

from analyticdag import Knowledge, NonlinearDAG
from analyticdag.knowledge import Constraints
from analyticdag.nonlinear.learn import _finished
from analyticdag.nonlinear.networks import Networks, Shape
from analyticdag.nonlinear.training import Trained
from analyticdag.optimize.trace import Status, Trace

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


@FEW_STEPS
def test_steps_that_run_out_before_anything_settled_say_so() -> None:
    ordered = Knowledge(tiers=[[0], [1], [2]])
    assert NonlinearDAG(knowledge=ordered, max_steps=50).fit(bent()).status_ is Status.MAX_STEPS


def test_a_pruned_edge_takes_up_no_place() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 2] += X[:, 0]
    strength = np.zeros((3, 3))
    strength[0, 2], strength[1, 2] = 0.5, 0.9  # noise, 1, got the larger weight
    networks = Networks.drawn(Shape(3, ()), 0, torch.float64, "cpu")
    trained = Trained(networks, strength, 0.1, Trace(), 0)
    limited = replace(Constraints.free(3), max_parents=1)
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
