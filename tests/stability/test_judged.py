"""Resamples count in the probabilities of edges."""

from __future__ import annotations

import numpy as np

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
