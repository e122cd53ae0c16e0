"""Local search: reinsert nodes until none wants to move, then disturb and repair.

`descend` works through a queue: a node that moved calls its neighbours in the graph back in.
`search` then makes a few forced moves near a random node, descends from there and keeps the result
only if the score fell; otherwise the state is taken back. Most disturbances start at nodes of a
triangle (two parents of a node that are themselves joined): that is where an order can be wrong
without a single reinsertion showing it.

Random numbers are drawn by the caller, so the same numbers give the same search on any thread.
"""

from __future__ import annotations

from analyticdag._jit import helper, kernel, part
from analyticdag._typing import FloatArray, IntArray
from analyticdag.search.moves import ANYWHERE, GAIN, move
from analyticdag.search.store import install
from analyticdag.search.tables import PARENT, Bench, Task

# Forced moves in one disturbance: between 1 and STEPS.
STEPS = 4
# Share of the disturbances that start in a triangle.
IN_TRIANGLES = 0.8
# Reinsertions that repair one disturbance; the few that need more are given up.
REPAIRS = 40
UNLIMITED = 1 << 62
# Uniform numbers one disturbance uses: where, in a triangle or not, how many steps, and the steps.
DRAWS = 3 + STEPS


@part
def enqueue(task: Task, node: int) -> None:
    """Let a node wait for its reinsertion; the queue is a ring of d places."""
    if not task.queue_waiting[node]:
        task.queue_waiting[node] = True
        task.queue[task.queue_tail % len(task.queue)] = node
        task.queue_tail += 1


@helper
def descend(task: Task, mover: Bench, passed: Bench, limit: int) -> float:
    """Serve the queue until it is empty, at most `limit` reinsertions; the change of the score."""
    change = 0.0
    while task.queue_head < task.queue_tail:
        x = task.queue[task.queue_head % len(task.queue)]
        task.queue_head += 1
        task.queue_waiting[x] = False
        limit -= 1
        step = move(task, mover, passed, x, int(ANYWHERE)) if limit >= 0 else 0.0
        change += step
        if step < 0.0:
            enqueue(task, x)
            for u in range(len(task.order)):
                if task.tie[x, u] == PARENT or task.tie[u, x] == PARENT:
                    enqueue(task, u)
    return change


@helper
def undo(task: Task, bench: Bench) -> None:
    """Return to the order and the parents that were noted."""
    for t in range(len(task.order)):
        task.order[t] = task.old_order[t]
        task.place[task.order[t]] = t
    for a in range(task.old_length):
        install(task, bench, task.old_node[a], task.old_parents[a], task.old_size[a])


@part
def forget(task: Task) -> None:
    """From now on the present state is the one to return to."""
    for a in range(task.old_length):
        task.old_noted[task.old_node[a]] = False
    task.old_length = 0
    for t in range(len(task.order)):
        task.old_order[t] = task.order[t]


@helper
def find_triangles(task: Task) -> None:
    """List the nodes of triangles: a child and two of its parents that are joined by an edge."""
    flag, d = task.in_triangle, len(task.order)
    for u in range(d):
        flag[u] = False
    for u in range(d):
        for a in range(task.count[u]):
            p = task.parents[u, a]
            for b in range(task.count[u]):
                q = task.parents[u, b]
                if task.tie[q, p] == PARENT:
                    flag[u] = flag[p] = flag[q] = True
    task.n_corners = 0
    for u in range(d):
        if flag[u]:
            task.corners[task.n_corners] = u
            task.n_corners += 1


@helper
def neighbour(task: Task, x: int, draw: float) -> int:
    """A parent or child of x, picked by a uniform number; -1 if it has none."""
    total = picked = 0
    for u in range(len(task.order)):
        total += task.tie[x, u] == PARENT or task.tie[u, x] == PARENT
    wanted, found = int(draw * total), -1
    for u in range(len(task.order)):
        if task.tie[x, u] == PARENT or task.tie[u, x] == PARENT:
            if picked == wanted:
                found = u
            picked += 1
    return found


@helper
def disturb(task: Task, mover: Bench, passed: Bench, draws: FloatArray) -> float:
    """Walk along edges; each node on the way takes the place of the next. The change of score."""
    change = 0.0
    x = int(draws[0] * len(task.order))
    if draws[1] < IN_TRIANGLES and task.n_corners > 0:
        x = task.corners[int(draws[0] * task.n_corners)]
    for step in range(1 + int(draws[2] * STEPS)):
        y = neighbour(task, x, draws[3 + step])
        if y < 0:
            break
        change += move(task, mover, passed, x, task.place[y])
        x = y
    for a in range(task.old_length):
        enqueue(task, task.old_node[a])
    return change


@kernel
def search(task: Task, mover: Bench, passed: Bench, nodes: IntArray, draws: FloatArray) -> float:
    """Descend from these nodes, then one disturbance for each row of uniform numbers.

    Returns the change of the score. One kernel does both: each would cost the compiler as much.
    """
    total = 0.0
    for node in nodes:
        enqueue(task, node)
    forget(task)
    for row in range(-1, len(draws)):  # row -1: no disturbance, only those that wait
        change, limit = 0.0, UNLIMITED
        if row >= 0:
            change, limit = disturb(task, mover, passed, draws[row]), REPAIRS
        change += descend(task, mover, passed, limit)
        if row < 0 or change < -GAIN:
            total += change
            find_triangles(task)
        else:
            undo(task, mover)
        forget(task)
    return total
