"""Search over orders where a node may be a block of columns, such as the levels of a category.

A block enters and leaves a regression as one, and is explained as one: with S the covariance of
all columns, the score of node j is (degenerate Gaussian, Andrews, Ramsey and Cooper 2019)

    n log det S[j, j given its parents]  +  sum over its parents i of price[i, j]

Prices are the same for i -> j and j -> i, so equivalent graphs have the same score. A column alone
is a block of one, and then this is the score of `setting.py`. For the node at hand, the parents are
taken up one after the other, and with each of them what is left of all columns is brought up to
date (a Cholesky factor with all columns beside it); what a further parent would explain is then a
matter of small matrices. Parents are chosen in `block_parents.py`, moves are in `block_moves.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag._compiled import cython
from analyticdag._compiled.libc import log, sqrt
from analyticdag.search.records import COLLINEAR, floats, integers, marks

# A step must lower the score by more than this: scores are about n * d, with 16 digits.
LEAST_GAIN = 1e-6
# A walk this many prices uphill is given up, as in `moves.py`.
STEEP = 10.0
# Score of what cannot be: parents that determine each other.
NEVER = 1e300


@cython.cclass
class Blocks:
    """What is given: covariances of columns, blocks of them, prices, and forbidden edges."""

    d: cython.Py_ssize_t  # nodes
    columns: cython.Py_ssize_t
    S: cython.p_double
    at: cython.p_longlong  # where in S the covariance begins that a node is regressed with
    n: cython.p_double
    first: cython.p_longlong  # of the columns of a node
    size: cython.p_longlong
    square: cython.p_longlong  # where the covariances within each block begin
    squares: cython.Py_ssize_t
    price: cython.p_double
    forbidden: cython.p_uchar
    required: cython.p_uchar
    steep: cython.double
    cap: cython.Py_ssize_t
    arrays: object

    def __init__(
        self, S: Any, at: Any, n: Any, sizes: Any, price: Any, forbidden: Any, required: Any,
        cap: int,
    ) -> None:  # fmt: skip
        first = np.cumsum(sizes) - sizes
        square = np.cumsum(sizes**2) - sizes**2
        self.arrays = (S, at, n, first, sizes, price, forbidden, required, square)
        self.d, self.columns, self.cap = len(sizes), int(sizes.sum()), cap
        self.S, self.at, self.n, self.price = floats(S), integers(at), floats(n), floats(price)
        self.first, self.size = integers(first), integers(sizes)
        self.square, self.squares = integers(square), int((sizes**2).sum())
        self.forbidden, self.required = marks(forbidden), marks(required)
        self.steep = STEEP * float(price.max(initial=0.0))


@cython.cclass
class Ordered:
    """An order, the parents of every node, their scores; and room for one move."""

    order: cython.p_longlong
    place: cython.p_longlong
    count: cython.p_longlong
    parents: cython.p_longlong  # row j: the parents of j
    value: cython.p_double
    V: cython.p_double  # row r: covariances of all columns with the r-th column of the parents,
    #                     in standard units given those before it
    rows: cython.Py_ssize_t  # rows of V that are filled
    column: cython.p_longlong  # which column each row is
    link: cython.p_double  # row b: covariances of the b-th column of the node given the parents
    within: cython.p_double  # covariances within each block given the parents, block after block
    L: cython.p_double  # room for a factor of one block
    K: cython.p_double  # and for one of all parents
    M: cython.p_double  # and for covariances of a node
    B: cython.p_double  # and for what a block explains of a node
    at_row: cython.p_longlong  # where in V the columns of each parent begin; -1 if determined
    own: cython.p_longlong  # parents of the node at hand
    n_own: cython.Py_ssize_t
    mine: cython.p_longlong  # parents of the node that walks
    n_mine: cython.Py_ssize_t
    mine_value: cython.double
    best: cython.p_longlong  # the same at the best place so far
    n_best: cython.Py_ssize_t
    best_value: cython.double
    changed: cython.p_longlong  # nodes that the walk changed, in turn; their parents in `after`
    n_changed: cython.Py_ssize_t
    after: cython.p_longlong
    n_after: cython.p_longlong
    worth: cython.p_double
    stamp: cython.p_longlong  # of the parents of each node: the same number, the same parents
    mine_stamp: cython.longlong
    n_stamps: cython.longlong
    asked: cython.p_longlong  # the stamp for which the row of `answer` holds
    answer: cython.p_uchar  # row j: which further parents j would take
    queue: cython.p_longlong  # nodes that wait for their reinsertion
    waiting: cython.p_uchar
    head: cython.Py_ssize_t
    tail: cython.Py_ssize_t
    arrays = cython.declare(dict, visibility="readonly")

    def __init__(self, order: Any, sizes: Any) -> None:
        d, columns, largest = len(order), int(sizes.sum()), int(sizes.max())
        arrays: dict[str, Any] = {
            "order": np.array(order, np.int64),
            "place": np.argsort(order),
            **{name: np.zeros((d, d), np.int64) for name in ("parents", "after")},
            **{name: np.zeros(d, np.int64) for name in ("stamp", "queue", "asked", "at_row")},
            **{name: np.zeros(d, np.int64) for name in ("count", "own", "mine", "best")},
            **{name: np.zeros(d, np.int64) for name in ("changed", "n_after")},
            **{name: np.zeros(d) for name in ("value", "worth")},
            **{name: np.zeros((columns, columns)) for name in ("V", "K")},
            **{name: np.zeros((largest, largest)) for name in ("L", "M", "B")},
            "link": np.zeros((largest, columns)),
            "within": np.zeros(int((sizes**2).sum())),
            "column": np.zeros(columns, np.int64),
            "answer": np.zeros((d, d), np.bool_),
            "waiting": np.zeros(d, np.bool_),
        }
        self.arrays, self.rows = arrays, 0
        self.n_own = self.n_mine = self.n_best = self.n_changed = 0
        self.order, self.place = integers(arrays["order"]), integers(arrays["place"])
        self.count, self.parents = integers(arrays["count"]), integers(arrays["parents"])
        self.value, self.L = floats(arrays["value"]), floats(arrays["L"])
        self.V, self.K, self.M = floats(arrays["V"]), floats(arrays["K"]), floats(arrays["M"])
        self.link, self.within = floats(arrays["link"]), floats(arrays["within"])
        self.at_row, self.B = integers(arrays["at_row"]), floats(arrays["B"])
        self.column, self.own = integers(arrays["column"]), integers(arrays["own"])
        self.changed, self.after = integers(arrays["changed"]), integers(arrays["after"])
        self.n_after, self.worth = integers(arrays["n_after"]), floats(arrays["worth"])
        self.mine, self.best = integers(arrays["mine"]), integers(arrays["best"])
        self.stamp, self.asked = integers(arrays["stamp"]), integers(arrays["asked"])
        self.answer, self.queue = marks(arrays["answer"]), integers(arrays["queue"])
        self.waiting = marks(arrays["waiting"])
        self.mine_stamp = self.n_stamps = 0
        self.head = self.tail = 0


@cython.part
def begin(data: Blocks, graph: Ordered, node: cython.Py_ssize_t) -> cython.void:
    """Begin with no parents: covariances of the node, and within blocks, as they are."""
    D = data.columns
    graph.rows = 0
    for b in range(data.size[node]):
        row = data.at[node] + (data.first[node] + b) * D
        for c in range(D):
            graph.link[b * D + c] = data.S[row + c]
    for i in range(data.d):
        size = data.size[i]
        for a in range(size):
            row = data.at[node] + (data.first[i] + a) * D + data.first[i]
            for b in range(size):
                graph.within[data.square[i] + a * size + b] = data.S[row + b]


@cython.part
def factor(
    data: Blocks,
    graph: Ordered,
    node: cython.Py_ssize_t,
    block: cython.Py_ssize_t,
    given: cython.p_double,
    at: cython.Py_ssize_t,
) -> cython.double:
    """Cholesky factor, in `L`, of the covariances of a block that begin at given[at]; log det.

    NEVER if one of its columns is determined; `node` says which covariances it has otherwise.
    """
    L, size, total = graph.L, data.size[block], 0.0
    for a in range(size):
        for b in range(a + 1):
            entry = given[at + a * size + b]
            for t in range(b):
                entry -= L[a * size + t] * L[b * size + t]
            if b < a:
                L[a * size + b] = entry / L[b * size + b]
            else:
                c = data.first[block] + a
                if entry < COLLINEAR * data.S[data.at[node] + c * data.columns + c]:
                    return NEVER
                L[a * size + a] = sqrt(entry)
                total += log(entry)
    return total


@cython.part
def misfit_of(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, given: cython.p_double,
    at: cython.Py_ssize_t,
) -> cython.double:  # fmt: skip
    """Misfit of a node whose covariances given its parents begin at given[at]."""
    found = factor(data, graph, node, node, given, at)
    if found >= NEVER:  # the parents determine it: as if this share of it were left
        found = log(COLLINEAR) * data.size[node]
    total: cython.double = data.n[node] * found
    return total


@cython.part
def misfit(data: Blocks, graph: Ordered, node: cython.Py_ssize_t) -> cython.double:
    """Misfit of a node given the parents that were taken up."""
    return misfit_of(data, graph, node, graph.within, data.square[node])


@cython.part
def with_block(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, block: cython.Py_ssize_t
) -> cython.double:
    """Misfit of a node if a block came to its parents, its price added."""
    if factor(data, graph, node, block, graph.within, data.square[block]) >= NEVER:
        return NEVER
    size, own, first, D = data.size[block], data.size[node], data.first[block], data.columns
    L, B, M = graph.L, graph.B, graph.M
    for b in range(own):  # what the block explains of each column, in standard units
        for a in range(size):
            entry = graph.link[b * D + first + a]
            for t in range(a):
                entry -= L[a * size + t] * B[b * size + t]
            B[b * size + a] = entry / L[a * size + a]
    for b in range(own):
        for c in range(own):
            entry = graph.within[data.square[node] + b * own + c]
            for a in range(size):
                entry -= B[b * size + a] * B[c * size + a]
            M[b * own + c] = entry
    total: cython.double = misfit_of(data, graph, node, M, 0)
    total += data.price[block * data.d + node]
    return total


@cython.part
def take_in(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, block: cython.Py_ssize_t
) -> cython.void:
    """Take a block up as a parent of the node; one that others determine explains nothing more."""
    graph.at_row[block] = -1
    if factor(data, graph, node, block, graph.within, data.square[block]) >= NEVER:
        return
    graph.at_row[block] = graph.rows
    D, V, own = data.columns, graph.V, data.size[node]
    for t in range(data.size[block]):
        c = data.first[block] + t
        new, row = graph.rows * D, data.at[node] + c * D
        for k in range(D):
            V[new + k] = data.S[row + k]
        for r in range(graph.rows):
            share = V[r * D + c]
            for k in range(D):
                V[new + k] -= share * V[r * D + k]
        scale = 1.0 / sqrt(V[new + c])
        for k in range(D):
            V[new + k] *= scale
        for b in range(own):
            share = V[new + data.first[node] + b]
            for k in range(D):
                graph.link[b * D + k] -= share * V[new + k]
        explain_within(data, graph, new)
        graph.column[graph.rows] = c
        graph.rows += 1


@cython.part
def explain_within(data: Blocks, graph: Ordered, new: cython.Py_ssize_t) -> cython.void:
    """Take what a new row of V explains from the covariances within blocks."""
    for i in range(data.d):
        first, size, at = new + data.first[i], data.size[i], data.square[i]
        for a in range(size):
            for b in range(size):
                graph.within[at + a * size + b] -= graph.V[first + a] * graph.V[first + b]
