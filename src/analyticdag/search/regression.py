"""Regression of one node on a set of parents that gains and loses members.

For the current members P a `Bench` keeps the inverse of their covariance, the weights of the node
on them and, for *every* variable i,

    link[i]   = cov(i, node | P)      the covariance with the node's residual
    spread[i] = var(i | P)            the variance P leaves unexplained

so that link[i]**2 / spread[i] is what i would explain as a further parent, for all i at once.
`toggle` puts a variable in or takes it out at a cost of |P| * d: a rank-one up- or down-date
instead of a new factorisation. Members have link = spread = 0; the node itself has
link = spread = its residual variance.
"""

from __future__ import annotations

from analyticdag._jit import helper, kernel
from analyticdag.search.tables import Bench, Task


@helper
def clear(task: Task, bench: Bench, node: int) -> None:
    """Start the regression of `node` on nothing."""
    S, link, spread = task.S, bench.link, bench.spread
    for a in range(bench.size):
        bench.slot[bench.members[a]] = -1
    bench.size = 0
    for i in range(len(S)):
        link[i] = S[node, i]
        spread[i] = S[i, i]


@helper
def mix_of(task: Task, bench: Bench, p: int, gone: int) -> None:
    """p's weights on the members; for a member, p minus its regression on the others."""
    S, inverse, mix, members, k = task.S, bench.inverse, bench.mix, bench.members, bench.size
    for a in range(k):
        total = 0.0
        if gone < 0:
            for b in range(k):
                total -= inverse[a, b] * S[p, members[b]]
        else:
            total = inverse[gone, a] / inverse[gone, gone]
        mix[a] = total


@helper
def direction_of(task: Task, bench: Bench, p: int, gone: int) -> None:
    """w[i] = cov(i, p | the other members)."""
    S, mix, members, w = task.S, bench.mix, bench.members, bench.direction
    own = 1.0 if gone < 0 else 0.0
    for i in range(len(w)):
        w[i] = own * S[p, i]
    for a in range(bench.size):
        factor, q = mix[a], members[a]
        for i in range(len(w)):
            w[i] += factor * S[q, i]


@helper
def append(bench: Bench, p: int, scale: float, weight: float) -> None:
    """Give the newcomer its row in the inverse and its place among the members."""
    k, inverse = bench.size, bench.inverse
    for a in range(k):
        inverse[a, k] = inverse[k, a] = bench.mix[a] * scale
    inverse[k, k] = scale
    bench.weights[k] = weight
    bench.members[k] = p
    bench.slot[p] = k
    bench.size = k + 1


@helper
def remove(bench: Bench, p: int, gone: int) -> None:
    """Let the last member take the place of the one that leaves."""
    last, inverse = bench.size - 1, bench.inverse
    for a in range(last + 1):
        inverse[gone, a] = inverse[last, a]
    for a in range(last + 1):
        inverse[a, gone] = inverse[a, last]
    bench.weights[gone] = bench.weights[last]
    bench.members[gone] = bench.members[last]
    bench.slot[bench.members[gone]] = gone
    bench.slot[p] = -1
    bench.size = last


@kernel
def toggle(task: Task, bench: Bench, p: int) -> None:
    """Put variable p into the members, or take it out if it is one.

    A newcomer must have spread[p] > floor[p]. With w[i] = cov(i, p | the other members), coming in
    means link -= (weight of p) w and spread -= w^2 / w[p]; going out means the opposite.
    """
    inverse, weights, mix, w = bench.inverse, bench.weights, bench.mix, bench.direction
    link, spread, gone, k = bench.link, bench.spread, bench.slot[p], bench.size
    mix_of(task, bench, p, gone)
    direction_of(task, bench, p, gone)
    if gone < 0:
        scale = 1.0 / w[p]
        weight = link[p] * scale
    else:
        scale = -inverse[gone, gone]
        weight = -weights[gone]
    for a in range(k):
        weights[a] += mix[a] * weight
        factor = mix[a] * scale
        for b in range(k):
            inverse[a, b] += factor * mix[b]
    for i in range(len(w)):
        link[i] -= weight * w[i]
        spread[i] -= scale * w[i] * w[i]
    if gone < 0:
        append(bench, p, scale, weight)
    else:
        remove(bench, p, gone)
    for a in range(bench.size):  # zero but for rounding
        link[bench.members[a]] = 0.0
        spread[bench.members[a]] = 0.0
