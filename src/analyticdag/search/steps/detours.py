"""What the best graph would cost without an edge, or without its direction.

The edge is ruled out, the order is bent where that has to be, and whoever is concerned is
reinserted until nobody wants to move, at most a few times. What the graph there costs is a bound
for every edge that it does without, not only for the one that was ruled out: a collider that can
move elsewhere for little leaves none of its edges sure. Then all is taken back.
"""

from __future__ import annotations

from typing import Any

from analyticdag._compiled import cython
from analyticdag.search.steps.given import Data, Rules, Stop, floats, integers
from analyticdag.search.steps.local import descend, enqueue, forget, take_back
from analyticdag.search.steps.moves import load, move, note, store
from analyticdag.search.steps.records import PARENT, Memory, State, Undo
from analyticdag.search.steps.regression import grow_shrink, toggle

# Ways to do without i -> j: not joined; i behind j; j before i.
APART = 0
WAYS = 3


@cython.part
def rule_out(
    data: Data,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    way: cython.Py_ssize_t,
    mark: cython.bint,
) -> cython.void:
    """Forbid i -> j, and the reverse where the two are to be apart; or allow them again."""
    data.forbidden[i * data.d + j] = mark
    if way == APART:
        data.forbidden[j * data.d + i] = mark


@cython.part
def leave_out(
    data: Data,
    rules: Rules,
    memory: Memory,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    stop: Stop,
) -> cython.double:
    """Give j the parents that it chooses without i; the change of the score."""
    note(memory.state, memory.undo, j)
    before: cython.double = memory.state.value[j]
    load(data, memory.state, memory.mover, j)
    toggle(data, memory.mover, i)
    end = memory.state.place[j]
    grow_shrink(data, rules, memory.state.order, memory.mover, j, end, stop)
    store(data, rules, memory.state, memory.mover, j)
    change: cython.double = memory.state.value[j] - before
    return change


@cython.part
def do_without(
    data: Data,
    rules: Rules,
    memory: Memory,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    way: cython.Py_ssize_t,
    stop: Stop,
) -> cython.double:
    """Take the first step of a way to do without i -> j; the change of the score."""
    if way == APART:
        return leave_out(data, rules, memory, i, j, stop)
    if way == 1:
        return move(data, rules, memory, i, memory.state.place[j], stop)
    return move(data, rules, memory, j, memory.state.place[i], stop)


@cython.part
def lower_bounds(
    state: State,
    undo: Undo,
    change: cython.double,
    apart: cython.p_double,
    turned: cython.p_double,
) -> cython.void:
    """Write what the present graph costs beside every edge that it does without."""
    for row in range(undo.length):
        head = undo.node[row]
        for a in range(undo.size[row]):
            tail = undo.parents[row * undo.width + a]
            forth, back = tail * state.d + head, head * state.d + tail
            if state.tie[forth] == PARENT:
                continue
            turned[forth] = min(turned[forth], change)
            if state.tie[back] != PARENT:
                apart[forth] = min(apart[forth], change)


@cython.part
def detour(
    data: Data,
    rules: Rules,
    memory: Memory,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    way: cython.Py_ssize_t,
    apart: cython.p_double,
    turned: cython.p_double,
    repairs: cython.Py_ssize_t,
    stop: Stop,
) -> cython.void:
    """Write what doing without i -> j costs, this way; all is as it was afterwards."""
    forget(memory.state, memory.undo)
    rule_out(data, i, j, way, True)
    change = do_without(data, rules, memory, i, j, way, stop)
    for step in range(memory.undo.length):
        enqueue(memory.queue, memory.undo.node[step])
    enqueue(memory.queue, i)
    change += descend(data, rules, memory, repairs, stop)
    rule_out(data, i, j, way, False)
    lower_bounds(memory.state, memory.undo, change, apart, turned)
    take_back(data, rules, memory.state, memory.undo, memory.mover)


def detours(
    data: Data,
    rules: Rules,
    memory: Memory,
    tails: Any,
    heads: Any,
    apart: Any,
    turned: Any,
    repairs: cython.Py_ssize_t,
    stop: Stop,
) -> None:
    """Lower apart[i, j] and turned[i, j] to what doing without the edge i -> j costs at most.

    Edges tails[k] -> heads[k] are ruled out one by one. `data` needs a table of forbidden edges; it
    is changed on the way and ends as it was.
    """
    tail, head, count = integers(tails), integers(heads), len(tails)
    joined, directed = floats(apart), floats(turned)
    with cython.nogil:
        for k in range(count):
            for way in range(WAYS):
                if stop.asked:
                    break
                detour(data, rules, memory, tail[k], head[k], way, joined, directed, repairs, stop)
        forget(memory.state, memory.undo)
