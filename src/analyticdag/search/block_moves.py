"""Moves of blocks: a node walks past its neighbours in the order, to where the score is lowest.

What a hop changes, and when, is as in `moves.py`: the one that comes first now had the other as a
parent and loses it, or the one that comes second now wants the other as a parent.
"""

from __future__ import annotations

from typing import Any

from analyticdag._compiled import cython
from analyticdag.search.blocks import (
    LEAST_GAIN,
    Blocks,
    Ordered,
    drop,
    factorise,
    is_own,
    misfit,
    settle,
    with_block,
)
from analyticdag.search.records import Stop, integers


@cython.part
def take_up(
    graph: Ordered, source: cython.p_longlong, first: cython.Py_ssize_t, count: cython.Py_ssize_t
) -> cython.void:
    """Take source[first : first + count] for the parents of the node at hand."""
    graph.n_own = count
    for a in range(count):
        graph.own[a] = source[first + a]


@cython.part
def put_down(
    graph: Ordered, target: cython.p_longlong, first: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Write the parents of the node at hand to target[first:]; how many there are."""
    for a in range(graph.n_own):
        target[first + a] = graph.own[a]
    return graph.n_own


@cython.part
def keep(
    graph: Ordered, d: cython.Py_ssize_t, node: cython.Py_ssize_t, value: cython.double
) -> cython.void:
    """Keep the parents at hand as those of a node."""
    graph.count[node], graph.value[node] = put_down(graph, graph.parents, node * d), value


@cython.part
def swap(graph: Ordered, x: cython.Py_ssize_t, step: cython.Py_ssize_t) -> cython.void:
    """Exchange a node with its neighbour in the order."""
    t = graph.place[x]
    u = graph.order[t + step]
    graph.order[t], graph.order[t + step] = u, x
    graph.place[x], graph.place[u] = t + step, t


@cython.part
def wanted(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, block: cython.Py_ssize_t
) -> cython.bint:
    """Whether the node at hand would take a block as a further parent."""
    if data.forbidden[block * data.d + node] or graph.n_own >= data.cap:
        return False
    factorise(data, graph, node, -1)
    here = misfit(data, graph, node)
    return with_block(data, graph, node, block) < here - LEAST_GAIN


@cython.part
def hop(
    data: Blocks,
    graph: Ordered,
    x: cython.Py_ssize_t,
    u: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    stop: Stop,
) -> cython.bint:
    """The parents of x, in `mine`, after it passed u; whether they were chosen anew."""
    take_up(graph, graph.mine, 0, graph.n_mine)
    touched: cython.bint = is_own(graph, u) if step < 0 else wanted(data, graph, x, u)
    if touched:
        drop(graph, u)
        graph.mine_value = settle(data, graph, x, graph.place[x], stop)
        graph.n_mine = put_down(graph, graph.mine, 0)
    return touched


@cython.part
def passed(
    data: Blocks,
    graph: Ordered,
    x: cython.Py_ssize_t,
    u: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    stop: Stop,
) -> cython.bint:
    """The parents of u after x passed it, in the next row of `after`; whether it is touched."""
    take_up(graph, graph.parents, u * data.d, graph.count[u])
    touched: cython.bint = wanted(data, graph, u, x) if step < 0 else is_own(graph, x)
    if touched:
        k = graph.n_changed
        drop(graph, x)
        graph.worth[k] = settle(data, graph, u, graph.place[u], stop)
        graph.n_after[k] = put_down(graph, graph.after, k * data.d)
        graph.changed[k] = u
        graph.n_changed = k + 1
    return touched


@cython.part
def walk(
    data: Blocks,
    graph: Ordered,
    x: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    target: cython.Py_ssize_t,
    stop: Stop,
) -> cython.double:
    """Let x pass its neighbours one by one; carry out the best place found, or `target`.

    Returns the change of the score. `target` -1 is any place.
    """
    d, home = data.d, graph.place[x]
    goal, n_goal = home, 0
    others, best = 0.0, -LEAST_GAIN
    take_up(graph, graph.parents, x * d, graph.count[x])
    graph.n_mine, graph.mine_value = put_down(graph, graph.mine, 0), graph.value[x]
    graph.n_changed = 0
    while 0 <= graph.place[x] + step < d and not stop.asked and graph.place[x] != target:
        u = graph.order[graph.place[x] + step]
        if data.required[u * d + x] if step < 0 else data.required[x * d + u]:
            break
        swap(graph, x, step)
        moved: cython.bint = hop(data, graph, x, u, step, stop)
        if passed(data, graph, x, u, step, stop):
            others += graph.worth[graph.n_changed - 1] - graph.value[u]
            moved = True
        change = graph.mine_value - graph.value[x] + others
        if change > data.steep and target < 0:
            break
        if graph.place[x] == target or (target < 0 and moved and change < best - LEAST_GAIN):
            best, goal, n_goal = change, graph.place[x], graph.n_changed
            graph.best_value = graph.mine_value
            take_up(graph, graph.mine, 0, graph.n_mine)
            graph.n_best = put_down(graph, graph.best, 0)
    while graph.place[x] != goal:
        swap(graph, x, -step)
    if goal == home:
        return 0.0
    follow(data, graph, x, n_goal)
    return best


@cython.part
def follow(
    data: Blocks, graph: Ordered, x: cython.Py_ssize_t, n_changed: cython.Py_ssize_t
) -> cython.void:
    """Give the mover its best parents, and those it passed theirs."""
    take_up(graph, graph.best, 0, graph.n_best)
    keep(graph, data.d, x, graph.best_value)
    for k in range(n_changed):
        take_up(graph, graph.after, k * data.d, graph.n_after[k])
        keep(graph, data.d, graph.changed[k], graph.worth[k])


def fit_order(data: Blocks, graph: Ordered, stop: Stop) -> None:
    """Parents of every node from scratch, for the order as it is."""
    with cython.nogil:
        for t in range(data.d):
            j = graph.order[t]
            graph.n_own = 0
            for s in range(t):
                if data.required[graph.order[s] * data.d + j]:
                    graph.own[graph.n_own] = graph.order[s]
                    graph.n_own += 1
            value = settle(data, graph, j, t, stop)
            keep(graph, data.d, j, value)


def move_to(data: Blocks, graph: Ordered, node: int, place: int, stop: Stop) -> None:
    """Put a node at a place of the order, whatever the score does."""
    x: cython.Py_ssize_t = node
    target: cython.Py_ssize_t = place
    with cython.nogil:
        if target != graph.place[x]:
            walk(data, graph, x, 1 if target > graph.place[x] else -1, target, stop)


def descend_blocks(data: Blocks, graph: Ordered, nodes: Any, stop: Stop) -> None:
    """Put every node where the score is lowest, in turn, until none moves."""
    node = integers(nodes)
    moved: cython.bint = True
    with cython.nogil:
        while moved and not stop.asked:
            moved = False
            for k in range(data.d):
                for step in range(-1, 2, 2):
                    if walk(data, graph, node[k], step, -1, stop) < 0.0:
                        moved = True
