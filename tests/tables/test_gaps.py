"""Maximum likelihood from rows with gaps, against answers that are known otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError, DataWarning, ParameterError
from analyticdag.fitting.statistics import moments_with_gaps
from analyticdag.metrics import compare
from analyticdag.moments import Moments
from analyticdag.simulate import simulate
from analyticdag.stability import bootstrap
from analyticdag.tables import Gaussian, effective_rows, pair_counts

EXACT = 1e-7


def rows(n: int = 300, d: int = 4, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mix = rng.standard_normal((d, d)) + np.eye(d)
    X: np.ndarray = rng.standard_normal((n, d)) @ mix + [10.0, -3.0, 0.5, 1000.0][:d]
    return X


def with_gaps(X: np.ndarray, share: float, seed: int = 1) -> np.ndarray:
    gaps = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gaps, np.nan, X)


def likelihood(X: np.ndarray, mean: np.ndarray, S: np.ndarray) -> float:
    """The likelihood of the cells that are there, row by row, as the definition has it."""
    total = 0.0
    for row in X:
        o = ~np.isnan(row)
        if o.any():
            total += stats.multivariate_normal(mean[o], S[np.ix_(o, o)]).logpdf(row[o])
    return total


def test_without_gaps_it_is_the_mean_and_the_covariance() -> None:
    X = rows()
    found = Gaussian.of_rows(X)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.S, np.cov(X.T, bias=True), rtol=1e-6)


def test_a_monotone_pattern_has_an_answer_in_closed_form() -> None:
    """Anderson (1957): what is always there, then regressions on it where the rest is there."""
    X = rows(d=2)
    X[200:, 1] = np.nan
    full = X[:200]
    slope = np.cov(full.T, bias=True)[0, 1] / full[:, 0].var()
    left = (full[:, 1] - slope * full[:, 0]).var()
    mean = full[:, 1].mean() + slope * (X[:, 0].mean() - full[:, 0].mean())
    v = X[:, 0].var()
    found = Gaussian.of_rows(X, tolerance=EXACT)
    np.testing.assert_allclose(found.mean, [X[:, 0].mean(), mean], rtol=1e-7)
    expected = [[v, slope * v], [slope * v, left + slope**2 * v]]
    np.testing.assert_allclose(found.S, expected, rtol=1e-6)


def test_no_optimiser_finds_a_better_point() -> None:
    X = with_gaps(rows(120, 3), 0.3)
    X = X[~np.isnan(X).all(axis=1)]
    found = Gaussian.of_rows(X, tolerance=EXACT)
    lower = np.tril_indices(3)

    def cost(point: np.ndarray) -> float:
        root = np.zeros((3, 3))
        root[lower] = point[3:]
        return -likelihood(X, point[:3], root @ root.T + 1e-12 * np.eye(3))

    start = np.concatenate([np.nanmean(X, axis=0), np.diag(np.nanstd(X, axis=0))[lower]])
    best = optimize.minimize(cost, start, method="BFGS", options={"gtol": 1e-4})
    ours = likelihood(X, found.mean, found.S)
    assert ours == pytest.approx(-best.fun, abs=1e-4)
    np.testing.assert_allclose(found.mean, best.x[:3], rtol=1e-3)
    assert found.log_likelihood(X) == pytest.approx(ours, rel=1e-9)


def textbook_em(X: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """EM as in Little and Rubin (2002, section 11.2): row by row, one regression for each."""
    mean, S = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(steps):
        total, square = np.zeros(len(mean)), np.zeros(S.shape)
        for row in X:
            m = np.isnan(row)
            filled, unsure = row.copy(), np.zeros(S.shape)
            slopes = S[np.ix_(m, ~m)] @ np.linalg.pinv(S[np.ix_(~m, ~m)])
            filled[m] = mean[m] + slopes @ (row - mean)[~m]
            unsure[np.ix_(m, m)] = S[np.ix_(m, m)] - slopes @ S[np.ix_(~m, m)]
            total += filled
            square += np.outer(filled, filled) + unsure
        mean = total / len(X)
        S = square / len(X) - np.outer(mean, mean)
    return mean, S


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_textbook_em_ends_at_the_same_point(share: float) -> None:
    X = with_gaps(rows(80, 4), share)
    found = Gaussian.of_rows(X, tolerance=1e-9)
    mean, S = textbook_em(X, 400)
    sd = np.sqrt(np.diag(S))
    np.testing.assert_allclose((found.mean - mean) / sd, 0.0, atol=1e-6)
    np.testing.assert_allclose((found.S - S) / np.outer(sd, sd), 0.0, atol=1e-6)


def test_a_whole_pattern_may_be_missing() -> None:
    """Half of the rows lack two columns, the other half two others."""
    X = simulate("ER1", n_nodes=6, n_samples=1200, noise_scale=(0.5, 1.5), seed=8).data
    X[:400, :2] = X[400:800, 2:4] = np.nan
    found = Gaussian.of_rows(X)
    assert np.isfinite(found.S).all()
    model = AnalyticDAG(missing="em").fit(X)
    assert model.status_.converged
    assert 400 <= model.moments_.n_samples < 1200


def test_units_do_not_matter() -> None:
    X, scale = with_gaps(rows(), 0.2), np.array([1e-9, 1.0, 1e12, 3.0])
    one, other = Gaussian.of_rows(X), Gaussian.of_rows(X * scale)
    np.testing.assert_allclose(other.S, one.S * np.outer(scale, scale), rtol=1e-6)


def test_a_constant_column_is_known_where_it_is_missing() -> None:
    X = with_gaps(rows(), 0.2)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, 7.0)
    found = Gaussian.of_rows(X)
    assert found.mean[1] == 7.0
    assert not found.S[1].any()
    assert (found.filled(X)[:, 1] == 7.0).all()


def test_copies_and_more_columns_than_rows_are_survived() -> None:
    X = with_gaps(rows(), 0.2)
    copied = Gaussian.of_rows(np.column_stack([X, X[:, 0]]))
    assert np.isfinite(copied.S).all()
    wide = with_gaps(np.random.default_rng(0).standard_normal((15, 25)), 0.1)
    assert np.isfinite(Gaussian.of_rows(wide).S).all()


def test_gaps_are_filled_by_what_is_expected_or_by_a_draw() -> None:
    X = rows(4000, 2)
    Y = X.copy()
    Y[::2, 1] = np.nan
    found = Gaussian.of_rows(Y)
    expected = found.filled(Y)
    slope = found.S[0, 1] / found.S[0, 0]
    line = found.mean[1] + slope * (Y[:, 0] - found.mean[0])
    np.testing.assert_allclose(expected[::2, 1], line[::2], rtol=1e-6)
    np.testing.assert_array_equal(expected[1::2], Y[1::2])
    drawn = found.filled(Y, np.random.default_rng(0))
    assert drawn[::2, 1].std() == pytest.approx(X[::2, 1].std(), rel=0.05)
    assert expected[::2, 1].std() < drawn[::2, 1].std()


def test_rows_count_only_as_far_as_pairs_are_there() -> None:
    X = rows(1000)
    assert effective_rows(X, np.cov(X.T)) == 1000
    Y = with_gaps(X, 0.3)
    counts = pair_counts(Y)
    assert (counts[0, 1], counts[2, 2]) == (
        int((~np.isnan(Y[:, [0, 1]]).any(axis=1)).sum()),
        int((~np.isnan(Y[:, 2])).sum()),
    )
    n = effective_rows(Y, Gaussian.of_rows(Y).S)
    assert counts[~np.eye(4, dtype=bool)].min() <= n <= counts[~np.eye(4, dtype=bool)].max()


@pytest.fixture(scope="module")
def drawn() -> tuple[np.ndarray, np.ndarray]:
    one = simulate("ER1", n_nodes=8, n_samples=1500, seed=4)
    return one.weights != 0, one.data


def test_a_fit_with_thirty_per_cent_missing(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    truth, X = drawn
    model = AnalyticDAG(missing="em").fit(with_gaps(X, 0.3))
    assert compare(truth, model.adjacency_matrix_ != 0).as_dict()["shd_cpdag"] <= 1
    assert 0.4 * 1500 < model.moments_.n_samples < 0.6 * 1500
    assert np.isfinite(model.score(with_gaps(X, 0.3)))
    errors = {e[:2]: e.standard_error for e in AnalyticDAG().fit(X).edges_}
    for edge in model.edges_:
        assert edge.standard_error > errors.get(edge[:2], 0.0)


def test_python_refuses_gaps_unless_told(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    X = with_gaps(drawn[1], 0.01)
    with pytest.raises(DataError, match=r"has NaN in columns .* pass missing='em'"):
        AnalyticDAG().fit(X)
    with pytest.raises(ParameterError, match="missing must be one of"):
        AnalyticDAG(missing="mean").fit(X)
    full = X[~np.isnan(X).any(axis=1)]
    np.testing.assert_array_equal(
        AnalyticDAG(missing="drop").fit(X).weights_, AnalyticDAG().fit(full).weights_
    )
    X[:, 0] = np.where(np.arange(len(X)) == 3, X[:, 0], np.nan)
    with pytest.raises(DataError, match=r"columns \[0\] have fewer than two values"):
        AnalyticDAG(missing="em").fit(X)
    X[:5, 0], X[5:, 1] = 1.0, 2.0
    X[:5, 1] = np.nan
    with pytest.raises(DataError, match="leaving them out leaves 0; use missing='em'"):
        AnalyticDAG(missing="drop").fit(X)


def test_what_needs_whole_rows_says_so(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    X = with_gaps(drawn[1], 0.05)
    with pytest.raises(ParameterError, match="lambda1='cv' needs rows without gaps"):
        AnalyticDAG(missing="em", lambda1="cv", refine=False, loss="mse").fit(X)


def test_scores_and_predictions_of_new_rows_with_gaps() -> None:
    X = rows(500, 3)
    model = AnalyticDAG(missing="em").fit(with_gaps(X, 0.1))
    # With nothing missing the two ways to compute a likelihood agree.
    whole = model.score(X)
    again = X.copy()
    again[0, 0] = np.nan
    part = model.score(again)
    assert part != whole
    assert abs(part - whole) < 0.1
    assert np.isfinite(model.predict(again)).all()
    np.testing.assert_allclose(model.predict(again)[1:], model.predict(X)[1:])


def test_interventions_with_gaps(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    _, X = drawn
    X = X[:400]
    mask = np.zeros(X.shape, dtype=bool)
    mask[300:350, 0] = mask[350:, 3] = True
    few = X.copy()
    few[7, 2] = few[310, 5] = np.nan
    near, exact = moments_with_gaps(few, mask), Moments.of_rows(X, mask)
    np.testing.assert_array_equal(near.of, exact.of)
    sd = np.sqrt(exact.own_variances)
    np.testing.assert_allclose(
        near.covariances / np.outer(sd, sd), exact.covariances / np.outer(sd, sd), atol=0.02
    )
    model = AnalyticDAG(missing="em").fit(with_gaps(X, 0.1), interventions=mask)
    assert model.interventions_ is not None
    assert model.status_.converged


def test_bootstrap_with_gaps(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    truth, X = drawn
    found = bootstrap(AnalyticDAG(missing="em"), with_gaps(X[:300], 0.1), 5)
    assert found.skeleton_frequency[truth].mean() > 0.6


def test_a_pair_that_is_never_there_together_gets_no_edge() -> None:
    rng = np.random.default_rng(0)
    cause = rng.standard_normal(600)
    X = np.column_stack([cause + 0.3 * rng.standard_normal(600) for _ in range(3)])
    X[:300, 0] = np.nan
    X[300:, 1] = np.nan
    with pytest.warns(DataWarning, match=r"columns \[\(0, 1\)\] are there together in fewer than"):
        model = AnalyticDAG(missing="em").fit(X)
    assert not model.adjacency_matrix_[0, 1]
    assert not model.adjacency_matrix_[1, 0]
    assert model.adjacency_matrix_.sum() == 2
