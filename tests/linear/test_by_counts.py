"""Tables of discrete columns alone: by counts where parents act together, and only there."""

from __future__ import annotations

import pickle
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.diagnostics import Level, diagnose
from analyticdag.effects.known import Known
from analyticdag.errors import DataWarning, NotConvergedWarning
from analyticdag.fitting.edges import FixedBy
from analyticdag.graphs import is_dag
from analyticdag.io import load_run, record_of, save_run
from analyticdag.linear import learn
from analyticdag.linear.by_counts import additive_length
from analyticdag.report.discrete import COUNTED, weight_notes
from analyticdag.report.methods import methods
from analyticdag.report.text import effects
from analyticdag.search.counts import LevelCounts
from analyticdag.simulate import random_dag, simulate
from analyticdag.simulate.mechanisms import draw_by_tables

pandas = pytest.importorskip("pandas")

BY_COUNTS = "discrete columns by counts, better by"


def words(levels: np.ndarray) -> Any:
    """A table of categories in words."""
    return pandas.DataFrame(
        {f"x{k}": [f"level {code}" for code in levels[:, k]] for k in range(levels.shape[1])}
    )


def by_tables(n: int = 2000, nodes: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([17, seed])
    graph = random_dag("ER2", nodes, rng)
    return graph, draw_by_tables(graph, n, 0.5, rng)


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    return AnalyticDAG(n_jobs=1).fit(words(by_tables()[1]))


def skeleton_errors(graph: np.ndarray, found: np.ndarray) -> int:
    return int(((graph | graph.T) != ((found != 0) | (found != 0).T)).sum() // 2)


def test_parents_that_act_together_are_counted(model: AnalyticDAG) -> None:
    graph, _ = by_tables()
    assert model.trace_.plan.startswith(BY_COUNTS)
    assert is_dag(model.adjacency_matrix_)
    assert skeleton_errors(graph, model.adjacency_matrix_) <= 1


def test_a_table_of_nothing_but_codes_is_one_of_levels() -> None:
    graph, levels = by_tables()
    coded = AnalyticDAG(n_jobs=1).fit(levels.astype(float))
    assert coded.reading_ == "counts"
    assert skeleton_errors(graph, coded.adjacency_matrix_) <= 1
    # Beside one measured number the same codes may be counts of something.
    measured = np.column_stack([levels, np.random.default_rng(0).normal(size=len(levels))])
    beside = AnalyticDAG(n_jobs=1).fit(measured)
    assert beside.reading_ != "counts"
    assert skeleton_errors(graph, beside.adjacency_matrix_[:-1, :-1]) > 1


def test_so_are_those_of_a_table_of_zeros_and_ones() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.random((2, 1500)) < [[0.5], [0.4]]).astype(float)
    y = (rng.random(1500) < np.where(a == b, 0.9, 0.15)).astype(float)
    z = (rng.random(1500) < np.where(y == 1.0, 0.8, 0.3)).astype(float)
    model = AnalyticDAG(n_jobs=1).fit(np.column_stack([a, b, y, z]))
    assert model.trace_.plan.startswith(BY_COUNTS)
    found = model.adjacency_matrix_ != 0
    assert {tuple(edge) for edge in np.argwhere(found).tolist()} == {(0, 2), (1, 2), (2, 3)}
    edges = {(edge.source, edge.target): edge for edge in model.edges_}
    assert 0.4 < edges[0, 2].weight < 1.0  # though it does little on average
    assert abs(dict(edges[0, 2].parts)["on average"]) < 0.2
    assert dict(edges[2, 3].parts)["on average"] == pytest.approx(0.5, abs=0.1)
    np.testing.assert_allclose(model.slopes_[2, 3], 0.5, atol=0.1)


@pytest.mark.parametrize("mechanism", ["linear", "conditional"])
def test_effects_that_add_up_are_left_to_the_other_readings(mechanism: str) -> None:
    drawn = simulate(
        "ER2", n_nodes=8, n_samples=1500, mechanism=mechanism, discrete=1.0,
        weight_range=(0.5, 1.0), seed=[17, 3],
    )  # fmt: skip
    kinds = {f"x{k}": kind for k, kind in enumerate(drawn.kinds)}
    data = pandas.DataFrame(drawn.data, columns=list(kinds))
    model = AnalyticDAG(kinds=kinds, n_jobs=1).fit(data)
    assert not model.trace_.plan.startswith(BY_COUNTS)


def test_additive_equations_are_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    levels = by_tables(400)[1][:, :4]
    counts, graph = LevelCounts.of(levels), np.zeros((4, 4), bool)
    graph[[0, 1], 3] = True
    onehot = np.column_stack([np.eye(counts.levels[p])[levels[:, p], 1:] for p in (0, 1)])
    fitted = LogisticRegression(C=100.0, tol=1e-8, max_iter=10_000).fit(onehot, levels[:, 3])
    rows = np.arange(400)
    misfit = -2.0 * np.log(fitted.predict_proba(onehot)[rows, levels[:, 3]]).sum()
    nobody, kinds = np.empty(0, np.int64), counts.levels - 1
    alone = sum(counts.misfit(j, nobody) + counts.cost(j, nobody) for j in range(3))
    coefficients = kinds[3] * (1 + kinds[0] + kinds[1])
    expected = misfit + alone + coefficients * np.log(400 / (2 * np.pi)) + 2 * 7.0
    assert additive_length(counts, [None] * 4, graph, 7.0) == pytest.approx(expected, abs=2.0)


def test_edges_have_strengths_and_probabilities(model: AnalyticDAG) -> None:
    assert all(0.0 < edge.weight < 1.0 for edge in model.edges_ if edge.parts)
    assert all(edge.probability is not None for edge in model.edges_)
    open_edges = [edge for edge in model.edges_ if edge.fixed_by is FixedBy.NOTHING]
    assert all(edge.direction_probability is None for edge in open_edges)


def test_a_weak_edge_is_less_probable_and_near_the_border() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 600)
    strong = np.where(rng.random(600) < 0.8, a, rng.integers(0, 3, 600))
    weak = np.where(rng.random(600) < 0.17, a, rng.integers(0, 3, 600))
    counts = LevelCounts.of(np.column_stack([a, strong, weak]))
    graph = np.zeros((3, 3), bool)
    graph[0, 1:] = True
    gains, strengths = counts.single_gains(graph), counts.strengths(graph)
    assert 5.0 < gains[0, 2] < 40.0 < gains[0, 1]
    assert 0.1 < strengths[0, 2] < 0.3 < strengths[0, 1] < 1.0
    assert not gains[~graph].any()


def test_the_ladder_is_by_counts_too(model: AnalyticDAG) -> None:
    rungs = model.ladder_
    edges = [rung.n_edges for rung in rungs]
    assert edges[0] <= 2
    assert edges[-1] >= int((model.adjacency_matrix_ != 0).sum())
    assert all(is_dag(rung.adjacency) for rung in rungs)


def test_a_run_is_saved_and_read(model: AnalyticDAG, tmp_path: Path) -> None:
    save_run(record_of(model), tmp_path / "run")
    again = load_run(tmp_path / "run")
    assert again.edges == record_of(model).edges
    assert again.to_estimator().reading_ == model.reading_ == "counts"
    assert "Silander et al., 2018" in methods(again)
    assert effects(again) == "effects of any form"
    assert weight_notes(again) == [COUNTED]


def test_what_parents_do_together_is_no_missing_link(model: AnalyticDAG) -> None:
    """What linear equations leave of these levels is correlated, and looks like hidden causes."""
    data = words(by_tables()[1])
    (check,) = (c for c in diagnose(model, data).checks if c.name == "residual correlation")
    assert check.level is Level.FINE
    assert Known.of(model).hidden_pairs == []


def test_a_link_that_was_forbidden_shows_in_what_is_left() -> None:
    rng = np.random.default_rng(8)
    a = rng.integers(0, 3, 2000)
    b = np.where(rng.random(2000) < 0.6, a, rng.integers(0, 3, 2000))
    c, d = rng.integers(0, 2, (2, 2000))
    e = ((c ^ d) ^ (rng.random(2000) < 0.05)).astype(int)
    data = words(np.column_stack([a, b, c, d, e]))
    known = Knowledge(forbidden_edges=[("x0", "x1"), ("x1", "x0")])
    model = AnalyticDAG(n_jobs=1, knowledge=known).fit(data)
    assert model.reading_ == "counts"
    (check,) = (c for c in diagnose(model, data).checks if c.name == "residual correlation")
    assert check.numbers["pairs"] == [["x0", "x1"]]


def test_what_if_and_pickles_work(model: AnalyticDAG) -> None:
    again = pickle.loads(pickle.dumps(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = again.intervene({"x0": "level 1"})
    assert {outcome.name for outcome in outcomes} >= {"x1: level 0", "x2: level 1"}
    np.testing.assert_array_equal(again.adjacency_matrix_, model.adjacency_matrix_)


def test_columns_may_be_permuted() -> None:
    _, levels = by_tables(seed=1)
    data = words(levels)
    moved = data[list(np.random.default_rng(0).permutation(data.columns))]
    one, two = (AnalyticDAG(n_jobs=1).fit(table) for table in (data, moved))
    links = [{(e.source, e.target) for e in found.edges_} for found in (one, two)]
    assert links[0] == links[1]


def test_knowledge_is_obeyed() -> None:
    graph, levels = by_tables()
    i, j = np.argwhere(graph)[0].tolist()
    known = Knowledge(forbidden_edges=[(f"x{i}", f"x{j}"), (f"x{j}", f"x{i}")])
    model = AnalyticDAG(n_jobs=1, knowledge=known).fit(words(levels))
    assert model.trace_.plan.startswith(BY_COUNTS)
    found = model.adjacency_matrix_ != 0
    assert not found[i, j]
    assert not found[j, i]


def test_a_few_gaps_leave_out_rows_and_many_leave_out_counts() -> None:
    graph, levels = by_tables(3000)
    few, many = (levels.astype(float) for _ in range(2))
    rng = np.random.default_rng(0)
    few[rng.random(few.shape) < 0.01] = np.nan
    many[rng.random(many.shape) < 0.1] = np.nan
    kinds = dict.fromkeys((f"x{k}" for k in range(8)), "category")
    for rows, counted in ((few, True), (many, False)):
        data = pandas.DataFrame(rows, columns=list(kinds))
        said = pytest.warns(DataWarning, match="218 rows") if counted else nullcontext()
        with said:
            model = AnalyticDAG(n_jobs=1, missing="em", kinds=kinds).fit(data)
        assert model.trace_.plan.startswith(BY_COUNTS) == counted
        if counted:
            assert skeleton_errors(graph, model.adjacency_matrix_) <= 2


def test_weights_and_interventions_leave_it_out() -> None:
    _, levels = by_tables(500)
    data = words(levels)
    weighted = AnalyticDAG(n_jobs=1).fit(data, sample_weight=np.full(500, 2.0))
    perturbed = AnalyticDAG(n_jobs=1).fit(data, interventions=["x0"] * 100 + [None] * 400)
    assert not weighted.trace_.plan.startswith(BY_COUNTS)
    assert not perturbed.trace_.plan.startswith(BY_COUNTS)


def test_a_number_among_the_columns_leaves_it_out() -> None:
    _, levels = by_tables(500)
    data = words(levels).assign(size=np.random.default_rng(0).standard_normal(500))
    assert not AnalyticDAG(n_jobs=1).fit(data).trace_.plan.startswith(BY_COUNTS)


@pytest.mark.filterwarnings("ignore:columns")
def test_constant_columns_stay_alone() -> None:
    _, levels = by_tables()
    data = words(levels).assign(same="always")
    model = AnalyticDAG(n_jobs=1).fit(data)
    assert model.trace_.plan.startswith(BY_COUNTS)
    assert not any("same" in (e.source, e.target) for e in model.edges_)


@pytest.mark.parametrize("blocks", [True, False])
def test_ctrl_c_in_that_search_keeps_the_graph_before(
    blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(learn, "counts_instead", interrupted)
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3 if blocks else 2, 400)
    b = np.where(rng.random(400) < 0.7, a, rng.integers(0, 2, 400))
    model = AnalyticDAG(n_jobs=1)
    with pytest.raises(KeyboardInterrupt), pytest.warns(NotConvergedWarning):
        model.fit(words(np.column_stack([a, b])))
    assert len(model.edges_) == 1


def test_batches_are_counted_as_the_table() -> None:
    data = words(by_tables()[1])
    whole = AnalyticDAG(n_jobs=1).fit(data)
    parts = AnalyticDAG(n_jobs=1).fit(data[k : k + 700] for k in range(0, len(data), 700))
    assert parts.trace_.plan.startswith(BY_COUNTS)
    assert {e[:2] for e in parts.edges_} == {e[:2] for e in whole.edges_}


@pytest.mark.parametrize(("levels", "n"), [(5, 300), (5, 1000), (7, 1000)])
def test_scales_of_answers_are_not_counted(levels: int, n: int) -> None:
    """Cuts of normal variables with many levels: one coefficient a parent says it all."""
    drawn = simulate("ER1", n_nodes=8, n_samples=n, weight_range=(0.6, 1.0), seed=[17, levels])
    ends = np.quantile(drawn.data, np.arange(1, levels) / levels, axis=0)
    codes = (drawn.data[:, :, None] > ends.T[None]).sum(axis=2)
    kinds = dict.fromkeys((f"x{k}" for k in range(8)), "ordered")
    data = pandas.DataFrame(codes, columns=list(kinds))
    model = AnalyticDAG(n_jobs=1, kinds=kinds).fit(data)
    assert model.reading_ in ("levels", "cuts")


def test_columns_of_many_levels_are_not_counted() -> None:
    rng = np.random.default_rng(0)
    codes = np.clip(np.rint(rng.normal(20, 6, (800, 3))), 0, 40)
    kinds = dict.fromkeys("abc", "ordered")
    model = AnalyticDAG(n_jobs=1, kinds=kinds).fit(pandas.DataFrame(codes, columns=list(kinds)))
    assert model.reading_ != "counts"


@pytest.mark.parametrize("n", [300, 1000])
def test_independent_categories_stay_apart(n: int) -> None:
    """Before, chance made an order of their levels, by which they were taken for cuts."""
    for seed in range(3):
        codes = np.random.default_rng([5, seed]).integers(0, 10, (n, 8))
        model = AnalyticDAG(n_jobs=1).fit(words(codes))
        assert not model.edges_
        assert model.reading_ == "levels"
