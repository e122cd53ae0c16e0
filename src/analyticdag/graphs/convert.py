"""Graphs in and out: checked matrices, lists of edges, networkx.

A matrix from elsewhere enters through ``from_matrix``, which insists on being told what
its entries mean: half of the field writes W[i, j] for i -> j and the other half for j -> i.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from analyticdag._tables import check_square, read_columns
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.errors import InputError, ParameterError

Orientation: TypeAlias = Literal["row-to-column", "column-to-row"]


def square_matrix(matrix: ArrayLike, what: str = "the matrix") -> FloatArray:
    """Return ``matrix`` as a finite, square float64 array (the caller's own when it is one)."""
    array, _ = read_columns(matrix, what)
    check_square(array, what)
    if not np.isfinite(array).all():
        i, j = np.argwhere(~np.isfinite(array))[0]
        raise InputError(f"{what} must be finite; entry [{i}, {j}] is {array[i, j]}")
    return array


def adjacency(matrix: ArrayLike) -> BoolArray:
    """Return which edges a weighted or 0/1 matrix holds; a mask comes back as it is."""
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "b" and _is_square(matrix):
        return matrix
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind in "iu" and _is_square(matrix):
        return np.asarray(matrix != 0)  # as floats it would take eight times the memory
    return square_matrix(matrix) != 0.0


def _is_square(array: NDArray[Any]) -> bool:
    return array.ndim == 2 and array.shape[0] == array.shape[1]


def from_matrix(matrix: ArrayLike, *, orientation: Orientation) -> FloatArray:
    """Bring a foreign matrix into the convention of this package, as a new array.

    ``orientation`` says what entry [i, j] of ``matrix`` means: ``"row-to-column"`` for
    i -> j (NOTEARS, DAGMA, gCastle), ``"column-to-row"`` for j -> i (LiNGAM, econometrics).
    """
    W = square_matrix(matrix)
    if orientation == "row-to-column":
        return W.copy()
    if orientation == "column-to-row":
        return W.T.copy()
    raise ParameterError(
        f"orientation must be 'row-to-column' (entry [i, j] is i -> j) or "
        f"'column-to-row' (entry [i, j] is j -> i); got {orientation!r}"
    )


def edge_list(matrix: ArrayLike) -> list[tuple[int, int]]:
    """Return the edges as (from, to) pairs, row by row."""
    return [(int(i), int(j)) for i, j in np.argwhere(adjacency(matrix))]


def to_networkx(matrix: ArrayLike, names: Iterable[Hashable] | None = None) -> nx.DiGraph:
    """Build a DiGraph on ``names`` (0 … d-1 without), every edge carrying its ``weight``."""
    W = square_matrix(matrix)
    nodes = check_names(range(len(W)) if names is None else names, len(W))
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_weighted_edges_from((nodes[i], nodes[j], float(W[i, j])) for i, j in edge_list(W))
    return graph


def from_networkx(
    graph: nx.DiGraph, names: Iterable[Hashable] | None = None
) -> tuple[FloatArray, list[Any]]:
    """Return (W, names) of a DiGraph; an edge without a ``weight`` counts as 1.

    ``names`` fixes the order of the rows; by default they come in the graph's own order.
    """
    check_digraph(graph)
    nodes = list(graph.nodes) if names is None else list(names)
    if set(nodes) != set(graph.nodes) or len(nodes) != len(graph):
        raise InputError(node_mismatch(nodes, list(graph.nodes), "names", "the graph"))
    position = {node: k for k, node in enumerate(nodes)}
    W = np.zeros((len(nodes), len(nodes)))
    for i, j, weight in graph.edges(data="weight", default=1.0):
        W[position[i], position[j]] = _edge_weight(i, j, weight)
    return W, nodes


def _edge_weight(i: Hashable, j: Hashable, weight: Any) -> float:
    try:
        number = float(weight)
    except (TypeError, ValueError):
        number = np.nan
    # In a matrix, zero is no edge: it would vanish in silence.
    if number == 0.0 or not np.isfinite(number):
        raise InputError(
            f"the edge {i!r} -> {j!r} has weight {weight!r}; a weight must be a finite number "
            "other than 0; remove the edge or give it another weight"
        )
    return number


def check_digraph(graph: Any) -> None:
    """Refuse anything but a simple directed graph."""
    if not isinstance(graph, nx.DiGraph) or graph.is_multigraph():
        raise InputError(
            f"expected a networkx.DiGraph, got {type(graph).__name__}; build one with "
            "nx.DiGraph(graph) (an undirected edge becomes a pair of opposite edges)"
        )


def node_mismatch(left: Sequence[Any], right: Sequence[Any], left_is: str, right_is: str) -> str:
    """Say which nodes only one of two graphs has."""
    set_of_left, set_of_right = set(left), set(right)
    only_left = [node for node in left if node not in set_of_right]
    only_right = [node for node in right if node not in set_of_left]
    if not only_left and not only_right:
        return f"{left_is} lists a node twice: {list(left)}"
    return (
        f"the nodes differ: only in {left_is}: {only_left}; only in {right_is}: {only_right}; "
        "rename or add them, so that both have the same nodes"
    )


def check_names(names: Iterable[Hashable], n_nodes: int) -> list[Any]:
    """Return the names as a list of ``n_nodes`` different ones."""
    nodes = list(names)
    if len(nodes) != n_nodes:
        raise InputError(f"{len(nodes)} names for {n_nodes} nodes; give one name per node")
    if len(set(nodes)) != n_nodes:
        twice = sorted({str(node) for node in nodes if nodes.count(node) > 1})
        raise InputError(f"names must differ; these come more than once: {twice}")
    return nodes
