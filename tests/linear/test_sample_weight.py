"""Weights act like repeated rows; a row of weight zero is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError, ParameterError
from analyticdag.simulate import simulate
from analyticdag.tables import Gaussian, effective_rows

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = simulate("ER1", n_nodes=6, n_samples=300, noise="exponential", seed=5).data
WEIGHTS = RNG.integers(0, 4, len(X)).astype(float)
REPEATED = np.repeat(X, WEIGHTS.astype(int), axis=0)


@pytest.mark.parametrize(
    "settings", [{}, {"standardize": True}, {"loss": "likelihood-nv"}, {"refine": False}]
)
def test_weights_act_like_repeated_rows(settings: dict[str, Any]) -> None:
    weighted = AnalyticDAG(**settings).fit(X, sample_weight=WEIGHTS)
    repeated = AnalyticDAG(**settings).fit(REPEATED)
    # Of members of one class rounding may take either: they fit equally well.
    np.testing.assert_array_equal(weighted.cpdag_, repeated.cpdag_)
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    np.testing.assert_allclose(weighted.moments_.S, repeated.moments_.S)
    assert weighted.moments_.n_samples == len(REPEATED)
    records = zip(weighted.trace_.search, repeated.trace_.search, strict=True)
    assert all(a.min_effect == pytest.approx(b.min_effect) for a, b in records)
    score = weighted.score(X, sample_weight=WEIGHTS)
    assert score == pytest.approx(repeated.score(REPEATED))
    assert score != pytest.approx(weighted.score(X), rel=1e-4)
    # And the shape of the noise is not asked where rows have weights.
    if not any(edge.fixed_by in ("not fixed", "noise shape") for edge in repeated.edges_):
        np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-8, atol=1e-12)
        one, other = weighted.loss_choice_, repeated.loss_choice_
        assert one is not None
        assert other is not None
        assert one.kurtosis == pytest.approx(other.kurtosis)


def test_weight_zero_is_left_out_whatever_the_row_holds() -> None:
    odd = np.vstack([X, np.full((1, 6), 1e9)])
    weights = np.append(np.ones(len(X)), 0.0)
    np.testing.assert_allclose(
        AnalyticDAG().fit(odd, sample_weight=weights).weights_, AnalyticDAG().fit(X).weights_
    )


def test_weights_with_interventions() -> None:
    mask = np.zeros(X.shape, dtype=bool)
    mask[200:250, 0] = mask[250:, 3] = True
    repeats = WEIGHTS.astype(int)
    one = AnalyticDAG().fit(X, sample_weight=WEIGHTS, interventions=mask)
    other = AnalyticDAG().fit(REPEATED, interventions=np.repeat(mask, repeats, axis=0))
    np.testing.assert_allclose(one.moments_.covariances, other.moments_.covariances, rtol=1e-9)
    np.testing.assert_array_equal(one.moments_.counts, other.moments_.counts)
    np.testing.assert_array_equal(one.cpdag_, other.cpdag_)


def test_weights_with_gaps() -> None:
    holes = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    again = np.repeat(holes, WEIGHTS.astype(int), axis=0)
    kept = WEIGHTS > 0.0
    one = Gaussian.of_rows(holes[kept], weights=WEIGHTS[kept], tolerance=1e-9)
    other = Gaussian.of_rows(again, tolerance=1e-9)
    np.testing.assert_allclose(one.S, other.S, rtol=1e-7, atol=1e-9)
    assert effective_rows(holes, one.S, WEIGHTS) == effective_rows(again, one.S)
    assert one.log_likelihood(holes, WEIGHTS) == pytest.approx(one.log_likelihood(again))
    model = AnalyticDAG(missing="em").fit(holes, sample_weight=WEIGHTS)
    assert model.moments_.n_samples == pytest.approx(
        AnalyticDAG(missing="em").fit(again).moments_.n_samples, abs=1
    )
    assert model.score(holes, sample_weight=WEIGHTS) == pytest.approx(model.score(again))
    dropped = AnalyticDAG(missing="drop").fit(holes, sample_weight=WEIGHTS)
    full = again[~np.isnan(again).any(axis=1)]
    np.testing.assert_array_equal(dropped.cpdag_, AnalyticDAG().fit(full).cpdag_)


def test_weights_that_cannot_be_are_refused() -> None:
    for weights, words in (
        (np.ones(3), "one weight for each of the 300 rows"),
        (np.ones((300, 1)), "one weight for each of the 300 rows"),
        (np.where(np.arange(300) == 7, -1.0, 1.0), "sample_weight is -1 in row 7"),
        (np.where(np.arange(300) == 7, np.nan, 1.0), "sample_weight is nan in row 7"),
        (np.zeros(300), "sample_weight is zero in every row"),
        (np.full(300, 1 / 300), "adds up to 1; weights act like repeated rows"),
        (["a"] * 300, "sample_weight must hold a number for each row"),
    ):
        with pytest.raises(DataError, match=words):
            AnalyticDAG().fit(X, sample_weight=weights)
    binary = (X > 0.0).astype(float)
    for settings in (
        {"loss": "logistic", "refine": False, "solver": "adam"},
        {"lambda1": "cv", "refine": False},
    ):
        with pytest.raises(ParameterError, match="goes by single rows"):
            AnalyticDAG(**settings).fit(binary, sample_weight=WEIGHTS)  # type: ignore[arg-type]


def test_scikit_learn_hands_weights_on() -> None:
    scores = cross_val_score(AnalyticDAG(), X, params={"sample_weight": WEIGHTS}, cv=3)
    assert np.isfinite(scores).all()


def in_words() -> Any:
    """Numbers and a category that acts on both."""
    rng = np.random.default_rng(3)
    c = rng.integers(0, 4, 600)
    x = np.array([0.0, 1.0, 0.5, -1.0])[c] + rng.normal(size=600)
    return pd.DataFrame({"c": np.array(list("abcd"))[c], "x": x, "y": x + rng.normal(size=600)})


@pytest.mark.parametrize("categorical", [True, False])
def test_levels_count_as_in_repeated_rows(categorical: bool) -> None:
    table = in_words()
    table.loc[:4, "c"] = "rare"
    weights = np.random.default_rng(4).integers(0, 4, len(table)).astype(float)
    weights[:5] = 3.0
    weights[table.c == "d"] = 0.0
    table["c"] = table.c.astype("category") if categorical else table.c
    repeats = table.loc[np.repeat(table.index, weights.astype(int))].reset_index(drop=True)
    weighted = AnalyticDAG().fit(table, sample_weight=weights)
    repeated = AnalyticDAG().fit(repeats)
    assert weighted.recipe_ is not None
    assert repeated.recipe_ is not None
    one, other = weighted.recipe_.columns[0], repeated.recipe_.columns[0]
    assert set(one.levels) == {"a", "b", "c", "rare"}
    assert (one.levels, one.merged) == (other.levels, other.merged)
    np.testing.assert_allclose(one.scores, other.scores, atol=2e-9)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-6)


def test_parts_of_rows_make_a_level() -> None:
    table = in_words().assign(c=["a", "b"] * 250 + ["c"] * 100)
    model = AnalyticDAG(kinds={"c": "category"}).fit(table, sample_weight=np.full(600, 0.1))
    assert model.recipe_ is not None
    assert model.recipe_.columns[0].levels == ("a", "b", "c")  # the last in 100 tenths of a row


def test_words_that_only_rows_of_weight_zero_hold_are_not_read() -> None:
    table = in_words().assign(s=["no", "yes"] * 300)
    table.loc[0] = ["?", np.nan, 0.0, "perhaps"]
    weights = np.ones(len(table))
    weights[0] = 0.0
    weighted = AnalyticDAG().fit(table, sample_weight=weights)
    np.testing.assert_allclose(weighted.weights_, AnalyticDAG().fit(table[1:]).weights_)
    with pytest.raises(DataError, match="zero in every row"):
        AnalyticDAG().fit(in_words(), sample_weight=0.0)
    with pytest.raises(DataError, match="one weight for each of the 600 rows"):
        AnalyticDAG().fit(in_words(), sample_weight=np.ones(3))
