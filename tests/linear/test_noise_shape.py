"""`AnalyticDAG` and the shape of the noise: labels, class, weights, and all that repeats them."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.datasets import load_sachs
from analyticdag.diagnostics import diagnose
from analyticdag.effects import total_effect
from analyticdag.fitting.edges import FixedBy
from analyticdag.graphs import to_cpdag
from analyticdag.io import load_run, record_of, save_run
from analyticdag.io.formats import edges_csv
from analyticdag.least_squares import weights_on_parents
from analyticdag.metrics import compare
from analyticdag.simulate import simulate


def problem(noise: str, seed: int = 1, n: int = 1000) -> tuple[np.ndarray, pd.DataFrame]:
    drawn = simulate(
        "ER1",
        n_nodes=15,
        n_samples=n,
        noise=noise,
        standardize=True,
        seed=seed,  # type: ignore[arg-type]
    )
    return drawn.weights, pd.DataFrame(drawn.data, columns=[f"x{k}" for k in range(15)])


@pytest.fixture(scope="module")
def fitted() -> tuple[np.ndarray, pd.DataFrame, AnalyticDAG]:
    W, X = problem("exponential")
    return W, X, AnalyticDAG(solver="order").fit(X)


def labelled(model: AnalyticDAG) -> list[tuple[str, str]]:
    return [(e.source, e.target) for e in model.edges_ if e.fixed_by is FixedBy.NOISE_SHAPE]  # type: ignore[misc]


def test_open_edges_are_fixed_and_the_markov_class_stays(fitted: tuple) -> None:
    W, _, model = fitted
    assert compare(W, model.weights_).shd == 0
    assert_array_equal(model.cpdag_, to_cpdag(W != 0))
    n_open = int((model.cpdag_ & model.cpdag_.T).sum()) // 2
    assert n_open > 0
    assert len(labelled(model)) == n_open
    assert not any(is_open for *_, is_open in model.class_graph_.edges.data("open"))
    assert nx.is_directed_acyclic_graph(model.class_graph_)


def test_margins_are_there_exactly_where_the_class_is_open(fitted: tuple) -> None:
    model = fitted[2]
    for edge in model.edges_:
        asked = edge.fixed_by is FixedBy.NOISE_SHAPE
        assert (edge.margin is not None) == asked
        assert not asked or edge.margin >= 3.0


def test_weights_are_least_squares_on_the_parents_that_were_chosen(fitted: tuple) -> None:
    model = fitted[2]
    expected = weights_on_parents(model.moments_, model.adjacency_matrix_ != 0)
    assert_allclose(model.weights_, expected, atol=1e-9)


def test_the_reason_says_what_the_noise_contributed(fitted: tuple) -> None:
    assert f"the shape of the noise fixes {len(labelled(fitted[2]))} of" in (
        fitted[2].loss_choice_.reason
    )
    model = AnalyticDAG(solver="order").fit(problem("gaussian")[1])
    assert "too close to Gaussian, or the rows are too few, to fix any" in model.loss_choice_.reason
    assert labelled(model) == []


def test_noise_that_depends_on_its_causes_is_not_called_gaussian() -> None:
    # Expression levels, skewed and bent: their noise is anything but Gaussian.
    X = load_sachs().values
    model = AnalyticDAG(standardize=True, solver="order", covariance="sample").fit(X)
    assert labelled(model) == []
    assert "the noise depends on the causes, so its shape fixes none" in model.loss_choice_.reason


def test_a_covariance_has_no_shape() -> None:
    _, X = problem("exponential")
    model = AnalyticDAG(solver="order").fit_covariance(X.cov(), n_samples=len(X))
    assert labelled(model) == []
    assert all(edge.margin is None for edge in model.edges_)


def test_equal_variances_and_paths_are_left_alone() -> None:
    drawn = simulate("ER1", n_nodes=10, n_samples=800, noise="exponential", seed=2)
    for options in ({"loss": "likelihood-ev"}, {"refine": False}):
        assert labelled(AnalyticDAG(**options).fit(drawn.data)) == []


def test_knowledge_comes_first(fitted: tuple) -> None:
    _, X, model = fitted
    source, target = labelled(model)[0]
    against = AnalyticDAG(solver="order", knowledge=Knowledge(forbidden_edges=[(source, target)]))
    found = {(e.source, e.target): e.fixed_by for e in against.fit(X).edges_}
    assert (source, target) not in found
    assert found.get((target, source), FixedBy.KNOWLEDGE) is FixedBy.KNOWLEDGE


def test_rows_with_gaps_are_left_out() -> None:
    _, X = problem("exponential")
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.01)
    model = AnalyticDAG(solver="order", missing="em").fit(holes)
    assert len(labelled(model)) > 0
    few = AnalyticDAG(solver="order", missing="em").fit(holes.iloc[:90])
    assert labelled(few) == []


def test_the_places_of_the_columns_do_not_matter(fitted: tuple) -> None:
    _, X, model = fitted
    other = AnalyticDAG(solver="order").fit(X[X.columns[::-1]])
    assert sorted(labelled(other)) == sorted(labelled(model))


def test_effects_honour_the_directions(fitted: tuple) -> None:
    model = fitted[2]
    source, target = labelled(model)[0]
    assert total_effect(model, source, target).identified
    assert total_effect(model, target, source).value == 0.0


def test_saved_runs_and_files_have_label_and_margin(fitted: tuple, tmp_path: Path) -> None:
    model = fitted[2]
    run = record_of(model)
    source, target = labelled(model)[0]
    margin = next(e.margin for e in model.edges_ if (e.source, e.target) == (source, target))
    save_run(run, tmp_path / "run")
    again = load_run(tmp_path / "run")
    assert again.edges == run.edges
    assert again.to_estimator().edges_[0].margin == model.edges_[0].margin
    table = pd.read_csv(StringIO(edges_csv(run)))
    row = table[(table.source == source) & (table.target == target)].iloc[0]
    assert row.direction_fixed_by == "noise shape"
    assert_allclose(row.direction_margin, margin)


def test_the_residual_check_does_not_doubt_a_direction_that_the_noise_fixed() -> None:
    from analyticdag.diagnostics.residuals import check_residual_independence

    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    y = x**2
    X, residuals = np.stack([x, y], axis=1), np.stack([x, y - y.mean()], axis=1)
    edge = np.array([[False, True], [False, False]])
    few = np.zeros(2, dtype=bool)
    doubted = check_residual_independence(X, residuals, edge, few, ["x", "y"])
    settled = check_residual_independence(X, residuals, edge, few, ["x", "y"], [("x", "y")])
    assert "points the other way" in doubted.advice
    assert "points the other way" not in settled.advice
    assert "not linear" in settled.advice


def test_diagnose_passes_the_labels_on(fitted: tuple) -> None:
    _, X, model = fitted
    advice = {check.name: check.advice for check in diagnose(model, X, refit=False).checks}
    for source, target in labelled(model):
        assert f"('{source}', '{target}')" not in advice["residual independence"]


def test_nothing_is_claimed_where_the_noise_depends_on_the_causes_at_many_edges() -> None:
    """Sachs' cells: a margin of six had fixed one edge, and that against what is known of it."""
    cells = load_sachs(log=True).columns.values.round(4)
    model = AnalyticDAG().fit(cells)
    assert "the noise depends on the causes" in model.loss_choice_.reason
    assert {edge.fixed_by for edge in model.edges_} == {FixedBy.NOTHING}


@pytest.mark.parametrize("seed", range(3))
def test_a_turn_never_closes_a_cycle_with_a_required_edge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.exponential(size=600)
    b = 0.8 * a + rng.exponential(size=600)
    c = 0.8 * b + rng.exponential(size=600)
    against = Knowledge(required_edges=[("c", "a")])  # the noise has a cause b, b cause c
    table = pd.DataFrame({"a": a, "b": b, "c": c})
    model = AnalyticDAG(standardize=True, knowledge=against).fit(table)
    assert nx.is_directed_acyclic_graph(model.graph_)
    assert model.graph_.has_edge("c", "a")


def skewed(n: int, *slopes: float) -> AnalyticDAG:
    """Fit a chain of columns with exponential noise."""
    columns = list((np.random.default_rng(3).exponential(size=(n, len(slopes) + 1)) - 1.0).T)
    for k, slope in enumerate(slopes):
        columns[k + 1] += slope * columns[k]
    X = np.column_stack(columns)
    return AnalyticDAG(solver="order").fit(X / X.std(axis=0))


def test_no_direction_is_claimed_of_an_edge_that_is_not_probable() -> None:
    model = skewed(300, 0.2)
    (edge,) = model.edges_
    assert edge.probability < 0.9
    assert edge.margin > 5.0
    assert edge.fixed_by is FixedBy.NOTHING
    assert "not probable enough for the shape of the noise to fix any" in model.loss_choice_.reason


def test_a_clear_direction_is_claimed_beside_a_weak_edge_too() -> None:
    model = skewed(300, 1.0, 0.13)
    strong, weak = model.edges_
    assert weak.probability < 0.9
    assert strong.margin > 6.0
    assert labelled(model) == [(0, 1), (1, 2)]  # the second follows: no collider was found
