"""Whatever the table: a finite, acyclic result, or an error of our own with the cure."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from analyticdag import NonlinearDAG
from analyticdag._typing import FloatArray
from analyticdag.errors import DataError
from analyticdag.nonlinear import learn as learning

pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")

MODELS = ("mlp", "gran-dag")


def plain(n: int = 60, d: int = 4, seed: int = 0) -> FloatArray:
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[:, 1:] += X[:, :-1]
    return X


def with_column(column: FloatArray | float) -> FloatArray:
    X = plain()
    X[:, 0] = column
    return X


def outlier(size: float) -> FloatArray:
    X = plain()
    X[0, 0] = size
    return X


rng = np.random.default_rng(5)
TABLES: dict[str, Callable[[], FloatArray]] = {
    "constant": lambda: with_column(3.0),
    "all constant": lambda: np.ones((60, 3)),
    "copies": lambda: np.repeat(plain()[:, :1], 4, axis=1),
    "sum": lambda: np.column_stack([plain(), plain().sum(axis=1)]),
    "powers": lambda: np.column_stack([plain()[:, 0] ** k for k in (1, 2, 3, 4)]),
    "two rows": lambda: plain(2),
    "five rows": lambda: plain(5),
    "one column": lambda: plain(60, 1),
    "two-valued": lambda: (plain() > 0).astype(float),
    "one of two values once": lambda: np.eye(60)[:, :3],
    "cauchy, cubed": lambda: rng.standard_cauchy((60, 3)) ** 3,
    "outlier": lambda: outlier(1e40),
    "offset": lambda: plain() + 1e12,
    "huge": lambda: 1e149 * plain(),
    "tiny": lambda: 1e-149 * plain(),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("variance", ["auto", None])
def test_the_result_is_finite_and_acyclic(name: str, model: str, variance: str | None) -> None:
    X = TABLES[name]()
    before = X.copy()
    fitted = NonlinearDAG(
        model=model, variance=variance, max_steps=5, refine=True, device="cpu"
    ).fit(X)
    for found in (fitted.weights_, fitted.p_values_, fitted.noise_variances_, fitted.scale_):
        assert np.isfinite(found).all()
    assert np.isfinite([fitted.h_, fitted.score(X)]).all()
    assert nx.is_directed_acyclic_graph(fitted.graph_)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("X", "words"),
    [
        (
            outlier(1e200),
            r"in column 0 \(1e\+200 in row 0\), .* rescale the column",
        ),
        (1e300 * plain(), "in column 0"),
        (np.clip(plain(), -1, 1) * 1.7e308, "in column 0"),
        (plain() * np.array([1.0, 1.0, 1e-300, 1.0]), "smaller than 1e-150 in column 2"),
        (plain() * 5e-324, "smaller than 1e-150 in column 0"),
    ],
)
def test_columns_whose_squares_overflow_are_refused_by_name(
    model: str, X: FloatArray, words: str
) -> None:
    with pytest.raises(DataError, match=words) as caught:
        NonlinearDAG(model=model, max_steps=5).fit(X)
    assert "\n" not in str(caught.value)


def test_columns_too_far_apart_need_a_variance_each() -> None:
    X = plain() * np.array([1e149, 1e-149, 1.0, 1e149])
    assert np.isfinite(NonlinearDAG("mlp", max_steps=5).fit(X).weights_).all()
    with pytest.raises(DataError, match="too far apart to compute with"):
        NonlinearDAG("mlp", variance="equal", max_steps=5).fit(X)


def test_a_decomposition_that_fails_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(learning, "learn", fails)
    with pytest.raises(DataError, match="did not stay finite; look for outliers"):
        NonlinearDAG(model="mlp", max_steps=5).fit(plain())


def test_rows_far_from_the_fit_have_a_score_or_are_refused() -> None:
    model = NonlinearDAG(model="mlp", max_steps=5).fit(plain())
    assert -np.inf < model.score(1e148 * plain()) < -1e100
    with pytest.raises(DataError, match="rescale the column"):
        model.score(1e200 * plain())
