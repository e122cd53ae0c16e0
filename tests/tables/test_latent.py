"""Latent correlations: right on average, exact for two levels, as certain as they say, fast."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from analyticdag._typing import FloatArray
from analyticdag.tables.latent import (
    FEWEST,
    LEAST,
    MOST,
    Cuts,
    counted,
    efficiency,
    latent_correlations,
    number_series,
    positive_definite,
    repaired,
    score_correlations,
    score_variances,
)

TRUE = np.array(
    [[1.0, 0.5, 0.8, -0.3], [0.5, 1.0, 0.4, -0.2], [0.8, 0.4, 1.0, -0.6], [-0.3, -0.2, -0.6, 1.0]]
)


def recorded(n: int, rng: np.random.Generator) -> FloatArray:
    """Yes/no, ordered, yes/no, number."""
    z = rng.multivariate_normal(np.zeros(4), TRUE, n)
    z[:, 0] = z[:, 0] > 0.3
    z[:, 1] = np.digitize(z[:, 1], [-0.5, 0.5, 1.0])
    z[:, 2] = z[:, 2] > 0.0
    return z


def scored(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    Z, series = X.copy(), np.tile(number_series(), (4, 1))
    for k in range(3):
        cuts = Cuts.between(*counted(X[:, k], None))
        assert cuts is not None
        Z[:, k], series[k] = cuts.scored(X[:, k]), cuts.series
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    return Z, Z.T @ Z / len(Z), series


def test_latent_correlations_are_those_before_the_cut() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(40):
        _, R, series = scored(recorded(1000, rng))
        found.append(latent_correlations(R, series))
    np.testing.assert_allclose(np.mean(found, axis=0), TRUE, atol=0.02)
    # Codes as numbers are further from them than that.
    assert abs(np.mean([np.corrcoef(recorded(1000, rng)[:, [0, 2]].T)[0, 1]]) - 0.8) > 0.15


def test_of_two_levels_they_are_tetrachoric_exactly() -> None:
    X = recorded(2000, np.random.default_rng(1))[:, [0, 2]]
    p, q, both = X[:, 0].mean(), X[:, 1].mean(), (X[:, 0] * X[:, 1]).mean()
    limits = [norm.ppf(p), norm.ppf(q)]

    def excess(rho: float) -> float:
        return float(multivariate_normal.cdf(limits, cov=[[1.0, rho], [rho, 1.0]]) - both)

    tetrachoric = brentq(excess, -0.99, 0.99)
    cuts = [Cuts.between(*counted(x, None)) for x in X.T]
    Z = np.column_stack([cut.scored(x) for cut, x in zip(cuts, X.T, strict=True) if cut])
    found = latent_correlations(np.corrcoef(Z.T), np.array([cut.series for cut in cuts if cut]))
    assert found[0, 1] == pytest.approx(tetrachoric, abs=1e-6)


def test_a_row_is_worth_what_the_scatter_of_the_estimates_says() -> None:
    rng = np.random.default_rng(2)
    found, worth = [], []
    for _ in range(300):
        Z, R, series = scored(recorded(1000, rng))
        found.append(latent_correlations(R, series))
        worth.append(efficiency(score_variances(Z, R), found[-1], series))
    seen = (1.0 - TRUE**2) ** 2 / 1000 / np.maximum(np.var(found, axis=0), 1e-12)
    pairs = np.triu_indices(4, 1)
    np.testing.assert_allclose(np.mean(worth, axis=0)[pairs], seen[pairs], rtol=0.25)
    assert np.mean(worth, axis=0)[pairs].max() < 0.95


def test_scores_and_latent_correlations_lead_to_each_other() -> None:
    _, R, series = scored(recorded(1000, np.random.default_rng(3)))
    np.testing.assert_allclose(
        score_correlations(latent_correlations(R, series), series), R, atol=1e-6
    )


def test_many_columns_have_the_correlations_of_their_pairs() -> None:
    rng = np.random.default_rng(6)
    common = rng.standard_normal((1000, 1))
    X = (common + rng.standard_normal((1000, 70)) > 0.0).astype(float)
    cuts = [Cuts.between(*counted(x, None)) for x in X.T]
    Z = np.column_stack([cut.scored(x) for cut, x in zip(cuts, X.T, strict=True) if cut])
    R, series = np.corrcoef(Z.T), np.array([cut.series for cut in cuts if cut])
    together = latent_correlations(R, series)
    for pair in ([0, 1], [0, 69], [33, 2], [40, 69]):
        alone = latent_correlations(R[np.ix_(pair, pair)], series[pair])
        assert together[pair[0], pair[1]] == pytest.approx(alone[0, 1], abs=1e-8)


def test_cuts_with_too_few_rows_on_a_side_are_not_made() -> None:
    values = np.repeat([0.0, 1.0, 2.0, 3.0], [200, FEWEST - 1, 100, FEWEST - 1])
    cuts = Cuts.between(*counted(values, None))
    assert cuts is not None
    assert len(cuts.thresholds) == 1  # below 1: between 1 and 2 there are too few, above 2 as well
    assert len(set(cuts.scores.tolist())) == 2
    assert Cuts.between(*counted(np.repeat([0.0, 1.0], [200, FEWEST - 1]), None)) is None
    with_gaps = np.concatenate([values, [np.nan]])
    assert np.isnan(cuts.scored(with_gaps)[-1])


def test_correlations_of_copies_stay_below_one_and_the_matrix_is_definite() -> None:
    x = (np.random.default_rng(4).random(500) < 0.3).astype(float)
    cuts = Cuts.between(*counted(x, None))
    assert cuts is not None
    found = latent_correlations(np.ones((3, 3)), np.tile(cuts.series, (3, 1)))
    assert found[0, 1] == pytest.approx(MOST, abs=1e-3)
    fixed = positive_definite(np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]))
    assert np.linalg.eigvalsh(fixed)[0] > LEAST / 2
    np.testing.assert_allclose(np.diag(fixed), 1.0)


def test_rounding_does_not_move_latent_correlations() -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_normal((4000, 6)) @ rng.normal(size=(6, 6))
    codes = np.column_stack([np.digitize(x, np.quantile(x, [0.3, 0.6])) for x in X.T]).astype(float)
    cuts = [Cuts.between(*counted(x, None)) for x in codes.T]
    series = np.array([cut.series for cut in cuts if cut is not None])
    scored = [cut.scored(x) for cut, x in zip(cuts, codes.T, strict=True) if cut is not None]
    R = np.corrcoef(scored)
    there = latent_correlations(R, series)
    for _ in range(20):
        nearby = R + 1e-15 * rng.standard_normal(R.shape)
        moved = latent_correlations((nearby + nearby.T) / 2.0, series)
        np.testing.assert_allclose(moved, there, rtol=0, atol=1e-12)


def test_only_latent_columns_are_repaired() -> None:
    R = np.array([[1.0, 0.995, 0.9, 0.0], [0.995, 1.0, 0.9, 0.0], [0.9, 0.9, 1.0, 0.6],
                  [0.0, 0.0, 0.6, 1.0]])  # fmt: skip
    assert np.linalg.eigvalsh(R)[0] < 0.0
    fixed = repaired(R, np.array([2, 3]), 0.05)
    np.testing.assert_allclose(fixed[:2, :2], R[:2, :2], atol=1e-12)
    np.testing.assert_allclose(np.diag(fixed), 1.0)
    given = fixed[2:, 2:] - fixed[2:, :2] @ np.linalg.solve(fixed[:2, :2], fixed[:2, 2:])
    assert np.linalg.eigvalsh(given)[0] > 0.03
    sound = TRUE.copy()
    np.testing.assert_allclose(repaired(sound, np.array([0, 1, 2]), 0.05), TRUE)
