"""What is given to the search, the same for all starts; and how kernels read arrays.

Tables are flat: entry [i, j] of a table with d columns is table[i * d + j]. A record keeps the
arrays alive and holds, compiled, pointers to their first entries.

    Data      covariances or levels, rows behind every node, edges that may not or must exist
    Rules     what a parent must be worth, and how many there may be
    Stop      a request to end early
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag._compiled import cython

# A variable whose variance given the current parents is below this share of its own variance is a
# linear combination of them. With hubs, parents are collinear to nine digits and still parents.
COLLINEAR = 1e-10
# A step must lower the score by more than this: smaller differences are rounding, of scores that
# are about n * d, 1e3 to 1e7, with 16 digits.
GAIN = 1e-6
# `Rules.patience` without a limit.
PATIENT = 2147483647


@cython.cfunc
def floats(array: Any) -> cython.p_double:
    """Where the entries of a table begin; interpreted, all of them in a row."""
    checked(array, np.float64)
    if cython.compiled:
        entries: cython.p_double = cython.cast(
            cython.p_double, cython.cast(cython.size_t, array.ctypes.data)
        )
    else:
        entries = array.reshape(-1)
    return entries


@cython.cfunc
def integers(array: Any) -> cython.p_longlong:
    """The same for whole numbers."""
    checked(array, np.int64)
    if cython.compiled:
        entries: cython.p_longlong = cython.cast(
            cython.p_longlong, cython.cast(cython.size_t, array.ctypes.data)
        )
    else:
        entries = array.reshape(-1)
    return entries


@cython.cfunc
def marks(array: Any) -> cython.p_uchar:
    """The same for marks and truth values."""
    marked = array.view(np.uint8)
    checked(marked, np.uint8)
    if cython.compiled:
        entries: cython.p_uchar = cython.cast(
            cython.p_uchar, cython.cast(cython.size_t, array.ctypes.data)
        )
    else:
        entries = marked.reshape(-1)
    return entries


def checked(array: Any, kind: Any) -> None:
    """Refuse an array that compiled code would misread."""
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"a kernel wants a contiguous array of {kind.__name__}, not {array.dtype}")


@cython.cclass
class Stop:
    """A request to end early, from another thread: kernels look at it and leave all consistent."""

    asked = cython.declare(cython.bint, visibility="public")

    def __init__(self) -> None:
        self.asked = False


@cython.cclass
class Data:
    """What is given: covariances, rows behind every node, edges that may not or must exist."""

    d: cython.Py_ssize_t  # nodes
    columns: cython.Py_ssize_t  # as many, unless some nodes are blocks of columns
    S: cython.p_double  # covariances, (columns, columns) each, one after the other
    at: cython.p_longlong  # where in S the covariance begins that a node is regressed with
    n: cython.p_double  # rows behind the regression of each node
    floor: cython.p_double  # COLLINEAR times the variance of each variable
    forbids: cython.bint  # whether there is such a table
    forbidden: cython.p_uchar  # [i, j] speaks about the edge i -> j
    requires: cython.bint
    required: cython.p_uchar
    plain: cython.bint  # whether every node is a column, and none of these:
    blocks: cython.bint  # whether some nodes are blocks
    first: cython.p_longlong  # of the columns of a node
    size: cython.p_longlong  # how many columns a node has
    square: cython.p_longlong  # where the covariances within each block begin, block after block
    counts: cython.bint  # whether nodes are scored by counts (`counts.py`)
    rows: cython.Py_ssize_t  # rows that differ
    X: cython.p_uchar  # level of node i in row r: X[i * rows + r]
    times: cython.p_longlong  # how often each row comes
    levels: cython.p_longlong  # how many levels a node has
    room: cython.Py_ssize_t  # cells that a table of counts may have
    pairs: cython.bint  # whether two parents may come at once
    n_log_n: cython.p_longlong  # of every whole number up to n, in FRACTIONs (`counts.py`)
    code: cython.p_longlong  # of a node as a parent; zero for nobody, node d
    target_code: cython.p_longlong  # of a node with parents
    kept_keys: cython.p_longlong  # of scores, each combined with its value
    kept_values: cython.p_longlong
    arrays: object  # what the pointers point to

    def __init__(
        self,
        S: Any,
        at: Any,
        n: Any,
        floor: Any,
        forbidden: Any = None,
        required: Any = None,
        sizes: Any = None,
        counts: Any = None,
    ) -> None:
        self.d = self.columns = len(n)
        self.S, self.at, self.n, self.floor = floats(S), integers(at), floats(n), floats(floor)
        self.forbids, self.requires = forbidden is not None, required is not None
        if self.forbids:
            self.forbidden = marks(forbidden)
        if self.requires:
            self.required = marks(required)
        self.blocks, first, square = sizes is not None, None, None
        if self.blocks:
            first, square = np.cumsum(sizes) - sizes, np.cumsum(sizes**2) - sizes**2
            self.columns, self.size = int(sizes.sum()), integers(sizes)
            self.first, self.square = integers(first), integers(square)
        self.counts, self.pairs = counts is not None, False
        self.plain = not (self.blocks or self.counts)
        if self.counts:
            self.rows, self.room, self.pairs = len(counts.times), counts.room, counts.pairs
            self.X, self.times = marks(counts.X), integers(counts.times)
            self.levels, self.n_log_n = integers(counts.levels), integers(counts.n_log_n)
            self.code, self.target_code = integers(counts.code), integers(counts.target_code)
            self.kept_keys = integers(counts.kept.keys)
            self.kept_values = integers(counts.kept.values)
        self.arrays = (S, at, n, floor, forbidden, required, sizes, first, square, counts)


@cython.part
def forbidden(data: Data, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
    """Whether i -> j may not exist."""
    return data.forbids and data.forbidden[i * data.d + j] != 0


@cython.part
def required(data: Data, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
    """Whether i -> j must exist."""
    return data.requires and data.required[i * data.d + j] != 0


@cython.cclass
class Rules:
    """What a parent must be worth, and how many there may be."""

    price: cython.double  # of an edge, in the score
    equal: cython.bint  # whether all noise has one variance,
    noise = cython.declare(cython.double, visibility="readonly")  # which is this one
    share: cython.p_double  # of the residual variance (or of the noise) to be explained
    cap: cython.Py_ssize_t  # largest number of parents
    patience: cython.Py_ssize_t  # how many faint parents a regression may take
    prices: cython.p_double  # of the edges between blocks, in the score; [i, j] for i -> j
    dearest: cython.double  # price of an edge at most
    arrays: object

    def __init__(
        self,
        price: float,
        noise: float | None,
        share: Any,
        cap: int,
        patience: int,
        prices: Any = None,
    ) -> None:
        self.arrays = share, prices
        self.price, self.equal, self.noise = price, noise is not None, noise or 1.0
        self.share, self.cap, self.patience = floats(share), cap, patience
        self.dearest = price
        if prices is not None:
            self.prices, self.dearest = floats(prices), prices.max(initial=0.0)
