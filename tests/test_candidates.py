"""Candidate masks: what each keeps, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from analyticdag.candidates import candidate_mask, correlations
from analyticdag.errors import MissingDependencyError, ParameterError


def chain_covariance() -> Any:
    """The covariance of x0 -> x1 -> x2 with unit weights and noise, beside a lone x3."""
    back = np.linalg.inv(np.eye(4) - np.diag([1.0, 1.0, 0.0], 1))
    return back.T @ back


def test_none_keeps_every_pair_but_no_loop() -> None:
    mask = candidate_mask(None, chain_covariance(), 100)
    np.testing.assert_array_equal(mask, ~np.eye(4, dtype=bool))


def test_correlation_keeps_what_is_correlated() -> None:
    mask = candidate_mask("correlation", chain_covariance(), 100)
    assert mask[0, 1]
    assert mask[0, 2]
    assert not mask[3].any()
    assert not mask.diagonal().any()


def test_correlation_threshold_is_a_tenth() -> None:
    S = np.array([[1.0, 0.11, 0.09], [0.11, 1.0, 0.0], [0.09, 0.0, 1.0]])
    mask = candidate_mask("correlation", S, 100)
    assert mask[0, 1]
    assert not mask[0, 2]


def test_markov_keeps_neighbours_only() -> None:
    mask = candidate_mask("markov", chain_covariance(), 1000)
    expected = np.zeros((4, 4), dtype=bool)
    for i, j in [(0, 1), (1, 2)]:
        expected[i, j] = expected[j, i] = True
    np.testing.assert_array_equal(mask, expected)


def test_markov_level_is_five_percent() -> None:
    rng = np.random.default_rng(0)
    S = np.cov(rng.normal(size=(20_000, 60)).T, bias=True)
    mask = candidate_mask("markov", S, 20_000)
    assert mask[np.triu_indices(60, 1)].mean() == pytest.approx(0.05, abs=0.015)


def test_markov_refuses_too_few_rows() -> None:
    with pytest.raises(ParameterError, match="needs more than d \\+ 1 = 5 rows"):
        candidate_mask("markov", chain_covariance(), 5)


def test_pc_keeps_the_direction_of_a_collider_and_leaves_other_edges_open() -> None:
    W = np.zeros((5, 5))
    W[0, 2] = W[1, 2] = W[3, 4] = 1.0
    back = np.linalg.inv(np.eye(5) - W)
    expected = W != 0
    expected[4, 3] = True
    np.testing.assert_array_equal(candidate_mask("pc", back.T @ back, 500), expected)


def test_pc_takes_long_tables_and_refuses_endless_ones() -> None:
    few, many = (candidate_mask("pc", chain_covariance(), n) for n in (1_000, 100_000))
    np.testing.assert_array_equal(many, few)
    with pytest.raises(ParameterError, match="more than 200,000,000 cells; use 'correlation'"):
        candidate_mask("pc", chain_covariance(), 10**9)


def test_pc_refuses_too_few_rows() -> None:
    with pytest.raises(ParameterError, match="needs more rows than the covariance has rank, 4"):
        candidate_mask("pc", chain_covariance(), 4)


@pytest.mark.filterwarnings("ignore:The number of features is much larger")
def test_pc_works_with_fewer_rows_than_columns() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 80))
    rows[:, 1] += 3.0 * rows[:, 0]
    rows -= rows.mean(axis=0)
    mask = candidate_mask("pc", rows.T @ rows / 60, 60)
    assert mask[0, 1] or mask[1, 0]
    assert mask.sum() < 80 * 79 / 4


def test_pc_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pybnesian", None)
    with pytest.raises(MissingDependencyError, match=r"analyticdag\[pc\]"):
        candidate_mask("pc", chain_covariance(), 100)


def test_a_mask_of_ones_own_may_be_directed() -> None:
    mine = np.triu(np.ones((4, 4), dtype=bool))
    mask = candidate_mask(mine, chain_covariance(), 10)
    np.testing.assert_array_equal(mask, np.triu(mine, 1))


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ("lasso", "not 'lasso'"),
        (np.ones((4, 4)), "must be boolean with shape .4, 4., but it has dtype float64"),
        (np.ones((3, 3), dtype=bool), r"shape \(3, 3\)"),
    ],
)
def test_refusals(candidates: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        candidate_mask(candidates, chain_covariance(), 100)


def test_a_constant_column_correlates_with_nothing() -> None:
    R = correlations(np.diag([4.0, 0.0]))
    np.testing.assert_array_equal(R, np.eye(2))
