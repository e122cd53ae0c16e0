"""Regression of one node where nodes may be blocks of columns, such as the levels of a category.

A block enters and leaves a regression as one, and is explained as one: with S the covariance of
all columns, the score of node j is (degenerate Gaussian, Andrews, Ramsey and Cooper 2019)

    n log det S[j, j given its parents]  +  sum over its parents i of price[i, j]

Prices are the same for i -> j and j -> i, so equivalent graphs have the same score. A column alone
is a block of one, and then this is the score of `regression.py`, which calls the functions here
where there are blocks. Members are taken up one after the other, and with each of them what is left
of all columns is brought up to date (a Cholesky factor with all columns beside it); what a further
member would explain is then a matter of small matrices. When one leaves, the others are taken up
anew: there are few of them, and no digits are lost.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import log, sqrt
from analyticdag.search.steps.given import COLLINEAR, Data, Rules
from analyticdag.search.steps.records import Regression

# Score of what cannot be: parents that determine each other.
NEVER = 1e300


@cython.part
def begin_block(data: Data, work: Regression, node: cython.Py_ssize_t) -> cython.void:
    """Begin with no members: covariances of the node, and within blocks, as they are."""
    D = data.columns
    work.block.rows = 0
    for b in range(data.size[node]):
        row = data.at[node] + (data.first[node] + b) * D
        for c in range(D):
            work.block.link[b * D + c] = data.S[row + c]
    for i in range(data.d):
        size = data.size[i]
        for a in range(size):
            row = data.at[node] + (data.first[i] + a) * D + data.first[i]
            for b in range(size):
                work.block.within[data.square[i] + a * size + b] = data.S[row + b]


@cython.part
def factorise(
    data: Data,
    work: Regression,
    block: cython.Py_ssize_t,
    given: cython.p_double,
    at: cython.Py_ssize_t,
) -> cython.double:
    """Cholesky factor, in `L`, of the covariances of a block that begin at given[at]; log det.

    NEVER if one of its columns is determined.
    """
    L, size, total = work.block.L, data.size[block], 0.0
    for a in range(size):
        for b in range(a + 1):
            entry = given[at + a * size + b]
            for t in range(b):
                entry -= L[a * size + t] * L[b * size + t]
            if b < a:
                L[a * size + b] = entry / L[b * size + b]
            else:
                c = data.first[block] + a
                if entry < COLLINEAR * data.S[work.at + c * data.columns + c]:
                    return NEVER
                L[a * size + a] = sqrt(entry)
                total += log(entry)
    return total


@cython.part
def misfit_of(
    data: Data, work: Regression, given: cython.p_double, at: cython.Py_ssize_t
) -> cython.double:
    """Misfit of the node, whose covariances given the members begin at given[at]."""
    found = factorise(data, work, work.node, given, at)
    if found >= NEVER:  # the members determine it: as if this share of it were left
        found = log(COLLINEAR) * data.size[work.node]
    total: cython.double = data.n[work.node] * found
    return total


@cython.part
def misfit(data: Data, work: Regression) -> cython.double:
    """Misfit of the node given the members."""
    return misfit_of(data, work, work.block.within, data.square[work.node])


@cython.part
def block_score(data: Data, rules: Rules, work: Regression) -> cython.double:
    """Score of the node: misfit, and the prices of all members."""
    total: cython.double = misfit(data, work)
    for a in range(work.size):
        total += rules.prices[work.members[a] * data.d + work.node]
    return total


@cython.part
def with_block(
    data: Data, rules: Rules, work: Regression, block: cython.Py_ssize_t
) -> cython.double:
    """Misfit of the node if a block came to the members, its price added."""
    if factorise(data, work, block, work.block.within, data.square[block]) >= NEVER:
        return NEVER
    size, own, first, D = data.size[block], data.size[work.node], data.first[block], data.columns
    L, B, M = work.block.L, work.block.B, work.block.M
    for b in range(own):  # what the block explains of each column, in standard units
        for a in range(size):
            entry = work.block.link[b * D + first + a]
            for t in range(a):
                entry -= L[a * size + t] * B[b * size + t]
            B[b * size + a] = entry / L[a * size + a]
    for b in range(own):
        for c in range(own):
            entry = work.block.within[data.square[work.node] + b * own + c]
            for a in range(size):
                entry -= B[b * size + a] * B[c * size + a]
            M[b * own + c] = entry
    total: cython.double = misfit_of(data, work, M, 0)
    total += rules.prices[block * data.d + work.node]
    return total


@cython.part
def take_in(data: Data, work: Regression, block: cython.Py_ssize_t) -> cython.void:
    """Take up a member; one that the others determine explains nothing more."""
    work.block.at_row[block] = -1
    if factorise(data, work, block, work.block.within, data.square[block]) >= NEVER:
        return
    work.block.at_row[block] = work.block.rows
    D, V, link, own = data.columns, work.block.V, work.block.link, data.size[work.node]
    for t in range(data.size[block]):
        c = data.first[block] + t
        new, row = work.block.rows * D, work.at + c * D
        for k in range(D):
            V[new + k] = data.S[row + k]
        for r in range(work.block.rows):
            share = V[r * D + c]
            for k in range(D):
                V[new + k] -= share * V[r * D + k]
        scale = 1.0 / sqrt(V[new + c])
        for k in range(D):
            V[new + k] *= scale
        for b in range(own):
            share = V[new + data.first[work.node] + b]
            for k in range(D):
                link[b * D + k] -= share * V[new + k]
        explain_within(data, work, new)
        work.block.column[work.block.rows] = c
        work.block.rows = work.block.rows + 1


@cython.part
def explain_within(data: Data, work: Regression, new: cython.Py_ssize_t) -> cython.void:
    """Take what a new row of V explains from the covariances within blocks."""
    V, within = work.block.V, work.block.within
    for i in range(data.d):
        first, size, at = new + data.first[i], data.size[i], data.square[i]
        for a in range(size):
            for b in range(size):
                within[at + a * size + b] -= V[first + a] * V[first + b]


@cython.part
def list_or_strike(work: Regression, p: cython.Py_ssize_t) -> cython.void:
    """Put p on the list of members, or strike it off."""
    gone = work.slot[p]
    if gone < 0:
        work.members[work.size], work.slot[p] = p, work.size
        work.size += 1
        return
    work.slot[p], work.size = -1, work.size - 1
    for a in range(gone, work.size):
        work.members[a] = work.members[a + 1]
        work.slot[work.members[a]] = a


@cython.part
def toggle_block(data: Data, work: Regression, p: cython.Py_ssize_t) -> cython.void:
    """Put block p into the members, or take it out if it is one."""
    if work.slot[p] < 0:
        take_in(data, work, p)
        list_or_strike(work, p)
        return
    list_or_strike(work, p)
    begin_block(data, work, work.node)
    for a in range(work.size):
        take_in(data, work, work.members[a])


@cython.part
def invert(data: Data, work: Regression) -> cython.void:
    """The inverse, in `K`, of the Cholesky factor of the members: lower triangular."""
    p, D, K, V = work.block.rows, data.columns, work.block.K, work.block.V
    for s in range(p):
        for r in range(s, p):
            entry = 1.0 if r == s else 0.0
            for q in range(s, r):
                entry -= V[q * D + work.block.column[r]] * K[q * D + s]
            K[r * D + s] = entry / V[r * D + work.block.column[r]]


@cython.part
def without_block(data: Data, work: Regression, block: cython.Py_ssize_t) -> cython.double:
    """Misfit of the node without one of the members; `K` is as `invert` leaves it.

    With C the coefficients of the block and Q its part of the inverse covariance of all members,
    what the node would have left is more by C' inv(Q) C.
    """
    own, size, at = data.size[work.node], data.size[block], work.block.at_row[block]
    D, K, L, M, B = data.columns, work.block.K, work.block.L, work.block.M, work.block.B
    if at < 0:
        return misfit(data, work)
    for b in range(own * own):
        M[b] = work.block.within[data.square[work.node] + b]
    for a in range(size):  # the factor of Q, and beside it inv(factor) C, row by row
        for b in range(a + 1):
            entry = 0.0
            for r in range(at + a, work.block.rows):
                entry += K[r * D + at + a] * K[r * D + at + b]
            for t in range(b):
                entry -= L[a * size + t] * L[b * size + t]
            L[a * size + b] = sqrt(entry) if a == b else entry / L[b * size + b]
        for b in range(own):
            entry = 0.0
            for r in range(at + a, work.block.rows):
                entry += K[r * D + at + a] * work.block.V[r * D + data.first[work.node] + b]
            for t in range(a):
                entry -= L[a * size + t] * B[t * own + b]
            B[a * own + b] = entry / L[a * size + a]
        for b in range(own):
            for c in range(own):
                M[b * own + c] += B[a * own + b] * B[a * own + c]
    return misfit_of(data, work, M, 0)
