"""Search over orders where a node may be a block of columns, such as the levels of a category.

A block enters and leaves a regression as one, and is explained as one: with S the covariance of
all columns, the score of node j is (degenerate Gaussian, Andrews, Ramsey and Cooper 2019)

    n log det S[j, j given its parents]  +  sum over its parents i of price[i, j]

Prices are the same for i -> j and j -> i, so equivalent graphs have the same score. A column alone
is a block of one, and then this is the score of `setting.py`. Everything is computed anew from
small Cholesky factors: simpler than the kernels of single columns, and slower. Moves are in
`block_moves.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag._compiled import cython
from analyticdag._compiled.libc import log, sqrt
from analyticdag.search.records import COLLINEAR, Stop, floats, integers, marks

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
        self.arrays = (S, at, n, first, sizes, price, forbidden, required)
        self.d, self.columns, self.cap = len(sizes), int(sizes.sum()), cap
        self.S, self.at, self.n, self.price = floats(S), integers(at), floats(n), floats(price)
        self.first, self.size = integers(first), integers(sizes)
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
    L: cython.p_double  # the factor under construction
    room: cython.Py_ssize_t
    rows: cython.Py_ssize_t  # rows of the factor that are filled
    column: cython.p_longlong  # which column each row is
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
    arrays = cython.declare(dict, visibility="readonly")

    def __init__(self, order: Any, columns: int) -> None:
        d = len(order)
        self.room = columns
        arrays: dict[str, Any] = {
            "order": np.array(order, np.int64),
            "place": np.argsort(order),
            **{name: np.zeros((d, d), np.int64) for name in ("parents", "after")},
            **{name: np.zeros(d, np.int64) for name in ("count", "own", "mine", "best")},
            **{name: np.zeros(d, np.int64) for name in ("changed", "n_after")},
            **{name: np.zeros(d) for name in ("value", "worth")},
            "L": np.zeros((columns, columns)),
            "column": np.zeros(columns, np.int64),
        }
        self.arrays, self.rows = arrays, 0
        self.n_own = self.n_mine = self.n_best = self.n_changed = 0
        self.order, self.place = integers(arrays["order"]), integers(arrays["place"])
        self.count, self.parents = integers(arrays["count"]), integers(arrays["parents"])
        self.value, self.L = floats(arrays["value"]), floats(arrays["L"])
        self.column, self.own = integers(arrays["column"]), integers(arrays["own"])
        self.changed, self.after = integers(arrays["changed"]), integers(arrays["after"])
        self.n_after, self.worth = integers(arrays["n_after"]), floats(arrays["worth"])
        self.mine, self.best = integers(arrays["mine"]), integers(arrays["best"])


@cython.part
def extend(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, block: cython.Py_ssize_t
) -> cython.double:
    """Put the columns of a block into the factor; log det of them given those before.

    `node` says whose covariance is used. NEVER if the columns before determine one of these.
    """
    total = 0.0
    L = graph.L
    for t in range(data.size[block]):
        c = data.first[block] + t
        row = data.at[node] + c * data.columns
        new = graph.rows * graph.room
        left = data.S[row + c]
        for a in range(graph.rows):
            entry = data.S[row + graph.column[a]]
            for b in range(a):
                entry -= L[a * graph.room + b] * L[new + b]
            entry /= L[a * graph.room + a]
            L[new + a] = entry
            left -= entry * entry
        if left < COLLINEAR * data.S[row + c]:
            return NEVER
        L[new + graph.rows] = sqrt(left)
        graph.column[graph.rows] = c
        graph.rows += 1
        total += log(left)
    return total


@cython.part
def misfit(data: Blocks, graph: Ordered, node: cython.Py_ssize_t) -> cython.double:
    """Misfit of a node given the blocks in the factor, which stays as it is."""
    rows = graph.rows
    found = extend(data, graph, node, node)
    graph.rows = rows
    if found >= NEVER:  # the parents determine it: as if this share of it were left
        found = log(COLLINEAR) * data.size[node]
    total: cython.double = data.n[node] * found
    return total


@cython.part
def with_block(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, block: cython.Py_ssize_t
) -> cython.double:
    """Misfit of a node if a block came to those in the factor, its price added."""
    rows = graph.rows
    if extend(data, graph, node, block) >= NEVER:
        graph.rows = rows
        return NEVER
    total: cython.double = misfit(data, graph, node) + data.price[block * data.d + node]
    graph.rows = rows
    return total


@cython.part
def factorise(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, without: cython.Py_ssize_t
) -> cython.double:
    """Put the present parents of the node at hand into the factor, but for one; their price."""
    graph.rows = 0
    total = 0.0
    for a in range(graph.n_own):
        i = graph.own[a]
        if i != without:
            rows = graph.rows
            if extend(data, graph, node, i) >= NEVER:
                graph.rows = rows
            total += data.price[i * data.d + node]
    return total


@cython.part
def drop(graph: Ordered, block: cython.Py_ssize_t) -> cython.void:
    """Take a block from the parents of the node at hand."""
    kept = 0
    for a in range(graph.n_own):
        if graph.own[a] != block:
            graph.own[kept] = graph.own[a]
            kept += 1
    graph.n_own = kept


@cython.part
def is_own(graph: Ordered, block: cython.Py_ssize_t) -> cython.bint:
    """Whether a block is a parent of the node at hand."""
    found: cython.bint = False
    for a in range(graph.n_own):
        found = found or graph.own[a] == block
    return found


@cython.part
def grow(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Add the block among the first `end` of the order that lowers the score most, if one does."""
    chosen = -1
    if graph.n_own >= data.cap:
        return False
    factorise(data, graph, node, -1)
    best = misfit(data, graph, node) - LEAST_GAIN
    for t in range(end):
        i = graph.order[t]
        if i != node and not data.forbidden[i * data.d + node] and not is_own(graph, i):
            there = with_block(data, graph, node, i)
            if there < best:
                best, chosen = there, i
    if chosen >= 0:
        graph.own[graph.n_own] = chosen
        graph.n_own += 1
    return chosen >= 0


@cython.part
def shrink(data: Blocks, graph: Ordered, node: cython.Py_ssize_t) -> cython.bint:
    """Drop the parent whose going lowers the score most, if one does."""
    best = factorise(data, graph, node, -1)
    best += misfit(data, graph, node) - LEAST_GAIN
    chosen = -1
    for a in range(graph.n_own):
        i = graph.own[a]
        if not data.required[i * data.d + node]:
            there = factorise(data, graph, node, i)
            there += misfit(data, graph, node)
            if there < best:
                best, chosen = there, i
    if chosen >= 0:
        drop(graph, chosen)
    return chosen >= 0


@cython.part
def settle(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, end: cython.Py_ssize_t, stop: Stop
) -> cython.double:
    """Grow and shrink the parents of the node at hand until neither pays; the score."""
    changed: cython.bint = True
    while changed and not stop.asked:
        while grow(data, graph, node, end) and not stop.asked:
            pass
        changed = False
        while shrink(data, graph, node) and not stop.asked:
            changed = True
    total = factorise(data, graph, node, -1)
    total += misfit(data, graph, node)
    return total
