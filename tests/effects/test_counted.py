"""Graphs by counts: causes may act together, and what-if questions are asked of the counts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.effects import effects, families, total_effect
from analyticdag.effects.families import Families, Family, after, thrifty_order
from analyticdag.errors import DataWarning, InputError, OpenEdgesWarning
from analyticdag.graphs import topological_order
from analyticdag.io import load_run, save_run
from analyticdag.io.run import record_of
from analyticdag.io.state import FAMILY_ARRAYS, Fitted
from analyticdag.search.counts import LevelCounts
from analyticdag.simulate import simulate
from analyticdag.simulate.mechanisms import draw_by_tables


def random_graph(d: int, graph: str, seed: int) -> Any:
    return simulate(n_nodes=d, n_samples=10, graph=graph, seed=seed).adjacency_matrix != 0


def counted(graph: Any, n: int, seed: int) -> tuple[Any, Families]:
    codes = draw_by_tables(graph, n, 1.0, np.random.default_rng(seed))
    counts = LevelCounts.of(codes)
    values = tuple(np.arange(k, dtype=float) for k in counts.levels)
    return codes, Families.of(counts, values, graph)


def trial(n: int, seed: int) -> pd.DataFrame:
    """A drug that helps those with a gene and harms the others, who get it more often."""
    rng = np.random.default_rng(seed)
    gene = rng.random(n) < 0.4
    drug = rng.random(n) < np.where(gene, 0.2, 0.7)
    well = rng.random(n) < np.where(drug, np.where(gene, 0.9, 0.2), np.where(gene, 0.3, 0.5))
    stays = rng.random(n) < np.where(well, 0.1, 0.8)
    words = {True: "yes", False: "no"}
    return pd.DataFrame({"gene": gene, "drug": drug, "well": well, "stays": stays}).map(
        words.__getitem__
    )


TIERS = Knowledge(tiers=[["gene"], ["drug"], ["well"], ["stays"]])
# 0.4·0.9 + 0.6·0.2 and 0.4·0.3 + 0.6·0.5
WELL_WITH, WELL_WITHOUT = 0.48, 0.42


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    fitted = AnalyticDAG(knowledge=TIERS).fit(trial(20_000, 1))
    assert fitted.reading_ == "counts"
    return fitted


def share(model: Any, do: dict[str, Any], name: str) -> float:
    return next(one.mean for one in model.intervene(do) if one.name == name)


def by_enumeration(tables: Any, do: dict[int, Any], levels: list[int]) -> list[Any]:
    """Sum the product of all shares over every combination of all levels."""
    found = [np.zeros(k) for k in levels]
    for cell in itertools.product(*map(range, levels)):
        p, own = 1.0, np.array([cell], np.uint8)
        for j, table in tables.items():
            p *= do[j][cell[j]] if j in do else table.given(own[:, table.causes])[0, cell[j], 0]
        for j, level in enumerate(cell):
            found[j][level] += p
    return found


@pytest.mark.parametrize("seed", range(6))
def test_shares_after_setting_nodes_are_those_of_all_combinations(seed: int) -> None:
    graph = random_graph(7, "ER2", seed)
    _, found = counted(graph, 300, seed)
    tables = {j: found.counts(j, np.flatnonzero(graph[:, j])).shares() for j in range(7)}
    levels = [len(own) for own in found.values]
    do = {2: np.eye(levels[2])[0], 5: np.full(levels[5], 1.0 / levels[5])}
    for setting in ({}, do):
        cut = graph.copy()
        cut[:, list(setting)] = False
        exact = by_enumeration(tables, setting, levels)
        got = after(tables, setting, topological_order(cut).tolist())
        for j in range(7):
            np.testing.assert_allclose(got[j][:, 0], exact[j], atol=1e-12)


def test_without_setting_anything_shares_are_those_of_the_rows(model: AnalyticDAG) -> None:
    data = trial(20_000, 1)
    for name in data:
        assert share(model, {}, f"{name}: yes") == pytest.approx((data[name] == "yes").mean(), 1e-9)


def test_too_many_states_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(20, "ER2", 3)
    _, found = counted(graph, 3000, 3)
    tables = {j: found.counts(j, np.flatnonzero(graph[:, j])).shares() for j in range(20)}
    order = topological_order(graph).tolist()
    exact = after(tables, {}, order)
    monkeypatch.setattr(families, "MOST_KEPT", 500)
    fewer = after(tables, {}, order)
    for j in range(20):
        assert fewer[j].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(fewer[j], exact[j], atol=0.05)
    assert any((fewer[j] != exact[j]).any() for j in range(20))  # fewer states were used


def test_causes_that_act_together_are_asked_together(model: AnalyticDAG) -> None:
    assert share(model, {"drug": "yes"}, "well: yes") == pytest.approx(WELL_WITH, abs=0.02)
    assert share(model, {"drug": "no"}, "well: yes") == pytest.approx(WELL_WITHOUT, abs=0.02)
    both = share(model, {"drug": "yes", "gene": "yes"}, "well: yes")
    assert both == pytest.approx(0.9, abs=0.02)
    assert share(model, {"drug": "yes"}, "gene: yes") == pytest.approx(0.4, abs=0.02)


def test_the_effect_is_the_difference_of_what_is_set(model: AnalyticDAG) -> None:
    effect = total_effect(model, "drug", "well")
    change = share(model, {"drug": "yes"}, "well: yes") - share(model, {"drug": "no"}, "well: yes")
    assert effect.value == pytest.approx(change, abs=1e-9)
    low, high = effect.interval
    assert low < WELL_WITH - WELL_WITHOUT < high
    assert not effect.paths  # no sum over paths
    assert effect.direct is None
    assert str(effect)
    row = next(one for one in effects(model, on="well") if one.cause == "drug")
    assert row.smallest == pytest.approx(change, abs=1e-9)


def test_errors_of_effects_are_the_scatter_over_tables() -> None:
    values, errors = [], []
    for seed in range(60):
        fitted = AnalyticDAG(knowledge=TIERS).fit(trial(3000, 100 + seed))
        assert fitted.reading_ == "counts"
        effect = total_effect(fitted, "drug", "stays")
        values.append(effect.value)
        errors.append(effect.standard_error)
    # A standard deviation of sixty values is off by a tenth.
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.3)


def test_drawn_rows_have_the_shares_of_the_answer(model: AnalyticDAG) -> None:
    rows = model.sample(20_000, do={"drug": "yes"}, seed=4)
    assert set(rows["drug"]) == {"yes"}
    assert (rows["well"] == "yes").mean() == pytest.approx(WELL_WITH, abs=0.02)
    helped = rows.loc[rows["gene"] == "yes", "well"]
    assert (helped == "yes").mean() == pytest.approx(0.9, abs=0.02)
    pd.testing.assert_frame_equal(rows, model.sample(20_000, do={"drug": "yes"}, seed=4))


def test_predictions_are_shares_of_the_combination(model: AnalyticDAG) -> None:
    asked = trial(20_000, 1).drop_duplicates(["gene", "drug"])
    got = model.predict(asked, "well")["yes"].to_numpy()
    truth = {("yes", "yes"): 0.9, ("no", "yes"): 0.2, ("yes", "no"): 0.3, ("no", "no"): 0.5}
    expected = [truth[g, d] for g, d in zip(asked["gene"], asked["drug"], strict=True)]
    np.testing.assert_allclose(got, expected, atol=0.03)


def test_a_saved_run_answers_the_same(model: AnalyticDAG, tmp_path: Path) -> None:
    save_run(record_of(model), tmp_path / "run")
    again = load_run(tmp_path / "run").to_estimator()
    for do in ({"drug": "yes"}, {"gene": "no", "drug": "no"}):
        for ours, theirs in zip(model.intervene(do), again.intervene(do), strict=True):
            assert ours == theirs
    assert total_effect(again, "drug", "well").value == total_effect(model, "drug", "well").value


def without_causes(family: Family) -> Family:
    levels, which = np.unique(family.cells[:, 0], return_inverse=True)
    times = np.bincount(which, family.times).astype(np.int64)
    return Family(family.nodes[:1], levels[:, None], times)


def test_a_run_without_the_counts_of_a_cause_is_refused(model: AnalyticDAG, tmp_path: Path) -> None:
    run = record_of(model)
    assert run.fitted is not None
    found = run.fitted.families
    assert found is not None
    alone = tuple(without_causes(one) for one in found.every)
    fitted = replace(run.fitted, families=replace(found, every=alone))
    save_run(replace(run, fitted=fitted), tmp_path / "run")
    with pytest.raises(InputError, match="no counts of 'drug' with its causes; fit again"):
        load_run(tmp_path / "run").to_estimator()


@pytest.mark.parametrize("array", FAMILY_ARRAYS)
def test_a_run_with_other_counts_is_refused(model: AnalyticDAG, array: str) -> None:
    fitted = Fitted.of(model)
    assert fitted is not None
    arrays = fitted.arrays()
    sizes = (1, 4, fitted.n_levels, fitted.n_cells)
    again = Fitted.from_arrays(arrays, *sizes)
    assert again.families is not None
    with pytest.raises(ValueError, match="famil"):
        Fitted.from_arrays(arrays | {array: arrays[array][:-1]}, *sizes)
    with pytest.raises(ValueError, match="famil"):
        Fitted.from_arrays(arrays | {array: arrays[array].astype(np.float32)}, *sizes)
    with pytest.raises(ValueError, match="famil"):
        Fitted.from_arrays(arrays | {array: arrays[array] * 0 + 200}, *sizes)


def test_columns_of_0_and_1_and_of_ordered_levels() -> None:
    rng = np.random.default_rng(2)
    n = 6000
    dose = rng.integers(0, 3, n)
    risk = (rng.random(n) < 0.5).astype(float)
    shares = np.array([[0.8, 0.4, 0.05], [0.1, 0.5, 0.9]])[risk.astype(int), dose]
    ill = rng.random(n) < shares
    words = np.array(["low", "medium", "high"])[dose]
    frame = pd.DataFrame({"dose": words, "risk": risk, "ill": ill.astype(float)})
    kinds = {"dose": ["low", "medium", "high"]}
    known = Knowledge(tiers=[["dose", "risk"], ["ill"]])
    fitted = AnalyticDAG(kinds=kinds, knowledge=known).fit(frame)
    assert fitted.reading_ == "counts"
    assert share(fitted, {"dose": "high", "risk": 1}, "ill") == pytest.approx(0.9, abs=0.03)
    mixture = share(fitted, {"dose": "high", "risk": 0.5}, "ill")
    assert mixture == pytest.approx((0.9 + 0.05) / 2, abs=0.03)
    assert share(fitted, {"dose": "high"}, "ill") == pytest.approx(mixture, abs=0.02)
    slope = total_effect(fitted, "dose", "ill")
    assert slope.value == pytest.approx(0.0125, abs=0.03)  # (0.475 - 0.45) / 2
    drawn = fitted.sample(500, seed=1)
    assert set(drawn["dose"]) == {"low", "medium", "high"}
    assert set(drawn["ill"]) == {0.0, 1.0}
    outcome = next(one for one in fitted.intervene({}) if one.name == "dose")
    assert (outcome.low, outcome.high) == (0.0, 2.0)


def test_open_edges_give_a_range_and_a_warning() -> None:
    fitted = AnalyticDAG().fit(trial(20_000, 1))
    assert fitted.reading_ == "counts"
    with pytest.warns(OpenEdgesWarning, match="direction is open"):
        found = {one.name: one for one in fitted.intervene({"drug": "yes"})}
    well = found["well: yes"]
    assert well.smallest_mean < WELL_WITH - 0.02  # well before drug, or drug before gene
    assert well.smallest_mean - 0.01 < WELL_WITH < well.largest_mean + 0.01
    assert not total_effect(fitted, "drug", "well").identified


def test_a_level_of_rows_with_gaps_alone_is_refused_by_name() -> None:
    data = trial(3000, 6)
    data["ward"] = np.where(np.arange(3000) % 3 == 0, "north", "south")
    data.loc[:29, "ward"] = "east"
    data.loc[:29, "stays"] = None
    with pytest.warns(DataWarning, match="30 rows have some"):
        fitted = AnalyticDAG(knowledge=TIERS, missing="em").fit(data)
    assert fitted.reading_ == "counts"
    with pytest.raises(InputError, match="level 'east' stands only in rows with gaps"):
        fitted.intervene({"ward": "east"})
    assert share(fitted, {}, "ward: east") == 0.0


def test_orders_have_causes_first_and_nothing_that_is_not_asked() -> None:
    chain = np.triu(np.ones((4, 4), dtype=bool), 1)
    levels = [2, 2, 2, 2]
    assert thrifty_order(chain, levels, ()) == [0, 1, 2, 3]
    wanted = np.array([False, True, False, False])
    assert thrifty_order(chain, levels, (), wanted) == [0, 1]
    assert thrifty_order(chain, levels, (1,), wanted) == [1]


@pytest.mark.parametrize("seed", range(5))
def test_orders_of_random_graphs_have_causes_first(seed: int) -> None:
    graph = random_graph(30, "ER2", seed)
    order = thrifty_order(graph, [3] * 30, (4, 7))
    graph[:, [4, 7]] = False
    place = np.argsort(order)
    assert all(place[i] < place[j] for i, j in np.argwhere(graph).tolist())


def test_only_what_was_counted_can_be_set() -> None:
    data = trial(3000, 6)
    data["flag"], data["dose"] = "no", np.array(["low", "medium"])[np.arange(3000) % 2]
    data.loc[:29, ["flag", "dose"]] = ["yes", "high"]
    data.loc[:29, "stays"] = None
    kinds = {"dose": ["low", "medium", "high"]}
    with pytest.warns(DataWarning, match="30 rows have some"):
        fitted = AnalyticDAG(knowledge=TIERS, missing="em", kinds=kinds).fit(data)
    assert fitted.reading_ == "counts"
    for do in ({"flag": "yes"}, {"dose": "high"}):
        with pytest.raises(InputError, match="was not counted") as error:
            fitted.intervene(do)
        assert "\n" not in str(error.value)
        with pytest.raises(InputError, match="was not counted"):
            fitted.sample(3, do=do)


def test_a_number_beyond_its_two_values_is_refused() -> None:
    codes = (trial(3000, 8) == "yes") * 1 + 1
    fitted = AnalyticDAG(knowledge=TIERS).fit(codes.astype(float))
    assert fitted.reading_ == "counts"
    assert share(fitted, {"drug": 1.5}, "drug") == pytest.approx(1.5)
    with pytest.raises(InputError, match=r"do\['drug'\]=10 was not counted.*1 to 2"):
        fitted.intervene({"drug": 10})


def test_errors_do_not_depend_on_where_values_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "_MOST_WEIGHTS", 600)  # six states for all draws
    near = (trial(3000, 9) == "yes") * 1.0
    far = near + 1000.0
    errors = [
        total_effect(AnalyticDAG(knowledge=TIERS).fit(one), "gene", "stays").standard_error
        for one in (near, far)
    ]
    assert errors[1] == pytest.approx(errors[0], rel=1e-6)


def test_a_run_without_its_counts_is_refused(model: AnalyticDAG, tmp_path: Path) -> None:
    run = record_of(model)
    assert run.fitted is not None
    save_run(replace(run, fitted=replace(run.fitted, families=None)), tmp_path / "run")
    with pytest.raises(InputError, match="has no counts"):
        load_run(tmp_path / "run").to_estimator()


def test_an_outcome_is_asked_of_its_causes_alone(model: AnalyticDAG) -> None:
    rows = effects(model, on="drug")
    assert [row.cause for row in rows] == ["gene"]
    assert not effects(model, on="gene")


def test_effects_of_levels_over_a_class() -> None:
    """In some members a category has no effect on another, and then it is zero exactly."""
    graph = random_graph(8, "ER2", 4)
    codes = draw_by_tables(graph, 4000, 0.5, np.random.default_rng(4))
    frame = pd.DataFrame({f"x{j}": [f"l{v}" for v in codes[:, j]] for j in range(8)})
    fitted = AnalyticDAG().fit(frame)
    assert fitted.reading_ == "counts"
    rows = effects(fitted)
    some = [row for row in rows if row.zero_share > 0.0]
    assert some
    assert all(row.smallest <= 0.0 <= row.largest for row in some)
    assert all(row.low <= row.smallest <= row.largest <= row.high for row in rows)
