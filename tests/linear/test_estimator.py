"""AnalyticDAG with Algorithm 2: a DAG always, the contract of its attributes, honest outcomes."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import analyticdag
from analyticdag import AnalyticDAG, Knowledge
from analyticdag.errors import (
    DataError,
    DataWarning,
    KnowledgeError,
    NotConvergedWarning,
    ParameterError,
    ScaleWarning,
)
from analyticdag.functions import Exponential, Inverse
from analyticdag.graphs import is_dag
from analyticdag.linear import FixedBy
from analyticdag.losses import covariance
from analyticdag.metrics import compare
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.schedule import Schedule
from analyticdag.optimize.trace import Status, Stop
from analyticdag.simulate import simulate

# Larger steps and fewer of them than the paper's, for data this easy.
STAGES = Schedule.geometric(s=(1.0, 0.9, 0.8), factor=0.05, max_steps=3000, tol=1e-4)
QUICK_ADAM = Adam(2e-2, check_every=50, schedule=STAGES)
QUICK: dict[str, Any] = {
    "solver": QUICK_ADAM,
    "refine": False,
    "loss": "mse",
}
NAMES = ["a", "b", "c", "d"]
TRUTH = np.array(
    [[0.0, 1.5, 0.0, 0.0], [0.0, 0.0, -1.2, 0.9], [0.0, 0.0, 0.0, 1.1], [0.0, 0.0, 0.0, 0.0]]
)


def with_steps(steps: int) -> Adam:
    return replace(QUICK_ADAM, schedule=Schedule.paper().with_steps(steps))


def table(n: int = 500, seed: int = 0) -> Any:
    noise = np.random.default_rng(seed).normal(size=(n, 4))
    return noise @ np.linalg.inv(np.eye(4) - TRUTH) + 10.0


def frame() -> pd.DataFrame:
    return pd.DataFrame(table(), columns=NAMES)


def quick(**changes: Any) -> AnalyticDAG:
    return AnalyticDAG(**{**QUICK, **changes})


@pytest.fixture(scope="module")
def fitted() -> AnalyticDAG:
    return quick().fit(frame())


def test_it_finds_the_graph(fitted: AnalyticDAG) -> None:
    np.testing.assert_array_equal(fitted.adjacency_matrix_, TRUTH != 0)
    assert fitted.status_ is Status.CONVERGED


def test_the_attributes_keep_the_contract(fitted: AnalyticDAG) -> None:
    W, A = fitted.weights_, fitted.adjacency_matrix_
    assert W.dtype == np.float64
    assert W.shape == A.shape == fitted.cpdag_.shape == (4, 4)
    assert set(np.unique(A)) <= {0, 1}
    np.testing.assert_array_equal(A, W != 0)
    assert isinstance(fitted.graph_, nx.DiGraph)
    assert list(fitted.graph_) == NAMES
    assert fitted.graph_.edges["a", "b"]["weight"] == W[0, 1]
    np.testing.assert_array_equal(nx.to_numpy_array(fitted.graph_), W)
    order = fitted.causal_order_
    assert not np.tril(A[np.ix_(order, order)]).any()
    assert fitted.h_ == 0.0
    assert fitted.loss_ == "mse"
    assert [(e.source, e.target) for e in fitted.edges_] == list(fitted.graph_.edges)
    assert fitted.edges_[0].weight == W[0, 1]
    assert {e.fixed_by for e in fitted.edges_} == {FixedBy.EQUAL_VARIANCES}
    assert list(pd.DataFrame(fitted.edges_).columns)[:3] == ["source", "target", "weight"]
    assert fitted.removed_edges_ == []
    assert fitted.n_features_in_ == 4
    assert list(fitted.feature_names_in_) == NAMES
    assert fitted.n_iter_ == sum(r.step for r in fitted.trace_.stages())
    assert len(fitted.trace_.stages()) == 3
    assert set(np.unique(fitted.cpdag_)) <= {0, 1}
    assert fitted.cpdag_[0, 1] == fitted.cpdag_[1, 0] == 1  # no collider fixes a -> b


def test_without_names_the_nodes_are_numbers() -> None:
    model = quick().fit(table())
    assert list(model.graph_) == [0, 1, 2, 3]
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("make", [pl.DataFrame, lambda X: torch.tensor(X.to_numpy())])
def test_other_tables_give_the_same_graph(make: Any, fitted: AnalyticDAG) -> None:
    other = quick().fit(make(frame()))
    np.testing.assert_allclose(other.weights_, fitted.weights_, atol=1e-8)
    assert isinstance(other.weights_, np.ndarray)


@pytest.mark.parametrize("settings", [{}, {"solver": "fast", "refine": False}])
def test_compiled_solvers_take_torch_tensors(settings: dict[str, Any]) -> None:
    other = AnalyticDAG(**settings).fit(torch.tensor(table()))
    np.testing.assert_array_equal(other.weights_, AnalyticDAG(**settings).fit(table()).weights_)


def test_whole_numbers_as_names_are_names() -> None:
    numbers = frame().set_axis([3, 1, 0, 2], axis=1)
    model = AnalyticDAG().fit(numbers)
    assert list(model.graph_) == [3, 1, 0, 2]
    source, target = next(iter(model.graph_.edges))
    bound = AnalyticDAG(knowledge=Knowledge(forbidden_edges=[(source, target)])).fit(numbers)
    assert (source, target) not in bound.graph_.edges
    by_covariance = AnalyticDAG().fit_covariance(numbers.cov(), n_samples=500)
    assert list(by_covariance.graph_) == [3, 1, 0, 2]
    with pytest.raises(KnowledgeError, match="names 7, which is not a column"):
        AnalyticDAG(knowledge=Knowledge(forbidden_edges=[(7, 1)])).fit(numbers)
    ten = frame().set_axis([10, 20, 30, 40], axis=1)
    with pytest.raises(KnowledgeError, match="names 0, which is not a column"):
        AnalyticDAG(knowledge=Knowledge(forbidden_edges=[(0, 10)])).fit(ten)
    assert list(model.fit(frame()).graph_) == NAMES


@pytest.mark.parametrize("extra", [{"copy": lambda X: X["a"]}, {"same": 7.0}])
def test_useless_columns_do_not_decide_the_loss(extra: dict[str, Any]) -> None:
    with pytest.warns(DataWarning):
        model = AnalyticDAG().fit(frame().assign(**extra))
    assert np.isfinite([model.loss_choice_.equal, model.loss_choice_.unequal]).all()


def test_one_row_can_be_scored(fitted: AnalyticDAG) -> None:
    scores = [fitted.score(frame().iloc[[k]]) for k in range(20)]
    assert np.mean(scores) == pytest.approx(fitted.score(frame().iloc[:20]))


@pytest.mark.parametrize("n_jobs", [0, "all", 1.5, True])
def test_threads_are_counted(n_jobs: Any) -> None:
    with pytest.raises(ParameterError, match="n_jobs must be a number of threads"):
        AnalyticDAG(n_jobs=n_jobs).fit(frame())


def test_the_covariance_is_enough(fitted: AnalyticDAG) -> None:
    S = pd.DataFrame(covariance(table()), columns=NAMES, index=NAMES)
    other = quick().fit_covariance(S, n_samples=500)
    np.testing.assert_allclose(other.weights_, fitted.weights_, atol=1e-10)
    assert list(other.graph_) == NAMES
    assert list(other.feature_names_in_) == NAMES
    bare = quick().fit_covariance(S.to_numpy(), n_samples=500)
    assert list(bare.graph_) == [0, 1, 2, 3]


def test_fitting_twice_forgets_the_first_names() -> None:
    model = quick().fit(frame()).fit_covariance(covariance(table()), n_samples=500)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("loss", ["mse", "likelihood-nv", "likelihood-ev"])
def test_score_is_the_log_likelihood_of_the_model(loss: str) -> None:
    model = quick(loss=loss, lambda1=0.01).fit(table())
    held_out = table(seed=1)
    back = np.linalg.inv(np.eye(4) - model.weights_)
    implied = stats.multivariate_normal(
        table().mean(axis=0), back.T @ np.diag(model.noise_variances_) @ back
    )
    assert model.score(held_out) == pytest.approx(implied.logpdf(held_out).mean())
    pooled = len(set(model.noise_variances_)) == 1
    assert pooled == (loss == "likelihood-ev")


def test_score_is_in_the_units_of_the_data_when_standardised() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        model = quick(standardize=True, lambda1=0.001, w_threshold=0.05).fit(table())
    sd = table().std(axis=0)
    raw = sd * model.weights_ / sd[:, None]
    back = np.linalg.inv(np.eye(4) - raw)
    noise = np.diag(model.noise_variances_ * sd**2)
    implied = stats.multivariate_normal(table().mean(axis=0), back.T @ noise @ back)
    assert model.score(table(seed=1)) == pytest.approx(implied.logpdf(table(seed=1)).mean())


def test_score_needs_a_fit_and_the_same_columns(fitted: AnalyticDAG) -> None:
    with pytest.raises(NotFittedError):
        AnalyticDAG().score(table())
    with pytest.raises(DataError, match="feature names should match"):
        fitted.score(frame()[["b", "a", "c", "d"]])


def test_the_callers_data_and_parameters_are_not_changed() -> None:
    X = table()
    X.setflags(write=False)
    model = quick()
    before = dict(model.get_params())
    model.fit(X)
    assert model.get_params() == before


def test_a_fit_can_be_cloned_and_pickled(fitted: AnalyticDAG) -> None:
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.weights_, fitted.weights_)
    assert clone(fitted).get_params() == fitted.get_params()
    assert quick().set_params(lambda1=0.2).lambda1 == 0.2


def test_a_fit_is_deterministic(fitted: AnalyticDAG) -> None:
    np.testing.assert_array_equal(quick().fit(frame()).weights_, fitted.weights_)


def test_logistic_data_give_a_dag() -> None:
    sim = simulate("ER1", n_nodes=5, n_samples=400, noise="binary", seed=0)
    model = quick(loss="logistic", lambda1=0.01).fit(sim.data)
    assert is_dag(model.weights_)
    assert model.weights_.any()
    assert math.isfinite(model.score(sim.data))


@pytest.mark.parametrize(
    "constraint", ["exponential", "order-1", "order-3", Inverse() + Exponential()]
)
def test_every_constraint_learns_most_of_the_graph(constraint: Any) -> None:
    model = quick(constraint=constraint).fit(table())
    assert compare(TRUTH, model.weights_).shd <= 2
    assert is_dag(model.weights_)


def test_dagmas_way_and_exact_zeros_find_it_too() -> None:
    adam = replace(QUICK_ADAM, on_leaving="restart", proximal=True)
    np.testing.assert_array_equal(quick(solver=adam).fit(table()).adjacency_matrix_, TRUTH != 0)


def test_single_precision_finds_it_too() -> None:
    model = quick(solver=replace(QUICK_ADAM, dtype="float32")).fit(table())
    np.testing.assert_array_equal(model.adjacency_matrix_, TRUTH != 0)
    assert model.weights_.dtype == np.float64


# -- a DAG, guaranteed, and honest about how


def test_a_run_cut_short_is_a_dag_and_says_so() -> None:
    model = quick(solver=with_steps(60), w_threshold=0.0)
    with pytest.warns(NotConvergedWarning, match="used all its steps"):
        model.fit(frame())
    assert model.status_ is Status.MAX_STEPS
    assert is_dag(model.weights_)
    assert model.removed_edges_
    names = {name for edge in model.removed_edges_ for name in edge}
    assert names <= set(NAMES)
    assert not any(model.graph_.has_edge(*edge) for edge in model.removed_edges_)


def test_a_run_that_diverged_is_a_dag_and_says_so() -> None:
    with pytest.warns(NotConvergedWarning, match="became infinite or NaN"):
        model = quick(constraint="exponential", solver=Adam(1e6)).fit(frame())
    assert model.status_ is Status.DIVERGED
    assert is_dag(model.weights_)


def test_cycles_left_at_the_end_are_not_called_success() -> None:
    model = quick(w_threshold=0.0).fit(table())
    assert model.removed_edges_
    assert model.status_ is Status.CYCLES_LEFT
    assert is_dag(model.weights_)


def test_records_on_request_reach_the_trace() -> None:
    adam = replace(QUICK_ADAM, record_every=10)
    trace = quick(solver=adam).fit(table()).trace_
    assert len(trace) > len(trace.stages()) == 3
    assert all(r.reason in (None, Stop.TOLERANCE, Stop.MAX_STEPS) for r in trace)


# -- knowledge and candidates


def test_knowledge_holds() -> None:
    known = Knowledge(required_edges=[("d", "a")], forbidden_edges=[("b", "c")])
    model = quick(knowledge=known).fit(frame())
    assert model.graph_.has_edge("d", "a")
    assert not model.graph_.has_edge("b", "c")
    assert is_dag(model.weights_)


def test_a_required_edge_stays_below_the_threshold() -> None:
    known = Knowledge(required_edges=[("a", "d")])
    model = quick(knowledge=known, w_threshold=5.0).fit(frame())
    assert list(model.graph_.edges) == [("a", "d")]


def test_tiers_and_parent_limits_hold() -> None:
    known = Knowledge(tiers=[["d"], ["a", "b", "c"]], max_parents=1)
    model = quick(knowledge=known).fit(frame())
    assert model.adjacency_matrix_.sum(axis=0).max() <= 1
    assert not model.adjacency_matrix_[:, 3].any()


def test_knowledge_is_checked_before_the_first_iteration() -> None:
    with pytest.raises(KnowledgeError, match="'aa', which is not a column; did you mean 'a'"):
        quick(knowledge=Knowledge(required_edges=[("aa", "b")])).fit(frame())


def test_candidates_restrict_the_graph() -> None:
    mask = np.ones((4, 4), dtype=bool)
    mask[0, 1] = False
    assert not quick(candidates=mask).fit(table()).adjacency_matrix_[0, 1]
    for name in ("correlation", "markov"):
        model = quick(candidates=name).fit(table())
        np.testing.assert_array_equal(model.adjacency_matrix_, TRUTH != 0)


# -- data that are not as they should be


def test_bad_data_are_refused_by_column() -> None:
    bad = frame()
    bad.loc[3, "c"] = np.nan
    with pytest.raises(DataError, match=r"X has NaN in columns \['c'\]; impute or drop them"):
        quick().fit(bad)


def test_a_constant_column_is_an_isolated_node() -> None:
    X = frame().assign(e=1.0)
    for loss in ("mse", "likelihood-nv"):
        with pytest.warns(DataWarning, match=r"\['e'\] are constant"):
            model = quick(loss=loss, lambda1=0.01).fit(X)
        assert nx.is_isolate(model.graph_, "e")
        assert model.graph_.number_of_edges() >= 3
        assert math.isfinite(model.score(X))


def test_duplicate_and_collinear_columns_give_a_dag_and_a_warning() -> None:
    twin = frame().assign(e=lambda t: t["a"])
    with pytest.warns(DataWarning, match=r"\('a', 'e'\)\] are copies"):
        assert is_dag(quick().fit(twin).weights_)
    total = frame().assign(e=lambda t: t["a"] + t["c"])
    with pytest.warns(DataWarning, match=r"e = a \+ c: edges among these columns"):
        assert is_dag(quick().fit(total).weights_)


@pytest.mark.parametrize("loss", ["mse", "likelihood-nv"])
def test_extreme_scales_give_a_dag(loss: str) -> None:
    X = table() * np.array([1e9, 1.0, 1e-9, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        model = quick(loss=loss, solver=with_steps(200)).fit(X)
    assert is_dag(model.weights_)
    assert np.isfinite(model.weights_).all()


def test_fewer_rows_than_columns_give_a_dag() -> None:
    X = np.random.default_rng(0).normal(size=(3, 6))
    assert is_dag(quick().fit(X).weights_)


def test_standardised_data_are_warned_of_once() -> None:
    X = table()
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    with pytest.warns(ScaleWarning, match="use loss='likelihood-nv'") as caught:
        quick().fit(X)
    assert sum(issubclass(w.category, ScaleWarning) for w in caught) == 1
    with pytest.warns(ScaleWarning):
        quick(standardize=True).fit(table())
    quick(loss="likelihood-nv", lambda1=0.01).fit(X)


# -- refusals


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of .*not 'hinge'"),
        ({"solver": "sgd"}, "solver must be .*not 'sgd'"),
        ({"lambda1": -1.0}, "lambda1 must be a number of at least 0"),
        ({"w_threshold": "cv"}, "w_threshold must be a number of at least 0"),
        ({"constraint": "order-0"}, "constraint 'order-0' is not known"),
        ({"knowledge": {"required": []}}, "knowledge must be a Knowledge or None, not dict"),
        ({"solver": Adam(device="nowhere")}, "device='nowhere' cannot be used here"),
        ({"checkpoint": 3}, "checkpoint must be the name of a file or None, not 3"),
        ({"loss": "logistic", "standardize": True}, "needs 0/1 data, which standardize=True"),
        ({"loss": "logistic", "covariance": "rank"}, "covariance='rank' would do nothing; use"),
    ],
)
def test_parameters_are_checked(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        quick(**changes).fit(table())


def test_logistic_needs_bits_and_rows() -> None:
    with pytest.raises(DataError, match="needs 0/1 data"):
        quick(loss="logistic").fit(table())
    with pytest.raises(ParameterError, match="needs the rows, which fit_covariance does not have"):
        quick(loss="logistic").fit_covariance(np.eye(2), n_samples=10)


# -- the package


def test_the_package_offers_it_without_importing_much() -> None:
    code = (
        "import analyticdag, sys; print(sorted({'numpy', 'sklearn', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert {"AnalyticDAG", "Knowledge"} <= set(dir(analyticdag))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        analyticdag.Nothing  # noqa: B018


def test_a_larger_graph_is_found_well() -> None:
    sim = simulate("ER2", n_nodes=15, n_samples=1000, noise="gaussian", seed=0)
    model = quick(constraint="order-1").fit(sim.data)
    assert compare(sim.weights, model.weights_).shd <= 6
