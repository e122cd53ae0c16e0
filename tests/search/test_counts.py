"""The search by counts: scores by their definition, equivalent graphs, parents acting together."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from search_reference import use_kernels

from analyticdag.graphs import is_dag, to_cpdag, topological_order
from analyticdag.knowledge import EdgeMasks
from analyticdag.search.counts import LevelCounts, make_count_setting, search_counts
from analyticdag.search.engine import open_search
from analyticdag.search.steps.counts import cost
from analyticdag.simulate import random_dag
from analyticdag.simulate.mechanisms import draw_by_tables


def drawn(n: int = 600, nodes: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A graph, and levels that it draws."""
    rng = np.random.default_rng([41, seed])
    graph = random_dag("ER1", nodes, rng)
    return graph, draw_by_tables(graph, n, 0.5, rng)


def defined(levels: np.ndarray, node: int, parents: list[int], price: float) -> float:
    """The score by its definition, a row after the other."""
    together: dict[tuple[int, ...], dict[int, int]] = {}
    for row in levels.tolist():
        cell = together.setdefault(tuple(row[p] for p in parents), {})
        cell[row[node]] = cell.get(row[node], 0) + 1
    total = sum(
        n * np.log(n / sum(cell.values())) for cell in together.values() for n in cell.values()
    )
    kinds, n = levels.max(axis=0) + 1.0, float(len(levels))
    states = float(np.prod(kinds[parents]))
    paid = cost(n, states * kinds[node]) - cost(n, states)
    return -2.0 * total + 2.0 * paid + price * len(parents)


def exact_cost(n: int, shares: int) -> float:
    """The logarithm of the normaliser, by its recursion (Kontkanen and Myllymäki 2007)."""
    h = np.arange(n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(h > 0, h * np.log(h / n), 0.0)
        rest = np.where(h < n, (n - h) * np.log((n - h) / n), 0.0)
    choose = gammaln(n + 1) - gammaln(h + 1) - gammaln(n - h + 1)
    one, two = 0.0, float(logsumexp(choose + parts + rest))
    for k in range(3, shares + 1):
        one, two = two, float(np.logaddexp(two, np.log(n / (k - 2)) + one))
    return two if shares > 1 else 0.0


@pytest.mark.parametrize(("n", "shares"), [(50, 2), (50, 8), (1000, 3), (1000, 64), (1000, 150)])
def test_the_cost_of_shares_is_nearly_exact(n: int, shares: int) -> None:
    assert cost(float(n), float(shares)) == pytest.approx(exact_cost(n, shares), abs=0.1)


def test_every_share_beyond_a_sixth_of_the_rows_costs_as_much() -> None:
    """The exact sum grows ever more slowly, until rows cost as little with a share each."""
    steps = np.diff([cost(600.0, float(k)) for k in (99, 100, 101, 102, 4000, 4001)])
    np.testing.assert_allclose(steps[[1, 2, 4]], steps[0])
    assert exact_cost(600, 601) - exact_cost(600, 600) < 0.6 * steps[0]


def test_one_share_costs_nothing() -> None:
    assert cost(100.0, 1.0) == 0.0


@pytest.mark.parametrize("kind", ["as built", "interpreted"])
def test_moves_keep_the_scores_of_the_definition(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = use_kernels(kind, monkeypatch)
    _, levels = drawn(80, 5)
    setting = make_count_setting(LevelCounts.of(levels), 6.0)
    rng, stop = np.random.default_rng(1), kernels.Stop()
    search, rules = open_search(setting, rng.permutation(5), stop), setting.rules()
    ends = []
    for _ in range(12):
        before = search.graph.value.sum()
        change = search.move(int(rng.integers(5)), int(rng.integers(5)), rules)
        graph = search.graph
        assert graph.value.sum() - before == pytest.approx(change, abs=1e-5)
        scores = [
            defined(levels, j, np.flatnonzero(graph.adjacency[:, j]).tolist(), setting.price)
            for j in range(5)
        ]
        np.testing.assert_allclose(graph.value, scores, rtol=1e-9, atol=1e-6)
        np.testing.assert_allclose(setting.values(graph.adjacency, np.arange(5)), scores, rtol=1e-9)
        ends.append(graph.adjacency)
    assert np.any(ends[0] != ends, axis=(1, 2)).any()


def test_equivalent_graphs_have_the_same_score() -> None:
    _, levels = drawn()
    setting = make_count_setting(LevelCounts.of(levels))
    chain = np.zeros((6, 6), bool)
    chain[0, 1] = chain[1, 2] = True
    others = [chain.T, np.zeros((6, 6), bool)]
    others[1][1, 0] = others[1][1, 2] = True
    scores = [setting.values(graph, np.arange(6)).sum() for graph in (chain, *others)]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_no_order_of_four_nodes_has_a_better_graph(seed: int) -> None:
    _, levels = drawn(400, 4, seed)
    counts = LevelCounts.of(levels)
    found = search_counts(counts, starts={"a": np.arange(4)}, random_state=0, n_jobs=1)
    setting = make_count_setting(counts, found.price)
    best = np.inf
    for order in permutations(range(4)):
        total = 0.0
        for place, node in enumerate(order):
            before = list(order[:place])
            sets = [[b for k, b in enumerate(before) if m >> k & 1] for m in range(2**place)]
            total += min(setting.value(node, np.array(s, np.int64)) for s in sets)
        best = min(best, total)
    assert found.score == pytest.approx(best, abs=1e-5)


def test_parents_that_act_only_together_are_found() -> None:
    """An exclusive or with even shares: each parent alone says nothing."""
    rng = np.random.default_rng(3)
    a, b = (rng.random((2, 3000)) < 0.5).astype(np.int64)
    levels = np.column_stack([a, b, (a ^ b) ^ (rng.random(3000) < 0.1)])
    found = search_counts(LevelCounts.of(levels), starts={"a": np.arange(3)}, random_state=0)
    assert (found.adjacency | found.adjacency.T).sum() == 4
    masks = EdgeMasks(np.zeros((3, 3), bool), np.zeros((3, 3), bool))
    masks.allowed[:2, 2] = True
    known = search_counts(LevelCounts.of(levels), starts={"a": np.arange(3)}, masks=masks)
    assert known.adjacency.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]


def test_larger_graphs_are_found() -> None:
    graph, levels = drawn(20_000, 15, 4)
    found = search_counts(LevelCounts.of(levels), starts={"a": np.arange(15)}, random_state=0)
    assert is_dag(found.adjacency)
    truth, seen = (one | one.T for one in (graph, found.adjacency))
    assert (truth != seen).sum() / 2 <= 1


def test_rows_that_are_alike_count_as_often_as_they_come() -> None:
    _, levels = drawn(50)
    counts, twice = LevelCounts.of(levels), LevelCounts.of(np.repeat(levels, 2, axis=0))
    assert twice.n_samples == 100
    assert len(twice.times) == len(counts.times) <= 50
    parents = np.array([1, 2])
    assert twice.misfit(0, parents) == pytest.approx(2.0 * counts.misfit(0, parents))


def test_neither_threads_nor_the_order_of_nodes_change_the_class() -> None:
    _, levels = drawn(1500, 8, 2)
    counts, order = LevelCounts.of(levels), np.random.default_rng(0).permutation(8)
    starts = {str(k): np.random.default_rng(k).permutation(8) for k in range(4)}
    one, two = (
        search_counts(counts, starts=starts, random_state=0, n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.adjacency, two.adjacency)
    moved = {name: np.argsort(order)[start] for name, start in starts.items()}
    other = search_counts(counts.in_order(order), starts=moved, random_state=0, n_jobs=1)
    back = np.argsort(order)
    np.testing.assert_array_equal(
        to_cpdag(other.adjacency[np.ix_(back, back)]), to_cpdag(one.adjacency)
    )


def test_knowledge_is_obeyed_and_prices_too() -> None:
    graph, levels = drawn(2000)
    i, j = np.argwhere(graph)[0].tolist()
    masks = replace(EdgeMasks.free(6), max_parents=1)
    masks.allowed[i, j] = masks.allowed[j, i] = False
    free = next(p for p in permutations(range(6), 2) if not (graph | graph.T)[p] and p != (i, j))
    masks.required[free] = True
    counts, starts = LevelCounts.of(levels), {"a": topological_order(graph)}
    found = search_counts(counts, starts=starts, masks=masks, random_state=0)
    assert not found.adjacency[i, j]
    assert not found.adjacency[j, i]
    assert found.adjacency[free]
    assert found.adjacency.sum(axis=0).max() == 1
    assert not search_counts(counts, starts=starts, min_effect=0.99).adjacency.any()
    dear, cheap = (search_counts(counts, starts=starts, price=p) for p in (40.0, 6.0))
    assert dear.price > cheap.price
    assert dear.adjacency.sum() <= cheap.adjacency.sum()


def test_pickled_counts_leave_out_the_scores_that_are_kept() -> None:
    _, levels = drawn(100)
    counts = LevelCounts.of(levels)
    search_counts(counts, starts={"a": np.arange(6)}, random_state=0)
    blob = pickle.dumps(counts)
    assert len(blob) < 50_000
    again = pickle.loads(blob)
    assert again.misfit(0, np.array([1])) == counts.misfit(0, np.array([1]))


@pytest.mark.parametrize(("n", "levels"), [(150, 3), (200, 5), (300, 10), (1000, 12)])
def test_columns_that_are_independent_stay_apart(n: int, levels: int) -> None:
    """By the exact cost three parents of ten levels described 300 rows in fewer words than none."""
    found = 0
    for seed in range(5):
        table = np.random.default_rng([n, seed]).integers(0, levels, (n, 8))
        counts = LevelCounts.of(table)
        found += search_counts(counts, starts={"a": np.arange(8)}, random_state=0).adjacency.sum()
    assert found <= 1


def test_what_was_counted_before_changes_nothing() -> None:
    """Tables with few rows that differ: one parent more had been refused, or not, by the order in
    which scores were asked for."""
    rng = np.random.default_rng(4)
    table = rng.integers(0, 5, (12, 10))[rng.integers(0, 12, 3000)]
    counts = LevelCounts.of(table)
    starts = {str(k): rng.permutation(10) for k in range(3)}
    runs = [
        search_counts(one, starts=starts, random_state=0, n_jobs=jobs)
        for one, jobs in ((counts, 1), (counts, 2), (LevelCounts.of(table), 2))
    ]
    assert len({run.score for run in runs}) == 1
    assert all(np.array_equal(run.adjacency, runs[0].adjacency) for run in runs)


def test_a_table_of_more_cells_than_rows_is_counted() -> None:
    """y is determined by three columns; few rows differ."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(0, 5, (13, 3)), np.arange(13) % 5])
    counts = LevelCounts.of(rows[rng.integers(0, 13, 50_000)])
    setting = make_count_setting(counts)
    parents = np.array([0, 1, 2])
    masks = EdgeMasks(np.zeros((4, 4), bool), np.zeros((4, 4), bool))
    masks.allowed[:3, 3] = True
    found = search_counts(counts, starts={"a": np.arange(4)}, masks=masks, random_state=0)
    sets = [parents[[bool(m >> k & 1) for k in range(3)]] for m in range(8)]
    best = min(setting.value(3, one) for one in sets)
    alone = sum(setting.value(k, np.empty(0, np.int64)) for k in range(3))
    assert found.score == pytest.approx(alone + best, abs=1e-4)
