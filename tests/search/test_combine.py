"""The best parts of several graphs: never worse than the best of them, and still acyclic."""

from __future__ import annotations

import numpy as np
import pytest

from analyticdag.extended_bic import edge_price
from analyticdag.graphs import is_dag, to_cpdag
from analyticdag.knowledge import EdgeMasks
from analyticdag.losses import covariance
from analyticdag.moments import Moments
from analyticdag.search import graph_score, search_orders
from analyticdag.search.graph import aligned, best_parts
from analyticdag.search.setting import Setting, make_setting
from analyticdag.simulate import simulate

N = 1000


def task(seed: int, d: int = 20, masks: EdgeMasks | None = None) -> tuple[Setting, np.ndarray]:
    sim = simulate("ER1", n_nodes=d, n_samples=N, standardize=True, seed=seed)
    moments, price = Moments.shared(covariance(sim.data), N), edge_price(N, d, 0.5)
    return make_setting(moments, "unequal", price, masks), sim.weights != 0.0


def score(setting: Setting, graph: np.ndarray) -> float:
    from analyticdag.least_squares import weights_on_parents

    W = weights_on_parents(setting.moments, graph)
    return graph_score(setting.moments, W, score="unequal", price=setting.price)


def scrambled(graph: np.ndarray, nodes: range, rng: np.random.Generator) -> np.ndarray:
    """Leave half of the edges into some nodes out."""
    worse = graph.copy()
    worse[:, nodes] &= rng.random((len(graph), len(nodes))) < 0.5
    return worse


@pytest.mark.parametrize("seed", range(5))
def test_parts_that_two_graphs_have_right_come_together(seed: int) -> None:
    setting, truth = task(seed)
    rng = np.random.default_rng(seed)
    left, right = scrambled(truth, range(10), rng), scrambled(truth, range(10, 20), rng)
    mixed = best_parts(setting, [left, right])
    assert is_dag(mixed)
    better = min(score(setting, left), score(setting, right))
    assert score(setting, mixed) <= better
    # No cycle is possible here, so every node takes the better of its two sets of parents.
    assert score(setting, mixed) <= score(setting, truth) + 1e-6


def test_members_of_one_class_have_nothing_to_combine() -> None:
    chain = np.zeros((4, 4), dtype=bool)
    chain[[0, 1, 2], [1, 2, 3]] = True
    setting, _ = task(0, d=4)
    np.testing.assert_array_equal(aligned(setting, chain.T.copy(), chain), chain)
    np.testing.assert_array_equal(best_parts(setting, [chain, chain.T.copy()]), chain)


def test_edges_that_knowledge_fixes_are_not_turned() -> None:
    chain = np.zeros((3, 3), dtype=bool)
    chain[[0, 1], [1, 2]] = True
    masks = EdgeMasks.free(3)
    masks.allowed[1, 0] = False  # of two edges that could turn together, this one may not
    setting, _ = task(0, d=3, masks=masks)
    assert not aligned(setting, chain, chain.T.copy())[1, 0]


def test_a_search_is_never_worse_for_combining() -> None:
    sim = simulate("UD1.5", n_nodes=60, n_samples=N, effects=(0.02, 2.0), seed=0)
    S = covariance(sim.data)
    found = search_orders(S, N, price=edge_price(N, 60, 0.5), random_state=0)
    alone = [c.iterated for c in found.contributions if not c.start.startswith("combined")]
    assert min(c.iterated for c in found.contributions) <= min(alone)
    assert any(c.start.startswith("combined") for c in found.contributions)
    assert to_cpdag(found.weights != 0.0).shape == (60, 60)
    assert 1 <= found.returns <= len(alone)
