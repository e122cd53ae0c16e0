"""Sums, differences and means among the columns are named, and nothing is claimed of them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG
from analyticdag._redundant import redundant_columns
from analyticdag._typing import FloatArray
from analyticdag.diagnostics import diagnose
from analyticdag.errors import DataWarning
from analyticdag.fitting import FixedBy
from analyticdag.simulate import simulate

N = 300


def parts(count: int) -> list[FloatArray]:
    rng = np.random.default_rng(count)
    return [rng.gamma(3.0, 10.0 * (k + 1), N).round(2) for k in range(count)]


def named(**columns: FloatArray) -> list[str]:
    table = np.column_stack(list(columns.values()))
    S = np.cov(table.T, bias=True)
    found = redundant_columns(S, np.diag(S) > 0.0, n_samples=len(table))
    return [one.words(list(columns)) for one in found.identities]


def test_sums_differences_and_means_are_named_wherever_they_stand() -> None:
    a, b, c = parts(3)
    after = (0.8 * a + np.random.default_rng(0).normal(0.0, 5.0, N)).round(2)
    assert named(a=a, b=b, c=c, total=a + b + c) == ["total = a + b + c"]
    assert named(total=a + b + c, a=a, b=b, c=c) == ["total = a + b + c"]
    assert named(a=a, mean=((a + b + c) / 3).round(2), b=b, c=c) == ["mean = (a + b + c) / 3"]
    assert named(before=a, after=after, change=after - a) == ["change = after - before"]
    assert named(a=a, b=b, c=c, d=a + b - c) == ["d = a + b - c"]
    assert named(a=a, b=b, rest=100.0 - a - b) == ["a + b + rest is the same in every row"]


def test_the_mean_of_answers_is_named_and_two_identities_are() -> None:
    answers = np.random.default_rng(1).integers(1, 6, (N, 6)).astype(float)
    columns = {f"q{k}": answers[:, k] for k in range(6)}
    score, first = answers.mean(axis=1).round(2), answers[:, :2].sum(axis=1)
    assert named(**columns, score=score, first=first) == [
        "score = (q0 + q1 + q2 + q3 + q4 + q5) / 6",
        "first = q0 + q1",
    ]


def test_what_is_only_near_or_not_simple_is_no_identity() -> None:
    a, b = parts(2)
    noise = np.random.default_rng(2).normal(0.0, 1.0, N)
    assert named(a=a, b=b, c=a + b + noise) == []
    assert named(a=a, b=b, c=2.0 * a + 0.3337 * b) == []
    assert named(a=a, b=b, c=2.0 * a + 0.3 * b + 0.01 * noise) == []
    for seed in range(20):
        X = simulate("SF4", n_nodes=30, n_samples=N, seed=seed).data
        assert named(**{f"x{k}": x for k, x in enumerate(X.T)}) == []


def test_measurements_of_the_same_are_no_means_of_each_other() -> None:
    same, rng = parts(1)[0], np.random.default_rng(4)
    for share in np.arange(0.005, 0.011, 0.0005):
        noise = share * same.std() * rng.normal(size=(3, N))
        assert named(first=same + noise[0], second=same + noise[1], third=same + noise[2]) == []


def test_short_coefficients_and_other_units_are_named() -> None:
    food, other, rent = parts(3)
    total = food + other
    assert named(food=food, other=other, eur=(0.92 * total).round(2)) == [
        "eur = 0.92 (food + other)"
    ]
    found = named(food=food, other=other, total=total, rent=rent, profit=8.0 * total - rent)
    assert "total = food + other" in found
    assert {"profit = 8 total - rent", "profit = 8 food + 8 other - rent"} & set(found)
    assert named(a=food, b=other, c=2.0 * food + 0.3 * other) == ["c = 2 a + 0.3 b"]


def test_the_advice_leaves_out_copies_too() -> None:
    food, other, rent = parts(3)
    total = food + other
    table = pd.DataFrame({"a": food, "b": other, "total": total, "eur": 0.92 * total, "c": rent})
    with pytest.warns(DataWarning) as caught:
        AnalyticDAG().fit(table)
    advice = next(str(one.message) for one in caught if "total = a + b" in str(one.message))
    assert "(--drop total --drop eur; in Python X.drop(columns=['total', 'eur']))" in advice
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        AnalyticDAG().fit(table.drop(columns=["total", "eur"]))


def budget() -> pd.DataFrame:
    a, b, c = parts(3)
    c = (0.4 * a + c).round(2)
    stress = 0.02 * (a + b + c) + np.random.default_rng(3).normal(0.0, 1.0, N)
    return pd.DataFrame({"rent": a, "food": b, "trips": c, "total": a + b + c, "stress": stress})


@pytest.mark.parametrize("standardize", [False, True])
def test_nothing_is_claimed_among_the_columns_of_an_identity(standardize: bool) -> None:
    table = budget()
    with pytest.warns(DataWarning, match=r"total = rent \+ food \+ trips: .*--drop total"):
        model = AnalyticDAG(standardize=standardize).fit(table)
    inside = [edge for edge in model.edges_ if "stress" not in (edge.source, edge.target)]
    assert inside
    assert {edge.fixed_by for edge in inside} == {FixedBy.IDENTITY}
    assert {(edge.probability, edge.direction_probability) for edge in inside} == {(None, None)}
    outside = [edge for edge in model.edges_ if edge not in inside]
    assert outside
    assert all(edge.probability for edge in outside)
    check = next(one for one in diagnose(model, table, refit=False) if one.name == "collinearity")
    assert check.advice.startswith("total = rent + food + trips: ")


def test_names_with_line_ends_stay_on_one_line() -> None:
    a, b = parts(2)
    table = pd.DataFrame({"a\u2028b": a, "c\nd": b, "total": a + b})
    with pytest.warns(DataWarning, match="arbitrary") as warned:
        AnalyticDAG().fit(table)
    assert all(len(str(one.message).splitlines()) == 1 for one in warned)


def test_a_mean_of_many_columns_is_named_as_one() -> None:
    answers = parts(49)  # 49 times a 49th is less than one
    found = named(**{f"q{k}": one for k, one in enumerate(answers)}, mean=sum(answers) / 49)
    assert [text.rpartition(")")[2] for text in found] == [" / 49"]
