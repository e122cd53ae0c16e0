"""How far an estimated graph is from the true one.

Everything is counted on unordered *pairs* of nodes. A pair is empty, directed one way or the
other, or undirected (both entries set: an undirected edge of a CPDAG, or a two-cycle). Over
the pairs where either graph has an edge:

    correct     both have it, with the same direction (or both undirected)
    reversed    both have it, in opposite directions
    unoriented  both have it, directed in one and undirected in the other
    extra       only the estimate has it
    missing     only the truth has it

    SHD       = reversed + unoriented + extra + missing     (each differing pair once)
    FDR       = (reversed + unoriented + extra) / edges in the estimate
    TPR       = correct / edges in the truth
    FPR       = (reversed + unoriented + extra) / pairs without an edge in the truth

So an undirected edge where the truth is directed is one error. ``undirected="favourable"``
counts it as correct instead, as the scripts of NOTEARS and DAGMA do; say which you used.
Where a rate would be 0/0 there was nothing to get wrong: FDR and FPR are 0, the others 1.
Nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from analyticdag._typing import BinaryArray, BoolArray
from analyticdag.errors import InputError, MissingDependencyError, ParameterError
from analyticdag.graphs import is_dag, random_member, to_cpdag
from analyticdag.graphs.convert import check_digraph, node_mismatch, square_matrix
from analyticdag.graphs.cpdag import member_of

__all__ = ["Difference", "EdgeCounts", "Graph", "Undirected", "compare", "differences"]

Graph: TypeAlias = ArrayLike | nx.DiGraph
Undirected: TypeAlias = Literal["strict", "favourable"]


def compare(true: Graph, estimated: Graph, *, undirected: Undirected = "strict") -> EdgeCounts:
    """Count the edges of ``estimated`` against ``true``; see the module for the words.

    Each graph is a weighted or 0/1 matrix (entry [i, j] for i -> j) or a networkx.DiGraph.
    Two networkx graphs are aligned by node name; beside a matrix, the nodes of a networkx
    graph must be 0 … d-1. ``estimated`` may be a CPDAG, undirected edges in both entries.
    """
    if undirected not in ("strict", "favourable"):
        raise ParameterError(f"undirected must be 'strict' or 'favourable'; got {undirected!r}")
    T, E = _aligned(true, estimated)
    either = T | T.T | E | E.T
    both = (T | T.T) & (E | E.T)
    same = both & (T == E) & (T.T == E.T)
    opposite = both & (T == E.T) & (T.T == E) & ~same
    unoriented = both & ~same & ~opposite
    if undirected == "favourable":
        same, unoriented = same | unoriented, np.zeros_like(unoriented)
    return EdgeCounts(
        n_nodes=len(T),
        n_true=_pairs(T | T.T),
        n_estimated=_pairs(E | E.T),
        correct=_pairs(same),
        reversed=_pairs(opposite),
        unoriented=_pairs(unoriented),
        extra=_pairs(either & ~(T | T.T)),
        missing=_pairs(either & ~(E | E.T)),
        true=T,
        estimated=E,
    )


class Difference(NamedTuple):
    """One pair that two graphs do not have alike; "" where a graph does not join it."""

    kind: str  # missing, extra, reversed or unoriented
    true: str
    estimated: str


def differences(true: Graph, estimated: Graph) -> list[Difference]:
    """List the pairs that differ, by name: "a → b", or "a — b" for an undirected edge."""
    T, E = _aligned(true, estimated)
    names = _node_names(true, estimated) or list(range(len(T)))
    pairs = np.argwhere(np.triu((T != E) | (T != E).T))
    found = [(_edge_words(names, T, i, j), _edge_words(names, E, i, j)) for i, j in pairs.tolist()]
    return sorted(Difference(_kind_of(t, e), t, e) for t, e in found)


def _edge_words(names: list[Any], edges: BoolArray, i: int, j: int) -> str:
    if edges[i, j] and edges[j, i]:
        return f"{names[i]} — {names[j]}"
    if edges[i, j]:
        return f"{names[i]} → {names[j]}"
    return f"{names[j]} → {names[i]}" if edges[j, i] else ""


def _kind_of(true: str, estimated: str) -> str:
    if not true:
        return "extra"
    if not estimated:
        return "missing"
    return "unoriented" if " — " in true or " — " in estimated else "reversed"


@dataclass(frozen=True)
class EdgeCounts:
    """The counts of one comparison, and the measures that follow from them.

    ``shd_cpdag``, ``sid`` and the ``aid`` family are computed when first asked for. They
    compare what graphs mean, so they need acyclic ones and raise InputError otherwise.
    """

    n_nodes: int
    n_true: int
    n_estimated: int
    correct: int
    reversed: int
    unoriented: int
    extra: int
    missing: int
    true: BoolArray = field(repr=False, compare=False)
    estimated: BoolArray = field(repr=False, compare=False)

    @property
    def shd(self) -> int:
        """Structural Hamming distance: pairs that differ; a reversed edge counts once."""
        return self.wrong + self.missing

    @property
    def wrong(self) -> int:
        """Estimated edges that are not in the truth as they stand."""
        return self.reversed + self.unoriented + self.extra

    @property
    def tpr(self) -> float:
        """True positive rate: the share of true edges that were found with their direction."""
        return self.correct / self.n_true if self.n_true else 1.0

    @property
    def recall(self) -> float:
        """Another name of the true positive rate."""
        return self.tpr

    @property
    def fdr(self) -> float:
        """False discovery rate: the share of estimated edges that are wrong."""
        return self.wrong / self.n_estimated if self.n_estimated else 0.0

    @property
    def precision(self) -> float:
        """The share of estimated edges that are correct."""
        return self.correct / self.n_estimated if self.n_estimated else 1.0

    @property
    def fpr(self) -> float:
        """False positive rate: wrong edges per pair that has no edge in the truth."""
        empty_pairs = self.n_nodes * (self.n_nodes - 1) // 2 - self.n_true
        # A complete truth leaves no such pair, yet edges can be reversed: divide by one.
        return self.wrong / max(empty_pairs, 1)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        edges = self.n_true + self.n_estimated
        return 2.0 * self.correct / edges if edges else 1.0

    @cached_property
    def shd_cpdag(self) -> int:
        """SHD between the equivalence classes, each differing pair once."""
        truth = _cpdag(self.true, "the true graph")
        estimate = _cpdag(self.estimated, "the estimated graph")
        return compare(truth, estimate).shd

    @cached_property
    def sid(self) -> int:
        """Structural intervention distance (Peters and Bühlmann 2015), between two DAGs."""
        return _gadjid("sid", self.true, self.estimated, classes=False)

    @cached_property
    def aid(self) -> int:
        """Ancestor adjustment identification distance (Henckel et al. 2024)."""
        return _gadjid("ancestor_aid", self.true, self.estimated, classes=True)

    @cached_property
    def parent_aid(self) -> int:
        """Parent adjustment identification distance; on DAGs it equals the SID."""
        return _gadjid("parent_aid", self.true, self.estimated, classes=True)

    @cached_property
    def oset_aid(self) -> int:
        """Optimal adjustment identification distance."""
        return _gadjid("oset_aid", self.true, self.estimated, classes=True)

    def as_dict(self, *, interventional: bool = False) -> dict[str, int | float | None]:
        """Return counts and measures by name; ``interventional`` adds sid and aid (gadjid).

        A measure that needs an acyclic graph is None when the estimate has a cycle.
        """
        names = ["n_nodes", "n_true", "n_estimated", "correct", "reversed", "unoriented", "extra"]
        names += ["missing", "shd", "tpr", "fdr", "fpr", "precision", "recall", "f1"]
        result: dict[str, int | float | None] = {name: getattr(self, name) for name in names}
        for name in ["shd_cpdag", *(["sid", "aid"] if interventional else [])]:
            try:
                result[name] = getattr(self, name)
            except InputError:
                result[name] = None
        return result


def _pairs(symmetric: BoolArray) -> int:
    return int(np.count_nonzero(symmetric)) // 2


def _aligned(true: Graph, estimated: Graph) -> tuple[BoolArray, BoolArray]:
    """Return both as boolean matrices whose rows mean the same nodes."""
    names = _node_names(true, estimated)
    T = _edges(true, names, "the true graph")
    E = _edges(estimated, names, "the estimated graph")
    if T.shape != E.shape:
        raise InputError(
            f"the graphs must have the same nodes; the true one has {len(T)}, "
            f"the estimated one {len(E)}"
        )
    return T, E


def _node_names(true: Graph, estimated: Graph) -> list[Any]:
    """Return the order in which nodes of networkx graphs become rows; [] for two matrices."""
    named = [graph for graph in (true, estimated) if isinstance(graph, nx.Graph)]
    for graph in named:
        check_digraph(graph)
    if len(named) == 2:
        names, others = (list(graph.nodes) for graph in named)
        if set(names) != set(others):
            raise InputError(node_mismatch(names, others, "the true graph", "the estimated graph"))
        return names
    what = "the true graph" if isinstance(true, nx.Graph) else "the estimated graph"
    return _numbered_nodes(named[0], what) if named else []


def _numbered_nodes(graph: nx.DiGraph, what: str) -> list[int]:
    numbers = list(range(len(graph)))
    if set(graph.nodes) != set(numbers):
        raise InputError(
            f"{what} has the nodes {list(graph.nodes)} and is compared with a matrix, which has "
            "none; give the matrix names with graphs.to_networkx(matrix, names)"
        )
    return numbers


def _edges(graph: Graph, names: list[Any], what: str) -> BoolArray:
    if isinstance(graph, nx.Graph):
        # An edge is an edge, whatever its weight; a graph without nodes upsets networkx.
        graph = nx.to_numpy_array(graph, nodelist=names, weight=None) if names else np.eye(0)
    edges: BoolArray = square_matrix(graph, what) != 0.0
    if edges.diagonal().any():
        loops = [int(node) for node in np.flatnonzero(edges.diagonal())]
        raise InputError(f"{what} has an edge from a node to itself, at {loops}; remove it")
    return edges


def _cpdag(edges: BoolArray, what: str) -> BinaryArray:
    """Return the class of a DAG; a CPDAG is returned as it is, anything else is refused."""
    if is_dag(edges):
        return to_cpdag(edges)
    try:
        # The draw does not matter: only a CPDAG has a member with exactly this class.
        random_member(edges, np.random.default_rng(0))
    except InputError as error:
        # With knowledge or interventions more is directed than in a CPDAG.
        member = member_of(edges)
        found = to_cpdag(member) if is_dag(member) else np.zeros_like(edges, dtype=np.int8)
        if np.any(edges & (found == 0)):
            raise InputError(
                f"{what} is neither a DAG nor a CPDAG, so it has no equivalence class; make it "
                "acyclic first, e.g. with graphs.nearest_dag(W)"
            ) from error
        return found
    return edges.view(np.int8)


def _gadjid(measure: str, true: BoolArray, estimated: BoolArray, *, classes: bool) -> int:
    """Count the mistakes of one gadjid measure; ``classes`` says whether it knows CPDAGs."""
    try:
        import gadjid
    except ImportError as error:
        raise MissingDependencyError("gadjid", "metrics") from error
    matrices = [
        _gadjid_matrix(true, "the true graph", measure, classes),
        _gadjid_matrix(estimated, "the estimated graph", measure, classes),
    ]
    if len(true) < 2:
        return 0  # no pair to be wrong about; gadjid panics here
    _, mistakes = getattr(gadjid, measure)(*matrices, edge_direction="from row to column")
    return int(mistakes)


def _gadjid_matrix(edges: BoolArray, what: str, measure: str, classes: bool) -> NDArray[np.int8]:
    if is_dag(edges):
        return edges.astype(np.int8)
    if not classes:
        raise InputError(
            f"{measure} needs a DAG, and {what} is not one; make it acyclic with "
            "graphs.nearest_dag(W), or for a CPDAG use .aid or .parent_aid"
        )
    _cpdag(edges, what)
    # gadjid writes an undirected edge as 2; the second entry of the pair is ignored.
    return (edges.astype(np.int8) + (edges & edges.T)).astype(np.int8)
