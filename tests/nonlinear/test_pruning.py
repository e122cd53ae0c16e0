"""Tests of edges on splines, and neighbours by trees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analyticdag.nonlinear.learn import plausible_parents
from analyticdag.nonlinear.pruning import significance


def bent(n: int = 400) -> np.ndarray:
    """0 and 1 cause 2, by a parabola and a line; 3 is noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[:, 2] += X[:, 0] ** 2 + 0.5 * X[:, 1]
    return X


def into(target: int, d: int = 4) -> np.ndarray:
    adjacency = np.zeros((d, d), dtype=bool)
    adjacency[:, target] = True
    adjacency[target, target] = False
    return adjacency


def test_true_parents_stay_and_noise_goes() -> None:
    tests = significance(bent(), into(2))
    assert tests.keeps(1e-3)[:, 2].tolist() == [True, True, False, False]
    assert tests.partial_r2[0, 2] > tests.partial_r2[1, 2] > tests.partial_r2[3, 2] >= 0.0
    assert (tests.p_value[:, :2] == 1.0).all()


def test_a_single_parent_of_few_values_is_an_ordinary_regression() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(60, 2)).astype(float)
    X[:, 1] += rng.normal(size=60)
    expected = stats.linregress(X[:, 0], X[:, 1])
    tests = significance(X, np.array([[False, True], [False, False]]))
    assert tests.p_value[0, 1] == pytest.approx(expected.pvalue)
    assert tests.partial_r2[0, 1] == pytest.approx(expected.rvalue**2)


def test_p_values_of_noise_are_uniform() -> None:
    rng = np.random.default_rng(2)
    found = [significance(rng.normal(size=(100, 2)), into(1, 2)).p_value[0, 1] for _ in range(200)]
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_of_copies_one_stays_and_is_tested_as_if_alone() -> None:
    X = bent()
    X[:, 1] = X[:, 0]
    tests = significance(X, into(2))
    alone = into(2)
    alone[1, 2] = False
    expected = significance(X, alone)
    assert tests.p_value[1, 2] == 1.0
    np.testing.assert_allclose(tests.p_value[[0, 3], 2], expected.p_value[[0, 3], 2], rtol=1e-6)
    np.testing.assert_allclose(tests.partial_r2, expected.partial_r2, rtol=1e-6, atol=1e-12)


def test_of_columns_that_add_up_to_one_all_but_one_can_stay() -> None:
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, size=300)
    y = np.array([0.0, 2.0, 5.0])[group] + rng.normal(size=300)
    tests = significance(np.column_stack([np.eye(3)[group], y]), into(3))
    assert tests.keeps(1e-3)[:, 3].sum() == 2


def test_an_exact_function_of_a_parent_gives_no_warning() -> None:
    X = bent()
    X[:, 2] = 3.0 * X[:, 0]
    assert significance(X, into(2)).keeps(1e-3)[:, 2].tolist()[0]


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_too_few_rows_prove_nothing_wrong(n: int) -> None:
    tests = significance(bent(n), into(2))
    assert ((tests.p_value >= 0.0) & (tests.p_value <= 1.0)).all()


def test_neighbours_are_found_among_what_is_allowed() -> None:
    allowed = into(2)
    found = plausible_parents(bent(), allowed, seed=0)
    assert found[0, 2]
    assert not found[3, 2]
    assert not (found & ~allowed).any()
