"""Tables with discrete columns: one node each, the better reading, what weights mean."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag._tables import NamedColumns
from analyticdag._validation import correlations
from analyticdag.effects import total_effect
from analyticdag.errors import DataWarning, IgnoredParameterWarning, ParameterError
from analyticdag.fitting.design import Design
from analyticdag.fitting.facts import RowFacts
from analyticdag.io import load_run, record_of, save_run
from analyticdag.knowledge import Knowledge
from analyticdag.linear.readings import _why
from analyticdag.report.page import picture_of
from analyticdag.simulate import Simulation, simulate
from analyticdag.stability import bootstrap, bootstrap_effects
from analyticdag.tables.recipe import CUTS, LEVELS

pandas = pytest.importorskip("pandas")


def mixed(mechanism: str, seed: int, n: int = 1000, d: int = 10) -> Simulation:
    return simulate(
        "ER1", n_nodes=d, n_samples=n, seed=[21, seed], mechanism=mechanism, discrete=0.5,
        weight_range=(0.5, 1.0),
    )  # type: ignore[arg-type]  # fmt: skip


def frame_of(drawn: Simulation) -> Any:
    columns: dict[str, Any] = {}
    assert drawn.kinds is not None
    for k, kind in enumerate(drawn.kinds):
        codes = drawn.data[:, k]
        if kind == "category":
            columns[f"x{k}"] = pandas.Categorical([f"level {int(code)}" for code in codes])
        elif kind == "ordered":
            texts = [str(int(code)) for code in codes]
            order = [str(code) for code in range(int(codes.max()) + 1)]
            columns[f"x{k}"] = pandas.Categorical(texts, categories=order, ordered=True)
        else:
            columns[f"x{k}"] = codes
    return pandas.DataFrame(columns)


def skeleton_errors(found: Any, drawn: Simulation) -> int:
    A, B = np.asarray(found) != 0, drawn.adjacency_matrix != 0
    return int(np.triu((A | A.T) != (B | B.T), 1).sum())


@pytest.mark.parametrize("mechanism", ["linear", "conditional"])
def test_fewer_errors_than_codes_as_numbers(mechanism: str) -> None:
    ours = codes = 0
    for seed in range(4):
        drawn = mixed(mechanism, seed)
        model = AnalyticDAG().fit(frame_of(drawn))
        ours += skeleton_errors(model.adjacency_matrix_, drawn)
        noise = 1e-9 * np.random.default_rng(seed).standard_normal(drawn.data.shape)
        plain = AnalyticDAG().fit(drawn.data + noise)  # so that nothing looks like yes/no
        codes += skeleton_errors(plain.adjacency_matrix_, drawn)
        assert nx.is_directed_acyclic_graph(model.graph_)
        assert list(model.graph_.nodes) == [f"x{k}" for k in range(10)]
    assert ours < codes


def test_the_better_reading_is_taken_and_said() -> None:
    plans = {}
    for mechanism in ("linear", "conditional"):
        drawn = mixed(mechanism, 0, n=2000, d=15)
        plans[mechanism] = AnalyticDAG().fit(frame_of(drawn)).trace_.plan
    assert plans["linear"].startswith("discrete columns as cuts of normal variables, better by")
    assert plans["conditional"].startswith("discrete columns by their levels, better by")


def cut_beside_nominal() -> tuple[Any, tuple[str, ...]]:
    """A chain a -> z -> b, of which z is cut and its order lost; colours act in two ways."""
    rng = np.random.default_rng(8)
    n = 2000
    a, colour = rng.standard_normal(n), rng.integers(0, 3, n)
    z = a + rng.standard_normal(n)
    b = z + rng.standard_normal(n)
    c, d = (np.array(act)[colour] + rng.standard_normal(n) for act in ([0, 1, 1], [0, 1, -1]))
    grade = np.array(["m", "k", "p", "l"])[np.digitize(z, [-1.0, 0.0, 1.0])]
    words = np.array(["red", "green", "blue"])[colour]
    frame = pandas.DataFrame({"a": a, "grade": grade, "b": b, "colour": words, "c": c, "d": d})
    return frame, ("number", "category", "number", "category", "number", "number")


def test_a_category_that_lost_its_order_is_read_as_a_cut() -> None:
    frame, _ = cut_beside_nominal()
    model = AnalyticDAG().fit(frame)
    joined = {frozenset(edge) for edge in model.graph_.edges}
    # By its levels alone the grade would leave a and b joined.
    expected = [("a", "grade"), ("grade", "b"), ("colour", "c"), ("colour", "d")]
    assert joined == {frozenset(pair) for pair in expected}
    assert "as cuts of normal variables, better" in model.trace_.plan


def test_groups_of_a_number_do_not_take_its_place() -> None:
    """Age groups beside age: what age does is not said of the groups."""
    pd, rng = pytest.importorskip("pandas"), np.random.default_rng(37)
    sex, other, age_noise, *noise = rng.normal(size=(5, 400))
    age = 0.8 * sex + age_noise
    cost = 0.9 * age + other
    group = np.digitize(age + 0.3 * noise[0], [-1.0, 0.0, 1.0])
    named = np.array(["old", "middle", "child", "young"])[group]
    spent = 0.5 * cost + 0.7 * sex + noise[1]
    table = pd.DataFrame({"sex": sex, "age": age, "group": named, "cost": cost, "spent": spent})
    links = AnalyticDAG().fit(table).graph_.to_undirected()
    assert links.has_edge("age", "cost")
    assert links.has_edge("age", "group")
    assert links.degree("group") == 1


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("wobble", [0.0, 0.3])
def test_groups_of_a_number_leave_the_other_columns_their_reading(
    groups: int, wobble: float
) -> None:
    """Health, mood and trust are cuts; age is recorded, and once more in groups."""
    noise = np.random.default_rng([53, groups]).standard_normal((7, 2000))
    age = noise[0]
    health = 0.8 * age + noise[1]
    cost, mood = 0.8 * health + noise[2], 0.8 * health + noise[3]
    trust, other = 0.8 * mood + 0.6 * age + noise[4], 0.7 * age + noise[5]
    edges = np.quantile(age, np.linspace(0.0, 1.0, groups + 1)[1:-1])
    table = pandas.DataFrame(
        {"age": age, "group": np.digitize(age + wobble * noise[6], edges),
         "health": np.digitize(health, [-1.0, 0.0, 1.0]), "cost": cost, "mood": mood > 0.0,
         "trust": np.digitize(trust, [-1.0, 1.0]), "other": other}
    )  # fmt: skip
    kinds = {"group": "ordered", "health": "ordered", "trust": "ordered"}
    model = AnalyticDAG(kinds=kinds).fit(table)
    assert "as cuts of normal variables, better" in model.trace_.plan
    expected = [
        ("age", "group"), ("age", "health"), ("health", "cost"), ("health", "mood"),
        ("mood", "trust"), ("age", "trust"), ("age", "other"),
    ]  # fmt: skip
    assert {frozenset(edge) for edge in model.graph_.edges} == {frozenset(e) for e in expected}


def test_only_a_category_with_one_score_is_a_cut() -> None:
    frame, kinds = cut_beside_nominal()
    recipe = AnalyticDAG().fit(frame).recipe_
    assert recipe is not None
    values = np.column_stack(
        [
            column.scored(
                np.array([column.levels.index(text) for text in frame[column.name]]) * 1.0
            )
            if column.kind == "category"
            else frame[column.name]
            for column in recipe.columns
        ]
    )
    facts = RowFacts(values)
    levels, cuts = Design.of(facts, kinds).readings(facts)
    assert levels.design.sizes.tolist() == [1, 3, 1, 2, 1, 1]
    assert cuts.design.sizes.tolist() == [1, 1, 1, 2, 1, 1]
    assert cuts.moments.S.shape == (7, 7)
    # What the levels make of the score is its correlation with all others.
    assert cuts.scores is not None
    blend = cuts.scores.blend
    made = correlations(blend.T @ cuts.scores.levels @ blend)
    assert np.allclose(made, cuts.scores.R, atol=1e-9)


def test_no_direction_is_read_from_the_variances_of_yes_no_columns() -> None:
    """Without intercepts all variances are near 1/4, which looks like equal noise."""
    for seed in range(3):
        drawn = simulate("ER1", n_nodes=8, n_samples=2000, noise="binary", seed=[22, seed])
        model = AnalyticDAG().fit(drawn.data)
        assert model.loss_ == "likelihood-nv"
        assert model.loss_choice_ is None or "discrete column" in model.loss_choice_.reason


@pytest.mark.parametrize("mechanism", ["linear", "conditional"])
def test_the_order_of_the_columns_does_not_matter(mechanism: str) -> None:
    frame = frame_of(mixed(mechanism, 2))
    shuffled = frame[list(np.random.default_rng(0).permutation(frame.columns))]
    first, second = AnalyticDAG().fit(frame), AnalyticDAG().fit(shuffled)
    assert set(first.graph_.edges) == set(second.graph_.edges)
    for a, b, weight in first.graph_.edges.data("weight"):
        assert second.graph_[a][b]["weight"] == pytest.approx(weight)


N = 800
RNG = np.random.default_rng(5)
CITY = RNG.choice(["Rome", "Oslo", "Lima"], N, p=[0.5, 0.3, 0.2])
AGE = RNG.standard_normal(N)
LEVEL = np.select([CITY == "Oslo", CITY == "Lima"], [1.0, -1.0], 0.0)
PAY = LEVEL + 0.8 * AGE + RNG.standard_normal(N)
FRAME = pandas.DataFrame({"city": CITY, "age": AGE, "pay": PAY})


def fitted() -> AnalyticDAG:
    return AnalyticDAG().fit(FRAME)


def test_an_edge_of_a_category_has_a_strength_and_parts() -> None:
    model = fitted()
    edge = next(edge for edge in model.edges_ if {edge.source, edge.target} == {"city", "pay"})
    assert (edge.source, edge.target) == ("city", "pay")  # the two causes of pay are not joined
    assert 0.0 < edge.weight < 1.0
    assert edge.weight == edge.partial_correlation == model.weights_[0, 2]
    assert np.isnan(edge.standard_error)
    # Differences from the most frequent level.
    parts = dict(edge.parts)
    assert set(parts) == {"Oslo", "Lima"}
    assert parts["Oslo"] == pytest.approx(1.0, abs=0.25)
    assert parts["Lima"] == pytest.approx(-1.0, abs=0.25)
    # The strength is what the category explains of what the rest leaves.
    left = PAY - np.polyval(np.polyfit(AGE, PAY, 1), AGE)
    without = left.var()
    design = np.column_stack([np.ones(N), AGE, CITY == "Oslo", CITY == "Lima"])
    with_city = np.mean((PAY - design @ np.linalg.lstsq(design, PAY, rcond=None)[0]) ** 2)
    assert edge.weight == pytest.approx(np.sqrt(1.0 - with_city / without), abs=1e-6)
    other = next(edge for edge in model.edges_ if edge.source == "age")
    assert other.parts == ()
    assert other.weight == pytest.approx(0.8, abs=0.1)


def test_a_weight_on_yes_no_is_a_change_of_its_share() -> None:
    rng = np.random.default_rng(6)
    dose = rng.standard_normal(2000)
    ill = np.where(rng.random(2000) < 0.5 + 0.1 * np.clip(dose, -3, 3), "yes", "no")
    model = AnalyticDAG(knowledge=Knowledge(forbidden_edges=[("ill", "dose")])).fit(
        pandas.DataFrame({"dose": dose, "ill": ill})
    )
    (edge,) = model.edges_
    slope = np.polyfit(dose, (ill == "yes").astype(float), 1)[0]
    assert edge.weight == pytest.approx(slope)
    effect = total_effect(model, "dose", "ill")
    assert effect.value == pytest.approx(slope)


def test_two_values_of_any_type_are_yes_no() -> None:
    rng = np.random.default_rng(7)
    x = rng.standard_normal(500)
    for pair in ((0, 1), (-3.5, 20.0), ("a", "b"), (False, True)):
        low, high = pair
        column = [high if value > 0 else low for value in x]
        frame = pandas.DataFrame({"x": x + rng.standard_normal(500), "two": column})
        model = AnalyticDAG().fit(frame)
        assert model.adjacency_matrix_.sum() == 1
    values = np.column_stack([x, x > 0, RNG.integers(0, 3, 500)])
    assert Design.of(RowFacts(values), ("number",) * 3).kinds == ("number", "yes/no", "number")


def test_scores_and_predictions_work() -> None:
    model = fitted()
    assert np.isfinite(model.score(FRAME))
    expected = model.predict(FRAME, "pay")
    assert np.corrcoef(expected, PAY)[0, 1] > 0.6


def test_a_saved_run_keeps_parts_scores_and_predictions(tmp_path: Path) -> None:
    model = fitted()
    save_run(record_of(model), tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert [edge.parts for edge in run.edges] == [edge.parts for edge in model.edges_]
    again = run.to_estimator()
    assert again.edges_[0].parts == model.edges_[0].parts
    assert again.recipe_ == model.recipe_
    np.testing.assert_allclose(again.predict(FRAME), model.predict(FRAME))
    assert again.score(FRAME) == pytest.approx(model.score(FRAME))


def test_knowledge_and_gaps_and_interventions_hold_for_categories() -> None:
    known = Knowledge(forbidden_edges=[("city", "pay")])
    model = AnalyticDAG(knowledge=known).fit(FRAME)
    assert not model.graph_.has_edge("city", "pay")
    known = Knowledge(required_edges=[("age", "city")])
    assert AnalyticDAG(knowledge=known).fit(FRAME).graph_.has_edge("age", "city")
    gaps = FRAME.copy()
    gaps.loc[RNG.random(N) < 0.1, "city"] = None
    gaps.loc[RNG.random(N) < 0.1, "age"] = np.nan
    model = AnalyticDAG(missing="em").fit(gaps)
    assert {frozenset(edge) for edge in model.graph_.edges} == {
        frozenset(("city", "pay")), frozenset(("age", "pay"))
    }  # fmt: skip
    assert np.isfinite(model.score(gaps))
    targets = np.where(np.arange(N) < 100, "age", None)
    done = FRAME.assign(age=np.where(np.arange(N) < 100, 5.0, AGE))
    done["pay"] = LEVEL + 0.8 * done["age"] + RNG.standard_normal(N)
    model = AnalyticDAG().fit(done, interventions=targets)
    assert set(model.graph_.edges) == {("city", "pay"), ("age", "pay")}


def test_resamples_keep_the_levels() -> None:
    found = bootstrap(AnalyticDAG(), FRAME, 4, random_state=0)
    assert found.names == ("city", "age", "pay")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"refine": False}, "refine=False"),
        ({"loss": "likelihood-ev"}, "loss='likelihood-ev'"),
    ],
)
def test_what_cannot_take_categories_says_so(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match="'city' is a category, which only the order") as error:
        AnalyticDAG(**wrong).fit(FRAME)
    assert said in str(error.value)


def test_a_path_takes_codes_for_numbers() -> None:
    x = RNG.standard_normal(400)
    two = (x + RNG.standard_normal(400) > 0).astype(float)
    y = two + RNG.standard_normal(400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AnalyticDAG(refine=False, w_threshold=0.1).fit(np.column_stack([x, two, y]))
    assert model.trace_.records


def test_cuts_count_fewer_rows() -> None:
    drawn = mixed("linear", 3)
    facts = RowFacts(drawn.data)
    design = Design.of(facts, drawn.kinds or ())
    readings = {one.name: one.moments for one in design.readings(facts)}
    assert readings[LEVELS].n_samples == 1000
    assert 100 < readings[CUTS].n_samples < 800


def test_constant_and_copied_columns_beside_categories() -> None:
    frame = FRAME.assign(one=1.0, again=AGE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AnalyticDAG().fit(frame)
    assert nx.is_directed_acyclic_graph(model.graph_)
    assert model.graph_.degree("one") == 0


@pytest.mark.parametrize("rare", [0, 3])
def test_a_category_with_one_level_left_is_a_constant_column(rare: int) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(81)
    x = rng.standard_normal(200)
    colour = pd.Categorical(["red"] * (200 - rare) + ["blue", "green", "green"][:rare])
    table = pd.DataFrame({"x": x, "y": x + rng.standard_normal(200), "colour": colour})
    with pytest.warns(DataWarning, match=r"\['colour'\] are constant; they are kept as isolated"):
        model = AnalyticDAG().fit(table)
    assert {frozenset((e.source, e.target)) for e in model.edges_} == {frozenset("xy")}
    assert set(model.graph_) == {"x", "y", "colour"}
    assert np.isfinite(model.predict(table).to_numpy()).all()
    assert np.isfinite(model.score(table))


def test_many_rows_do_not_make_edges_of_a_rough_reading() -> None:
    drawn = mixed("conditional", 2, n=100_000, d=15)
    table = frame_of(drawn)
    found = [AnalyticDAG(min_effect=floor).fit(table) for floor in ("auto", 0.0)]
    with_floor, without = (skeleton_errors(model.adjacency_matrix_, drawn) for model in found)
    assert with_floor < without


def test_the_logistic_loss_is_one_switch() -> None:
    drawn = simulate("ER1", n_nodes=4, n_samples=300, seed=5, noise="binary")
    alone = AnalyticDAG(loss="logistic").fit(drawn.data)
    by_hand = AnalyticDAG(loss="logistic", solver="adam", refine=False, lambda1=0.01)
    np.testing.assert_array_equal(alone.weights_, by_hand.fit(drawn.data).weights_)
    said = record_of(alone).parameters
    assert (said["solver"], said["refine"], said["lambda1"]) == ("adam", False, 0.01)
    assert record_of(AnalyticDAG().fit(drawn.data)).parameters["lambda1"] == 0.05
    with pytest.warns(IgnoredParameterWarning, match="lambda1 prices its edges$"):
        AnalyticDAG(loss="logistic", gamma=2.0).fit(drawn.data)


def test_the_logistic_loss_invents_no_causes_of_rare_columns() -> None:
    rng = np.random.default_rng(31)
    bits = (rng.random((2000, 4)) < [0.5, 0.5, 0.7, 0.2]).astype(float)
    assert AnalyticDAG(loss="logistic").fit(bits).edges_ == ()
    bits[:, 3] = rng.random(2000) < np.where(bits[:, 2] == 1, 0.4, 0.1)
    model = AnalyticDAG(loss="logistic").fit(bits)
    assert [{edge.source, edge.target} for edge in model.edges_] == [{2, 3}]
    # Rows that are scored need not have the rates of the table.
    assert (
        model.score(bits[bits[:, 3] == 1]) < model.score(bits) < model.score(bits[bits[:, 3] == 0])
    )


@pytest.mark.filterwarnings("ignore:lambda1")
def test_partial_fit_goes_on_from_a_fit_with_categories(tmp_path: Path) -> None:
    drawn = mixed("conditional", 3, n=600)
    table = frame_of(drawn)
    first = AnalyticDAG().fit(table[:500])
    save_run(record_of(first), tmp_path / "run")
    named = NamedColumns(first.recipe_.read(table, gaps=()), list(table.columns), first.recipe_)
    whole = AnalyticDAG().fit(named)
    for model in (first, load_run(tmp_path / "run").to_estimator()):
        model.partial_fit(table[500:])
        assert model.moments_.n_samples == 600
        assert model.level_columns_ is not None
        assert model.level_columns_.labels == whole.level_columns_.labels
        levels, same = model.level_columns_.moments, whole.level_columns_.moments
        np.testing.assert_allclose(levels.S, same.S, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(levels.means, same.means, rtol=1e-10, atol=1e-10)
        # No row of the fit is left for the variances of correlations of scores.
        assert model.trace_.plan == "discrete columns by their levels"
    with pytest.raises(ParameterError, match="covariance='rank' needs all rows at once"):
        AnalyticDAG(covariance="rank").fit(table[:500]).partial_fit(table[500:])


@pytest.mark.parametrize("covariance", ["sample", "rank"])
def test_weights_and_errors_beside_a_category_are_those_of_one_regression(covariance: str) -> None:
    rng = np.random.default_rng(4)
    region, age = rng.integers(0, 4, 500), rng.uniform(20, 60, 500)
    wage = np.array([0.0, 6.0, 2.0, 9.0])[region] + 0.2 * age + 2.0 * rng.exponential(size=500)
    table = pandas.DataFrame({"region": np.array(list("nsew"))[region], "age": age, "wage": wage})
    edges = AnalyticDAG(covariance=covariance).fit(table).edges_
    (edge,) = [e for e in edges if {e.source, e.target} == {"age", "wage"}]
    assert (edge.source, edge.target) == ("age", "wage")
    columns = np.column_stack([age, *(region == k for k in range(4))]).astype(float)
    slopes, left = np.linalg.lstsq(columns, wage, rcond=None)[:2]
    error = np.sqrt(left[0] / (500 - 5) * np.linalg.inv(columns.T @ columns)[0, 0])
    assert edge.weight == pytest.approx(slopes[0])
    assert edge.standard_error == pytest.approx(error)
    t = slopes[0] / error
    assert edge.partial_correlation == pytest.approx(t / np.sqrt(t * t + 495))


def test_a_link_of_a_category_is_not_drawn_as_an_increase() -> None:
    rng = np.random.default_rng(4)
    region = rng.integers(0, 4, 300)
    wage = np.array([0.0, 6.0, 2.0, 9.0])[region] + rng.normal(size=300)
    table = pandas.DataFrame({"region": np.array(list("nsew"))[region], "wage": wage})
    knowledge = Knowledge(required_edges=[("region", "wage")])
    model = AnalyticDAG(knowledge=knowledge).fit(table)
    svg = model._repr_html_()
    assert 'stroke="var(--g)"' in svg
    assert 'stroke="var(--p)"' not in svg
    (curve,) = picture_of(record_of(model)).curves
    assert curve.classes.startswith("edge none")
    assert "strength" in curve.link.description


def test_averaged_effects_of_a_category_are_those_of_its_levels() -> None:
    rng = np.random.default_rng(4)
    region, age = rng.choice(4, 300, p=[0.2, 0.4, 0.2, 0.2]), rng.normal(size=300)
    wage = np.array([0.0, 6.0, 2.0, 9.0])[region] + rng.normal(size=300)
    table = pandas.DataFrame({"region": np.array(list("nsew"))[region], "age": age, "wage": wage})
    model = AnalyticDAG(knowledge=Knowledge(required_edges=[("region", "wage")]))
    rows = bootstrap_effects(model, table, 5, on="wage")
    found = {row.cause_level: row for row in rows if row.cause == "region"}
    assert set(found) == set("new")
    for level, value in zip("new", (-6.0, -4.0, 3.0), strict=True):
        assert found[level].value == pytest.approx(value, abs=0.3)
        assert found[level].low < value + 0.3
        assert (found[level].reference, found[level].certain_share) == ("s", 1.0)
    (plain,) = [row for row in rows if row.cause == "age"]
    assert plain.cause_level == plain.reference == plain.outcome_level == ""
    shares = bootstrap_effects(model, table, 3, on="region")
    assert {(row.cause, row.outcome_level) for row in shares} == {
        (cause, level) for cause in ("age", "wage") for level in "nsew"
    }
    assert all(row.n_resamples == 3 for row in shares)


def test_a_margin_without_a_plain_number_is_not_printed() -> None:
    costs = {"levels": 0.0, "cuts": 12.34}
    assert "better by 12.3 than" in _why("levels", costs)
    for margin in (3e11, np.inf, np.nan):
        said = _why("levels", {**costs, "cuts": margin})
        assert said.endswith("by their levels, better than as cuts of normal variables")
