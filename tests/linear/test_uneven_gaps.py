"""Links at columns with many gaps: evidence counts as far as there are rows that hold both ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag._typing import FloatArray
from analyticdag.fitting.statistics import Statistics
from analyticdag.tables import pair_counts

pandas = pytest.importorskip("pandas")
N, SEEN = 600, 300


def with_correlation(x: FloatArray, r: float, rng: np.random.Generator) -> FloatArray:
    """Return a column whose correlation with x in these rows is exactly r."""
    x = (x - x.mean()) / x.std()
    e = rng.normal(size=len(x))
    e -= e.mean() + x * (e @ x) / len(x)
    return r * x + np.sqrt(1.0 - r * r) * e / e.std()


def table(r: float, *, gaps: bool = True) -> FloatArray:
    """Three columns in a chain, and one that half of the rows hold, or one row more than once."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    X[:, 1] += X[:, 0]
    X[:, 2] += X[:, 1]
    half = with_correlation(X[:SEEN, 0], r, rng)
    X[:, 3] = np.concatenate([half, np.full(N - SEEN, np.nan)])
    return X if gaps else X[:SEEN]


def links(model: AnalyticDAG) -> set[frozenset[Any]]:
    return {frozenset(edge[:2]) for edge in model.edges_}


def test_moments_say_which_share_of_the_rows_holds_a_pair() -> None:
    X = table(0.2)
    moments = Statistics.from_table(X, list(range(4)), standardize=False).moments
    n = moments.n_samples
    assert n > 0.9 * N  # the pairs that matter are full
    assert moments.held is not None
    np.testing.assert_array_equal(moments.held, np.minimum(pair_counts(X) / n, 1.0))
    order = np.array([3, 0, 2, 1])
    turned = moments.in_order(order).held
    assert turned is not None
    np.testing.assert_array_equal(turned, moments.held[np.ix_(order, order)])
    full = Statistics.from_table(X[:SEEN], list(range(4)), standardize=False).moments
    assert full.held is None


@pytest.mark.parametrize("loss", ["auto", "likelihood-nv"])
def test_a_link_that_only_absent_rows_would_pay_for_is_none(loss: str) -> None:
    # 0.15² gains 6.8 in the rows that are there and 13.5 in so many as count; the price is 8.6.
    model = AnalyticDAG(missing="em", loss=loss, solver="order").fit(table(0.15))
    assert links(model) == {frozenset([0, 1]), frozenset([1, 2])}


def test_a_link_that_its_rows_pay_for_stays_and_is_no_surer_than_in_these_rows() -> None:
    models = [
        AnalyticDAG(missing="em", loss="likelihood-nv", solver="order").fit(table(0.25, gaps=gaps))
        for gaps in (True, False)
    ]
    there, without = (
        next(edge.probability for edge in model.edges_ if 3 in edge[:2]) for model in models
    )
    assert there <= without


def with_words(seed: int, share: float) -> Any:
    """A chain beside words that half of the rows hold; so many of them follow from the first."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=N)
    b = a + rng.normal(size=N)
    follow = np.where(a > 0.5, "red", np.where(a < -0.5, "blue", "green"))
    words = np.where(rng.random(N) < share, follow, rng.choice(["red", "green", "blue"], N))
    frame = pandas.DataFrame({"a": a, "b": b, "c": b + rng.normal(size=N), "words": words})
    frame["words"] = frame["words"].mask(np.arange(N) % 2 == 0)
    return frame


@pytest.mark.parametrize(
    ("seed", "share", "known"), [(1, 0.15, 0), (2, 0.15, 0), (0, 0.15, 1), (1, 0.2, 1)]
)
def test_words_that_half_of_the_rows_hold_are_judged_by_these(
    seed: int, share: float, known: int
) -> None:
    """If all rows counted, each would have a link, of 0.83 or more; read as cuts, and by levels."""
    model = AnalyticDAG(missing="em", n_jobs=1).fit(with_words(seed, share))
    likely = [edge.probability for edge in model.edges_ if "words" in edge[:2]]
    assert len(likely) == known
    assert all(p < 0.7 for p in likely)
    own = model.trace_.search[0].price
    assert [rung.n_edges for rung in model.ladder_ if rung.price == own] == [len(model.edges_)]
