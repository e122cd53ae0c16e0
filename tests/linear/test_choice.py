"""loss="auto": the decision between equal and unequal variances."""

from __future__ import annotations

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag._typing import FloatArray
from analyticdag.fitting.edges import FixedBy
from analyticdag.fitting.statistics import Statistics
from analyticdag.linear.choice import (
    EQUAL,
    UNEQUAL,
    LossChoice,
    Residuals,
    choose_loss,
    variances_agree,
)
from analyticdag.losses import covariance


def decided(X: FloatArray, *, rows: bool = True) -> LossChoice:
    """Decide on columns without edges: only their variances count."""
    names = list(range(X.shape[1]))
    if rows:
        statistics = Statistics.from_table(X, names, standardize=False)
    else:
        statistics = Statistics.from_covariance(covariance(X), len(X), names, standardize=False)
    nothing = np.zeros((X.shape[1], X.shape[1]))
    found = Residuals(statistics, nothing)
    return choose_loss(found, found)


def test_equal_and_unequal_scales_are_told_apart() -> None:
    X = np.random.default_rng(0).normal(size=(300, 8))
    assert decided(X).loss == EQUAL
    assert decided(X * np.linspace(0.5, 1.5, 8)).loss == UNEQUAL
    # The common unit of all columns is no matter.
    assert decided(1000.0 * X).margin == pytest.approx(decided(X).margin)


def test_heavy_tails_do_not_look_like_unequal_scales() -> None:
    X = np.random.default_rng(1).standard_t(3, size=(300, 8))
    with_rows, without = decided(X), decided(X, rows=False)
    assert with_rows.kurtosis > 6.0
    assert without.kurtosis == 3.0
    assert with_rows.equal < with_rows.unequal
    # With such tails 300 rows are too few to notice moderately unequal scales.
    assert (with_rows.loss, "too few" in with_rows.reason) == (UNEQUAL, True)
    # A covariance cannot tell tails: the Gaussian's test is all there is, and it rejects.
    assert without.loss == UNEQUAL


def test_few_rows_with_heavy_tails_do_not_show_equal_variances() -> None:
    rng = np.random.default_rng(5)
    X = rng.laplace(size=(60, 100))
    assert decided(X).loss == EQUAL
    unequal = decided(X * np.exp(rng.normal(scale=0.15, size=100)))
    assert unequal.equal < unequal.unequal  # BIC would have accepted them
    assert "differ by more than chance" in unequal.barred
    assert unequal.loss == UNEQUAL


def test_one_quiet_column_is_seen_among_heavy_tails() -> None:
    X = np.random.default_rng(2).standard_t(3, size=(800, 8))
    X[:, 0] *= 0.1
    assert decided(X).loss == UNEQUAL


@pytest.mark.parametrize(
    ("columns", "louder", "agree"),
    [(400, 0, True), (400, 2, True), (400, 8, False), (40, 1, False)],
)
def test_one_column_in_two_hundred_may_stand_out(columns: int, louder: int, agree: bool) -> None:
    X = np.random.default_rng(4).normal(size=(500, columns)) * 5.0
    X[:, :louder] *= 2.0
    statistics = Statistics.from_table(X, list(range(columns)), standardize=False)
    assert variances_agree(Residuals(statistics, np.zeros((columns, columns)))) is agree


def test_the_decision_is_a_sentence() -> None:
    assert "accepted (BIC better by 3.0)" in LossChoice(1.0, 4.0, 3.0).reason
    assert "only the equivalence class" in LossChoice(4.0, 1.0, 3.0).reason


def test_the_estimator_says_what_it_chose_and_what_follows() -> None:
    X = np.random.default_rng(3).normal(size=(500, 2))
    X[:, 1] += 1.5 * X[:, 0]
    equal = AnalyticDAG(solver="order").fit(X)
    assert (equal.loss_, equal.loss_choice_.loss) == (EQUAL, EQUAL)  # type: ignore[union-attr]
    assert [edge.fixed_by for edge in equal.edges_] == [FixedBy.EQUAL_VARIANCES]
    assert equal.edges_[0][:2] == (0, 1)
    scaled = AnalyticDAG(solver="order").fit(X * [1.0, 0.1])
    assert scaled.loss_ == UNEQUAL
    assert [edge.fixed_by for edge in scaled.edges_] == [FixedBy.NOTHING]
