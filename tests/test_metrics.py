from __future__ import annotations

import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyticdag.errors import InputError, MissingDependencyError, ParameterError
from analyticdag.graphs import to_cpdag
from analyticdag.metrics import compare
from analyticdag.simulate import random_dag


def edges(d: int, *pairs: tuple[int, int]) -> np.ndarray:
    A = np.zeros((d, d))
    for i, j in pairs:
        A[i, j] = 1
    return A


def dags(d: int) -> st.SearchStrategy[np.ndarray]:
    def build(bits: int, seed: int) -> np.ndarray:
        A = np.zeros((d, d))
        upper = np.triu_indices(d, 1)
        A[upper] = [bits >> k & 1 for k in range(len(upper[0]))]
        order = np.random.default_rng(seed).permutation(d)
        return A[np.ix_(order, order)]

    return st.builds(build, st.integers(0, 2 ** (d * (d - 1) // 2) - 1), st.integers(0, 999))


# ---- counts --------------------------------------------------------------------------------


def test_counts_of_an_example_worked_by_hand() -> None:
    true = edges(5, (0, 1), (1, 2), (2, 3), (0, 4))
    estimated = edges(5, (0, 1), (2, 1), (3, 4)) * -0.7
    c = compare(true, estimated)
    assert (c.correct, c.reversed, c.extra, c.missing, c.unoriented) == (1, 1, 1, 2, 0)
    assert c.shd == 4
    assert c.tpr == c.recall == 1 / 4
    assert c.fdr == 2 / 3
    assert c.precision == 1 / 3
    assert c.fpr == 2 / 6
    assert c.f1 == pytest.approx(2 * (1 / 3 * 1 / 4) / (1 / 3 + 1 / 4))


def test_an_undirected_edge_is_one_error_unless_asked_otherwise() -> None:
    true = edges(3, (0, 1), (1, 2))
    cpdag = edges(3, (0, 1), (1, 0), (1, 2))
    strict = compare(true, cpdag)
    assert (strict.shd, strict.unoriented, strict.correct, strict.n_estimated) == (1, 1, 1, 2)
    assert (strict.tpr, strict.fdr) == (0.5, 0.5)
    kind = compare(true, cpdag, undirected="favourable")
    assert (kind.shd, kind.tpr, kind.fdr) == (0, 1.0, 0.0)
    assert compare(cpdag, cpdag).shd == 0
    extra = compare(edges(3), cpdag, undirected="favourable")
    assert extra.shd == 2


def test_nothing_to_get_wrong() -> None:
    empty = compare(edges(3), edges(3))
    assert (empty.shd, empty.tpr, empty.fdr, empty.fpr) == (0, 1.0, 0.0, 0.0)
    assert (empty.precision, empty.f1, empty.shd_cpdag) == (1.0, 1.0, 0)
    full = np.triu(np.ones((3, 3)), 1)
    assert compare(full, full.T).fpr == 3.0
    assert compare(np.zeros((1, 1)), np.zeros((1, 1))).f1 == 1.0
    nothing_found = compare(full, edges(3))
    assert (nothing_found.tpr, nothing_found.f1, nothing_found.shd) == (0.0, 0.0, 3)


@given(dags(6), dags(6))
def test_laws_of_the_counts(true: np.ndarray, estimated: np.ndarray) -> None:
    c, back = compare(true, estimated), compare(estimated, true)
    assert c.shd == back.shd
    assert c.shd_cpdag == back.shd_cpdag
    assert c.correct + c.reversed + c.missing == c.n_true == true.sum()
    assert c.correct + c.reversed + c.extra == c.n_estimated == estimated.sum()
    assert c.tpr == back.precision
    assert c.fdr + c.precision == pytest.approx(1.0)
    assert (c.shd == 0) == np.array_equal(true, estimated)
    assert (c.shd_cpdag == 0) == np.array_equal(to_cpdag(true), to_cpdag(estimated))
    order = np.random.default_rng(0).permutation(6)
    assert compare(true[order][:, order], estimated[order][:, order]) == c


@given(dags(5), dags(5))
def test_shd_agrees_with_gadjid_and_sid_with_its_meaning(A: np.ndarray, B: np.ndarray) -> None:
    gadjid = pytest.importorskip("gadjid")
    c = compare(A, B)
    assert c.shd == gadjid.shd(A.astype(np.int8), B.astype(np.int8))[1]
    assert c.sid == c.parent_aid
    # A correct graph makes no mistake, and neither does a graph with edges to spare.
    assert compare(A, A).sid == compare(A, A).aid == compare(A, A).oset_aid == 0
    assert isinstance(c.sid, int)


# ---- equivalence classes and interventions -------------------------------------------------


def test_shd_cpdag_takes_classes_as_they_are() -> None:
    chain, fork = edges(3, (0, 1), (1, 2)), edges(3, (1, 0), (1, 2))
    collider = edges(3, (0, 1), (2, 1))
    assert compare(chain, fork).shd == 1
    assert compare(chain, fork).shd_cpdag == 0
    assert compare(chain, collider).shd_cpdag == 2
    assert compare(chain, to_cpdag(fork)).shd_cpdag == 0


def test_sid_of_known_examples() -> None:
    pytest.importorskip("gadjid")
    chain = edges(2, (0, 1))
    # Reversed: both interventional distributions are wrong. Empty: only the cause's is.
    assert compare(chain, chain.T).sid == 2
    assert compare(chain, np.zeros((2, 2))).sid == 1
    assert compare(np.zeros((2, 2)), chain).sid == 0
    assert compare(np.zeros((1, 1)), np.zeros((1, 1))).sid == 0


def test_aid_knows_cpdags_and_sid_refuses_them() -> None:
    pytest.importorskip("gadjid")
    A = random_dag("ER2", 8, np.random.default_rng(0))
    c = compare(A, to_cpdag(A))
    assert c.aid >= 0
    assert compare(to_cpdag(A), to_cpdag(A)).aid == 0
    with pytest.raises(InputError, match=r"sid needs a DAG, and the estimated graph.*\.aid"):
        _ = c.sid


def test_a_cyclic_estimate_has_an_shd_and_nothing_more() -> None:
    true = edges(3, (0, 1), (1, 2))
    c = compare(true, edges(3, (0, 1), (1, 2), (2, 0)))
    assert (c.shd, c.extra) == (1, 1)
    for measure in ["shd_cpdag", "aid", "oset_aid"]:
        with pytest.raises(InputError, match="neither a DAG nor a CPDAG"):
            getattr(c, measure)
    with pytest.raises(InputError, match="sid needs a DAG"):
        _ = c.sid
    record = c.as_dict(interventional=True)
    assert record["shd_cpdag"] is record["sid"] is record["aid"] is None


def test_missing_gadjid_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gadjid", None)
    with pytest.raises(MissingDependencyError, match=r"analyticdag\[metrics\]"):
        _ = compare(edges(2), edges(2)).sid


def test_as_dict_holds_plain_unrounded_numbers() -> None:
    record = compare(edges(4, (0, 1), (1, 2), (2, 3)), edges(4, (0, 1))).as_dict()
    assert record["tpr"] == 1 / 3
    assert record["shd"] == record["shd_cpdag"] == 2
    assert "sid" not in record
    assert {type(value) for value in record.values()} == {int, float}


# ---- alignment and refusals ----------------------------------------------------------------


def test_networkx_graphs_are_aligned_by_name() -> None:
    true = nx.DiGraph([("a", "b"), ("b", "c")])
    estimated = nx.DiGraph()
    estimated.add_nodes_from(["c", "b", "a"])
    estimated.add_edge("a", "b", weight=-0.4)
    c = compare(true, estimated)
    assert (c.correct, c.missing, c.shd) == (1, 1, 1)


def test_an_edge_of_a_networkx_graph_counts_whatever_its_weight() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=0.0)
    assert compare(nx.DiGraph([("a", "b")]), graph).shd == 0
    assert compare(nx.DiGraph(), nx.DiGraph()).shd == 0


def test_a_matrix_beside_a_networkx_graph() -> None:
    graph = nx.DiGraph([(2, 0), (0, 1)])  # its own order is 2, 0, 1
    assert compare(edges(3, (2, 0), (0, 1)), graph).shd == 0
    assert compare(graph, edges(3, (2, 0), (0, 1))).shd == 0
    for pair in [(edges(2), nx.DiGraph([("a", "b")])), (nx.DiGraph([("a", "b")]), edges(2))]:
        with pytest.raises(
            InputError, match=r"the nodes \['a', 'b'\] and is compared with a matrix"
        ):
            compare(*pair)


@pytest.mark.parametrize(
    ("true", "estimated", "message"),
    [
        (
            nx.DiGraph([("a", "b")]),
            nx.DiGraph([("a", "c")]),
            r"only in the true graph: \['b'\]; only in the estimated graph: \['c'\]",
        ),
        (edges(2), edges(3), "the true one has 2, the estimated one 3"),
        (edges(2, (0, 0)), edges(2), r"the true graph has an edge from a node to itself, at \[0\]"),
        (edges(2), edges(2) * np.nan, "the estimated graph must be finite"),
        (edges(2), np.zeros(2), "the estimated graph must have rows and columns"),
        (nx.Graph([(0, 1)]), edges(2), "DiGraph"),
    ],
)
def test_graphs_that_cannot_be_compared(true: Any, estimated: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(true, estimated)


def test_unknown_way_of_counting_undirected_edges() -> None:
    with pytest.raises(ParameterError, match="'strict' or 'favourable'"):
        compare(edges(2), edges(2), undirected="half")  # type: ignore[arg-type]


def test_inputs_are_left_alone_and_any_layout_will_do() -> None:
    A = edges(6, (0, 2), (2, 4))[::2, ::2].astype(np.float32)
    before = A.copy()
    assert compare(A.T, np.asfortranarray(A.T)).shd == 0
    assert np.array_equal(A, before)
