"""Between the tables of a task and a bench: load a node's regression, change it, store it."""

from __future__ import annotations

from analyticdag._jit import helper, kernel, part
from analyticdag._typing import IntArray
from analyticdag.search.parents import MARGIN, hurdle, misfit, select
from analyticdag.search.regression import clear, solve, toggle
from analyticdag.search.tables import NONE, PARENT, WANTED, Bench, Task

# Up- and down-dates lose digits; after this many a node is factorised anew.
REFRESH = 64


@helper
def reserve(task: Task, node: int, k: int) -> None:
    """Room in the pool for the factor of k parents, in steps of powers of two, if there is any."""
    room = 4
    while room < k:
        room *= 2
    if k > task.pool_room[node] and task.pool_top + room * (room + 1) <= len(task.pool):
        task.pool_at[node], task.pool_room[node] = task.pool_top, room
        task.pool_top += room * (room + 1)


@part
def regress(task: Task, bench: Bench, node: int, parents: IntArray, k: int) -> None:
    """Regression of `node` on its first k parents from scratch."""
    clear(task, bench, node)
    for a in range(k):
        if bench.spread[parents[a]] > task.floor[parents[a]]:
            toggle(task, bench, parents[a])


@part
def load(task: Task, bench: Bench, node: int) -> None:
    """Put the node's current regression on the bench."""
    k, parents = task.count[node], task.parents[node]
    if k > task.pool_room[node]:  # its factor found no room
        regress(task, bench, node, parents, k)
        return
    members, slot = bench.members, bench.slot
    for a in range(bench.size):
        slot[members[a]] = -1
    bench.size, bench.at = k, task.at[node]
    for i in range(len(task.order)):
        bench.link[i] = task.link[node, i]
        bench.spread[i] = task.spread[node, i]
    at = task.pool_at[node]
    for a in range(k):
        members[a] = parents[a]
        slot[members[a]] = a
        bench.weights[a] = task.S[bench.at + node, members[a]]
        bench.sharp[a] = task.pool[at + a]
        for b in range(a + 1):
            bench.factor[a, b] = task.pool[at + (a + 1) * k + b]
    solve(bench, bench.weights)


@part
def store(task: Task, bench: Bench, node: int) -> None:
    """Make the bench's regression the node's current one and renew its column of ties."""
    k, link, spread, members = bench.size, bench.link, bench.spread, bench.members
    task.count[node] = k
    task.value[node] = misfit(task, node, link[node]) + task.penalty * k
    bar = hurdle(task, node, link[node]) * (1.0 + MARGIN)
    open_ = k < task.cap
    for i in range(len(link)):
        task.link[node, i], task.spread[node, i] = link[i], spread[i]
        wanted = open_ and link[i] * link[i] > bar * spread[i] and spread[i] > task.floor[i]
        wanted = wanted and i != node and not task.forbidden[i, node]
        task.tie[i, node] = WANTED if wanted else NONE
    reserve(task, node, k)
    kept, at = k <= task.pool_room[node], task.pool_at[node]
    for a in range(k):
        task.parents[node, a] = members[a]
        task.tie[members[a], node] = PARENT
        if kept:
            task.pool[at + a] = bench.sharp[a]
            for b in range(a + 1):
                task.pool[at + (a + 1) * k + b] = bench.factor[a, b]


@part
def install(task: Task, bench: Bench, node: int, parents: IntArray, size: int) -> None:
    """Give `node` exactly these parents, by as few up- and down-dates as it takes."""
    load(task, bench, node)
    for a in range(bench.size - 1, -1, -1):  # backwards: those behind move up
        p, stays = bench.members[a], False
        for b in range(size):
            stays = stays or parents[b] == p
        if not stays:
            toggle(task, bench, p)
            task.age[node] += 1
    for b in range(size):
        if bench.slot[parents[b]] < 0:
            toggle(task, bench, parents[b])
            task.age[node] += 1
    if task.age[node] > REFRESH:
        regress(task, bench, node, parents, size)
        task.age[node] = 0
    store(task, bench, node)


@kernel
def fit(task: Task, bench: Bench, nodes: IntArray, ends: IntArray) -> None:
    """Parents from scratch: of nodes[k] among the first ends[k] of the order."""
    for k in range(len(nodes)):
        select(task, bench, nodes[k], ends[k])
        store(task, bench, nodes[k])
