"""One move: take a node out of the order and put it back where the score is lowest.

`load` puts what is kept of a node's regression into the workplace, `store` keeps what is there.
`explore` lets a node hop over its neighbours in the order, one at a time, to the left or to the
right, and writes what the best place would change to a plan; `move` carries it out.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag.search.steps.given import GAIN, Data, Rules, Stop, required
from analyticdag.search.steps.records import PARENT, WANTED, Memory, Plan, Regression, State, Undo
from analyticdag.search.steps.regression import (
    bar_of,
    clear,
    fits_in,
    grow_shrink,
    score,
    solve,
    toggle,
    wants,
)

# A walk this many edge prices uphill is given up: what lies behind is another valley. That made
# moves three times cheaper; no trial of other values is on record.
UPHILL = 10.0
# Up- and down-dates lose digits; after this many a node is factorised anew. As first written.
REFRESH = 64
# The target of a move that may go anywhere: a place that no order has.
ANYWHERE = 2147483647


@cython.part
def reserve(state: State, node: cython.Py_ssize_t, k: cython.Py_ssize_t) -> cython.void:
    """Room in the pool for the factor of k parents, in steps of powers of two, if there is any."""
    room: cython.Py_ssize_t = 4
    while room < k:
        room *= 2
    size = room * (room + 3) // 2
    if k > state.pool_room[node] and state.pool_top + size <= state.pool_size:
        state.pool_at[node], state.pool_room[node] = state.pool_top, room
        state.pool_top += size


@cython.part
def regress(
    data: Data,
    work: Regression,
    node: cython.Py_ssize_t,
    parents: cython.p_longlong,
    first: cython.Py_ssize_t,
    k: cython.Py_ssize_t,
) -> cython.void:
    """Regression of `node` on parents[first : first + k] from scratch, but for collinear ones."""
    clear(data, work, node)
    for a in range(first, first + k):
        p = parents[a]
        if fits_in(data, work, p):
            toggle(data, work, p)


@cython.part
def load(data: Data, state: State, work: Regression, node: cython.Py_ssize_t) -> cython.void:
    """Put the node's current regression into the workplace."""
    d = state.d
    k = state.count[node]
    mine = node * state.width
    if not data.plain or k > state.pool_room[node]:  # its factor is not kept, or found no room
        regress(data, work, node, state.parents, mine, k)
        return
    for a in range(work.size):
        work.slot[work.members[a]] = -1
    work.size, work.node, work.at = k, node, data.at[node]
    for i in range(d):
        work.link[i] = state.link[node * d + i]
    for i in range(d):
        work.spread[i] = state.spread[node * d + i]
    at = state.pool_at[node] + k
    for a in range(k):
        work.members[a] = state.parents[mine + a]
        work.slot[work.members[a]] = a
        work.weights[a] = data.S[work.at + node * d + work.members[a]]
        work.sharp[a] = state.pool[state.pool_at[node] + a]
        for b in range(a + 1):
            work.factor[a * work.width + b] = state.pool[at + b]
        at += a + 1
    solve(work, work.weights)


@cython.part
def renew_ties(
    data: Data, rules: Rules, state: State, work: Regression, node: cython.Py_ssize_t
) -> cython.void:
    """Who is a parent of the node, and who would lower its score as one."""
    d = state.d
    open_: cython.bint = work.size < rules.cap
    tie = state.tie
    bar = bar_of(data, rules, work)
    for i in range(d):
        tie[i * d + node] = open_ and i != node and wants(data, rules, work, i, bar)
    for a in range(work.size):
        tie[work.members[a] * d + node] = PARENT


@cython.part
def store(
    data: Data, rules: Rules, state: State, work: Regression, node: cython.Py_ssize_t
) -> cython.void:
    """Make the regression in the workplace the node's current one."""
    d = state.d
    k = work.size
    state.count[node] = k
    state.value[node] = score(data, rules, work)
    for a in range(k):
        state.parents[node * state.width + a] = work.members[a]
    renew_ties(data, rules, state, work, node)
    if not data.plain:
        return
    for i in range(d):
        state.link[node * d + i] = work.link[i]
    for i in range(d):
        state.spread[node * d + i] = work.spread[i]
    reserve(state, node, k)
    if k > state.pool_room[node]:
        return
    at = state.pool_at[node] + k
    for a in range(k):
        state.pool[state.pool_at[node] + a] = work.sharp[a]
        for b in range(a + 1):
            state.pool[at + b] = work.factor[a * work.width + b]
        at += a + 1


@cython.part
def install(
    data: Data,
    rules: Rules,
    state: State,
    work: Regression,
    node: cython.Py_ssize_t,
    parents: cython.p_longlong,
    first: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.void:
    """Give `node` exactly parents[first : first + size], by as few steps as it takes."""
    load(data, state, work, node)
    kept: cython.Py_ssize_t = 0
    for b in range(first, first + size):
        kept += work.slot[parents[b]] >= 0
    if work.size - kept > kept:  # to begin with nothing is less
        clear(data, work, node)
        state.age[node] = 0
    for a in range(work.size - 1, -1, -1):  # backwards: those behind move up
        p = work.members[a]
        stays: cython.bint = False
        for b in range(first, first + size):
            stays = stays or parents[b] == p
        if not stays:
            toggle(data, work, p)
            state.age[node] += 1
    for b in range(first, first + size):
        if work.slot[parents[b]] < 0:
            toggle(data, work, parents[b])
            state.age[node] += 1
    if state.age[node] > REFRESH:
        regress(data, work, node, parents, first, size)
        state.age[node] = 0
    store(data, rules, state, work, node)


@cython.part
def hopes(
    data: Data,
    rules: Rules,
    state: State,
    mover: Regression,
    x: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """How many of the nodes ahead of x could lower the score when x has passed them."""
    found: cython.Py_ssize_t = 0
    if step < 0:
        for t in range(state.place[x]):
            found += state.tie[x * state.d + state.order[t]] == WANTED
    elif mover.size < rules.cap:
        bar = bar_of(data, rules, mover)
        for t in range(state.place[x] + 1, state.d):
            found += wants(data, rules, mover, state.order[t], bar)
    return found


@cython.part
def shift(state: State, x: cython.Py_ssize_t, goal: cython.Py_ssize_t) -> cython.void:
    """Move node x to the place `goal`; those between make room."""
    t = state.place[x]
    step = 1 if goal > t else -1
    while t != goal:
        state.order[t] = state.order[t + step]
        state.place[state.order[t]] = t
        t += step
    state.order[goal] = x
    state.place[x] = goal


@cython.part
def write(
    plan: Plan, row: cython.Py_ssize_t, work: Regression, node: cython.Py_ssize_t
) -> cython.void:
    """Put the members of a regression into a row of the plan."""
    plan.node[row], plan.size[row] = node, work.size
    for a in range(work.size):
        plan.parents[row * plan.width + a] = work.members[a]


@cython.part
def propose(
    state: State,
    plan: Plan,
    mover: Regression,
    x: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    change: cython.double,
) -> cython.void:
    """Keep the present place of x as the best so far."""
    plan.change, plan.goal = change, state.place[x]
    plan.first, plan.last = first, plan.next
    write(plan, 0, mover, x)


@cython.part
def explore(
    data: Data,
    rules: Rules,
    state: State,
    plan: Plan,
    mover: Regression,
    passed: Regression,
    x: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    target: cython.Py_ssize_t,
    stop: Stop,
) -> cython.void:
    """Let x hop leftwards or rightwards, to `target` or while there is hope ahead.

    A hop matters in two cases only: the one that comes first now had the other as a parent and
    loses it, or the one that comes second now would like the other as a parent (`State.tie`).
    Every other hop costs a table look-up. What the best place would change is written to the plan.
    """
    d, home, first = state.d, state.place[x], plan.next
    anywhere: cython.bint = target == ANYWHERE
    ahead, own, others = 0, 0.0, 0.0
    load(data, state, mover, x)
    if anywhere:
        ahead = hopes(data, rules, state, mover, x, step)
    while (ahead > 0 and not stop.asked) if anywhere else (state.place[x] != target):
        t = state.place[x] + step
        u = state.order[t]
        if required(data, u, x) if step < 0 else required(data, x, u):
            break
        shift(state, x, t)
        loses: cython.bint = step < 0 and mover.slot[u] >= 0
        gains: cython.bint = step > 0 and mover.size < rules.cap
        gains = gains and wants(data, rules, mover, u, bar_of(data, rules, mover))
        if loses:
            toggle(data, mover, u)
        if loses or gains:
            own = grow_shrink(data, rules, state.order, mover, x, t, stop) - state.value[x]
        touched: cython.bint = state.tie[x * d + u] == (WANTED if step < 0 else PARENT)
        if touched:
            load(data, state, passed, u)
            if step > 0:
                toggle(data, passed, x)
            others += grow_shrink(data, rules, state.order, passed, u, t - step, stop)
            others -= state.value[u]
            write(plan, plan.next, passed, u)
            plan.next += 1
        if anywhere and (loses or gains or touched):
            ahead = hopes(data, rules, state, mover, x, step)
            if own + others > UPHILL * rules.dearest:
                break
            if own + others < plan.change - GAIN:
                propose(state, plan, mover, x, first, own + others)
    if not anywhere:
        propose(state, plan, mover, x, first, own + others)
    shift(state, x, home)


@cython.part
def note(state: State, undo: Undo, node: cython.Py_ssize_t) -> cython.void:
    """Write down the present parents of a node, unless that has been done already."""
    row = undo.length
    if undo.noted[node]:
        return
    undo.noted[node] = True
    undo.node[row], undo.size[row] = node, state.count[node]
    for a in range(state.count[node]):
        undo.parents[row * undo.width + a] = state.parents[node * state.width + a]
    undo.length += 1


@cython.part
def carry_out(
    data: Data,
    rules: Rules,
    state: State,
    plan: Plan,
    undo: Undo,
    work: Regression,
    x: cython.Py_ssize_t,
) -> cython.void:
    """Do what the plan says."""
    shift(state, x, plan.goal)
    for row in range(plan.first - 1, plan.last):
        source = row if row >= plan.first else 0
        note(state, undo, plan.node[source])
        at, size = source * plan.width, plan.size[source]
        install(data, rules, state, work, plan.node[source], plan.parents, at, size)


@cython.part
def move(
    data: Data,
    rules: Rules,
    memory: Memory,
    x: cython.Py_ssize_t,
    target: cython.Py_ssize_t,
    stop: Stop,
) -> cython.double:
    """Put x where the score is lowest, or at the place `target`; the change of the score."""
    home = memory.state.place[x]
    memory.plan.goal, memory.plan.change = home, 0.0
    memory.plan.next = memory.plan.first = memory.plan.last = 1
    for step in range(-1, 2, 2):
        if target == ANYWHERE or (target - home) * step > 0:
            explore(
                data,
                rules,
                memory.state,
                memory.plan,
                memory.mover,
                memory.passed,
                x,
                step,
                target,
                stop,
            )
            memory.plan.next = memory.plan.last
    if memory.plan.goal == home:
        return 0.0
    carry_out(data, rules, memory.state, memory.plan, memory.undo, memory.mover, x)
    return memory.plan.change
