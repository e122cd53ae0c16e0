"""Local search: reinsert nodes until none wants to move, then disturb and repair.

A disturbance is a few forced moves near a random node. Most of them start at nodes of a triangle
(two parents of a node that are themselves joined): that is where an order can be wrong without a
single reinsertion showing it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag._compiled import cython
from analyticdag.search.steps.given import GAIN, Data, Rules, Stop, floats, integers, marks
from analyticdag.search.steps.moves import ANYWHERE, install, move, store
from analyticdag.search.steps.records import PARENT, Memory, Queue, Regression, State, Undo
from analyticdag.search.steps.regression import clear, grow_shrink, select, toggle

# Forced moves in one disturbance, at most; the share of disturbances that start in a triangle; the
# reinsertions that repair one, the few that need more are given up. As they were first written; no
# trial of other values is on record.
STEPS = 4
IN_TRIANGLES = 0.8
REPAIRS = 40
UNLIMITED = 2147483647
# Uniform numbers of one disturbance: where, in a triangle or not, how many steps, and the steps.
DRAWS = 7


@cython.part
def enqueue(queue: Queue, node: cython.Py_ssize_t) -> cython.void:
    """Let a node wait for its reinsertion."""
    if not queue.waiting[node]:
        queue.waiting[node] = True
        queue.nodes[queue.tail % queue.d] = node
        queue.tail += 1


@cython.part
def dequeue(queue: Queue) -> cython.Py_ssize_t:
    """The node that has waited longest."""
    node: cython.Py_ssize_t = queue.nodes[queue.head % queue.d]
    queue.waiting[node] = False
    queue.head += 1
    return node


@cython.part
def flag_neighbours(state: State, queue: Queue, x: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Flag the parents and children of x; how many there are."""
    total: cython.Py_ssize_t = state.count[x]
    flag = queue.flag
    tie = state.tie
    row = x * state.d
    for u in range(state.d):
        flag[u] = tie[row + u] == PARENT
        total += flag[u]
    for u in range(state.count[x]):
        flag[state.parents[x * state.width + u]] = True
    return total


@cython.part
def enqueue_neighbours(state: State, queue: Queue, x: cython.Py_ssize_t) -> cython.void:
    """Let the parents and children of x wait."""
    flag_neighbours(state, queue, x)
    for u in range(state.d):
        if queue.flag[u]:
            enqueue(queue, u)


@cython.part
def descend(
    data: Data, rules: Rules, memory: Memory, limit: cython.Py_ssize_t, stop: Stop
) -> cython.double:
    """Serve the queue until it is empty, at most `limit` reinsertions; the change of the score.

    A node that moved calls its neighbours in the graph back in.
    """
    change = 0.0
    while memory.queue.head < memory.queue.tail:
        x = dequeue(memory.queue)
        limit -= 1
        step = 0.0
        if limit >= 0 and not stop.asked:
            step = move(data, rules, memory, x, ANYWHERE, stop)
        change += step
        if step < 0.0:
            enqueue(memory.queue, x)
            enqueue_neighbours(memory.state, memory.queue, x)
    return change


@cython.part
def take_back(data: Data, rules: Rules, state: State, undo: Undo, work: Regression) -> cython.void:
    """Return to the order and the parents that were noted."""
    for t in range(state.d):
        state.order[t] = undo.order[t]
        state.place[state.order[t]] = t
    for t in range(undo.length):
        install(data, rules, state, work, undo.node[t], undo.parents, t * undo.width, undo.size[t])


@cython.part
def forget(state: State, undo: Undo) -> cython.void:
    """From now on the present state is the one to return to."""
    for t in range(undo.length):
        undo.noted[undo.node[t]] = False
    undo.length = 0
    for t in range(state.d):
        undo.order[t] = state.order[t]


@cython.part
def find_triangles(state: State, queue: Queue) -> cython.void:
    """List the nodes of triangles: a child and two of its parents that are joined by an edge.

    That is where an order can be wrong without a single reinsertion showing it.
    """
    flag = queue.flag
    for u in range(state.d):
        flag[u] = False
    for u in range(state.d):
        row = u * state.width
        for a in range(state.count[u]):
            p = state.parents[row + a]
            for b in range(state.count[u]):
                q = state.parents[row + b]
                if state.tie[q * state.d + p] == PARENT:
                    flag[u] = flag[p] = flag[q] = True
    queue.n_corners = 0
    for u in range(state.d):
        if flag[u]:
            queue.corners[queue.n_corners] = u
            queue.n_corners += 1


@cython.part
def neighbour(
    state: State, queue: Queue, x: cython.Py_ssize_t, draw: cython.double
) -> cython.Py_ssize_t:
    """A parent or child of x, picked by a uniform number; -1 if it has none."""
    total = flag_neighbours(state, queue, x)
    wanted = cython.cast(cython.Py_ssize_t, draw * total)
    for u in range(state.d):
        if queue.flag[u]:
            if wanted == 0:
                return u
            wanted -= 1
    return -1


@cython.part
def disturb(
    data: Data,
    rules: Rules,
    memory: Memory,
    draws: cython.p_double,
    at: cython.Py_ssize_t,
    stop: Stop,
) -> cython.double:
    """Walk along edges; each node on the way takes the place of the next. The change of score."""
    change = 0.0
    x = cython.cast(cython.Py_ssize_t, draws[at] * memory.state.d)
    if draws[at + 1] < IN_TRIANGLES and memory.queue.n_corners > 0:
        x = memory.queue.corners[cython.cast(cython.Py_ssize_t, draws[at] * memory.queue.n_corners)]
    for step in range(1 + cython.cast(cython.Py_ssize_t, draws[at + 2] * STEPS)):
        y = neighbour(memory.state, memory.queue, x, draws[at + 3 + step])
        if y < 0:
            break
        change += move(data, rules, memory, x, memory.state.place[y], stop)
        x = y
    for step in range(memory.undo.length):
        enqueue(memory.queue, memory.undo.node[step])
    return change


def explains(
    data: Data,
    state: State,
    nodes: Any,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    threshold: cython.double,
) -> Any:
    """Whether one of order[first:last] explains part of each node's residual, as far as it stands.

    That is, more than so many standard errors, squared.
    """
    node, size, found = integers(nodes), len(nodes), np.zeros(len(nodes), np.bool_)
    answer = marks(found)
    with cython.nogil:
        for k in range(size):
            row = node[k] * state.d
            bar = threshold * state.link[row + node[k]]
            for t in range(first, last):
                i = row + state.order[t]
                if data.n[node[k]] * state.link[i] * state.link[i] > bar * state.spread[i]:
                    answer[k] = True
                    break
    return found


def fit(
    data: Data, rules: Rules, state: State, work: Regression, nodes: Any, ends: Any, stop: Stop
) -> None:
    """Parents from scratch: of nodes[k] among the first ends[k] of the order."""
    node = integers(nodes)
    end = integers(ends)
    size = len(nodes)
    with cython.nogil:
        for k in range(size):
            select(data, rules, state, work, node[k], end[k], stop)
            store(data, rules, state, work, node[k])


def offer(
    data: Data,
    rules: Rules,
    state: State,
    work: Regression,
    node: cython.Py_ssize_t,
    parents: Any,
    n_candidates: cython.Py_ssize_t,
    stop: Stop,
) -> None:
    """Give `node` these parents, shrunk and grown, if that lowers its score."""
    offered = integers(parents)
    size = len(parents)
    with cython.nogil:
        clear(data, work, node)
        for a in range(size):
            p = offered[a]
            if work.spread[p] > data.floor[p] and work.size < rules.cap:
                toggle(data, work, p)
        value = grow_shrink(data, rules, state.order, work, node, n_candidates, stop)
        if value < state.value[node]:
            store(data, rules, state, work, node)


def move_node(
    data: Data,
    rules: Rules,
    memory: Memory,
    x: cython.Py_ssize_t,
    target: cython.Py_ssize_t,
    stop: Stop,
) -> float:
    """Put x at the place `target`, or ANYWHERE; the change of the score."""
    with cython.nogil:
        change = move(data, rules, memory, x, target, stop)
    return change


def give_parents(
    data: Data, rules: Rules, state: State, work: Regression, node: cython.Py_ssize_t, parents: Any
) -> None:
    """Give `node` exactly these parents."""
    given = integers(parents)
    size = len(parents)
    with cython.nogil:
        install(data, rules, state, work, node, given, 0, size)


def search(data: Data, rules: Rules, memory: Memory, nodes: Any, draws: Any, stop: Stop) -> float:
    """Descend from these nodes, then one disturbance for each row of uniform numbers.

    A disturbance is a few forced moves near a random node; what it and the descent after it led to
    is kept if the score fell, otherwise taken back. Returns the change of the score. Random
    numbers are the caller's, so the same numbers give the same search on any thread.
    """
    node, uniform = integers(nodes), floats(draws)
    n_nodes, n_rows = len(nodes), len(draws)
    with cython.nogil:
        for k in range(n_nodes):
            enqueue(memory.queue, node[k])
        forget(memory.state, memory.undo)
        total = descend(data, rules, memory, UNLIMITED, stop)
        find_triangles(memory.state, memory.queue)
        forget(memory.state, memory.undo)
        for k in range(n_rows):
            if stop.asked:
                break
            change = disturb(data, rules, memory, uniform, k * DRAWS, stop)
            change += descend(data, rules, memory, REPAIRS, stop)
            if change < -GAIN:
                total += change
                find_triangles(memory.state, memory.queue)
            else:
                take_back(data, rules, memory.state, memory.undo, memory.mover)
            forget(memory.state, memory.undo)
    return total
