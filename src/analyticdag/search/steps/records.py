"""What one search works on: records, one for each role; what they point to is reserved by NumPy.

One search takes two d x d tables of floats and one of bytes beside the data; the factors share a
pool and take sum_j |pa_j|^2 / 2. Tables are reserved with `np.empty` and `np.zeros`, which use
memory only where something is written: generous widths cost nothing.

    Regression                   the workplace of one regression; of blocks (BlockWork); by counts
                                 (CountWork)
    State                        the graph under search, and what is kept of its regressions
    Plan, Undo, Queue            a move, the way back, who is to move next
    Memory                       all of it
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag._compiled import cython
from analyticdag.search.steps.given import floats, integers, marks

# Entries of `State.tie[i, j]`, about i as a parent of j.
NONE = 0
WANTED = 1
PARENT = 2
# Scores by counts that are kept, a power of two: 16 MB at most. With 100 nodes a search asks for
# hundreds of thousands.
SLOTS = 1048576


def nodes_with_parents(rows: int, width: int) -> tuple[Any, Any, Any]:
    """Room for rows of a node, the number of its parents, and the parents."""
    return np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.empty((rows, width), np.int64)


@cython.cclass
class BlockWork:
    """What a regression holds where nodes are blocks of columns (`blocks.py`)."""

    V: cython.p_double  # row r: covariances of all columns with the r-th column of the members,
    #                     in standard units given those before it
    rows: cython.Py_ssize_t  # rows of V that are filled
    column: cython.p_longlong  # which column each row is
    at_row: cython.p_longlong  # where in V the columns of each member begin; -1 if determined
    link: cython.p_double  # row b: covariances of the b-th column of the node given the members
    within: cython.p_double  # covariances within each block given the members, block after block
    L: cython.p_double  # scratch: a factor of one block
    M: cython.p_double  # covariances of the node
    B: cython.p_double  # what a block explains of the node
    K: cython.p_double  # the inverse of a factor of all members
    arrays: object

    def __init__(self, sizes: Any) -> None:
        columns, largest = int(sizes.sum()), int(sizes.max())
        V, K = np.zeros((2, columns, columns))
        L, M, B = np.zeros((3, largest, largest))
        link, within = np.zeros((largest, columns)), np.zeros(int((sizes**2).sum()))
        column, at_row = np.zeros(columns, np.int64), np.zeros(len(sizes), np.int64)
        self.arrays, self.rows = (V, K, L, M, B, link, within, column, at_row), 0
        self.V, self.K, self.link, self.within = floats(V), floats(K), floats(link), floats(within)
        self.L, self.M, self.B = floats(L), floats(M), floats(B)
        self.column, self.at_row = integers(column), integers(at_row)


@cython.cclass
class CountWork:
    """What a regression holds where scores are counted (`counts.py`)."""

    key: cython.longlong  # of the node and its members
    held: cython.longlong  # the key whose combinations are at hand
    number: cython.Py_ssize_t  # of combinations that come in the rows
    states: cython.double  # of combinations that there could be
    combination: cython.p_longlong  # of each row
    finer: cython.p_longlong  # scratch: with one more parent
    cells: cython.p_longlong  # scratch: a table of counts
    arrays: object

    def __init__(self, counts: Any) -> None:
        combination, finer = np.zeros((2, len(counts.times)), np.int64)
        cells = np.empty(counts.room, np.int64)
        self.arrays, self.key, self.held = (combination, finer, cells), 0, 0
        self.combination, self.finer = integers(combination), integers(finer)
        self.cells = integers(cells)


@cython.cclass
class Regression:
    """The regression of one node on members that come and go; the first `size` of them count.

    For *every* variable i, given the members P,

        link[i]   = cov(i, node | P)      the covariance with the node's residual
        spread[i] = var(i | P)            the variance P leaves unexplained

    so link[i]**2 / spread[i] is what i would explain as a further parent. Members have
    link = spread = 0; the node itself has link = spread = its residual variance.

    Updating the *inverse* of the members' covariance instead of its factor would be shorter, and
    useless: with hubs, parents are collinear to nine digits, and the errors of an inverse feed on
    each other.
    """

    size = cython.declare(cython.Py_ssize_t, visibility="readonly")
    width: cython.Py_ssize_t  # room for members
    node: cython.Py_ssize_t  # whose regression it is
    at: cython.Py_ssize_t  # where in Data.S the covariance of the node begins
    members: cython.p_longlong
    slot: cython.p_longlong  # place of variable i in members, or -1
    factor: cython.p_double  # Cholesky factor of the members' covariance, lower triangle
    weights: cython.p_double  # of the node on the members
    sharp: cython.p_double  # diagonal of the inverse covariance: 1 / var(member | others)
    mix: cython.p_double  # scratch: residual of the changing member, in terms of the members
    link: cython.p_double
    spread: cython.p_double
    direction: cython.p_double  # scratch: covariance of that residual with every variable
    block: BlockWork  # instead of all this from `factor` on, where nodes are blocks
    count: CountWork  # the same, where nodes are scored by counts
    arrays = cython.declare(dict, visibility="readonly")

    def __init__(self, d: cython.Py_ssize_t, width: cython.Py_ssize_t, sizes: Any = None) -> None:
        arrays = {
            "members": np.empty(width, np.int64),
            "slot": np.full(d, -1, np.int64),
            "factor": np.empty((width, width)),
            **{name: np.empty(width) for name in ("weights", "sharp", "mix")},
            **{name: np.empty(d) for name in ("link", "spread", "direction")},
        }
        self.arrays, self.size, self.at, self.width = arrays, 0, 0, width
        self.members, self.slot = integers(arrays["members"]), integers(arrays["slot"])
        self.factor, self.weights = floats(arrays["factor"]), floats(arrays["weights"])
        self.sharp, self.mix = floats(arrays["sharp"]), floats(arrays["mix"])
        self.link, self.spread = floats(arrays["link"]), floats(arrays["spread"])
        self.direction, self.node = floats(arrays["direction"]), 0
        if sizes is not None:
            self.block = BlockWork(sizes)


@cython.cclass
class State:
    """The graph under search, and what is kept of every node's regression: row j is node j's.

    A move starts from what is kept instead of factorising again. Factors share a pool: node j's
    begins at pool_at[j], with room for pool_room[j] parents; first `sharp`, then the rows of the
    lower triangle.
    """

    d: cython.Py_ssize_t
    width: cython.Py_ssize_t  # of `parents`
    order: cython.p_longlong
    place: cython.p_longlong  # inverse of order
    count: cython.p_longlong
    parents: cython.p_longlong
    value: cython.p_double  # score of each node
    link: cython.p_double
    spread: cython.p_double
    tie: cython.p_uchar  # [i, j]: NONE, WANTED (i would lower j's score) or PARENT
    age: cython.p_longlong  # up- and down-dates since the last factorisation
    pool: cython.p_double
    pool_size: cython.Py_ssize_t
    pool_top: cython.Py_ssize_t
    pool_at: cython.p_longlong
    pool_room: cython.p_longlong
    arrays = cython.declare(dict, visibility="readonly")

    def __init__(self, order: Any, width: cython.Py_ssize_t) -> None:
        d = len(order)
        arrays: dict[str, Any] = {
            **{name: np.zeros(d, np.int64) for name in ("count", "age", "pool_at", "pool_room")},
            "order": np.array(order, np.int64),
            "place": np.argsort(order),
            "parents": np.empty((d, width), np.int64),
            "value": np.zeros(d),
            "link": np.empty((d, d)),
            "spread": np.empty((d, d)),
            "tie": np.zeros((d, d), np.int8),
            # Room is taken in powers of two: up to four times what is needed, and again for what
            # was outgrown. A node that finds no room is regressed anew whenever it is looked at.
            "pool": np.empty(min(2 * d * (width + 4) ** 2, 2 * d * d + 2**20)),
        }
        self.arrays, self.pool_top, self.pool_size = arrays, 0, len(arrays["pool"])
        self.d, self.width = d, width
        self.order, self.place = integers(arrays["order"]), integers(arrays["place"])
        self.count, self.parents = integers(arrays["count"]), integers(arrays["parents"])
        self.value, self.tie = floats(arrays["value"]), marks(arrays["tie"])
        self.link, self.spread = floats(arrays["link"]), floats(arrays["spread"])
        self.age, self.pool = integers(arrays["age"]), floats(arrays["pool"])
        self.pool_at = integers(arrays["pool_at"])
        self.pool_room = integers(arrays["pool_room"])


@cython.cclass
class Plan:
    """A move under consideration: row 0 for the node that moves, others for those it passed."""

    width: cython.Py_ssize_t
    node: cython.p_longlong
    size: cython.p_longlong
    parents: cython.p_longlong
    next: cython.Py_ssize_t  # first free row
    first: cython.Py_ssize_t  # rows of the best place found so far
    last: cython.Py_ssize_t
    goal: cython.Py_ssize_t  # the best place, and the change of score there
    change: cython.double
    arrays: object

    def __init__(self, d: cython.Py_ssize_t, width: cython.Py_ssize_t) -> None:
        # The node that moves, and whom it can pass on the way left and on the way right.
        node, size, parents = nodes_with_parents(2 * d + 1, width)
        self.arrays, self.width = (node, size, parents), width
        self.node, self.size, self.parents = integers(node), integers(size), integers(parents)


@cython.cclass
class Undo:
    """The way back: the order before a disturbance, and the parents of nodes changed since."""

    width: cython.Py_ssize_t
    length: cython.Py_ssize_t
    node: cython.p_longlong
    size: cython.p_longlong
    parents: cython.p_longlong
    noted: cython.p_uchar  # whether a node is among them
    order: cython.p_longlong
    arrays: object

    def __init__(self, order: Any, width: cython.Py_ssize_t) -> None:
        d, before = len(order), np.array(order, np.int64)
        noted, (node, size, parents) = np.zeros(d, np.uint8), nodes_with_parents(d, width)
        self.arrays, self.length, self.width = (before, noted, node, size, parents), 0, width
        self.node, self.size, self.parents = integers(node), integers(size), integers(parents)
        self.noted, self.order = marks(noted), integers(before)


@cython.cclass
class Queue:
    """Nodes that wait for a reinsertion, in a ring of d places; and the nodes of triangles."""

    d: cython.Py_ssize_t
    head: cython.Py_ssize_t
    tail: cython.Py_ssize_t
    nodes: cython.p_longlong
    waiting: cython.p_uchar
    n_corners: cython.Py_ssize_t
    corners: cython.p_longlong  # a child and two of its parents that are joined by an edge
    flag: cython.p_uchar  # scratch
    arrays: object

    def __init__(self, d: cython.Py_ssize_t) -> None:
        (nodes, corners), (waiting, flag) = np.zeros((2, d), np.int64), np.zeros((2, d), np.uint8)
        self.arrays, self.d = (nodes, corners, waiting, flag), d
        self.head = self.tail = self.n_corners = 0
        self.nodes, self.corners = integers(nodes), integers(corners)
        self.waiting, self.flag = marks(waiting), marks(flag)


@cython.cclass
class Memory:
    """All that one search works on; nothing of it is shared between threads."""

    state = cython.declare(State, visibility="readonly")
    plan: Plan
    undo: Undo
    queue: Queue
    mover = cython.declare(Regression, visibility="readonly")  # of the node that moves
    passed: Regression  # of the node that it passes

    def __init__(
        self, order: Any, width: cython.Py_ssize_t, sizes: Any = None, counts: Any = None
    ) -> None:
        d = len(order)
        self.state, self.plan, self.undo = State(order, width), Plan(d, width), Undo(order, width)
        self.queue = Queue(d)
        self.mover, self.passed = Regression(d, width, sizes), Regression(d, width, sizes)
        if counts is not None:
            self.mover.count, self.passed.count = CountWork(counts), CountWork(counts)
