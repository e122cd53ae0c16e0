"""The gate for values: every kind of table becomes float64 columns, or gets one line that helps."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from analyticdag import AnalyticDAG
from analyticdag._tables import read_columns
from analyticdag.baselines import conditional_variance, empty_graph, notears, sort_and_regress
from analyticdag.diagnostics import diagnose
from analyticdag.errors import DataError, DataKindError, InputError
from analyticdag.metrics import compare
from analyticdag.orders import r2_order, variance_order
from analyticdag.search import search_orders
from analyticdag.simulate import sample
from analyticdag.stability import bootstrap

X = np.arange(6.0).reshape(3, 2)
HOLES = np.ma.array(X, mask=X > 4.0)


def numpy_matrix() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix(X)


GOOD: dict[str, Any] = {
    "Fortran order": np.asfortranarray(X),
    "integers": X.astype(np.uint8),
    "half precision": X.astype(np.float16),
    "objects": X.astype(object),
    "texts of numbers": X.astype(str),
    "np.matrix": numpy_matrix(),
    "nothing masked": np.ma.array(X),
    "lists": X.tolist(),
    "tuples": tuple(map(tuple, X)),
    "memoryview": memoryview(X),  # type: ignore[arg-type]
    "tensor": torch.tensor(X, requires_grad=True),
    "pandas": pd.DataFrame(X, columns=["a", "b"]),
    "pandas integers": pd.DataFrame(X, columns=["a", "b"]).astype("Int64"),
    "pandas sparse": pd.DataFrame(X, columns=["a", "b"]).astype(pd.SparseDtype(float)),
    "mixed names": pd.DataFrame(X, columns=[7, "b"]),
    "tuples for names": pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
    "polars": pl.DataFrame(X, schema=["a", "b"]),
    "polars decimals": pl.DataFrame(X, schema=["a", "b"]).cast(pl.Decimal(10, 2)),
}


@pytest.mark.parametrize("kind", GOOD)
def test_every_kind_of_table_is_read(kind: str) -> None:
    values, names = read_columns(GOOD[kind])
    assert type(values) is np.ndarray
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, X)
    assert names is None or len(names) == 2


def test_names_are_text_or_whole_numbers() -> None:
    assert read_columns(GOOD["mixed names"])[1] == [7, "b"]
    assert read_columns(GOOD["tuples for names"])[1] == ["('a', 1)", "('a', 2)"]
    assert read_columns(pd.DataFrame(X, columns=[1.5, "x"]))[1] == ["1.5", "x"]


def test_tables_of_arrow_are_read() -> None:
    arrow = pytest.importorskip("pyarrow")
    values, names = read_columns(arrow.table({"a": [1, 2], "b": [0.5, None]}))
    assert names == ["a", "b"]
    np.testing.assert_array_equal(values, [[1.0, 0.5], [2.0, np.nan]])


@pytest.mark.parametrize(
    "table",
    [
        HOLES,
        HOLES.astype(int),
        [np.ma.array([0.0, 1.0]), np.ma.array([2.0, 3.0]), np.ma.array([4.0, 5.0], mask=[0, 1])],
        np.ma.array(X.astype(object), mask=X > 4.0),
        [[0, 1], [2, 3], [4, None]],
        pd.DataFrame([[0, 1], [2, 3], [4, pd.NA]]),
        pd.DataFrame({"a": [0.0, 2.0, 4.0], "b": pd.array([1, 3, None], dtype="Int64")}),
        pl.DataFrame({"a": [0, 2, 4], "b": [1, 3, None]}),
    ],
)
def test_masked_and_missing_cells_are_nan_and_refused_by_name(table: Any) -> None:
    values, names = read_columns(table)
    np.testing.assert_array_equal(values, [[0, 1], [2, 3], [4, np.nan]])
    column = 1 if names is None else names[1]
    with pytest.raises(DataError) as caught:
        AnalyticDAG().fit(table)
    assert str(caught.value) == (
        f"X has NaN in columns [{column!r}]; impute or drop them, or pass missing='em' to learn "
        "from the rows as they are (of batches, or with loss='logistic': missing='drop') (first: "
        "row 2)"
    )


BAD: dict[str, tuple[Any, str]] = {
    "sparse array": (sparse.csr_array(X), r"X is sparse.*; pass X\.toarray\(\)"),
    "sparse matrix": (sparse.coo_matrix(X), "X is sparse"),
    "dict": ({"a": [1.0]}, r"as pandas\.DataFrame\(X\)"),
    "generator": ((row for row in X), r"pass list\(X\)"),
    "lazy": (pl.DataFrame(X).lazy(), r"pass X\.collect\(\)"),
    "path": ("data.csv", r"a path or a text, 'data\.csv', .* read the file first"),
    "Path": (Path("data.csv"), "read the file first"),
    "None": (None, "table of numbers, not None"),
    "number": (3, "table of numbers, not 3"),
    "set": ({1.0}, "table of numbers"),
    "complex": (X + 1j, r"Complex data not supported.*X\.real"),
    "one dimension": (X[0], r"shape is \(2,\); Reshape your data"),
    "series": (pd.Series([1.0, 2.0]), "Reshape your data"),
    "three dimensions": (np.ones((2, 2, 2)), "rows and columns"),
    "text": (np.array([["1", "x"]]), "'x' in column 1, row 0, which is text"),
    "words in lists": ([[1.0, 2.0], [1.0, "x"]], "'x' in column 1, row 1"),
    "dict in a cell": (np.array([[{}, 1]], dtype=object), "{} in column 0, row 0, but"),
    "complex in a frame": (pd.DataFrame({"a": [1j, 2]}), "1j in column 'a', row 0"),
    "huge integer": ([[1, 2], [3, 10**400]], "integer of 1329 bits in column 1, row 1"),
    "ragged": ([[1, 2], [3]], "row 1 has 1 values, row 0 has 2"),
    "dates": (np.zeros((2, 2), "M8[s]"), r"holds datetime64\[s\], not numbers"),
    "dates in a frame": (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), r"numbers: \['t'\]"),
    "records": (np.zeros(3, [("a", float)]), "not numbers; convert"),
    "names twice": (pd.DataFrame(X, columns=["a", "a"]), r"more than one column named \['a'\]"),
    "names alike": (pd.DataFrame(X, columns=[1, "1"]), r"more than one column named \['1'\]"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_table_is_refused_in_one_line(kind: str) -> None:
    table, message = BAD[kind]
    with pytest.raises(DataError, match=message) as caught:
        read_columns(table)
    assert "\n" not in str(caught.value)


def test_what_is_no_table_at_all_is_a_type_error_too() -> None:
    assert issubclass(DataKindError, TypeError)
    assert issubclass(DataKindError, ValueError)
    with pytest.raises(TypeError):
        AnalyticDAG().fit(sparse.csr_array(X))


DOORS = {
    "fit": lambda table: AnalyticDAG().fit(table),
    "fit_covariance": lambda table: AnalyticDAG().fit_covariance(table, n_samples=9),
    "bootstrap": lambda table: bootstrap(AnalyticDAG(), table, 2),
    "compare": lambda table: compare(table, np.zeros((2, 2))),
    "search_orders": lambda table: search_orders(table, 9),
    "variance_order": variance_order,
    "r2_order": r2_order,
    "sample": lambda table: sample(table, 5, rng=np.random.default_rng(0)),
    "sort_and_regress": sort_and_regress,
    "conditional_variance": conditional_variance,
    "notears": notears,
    "empty_graph": empty_graph,
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_the_same_gate(door: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        DOORS[door](BAD[kind][0])
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def fitted() -> AnalyticDAG:
    rows = np.random.default_rng(0).normal(size=(30, 2))
    return AnalyticDAG(solver="order").fit(pd.DataFrame(rows, columns=["a", "b"]))


@pytest.mark.parametrize("kind", BAD)
def test_the_doors_of_a_fitted_model_have_the_same_gate(kind: str, fitted: AnalyticDAG) -> None:
    for ask in (fitted.score, lambda table: diagnose(fitted, table)):
        with pytest.raises(DataError) as caught:
            ask(BAD[kind][0])
        assert "\n" not in str(caught.value)


def test_other_columns_than_those_of_the_fit_are_named_in_one_line(fitted: AnalyticDAG) -> None:
    for columns, message in (
        (["b", "a"], "other order"),
        (["a", "c"], r"missing \['b'\], new \['c'\]"),
    ):
        with pytest.raises(DataError, match=message) as caught:
            fitted.score(pd.DataFrame(X, columns=columns))
        assert "\n" not in str(caught.value)


def outcome(table: Any) -> tuple[Any, str]:
    """The values, or the message of a refusal."""
    try:
        return read_columns(table)[0], ""
    except DataError as error:
        return None, str(error)


CELLS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.just(10**400),
    st.just(1j),
    st.just([1.0]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=4))
def test_lists_of_anything_are_read_or_refused(rows: Any) -> None:
    values, message = outcome(rows)
    assert "\n" not in message
    if values is not None:
        assert values.shape == (len(rows), len(rows[0]))
        assert values.dtype == np.float64


@settings(max_examples=100, deadline=None)
@given(
    arrays.arrays(arrays.array_dtypes() | arrays.scalar_dtypes(), arrays.array_shapes(max_dims=3))
)
def test_arrays_of_any_type_are_read_or_refused(array: Any) -> None:
    values, message = outcome(array)
    assert "\n" not in message
    assert values is None or values.shape == array.shape
