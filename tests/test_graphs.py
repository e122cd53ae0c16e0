from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise, product
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analyticdag import graphs
from analyticdag.errors import InputError, ParameterError


def weight_matrices(max_nodes: int = 7) -> st.SearchStrategy[np.ndarray]:
    # Few values, so that ties and missing edges are common.
    return st.integers(0, max_nodes).flatmap(
        lambda d: hnp.arrays(float, (d, d), elements=st.sampled_from([0, 0, 0, 0.5, -1, 2, 3]))
    )


def all_dags(d: int) -> np.ndarray:
    """Every DAG on d labelled nodes, found by asking each choice per pair."""
    pairs = list(combinations(range(d), 2))
    found = []
    for choice in product(range(3), repeat=len(pairs)):
        A = np.zeros((d, d), dtype=np.int64)
        for (i, j), c in zip(pairs, choice, strict=True):
            A[i, j], A[j, i] = c == 1, c == 2
        found.append(A)
    stack = np.array(found)
    walks = np.eye(d) + stack
    power = np.linalg.matrix_power(walks, d) @ stack
    return stack[np.trace(power, axis1=1, axis2=2) == 0]


def equivalence_key(A: np.ndarray) -> tuple[bytes, tuple[tuple[int, int, int], ...]]:
    skeleton = A | A.T
    v_structures = tuple(
        (int(i), k, int(j))
        for k in range(len(A))
        for i, j in combinations(np.flatnonzero(A[:, k]), 2)
        if not skeleton[i, j]
    )
    return skeleton.tobytes(), v_structures


# ---- acyclicity and order ------------------------------------------------------------------


@given(weight_matrices())
def test_is_dag_agrees_with_networkx(W: np.ndarray) -> None:
    assert graphs.is_dag(W) == nx.is_directed_acyclic_graph(graphs.to_networkx(W))


@given(weight_matrices())
def test_order_is_the_first_in_lexicographic_order_or_names_a_real_cycle(W: np.ndarray) -> None:
    if graphs.is_dag(W):
        expected = list(nx.lexicographical_topological_sort(graphs.to_networkx(W)))
        assert graphs.topological_order(W).tolist() == expected
        return
    with pytest.raises(InputError, match="has the cycle") as caught:
        graphs.topological_order(W)
    cycle = [int(node) for node in str(caught.value).split("cycle ")[1].split(";")[0].split(" -> ")]
    assert len(cycle) >= 2
    assert cycle[0] == cycle[-1]
    assert all(W[i, j] for i, j in pairwise(cycle))


def test_order_names_the_nodes_of_a_cycle() -> None:
    W = np.zeros((3, 3))
    W[0, 1] = W[1, 0] = 1
    with pytest.raises(InputError, match=r"Raf -> Mek -> Raf|Mek -> Raf -> Mek"):
        graphs.topological_order(W, names=["Raf", "Mek", "Akt"])


def test_find_cycle_of_a_dag_is_empty() -> None:
    assert graphs.acyclic.find_cycle(np.triu(np.ones((4, 4)), 1)) == []


# ---- nearest DAG ---------------------------------------------------------------------------


def nearest_by_search(W: np.ndarray, protected: np.ndarray) -> set[tuple[int, int]]:
    """The definition, said slowly: strongest first, drop what closes a cycle."""
    edges = sorted(graphs.edge_list(W), key=lambda e: (not protected[e], -abs(W[e]), e))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(W)))
    dropped = set()
    for i, j in edges:
        if nx.has_path(graph, j, i):
            dropped.add((i, j))
        else:
            graph.add_edge(i, j)
    return dropped


@given(weight_matrices(), st.randoms(use_true_random=False))
def test_nearest_dag_is_the_slow_definition(W: np.ndarray, random: object) -> None:
    order = np.random.default_rng(random.getrandbits(32)).permutation(len(W))  # type: ignore[attr-defined]
    protected = np.zeros(W.shape, dtype=bool)
    protected[np.ix_(order, order)] = np.triu(np.ones(W.shape, dtype=bool), 3)
    before = W.copy()
    # Short chunks, so that small graphs meet every branch of the bookkeeping.
    with patch.object(graphs.acyclic, "_CHUNK", 3):
        D, dropped = graphs.nearest_dag(W, protected)
    assert graphs.is_dag(D)
    assert set(dropped) == nearest_by_search(W, protected & (W != 0))
    assert np.array_equal(W, before)
    kept = D != 0
    assert np.array_equal(D[kept], W[kept])
    assert int(kept.sum()) + len(dropped) == np.count_nonzero(W)
    assert not any(protected[edge] for edge in dropped)
    assert [abs(W[e]) for e in dropped] == sorted(abs(W[e]) for e in dropped)


def test_nearest_dag_drops_the_weakest_of_a_cycle() -> None:
    W = np.zeros((4, 4))
    W[0, 1], W[1, 2], W[2, 0], W[2, 3] = 2.0, -0.3, 1.0, 0.1
    D, dropped = graphs.nearest_dag(W)
    assert dropped == [(1, 2)]
    assert D[2, 3] == 0.1


def test_nearest_dag_keeps_a_weak_required_edge() -> None:
    W = np.array([[0.0, 0.01], [5.0, 0.0]])
    D, dropped = graphs.nearest_dag(W, protected=np.array([[0, 1], [0, 0]]))
    assert dropped == [(1, 0)]
    assert D[0, 1] == 0.01


def test_nearest_dag_refuses_a_cycle_of_required_edges() -> None:
    with pytest.raises(InputError, match=r"0 -> 1 -> 0|1 -> 0 -> 1"):
        graphs.nearest_dag(np.ones((2, 2)), protected=np.ones((2, 2)) - np.eye(2))
    with pytest.raises(InputError, match="mask of shape"):
        graphs.nearest_dag(np.ones((2, 2)), protected=np.ones(2))


def test_nearest_dag_of_a_large_cyclic_graph() -> None:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(600, 600)) * (rng.random((600, 600)) < 0.02)
    D, dropped = graphs.nearest_dag(W)
    assert graphs.is_dag(D)
    assert len(dropped) > 1000
    # Maximal: every dropped edge would close a cycle again.
    reach = np.linalg.matrix_power((np.eye(600) + (D != 0) > 0).astype(float), 1)
    for _ in range(10):
        reach = ((reach @ reach) > 0).astype(float)
    assert all(reach[j, i] for i, j in dropped)


# ---- equivalence classes -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "n_dags", "members_tried"),
    [(1, 1, 1), (2, 3, 3), (3, 25, 25), (4, 543, 543), (5, 29281, 1),
     pytest.param(5, 29281, 29281, marks=pytest.mark.slow)],
)  # fmt: skip
def test_cpdag_is_the_union_of_its_class(d: int, n_dags: int, members_tried: int) -> None:
    dags = all_dags(d)
    assert len(dags) == n_dags
    classes = defaultdict(list)
    for A in dags:
        classes[equivalence_key(A)].append(A)
    for members in classes.values():
        # An edge that occurs in both directions is undirected, which is exactly the union.
        union = np.any(members, axis=0).astype(np.int64)
        for A in members[-members_tried:]:
            assert np.array_equal(graphs.to_cpdag(A), union)


@given(st.integers(0, 10_000), st.integers(6, 12), st.sampled_from([0.2, 0.4, 0.7]))
def test_cpdag_of_larger_graphs_agrees_with_meeks_rules(seed: int, d: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    A = np.triu(rng.random((d, d)) < density, 1).astype(np.int64)[np.ix_(order, order)]
    assert np.array_equal(graphs.to_cpdag(A), cpdag_by_meek(A))


def cpdag_by_meek(A: np.ndarray) -> np.ndarray:
    """The other way: keep the v-structures, then apply Meek's rules 1 to 3 until they rest."""
    d, adjacent = len(A), A | A.T
    P = adjacent.copy()  # P[i, j] and P[j, i]: undirected
    for k in range(d):
        for i, j in combinations(np.flatnonzero(A[:, k]), 2):
            if not adjacent[i, j]:
                P[k, i] = P[k, j] = 0
    while True:
        directed, undirected = P & ~P.T, P & P.T
        for b, c in np.argwhere(undirected):
            into_c = np.flatnonzero(directed[:, c] & undirected[b])
            if (
                (directed[:, b] & ~adjacent[:, c] & (np.arange(d) != c)).any()
                or (directed[b] & directed[:, c]).any()
                or any(not adjacent[i, j] for i, j in combinations(into_c, 2))
            ):
                P[c, b] = 0
                break
        else:
            return P


def test_random_member_draws_every_member_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    classes = defaultdict(set)
    for A in all_dags(4):
        classes[graphs.to_cpdag(A).tobytes()].add(A.tobytes())
    for cpdag, members in classes.items():
        C = np.frombuffer(cpdag, dtype=np.int8).reshape(4, 4)
        n_draws = 40 if len(members) == 3 else 2
        drawn = {graphs.random_member(C, rng).tobytes() for _ in range(n_draws)}
        assert drawn <= members
        assert drawn == members or len(members) != 3


def test_random_member_refuses_what_is_no_cpdag() -> None:
    square = nx.to_numpy_array(nx.cycle_graph(4))  # undirected but not chordal
    for no_cpdag in [square, np.roll(np.eye(3), 1, axis=1), np.array([[0, 1], [0, 0]])]:
        with pytest.raises(InputError, match="no CPDAG"):
            graphs.random_member(no_cpdag, np.random.default_rng(0))


def test_cpdag_refuses_a_cycle_and_returns_int8() -> None:
    with pytest.raises(InputError, match="cycle"):
        graphs.to_cpdag(np.ones((2, 2)) - np.eye(2))
    cpdag = graphs.to_cpdag(np.array([[0, 0.5], [0, 0]], dtype=np.float32))
    assert cpdag.dtype == np.int8
    assert cpdag.tolist() == [[0, 1], [1, 0]]


# ---- conversion ----------------------------------------------------------------------------


def test_from_matrix_turns_the_other_convention_round() -> None:
    M = np.array([[0, 3], [0, 0]], dtype=np.int8)
    ours = graphs.from_matrix(M, orientation="row-to-column")
    assert graphs.edge_list(ours) == [(0, 1)]
    assert graphs.edge_list(graphs.from_matrix(M, orientation="column-to-row")) == [(1, 0)]
    ours[0, 1] = 7
    assert M[0, 1] == 3


def test_from_matrix_insists_on_an_orientation() -> None:
    with pytest.raises(TypeError, match="orientation"):
        graphs.from_matrix(np.eye(2))  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match=r"row-to-column.*got 'rows'"):
        graphs.from_matrix(np.eye(2), orientation="rows")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), r"square.*\(2, 3\)"),
        (np.zeros(3), "must have rows and columns"),
        ([[0, np.nan], [0, 0]], r"entry \[0, 1\] is nan"),
        ([["a", "b"], ["c", "d"]], "not a number"),
    ],
)
def test_matrices_that_are_no_graph_are_refused(matrix: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        graphs.is_dag(matrix)  # type: ignore[arg-type]


@given(weight_matrices())
def test_networkx_there_and_back(W: np.ndarray) -> None:
    names = [("node", k) for k in range(len(W))]  # names need not be strings
    back, nodes = graphs.from_networkx(graphs.to_networkx(W, names))
    assert np.array_equal(back, W)
    assert nodes == names
    reordered, _ = graphs.from_networkx(graphs.to_networkx(W, names), names[::-1])
    assert np.array_equal(reordered, W[::-1, ::-1])


def test_networkx_edges_without_weight_count_as_one() -> None:
    W, names = graphs.from_networkx(nx.DiGraph([("a", "b")]))
    assert W[names.index("a"), names.index("b")] == 1.0


@pytest.mark.parametrize("weight", [0, float("nan"), None, "strong"])
def test_networkx_weights_that_a_matrix_cannot_hold(weight: object) -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=weight)
    with pytest.raises(InputError, match="'a' -> 'b' has weight"):
        graphs.from_networkx(graph)


def test_networkx_refusals_name_the_nodes() -> None:
    with pytest.raises(InputError, match=r"DiGraph.*got Graph"):
        graphs.from_networkx(nx.Graph([(0, 1)]))
    with pytest.raises(InputError, match=r"only in names: \['c'\]; only in the graph: \['b'\]"):
        graphs.from_networkx(nx.DiGraph([("a", "b")]), ["a", "c"])
    with pytest.raises(InputError, match="twice"):
        graphs.from_networkx(nx.DiGraph([("a", "b")]), ["a", "b", "b"])
    with pytest.raises(InputError, match="3 names for 2 nodes"):
        graphs.to_networkx(np.zeros((2, 2)), ["a", "b", "c"])
    with pytest.raises(InputError, match=r"more than once: \['a'\]"):
        graphs.to_networkx(np.zeros((2, 2)), ["a", "a"])


def test_views_and_other_dtypes_are_read_as_they_are() -> None:
    W = np.zeros((6, 6), dtype=np.float32)
    W[0, 2] = W[2, 4] = 1
    view = W[::2, ::2]
    assert graphs.topological_order(view).tolist() == [0, 1, 2]
    assert graphs.topological_order(view.T).tolist() == [2, 1, 0]
    assert graphs.is_dag(view.T.astype(bool))
