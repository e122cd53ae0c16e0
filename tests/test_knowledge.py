"""Knowledge: masks, contradictions that name the culprits, unknown names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyticdag import AnalyticDAG
from analyticdag.errors import KnowledgeError
from analyticdag.knowledge import EdgeMasks, Knowledge

NAMES = ["a", "b", "c", "d"]


def test_without_knowledge_everything_but_loops_is_allowed() -> None:
    np.testing.assert_array_equal(Knowledge().allowed(NAMES), ~np.eye(4, dtype=bool))
    np.testing.assert_array_equal(EdgeMasks.free(4).allowed, ~np.eye(4, dtype=bool))
    assert not EdgeMasks.free(4).required.any()


def test_required_and_forbidden_edges_reach_the_masks() -> None:
    known = Knowledge(required_edges=[("a", "b")], forbidden_edges=[("c", "d")])
    assert known.required(NAMES)[0, 1]
    assert known.required(NAMES).sum() == 1
    allowed = known.allowed(NAMES)
    assert allowed[0, 1]
    assert not allowed[2, 3]
    assert allowed[3, 2]


def test_edges_that_would_close_a_cycle_with_required_ones_are_not_allowed() -> None:
    allowed = Knowledge(required_edges=[("a", "b"), ("b", "c")]).allowed(NAMES)
    assert not allowed[1, 0]
    assert not allowed[2, 0]
    assert allowed[0, 2]


def test_indices_and_names_mean_the_same_columns() -> None:
    by_name = Knowledge(required_edges=[("a", "c")], tiers=[["a", "b"], ["c", "d"]])
    by_index = Knowledge(required_edges=[(0, 2)], tiers=[[0, 1], [2, 3]])
    np.testing.assert_array_equal(by_name.allowed(NAMES), by_index.allowed(NAMES))
    np.testing.assert_array_equal(by_index.allowed(NAMES), by_index.allowed(range(4)))


def test_tiers_forbid_backward_edges_and_leave_others_free() -> None:
    allowed = Knowledge(tiers=[["a"], ["b", "c"]]).allowed(NAMES)
    assert not allowed[1, 0]
    assert not allowed[2, 0]
    assert allowed[0, 1]
    assert allowed[1, 2]
    assert allowed[2, 1]
    assert allowed[3, [0, 1, 2]].all()
    assert allowed[[0, 1, 2], 3].all()


def test_candidates_restrict_all_but_required_edges() -> None:
    known = Knowledge(required_edges=[("a", "b")], max_parents=2).resolve(NAMES)
    restricted = known.restricted_to(np.zeros((4, 4), dtype=bool))
    np.testing.assert_array_equal(restricted.allowed, known.required)
    assert restricted.max_parents == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"required_edges": [("a", "b")], "forbidden_edges": [("a", "b")]},
            "'a' -> 'b' is both required and forbidden",
        ),
        ({"required_edges": [("a", "b"), ("b", "a")]}, "close a cycle: 'a' -> 'b', 'b' -> 'a'"),
        (
            {"required_edges": [("b", "a")], "tiers": [["a"], ["b"]]},
            "'b' -> 'a' is required but goes from a later tier",
        ),
        (
            {"required_edges": [("a", "c"), ("b", "c")], "max_parents": 1},
            r"max_parents=1 required edges point at \['c'\]",
        ),
        ({"tiers": [["a"], ["a"]]}, "'a' is in the tiers twice"),
        ({"required_edges": [("a", "a")]}, "from 'a' to itself"),
        ({"required_edges": ["ab"]}, "takes .cause, effect. pairs, not 'ab'"),
        ({"forbidden_edges": [("a", "b", "c")]}, "takes .cause, effect. pairs"),
        ({"tiers": ["abc"]}, "a tier is a collection of columns, not 'abc'"),
        ({"max_parents": 0}, "whole number of at least 1"),
        ({"max_parents": True}, "whole number of at least 1"),
        ({"max_parents": 1.5}, "whole number of at least 1"),
    ],
)
def test_contradictions_are_refused_when_built(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        Knowledge(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"required_edges": [("a", "b")], "forbidden_edges": [(0, 1)]},
            "'a' -> 'b' is both required and forbidden",
        ),
        ({"required_edges": [("a", "b"), (1, 0)]}, "close a cycle"),
        ({"required_edges": [("a", "b")], "tiers": [[1], [0]]}, "later tier"),
        ({"required_edges": [("a", "b"), (2, 1)], "max_parents": 1}, r"point at \['b'\]"),
        ({"required_edges": [("a", 0)]}, "close a cycle"),
    ],
)
def test_contradictions_between_names_and_indices_are_refused(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(KnowledgeError, match=message):
        Knowledge(**arguments).resolve(NAMES)


def test_an_unknown_name_is_named_with_close_matches() -> None:
    with pytest.raises(KnowledgeError, match="'Mekk', which is not a column; did you mean 'Mek'"):
        Knowledge(required_edges=[("Raf", "Mekk")]).resolve(["Raf", "Mek", "Erk"])


def test_an_unknown_name_without_close_matches_lists_the_columns() -> None:
    with pytest.raises(KnowledgeError, match="'zzz', which is not a column; the columns are 'a'"):
        Knowledge(tiers=[["zzz"]]).resolve(NAMES)


def test_an_index_past_the_end_is_unknown() -> None:
    with pytest.raises(KnowledgeError, match="4, which is not a column"):
        Knowledge(required_edges=[(0, 4)]).resolve(NAMES)


def test_knowledge_survives_json() -> None:
    known = Knowledge([("a", "b")], [("c", "d")], [["a"], ["b", "c"]], 2)
    assert Knowledge.from_dict(json.loads(json.dumps(known.to_dict()))) == known


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(KnowledgeError, match=r"unknown knowledge \['required'\]"):
        Knowledge.from_dict({"required": []})


def test_knowledge_is_a_value() -> None:
    assert Knowledge(required_edges=[["a", "b"]]) == Knowledge(required_edges=(("a", "b"),))
    assert hash(Knowledge(tiers=[["a"]])) == hash(Knowledge(tiers=(("a",),)))


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_required_edges_are_either_refused_or_allowed(edges: set[tuple[int, int]]) -> None:
    try:
        constraints = Knowledge(required_edges=edges).resolve(range(6))
    except KnowledgeError:
        return
    assert constraints.required.sum() == len(edges)
    assert constraints.allowed[constraints.required].all()
    # Adding any one allowed edge keeps the required graph acyclic: its powers vanish.
    for i, j in np.argwhere(constraints.allowed):
        graph = constraints.required.astype(float)
        graph[i, j] = 1.0
        assert not np.linalg.matrix_power(graph, 6).any()


def test_numbers_name_columns_also_beside_words() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.normal(size=(200, 4)), columns=[3, 2, 1, 0])
    table["w"] = np.where(rng.random(200) < 0.5, "yes", "no")
    model = AnalyticDAG(knowledge=Knowledge(required_edges=[(0, 3)])).fit(table)
    assert [(str(e.source), str(e.target)) for e in model.edges_ if e.fixed_by == "knowledge"] == [
        ("0", "3")
    ]
