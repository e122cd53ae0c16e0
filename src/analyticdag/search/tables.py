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

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyticdag._jit import Struct, StructType, kernel, struct
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
    # Nodes of triangles, see local.find_triangles.
    corners: IntArray
    n_corners: int
    in_triangle: BoolArray
    # Nodes that wait for a reinsertion.
    queue: IntArray
    queue_head: int
    queue_tail: int
    queue_waiting: BoolArray


class BenchType(StructType):
    """Compiled side of `Bench`."""


class TaskType(StructType):
    """Compiled side of `Task`."""


struct(Bench, BenchType)
struct(Task, TaskType)


@kernel
def new_bench(*fields: Any) -> Bench:
    """A bench of these fields, in the order of the class."""
    return Bench(*fields)


@kernel
def new_task(*fields: Any) -> Task:
    """A task of these fields, in the order of the class."""
    return Task(*fields)


def make_bench(n_nodes: int, cap: int) -> Bench:
    """Empty workplace for regressions on up to `cap` parents."""
    width = cap + 1
    fields = {
        "size": 0,
        "at": 0,
        "members": np.empty(width, np.int64),
        "slot": np.full(n_nodes, -1, np.int64),
        "factor": np.empty((width, width)),
        "weights": np.empty(width),
        "sharp": np.empty(width),
        "link": np.empty(n_nodes),
        "spread": np.empty(n_nodes),
        "direction": np.empty(n_nodes),
        "mix": np.empty(width),
    }
    return new_bench(*in_order(Bench, fields))


def make_task(fields: Mapping[str, Any]) -> Task:
    """A task from what the caller wants to see; the rest of its memory is reserved here."""
    d, width = len(fields["order"]), fields["cap"] + 1
    return new_task(*in_order(Task, {**reserved(d, width), **fields}))


def in_order(record: type[Struct], fields: Mapping[str, Any]) -> list[Any]:
    """The fields in the order in which the class declares them."""
    return [fields[name] for name in record.__annotations__]


def reserved(d: int, width: int) -> dict[str, Any]:
    """Memory that moves need, in NumPy: the compiler would take seconds over it."""
    rows = 2 * d + 1
    plan = ("plan_next", "plan_first", "plan_last", "plan_goal")
    numbers = (*plan, "pool_top", "old_length", "n_corners", "queue_head", "queue_tail")
    nodes = ("age", "pool_at", "pool_room", "old_node", "old_size", "old_order", "queue", "corners")
    return {
        **dict.fromkeys(numbers, 0),
        **{name: np.zeros(d, np.int64) for name in nodes},
        **{name: np.zeros(d, np.bool_) for name in ("old_noted", "queue_waiting", "in_triangle")},
        "tie": np.zeros((d, d), np.int8),
        "pool": np.empty(min(d * (2 * width + 4) ** 2, 4 * d * d + 2**20)),
        "plan_node": np.empty(rows, np.int64),
        "plan_size": np.empty(rows, np.int64),
        "plan_parents": np.empty((rows, width), np.int64),
        "plan_change": 0.0,
        "old_parents": np.empty((d, width), np.int64),
    }
