"""What is concluded from frequencies."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyticdag._typing import FloatArray
from analyticdag.errors import ParameterError
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.graphs import is_dag
from analyticdag.stability import Stability


def stability(
    edges: FloatArray, directed: FloatArray | None = None, subsample: str | None = "complementary"
) -> Stability:
    return Stability(
        names=tuple("abcdefgh"[: len(edges)]),
        n_resamples=100,
        n_rows=50,
        subsample=subsample,
        seed=0,
        edge_frequency=edges,
        direction_frequency=np.zeros_like(edges) if directed is None else directed,
        skeleton_frequency=edges + edges.T,
    )


@given(st.lists(st.floats(0.0, 0.5), min_size=25, max_size=25))
@settings(max_examples=50, deadline=None)
def test_a_consensus_is_a_dag_on_the_frequent_pairs(entries: list[float]) -> None:
    F = np.array(entries).reshape(5, 5)
    np.fill_diagonal(F, 0.0)
    dag = stability(F).consensus_dag(0.6)
    assert is_dag(dag)
    assert np.array_equal(dag + dag.T, (F + F.T >= 0.6).astype(int))


def test_the_least_clear_edge_of_a_cycle_turns_round() -> None:
    F = np.zeros((3, 3))
    F[0, 1], F[1, 2] = 0.9, 0.8
    F[2, 0], F[0, 2] = 0.5, 0.4
    assert np.array_equal(stability(F).consensus_dag(), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])


def test_the_class_is_directed_where_most_classes_were() -> None:
    F, D = np.zeros((3, 3)), np.zeros((3, 3))
    F[0, 1], D[0, 1] = 1.0, 0.6
    F[1, 2], D[1, 2] = 1.0, 0.4
    assert np.array_equal(stability(F, D).consensus_cpdag(), [[0, 1, 0], [0, 0, 1], [0, 1, 0]])


def test_selection_names_the_pairs_and_bounds_the_errors() -> None:
    F = np.zeros((4, 4))
    F[0, 1], F[2, 3], F[3, 2] = 0.95, 0.3, 0.1
    result = stability(F)
    assert result.select(0.9) == [("a", "b")]
    q, p = 1.35, 6.0
    worst = q**2 / p / 0.8
    assert result.error_bound(0.9, assumption="none") == pytest.approx(worst)
    # B = 50 pairs: the two branches of the published constant.
    assert result.error_bound(0.9) == pytest.approx(q**2 / p * 4 * 0.11 / 1.02)
    assert result.error_bound(0.7) == pytest.approx(q**2 / p / (2 * (0.4 - 0.01)))


def test_where_the_unimodal_bound_does_not_hold_the_plain_one_is_given() -> None:
    F = np.full((3, 3), 0.4) * (1 - np.eye(3))
    result = stability(F)  # 0.8 of all pairs each time: above 1/√3
    assert result.error_bound(0.9) == result.error_bound(0.9, assumption="none")


def test_what_makes_no_sense_is_refused() -> None:
    result = stability(np.zeros((3, 3)))
    with pytest.raises(ParameterError, match="subsample='complementary'"):
        stability(np.zeros((3, 3)), subsample=None).error_bound()
    with pytest.raises(ParameterError, match=r"above 0\.5 and at most 1, not 0\.5"):
        result.error_bound(0.5)
    with pytest.raises(ParameterError, match=r"must be one of .*'unimodal'.*not 'r-concave'"):
        result.error_bound(assumption="r-concave")  # type: ignore[arg-type]
    for ask in (result.consensus_dag, result.consensus_cpdag, result.select):
        with pytest.raises(ParameterError, match="threshold must be a share above 0"):
            ask(0.0)


def test_edges_get_their_stability() -> None:
    F = np.zeros((2, 2))
    F[0, 1] = 0.7
    edge = Edge("a", "b", 1.0, 0.1, 0.5, FixedBy.NOTHING, False)
    result = stability(F, directed=F / 2)
    annotated = edge._replace(stability=0.7, direction_stability=0.35)
    assert result.annotate([edge]) == (annotated,)
    known = edge._replace(fixed_by=FixedBy.KNOWLEDGE)  # gives a direction wherever the edge is
    assert result.annotate([known])[0].direction_stability == 0.7
    with pytest.raises(ParameterError, match="the edges name 'x', which the resampled data"):
        stability(F).annotate([edge._replace(source="x")])


def test_the_result_is_plain_data_for_json() -> None:
    F = np.zeros((2, 2))
    F[0, 1] = 0.7
    record = json.loads(json.dumps(stability(F).as_dict()))
    assert record["edges"] == [
        {"source": "a", "target": "b", "edge": 0.7, "direction": 0.0, "skeleton": 0.7}
    ]
    assert record["n_resamples"] == 100
