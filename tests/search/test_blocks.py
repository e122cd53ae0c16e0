"""The search over blocks: the same graphs as the search over columns, and laws of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from search_reference import use_kernels

from analyticdag.extended_bic import edge_price
from analyticdag.graphs import is_dag, to_cpdag
from analyticdag.knowledge import EdgeMasks
from analyticdag.moments import Moments
from analyticdag.search import block_prices, search_blocks, search_orders
from analyticdag.search.blocks import make_block_setting
from analyticdag.search.engine import open_search
from analyticdag.simulate import simulate


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_one_column_give_the_graph_of_the_columns(seed: int) -> None:
    drawn = simulate("ER2", n_nodes=10, n_samples=500, seed=seed, standardize=True)
    S = np.cov(drawn.data.T, bias=True)
    price = edge_price(500, 10, 0.5)
    columns = search_orders(S, 500, price=price, random_state=0)
    starts = {"a": np.arange(10), "b": np.arange(10)[::-1]}
    blocks = search_blocks(
        Moments.shared(S, 500), np.ones(10, np.int64), starts=starts, price=price, random_state=0
    )
    assert blocks.score <= columns.score + 1e-6 * abs(columns.score)
    np.testing.assert_array_equal(to_cpdag(blocks.adjacency), to_cpdag(columns.weights != 0.0))


def drawn_blocks(n: int = 2000) -> tuple[Moments, np.ndarray]:
    """Three blocks of two columns in a chain, and a column beside."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((n, 2))
    b = a @ [[0.8, 0.0], [0.5, 0.6]] + rng.standard_normal((n, 2))
    c = b @ [[0.0, 0.7], [0.6, 0.0]] + rng.standard_normal((n, 2))
    X = np.column_stack([a, b, c, rng.standard_normal(n)])
    return Moments.of_rows(X), np.array([2, 2, 2, 1])


def test_blocks_enter_and_leave_together() -> None:
    moments, sizes = drawn_blocks()
    found = search_blocks(moments, sizes, starts={"r": np.array([3, 2, 1, 0])}, random_state=0)
    assert is_dag(found.adjacency)
    joined = found.adjacency | found.adjacency.T
    assert {tuple(pair) for pair in np.argwhere(np.triu(joined)).tolist()} == {(0, 1), (1, 2)}
    setting = make_block_setting(moments, sizes, found.price)
    gains = setting.gains(found.adjacency)[found.adjacency]
    assert (gains > block_prices(found.price, sizes)[0, 1]).all()


@pytest.mark.parametrize("kind", ["as built", "interpreted"])
def test_moves_keep_the_scores_of_determinants(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = use_kernels(kind, monkeypatch)
    moments, sizes = drawn_blocks(200)
    setting = make_block_setting(moments, sizes, 2.0)
    rng, stop = np.random.default_rng(1), kernels.Stop()
    search, rules = open_search(setting, rng.permutation(4), stop), setting.rules()
    own, ends = np.array([log_det(moments.S, block) for block in columns_of(sizes)]), []
    for _ in range(20):
        before = search.graph.value.sum()
        change = search.move(int(rng.integers(4)), int(rng.integers(4)), rules)
        graph = search.graph
        assert graph.value.sum() - before == pytest.approx(change, abs=1e-6)
        scores = setting.values(graph.adjacency, np.arange(4)) + 200 * own
        np.testing.assert_allclose(graph.value, scores, rtol=1e-9)
        ends.append(graph.adjacency)
    assert np.any(ends[0] != ends, axis=(1, 2)).any()


def columns_of(sizes: np.ndarray) -> list[np.ndarray]:
    """The columns of every block."""
    return np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])


def log_det(S: np.ndarray, block: np.ndarray) -> float:
    """The scale of a block, which scores in standard units leave out."""
    return float(np.log(np.diag(S)[block]).sum())


def test_knowledge_is_obeyed() -> None:
    moments, sizes = drawn_blocks()
    masks = replace(EdgeMasks.free(4), max_parents=1)
    masks.allowed[0, 1] = masks.allowed[1, 0] = False
    masks.required[3, 0] = True
    starts = {"r": np.arange(4)}
    found = search_blocks(moments, sizes, starts=starts, masks=masks, random_state=0)
    assert not found.adjacency[0, 1]
    assert not found.adjacency[1, 0]
    assert found.adjacency[3, 0]
    assert found.adjacency.sum(axis=0).max() == 1


def test_the_price_is_exceeded_as_rarely_whatever_the_size() -> None:
    prices = block_prices(15.0, np.array([1, 2, 4]))
    np.testing.assert_allclose(prices, prices.T)
    assert prices[0, 0] == 15.0
    assert chi2.sf(prices[1, 2], 8) == pytest.approx(chi2.sf(15.0, 1))
    assert block_prices(1e6, np.array([1, 3]))[1, 1] == 9e6


def test_units_change_nothing() -> None:
    """Before, gains of columns in small units were cut off by a floor on their variances."""
    moments, sizes = drawn_blocks()
    units = np.full(len(moments.S), 1e-6)
    starts = {"r": np.array([3, 2, 1, 0])}
    found, again = (
        search_blocks(one, sizes, starts=starts, random_state=0)
        for one in (moments, moments.scaled(1.0 / units))
    )
    np.testing.assert_array_equal(found.adjacency, again.adjacency)
    gains = [
        make_block_setting(one, sizes, found.price).gains(found.adjacency)
        for one in (moments, moments.scaled(1.0 / units))
    ]
    np.testing.assert_allclose(*gains, rtol=1e-6)
    assert found.price == pytest.approx(again.price)
