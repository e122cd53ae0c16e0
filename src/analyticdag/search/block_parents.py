"""Parents of a node that is a block: grown and shrunk one by one, for a given order."""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import sqrt
from analyticdag.search.blocks import (
    LEAST_GAIN,
    Blocks,
    Ordered,
    begin,
    misfit,
    misfit_of,
    take_in,
    with_block,
)
from analyticdag.search.records import Stop


@cython.part
def take_all(data: Blocks, graph: Ordered, node: cython.Py_ssize_t) -> cython.double:
    """Take up the present parents of the node at hand; their price."""
    total = 0.0
    begin(data, graph, node)
    for a in range(graph.n_own):
        take_in(data, graph, node, graph.own[a])
        total += data.price[graph.own[a] * data.d + node]
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
        take_in(data, graph, node, chosen)
    return chosen >= 0


@cython.part
def invert(data: Blocks, graph: Ordered) -> cython.void:
    """The inverse, in `K`, of the Cholesky factor of the parents: lower triangular."""
    p, D, K = graph.rows, data.columns, graph.K
    for s in range(p):
        for r in range(s, p):
            entry = 1.0 if r == s else 0.0
            for q in range(s, r):
                entry -= graph.V[q * D + graph.column[r]] * K[q * D + s]
            K[r * D + s] = entry / graph.V[r * D + graph.column[r]]


@cython.part
def without(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, block: cython.Py_ssize_t
) -> cython.double:
    """Misfit of a node without one of its parents; `K` is as `invert` leaves it.

    With B the coefficients of the block and Q its part of the inverse covariance of all parents,
    what the node would have left is more by B' inv(Q) B.
    """
    own, size, at, D = data.size[node], data.size[block], graph.at_row[block], data.columns
    K, L, M = graph.K, graph.L, graph.M
    if at < 0:
        return misfit(data, graph, node)
    for b in range(own):
        for c in range(own):
            M[b * own + c] = graph.within[data.square[node] + b * own + c]
    for a in range(size):  # the factor of Q, and beside it inv(factor) B, row by row
        for b in range(a + 1):
            entry = 0.0
            for r in range(at + a, graph.rows):
                entry += K[r * D + at + a] * K[r * D + at + b]
            for t in range(b):
                entry -= L[a * size + t] * L[b * size + t]
            L[a * size + b] = sqrt(entry) if a == b else entry / L[b * size + b]
        for b in range(own):
            entry = 0.0
            for r in range(at + a, graph.rows):
                entry += K[r * D + at + a] * graph.V[r * D + data.first[node] + b]
            for t in range(a):
                entry -= L[a * size + t] * graph.B[t * own + b]
            graph.B[a * own + b] = entry / L[a * size + a]
        for b in range(own):
            for c in range(own):
                M[b * own + c] += graph.B[a * own + b] * graph.B[a * own + c]
    return misfit_of(data, graph, node, M, 0)


@cython.part
def shrink(
    data: Blocks, graph: Ordered, node: cython.Py_ssize_t, price: cython.double
) -> cython.bint:
    """Drop the parent whose going lowers the score most, if one does; `price` is that of all."""
    best = price + misfit(data, graph, node) - LEAST_GAIN
    chosen = -1
    invert(data, graph)
    for a in range(graph.n_own):
        i = graph.own[a]
        if not data.required[i * data.d + node]:
            there = without(data, graph, node, i) + price - data.price[i * data.d + node]
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
    price = take_all(data, graph, node)
    while changed and not stop.asked:
        while grow(data, graph, node, end) and not stop.asked:
            price += data.price[graph.own[graph.n_own - 1] * data.d + node]
        changed = False
        while not stop.asked and shrink(data, graph, node, price):
            changed = True
            price = take_all(data, graph, node)
    total: cython.double = price + misfit(data, graph, node)
    return total
