"""Regression of one node on a set of parents that gains and loses members.

For the current members P a `Bench` keeps the Cholesky factor of their covariance, the weights of
the node on them and, for *every* variable i,

    link[i]   = cov(i, node | P)      the covariance with the node's residual
    spread[i] = var(i | P)            the variance P leaves unexplained

so that link[i]**2 / spread[i] is what i would explain as a further parent, for all i at once.
`toggle` puts a variable in or takes it out at a cost of |P| * d: a rank-one up- or down-date
instead of a new factorisation. Members have link = spread = 0; the node itself has
link = spread = its residual variance.

Updating the *inverse* of the covariance instead would be shorter, and useless: with hubs, parents
are collinear to nine digits, and the errors of an inverse feed on each other.
"""

from __future__ import annotations

import numpy as np

from analyticdag._jit import helper, part
from analyticdag._typing import FloatArray
from analyticdag.search.tables import Bench, Task


@part
def clear(task: Task, bench: Bench, node: int) -> None:
    """Start the regression of `node` on nothing."""
    S, at, link, spread = task.S, task.at[node], bench.link, bench.spread
    for a in range(bench.size):
        bench.slot[bench.members[a]] = -1
    bench.size, bench.at = 0, at
    for i in range(len(link)):
        link[i] = S[at + node, i]
        spread[i] = S[at + i, i]


@part
def solve(bench: Bench, v: FloatArray) -> None:
    """Replace v by (covariance of the members)^-1 v: one solve with the factor, one transposed."""
    L, k = bench.factor, bench.size
    for a in range(k):
        total = v[a]
        for b in range(a):
            total -= L[a, b] * v[b]
        v[a] = total / L[a, a]
    for a in range(k - 1, -1, -1):
        v[a] /= L[a, a]
        for b in range(a):
            v[b] -= L[a, b] * v[a]


@helper
def aim(task: Task, bench: Bench, p: int, gone: int) -> None:
    """Residual of p on the other members: as a mix of members, and its covariances w."""
    S, at, mix, members = task.S, bench.at, bench.mix, bench.members
    w, k = bench.direction, bench.size
    for a in range(k):
        mix[a] = -S[at + p, members[a]] if gone < 0 else 0.0
    if gone >= 0:
        mix[gone] = 1.0
    solve(bench, mix)
    share = 1.0 if gone < 0 else mix[gone]
    for i in range(len(w)):
        w[i] = S[at + p, i] if gone < 0 else 0.0
    for a in range(k):
        mix[a] /= share
        factor, q = mix[a], at + members[a]
        for i in range(len(w)):
            w[i] += factor * S[q, i]


@helper
def append(task: Task, bench: Bench, p: int) -> None:
    """Give the newcomer a row of the factor and a place among the members."""
    L, k, w = bench.factor, bench.size, bench.direction
    for a in range(k):  # row of the factor: solve L y = cov(members, p)
        total = task.S[bench.at + p, bench.members[a]]
        for b in range(a):
            total -= L[a, b] * L[k, b]
        L[k, a] = total / L[a, a]
    L[k, k] = np.sqrt(w[p])
    bench.members[k] = p
    bench.slot[p] = k
    bench.size = k + 1


@helper
def remove(bench: Bench, p: int, gone: int) -> None:
    """Take a row out of the factor; rotations make it triangular again."""
    L, last = bench.factor, bench.size - 1
    for a in range(gone, last):
        for b in range(a + 2):
            L[a, b] = L[a + 1, b]
        bench.weights[a], bench.sharp[a] = bench.weights[a + 1], bench.sharp[a + 1]
        bench.members[a] = bench.members[a + 1]
        bench.slot[bench.members[a]] = a
    for a in range(gone, last):
        length = np.hypot(L[a, a], L[a, a + 1])
        c, s = L[a, a] / length, L[a, a + 1] / length
        L[a, a] = length
        for b in range(a + 1, last):
            x, y = L[b, a], L[b, a + 1]
            L[b, a], L[b, a + 1] = c * x + s * y, c * y - s * x
    bench.slot[p] = -1
    bench.size = last


@part
def toggle(task: Task, bench: Bench, p: int) -> None:
    """Put variable p into the members, or take it out if it is one.

    A newcomer must have spread[p] > floor[p]. With w[i] = cov(i, p | the other members), coming in
    means link -= (weight of p) w and spread -= w^2 / w[p]; going out means the opposite.
    """
    weights, sharp, mix, w = bench.weights, bench.sharp, bench.mix, bench.direction
    link, spread, gone, k = bench.link, bench.spread, bench.slot[p], bench.size
    aim(task, bench, p, gone)
    w[p] = max(w[p], task.floor[p])
    scale, weight = 1.0 / w[p], link[p] / w[p]
    if gone >= 0:
        scale, weight = -scale, -weights[gone]
    for a in range(k):
        weights[a] += mix[a] * weight
        sharp[a] += mix[a] * mix[a] * scale
    for i in range(len(w)):
        link[i] -= weight * w[i]
        spread[i] -= scale * w[i] * w[i]
    if gone < 0:
        weights[k], sharp[k] = weight, scale
        append(task, bench, p)
    else:
        remove(bench, p, gone)
    for a in range(bench.size):  # zero but for rounding
        link[bench.members[a]] = 0.0
        spread[bench.members[a]] = 0.0
