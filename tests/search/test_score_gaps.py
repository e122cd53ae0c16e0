"""What the best graph would cost without an edge: against all graphs that do not have it."""

from __future__ import annotations

import numpy as np
import pytest

from analyticdag.extended_bic import edge_price
from analyticdag.graphs import to_cpdag, topological_order
from analyticdag.knowledge import EdgeMasks
from analyticdag.moments import Moments
from analyticdag.search import search_orders
from analyticdag.search.gaps import Gaps, edge_gaps
from analyticdag.search.setting import make_setting
from analyticdag.simulate import random_dag, simulate

D, N = 7, 400
PRICE = edge_price(N, D, 0.5)
SAME = 1e-4  # scores are some thousands


@pytest.fixture(scope="module", params=["unequal", "equal"])
def problem(request: pytest.FixtureRequest) -> tuple[str, Moments, np.ndarray, np.ndarray, float]:
    drawn = simulate("ER2", n_nodes=D, n_samples=N, seed=3)
    moments = Moments.of_rows(drawn.data)
    score = request.param
    found = search_orders(moments.S, N, score=score, price=PRICE, effort=4.0, random_state=0)
    return score, moments, found.weights != 0.0, found.order, found.price


def gaps_of(
    problem: tuple[str, Moments, np.ndarray, np.ndarray, float], masks: EdgeMasks | None = None
) -> Gaps:
    score, moments, adjacency, order, price = problem
    noise = 1.0
    if score == "equal":
        found = search_orders(moments.S, N, score="equal", price=PRICE, random_state=0)
        noise = float(np.mean(moments.residual_variances(found.weights)))
    setting = make_setting(moments, score, price, masks, noise=noise)  # type: ignore[arg-type]
    return edge_gaps(setting, adjacency, order)


def best(moments: Moments, price: float, forbidden: set[tuple[int, int]]) -> float:
    """Return the best score of all DAGs without these edges: node by node, sets in sets."""
    scores = [_best_parents(moments.S, price, node, forbidden) for node in range(D)]
    total = {0: 0.0}  # by the set of nodes that come first, as bits
    for some in range(1, 2**D):
        last = [node for node in range(D) if some >> node & 1]
        total[some] = min(total[some ^ 1 << v] + scores[v][some ^ 1 << v] for v in last)
    return total[2**D - 1]


def _best_parents(
    S: np.ndarray, price: float, node: int, forbidden: set[tuple[int, int]]
) -> dict[int, float]:
    """Return the best score of a node for every set that its parents may be taken from."""
    found: dict[int, float] = {}
    for some in range(2**D):
        parents = [p for p in range(D) if some >> p & 1]
        if node in parents:
            continue
        found[some] = min((found[some ^ 1 << p] for p in parents), default=np.inf)
        if all((p, node) not in forbidden for p in parents):
            inside = np.ix_([*parents, node], [*parents, node])
            left = 1.0 / np.linalg.inv(S[inside])[-1, -1]
            found[some] = min(found[some], N * np.log(left) + price * len(parents))
    return found


def test_gaps_against_all_graphs_without_the_edge(
    problem: tuple[str, Moments, np.ndarray, np.ndarray, float],
) -> None:
    score, moments, adjacency, _, price = problem
    if score == "equal":
        pytest.skip("its gaps are at a fixed noise level, the score's is pooled")
    gaps, free = gaps_of(problem), best(moments, price, set())
    exact = []
    for i, j in np.argwhere(adjacency):
        apart = best(moments, price, {(i, j), (j, i)}) - free
        turned = min(best(moments, price, {(i, j)}) - free, apart)
        # A short search may end above the best detour, never below.
        assert gaps.apart[i, j] >= apart - SAME
        assert gaps.turned[i, j] >= turned - SAME
        exact.append(gaps.turned[i, j] < turned + SAME)
    assert np.mean(exact) > 0.7


def test_open_edges_can_be_turned_for_nothing(
    problem: tuple[str, Moments, np.ndarray, np.ndarray, float],
) -> None:
    score, _, adjacency, _, _ = problem
    gaps, cpdag = gaps_of(problem), to_cpdag(adjacency) != 0
    is_open = adjacency & cpdag.T
    assert (gaps.turned <= gaps.apart).all()
    assert (gaps.apart[adjacency] > 0.0).all()
    assert np.isinf(gaps.apart[~adjacency]).all()
    if score == "unequal":
        assert (gaps.turned[is_open] < 1e-6).all()
        assert (gaps.turned[adjacency & ~cpdag.T] > 1e-3).all()


def test_required_edges_are_not_judged(
    problem: tuple[str, Moments, np.ndarray, np.ndarray, float],
) -> None:
    _, _, adjacency, _, _ = problem
    i, j = np.argwhere(adjacency)[0]
    masks = EdgeMasks.free(D)
    masks.required[i, j] = True
    gaps = gaps_of(problem, masks)
    assert np.isinf(gaps.apart[i, j])
    assert np.isfinite(gaps.apart[adjacency & ~masks.required]).all()


def test_a_graph_without_edges_has_none(
    problem: tuple[str, Moments, np.ndarray, np.ndarray, float],
) -> None:
    score, moments, adjacency, order, price = problem
    empty = (score, moments, np.zeros_like(adjacency), order, price)
    assert np.isinf(gaps_of(empty).turned).all()


@pytest.mark.parametrize("code", ["chain", "SC1"])
def test_an_edge_of_a_tree_turns_with_all_that_leads_to_it(code: str) -> None:
    # Every direction of a tree is open: turned as a whole, the way to an edge costs nothing.
    d, rng = 12, np.random.default_rng(5)
    tree = np.eye(d, k=1) > 0.0 if code == "chain" else random_dag(code, d, rng)
    W = np.where(tree, 0.8, 0.0)
    X = rng.normal(size=(2000, d)) @ np.linalg.inv(np.eye(d) - W)
    setting = make_setting(Moments.of_rows(X / X.std(axis=0)), "unequal", 20.0, None)
    order = topological_order(tree)
    short, whole = (edge_gaps(setting, tree, order, stretches=both) for both in (False, True))
    assert short.turned[tree].max() > 10.0
    assert whole.turned[tree].max() < 1e-6
    assert (whole.apart[tree] > 100.0).all()


def test_the_task_among_some_nodes_is_that_of_the_whole_for_them() -> None:
    drawn, nodes = simulate("ER2", n_nodes=D, n_samples=N, seed=4), np.array([5, 1, 3])
    allowed = ~np.eye(D, dtype=bool)
    allowed[1, 3] = False
    masks = EdgeMasks(allowed, np.zeros((D, D), dtype=bool))
    whole = make_setting(Moments.of_rows(drawn.data), "unequal", PRICE, masks)
    some, graph = whole.among(nodes), np.zeros((D, D), dtype=bool)
    graph[5, [1, 3]] = True
    own = graph[np.ix_(nodes, nodes)]
    np.testing.assert_allclose(some.values(own, np.arange(3)), whole.values(graph, nodes))
    assert some.forbidden is not None
    assert some.forbidden[1, 2]
    assert some.cap == 2
