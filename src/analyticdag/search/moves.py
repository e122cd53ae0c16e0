"""One move: take a node out of the order and put it back where the score is lowest.

`explore` lets the node x hop over its neighbours in the order, one at a time, to the left or to
the right. A hop matters in two cases only: the one that comes first now had the other as a parent
and loses it, or the one that comes second now would like the other as a parent (`Task.tie`).
Every other hop costs a table look-up. The walk ends when nobody ahead can lower the score. What
the best place would change is written to the task's plan; `move` carries it out.
"""

from __future__ import annotations

from analyticdag._jit import helper, part
from analyticdag.search.parents import MARGIN, grow_shrink, hurdle
from analyticdag.search.regression import toggle
from analyticdag.search.store import install, load
from analyticdag.search.tables import PARENT, WANTED, Bench, Task

# A move must lower the score by more than this; smaller differences are rounding.
GAIN = 1e-6

# A walk this many edge prices uphill is given up: what lies behind is another valley.
UPHILL = 10.0

LEFT, RIGHT = -1, 1
ANYWHERE = -1


@part
def wants(task: Task, mover: Bench, x: int, u: int) -> bool:
    """Whether u would pay as a further parent of x, whose regression is on the bench."""
    bar, square = hurdle(task, x, mover.link[x]) * (1.0 + MARGIN), mover.link[u] * mover.link[u]
    pays = square > bar * mover.spread[u] and mover.spread[u] > task.floor[u]
    return pays and mover.size < task.cap and not task.forbidden[u, x]


@part
def hopes(task: Task, mover: Bench, x: int, step: int) -> int:
    """How many of the nodes ahead of x could lower the score when x has passed them."""
    found, t = 0, task.place[x] + step
    while 0 <= t < len(task.order):
        u = task.order[t]
        if step == LEFT:
            found += task.tie[x, u] == WANTED
        else:
            found += wants(task, mover, x, u)
        t += step
    return found


@part
def shift(task: Task, x: int, goal: int) -> None:
    """Move node x to the place `goal`; those between make room."""
    order, place, t = task.order, task.place, task.place[x]
    step = 1 if goal > t else -1
    while t != goal:
        order[t] = order[t + step]
        place[order[t]] = t
        t += step
    order[goal] = x
    place[x] = goal


@part
def write(task: Task, row: int, bench: Bench, node: int) -> None:
    """Put the bench's members into a row of the plan."""
    task.plan_node[row] = node
    task.plan_size[row] = bench.size
    for a in range(bench.size):
        task.plan_parents[row, a] = bench.members[a]


@helper
def explore(task: Task, mover: Bench, passed: Bench, x: int, step: int, target: int) -> None:
    """Let x hop leftwards or rightwards, to `target` or while there is hope ahead."""
    home, first = task.place[x], task.plan_next
    anywhere = target == ANYWHERE
    load(task, mover, x)
    ahead = hopes(task, mover, x, step) if anywhere else 0
    own = others = 0.0
    while (ahead > 0) if anywhere else (task.place[x] != target):
        t = task.place[x] + step
        u = task.order[t]
        if (step == LEFT and task.required[u, x]) or (step == RIGHT and task.required[x, u]):
            break
        shift(task, x, t)
        loses = step == LEFT and mover.slot[u] >= 0
        gains = step == RIGHT and wants(task, mover, x, u)
        if loses:
            toggle(task, mover, u)
        if loses or gains:
            own = grow_shrink(task, mover, x, t) - task.value[x]
        touched = task.tie[x, u] == (WANTED if step == LEFT else PARENT)
        if touched:
            load(task, passed, u)
            if step == RIGHT:
                toggle(task, passed, x)
            others += grow_shrink(task, passed, u, t - step) - task.value[u]
            write(task, task.plan_next, passed, u)
            task.plan_next += 1
        if anywhere and (loses or gains or touched):
            ahead = hopes(task, mover, x, step)
            if own + others > UPHILL * task.penalty:
                break
            if own + others < task.plan_change - GAIN:
                propose(task, mover, x, first, own + others)
    if not anywhere:
        propose(task, mover, x, first, own + others)
    shift(task, x, home)


@part
def propose(task: Task, mover: Bench, x: int, first: int, change: float) -> None:
    """Keep the present place of x as the best so far."""
    task.plan_change, task.plan_goal = change, task.place[x]
    task.plan_first, task.plan_last = first, task.plan_next
    write(task, 0, mover, x)


@helper
def note(task: Task, node: int) -> None:
    """Write down the present parents of a node, unless that has been done already."""
    if not task.old_noted[node]:
        at = task.old_length
        task.old_noted[node] = True
        task.old_node[at] = node
        task.old_size[at] = task.count[node]
        for a in range(task.count[node]):
            task.old_parents[at, a] = task.parents[node, a]
        task.old_length += 1


@part
def move(task: Task, mover: Bench, passed: Bench, x: int, target: int) -> float:
    """Put x where the score is lowest, or at the place `target`; the change of the score."""
    home = task.place[x]
    task.plan_goal, task.plan_change = home, 0.0
    task.plan_next = task.plan_first = task.plan_last = 1
    for step in (LEFT, RIGHT):
        if target == ANYWHERE or (target - home) * step > 0:
            explore(task, mover, passed, x, step, target)
            task.plan_next = task.plan_last
    if task.plan_goal == home:
        return 0.0
    shift(task, x, task.plan_goal)
    for row in range(task.plan_first - 1, task.plan_last):
        source = row if row >= task.plan_first else 0
        node = task.plan_node[source]
        note(task, node)
        install(task, mover, node, task.plan_parents[source], task.plan_size[source])
    return task.plan_change
