"""Probabilities and the ladder of graphs with categories."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.fitting.edges import FixedBy
from analyticdag.graphs import is_dag, topological_order
from analyticdag.io import load_run, record_of, save_run
from analyticdag.knowledge import EdgeMasks
from analyticdag.moments import Moments
from analyticdag.search.blocks import make_block_setting, search_blocks
from analyticdag.search.gaps import edge_gaps

pandas = pytest.importorskip("pandas")


def table(n: int = 800, strength: float = 1.0) -> Any:
    """A category and a number act on y, which acts on z; w is alone."""
    rng = np.random.default_rng(5)
    region = rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2])
    shift = pandas.Series(region).map({"north": 0.0, "south": 1.0, "west": -1.0}).to_numpy()
    x, w = rng.standard_normal((2, n))
    y = strength * shift + 0.8 * x + rng.standard_normal(n)
    z = 0.7 * y + rng.standard_normal(n)
    return pandas.DataFrame({"region": region, "x": x, "y": y, "z": z, "w": w})


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    return AnalyticDAG(n_jobs=1).fit(table())


def test_edges_of_a_category_have_a_probability(model: AnalyticDAG) -> None:
    pairs = {(edge.source, edge.target): edge for edge in model.edges_}
    assert set(pairs) == {("region", "y"), ("x", "y"), ("y", "z")}
    assert all(edge.probability is not None and edge.probability > 0.9 for edge in model.edges_)
    assert all(0.5 < edge.direction_probability <= edge.probability for edge in model.edges_)


def test_a_weak_edge_is_less_probable() -> None:
    weak = AnalyticDAG(n_jobs=1, gamma=0.0).fit(table(300, strength=0.25))
    likely = {edge.source: edge.probability for edge in weak.edges_ if edge.target == "y"}
    assert likely["region"] < likely["x"]


def test_an_open_direction_has_no_probability() -> None:
    data = table()[["region", "y"]]
    (edge,) = AnalyticDAG(n_jobs=1).fit(data).edges_
    assert edge.fixed_by is FixedBy.NOTHING
    assert edge.probability is not None
    assert edge.direction_probability is None


def test_a_required_edge_has_no_probability() -> None:
    known = Knowledge(required_edges=[("w", "region")])
    edges = AnalyticDAG(n_jobs=1, knowledge=known).fit(table()).edges_
    (required,) = (edge for edge in edges if edge.source == "w")
    assert required.probability is None


def blocks() -> tuple[Moments, np.ndarray]:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((400, 2))
    b = a @ [[0.3, 0.0], [0.1, 0.3]] + rng.standard_normal((400, 2))
    c = b @ [0.4, 0.3] + rng.standard_normal(400)
    d = c * 0.5 + a @ [0.2, 0.0] + rng.standard_normal(400)
    return Moments.of_rows(np.column_stack([a, b, c, d])), np.array([2, 2, 1, 1])


def test_gaps_are_those_of_searches_without_the_edge() -> None:
    moments, sizes = blocks()
    starts, price = {"a": np.arange(4), "b": np.arange(4)[::-1]}, math.log(moments.n_samples)
    best = search_blocks(moments, sizes, starts=starts, price=price, random_state=0)
    setting = make_block_setting(moments, sizes, best.price)
    gaps = edge_gaps(setting, best.adjacency, topological_order(best.adjacency))
    exact = []
    for i, j in np.argwhere(best.adjacency).tolist():
        for gap, pairs in ((gaps.apart, [(i, j), (j, i)]), (gaps.turned, [(i, j)])):
            masks = EdgeMasks.free(4)
            for pair in pairs:
                masks.allowed[pair] = False
            other = search_blocks(
                moments, sizes, starts=starts, price=price, masks=masks, random_state=0
            )
            # A short search may end above the best detour, never below.
            assert gap[i, j] >= other.score - best.score - 1e-4
            exact.append(gap[i, j] < other.score - best.score + 1e-4)
    assert np.mean(exact) > 0.7


def test_the_ladder_of_a_graph_with_categories(model: AnalyticDAG) -> None:
    ladder = model.ladder_
    prices = [rung.price for rung in ladder]
    assert prices == sorted(prices, reverse=True)
    assert ladder[0].n_edges < len(model.edges_) <= ladder[-1].n_edges
    assert all(is_dag(rung.adjacency) for rung in ladder)
    own = next(r for r in ladder if r.price == model.trace_.edge_price(model.loss_))
    np.testing.assert_array_equal(own.adjacency, model.adjacency_matrix_ != 0)
    assert all(edge.enters_at is not None for edge in model.edges_)


def test_both_are_saved(model: AnalyticDAG, tmp_path: Path) -> None:
    _ = model.ladder_
    save_run(record_of(model), tmp_path / "run")
    saved = load_run(tmp_path / "run")
    assert len(saved.ladder) == len(model.ladder_)
    name = dict(enumerate(saved.names))
    found = {(name[e.source], name[e.target]): (e.probability, e.enters_at) for e in saved.edges}
    for edge in model.edges_:
        assert found[edge.source, edge.target] == (edge.probability, edge.enters_at)
