"""`NonlinearDAG`: always a DAG, knowledge kept, refusals, seeds, scores, files."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from analyticdag import Knowledge, NonlinearDAG
from analyticdag.diagnostics import diagnose
from analyticdag.errors import (
    DataError,
    DataWarning,
    MissingDependencyError,
    NotConvergedWarning,
    ParameterError,
    ScaleWarning,
)
from analyticdag.fitting.edges import FixedBy
from analyticdag.functions import Exponential, Inverse
from analyticdag.graphs import is_dag
from analyticdag.io import load_run, record_of, save_run
from analyticdag.nonlinear import gran_dag
from analyticdag.optimize.trace import Status
from analyticdag.report import render_report
from analyticdag.simulate import simulate

FEW_STEPS = pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
MODELS = pytest.mark.parametrize("model", ["gran-dag", "mlp"])


def bent(n: int = 150, seed: int = 0) -> np.ndarray:
    """0 -> 1 -> 2 by curves that no line can follow back, and 3 on its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = np.sin(2.0 * X[:, 0]) + X[:, 0] + 0.3 * X[:, 1]
    X[:, 2] = 2.0 * np.tanh(2.0 * X[:, 1]) + 0.3 * X[:, 2]
    return X


def quick(model: str = "gran-dag", **changes: Any) -> NonlinearDAG:
    steps = 50 if model == "gran-dag" else 10
    return NonlinearDAG(model, **{"max_steps": steps, "random_state": 0, **changes})


@pytest.mark.parametrize(
    ("refine", "variance", "status"),
    [(True, "auto", Status.SEARCHED), (False, "equal", Status.CONVERGED)],
)
def test_mlp_finds_bent_equations(refine: bool, variance: str, status: Status) -> None:
    model = NonlinearDAG("mlp", refine=refine, variance=variance).fit(bent())
    assert {(e.source, e.target) for e in model.edges_} == {(0, 1), (1, 2)}
    assert model.status_ is status
    assert model.n_iter_ == sum(record.step for record in model.trace_)
    assert [record.start for record in model.trace_.search] == ["networks"] * refine


@FEW_STEPS
def test_the_search_goes_on_from_the_networks_and_says_what_it_did() -> None:
    alone, both = (quick(refine=refine).fit(bent()) for refine in (False, True))
    assert alone.trace_.search == ()
    assert alone.trace_.records == both.trace_.records
    (record,) = both.trace_.search
    assert record.loss == both.loss_
    assert [end["start"] for end in record.contributions] == ["networks", "no edges"]
    assert record.score == min(end["score"] for end in record.contributions)


@FEW_STEPS
@pytest.mark.filterwarnings("ignore::analyticdag.errors.DataWarning")
def test_constant_columns_have_no_part_in_the_search() -> None:
    X = bent()
    with_constant = np.insert(X, 2, 7.0, axis=1)
    knowledge = Knowledge(required_edges=[(2, 0)])
    fitted = quick("mlp", knowledge=knowledge).fit(with_constant)
    edges = {(e.source, e.target) for e in fitted.edges_}
    assert edges == {(0, 1), (1, 3), (2, 0)}


@FEW_STEPS
@pytest.mark.filterwarnings("ignore::analyticdag.errors.DataWarning")
@pytest.mark.parametrize(
    "knowledge",
    [
        Knowledge(required_edges=[(3, 2), (2, 0)]),  # a way from 3 to 0 through the constant
        Knowledge(required_edges=[(2, 3)], max_parents=1),
    ],
)
def test_required_edges_of_constant_columns_count_in_the_search(knowledge: Knowledge) -> None:
    X = simulate("ER2", n_nodes=6, n_samples=150, mechanism="mlp", seed=1).data
    X[:, 2] = 3.0
    fitted = quick("mlp", knowledge=knowledge).fit(X)
    A = fitted.adjacency_matrix_
    assert is_dag(A)
    assert all(A[edge] for edge in knowledge.required_edges)
    assert knowledge.max_parents is None or A.sum(axis=0).max() <= knowledge.max_parents


@FEW_STEPS
@pytest.mark.filterwarnings("ignore::analyticdag.errors.DataWarning")
def test_a_table_of_constants_has_no_edges() -> None:
    assert quick("mlp").fit(np.ones((50, 4))).edges_ == ()


@FEW_STEPS
def test_the_search_is_reported_to_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="analyticdag"):
        quick("mlp", verbose=1).fit(bent(80))
    assert [r.message.split(":")[0] for r in caplog.records[-2:]] == [
        "search from networks",
        "search from no edges",
    ]


@FEW_STEPS
@MODELS
def test_saved_runs_give_the_advice_of_the_model(model: str) -> None:
    with pytest.warns(NotConvergedWarning) as caught:
        fitted = quick(model).fit(bent(60))
    assert record_of(fitted).advice == fitted.advice_ == str(caught[0].message)


@FEW_STEPS
@MODELS
@pytest.mark.parametrize(
    ("constraint", "dtype"),
    [("exponential", "float32"), ("order-3", "float64"), (Exponential() + Inverse(2.0), "float64")],
)
def test_every_run_ends_with_a_dag_and_a_status(model: str, constraint: Any, dtype: str) -> None:
    fitted = quick(model, constraint=constraint, dtype=dtype, pruning=False).fit(bent(60))
    A = fitted.adjacency_matrix_
    assert is_dag(A)
    assert fitted.h_ == 0.0
    assert isinstance(fitted.status_, Status)
    position = np.argsort(fitted.causal_order_)
    assert all(position[i] < position[j] for i, j in np.argwhere(A))
    assert np.array_equal(fitted.weights_ != 0.0, (A != 0) & (fitted.weights_ != 0.0))
    assert np.isfinite(fitted.weights_).all()


@FEW_STEPS
@pytest.mark.parametrize(
    ("model", "variance"), [("gran-dag", "learned"), ("gran-dag", "constant"), ("mlp", "constant")]
)
def test_models_without_equal_variances_do_not_see_units(model: str, variance: str) -> None:
    units = np.array([1.0, 1024.0, 1.0 / 128.0, 1.0])  # powers of two: not a bit is rounded
    plain = quick(model, variance=variance).fit(bent())
    scaled = quick(model, variance=variance).fit(bent() * units)
    np.testing.assert_array_equal(scaled.adjacency_matrix_, plain.adjacency_matrix_)
    np.testing.assert_allclose(scaled.weights_, plain.weights_ * units / units[:, None])
    shift = np.log(units).sum()
    assert scaled.score(bent() * units) == pytest.approx(plain.score(bent()) - shift)


@FEW_STEPS
@MODELS
def test_the_seed_decides(model: str) -> None:
    first, again = (quick(model).fit(bent(80)) for _ in range(2))
    np.testing.assert_array_equal(first.weights_, again.weights_)
    assert first.trace_ == again.trace_
    other = quick(model, random_state=1).fit(bent(80))
    assert other.trace_ != first.trace_


@FEW_STEPS
@MODELS
def test_knowledge_is_kept(model: str) -> None:
    knowledge = Knowledge(
        required_edges=[("c", "d")], forbidden_edges=[("b", "c"), ("c", "b")], max_parents=1
    )
    table = pd.DataFrame(bent(80), columns=list("abcd"))
    fitted = quick(model, knowledge=knowledge).fit(table)
    assert fitted.graph_.has_edge("c", "d")
    assert not fitted.graph_.has_edge("b", "c")
    assert not fitted.graph_.has_edge("c", "b")
    assert fitted.adjacency_matrix_.sum(axis=0).max() <= 1
    labels = {(e.source, e.target): e.fixed_by for e in fitted.edges_}
    assert labels["c", "d"] is FixedBy.KNOWLEDGE


@FEW_STEPS
def test_neighbours_restrict_what_is_trained() -> None:
    fitted = quick(neighbours=True, pruning=False).fit(bent())
    assert not fitted.adjacency_matrix_[3, 1]


def test_the_score_prefers_the_data_it_was_fitted_to() -> None:
    fitted = NonlinearDAG("mlp").fit(bent())
    alike, shuffled = bent(seed=1), np.random.default_rng(2).permuted(bent(seed=1), axis=0)
    assert fitted.score(alike) > fitted.score(shuffled)
    empty = NonlinearDAG("mlp", lambda1=10.0, refine=False).fit(bent())
    assert fitted.score(alike) > empty.score(alike)


def test_directions_that_only_the_equations_fix_say_so() -> None:
    fitted = NonlinearDAG("mlp", variance="constant").fit(bent())
    assert {e.fixed_by for e in fitted.edges_} <= {FixedBy.EQUATIONS, FixedBy.COLLIDER}
    assert all(np.isnan(e.standard_error) for e in fitted.edges_)
    assert not any(e.near_threshold for e in fitted.edges_)


@FEW_STEPS
def test_a_fit_is_saved_and_reported(tmp_path: Path) -> None:
    table = pd.DataFrame(bent(), columns=list("abcd"))
    fitted = NonlinearDAG("mlp").fit(table)
    run = load_run(save_run(record_of(fitted), tmp_path / "run"))
    assert {run.edge_names(edge) for edge in run.edges} == {("a", "b"), ("b", "c")}
    page = render_report(run)
    assert "nonlinear structural equation model" in page
    assert "F-test at level 0.001 were dropped" in page
    assert "linear effects" not in page
    assert {check.name for check in diagnose(fitted, table)} >= {"constant columns", "few values"}


def test_a_run_that_diverges_says_so_and_still_gives_a_dag(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    likelihood = gran_dag.negative_log_likelihood
    monkeypatch.setattr(
        gran_dag, "negative_log_likelihood", lambda *arguments: math.nan * likelihood(*arguments)
    )
    with pytest.warns(NotConvergedWarning, match="infinite or NaN"):
        fitted = quick().fit(bent(60))
    assert fitted.status_ is Status.DIVERGED
    assert is_dag(fitted.adjacency_matrix_)
    assert np.isfinite(fitted.weights_).all()


@MODELS
def test_constant_columns_stay_alone(model: str) -> None:
    X = bent(60)
    X[:, 2] = 7.0
    with pytest.warns() as caught:
        fitted = quick(model).fit(X)
    assert {w.category for w in caught} <= {DataWarning, NotConvergedWarning}
    assert not fitted.adjacency_matrix_[2].any()
    assert not fitted.adjacency_matrix_[:, 2].any()
    assert np.isfinite(fitted.score(X))


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
@MODELS
@pytest.mark.parametrize("shape", [(2, 3), (5, 1), (3, 6)])
def test_tiny_tables_give_some_dag(model: str, shape: tuple[int, int]) -> None:
    fitted = quick(model).fit(np.random.default_rng(0).normal(size=shape))
    assert is_dag(fitted.adjacency_matrix_)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], "NaN in columns \\[1\\]"),
        ([[1.0, 2.0]], "at least 2"),
        (np.array([["a", "1"], ["b", "2"]], dtype=object), "text"),
    ],
)
def test_bad_tables_are_refused(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        quick().fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "forest"}, "model must be one of"),
        ({"dtype": "float16"}, "dtype must be one of"),
        ({"variance": "equal"}, "for model='gran-dag', not 'equal'"),
        ({"model": "mlp", "variance": "learned"}, "for model='mlp', not 'learned'"),
        ({"lambda1": 0.1}, "lambda1 belongs to model='mlp'"),
        ({"w_threshold": 0.1}, "w_threshold belongs to model='mlp'"),
        ({"model": "mlp", "lambda1": -1.0}, "lambda1 must be a number of at least 0"),
        ({"pruning": 2.0}, "pruning must be True, False .* at most 1"),
        ({"pruning": 0}, "pruning must be True, False for no pruning"),
        ({"dtype": np.dtype("float64")}, "dtype must be one of"),
        ({"checkpoint": "no/such/folder/fit.npz"}, "in a folder that does not exist; create"),
        ({"random_state": "lucky"}, "random_state must be a numpy RandomState, None, or a whole"),
        ({"neighbours": "yes"}, "neighbours must be True, False or None"),
        ({"hidden_units": 0}, "hidden_units must be a whole number"),
        ({"max_steps": 1.5}, "max_steps must be a whole number"),
        ({"knowledge": {}}, "knowledge must be a Knowledge"),
        ({"checkpoint": 3}, "checkpoint must be the name of a file"),
        ({"constraint": "order-0"}, "constraint 'order-0' is not known"),
        ({"device": "abacus"}, "device='abacus' cannot be used here; use 'auto' or 'cpu'"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        NonlinearDAG(**parameters).fit(bent(20))


def test_standardised_data_are_pointed_out_where_scales_matter() -> None:
    X = bent()
    with pytest.warns(ScaleWarning, match="variance='constant'"):
        quick("mlp", variance="equal", max_steps=1000).fit((X - X.mean(axis=0)) / X.std(axis=0))


def test_it_is_cloned_with_all_its_parameters() -> None:
    model = NonlinearDAG("mlp", constraint=Inverse(2.0), pruning=0.01, dtype="float32")
    assert clone(model).get_params() == model.get_params()


def test_without_torch_one_line_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch':\n"
        "            raise ModuleNotFoundError('no torch', name='torch')\n"
        "sys.meta_path.insert(0, Gone())\n"
        "from analyticdag import NonlinearDAG\n"
        "NonlinearDAG().fit([[1.0, 2.0], [2.0, 1.0]])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith(MissingDependencyError.__module__)
    assert "torch is not installed; run: pip install 'analyticdag[nonlinear]'" in last


def test_the_estimator_is_known_without_torch_being_imported() -> None:
    script = "import sys; from analyticdag import NonlinearDAG; print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout.strip() == "False"
