"""Parents of one node for a given set of candidates: grow while a parent pays, then shrink.

Growing takes the candidate that explains most; shrinking drops the member that is missed least.
Both only take steps that lower the score, so the alternation ends. There is no limit on the number
of parents except `Task.cap`. Required parents are put in first and never dropped.
"""

from __future__ import annotations

import numpy as np

from analyticdag._jit import helper, part
from analyticdag.search.regression import clear, toggle
from analyticdag.search.tables import COLLINEAR, Bench, Task

# Steps must beat their price by this share: rounding must not make grow and shrink alternate.
MARGIN = 1e-9
# A residual variance of this many noise variances says that parents are missing,
FAR = 1.6
# and a parent that explains less than this many standard errors, squared, may be an accident.
FAINT = 14.0
PATIENT = 1 << 62


@part
def misfit(task: Task, node: int, residual: float) -> float:
    """Contribution of a node with this residual variance, without the price of its parents."""
    n: float = task.n[node]
    units: float = residual / task.noise[0] if task.equal else np.log(max(residual, COLLINEAR))
    return n * units


@part
def hurdle(task: Task, node: int, residual: float) -> float:
    """What a parent of `node` must explain to be worth its price; `residual` is without it."""
    price: float = task.price[node]
    return price * (task.noise[0] if task.equal else max(residual, COLLINEAR))


@part
def best_candidate(task: Task, bench: Bench, node: int, n_candidates: int) -> int:
    """The candidate that explains most, if it is worth its price; otherwise -1."""
    order, floor, forbidden = task.order, task.floor, task.forbidden
    link, spread = bench.link, bench.spread
    best, chosen = hurdle(task, node, link[node]) * (1.0 + MARGIN), -1
    for t in range(n_candidates):
        i = order[t]
        if link[i] * link[i] > best * spread[i] and spread[i] > floor[i] and not forbidden[i, node]:
            best, chosen = link[i] * link[i] / spread[i], i
    return chosen


@part
def weakest_member(task: Task, bench: Bench, node: int) -> int:
    """The member that is missed least, if it is not worth its price; otherwise -1."""
    weights, sharp, members = bench.weights, bench.sharp, bench.members
    least, chosen = np.inf, -1
    for a in range(bench.size):
        rise = weights[a] * weights[a] / sharp[a]
        if rise < least and not task.required[members[a], node]:
            least, chosen = rise, members[a]
    if least >= hurdle(task, node, bench.link[node] + least) * (1.0 - MARGIN):
        chosen = -1
    return chosen


@helper
def is_faint(task: Task, bench: Bench, node: int, chosen: int) -> bool:
    """Whether a parent would not pay if the residual variance, far from the noise, were noise."""
    residual, explains = bench.link[node], bench.link[chosen] ** 2 / bench.spread[chosen]
    far = bool(residual > FAR * task.noise[0])
    return far and bool(task.n[node] * explains < FAINT * residual)


@part
def grow_shrink(task: Task, bench: Bench, node: int, n_candidates: int) -> float:
    """Alternate growing and shrinking until neither pays; the score of the node.

    Candidates are the first `n_candidates` nodes of the order. Of the parents that pay at the
    noise level but not at the node's present residual variance, no more than `Task.patience` are
    taken: a node whose real parents are not among the candidates would take hundreds.
    """
    shrunk, faint = True, 0
    while shrunk:
        while bench.size < task.cap and faint <= task.patience[0]:
            chosen = best_candidate(task, bench, node, n_candidates)
            if chosen < 0:
                break
            faint += is_faint(task, bench, node, chosen)
            toggle(task, bench, chosen)
        shrunk = False
        while bench.size > 0:
            chosen = weakest_member(task, bench, node)
            if chosen < 0:
                break
            toggle(task, bench, chosen)
            shrunk = True
    return misfit(task, node, bench.link[node]) + task.penalty * bench.size


@helper
def select(task: Task, bench: Bench, node: int, n_candidates: int) -> float:
    """Parents of `node` among the first nodes of the order, from scratch; the score."""
    clear(task, bench, node)
    for t in range(n_candidates):
        i = task.order[t]
        if task.required[i, node] and bench.spread[i] > task.floor[i]:
            toggle(task, bench, i)
    return grow_shrink(task, bench, node, n_candidates)
