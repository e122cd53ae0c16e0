"""Data checks: names kept, refusals that name the column and the cure, warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from analyticdag import AnalyticDAG
from analyticdag._redundant import redundant_columns, warn_about_columns
from analyticdag._tables import constant_columns
from analyticdag._validation import (
    check_covariance,
    check_table,
    column_names,
    looks_standardised,
)
from analyticdag.diagnostics import diagnose
from analyticdag.errors import DataError, DataWarning, ParameterError


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 2.0], **columns})


def checked(X: Any) -> tuple[Any, list[Any]]:
    estimator = BaseEstimator()
    values = check_table(estimator, X, reset=True)
    return values, column_names(estimator, values.shape[1])


@pytest.mark.parametrize("make", [frame, lambda: pl.from_pandas(frame())])
def test_names_are_kept(make: Any) -> None:
    values, names = checked(make())
    assert names == ["a", "b"]
    np.testing.assert_array_equal(values, frame().to_numpy())


def test_arrays_and_lists_get_numbers_for_names() -> None:
    assert checked([[1, 2], [3, 5]])[1] == [0, 1]
    assert checked(np.eye(3, dtype=np.int32))[0].dtype == np.float64


def test_columns_are_compared_when_not_reset() -> None:
    estimator = BaseEstimator()
    check_table(estimator, frame(), reset=True)
    with pytest.raises(DataError, match="feature names should match"):
        check_table(estimator, frame()[["b", "a"]], reset=False)


def test_booleans_and_nullable_numbers_are_numbers() -> None:
    values, _ = checked(frame(c=[True, False, True], d=pd.array([1, 2, 3], dtype="Int64")))
    np.testing.assert_array_equal(values[:, 2:], [[1, 1], [0, 2], [1, 3]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (frame(Mek=[1.0, np.nan, 2.0]), r"NaN in columns \['Mek'\]; impute or drop"),
        (frame(c=pd.array([1, None, 3], dtype="Int64")), r"NaN in columns \['c'\]"),
        (pl.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}), r"NaN in columns \['a'\]"),
        (frame(Akt=[1.0, np.inf, 2.0]), r"infinity \(inf\) in columns \['Akt'\]; replace"),
        (frame(c=["x", "y", "z"]), r"not numbers: \['c'\]; drop them or encode"),
        (pl.DataFrame({"a": [1.0, 2.0], "t": ["x", "y"]}), r"not numbers: \['t'\]"),
        (frame(c=pd.to_datetime(["2020-01-01"] * 3)), r"not numbers: \['c'\]"),
        (frame(c=pd.Categorical(["x", "y", "x"])), r"not numbers: \['c'\]"),
        (np.array([["1", "x"], ["2", "y"]]), "'x' in column 1, row 0, which is text"),
        (frame().head(1), "n_samples=1 rows; at least 2"),
        (frame().head(0), "n_samples=0 rows"),
        (np.ones((3, 0)), "0 feature"),
        (np.ones(3), "Reshape your data"),
        (pd.DataFrame(np.eye(3), columns=["a", "b", "a"]), r"one column named \['a'\]; rename"),
    ],
)
def test_bad_tables_are_refused(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        checked(X)


def test_the_callers_data_are_not_changed() -> None:
    X = np.arange(6.0).reshape(3, 2)
    X.setflags(write=False)
    checked(X)


def test_covariance_keeps_names_and_becomes_symmetric() -> None:
    S = pd.DataFrame([[1.0, 0.5], [0.5 + 1e-12, 1.0]], columns=["a", "b"])
    values, n, names = check_covariance(S, 10)
    assert (n, names) == (10, ["a", "b"])
    assert values[0, 1] == values[1, 0]


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.ones((2, 3)), r"square matrix, .* got shape \(2, 3\)"),
        (np.ones((0, 0)), "at least one column"),
        ([["a"]], "'a' in column 0, row 0"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), r"S has NaN in columns \[0, 1\]"),
        (np.array([[1.0, 0.5], [0.1, 1.0]]), "not symmetric"),
        (np.array([[1.0, 0.0], [0.0, -1.0]]), r"negative variances in columns \[1\]"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "negative eigenvalue"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), r"one column named \['a'\]"),
    ],
)
def test_bad_covariances_are_refused(S: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_covariance(S, 100)


@pytest.mark.parametrize("n", [1, 2.5, None, True])
def test_a_covariance_needs_its_number_of_rows(n: Any) -> None:
    with pytest.raises(ParameterError, match="n_samples must be the number of rows"):
        check_covariance(np.eye(2), n)


def test_constant_columns_are_found_up_to_rounding() -> None:
    X = np.array([[0.0, 1.0, 1e9, 1e-9], [0.0, 1.0, 1e9 + 1e-7, 2e-9]])
    np.testing.assert_array_equal(constant_columns(X), [True, True, True, False])


def look(X: Any) -> None:
    constant = constant_columns(X)
    S = np.cov(X.T, bias=True)
    found = redundant_columns(S, ~constant, n_samples=len(X))
    warn_about_columns(found, constant, list("abcd")[: X.shape[1]])


def noise(d: int) -> Any:
    return np.random.default_rng(0).normal(size=(50, d))


def test_constant_columns_are_named_in_a_warning() -> None:
    X = noise(3)
    X[:, 1] = 7.0
    with pytest.warns(DataWarning, match=r"\['b'\] are constant; they are kept as isolated"):
        look(X)


def test_duplicate_columns_are_named_in_a_warning() -> None:
    X = noise(3)
    X[:, 2] = -2.0 * X[:, 0] + 1.0
    with pytest.warns(DataWarning, match=r"\[\('a', 'c'\)\] are copies"):
        look(X)


def test_copies_with_other_gaps_are_named_in_a_warning() -> None:
    X = noise(4)
    X[:, 2] = -2.0 * X[:, 0] + 1.0
    X[:9, 0] = X[20:30, 2] = X[5:15, 3] = np.nan
    with pytest.warns(DataWarning, match=r"\[\(0, 2\)\] are copies of each other up to scale"):
        model = AnalyticDAG(missing="em").fit(X)
    assert diagnose(model, X, refit=False)["duplicate columns"].numbers["pairs"] == [[0, 2]]
    X[::2, 2] += 0.01 * noise(1)[::2, 0]
    diagnosis = diagnose(AnalyticDAG(missing="em").fit(X), X, refit=False)  # which warns of nothing
    assert diagnosis["duplicate columns"].numbers["pairs"] == []


def test_collinear_columns_are_named_in_a_warning() -> None:
    X = noise(4)
    X[:, 3] = X[:, 0] + X[:, 1]
    with pytest.warns(DataWarning, match=r"d = a \+ b: .*leave one of them out \(--drop d;"):
        look(X)
    X[:, 3] = 2.0 * X[:, 0] + np.pi * X[:, 1]
    with pytest.warns(DataWarning, match=r"\['a', 'b', 'd'\] are collinear"):
        look(X)


def test_healthy_columns_give_no_warning() -> None:
    look(noise(4) * np.array([1e9, 1.0, 1e-9, 1.0]))


def test_standardised_data_are_recognised() -> None:
    assert looks_standardised(np.array([1.0, 0.999, 1.001]))
    assert looks_standardised(np.array([0.98, 0.98, 0.98]))  # 50 rows, divided by 49
    assert not looks_standardised(np.zeros(3))
    assert not looks_standardised(np.array([1.0, 1.2]))
    assert not looks_standardised(np.array([1.0]))
