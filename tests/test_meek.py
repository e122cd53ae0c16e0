from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyticdag._typing import BoolArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.graphs import is_dag, orient_with_knowledge, to_cpdag


def members(dag: IntArray) -> list[IntArray]:
    """Every DAG of the class, by trying all directions of its edges."""
    edges = np.argwhere(dag)
    cpdag = to_cpdag(dag)
    found = []
    for turned in itertools.product([False, True], repeat=len(edges)):
        member = np.zeros_like(dag)
        for (i, j), turn in zip(edges, turned, strict=True):
            member[(j, i) if turn else (i, j)] = 1
        if is_dag(member) and np.array_equal(to_cpdag(member), cpdag):
            found.append(member)
    return found


@st.composite
def dags_with_knowledge(draw: st.DrawFn) -> tuple[IntArray, BoolArray]:
    d = draw(st.integers(2, 5))
    bits = st.lists(st.booleans(), min_size=d * d, max_size=d * d)
    order = np.array(draw(st.permutations(range(d))))
    upper = np.triu(np.array(draw(bits)).reshape(d, d), 1)
    dag = np.zeros((d, d), dtype=np.int64)
    dag[np.ix_(order, order)] = upper
    # Knowledge that the drawn graph agrees with.
    allowed = np.array(draw(bits)).reshape(d, d) | (dag != 0)
    return dag, allowed


@given(dags_with_knowledge())
@settings(max_examples=80, deadline=None)
def test_an_edge_is_directed_exactly_when_all_agreeing_members_direct_it(
    case: tuple[IntArray, BoolArray],
) -> None:
    dag, allowed = case
    known = to_cpdag(dag) != 0
    # What the rules are told: the direction of edges that may point one way only.
    one_way = allowed & ~allowed.T & known
    agreeing = [m for m in members(dag) if not (one_way & (m.T != 0)).any()]
    assert np.array_equal(orient_with_knowledge(to_cpdag(dag), allowed), np.any(agreeing, axis=0))


def test_one_known_edge_directs_a_chain() -> None:
    chain = np.diag(np.ones(3, dtype=int), 1)
    allowed = ~np.eye(4, dtype=bool)
    assert np.array_equal(orient_with_knowledge(to_cpdag(chain), allowed), chain + chain.T)
    allowed[1, 0] = False
    assert np.array_equal(orient_with_knowledge(to_cpdag(chain), allowed), chain)


def test_a_mask_of_another_size_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"allowed must have the shape of the graph, \(2, 2\)"):
        orient_with_knowledge(np.zeros((2, 2)), np.ones((3, 3)))
