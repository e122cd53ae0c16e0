"""Scores of nodes by counts: every combination of parents has shares of its own.

With N the counts of the levels of node j in each combination of its parents P, and M their sums,

    score of j  =  -2 Σ N log(N / M)  +  2 (cost(Q r) - cost(Q))  +  price |P|

where j has r levels and P has Q combinations. cost(K) is what it takes to describe K shares that
were learned from n rows: the logarithm of the normaliser of a multinomial distribution, in the
approximation of Szpankowski and Weinberger (2012). This is quotient normalised maximum likelihood
(Silander, Leppä-aho, Jääsaari and Roos 2018). Equivalent graphs have the
same score, and combinations that hardly ever come cost less than by BIC. Where there are nearly as
many shares as rows, cost(K) would grow by less than what accidents explain; from n/6 shares on,
each costs as much as the last before. Two parents may come at once where neither is worth it alone.

Rows that are alike are one row with a number. A score once counted is kept under a key, the code of
the node and those of its parents combined by "exclusive or"; a later score may take its slot. All
searches share what is kept, in several threads: the key is kept combined with the value, so that a
half-written pair belongs to no key and is counted again.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag._compiled.libc import log, log1p, sqrt
from analyticdag.search.steps.blocks import list_or_strike
from analyticdag.search.steps.given import GAIN, Data, Rules, forbidden
from analyticdag.search.steps.records import SLOTS, Regression

# Scores are whole numbers of this fraction, below GAIN: whole numbers add up to the same in any
# order, so no score depends on the way it was counted. The largest is 1e11.
FRACTION = 67108864.0
# From a sixth of a share for each row on, each costs as much as the last before. Where columns are
# independent the exact cost bought 12 edges a table (ten levels, 300 rows). Chosen on own tables
# beside a quarter and an eighth: docs/design/categories.md.
DENSE = 0.1666666666666667
# More combinations than this count as so many: by then a parent costs far more than it can explain.
MOST_STATES = 1e8


@cython.part
def begin_counts(data: Data, work: Regression, node: cython.Py_ssize_t) -> cython.void:
    """Begin with no members."""
    work.count.key = data.target_code[node]


@cython.part
def cost(n: cython.double, shares: cython.double) -> cython.double:
    """What it costs to describe so many shares, learned from n rows."""
    if shares <= 1.0:
        return 0.0
    dense: cython.double = max(DENSE * n, 4.0)
    if shares > dense:
        least: cython.double = below_dense(n, dense)
        return least + (shares - dense) * (least - below_dense(n, dense - 1.0))
    return below_dense(n, shares)


@cython.part
def below_dense(n: cython.double, shares: cython.double) -> cython.double:
    """The logarithm of the normaliser, within 0.1 of the exact sum."""
    a = shares / n
    above = 2.0 / a / (sqrt(1.0 + 4.0 / a) + 1.0)  # C - 1, where C is as in the paper
    found: cython.double = n * (log(a) + (a + 2.0) * log1p(above) - 1.0 / (1.0 + above))
    found -= 0.5 * log(1.0 + above + 2.0 / a)
    return found


@cython.part
def numbered(
    data: Data,
    label: cython.p_longlong,
    combination: cython.p_longlong,
    finer: cython.p_longlong,
    number: cython.Py_ssize_t,
    p: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Number the combinations that come in the rows when p is added to so many; how many."""
    rows, levels, at = data.rows, data.levels[p], p * data.rows
    for c in range(number * levels):
        label[c] = -1
    found: cython.Py_ssize_t = 0
    for r in range(rows):
        c = combination[r] * levels + data.X[at + r]
        if label[c] < 0:
            label[c] = found
            found += 1
        finer[r] = label[c]
    return found


@cython.part
def combine_members(data: Data, work: Regression, skipped: cython.Py_ssize_t) -> cython.void:
    """Number the combinations of the members, but for one, that come in the rows."""
    key = work.count.key ^ data.code[skipped]
    if work.count.held == key:
        return
    combination, number = work.count.combination, 1
    states: cython.double = 1.0
    for r in range(data.rows):
        combination[r] = 0
    for a in range(work.size):
        p = work.members[a]
        if p != skipped:
            number = numbered(data, work.count.cells, combination, combination, number, p)
            states = min(states * data.levels[p], MOST_STATES)
    work.count.held, work.count.number, work.count.states = key, number, states


@cython.part
def counted_value(data: Data, work: Regression, extra: cython.Py_ssize_t) -> cython.longlong:
    """Score of the node, prices left out, given the combinations at hand and one more parent."""
    rows, own, levels = data.rows, data.levels[work.node], 1
    cells, combination, number = work.count.cells, work.count.combination, work.count.number
    states: cython.double = work.count.states
    mine, other = work.node * rows, extra * rows
    if extra < data.d:
        levels = data.levels[extra]
        states = min(states * levels, MOST_STATES)
    if number * levels * own > data.room:
        number = numbered(data, cells, combination, work.count.finer, number, extra)
        combination, levels = work.count.finer, 1
    for c in range(number * levels * own):
        cells[c] = 0
    if levels > 1:
        for r in range(rows):
            c = combination[r] * levels + data.X[other + r]
            cells[c * own + data.X[mine + r]] += data.times[r]
    else:
        for r in range(rows):
            cells[combination[r] * own + data.X[mine + r]] += data.times[r]
    total: cython.longlong = 0
    for c in range(number * levels):
        together: cython.longlong = 0
        for b in range(own):
            count = cells[c * own + b]
            total -= data.n_log_n[count]
            together += count
        total += data.n_log_n[together]
    n = data.n[work.node]
    paid = (cost(n, states * own) - cost(n, states)) * FRACTION
    return 2 * (total + cython.cast(cython.longlong, paid))


@cython.part
def count_value(
    data: Data, work: Regression, skipped: cython.Py_ssize_t, extra: cython.Py_ssize_t
) -> cython.double:
    """Score of the node, prices left out, without one of the members and with one more parent.

    `Data.d` stands for nobody.
    """
    key = work.count.key ^ data.code[skipped] ^ data.code[extra]
    slot = key & (SLOTS - 1)
    value = data.kept_values[slot]
    if data.kept_keys[slot] != key ^ value:
        combine_members(data, work, skipped)
        value = counted_value(data, work, extra)
        data.kept_values[slot], data.kept_keys[slot] = value, key ^ value
    return value / FRACTION


@cython.part
def count_score(data: Data, rules: Rules, work: Regression) -> cython.double:
    """Score of the node given the members."""
    return count_value(data, work, data.d, data.d) + rules.price * work.size


@cython.part
def with_count(data: Data, rules: Rules, work: Regression, p: cython.Py_ssize_t) -> cython.double:
    """Score of the node if p came to the members, the prices of the others left out."""
    return count_value(data, work, data.d, p) + rules.price


@cython.part
def toggle_count(data: Data, work: Regression, p: cython.Py_ssize_t) -> cython.void:
    """Put p into the members, or take it out if it is one."""
    work.count.key = work.count.key ^ data.code[p]
    list_or_strike(work, p)


@cython.part
def take_pair(
    data: Data,
    rules: Rules,
    order: cython.p_longlong,
    work: Regression,
    n_candidates: cython.Py_ssize_t,
) -> cython.bint:
    """Take the two candidates that together lower the score most, where one alone does not."""
    first, second, nobody = -1, -1, data.d
    best = count_value(data, work, nobody, nobody) - GAIN
    for s in range(n_candidates):
        i = order[s]
        if work.slot[i] >= 0 or forbidden(data, i, work.node):
            continue
        toggle_count(data, work, i)
        for t in range(s):
            k = order[t]
            if work.slot[k] < 0 and not forbidden(data, k, work.node):
                there = count_value(data, work, nobody, k) + 2.0 * rules.price
                if there < best:
                    best, first, second = there, i, k
        toggle_count(data, work, i)
    if first >= 0:
        toggle_count(data, work, first)
        toggle_count(data, work, second)
    return first >= 0
