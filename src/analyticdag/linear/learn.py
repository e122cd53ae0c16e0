"""From statistics to a DAG: the path, the search, or one after the other.

    solver, refine    what is done
    "auto", True      search from cheap orders; from the path's where it can matter (`auto`)
    "auto", False     follow the path; threshold, break cycles
    "order"           search from cheap orders
    path, False       follow the path; threshold, break cycles
    path, True        follow the path; search from its order and from cheap ones

Under `loss="auto"` it is done for equal and for unequal variances, and BIC chooses; the second
search is left out where the first prefers equal ones and its residual variances agree
(`choice.variances_agree`).

The search under unequal variances does not depend on the units of the columns. With that loss its
starts do not either: path and cheap orders see columns of variance one (`paths.path_statistics`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from analyticdag._typing import IntArray
from analyticdag.fitting.finish import Finished, finish
from analyticdag.fitting.placement import Placement, to_float64
from analyticdag.fitting.statistics import Statistics
from analyticdag.graphs import topological_order
from analyticdag.knowledge import EdgeMasks
from analyticdag.least_squares import weights_on_parents
from analyticdag.linear.auto import Plan, after_the_search, before_the_search
from analyticdag.linear.choice import (
    EQUAL,
    UNEQUAL,
    LossChoice,
    choose_loss,
    variances_agree,
)
from analyticdag.linear.options import Options
from analyticdag.linear.paths import learn_path, path_options, path_statistics
from analyticdag.linear.refine import further_starts, refine
from analyticdag.optimize.trace import SearchRecord, Status, Trace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Learned:
    """A DAG and how it was found."""

    finished: Finished
    loss: str
    trace: Trace
    status: Status
    n_iter: int
    choice: LossChoice | None = None


def learn(statistics: Statistics, options: Options, masks: EdgeMasks, place: Placement) -> Learned:
    """Learn a DAG as the options say."""
    if options.refine:
        return _searched(statistics, options, masks, place)
    if options.loss != "auto":
        return _path(statistics, options, masks, place)
    equal, unequal = (
        _path(statistics, replace(options, loss=loss), masks, place) for loss in (EQUAL, UNEQUAL)
    )
    # The path's weights are shrunk, these are not.
    refitted = [
        weights_on_parents(statistics.moments, one.finished.adjacency) for one in (equal, unequal)
    ]
    choice = choose_loss(statistics, *refitted)
    return replace(equal if choice.loss == EQUAL else unequal, choice=choice)


def _path(statistics: Statistics, options: Options, masks: EdgeMasks, place: Placement) -> Learned:
    """Follow the path and make a DAG of where it ends."""
    path = learn_path(statistics, options, masks, place)
    finished = finish(to_float64(path.weights), options.w_threshold, masks)
    status = path.status
    if status is Status.CONVERGED and finished.on_cycles:
        status = Status.CYCLES_LEFT
    return Learned(finished, options.loss, path.trace, status, path.n_steps)


def _searched(
    statistics: Statistics, options: Options, masks: EdgeMasks, place: Placement
) -> Learned:
    """Search over orders, from the path's order too where there is a path."""
    searched = _Search(statistics, options, masks, place)
    plan = before_the_search(statistics) if options.auto else None
    if options.minimiser is not None and (plan is None or plan.path):
        searched.follow_path()
    found = searched.search()
    if plan is not None and not plan.path:
        record = next(one for one in found.trace.search if one.loss == found.loss)
        plan = after_the_search(statistics, record, iterated=found.loss == UNEQUAL)
        found = searched.search_again(found, plan)
    if plan is not None:
        found = replace(found, trace=replace(found.trace, plan=plan.why))
        if options.verbose:
            logger.info("%s", plan.why)
    return found


class _Search:
    """One fit by search: what is searched, and the path that starts it if there is one."""

    def __init__(
        self, statistics: Statistics, options: Options, masks: EdgeMasks, place: Placement
    ) -> None:
        self.statistics, self.options = statistics, options
        self.masks, self.place = masks, place
        self.trace, self.n_iter = Trace(), 0
        self.starts: dict[str, IntArray] = {}

    def follow_path(self) -> None:
        """Take the path's order for a start; whether the path met its tolerance does not matter."""
        seen = path_statistics(self.statistics, self.options)
        path = _path(seen, path_options(self.options, seen), self.masks, self.place)
        self.starts["path"] = topological_order(path.finished.adjacency)
        self.trace, self.n_iter = path.trace, path.n_iter

    def search(self) -> Learned:
        """Search from the path's order, if there is one, and from cheap ones."""
        given = self.statistics, self.options, self.masks, self.starts
        if self.options.loss == "auto":
            finished, records, choice = _searched_for_both(*given)
        else:
            finished, record = refine(*given, self.options.loss)
            records, choice = (record,), None
        loss = self.options.loss if choice is None else choice.loss
        return self._learned(finished, loss, records, choice)

    def search_again(self, found: Learned, plan: Plan) -> Learned:
        """Search from the path, or from further random orders, and keep the better graph."""
        if plan.path:
            self.follow_path()
        elif plan.again:
            self.starts |= further_starts(self.statistics, self.masks, self.options.seed)
        else:
            return found
        best = {"best so far": topological_order(found.finished.adjacency)}
        options = replace(self.options, seed=self.options.seed + 1)
        given = self.statistics, options, self.masks, best | self.starts
        finished, record = refine(*given, found.loss, cheap=False)
        before = next(one for one in found.trace.search if one.loss == found.loss)
        better = record.score < before.score
        records = (*found.trace.search, record)
        return self._learned(
            finished if better else found.finished, found.loss, records, found.choice
        )

    def _learned(
        self,
        finished: Finished,
        loss: str,
        records: tuple[SearchRecord, ...],
        choice: LossChoice | None,
    ) -> Learned:
        n_iter = self.n_iter or sum(len(record.contributions) for record in records)
        trace = self.trace.searched(records)
        return Learned(finished, loss, trace, Status.SEARCHED, n_iter, choice)


def _searched_for_both(
    statistics: Statistics, options: Options, masks: EdgeMasks, starts: dict[str, IntArray]
) -> tuple[Finished, tuple[SearchRecord, ...], LossChoice]:
    """Search under equal variances, and under unequal ones unless the first settles it.

    Where the variances are equal the second search is by far the longer, and needless. On
    standardised data the first is: it could not be accepted.
    """
    if statistics.looks_standardised:
        unequal, record = refine(statistics, options, masks, starts, UNEQUAL)
        return unequal, (record,), choose_loss(statistics, unequal.weights, unequal.weights)
    equal, record = refine(statistics, options, masks, starts, EQUAL)
    choice = choose_loss(statistics, equal.weights, equal.weights)
    if choice.loss == EQUAL and variances_agree(statistics, equal.weights):
        return equal, (record,), choice
    unequal, other = refine(statistics, options, masks, starts, UNEQUAL)
    choice = choose_loss(statistics, equal.weights, unequal.weights)
    return equal if choice.loss == EQUAL else unequal, (record, other), choice
