"""Who comes and who goes where candidates are judged by the score itself: blocks and counts.

Between columns a candidate is judged by what it explains (`regression.py`). Here the score with it,
or without it, is computed. Prices of the members are left out where they do not change.
"""

from __future__ import annotations

from analyticdag._compiled import cython
from analyticdag.search.steps.blocks import invert, misfit, with_block, without_block
from analyticdag.search.steps.counts import count_value, with_count
from analyticdag.search.steps.given import GAIN, Data, Rules, forbidden, required
from analyticdag.search.steps.records import Regression


@cython.part
def score_now(data: Data, work: Regression) -> cython.double:
    """The score of the node with its members."""
    if data.blocks:
        return misfit(data, work)
    return count_value(data, work, data.d, data.d)


@cython.part
def score_with(data: Data, rules: Rules, work: Regression, u: cython.Py_ssize_t) -> cython.double:
    """The score if u came to the members, with its price."""
    if data.blocks:
        return with_block(data, rules, work, u)
    return with_count(data, rules, work, u)


@cython.part
def best_by_score(
    data: Data,
    rules: Rules,
    order: cython.p_longlong,
    work: Regression,
    n_candidates: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """The candidate that lowers the score most, if one does; otherwise -1."""
    chosen = -1
    best = score_now(data, work) - GAIN
    for t in range(n_candidates):
        i = order[t]
        if work.slot[i] < 0 and not forbidden(data, i, work.node):
            there = score_with(data, rules, work, i)
            if there < best:
                best, chosen = there, i
    return chosen


@cython.part
def weakest_by_score(data: Data, rules: Rules, work: Regression) -> cython.Py_ssize_t:
    """The member whose going lowers the score most, if one does; otherwise -1."""
    chosen = -1
    best = score_now(data, work) - GAIN
    if data.blocks:
        invert(data, work)
    for a in range(work.size):
        i = work.members[a]
        if required(data, i, work.node):
            continue
        if data.blocks:
            there = without_block(data, work, i) - rules.prices[i * data.d + work.node]
        else:
            there = count_value(data, work, i, data.d) - rules.price
        if there < best:
            best, chosen = there, i
    return chosen
