"""Effects, what-if and checks of a fitted estimator, as a user calls them."""

from __future__ import annotations

import itertools
import json
import re
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.effects import check_graph, effects, fit_graph, joint_effect, total_effect
from analyticdag.effects.effect import lines
from analyticdag.errors import InputError, OpenEdgesWarning, ParameterError


def health(n: int = 500, seed: int = 0) -> pd.DataFrame:
    """Age raises blood pressure and cholesterol; both units are arbitrary."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n)
    sbp = 100 + 0.5 * age + rng.normal(0, 8, n)
    chol = 3 + 0.04 * age + rng.normal(0, 0.7, n)
    return pd.DataFrame({"age": age, "sbp": sbp, "chol": chol})


def test_the_class_is_a_graph_by_name() -> None:
    model = AnalyticDAG(loss="likelihood-nv").fit(health())
    assert set(model.class_graph_.edges) == {
        ("age", "sbp"),
        ("sbp", "age"),
        ("age", "chol"),
        ("chol", "age"),
    }
    assert all(data["open"] for *_, data in model.class_graph_.edges(data=True))


def test_an_open_edge_gives_a_set_of_effects() -> None:
    model = AnalyticDAG(loss="likelihood-nv").fit(health())
    effect = total_effect(model, "age", "sbp")
    assert effect.value is None
    assert not effect.identified
    assert effect.possible == pytest.approx([0.0, 0.5], abs=0.08)
    assert effect.interval[0] <= 0.0 < 0.5 <= effect.interval[1]
    assert "not identified" in str(effect)
    assert ("age", "sbp") in effect.open_edges
    assert effect.settling == (("age", "sbp"),)
    assert (effect.n_members, effect.n_zero) == (3, 1)  # a tree of three nodes has three roots
    json.dumps(effect.as_dict(), allow_nan=False)


def test_knowledge_settles_it() -> None:
    known = Knowledge(tiers=[["age"], ["sbp", "chol"]])
    model = AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(health())
    effect = total_effect(model, "age", "sbp")
    assert effect.identified
    assert effect.value == pytest.approx(0.5, abs=0.08)
    assert effect.interval[0] < 0.5 < effect.interval[1]
    assert total_effect(model, "sbp", "age").possible == (0.0,)
    assert total_effect(model, "sbp", "chol").possible == (0.0,)
    assert [row.cause for row in effects(model, on="sbp")] == ["age"]


def test_an_effect_reads_as_a_sentence() -> None:
    known = Knowledge(tiers=[["age"], ["sbp", "chol"]])
    effect = total_effect(
        AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(health()), "age", "sbp"
    )
    said = effect.sentence({"age": "year", "sbp": "mmHg"})
    assert re.fullmatch(r"one more year of age → \+0\.\d+ \[0\.\d+, 0\.\d+\] mmHg of sbp", said)
    plain, note = str(effect).splitlines()
    assert plain == said.replace("year", "unit").replace("mmHg of", "in")
    assert "takes the graph as given" in note
    assert "bootstrap_effects" in effect.as_dict()["note"]
    assert [path.nodes for path in effect.paths] == [("age", "sbp")]
    assert (effect.direct, effect.mediated) == (effect.value, 0.0)
    assert effect.standardized == pytest.approx(effect.value / effect.unit)


def test_names_with_line_breaks_stay_on_one_line() -> None:
    names = {"age": "age\nin years", "sbp": "sbp\x1b[31m"}
    age, sbp = names.values()
    table = health().rename(columns=names)
    for known in (None, Knowledge(tiers=[[age], [sbp, "chol"]])):
        model = AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(table)
        effect = total_effect(model, age, sbp)
        assert r"of age\nin years →" in effect.sentence()
        assert all(text.isprintable() for text in [effect.sentence(), *lines(effect, {})])
        assert len(str(effect).splitlines()) == 2


def test_several_causes_are_set_at_once() -> None:
    table = health()
    table["stroke"] = table["sbp"] / 10 + table["chol"] + np.random.default_rng(1).normal(size=500)
    known = Knowledge(tiers=[["age"], ["sbp", "chol"], ["stroke"]])
    model = AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(table)
    joint = joint_effect(model, ["age", "sbp"], "stroke")
    assert joint.identified
    # With blood pressure held fixed, age acts through cholesterol alone.
    assert joint.values == pytest.approx([0.04, 0.1], abs=0.02)
    with pytest.raises(ParameterError, match="causes must be a list of columns"):
        joint_effect(model, "age", "stroke")
    with pytest.raises(ParameterError, match="must be different columns"):
        joint_effect(model, ["age", "stroke"], "stroke")


def test_paths_are_cut_to_the_strongest() -> None:
    d = 9
    graph = nx.DiGraph([(i, j) for i in range(d) for j in range(i + 1, d)])
    X = np.random.default_rng(0).normal(size=(200, d)).cumsum(axis=1)
    effect = total_effect(fit_graph(graph, X), 0, d - 1)
    assert effect.n_paths == 2 ** (d - 2)
    sizes = [abs(path.value) for path in effect.paths]
    assert len(sizes) == 20
    assert sizes == sorted(sizes, reverse=True)
    weights = fit_graph(graph, X).equations
    unit = effect.unit
    every = [
        abs(np.prod([weights.weights[a, b] for a, b in itertools.pairwise(path)])) * unit
        for path in nx.all_simple_paths(graph, 0, d - 1)
    ]
    assert sizes == pytest.approx(sorted(every, reverse=True)[:20])


def test_standardising_changes_no_effect() -> None:
    known = Knowledge(tiers=[["age"], ["sbp", "chol"]])
    plain, scaled = (
        AnalyticDAG(loss="likelihood-nv", knowledge=known, standardize=flag).fit(health())
        for flag in (False, True)
    )
    one, other = (total_effect(model, "age", "sbp") for model in (plain, scaled))
    assert one.value == pytest.approx(other.value)
    assert one.standard_error == pytest.approx(other.standard_error)
    assert plain.predict(health()) == pytest.approx(scaled.predict(health()))


def test_what_if() -> None:
    known = Knowledge(tiers=[["age"], ["sbp", "chol"]])
    model = AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(health())
    after = {row.name: row for row in model.intervene({"age": 70.0})}
    assert after["age"].mean == pytest.approx(70.0)
    assert after["age"].sd == 0.0
    rows = model.sample(4000, do={"age": 70.0}, seed=0)
    assert rows[:, 0] == pytest.approx(70.0)
    assert rows[:, 1].mean() == pytest.approx(after["sbp"].mean, abs=0.6)
    assert rows[:, 1].std() == pytest.approx(after["sbp"].sd, rel=0.1)
    share = np.mean((rows[:, 1] > after["sbp"].low) & (rows[:, 1] < after["sbp"].high))
    assert share == pytest.approx(0.95, abs=0.02)
    # Setting an effect leaves its cause alone.
    back = {row.name: row for row in model.intervene({"sbp": 180.0})}
    assert back["age"].mean == pytest.approx(health()["age"].mean())


def test_without_do_the_rows_look_like_the_data() -> None:
    model = AnalyticDAG(loss="likelihood-nv").fit(health())
    rows, table = model.sample(20000, seed=1), health()
    assert rows.mean(axis=0) == pytest.approx(table.mean().to_numpy(), rel=0.02)
    assert np.corrcoef(rows.T) == pytest.approx(np.corrcoef(table.T), abs=0.05)


def test_open_edges_are_said_aloud() -> None:
    model = AnalyticDAG(loss="likelihood-nv").fit(health())
    with pytest.warns(OpenEdgesWarning, match="direction is open"):
        rows = {row.name: row for row in model.intervene({"age": 70.0})}
    assert rows["sbp"].smallest_mean < rows["sbp"].largest_mean
    with pytest.warns(OpenEdgesWarning, match="age — sbp"):
        model.sample(2, do={"age": 70.0})
    with pytest.warns(OpenEdgesWarning, match="sbp — age"):
        model.predict(health(), target="sbp")
    with warnings.catch_warnings():  # between columns that are all set no direction matters
        warnings.simplefilter("error")
        model.sample(2, do={"age": 70.0, "sbp": 150.0, "chol": 5.0})


def test_predict_uses_causes_only() -> None:
    known = Knowledge(tiers=[["age"], ["sbp", "chol"]])
    model = AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(health())
    table = health(seed=9)
    every = model.predict(table)
    assert every.shape == table.shape
    assert every[:, 0] == pytest.approx(health()["age"].mean())
    moved = table.assign(sbp=0.0, chol=0.0)
    assert model.predict(moved, target="sbp") == pytest.approx(every[:, 1])


def test_a_constant_column_stays_constant() -> None:
    table = health().assign(unit=7.0)
    with pytest.warns(Warning, match="constant"):
        model = AnalyticDAG(loss="likelihood-nv").fit(table)
    assert model.sample(5, seed=0)[:, 3] == pytest.approx(7.0)


def test_a_good_graph_passes_and_a_bad_one_does_not() -> None:
    right = nx.DiGraph([("age", "sbp"), ("age", "chol")])
    wrong = nx.DiGraph([("age", "sbp"), ("sbp", "chol")])
    good, bad = check_graph(right, health()), check_graph(wrong, health())
    assert good.violated == ()
    assert good.unsupported == ()
    assert good.score == pytest.approx(good.best_score)
    assert {bad.violated[0].first, bad.violated[0].second} == {"age", "chol"}
    assert bad.score > good.score
    missing = nx.DiGraph([("age", "sbp")])
    missing.add_node("chol")
    pairs = [{test.first, test.second} for test in check_graph(missing, health()).violated]
    assert pairs == [{"age", "chol"}, {"sbp", "chol"}]
    spare = nx.DiGraph([("age", "sbp"), ("age", "chol"), ("sbp", "chol")])
    assert check_graph(spare, health()).unsupported == (("sbp", "chol"),)


def test_an_experts_graph_has_effects_without_learning() -> None:
    known = fit_graph(nx.DiGraph([("age", "sbp"), ("age", "chol")]), health())
    assert total_effect(known, "age", "sbp").value == pytest.approx(0.5, abs=0.08)


def test_refusals() -> None:
    with pytest.raises(InputError, match="cycle"):
        fit_graph(nx.DiGraph([("age", "sbp"), ("sbp", "chol"), ("chol", "age")]), health())
    with pytest.raises(InputError, match="one node for each column"):
        fit_graph(np.zeros((2, 2)), health())
    model = AnalyticDAG().fit(health())
    with pytest.raises(ParameterError, match="do must map columns to values"):
        model.intervene(3)
    with pytest.raises(ParameterError, match=r"do\['age'\] must be a number"):
        model.intervene({"age": "old"})
    with pytest.raises(InputError, match="no column"):
        model.sample(3, do={"weight": 1.0})
    with pytest.raises(ParameterError, match="n must be a whole number"):
        model.sample(0)
