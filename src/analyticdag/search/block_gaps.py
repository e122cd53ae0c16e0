"""`gaps.py` where some nodes are blocks: what the graph would cost without an edge, or turned.

Each edge is ruled out in three ways: the two not joined, i behind j, j before i. Whoever is
concerned is reinserted a few times, and then all is taken back.
"""

from __future__ import annotations

import numpy as np

from analyticdag._threads import in_threads
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.search import kernels
from analyticdag.search.block_engine import STATE, BlockTask
from analyticdag.search.gaps import MOST_REPAIRS, REPAIRS, Gaps

_APART, _BEHIND, _BEFORE = range(3)


def block_gaps(task: BlockTask, adjacency: BoolArray, order: IntArray, price: float) -> Gaps:
    """Return what the edges of a graph of blocks are worth; infinite where one is required."""
    apart, turned = np.full((2, *adjacency.shape), np.inf)
    edges = np.argwhere(adjacency & ~task.required).tolist()
    if edges:
        (costs,) = in_threads(
            lambda ends: _costs(task, adjacency, order, price, ends), [edges], 1, task.stop
        )
        tails, heads = np.array(edges).T
        # A detour that ends lower has found a better graph; the gap is then none.
        costs = np.maximum(costs, 0.0)
        apart[tails, heads] = costs[:, _APART]
        turned[tails, heads] = costs.min(axis=1)
    return Gaps(apart, turned)


def _costs(
    task: BlockTask, adjacency: BoolArray, order: IntArray, price: float, edges: list[list[int]]
) -> FloatArray:
    data, graph = task.data(price), kernels.Ordered(order, task.sizes)
    for node in range(len(order)):
        kernels.keep_parents(data, graph, node, np.flatnonzero(adjacency[:, node]))
    repairs = min(REPAIRS, MOST_REPAIRS // len(edges))
    ways = (_APART, _BEHIND, _BEFORE)
    return np.array(
        [[_detour(task, data, graph, i, j, way, repairs) for way in ways] for i, j in edges]
    )


def _detour(
    task: BlockTask,
    data: kernels.Blocks,
    graph: kernels.Ordered,
    i: int,
    j: int,
    way: int,
    repairs: int,
) -> float:
    """Return what doing without i -> j costs, this way; all is as it was afterwards."""
    table, stop, pairs = graph.arrays, task.stop, [(i, j)] if way else [(i, j), (j, i)]
    before = {name: table[name].copy() for name in STATE}
    known = [bool(task.forbidden[pair]) for pair in pairs]
    _forbid(task, graph, pairs, [True] * len(pairs))
    if way == _APART:
        kernels.choose_without(data, graph, j, i, stop)
    elif way == _BEHIND:
        kernels.move_to(data, graph, i, int(table["place"][j]), stop)
    else:
        kernels.move_to(data, graph, j, int(table["place"][i]), stop)
    kernels.descend_blocks(data, graph, np.empty(0, np.int64), repairs, stop)
    change = float(table["value"].sum() - before["value"].sum())
    if i in table["parents"][j, : table["count"][j]]:
        change = np.inf  # something that is required stood in the way
    for name in STATE:
        table[name][...] = before[name]
    _forbid(task, graph, pairs, known)
    return change


def _forbid(
    task: BlockTask, graph: kernels.Ordered, pairs: list[tuple[int, int]], marks: list[bool]
) -> None:
    """Forbid edges, or allow them again; what their heads answered no longer holds."""
    for (tail, head), mark in zip(pairs, marks, strict=True):
        task.forbidden[tail, head] = mark
        graph.arrays["asked"][head] = 0
