"""Discrete columns of more rows than are kept: read from sums over all rows, as a table is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag._tables import NamedColumns
from analyticdag._typing import FloatArray
from analyticdag.errors import DataError, DataWarning
from analyticdag.fitting import rows as kept_rows
from analyticdag.fitting.design import Design
from analyticdag.fitting.facts import RowFacts, SumFacts
from analyticdag.fitting.rows import Rows
from analyticdag.fitting.tally import MOST_COUNTED, MetLevels, Tally
from analyticdag.simulate import simulate
from analyticdag.tables.recipe import CUTS, LEVELS

pandas = pytest.importorskip("pandas")
N = 3000


def table_of(mechanism: str) -> Any:
    drawn = simulate(
        "ER1", n_nodes=8, n_samples=N, seed=[23, 4], mechanism=mechanism, discrete=0.7,
        weight_range=(0.5, 1.0),
    )  # type: ignore[arg-type]  # fmt: skip
    assert drawn.kinds is not None
    columns: dict[str, Any] = {}
    for k, kind in enumerate(drawn.kinds):
        codes = drawn.data[:, k]
        words = [f"level {code:.0f}" for code in codes]
        columns[f"x{k}"] = {
            "category": pandas.Categorical(words),
            "ordered": pandas.Categorical(words, categories=sorted(set(words)), ordered=True),
        }.get(kind, codes)
    return pandas.DataFrame(columns)


def pieces(table: NamedColumns, size: int) -> Iterator[NamedColumns]:
    return (table.take(np.arange(N)[first : first + size]) for first in range(0, N, size))


def named(model: AnalyticDAG, table: Any) -> NamedColumns:
    assert model.recipe_ is not None
    return NamedColumns(model.recipe_.read(table, gaps=()), list(table.columns), model.recipe_)


@pytest.mark.parametrize("mechanism", ["linear", "conditional"])
def test_batches_of_any_size_are_the_table(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(mechanism)
    whole = AnalyticDAG().fit(table)
    assert whole.level_columns_ is not None
    read = named(whole, table)
    monkeypatch.setattr(kept_rows, "MOST_ROWS", 1000)
    models = [AnalyticDAG().fit(pieces(read, size)) for size in (11, 999, N)]
    by_calls = AnalyticDAG()
    for batch in pieces(read, 1700):
        by_calls.partial_fit(batch)
    scores = {model.trace_.search[0].score for model in models}
    assert max(scores) - min(scores) < 1e-10 * abs(max(scores))
    for model in (*models, by_calls):
        assert model.moments_.n_samples == N
        np.testing.assert_allclose(model.moments_.S, whole.moments_.S, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(model.cpdag_, whole.cpdag_)
        np.testing.assert_allclose(model.weights_, whole.weights_, rtol=1e-10, atol=1e-10)
        levels = model.level_columns_
        assert levels is not None
        assert levels.labels == whole.level_columns_.labels
        same = whole.level_columns_.moments
        np.testing.assert_allclose(levels.moments.S, same.S, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(levels.moments.means, same.means, rtol=1e-10, atol=1e-10)
        # Both readings were there, and the same one is the better.
        assert model.trace_.plan.split(",")[0] == whole.trace_.plan.split(",")[0]
        assert "better by" in model.trace_.plan


def tally_of(values: FloatArray, kinds: tuple[str, ...], *ends: int, weights: Any = None) -> Tally:
    """Add up parts of the rows, each for itself as on a cluster, then all of them."""
    places = np.split(np.arange(len(values)), ends)
    nothing = MetLevels.before_any_row(len(kinds), kinds)
    own = [None if weights is None else weights[some] for some in places]
    parts = [Tally.of_rows(values[some], nothing, w) for some, w in zip(places, own, strict=True)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    return total


# A level of each kind is met late: in the last rows only; 0/1 turns out to have a third value.
RNG = np.random.default_rng(8)
NUMBER = 1e6 + RNG.standard_normal(900)
LATE = np.arange(900) >= 700
CATEGORY = np.where(LATE & (RNG.random(900) < 0.3), 0.7, RNG.choice([-1.2, 0.1, 0.3], 900))
ORDERED = np.clip(np.round(NUMBER - 1e6), -1, np.where(LATE, 2, 1))
THREE = np.where(LATE & (RNG.random(900) < 0.2), 2.0, (NUMBER > 1e6).astype(float))
TWO = np.where(RNG.random(900) < 0.4, 5.0, 3.0)
VALUES = np.column_stack([NUMBER, CATEGORY, ORDERED, THREE, TWO])
KINDS = ("number", "category", "ordered", "yes/no", "number")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ends", [(), (450,), (1, 2, 10, 699), (701, 899)])
def test_sums_give_the_readings_of_the_rows(ends: tuple[int, ...], weighted: bool) -> None:
    weights = RNG.integers(1, 4, 900).astype(float) if weighted else None
    rows = RowFacts(VALUES, weights)
    sums = SumFacts(tally_of(VALUES, KINDS, *ends, weights=weights), Rows(VALUES, weights))
    design, same = Design.of(sums, KINDS), Design.of(rows, KINDS)
    assert design.kinds == same.kinds == (*KINDS[:4], "yes/no")
    np.testing.assert_array_equal(design.levels, same.levels)
    for column, cut in same.cuts.items():
        np.testing.assert_array_equal(design.cuts[column].scores, cut.scores)
    for one, other in zip(design.readings(sums), same.readings(rows), strict=True):
        sd = np.sqrt(np.diag(other.moments.S))
        unit = np.outer(sd, sd)
        np.testing.assert_allclose(one.moments.S / unit, other.moments.S / unit, atol=1e-10)
        np.testing.assert_allclose(one.moments.means, other.moments.means, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(one.moments.counts, other.moments.counts)
    assert [one.name for one in design.readings(sums)] == [LEVELS, CUTS]


def test_one_other_value_in_all_rows_makes_a_number() -> None:
    values = np.column_stack([NUMBER, TWO])
    assert tally_of(values, ("number",) * 2, 300).levels.two_valued.tolist() == [False, True]
    values[-1, 1] = np.nextafter(5.0, 6.0)
    assert tally_of(values, ("number",) * 2, 300).levels.two_valued.tolist() == [False, False]


def test_numbers_alone_are_added_up_without_indicators() -> None:
    tally = tally_of(VALUES, ("number",) * 5, 300)
    assert len(tally.wide.size) == 5
    assert tally.columns is tally.wide


def test_more_levels_than_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "MOST_ROWS", 500)
    frame = pandas.DataFrame({"scale": np.arange(900.0) % (MOST_COUNTED + 1), "y": NUMBER})
    with pytest.warns(DataWarning, match="'scale' is ordered and has more than 50 levels"):
        AnalyticDAG(kinds={"scale": "ordered"}).fit([frame[:400], frame[400:]])
    frame = frame.assign(colour=np.array(list("abc"))[np.arange(900) % 3])
    model = AnalyticDAG().fit([frame[:400], frame[400:]])
    odd = np.column_stack([frame["scale"], NUMBER, NUMBER])  # numbers are taken as they are
    with (
        pytest.warns(DataWarning, match="does not have valid feature names"),
        pytest.raises(DataError, match="'colour' is category and has more than 50 levels"),
    ):
        model.partial_fit(odd)


def test_the_first_rows_decide_however_few_the_first_batch_has() -> None:
    table = table_of("conditional")
    whole = AnalyticDAG().fit(table)
    for first in (1, 5, 40):
        model = AnalyticDAG().fit([table[:first], table[first:]])
        assert model.recipe_ == whole.recipe_
        np.testing.assert_allclose(model.moments_.S, whole.moments_.S, rtol=1e-10, atol=1e-10)


def test_the_first_row_groups_of_a_file_decide(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    colour = np.array(["red", "green", "blue", "grey"])[np.arange(900) % 4]
    frame = pandas.DataFrame({"colour": colour, "rating": ORDERED + 1.0, "y": NUMBER})
    frame.to_parquet(tmp_path / "x.parquet", index=False, row_group_size=7)
    model = AnalyticDAG(kinds={"rating": "ordered"}).fit(tmp_path / "x.parquet")
    assert model.recipe_ == AnalyticDAG(kinds={"rating": "ordered"}).fit(frame).recipe_


def test_partial_fit_says_what_few_first_rows_do_to_levels() -> None:
    colour = np.array(["red", "green", "blue", "grey"])[np.arange(900) % 4]
    frame = pandas.DataFrame({"colour": colour, "y": NUMBER + (colour == "red")})
    with pytest.raises(DataError, match="a level in 10 rows or more, here of 12"):
        AnalyticDAG(kinds={"colour": "category"}).partial_fit(frame[:12])
    with pytest.warns(
        DataWarning, match=r"levels of \['colour'\] in fewer than 10 .* 38 rows .* begin"
    ):
        AnalyticDAG().partial_fit(frame[:38])
    model = AnalyticDAG().partial_fit(frame[:60]).partial_fit(frame[60:])
    assert model.level_columns_ is not None
    assert len(model.level_columns_.labels[0]) == 4


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("categories", [True, False])
def test_rounding_chooses_no_member_of_the_class(seed: int, categories: bool) -> None:
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 4, N)
    x = np.array([0.0, 1.0, 0.5, -1.0])[c] + rng.normal(size=N)
    o = np.digitize(x + rng.normal(size=N), [-1.0, 0.0, 1.0])
    y = 0.8 * x + 0.5 * o + rng.normal(size=N)
    b = y + rng.normal(size=N) > 0.0
    table = pandas.DataFrame({"c": np.array(list("abcd"))[c], "x": x, "o": o, "y": y, "b": b})
    table = table if categories else table.drop(columns="c")
    whole = AnalyticDAG(standardize=True).fit(table)
    np.testing.assert_array_equal(np.diag(whole.moments_.S), 1.0)
    for size in (100, 1000):
        batches = (table.iloc[first : first + size] for first in range(0, N, size))
        model = AnalyticDAG(standardize=True).fit(batches)
        np.testing.assert_allclose(model.weights_, whole.weights_, rtol=1e-10, atol=1e-10)


def with_order(codes: Any, levels: list[str]) -> Any:
    return pandas.Categorical(
        np.array(["l", "m", "h", "t"])[codes], categories=levels, ordered=True
    )


def test_orders_of_levels_in_batches_are_made_one() -> None:
    codes, noise = RNG.integers(0, 4, 900), RNG.standard_normal(900)
    first = np.where(codes[:500] == 1, 3, codes[:500])  # "m" is not there, nor in the type
    o = [with_order(first, ["l", "h", "t"]), with_order(codes[500:], ["l", "m", "h", "t"])]
    batches = [
        pandas.DataFrame({"o": own, "y": own.codes + rest})
        for own, rest in zip(o, (noise[:500], noise[500:]), strict=True)
    ]
    model = AnalyticDAG().fit(iter(batches))
    assert model.recipe_ is not None
    assert model.recipe_.columns[0].levels == ("l", "m", "h", "t")
    for levels in (["m", "l", "t", "h"], ["l", "m", "t"]):  # contradicts; "h" or "m" first?
        some = with_order(np.where(codes[500:] == 2, 3, codes[500:]), levels)
        odd = [batches[0], batches[1].assign(o=some)]
        with pytest.raises(DataError, match=r"levels of column 'o' come in orders .* kinds=\{'o'"):
            AnalyticDAG().fit(iter(odd))
        model = AnalyticDAG(kinds={"o": ["l", "m", "h", "t"]}).fit(iter(odd))
        assert model.recipe_ is not None
        assert model.recipe_.columns[0].levels == ("l", "m", "h", "t")


@pytest.mark.parametrize("offset", [2000.0, 20200101.0, -1e8])
def test_levels_far_from_zero_lose_no_digits(offset: float) -> None:
    values = np.column_stack([ORDERED + offset, THREE - offset, NUMBER])
    kinds = ("ordered", "ordered", "number")
    exact = np.cov((values - values[0]).T, bias=True)
    for ends in ((), (450,), (1, 10, 699)):
        tally = tally_of(values, kinds, *ends)
        node = np.arange(3)
        for S in (tally.moments(lambda X: X, node).S, tally.columns.covariance):
            np.testing.assert_allclose(S, exact, rtol=1e-10, atol=1e-10)


def test_a_table_leaves_which_columns_have_two_values() -> None:
    x = RNG.standard_normal(900)
    y = x + RNG.standard_normal(900)
    yes = np.where(y + RNG.standard_normal(900) > 0.0, 5.0, 3.0)
    table = np.column_stack([x, y, yes])
    model = AnalyticDAG().fit(table[:, :2])
    before = model.loss_
    model.partial_fit(table[:2, :2])  # two rows have two values of everything
    assert model.loss_ == before
    resumed = AnalyticDAG().fit(table[:600]).partial_fit(table[600:])
    assert resumed.loss_choice_ is not None
    assert "discrete column" in resumed.loss_choice_.reason
    assert resumed._seen is not None
    levels, counts = resumed._seen.tally.levels, resumed._seen.tally.counts
    assert levels.two_valued.tolist() == [False, False, True]
    np.testing.assert_array_equal(counts[2], [(yes == 3.0).sum(), (yes == 5.0).sum()])
    words = pandas.DataFrame(table, columns=list("xyz")).assign(c=np.array(list("abc") * 300))
    mixed = AnalyticDAG().fit(words[:600]).partial_fit(words[600:])
    assert mixed._seen is not None
    assert mixed._seen.tally.levels.two_valued.tolist() == [False, False, True, False]
    np.testing.assert_array_equal(mixed._seen.tally.counts[2], counts[2])


def test_partial_fit_goes_on_from_a_fit_of_batches() -> None:
    table = table_of("linear")
    whole = AnalyticDAG().fit(table)
    read = named(whole, table)
    first, rest = read.take(np.arange(1700)), read.take(np.arange(1700, N))
    model = AnalyticDAG().fit(iter([first])).partial_fit(rest)
    assert "better by" in model.trace_.plan
    np.testing.assert_array_equal(model.cpdag_, whole.cpdag_)
    np.testing.assert_allclose(model.moments_.S, whole.moments_.S, rtol=1e-10, atol=1e-10)


def test_a_fit_says_that_the_first_rows_joined_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    colour = np.array(["red", "green", "blue"])[np.arange(900) % 3]
    colour[[100, *range(600, 800)]] = "grey"
    frame = pandas.DataFrame({"colour": colour, "y": NUMBER + (colour == "red")})
    whole = AnalyticDAG().fit([frame[:400], frame[400:]])  # the first rows are all there are
    assert whole.recipe_ is not None
    assert len(whole.recipe_.columns[0].levels) == 4
    monkeypatch.setattr("analyticdag.tables.batches.BATCH_ROWS", 500)
    monkeypatch.setattr("analyticdag.linear.rows.BATCH_ROWS", 500)
    monkeypatch.setattr("analyticdag.tables.batches.BATCH_ROWS", 500)
    words = r"levels of \['colour'\] in fewer than 10 of the first 500 .* shuffle the rows"
    with pytest.warns(DataWarning, match=words):
        AnalyticDAG().fit([frame[:400], frame[400:]])
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "x.parquet", index=False)
    with pytest.warns(DataWarning, match=words):
        AnalyticDAG().fit(tmp_path / "x.parquet")


def test_a_level_that_comes_late_is_refused_with_what_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("analyticdag.tables.batches.BATCH_ROWS", 500)
    colour = np.array(["red", "green", "blue"])[np.arange(900) % 3]
    colour[800:] = "grey"
    frame = pandas.DataFrame({"colour": colour, "y": NUMBER + (colour == "red")})
    with pytest.raises(DataError, match=r"batch 1: X has 'grey' .*in batches 'drop'"):
        AnalyticDAG().fit([frame[:600], frame[600:]])
    model = AnalyticDAG(kinds={"colour": "category"}, missing="drop")
    with pytest.warns(DataWarning, match="'grey' .* is taken as a gap"):
        model.fit([frame[:600], frame[600:]])
    assert model.moments_.n_samples == 800


def test_an_ordered_dictionary_of_arrow_keeps_its_order(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    frame = table_of("linear")
    kinds = AnalyticDAG().fit(frame).recipe_.kinds
    ordered = np.array(kinds) == "ordered"
    assert ordered.any()
    frame.to_parquet(tmp_path / "x.parquet", index=False, row_group_size=1000)
    frame.to_feather(tmp_path / "x.feather")
    dataset = arrow.dataset.dataset(tmp_path / "x.parquet")
    sources = (tmp_path / "x.parquet", tmp_path / "x.feather", dataset, dataset.to_table())
    for source in sources:
        found = AnalyticDAG().fit(source).recipe_.kinds
        np.testing.assert_array_equal(np.array(found) == "ordered", ordered)


def test_batches_without_rows_are_passed_over() -> None:
    table = table_of("linear")
    whole = AnalyticDAG().fit(table)
    for empty in (table[:0], pandas.DataFrame(), pandas.DataFrame(columns=table.columns)):
        model = AnalyticDAG().fit([empty, table[:2000], empty, table[2000:]])
        np.testing.assert_allclose(model.moments_.S, whole.moments_.S, rtol=1e-10, atol=1e-10)
        with pytest.raises(DataError, match="n_samples=0 rows"):
            AnalyticDAG().fit([empty, empty])


@pytest.mark.filterwarnings("ignore")
def test_the_first_rows_of_dask_are_those_of_several_parts() -> None:
    dask = pytest.importorskip("dask.dataframe")
    config = pytest.importorskip("dask").config
    table = table_of("conditional").sort_values("x0").reset_index(drop=True)
    table["word"] = np.where(np.arange(N) < N // 3, "a", np.where(np.arange(N) % 2, "b", "c"))
    with config.set(scheduler="sync"):
        parts = dask.from_pandas(table, npartitions=4)
        assert AnalyticDAG().fit(parts).recipe_ == AnalyticDAG().fit(table).recipe_
        few = parts[parts.word != "a"]  # the first part is empty
        assert set(AnalyticDAG().fit(few).recipe_.columns[-1].levels) == {"b", "c"}
        with pytest.raises(DataError, match="n_samples=0 rows"):
            AnalyticDAG().fit(parts[parts.word == "d"])
