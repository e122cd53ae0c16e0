"""Regression of one node on members that come and go, and its parents by growing and shrinking.

`toggle` puts a variable in or takes it out by a rank-one up- or down-date instead of a new
factorisation. Growing takes the candidate that explains most; shrinking drops the member that is
missed least. Both only take steps that lower the score, so the alternation ends. There is no limit
on the number of parents except `Rules.cap`. Required parents are put in first and never dropped.
Where nodes are blocks of columns, `blocks.py` does the arithmetic, and `counts.py` where the levels
of all nodes are counted.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import hypot, log, sqrt
from analyticdag.search.steps.blocks import begin_block, block_score, toggle_block
from analyticdag.search.steps.by_score import (
    best_by_score,
    score_now,
    score_with,
    weakest_by_score,
)
from analyticdag.search.steps.counts import begin_counts, count_score, take_pair, toggle_count
from analyticdag.search.steps.given import COLLINEAR, GAIN, Data, Rules, Stop, forbidden, required
from analyticdag.search.steps.records import Regression, State

# Steps must beat their price by this share: rounding must not make grow and shrink alternate.
MARGIN = 1e-9
# A residual variance of this many noise variances says that parents are missing: 13 standard
# errors, sqrt(2 / n) each, at 1,000 rows.
FAR = 1.6
# A parent that explains less than this many standard errors, squared, may then be an accident: one
# in 5,000 candidates exceeds it by chance.
FAINT = 14.0


@cython.part
def clear(data: Data, work: Regression, node: cython.Py_ssize_t) -> cython.void:
    """Start the regression of `node` on nothing."""
    d = data.d
    at = data.at[node]
    S = data.S
    link = work.link
    spread = work.spread
    for a in range(work.size):
        work.slot[work.members[a]] = -1
    work.size, work.node, work.at = 0, node, at
    if data.blocks:
        begin_block(data, work, node)
        return
    if data.counts:
        begin_counts(data, work, node)
        return
    for i in range(d):
        link[i] = S[at + node * d + i]
    for i in range(d):
        spread[i] = S[at + i * d + i]


@cython.part
def solve(work: Regression, v: cython.p_double) -> cython.void:
    """Replace v by (covariance of the members)^-1 v: one solve with the factor, one transposed."""
    L = work.factor
    for a in range(work.size):
        row, total = a * work.width, v[a]
        for b in range(a):
            total -= L[row + b] * v[b]
        v[a] = total / L[row + a]
    for a in range(work.size - 1, -1, -1):
        row = a * work.width
        total = v[a] / L[row + a]
        v[a] = total
        for b in range(a):
            v[b] -= L[row + b] * total


@cython.part
def combine(data: Data, work: Regression) -> cython.void:
    """Add to the direction the members' rows of S, mixed; four at a time: it is read less often."""
    a = 0
    d = data.d
    S = data.S
    w = work.direction
    mix = work.mix
    while a + 4 <= work.size:
        p, q = work.at + work.members[a] * d, work.at + work.members[a + 1] * d
        r, s = work.at + work.members[a + 2] * d, work.at + work.members[a + 3] * d
        for i in range(d):
            w[i] = (
                ((w[i] + mix[a] * S[p + i]) + mix[a + 1] * S[q + i]) + mix[a + 2] * S[r + i]
            ) + mix[a + 3] * S[s + i]
        a += 4
    while a < work.size:
        p = work.at + work.members[a] * d
        for i in range(d):
            w[i] += mix[a] * S[p + i]
        a += 1


@cython.part
def aim(data: Data, work: Regression, p: cython.Py_ssize_t, gone: cython.Py_ssize_t) -> cython.void:
    """Residual of p on the other members: as a mix of members, and its covariances."""
    row = work.at + p * data.d
    S = data.S
    w = work.direction
    mix = work.mix
    if gone < 0:
        for a in range(work.size):
            mix[a] = -S[row + work.members[a]]
        solve(work, mix)
        for i in range(data.d):
            w[i] = S[row + i]
    else:
        for a in range(work.size):
            mix[a] = 0.0
        mix[gone] = 1.0
        solve(work, mix)
        share = mix[gone]
        for a in range(work.size):
            mix[a] /= share
        for i in range(data.d):
            w[i] = 0.0
    combine(data, work)


@cython.part
def append(data: Data, work: Regression, p: cython.Py_ssize_t) -> cython.void:
    """Give the newcomer a row of the factor and a place among the members."""
    L = work.factor
    k = work.size
    new = k * work.width
    for a in range(k):  # row of the factor: solve L y = cov(members, p)
        row = a * work.width
        total = data.S[work.at + p * data.d + work.members[a]]
        for b in range(a):
            total -= L[row + b] * L[new + b]
        L[new + a] = total / L[row + a]
    L[new + k] = sqrt(work.direction[p])
    work.members[k], work.slot[p] = p, k
    work.size = k + 1


@cython.part
def remove(work: Regression, p: cython.Py_ssize_t, gone: cython.Py_ssize_t) -> cython.void:
    """Take a row out of the factor; rotations make it triangular again."""
    L = work.factor
    m = work.width
    last = work.size - 1
    for a in range(gone, last):
        for b in range(a + 2):
            L[a * m + b] = L[(a + 1) * m + b]
        work.weights[a], work.sharp[a] = work.weights[a + 1], work.sharp[a + 1]
        work.members[a] = work.members[a + 1]
        work.slot[work.members[a]] = a
    for a in range(gone, last):
        x, y = L[a * m + a], L[a * m + a + 1]
        length = hypot(x, y)
        c, s = x / length, y / length
        L[a * m + a] = length
        for b in range(a + 1, last):
            row = b * m + a
            x, y = L[row], L[row + 1]
            L[row], L[row + 1] = c * x + s * y, c * y - s * x
    work.slot[p] = -1
    work.size = last


@cython.part
def toggle(data: Data, work: Regression, p: cython.Py_ssize_t) -> cython.void:
    """Put variable p into the members, or take it out if it is one, at a cost of |P| * d.

    A newcomer must have spread[p] > floor[p]. With w[i] = cov(i, p | the other members), coming in
    means link -= (weight of p) w and spread -= w^2 / w[p]; going out means the opposite.
    """
    if data.blocks:
        toggle_block(data, work, p)
        return
    if data.counts:
        toggle_count(data, work, p)
        return
    w = work.direction
    link = work.link
    spread = work.spread
    k = work.size
    gone = work.slot[p]
    aim(data, work, p, gone)
    w[p] = max(w[p], data.floor[p])
    scale, weight = 1.0 / w[p], link[p] / w[p]
    if gone >= 0:
        scale, weight = -scale, -work.weights[gone]
    for a in range(k):
        work.weights[a] += work.mix[a] * weight
        work.sharp[a] += work.mix[a] * work.mix[a] * scale
    for i in range(data.d):
        link[i] -= weight * w[i]
        spread[i] -= scale * w[i] * w[i]
    if gone < 0:
        work.weights[k], work.sharp[k] = weight, scale
        append(data, work, p)
    else:
        remove(work, p, gone)
    for a in range(work.size):  # zero but for rounding
        link[work.members[a]] = 0.0
        spread[work.members[a]] = 0.0


@cython.part
def score(data: Data, rules: Rules, work: Regression) -> cython.double:
    """Score of the node with its members: misfit and price."""
    if data.blocks:
        return block_score(data, rules, work)
    if data.counts:
        return count_score(data, rules, work)
    residual = work.link[work.node]
    units = residual / rules.noise if rules.equal else log(max(residual, COLLINEAR))
    total: cython.double = data.n[work.node] * units + rules.price * work.size
    return total


@cython.part
def hurdle(rules: Rules, node: cython.Py_ssize_t, residual: cython.double) -> cython.double:
    """What a parent of `node` must explain to be worth its price; `residual` is without it."""
    base = rules.noise if rules.equal else max(residual, COLLINEAR)
    worth: cython.double = rules.share[node] * base
    return worth


@cython.part
def bar_of(data: Data, rules: Rules, work: Regression) -> cython.double:
    """What a further member must explain; of blocks and counts, the score it must lead below."""
    if not data.plain:
        return score_now(data, work) - GAIN
    return hurdle(rules, work.node, work.link[work.node]) * (1.0 + MARGIN)


@cython.part
def wants(
    data: Data, rules: Rules, work: Regression, u: cython.Py_ssize_t, bar: cython.double
) -> cython.bint:
    """Whether u, which is no member, passes the bar and may be one."""
    if not data.plain:
        open_: cython.bint = work.slot[u] < 0 and not forbidden(data, u, work.node)
        return open_ and score_with(data, rules, work, u) < bar
    square = work.link[u] * work.link[u]
    pays: cython.bint = square > bar * work.spread[u] and work.spread[u] > data.floor[u]
    return pays and not forbidden(data, u, work.node)


@cython.part
def fits_in(data: Data, work: Regression, p: cython.Py_ssize_t) -> cython.bint:
    """Whether p can become a member; blocks that the members determine explain nothing more."""
    return not data.plain or work.spread[p] > data.floor[p]


@cython.part
def best_candidate(
    data: Data,
    rules: Rules,
    order: cython.p_longlong,
    work: Regression,
    node: cython.Py_ssize_t,
    n_candidates: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """The candidate that explains most, if it is worth its price; otherwise -1."""
    if not data.plain:
        return best_by_score(data, rules, order, work, n_candidates)
    link = work.link
    spread = work.spread
    floor = data.floor
    chosen = -1
    best = hurdle(rules, node, link[node]) * (1.0 + MARGIN)
    for t in range(n_candidates):
        i = order[t]
        square = link[i] * link[i]
        if square > best * spread[i] and spread[i] > floor[i] and not forbidden(data, i, node):
            best, chosen = square / spread[i], i
    return chosen


@cython.part
def weakest_member(
    data: Data, rules: Rules, work: Regression, node: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The member that is missed least, if it is not worth its price; otherwise -1."""
    if not data.plain:
        return weakest_by_score(data, rules, work)
    chosen = -1
    least = 0.0
    for a in range(work.size):
        rise = work.weights[a] * work.weights[a] / work.sharp[a]
        if (chosen < 0 or rise < least) and not required(data, work.members[a], node):
            least, chosen = rise, work.members[a]
    if chosen < 0 or least >= hurdle(rules, node, work.link[node] + least) * (1.0 - MARGIN):
        return -1
    return chosen


@cython.part
def is_faint(
    data: Data, rules: Rules, work: Regression, node: cython.Py_ssize_t, chosen: cython.Py_ssize_t
) -> cython.bint:
    """Whether a parent would not pay if the residual variance, far from the noise, were noise."""
    residual = work.link[node]
    explains = work.link[chosen] * work.link[chosen] / work.spread[chosen]
    weak: cython.bint = data.n[node] * explains < FAINT * residual
    return weak and residual > FAR * rules.noise


@cython.part
def grow_shrink(
    data: Data,
    rules: Rules,
    order: cython.p_longlong,
    work: Regression,
    node: cython.Py_ssize_t,
    n_candidates: cython.Py_ssize_t,
    stop: Stop,
) -> cython.double:
    """Alternate growing and shrinking until neither pays; the score of the node.

    Candidates are the first `n_candidates` nodes of the order. Every step lowers the score; where
    rounding says so of steps that undo each other, a round that does not lower it is the last. Of
    the parents that pay at the noise level but not at the node's present residual
    variance, no more than `Rules.patience` are taken: a node whose real parents are not among the
    candidates would take hundreds.
    """
    faint: cython.Py_ssize_t = 0
    shrunk: cython.bint = True
    lowest: cython.double = score(data, rules, work)
    while shrunk:
        while work.size < rules.cap and faint <= rules.patience and not stop.asked:
            chosen = best_candidate(data, rules, order, work, node, n_candidates)
            if chosen < 0:
                break
            faint += rules.equal and is_faint(data, rules, work, node, chosen)
            toggle(data, work, chosen)
        shrunk = False
        while work.size > 0 and not stop.asked:
            chosen = weakest_member(data, rules, work, node)
            if chosen < 0:
                break
            toggle(data, work, chosen)
            shrunk = True
        reached = score(data, rules, work)
        shrunk = shrunk and reached < lowest
        lowest = reached
    return lowest


@cython.part
def select(
    data: Data,
    rules: Rules,
    state: State,
    work: Regression,
    node: cython.Py_ssize_t,
    n_candidates: cython.Py_ssize_t,
    stop: Stop,
) -> cython.double:
    """Parents of `node` among the first nodes of the order, from scratch; the score."""
    clear(data, work, node)
    if data.requires:
        for t in range(n_candidates):
            i = state.order[t]
            if required(data, i, node) and fits_in(data, work, i):
                toggle(data, work, i)
    value = grow_shrink(data, rules, state.order, work, node, n_candidates, stop)
    while data.pairs and work.size + 2 <= rules.cap and not stop.asked:
        if not take_pair(data, rules, state.order, work, n_candidates):
            break
        value = grow_shrink(data, rules, state.order, work, node, n_candidates, stop)
    return value
