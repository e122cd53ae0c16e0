"""Rows with interventions: who is perturbed where, and what each equation is learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from analyticdag.errors import DataError
from analyticdag.interventions import intervention_mask, separated
from analyticdag.moments import Moments

NAMES = ["a", "b", "c"]
MASK = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]], dtype=bool)


@pytest.mark.parametrize(
    "given",
    [
        [None, "b", None, "c", "b", None],
        np.array(["", "b", "", "c", "b", ""]),
        [None, 1, None, 2, 1, None],
        [np.nan, 1.0, np.nan, 2.0, 1.0, np.nan],
        MASK,
        MASK.tolist(),
    ],
)
def test_every_spelling_is_the_same_mask(given: Any) -> None:
    names: list[Any] = [0, 1, 2] if isinstance(given, list) and given[1] == 1.0 else NAMES
    assert_array_equal(intervention_mask(given, names, 6), MASK)


def test_no_intervention_is_no_mask() -> None:
    assert intervention_mask(None, NAMES, 6) is None
    assert intervention_mask([None] * 6, NAMES, 6) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["b", None], r"for each of the 6 rows.*got shape \(2,\)"),
        ([None, "b", None, "z", None, None], "name 'z' in row 3, which is not a column"),
        ([None, 7, None, None, None, None], "name 7 in row 1"),
        (MASK[:3], r"the shape of X, \(6, 3\), but it has \(3, 3\)"),
        (["a", "a", "a", "a", "a", "b"], r"perturb \['a'\] in all rows but 1"),
        (np.ones((6, 3)), "or be a boolean mask"),
    ],
)
def test_refusals(given: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        intervention_mask(given, NAMES, 6)


def test_an_intervention_on_one_of_two_tells_them_apart() -> None:
    assert_array_equal(separated(MASK), ~np.eye(3, dtype=bool))
    together = np.array([[0, 0, 0], [1, 1, 0]], dtype=bool)
    expected = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert_array_equal(separated(together), np.array(expected, dtype=bool))


@given(st.integers(0, 10**6))
def test_every_equation_sees_the_rows_that_leave_its_node_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)) + rng.normal(size=5)
    mask = rng.random((40, 5)) < rng.choice([0.0, 0.3], size=5)
    moments = Moments.of_rows(X, mask)
    W = np.triu(rng.normal(size=(5, 5)), 1)
    left = moments.residual_variances(W)
    mean = moments.undisturbed_mean(W)
    for j in range(5):
        kept = X[~mask[:, j]]
        assert moments.samples_of[j] == len(kept)
        assert_allclose(moments.covariance_of(j), np.cov(kept.T, bias=True), atol=1e-10)
        residuals = kept[:, j] - kept @ W[:, j]
        assert_allclose(left[j], residuals.var(), rtol=1e-8)
        # The mean of the undisturbed system leaves what the equation leaves on average.
        assert_allclose(mean[j] - mean @ W[:, j], residuals.mean(), atol=1e-8)
    own_rows = {column.tobytes() for column in mask.T if column.any()}
    assert len(moments.covariances) == 1 + len(own_rows)
    assert_allclose(moments.S, np.cov(X.T, bias=True), atol=1e-10)
