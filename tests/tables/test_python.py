"""Data frames in Python: categoricals, booleans and `kinds=`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError, ParameterError
from analyticdag.stability import bootstrap

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

RNG = np.random.default_rng(3)
N = 300
LEVELS = ["low", "mid", "high"]
CODES = RNG.integers(0, 3, N)
SMOKES = RNG.random(N) < 0.5
Y = 2.0 * CODES + 3.0 * SMOKES + RNG.standard_normal(N)


def frames() -> list[Any]:
    words = [LEVELS[k] for k in CODES]
    dose = pandas.Categorical(words, categories=LEVELS, ordered=True)
    return [
        pandas.DataFrame({"dose": dose, "smokes": SMOKES, "y": Y}),
        polars.DataFrame(
            {"dose": polars.Series(words, dtype=polars.Enum(LEVELS)), "smokes": SMOKES, "y": Y}
        ),
    ]


@pytest.mark.parametrize("frame", frames(), ids=["pandas", "polars"])
def test_ordered_categoricals_and_booleans_are_understood(frame: Any) -> None:
    model = AnalyticDAG().fit(frame)
    plain = AnalyticDAG().fit(np.column_stack([CODES, SMOKES, Y]))
    np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-12)
    assert list(model.feature_names_in_) == ["dose", "smokes", "y"]
    assert model.score(frame) == pytest.approx(plain.score(np.column_stack([CODES, SMOKES, Y])))
    assert model.recipe_ is not None
    assert model.recipe_.columns[0].levels == tuple(LEVELS)


def test_kinds_say_what_text_columns_are() -> None:
    frame = pandas.DataFrame(
        {"dose": [LEVELS[k] for k in CODES], "smokes": np.where(SMOKES, "yes", "no"), "y": Y}
    )
    found = AnalyticDAG().fit(frame).recipe_
    assert found is not None
    assert found.kinds == ("ordered", "yes/no", "number")
    kinds = {"dose": LEVELS, "smokes": "yes/no"}
    model = AnalyticDAG(kinds=kinds).fit(frame)
    plain = AnalyticDAG().fit(np.column_stack([CODES, SMOKES, Y]))
    np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-12)
    found = bootstrap(AnalyticDAG(kinds=kinds), frame, 3)
    assert found.names == ("dose", "smokes", "y")
    odd = frame.assign(smokes="often")
    with pytest.raises(DataError, match=r"'often' in column 'smokes', row 0, which is none of"):
        model.score(odd)


def test_a_word_and_a_number_are_two_levels() -> None:
    model = AnalyticDAG().fit(pandas.DataFrame({"k": np.where(SMOKES, "2+", "1"), "y": Y}))
    assert model.recipe_ is not None
    assert (model.recipe_.kinds[0], model.recipe_.columns[0].levels) == ("yes/no", ("1", "2+"))


def test_what_cannot_be_a_variable_is_refused_by_name() -> None:
    names = [f"person {k}" for k in range(N)]
    with pytest.raises(DataError, match=r"columns that are not numbers: \['name'\]"):
        AnalyticDAG().fit(pandas.DataFrame({"name": names, "y": Y}))
    rare = pandas.Categorical([f"level {k // 5}" for k in range(N)])
    with pytest.raises(DataError, match=r"cannot be variables: \['rare \(category\)'\]"):
        AnalyticDAG().fit(pandas.DataFrame({"rare": rare, "y": Y}))
    with pytest.raises(ParameterError, match="kinds names columns, and X has no names"):
        AnalyticDAG(kinds={"a": "number"}).fit(np.column_stack([CODES, Y]))
    with pytest.raises(ParameterError, match="kinds must map names of columns"):
        AnalyticDAG(kinds="number").fit(pandas.DataFrame({"x": CODES, "y": Y}))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"kinds names columns that are not there, \['z'\]"):
        AnalyticDAG(kinds={"z": "number"}).fit(pandas.DataFrame({"x": CODES, "y": Y}))


def test_a_stray_text_is_a_gap_only_if_the_user_says_so() -> None:
    words = pandas.Series(Y).astype(object)
    words[5] = "about 3"
    frame = pandas.DataFrame({"x": CODES, "z": SMOKES * 1.0 + 0.1 * Y, "y": words})
    with pytest.raises(DataError, match="'about 3' in column 'y', row 5"):
        AnalyticDAG(missing="em").fit(frame)
    model = AnalyticDAG(missing="em", kinds={"y": "number"}).fit(frame)
    assert model.moments_.n_samples == N - 1
    with pytest.raises(DataError, match=r"NaN in columns \['y'\]"):
        AnalyticDAG(kinds={"y": "number"}).fit(frame)
