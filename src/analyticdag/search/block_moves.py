"""Moves of blocks: a node walks past its neighbours in the order, to where the score is lowest.

What a hop changes, and when, is as in `moves.py`: the one that comes first now had the other as a
parent and loses it, or the one that comes second now wants the other as a parent.
"""

from __future__ import annotations

from typing import Any

from analyticdag._compiled import cython
from analyticdag.search.block_parents import drop, is_own, settle, take_all
from analyticdag.search.blocks import LEAST_GAIN, Blocks, Ordered, misfit, with_block
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
    graph.stamp[node] = new_stamp(graph)


@cython.part
def new_stamp(graph: Ordered) -> cython.longlong:
    """A number that no set of parents has had before."""
    graph.n_stamps += 1
    return graph.n_stamps


@cython.part
def swap(graph: Ordered, x: cython.Py_ssize_t, step: cython.Py_ssize_t) -> cython.void:
    """Exchange a node with its neighbour in the order."""
    t = graph.place[x]
    u = graph.order[t + step]
    graph.order[t], graph.order[t + step] = u, x
    graph.place[x], graph.place[u] = t + step, t


@cython.part
def wanted(
    data: Blocks,
    graph: Ordered,
    node: cython.Py_ssize_t,
    block: cython.Py_ssize_t,
    stamp: cython.longlong,
) -> cython.bint:
    """Whether the node at hand would take a block as a further parent.

    `stamp` is that of its parents: most of them stay as they are from move to move, and so do the
    answers about all blocks.
    """
    if graph.asked[node] != stamp:
        graph.asked[node] = stamp
        take_all(data, graph, node)
        here = misfit(data, graph, node) - LEAST_GAIN
        for i in range(data.d):
            k = node * data.d + i
            graph.answer[k] = (
                i != node
                and not data.forbidden[i * data.d + node]
                and graph.n_own < data.cap
                and with_block(data, graph, node, i) < here
            )
    answer: cython.bint = graph.answer[node * data.d + block]
    return answer


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
    touched: cython.bint = (
        is_own(graph, u) if step < 0 else wanted(data, graph, x, u, graph.mine_stamp)
    )
    if touched:
        drop(graph, u)
        graph.mine_stamp = new_stamp(graph)
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
    stamp = graph.stamp[u]
    touched: cython.bint = wanted(data, graph, u, x, stamp) if step < 0 else is_own(graph, x)
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
    graph.mine_stamp = graph.stamp[x]
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


@cython.part
def let_wait(graph: Ordered, d: cython.Py_ssize_t, node: cython.Py_ssize_t) -> cython.void:
    """Let a node wait for its reinsertion."""
    if not graph.waiting[node]:
        graph.waiting[node] = True
        graph.queue[graph.tail % d] = node
        graph.tail += 1


@cython.part
def neighbours_wait(graph: Ordered, d: cython.Py_ssize_t, x: cython.Py_ssize_t) -> cython.void:
    """Let x, its parents and its children wait."""
    let_wait(graph, d, x)
    for a in range(graph.count[x]):
        let_wait(graph, d, graph.parents[x * d + a])
    for u in range(d):
        for a in range(graph.count[u]):
            if graph.parents[u * d + a] == x:
                let_wait(graph, d, u)


def keep_parents(data: Blocks, graph: Ordered, node: int, parents: Any) -> None:
    """Give a node exactly these parents."""
    x: cython.Py_ssize_t = node
    given, count = integers(parents), len(parents)
    with cython.nogil:
        take_up(graph, given, 0, count)
        price = take_all(data, graph, x)
        keep(graph, data.d, x, price + misfit(data, graph, x))


def choose_without(data: Blocks, graph: Ordered, node: int, block: int, stop: Stop) -> None:
    """Let a node choose its parents without one of them; who is concerned waits."""
    x: cython.Py_ssize_t = node
    u: cython.Py_ssize_t = block
    with cython.nogil:
        take_up(graph, graph.parents, x * data.d, graph.count[x])
        drop(graph, u)
        value = settle(data, graph, x, graph.place[x], stop)
        keep(graph, data.d, x, value)
        neighbours_wait(graph, data.d, x)
        let_wait(graph, data.d, u)


def move_to(data: Blocks, graph: Ordered, node: int, place: int, stop: Stop) -> None:
    """Put a node at a place of the order, whatever the score does; who is concerned waits."""
    x: cython.Py_ssize_t = node
    target: cython.Py_ssize_t = place
    with cython.nogil:
        if target != graph.place[x]:
            walk(data, graph, x, 1 if target > graph.place[x] else -1, target, stop)
        neighbours_wait(graph, data.d, x)


def descend_blocks(
    data: Blocks, graph: Ordered, nodes: Any, limit: cython.Py_ssize_t, stop: Stop
) -> None:
    """Put these nodes, and those that wait, where the score is lowest, at most `limit` of them.

    A node that moved calls its neighbours in the graph back in.
    """
    node = integers(nodes)
    n_nodes, d = len(nodes), data.d
    with cython.nogil:
        for k in range(n_nodes):
            let_wait(graph, d, node[k])
        while graph.head < graph.tail:
            x = graph.queue[graph.head % d]
            graph.waiting[x] = False
            graph.head += 1
            limit -= 1
            if limit >= 0 and not stop.asked:
                change = walk(data, graph, x, -1, -1, stop)
                change += walk(data, graph, x, 1, -1, stop)
                if change < 0.0:
                    neighbours_wait(graph, d, x)
