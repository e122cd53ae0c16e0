"""The exact path, the order search, and both: knowledge holds through all of it."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.errors import NotConvergedWarning, ParameterError, ScaleWarning
from analyticdag.fitting.statistics import Statistics
from analyticdag.functions import Exponential, Inverse
from analyticdag.graphs import is_dag, to_cpdag
from analyticdag.linear.options import Options
from analyticdag.linear.paths import Start
from analyticdag.linear.prepare import Fit
from analyticdag.metrics import compare
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.columns import Columns
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import Status
from analyticdag.simulate import simulate

ENGINES: dict[str, dict[str, Any]] = {
    "default": {},
    "path alone": {"refine": False, "loss": "mse"},
    "path of both losses": {"refine": False},
    "search alone": {"solver": "order"},
    "equal variances": {"loss": "likelihood-ev"},
    "unequal variances": {"loss": "likelihood-nv"},
}
NAMES = list("abcdef")


def data(**changes: Any) -> Any:
    settings = {"n_nodes": 6, "n_samples": 1000, "noise": "gaussian", "seed": 3, **changes}
    return simulate("ER1", **settings)


def frame() -> pd.DataFrame:
    return pd.DataFrame(np.asarray(data().data), columns=NAMES)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_the_class_of_the_graph(engine: str) -> None:
    model = AnalyticDAG(**ENGINES[engine]).fit(frame())
    assert is_dag(model.weights_)
    np.testing.assert_array_equal(model.cpdag_, to_cpdag(data().weights != 0))
    assert model.status_.converged
    assert list(model.graph_) == NAMES


@pytest.mark.parametrize("engine", ["default", "equal variances", "path alone"])
def test_equal_variances_give_the_directions_too(engine: str) -> None:
    sim = simulate("ER2", n_nodes=15, n_samples=2000, noise="gaussian", seed=0)
    shd = compare(sim.weights, AnalyticDAG(**ENGINES[engine]).fit(sim.data).weights_).shd
    assert shd <= (3 if engine == "path alone" else 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_knowledge_holds_through_every_engine(engine: str) -> None:
    known = Knowledge(
        required_edges=[("f", "a")],
        forbidden_edges=[("a", "b"), ("b", "c")],
        tiers=[["f"], ["a", "b", "c", "d", "e"]],
        max_parents=2,
    )
    model = AnalyticDAG(knowledge=known, **ENGINES[engine]).fit(frame())
    assert model.graph_.has_edge("f", "a")
    assert not model.graph_.has_edge("a", "b")
    assert not model.graph_.has_edge("b", "c")
    assert model.graph_.in_degree("f") == 0
    assert model.adjacency_matrix_.sum(axis=0).max() <= 2
    assert is_dag(model.adjacency_matrix_)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_survives_difficult_tables(engine: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) @ np.triu(np.ones((5, 5)))
    tables = {
        "constant": np.column_stack([X, np.ones(60)]),
        "copies": np.column_stack([X, X[:, 0]]),
        "scales": X * np.array([1e9, 1.0, 1e-9, 1.0, 1.0]),
        "wide": X[:4],
        "one column": X[:, :1],
    }
    for name, table in tables.items():
        with pytest.warns() if name in ("constant", "copies") else nullcontext():
            model = AnalyticDAG(**ENGINES[engine]).fit(table)
        assert is_dag(model.weights_), name
        assert np.isfinite(model.weights_).all(), name
        assert np.isfinite(model.score(table)), name


@pytest.mark.parametrize(
    "constraint", ["exponential", "order-1", "order-4", Inverse() + Exponential()]
)
def test_the_exact_path_takes_any_constraint(constraint: Any) -> None:
    model = AnalyticDAG(constraint=constraint, refine=False, loss="mse").fit(frame())
    np.testing.assert_array_equal(model.adjacency_matrix_, data().weights != 0)


def path_of(**settings: Any) -> AnalyticDAG:
    return AnalyticDAG(**{"refine": False, "loss": "mse", **settings})


@pytest.mark.parametrize(
    ("solver", "start", "name"),
    [("fast", None, "variance"), ("fast", "zero", "zero"), ("adam", None, "zero")],
)
def test_the_trace_says_where_the_path_began(solver: str, start: Any, name: str) -> None:
    short = Schedule([Stage(1.0, max_steps=5)])
    minimiser = Adam(schedule=short, start=start) if solver == "adam" else Columns(start=start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        model = path_of(solver=minimiser).fit(frame())
    assert model.trace_.start == name
    assert is_dag(model.weights_)


@pytest.mark.parametrize("settings", [{}, {"standardize": True, "loss": "likelihood-nv"}])
def test_a_path_may_begin_where_another_ended(settings: dict[str, Any]) -> None:
    first = path_of(**settings).fit(frame())
    last_stage = Schedule(Schedule.gentle().stages[-1:])
    there = Columns(start=first.weights_, schedule=last_stage)
    again = path_of(solver=there, **settings).fit(frame())
    assert again.trace_.start == "given"
    np.testing.assert_array_equal(again.adjacency_matrix_, first.adjacency_matrix_)
    # The start made the difference: from zero, the last stage alone ends elsewhere.
    zero = Columns(start="zero", schedule=last_stage)
    from_zero = path_of(solver=zero, **settings).fit(frame())
    assert (from_zero.adjacency_matrix_ != first.adjacency_matrix_).any()


def test_a_given_start_follows_the_units_of_the_path() -> None:
    X = frame().to_numpy() * [1e3, 1.0, 1e-3, 1.0, 10.0, 1.0]
    statistics = Statistics.from_table(X, list(NAMES), standardize=False)
    W = AnalyticDAG().fit(X).weights_
    model = AnalyticDAG(loss="likelihood-nv", solver=Columns(start=W))
    fit = Fit(statistics, Options.of(model))
    seen, moved = fit.for_starts, Start.of(fit).weights
    assert moved is not None
    np.testing.assert_allclose(
        seen.moments.residual_variances(moved),
        statistics.moments.residual_variances(W) / np.diag(statistics.S),
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "random"}, "start must be one of .*'zero', 'variance'.* or weights"),
        ({"start": np.zeros((2, 2))}, r"got shape \(2, 2\)"),
        ({"start": np.full((6, 6), np.nan)}, "NaN or infinite"),
        ({"start": np.eye(6)}, "an edge that may not exist; set it to 0"),
        ({"start": [["a"]]}, "start must hold numbers"),
    ],
)
def test_a_start_that_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        path_of(solver=Columns(**settings)).fit(frame())


def test_a_fit_depends_on_the_seed_only() -> None:
    one = AnalyticDAG(random_state=1, n_jobs=1).fit(frame())
    two = AnalyticDAG(random_state=1, n_jobs=2).fit(frame())
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.trace_ == two.trace_
    again = AnalyticDAG().fit(frame())
    np.testing.assert_array_equal(AnalyticDAG().fit(frame()).weights_, again.weights_)


def test_the_trace_says_which_start_won_and_what_each_gave() -> None:
    model = AnalyticDAG(loss="likelihood-nv").fit(frame())
    (record,) = model.trace_.search
    starts = {c["start"] for c in record.contributions}
    assert starts == {"path", "conditional-variance", "r2", "random-1", "random-2"}
    assert record.start in starts
    assert all(c["iterated"] <= c["initial"] for c in record.contributions)
    assert record.to_dict()["start"] == record.start
    assert len(model.trace_.stages()) == len(Schedule.gentle().stages)
    assert model.status_ is Status.CLASS_FOUND
    alone = AnalyticDAG(solver="order", loss="likelihood-nv").fit(frame())
    assert "path" not in {c["start"] for c in alone.trace_.search[0].contributions}
    assert not alone.trace_.stages()


def test_auto_says_what_it_chose_and_by_how_much() -> None:
    model = AnalyticDAG().fit(frame())
    assert model.loss_ == model.loss_choice_.loss == "likelihood-ev"
    assert model.loss_choice_.equal < model.loss_choice_.unequal
    assert model.loss_choice_.margin > 0
    assert [record.loss for record in model.trace_.search] == ["likelihood-ev"]  # that settled it
    assert len(set(model.noise_variances_)) == 1
    scaled = AnalyticDAG().fit(frame() * [1, 2, 3, 4, 5, 6])
    assert scaled.loss_ == "likelihood-nv"
    # The columns alone rule equal variances out: they are not searched.
    assert [record.loss for record in scaled.trace_.search] == ["likelihood-nv"]
    assert AnalyticDAG(loss="mse", solver="order").fit(frame()).loss_choice_ is None


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_auto_is_not_fooled_by_weak_effects_on_standardised_data(seed: int) -> None:
    weak = simulate(
        "ER1", n_nodes=20, n_samples=3000, standardize=True, weight_range=(0.1, 0.5), seed=seed
    )
    model = AnalyticDAG(solver="order").fit(weak.data)
    assert model.loss_ == "likelihood-nv"
    assert compare(weak.weights, model.weights_).shd_cpdag <= 3


@pytest.mark.parametrize("noise", ["exponential", "gumbel", "uniform"])
def test_auto_sees_equal_variances_under_other_noises(noise: str) -> None:
    assert AnalyticDAG(solver="order").fit(data(noise=noise).data).loss_ == "likelihood-ev"


@pytest.mark.parametrize("settings", [{}, {"solver": "order"}, {"solver": "fast"}])
@pytest.mark.parametrize(("code", "seed"), [("ER2", 0), ("ER2", 1), ("ER4", 2), ("ER4", 5)])
def test_rescaling_changes_nothing_when_variances_are_free(
    code: str, seed: int, settings: dict[str, Any]
) -> None:
    X = simulate(code, n_nodes=15, n_samples=120, noise_scale=(0.5, 1.5), seed=seed).data
    rng = np.random.default_rng(seed)
    model = AnalyticDAG(loss="likelihood-nv", **settings).fit(X)
    scales = 10.0 ** rng.uniform(-3.0, 3.0, 15)
    for factor in (scales, np.where(np.arange(15) == seed, 1000.0, 1.0)):
        other = AnalyticDAG(loss="likelihood-nv", **settings).fit(X * factor)
        np.testing.assert_array_equal(model.cpdag_, other.cpdag_)
        np.testing.assert_allclose(
            other.weights_, model.weights_ * factor / factor[:, None], rtol=1e-6, atol=1e-9
        )


def test_auto_is_silent_about_standardised_data() -> None:
    X = (frame() - frame().mean()) / frame().std()
    assert AnalyticDAG().fit(X).loss_ == "likelihood-nv"
    with pytest.warns(ScaleWarning):
        AnalyticDAG(loss="likelihood-ev", solver="order").fit(X)


def test_both_paths_of_auto_share_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fit.npz"
    first = AnalyticDAG(loss="auto", refine=False, checkpoint=file).fit(frame())
    assert list(tmp_path.iterdir()) == [file]
    monkeypatch.delattr(Columns, "minimise")
    again = AnalyticDAG(loss="auto", refine=False, checkpoint=file).fit(frame())
    np.testing.assert_array_equal(first.weights_, again.weights_)
    assert first.loss_choice_ == again.loss_choice_


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"solver": "order", "refine": False}, "refine=False would leave nothing to do"),
        ({"solver": "order", "checkpoint": "file"}, "solver='order' has none"),
        ({"loss": "logistic", "solver": "fast"}, "is for the path of Adam: leave solver at 'auto'"),
        ({"loss": "logistic", "solver": "order"}, "leave solver at 'auto', or use 'adam'"),
    ],
)
def test_combinations_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        AnalyticDAG(**changes).fit(frame())
