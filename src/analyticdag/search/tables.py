"""The memory of a search: what the task is, what the graph is now, and where to work.

`Task` holds the data and the graph under search: an order and the parents of every node. For every
node it also keeps the vectors of its regression (`link`, `spread`) and the Cholesky factor of its
parents' covariance, so that a move starts from them instead of factorising again. Memory is two
d x d tables of floats and three of bytes beside the covariance; the factors share a pool and take
sum_j |pa_j|^2. Tables are reserved with `np.empty` and `np.zeros`, which use memory only where
something is written: generous widths cost nothing.

`Bench` is the workplace of one regression, see `regression.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analyticdag._jit import (
    BYTE_TABLE,
    FLAG,
    FLAG_TABLE,
    FLAGS,
    REAL,
    REAL_TABLE,
    REALS,
    WHOLE,
    WHOLE_TABLE,
    WHOLES,
    Struct,
    StructType,
    kernel,
    new_struct,
    struct,
)
from analyticdag._typing import BoolArray, FloatArray, IntArray

# Entries of `Task.tie[i, j]`, about i as a parent of j.
NONE, WANTED, PARENT = 0, 1, 2

# A variable whose variance given the current parents is below this share of its own variance is a
# linear combination of them as far as double precision can tell.
COLLINEAR = 1e-10


class Bench(Struct):
    """Workplace for one regression; only the first `size` members count."""

    size: int
    at: int  # where in `Task.S` the covariance of the node begins
    members: IntArray
    slot: IntArray  # place of variable i in members, or -1
    factor: FloatArray  # Cholesky factor of the members' covariance, lower triangle
    weights: FloatArray  # of the node on the members
    sharp: FloatArray  # diagonal of the inverse covariance: 1 / var(member | other members)
    link: FloatArray  # cov(i, node | members) for every variable i
    spread: FloatArray  # var(i | members) for every variable i
    direction: FloatArray  # scratch: what the changing member adds, over all variables
    mix: FloatArray  # scratch: that direction as a combination of members


class Task(Struct):
    """Data, graph under search and scratch memory of one search; row j belongs to node j."""

    # The task: fixed during a search.
    S: FloatArray  # correlations ("unequal") or covariances ("equal"), one below the other
    at: IntArray  # the first row of the covariance that each node is regressed with
    floor: FloatArray  # COLLINEAR times the diagonal of S
    forbidden: BoolArray  # [i, j] speaks about the edge i -> j
    required: BoolArray
    n: FloatArray  # samples behind the regression of each node
    penalty: float
    price: FloatArray  # share of the residual variance (or of the noise) a new parent must explain
    noise: FloatArray  # one number, "equal" only: the noise variance
    patience: IntArray  # one number: see parents.grow_shrink
    equal: bool
    cap: int  # largest possible number of parents
    # The graph.
    order: IntArray
    place: IntArray  # inverse of order
    count: IntArray
    parents: IntArray
    value: FloatArray  # score of each node
    # What makes moves cheap.
    link: FloatArray
    spread: FloatArray
    tie: NDArray[np.int8]  # [i, j]: NONE, WANTED (i would lower j's score) or PARENT
    age: IntArray  # up- and down-dates since the last factorisation
    pool: FloatArray  # factors: node j's starts at pool_at[j], room for pool_room[j] parents
    pool_at: IntArray
    pool_room: IntArray
    pool_top: int
    # The move under consideration: row 0 for the node that moves, the others for those it passed.
    plan_node: IntArray
    plan_size: IntArray
    plan_parents: IntArray
    plan_next: int  # first free row
    plan_first: int  # rows of the best place found so far
    plan_last: int
    plan_goal: int  # the best place, and the change of score there
    plan_change: float
    # Parents before the current disturbance.
    old_length: int
    old_node: IntArray
    old_size: IntArray
    old_parents: IntArray
    old_noted: BoolArray
    old_order: IntArray
    # Nodes that wait for a reinsertion.
    queue: IntArray
    queue_head: int
    queue_tail: int
    queue_waiting: BoolArray


class BenchType(StructType):
    """Compiled side of `Bench`."""


class TaskType(StructType):
    """Compiled side of `Task`."""


BENCH = struct(
    Bench,
    BenchType,
    {
        "size": WHOLE,
        "at": WHOLE,
        "members": WHOLES,
        "slot": WHOLES,
        "factor": REAL_TABLE,
        "weights": REALS,
        "sharp": REALS,
        "link": REALS,
        "spread": REALS,
        "direction": REALS,
        "mix": REALS,
    },
)

TASK = struct(
    Task,
    TaskType,
    {
        "S": REAL_TABLE,
        "at": WHOLES,
        "floor": REALS,
        "forbidden": FLAG_TABLE,
        "required": FLAG_TABLE,
        "n": REALS,
        "penalty": REAL,
        "price": REALS,
        "noise": REALS,
        "patience": WHOLES,
        "equal": FLAG,
        "cap": WHOLE,
        "order": WHOLES,
        "place": WHOLES,
        "count": WHOLES,
        "parents": WHOLE_TABLE,
        "value": REALS,
        "link": REAL_TABLE,
        "spread": REAL_TABLE,
        "tie": BYTE_TABLE,
        "age": WHOLES,
        "pool": REALS,
        "pool_at": WHOLES,
        "pool_room": WHOLES,
        "pool_top": WHOLE,
        "plan_node": WHOLES,
        "plan_size": WHOLES,
        "plan_parents": WHOLE_TABLE,
        "plan_next": WHOLE,
        "plan_first": WHOLE,
        "plan_last": WHOLE,
        "plan_goal": WHOLE,
        "plan_change": REAL,
        "old_length": WHOLE,
        "old_node": WHOLES,
        "old_size": WHOLES,
        "old_parents": WHOLE_TABLE,
        "old_noted": FLAGS,
        "old_order": WHOLES,
        "queue": WHOLES,
        "queue_head": WHOLE,
        "queue_tail": WHOLE,
        "queue_waiting": FLAGS,
    },
)


@kernel
def make_bench(n_nodes: int, cap: int) -> Bench:
    """Empty workplace for regressions on up to `cap` parents."""
    bench: Bench = new_struct(BENCH)
    bench.size = bench.at = 0
    bench.members = np.empty(cap + 1, np.int64)
    bench.slot = np.full(n_nodes, -1, np.int64)
    bench.factor = np.empty((cap + 1, cap + 1))
    bench.sharp = np.empty(cap + 1)
    bench.weights = np.empty(cap + 1)
    bench.link = np.empty(n_nodes)
    bench.spread = np.empty(n_nodes)
    bench.direction = np.empty(n_nodes)
    bench.mix = np.empty(cap + 1)
    return bench


@kernel
def make_task(
    S: FloatArray,
    at: IntArray,
    forbidden: BoolArray,
    required: BoolArray,
    n: FloatArray,
    penalty: float,
    price: FloatArray,
    noise: FloatArray,
    patience: IntArray,
    equal: bool,
    cap: int,
    graph: tuple[IntArray, IntArray, IntArray, FloatArray],
) -> Task:
    """A task around the caller's arrays: data, knowledge, and the graph (order, count, ...)."""
    d = len(at)
    task: Task = new_struct(TASK)
    task.S, task.at, task.forbidden, task.required = S, at, forbidden, required
    task.floor = np.empty(d)
    for i in range(d):
        task.floor[i] = COLLINEAR * S[i, i]
    task.n, task.penalty, task.price, task.cap = n, penalty, price, cap
    task.noise, task.patience, task.equal = noise, patience, equal
    task.order, task.count, task.parents, task.value = graph
    task.place = np.empty(d, np.int64)
    for t in range(d):
        task.place[task.order[t]] = t
    return task


@kernel
def make_tables(task: Task) -> None:
    """Reserve what moves need beyond `make_task`."""
    d, width = len(task.order), task.cap + 1
    task.link, task.spread = np.empty((d, d)), np.empty((d, d))
    task.tie = np.zeros((d, d), np.int8)
    task.age = np.zeros(d, np.int64)
    task.pool = np.empty(min(d * (2 * width + 4) ** 2, 4 * d * d + 2**20))
    task.pool_at, task.pool_room = np.zeros(d, np.int64), np.zeros(d, np.int64)
    task.pool_top = 0
    rows = 2 * d + 1
    task.plan_node, task.plan_size = np.empty(rows, np.int64), np.empty(rows, np.int64)
    task.plan_parents = np.empty((rows, width), np.int64)
    task.old_length = 0
    task.old_node, task.old_size = np.empty(d, np.int64), np.empty(d, np.int64)
    task.old_parents = np.empty((d, width), np.int64)
    task.old_noted = np.zeros(d, np.bool_)
    task.old_order = np.empty(d, np.int64)
    task.queue = np.empty(d, np.int64)
    task.queue_head = task.queue_tail = 0
    task.queue_waiting = np.zeros(d, np.bool_)
