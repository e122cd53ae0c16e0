"""Resamples count in the probabilities of edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.simulate import simulate
from analyticdag.stability import bootstrap
from analyticdag.stability.judged import judged


def edge(fixed_by: FixedBy = FixedBy.COLLIDER, probability: float | None = 0.9) -> Edge:
    way = None if probability is None else 0.8 * probability
    return Edge("a", "b", 1.0, 0.1, 0.5, fixed_by, near_threshold=False)._replace(
        probability=probability, direction_probability=way
    )


def test_the_oftener_an_edge_comes_back_the_surer_it_is() -> None:
    found = [judged(edge(), share, share / 2.0, 40) for share in (0.0, 0.3, 0.6, 1.0)]
    joined = [one.probability for one in found]
    assert joined == sorted(joined)
    assert joined[0] < 0.9 < joined[-1]
    for one in found:
        assert 0.0 < one.direction_probability <= one.probability <= 0.999  # type: ignore[operator]
    ways = [judged(edge(), 1.0, share, 40).direction_probability for share in (0.0, 0.5, 1.0)]
    assert ways == sorted(ways)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("by_score", [0.5, 0.7, 0.77, 0.95])
def test_a_link_that_hardly_comes_back_is_less_sure(by_score: float, grouped: bool) -> None:
    for share in (0.0, 0.07):
        found = judged(edge(probability=by_score), share, 0.0, 100, grouped=grouped)
        assert found.probability is not None
        assert found.probability < by_score


def test_rows_drawn_in_groups_have_to_bring_a_link_back_more_often() -> None:
    alone, together = (
        [judged(edge(), share, share, 100, grouped=grouped).probability for share in (0.5, 1.0)]
        for grouped in (False, True)
    )
    assert together[0] < 0.9 < alone[0]
    assert together[1] > 0.9


def test_a_series_resampled_in_blocks_is_judged_as_such() -> None:
    X = simulate("ER1", n_nodes=10, n_samples=300, effects=(0.15, 0.3), seed=1).data
    model = AnalyticDAG(solver="order").fit(X)
    found = bootstrap(AnalyticDAG(solver="order"), X, 10, groups=np.arange(300) // 10)
    assert found.grouped
    assert not bootstrap(AnalyticDAG(solver="order"), X, 2).grouped
    alone = replace(found, grouped=False).annotate(model.edges_)
    weak = [
        (a, b)
        for a, b in zip(found.annotate(model.edges_), alone, strict=True)
        if a.stability < 0.8
    ]
    assert weak
    assert all(a.probability < b.probability for a, b in weak)


def test_what_the_score_did_not_judge_stays() -> None:
    assert judged(edge(probability=None), 1.0, 1.0, 40) == edge(probability=None)
    known = judged(edge(FixedBy.KNOWLEDGE)._replace(direction_probability=0.9), 1.0, 0.0, 40)
    assert known.direction_probability == known.probability
    left_open = judged(edge(FixedBy.NOTHING)._replace(direction_probability=None), 1.0, 1.0, 40)
    assert left_open.probability > 0.9  # type: ignore[operator]
    assert left_open.direction_probability is None


def test_a_bootstrap_counts_once_and_halves_do_not() -> None:
    X = simulate("ER1", n_nodes=6, n_samples=200, seed=0).data
    model = AnalyticDAG(solver="order").fit(X)
    found = bootstrap(AnalyticDAG(solver="order"), X, 8, random_state=0)
    once = found.annotate(model.edges_)
    assert found.annotate(once) == once
    assert any(a.probability != b.probability for a, b in zip(once, model.edges_, strict=True))
    halves = bootstrap(AnalyticDAG(solver="order"), X, 4, subsample="complementary")
    kept = halves.annotate(model.edges_)
    assert [e.probability for e in kept] == [e.probability for e in model.edges_]
    assert not np.isnan([e.stability for e in kept]).any()
