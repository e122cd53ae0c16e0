"""Where a column stands in the table, and in which unit it is, does not matter."""

from __future__ import annotations

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.knowledge import Knowledge
from analyticdag.losses import covariance
from analyticdag.orders import canonical_order
from analyticdag.simulate import simulate


def drawn(seed: int, d: int, n: int) -> np.ndarray:
    return simulate(
        "UD2", n_nodes=d, n_samples=n, effects=(0.05, 2.0), units=(0.1, 10.0), seed=seed
    ).data


def learned_class(X: np.ndarray, **options: object) -> np.ndarray:
    model = AnalyticDAG(solver="order", loss="likelihood-nv", **options)  # type: ignore[arg-type]
    return model.fit(X).cpdag_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("d", "n"), [(15, 60), (40, 100)])
def test_permuted_and_rescaled_columns_give_the_same_class(seed: int, d: int, n: int) -> None:
    X, rng = drawn(seed, d, n), np.random.default_rng(seed)
    places, units = rng.permutation(d), 2.0 ** rng.integers(-9, 9, d)
    found = learned_class(X)
    again = learned_class(np.ascontiguousarray(X[:, places]))
    np.testing.assert_array_equal(again, found[np.ix_(places, places)])
    np.testing.assert_array_equal(learned_class(X * units), found)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("form", ["raw", "standardised"])
def test_the_default_fit_does_not_depend_on_places(seed: int, form: str) -> None:
    """Of small tables, where the path is a start too."""
    X, rng = drawn(10 + seed, 8 + seed, 150), np.random.default_rng(seed)
    if form == "standardised":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    places = rng.permutation(X.shape[1])
    found = AnalyticDAG().fit(X)
    again = AnalyticDAG().fit(X[:, places])
    np.testing.assert_array_equal(again.cpdag_, found.cpdag_[np.ix_(places, places)])


def test_knowledge_goes_with_the_columns() -> None:
    X, places = drawn(1, 12, 200), np.random.default_rng(1).permutation(12)
    known = Knowledge(required_edges=[(3, 5)], forbidden_edges=[(0, 1), (1, 0)])
    found = learned_class(X, knowledge=known)
    at = {int(column): place for place, column in enumerate(places)}
    moved = Knowledge(
        required_edges=[(at[3], at[5])], forbidden_edges=[(at[0], at[1]), (at[1], at[0])]
    )
    again = learned_class(np.ascontiguousarray(X[:, places]), knowledge=moved)
    np.testing.assert_array_equal(again, found[np.ix_(places, places)])


def test_the_canonical_order_lists_the_same_columns_wherever_they_stand() -> None:
    S, places = covariance(drawn(2, 20, 300)), np.random.default_rng(2).permutation(20)
    order = canonical_order(S)
    np.testing.assert_array_equal(places[canonical_order(S[np.ix_(places, places)])], order)
    copies = S[np.ix_([0, 0, 1], [0, 0, 1])]
    assert sorted(canonical_order(copies)) == [0, 1, 2]
