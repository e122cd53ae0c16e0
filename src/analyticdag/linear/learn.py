"""From statistics to a DAG: the path, the search, or one after the other.

    refine=False            1. choose lambda1 and threshold, where the data are asked to
                            2. follow the path
                            3. threshold, break cycles
    refine=True             1. follow the path, where the solver has one; with solver="auto", where
                               it can matter (`auto`)
                            2. search from its order and from cheap ones
                            3. with solver="auto": search on where the first search leaves doubts
                            4. search again without links that a few rows make (`tails`)
                            5. with discrete columns: search them as cuts too (`readings`); where
                               all are discrete, by counts too (`by_counts`)
                            6. turn edges by the shape of the noise (`shape`)

A table with a category has nodes of several columns. Then there is no path, and the search is the
one over blocks of columns, in each reading of its discrete columns (`readings`, `by_counts`).

Under `loss="auto"` it is done for equal and for unequal variances, and BIC chooses (`choice`); the
second search is left out where the first prefers equal ones and its residual variances agree.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import networkx as nx

from analyticdag._typing import BoolArray, IntArray
from analyticdag.effects.families import Families
from analyticdag.fitting.design import Reading
from analyticdag.fitting.finish import Finished, finish
from analyticdag.fitting.placement import to_float64
from analyticdag.graphs import topological_order
from analyticdag.least_squares import weights_on_parents
from analyticdag.linear.auto import PathDecision, after_the_search, before_the_search
from analyticdag.linear.by_counts import counts_instead
from analyticdag.linear.choice import (
    EQUAL,
    LossChoice,
    Residuals,
    barred_beforehand,
    choose_loss,
    variances_agree,
)
from analyticdag.linear.paths import Start, follow_path
from analyticdag.linear.prepare import ROUNDS, Fit
from analyticdag.linear.readings import (
    Read,
    as_far,
    cuts_instead,
    search_readings,
    without_unpaid,
)
from analyticdag.linear.refine import refine, with_floor
from analyticdag.linear.selection import Selection, select
from analyticdag.linear.shape import turn_by_shape
from analyticdag.losses import (
    EqualVariances,
    LeastSquares,
    LossClass,
    LossTraits,
    UnequalVariances,
    loss_traits,
)
from analyticdag.noise_shape import Shaped
from analyticdag.optimize.path import PathState
from analyticdag.optimize.trace import SearchRecord, Status, Trace
from analyticdag.orders import canonical_order, consistent_order
from analyticdag.search import LevelCounts

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Learned:
    """A DAG and how it was found; below `w_threshold` the path's weights were no edges."""

    finished: Finished
    loss: LossTraits
    trace: Trace
    status: Status
    n_iter: int
    w_threshold: float
    choice: LossChoice | None = None
    selection: Selection | None = None
    shaped: Shaped | None = None
    reading: Reading | None = None  # of discrete columns, where it is not that of the fit
    searched_fit: Fit | None = None  # None where nodes are blocks
    apart: BoolArray | None = None  # pairs of blocks that were kept apart

    @property
    def price(self) -> float:
        """What an edge had to be worth in the search; zero without one."""
        return self.trace.edge_price(self.loss.name)

    @property
    def counts(self) -> LevelCounts | None:
        """What was counted, where the graph was found by counts."""
        return None if self.reading is None else self.reading.counts

    def families(self, class_graph: nx.DiGraph) -> Families | None:
        """Count every node with its causes in a class of graphs, where that was found by counts."""
        if self.reading is None or self.reading.counts is None:
            return None
        edges = nx.to_numpy_array(class_graph, weight=None) != 0.0
        return Families.of(self.reading.counts, self.reading.level_values, edges)

    def within(self, fit: Fit) -> Fit:
        """Return the fit that the graph was searched in: without the pairs that were kept apart."""
        if self.searched_fit is not None:
            return self.searched_fit
        return fit if self.apart is None else fit.kept_apart(self.apart)

    def reading_of(self, fit: Fit) -> str | None:
        """Return how discrete columns were read; None without such."""
        taken = self.reading or next(iter(fit.readings), None)
        return None if taken is None else taken.name

    @property
    def has_blocks(self) -> bool:
        """Whether some nodes are categories: blocks of columns."""
        return self.reading is not None and self.searched_fit is None


@dataclass(frozen=True, eq=False)
class _Found:
    """The best graph of a search, under which loss, and the records of all searches."""

    finished: Finished
    loss: LossTraits
    records: tuple[SearchRecord, ...]
    choice: LossChoice | None = None

    @property
    def record(self) -> SearchRecord:
        """Of the first search under the loss that was chosen."""
        return next(one for one in self.records if one.loss == self.loss.name)


def learned_by_path(fit: Fit) -> Learned:
    """Follow the path, and make a DAG of where it ends."""
    statistics, options, start = fit.statistics, fit.options, Start.of(fit)
    lambda1, threshold, selection = options.lambda1, options.w_threshold, None
    if options.to_choose:
        selection, start = select(fit, _loss_of_path(fit), start)
        lambda1, threshold = selection.best.lambda1, selection.best.w_threshold
    losses = (EqualVariances, UnequalVariances) if options.loss is None else (options.loss,)
    ends = []
    for loss in losses:
        path = follow_path(fit, statistics, loss, lambda1, start)
        finished = finish(to_float64(path.weights), threshold, fit.masks)
        dropped = path.status is Status.CONVERGED and finished.on_cycles
        status = Status.CYCLES_LEFT if dropped else path.status
        traits = loss_traits(loss)
        ends.append(Learned(finished, traits, path.trace, status, path.n_steps, threshold))
    best = ends[0]
    if options.loss is None:
        # The path's weights are shrunk, these are not.
        refitted = [weights_on_parents(statistics.moments, e.finished.adjacency) for e in ends]
        choice = choose_loss(*(Residuals(statistics, W) for W in refitted))
        best = replace(ends[0] if choice.loss == EQUAL else ends[1], choice=choice)
    return replace(best, selection=selection)


def learned_by_search(fit: Fit) -> Learned:
    """Search over orders, from the path's order too where there is a path."""
    options = fit.options
    if fit.design is not None and fit.design.is_block.any():
        return _learned_of_blocks(fit)
    before = None
    # A further round is without the links that only a few rows make.
    for rounds_left in reversed(range(ROUNDS + 1)):
        plan, path = PathDecision(options.minimiser is not None), None
        if options.auto:
            plan = before_the_search(fit.statistics)
        if plan.path:
            path = follow_path(fit, fit.for_starts, _loss_of_path(fit), canonical=True)
        found = _search(fit, _order_of(fit, path), before)
        if options.auto and path is None and not found.record.interrupted:
            plan = after_the_search(fit.statistics, found.record)
            if plan.path:
                path = follow_path(fit, fit.for_starts, _loss_of_path(fit), canonical=True)
                found = _search_on(fit, found, _order_of(fit, path))
        doubtful = _unpaid(fit, found) if rounds_left else None
        if doubtful is None:
            break
        before, fit = found, fit.kept_apart(doubtful)
    if plan.why and options.verbose:
        logger.info("%s", plan.why)
    return _ended(fit, found, path, plan)


def _learned_of_blocks(fit: Fit) -> Learned:
    """Search where some nodes are categories, blocks of columns: in each reading, and by counts."""
    read = without_unpaid(fit, search_readings)
    if not read.record.interrupted:
        try:
            read = counts_instead(fit, read.finished.adjacency) or read
        except KeyboardInterrupt:
            read = as_far(read)
    return _learned_from(read, fit.options.w_threshold)


def _unpaid(fit: Fit, found: _Found) -> BoolArray | None:
    """Return the links that only a few rows make, if any; nothing more is asked after Ctrl-C."""
    if any(one.interrupted for one in found.records):
        return None
    equal = found.loss.score == "equal"
    return fit.tails.unpaid(found.finished.weights, found.record.price, equal=equal)


def _ended(fit: Fit, found: _Found, path: PathState | None, plan: PathDecision) -> Learned:
    """Read discrete columns otherwise where that is better, and turn edges by the noise."""
    options = fit.options
    interrupted, instead = any(one.interrupted for one in found.records), None
    if not interrupted:
        try:
            instead = cuts_instead(fit, found.finished.adjacency, found.record.price)
            best = found if instead is None else instead
            instead = counts_instead(fit, best.finished.adjacency) or instead
        except KeyboardInterrupt:
            interrupted = True
    if instead is not None:
        return _learned_from(as_far(instead) if interrupted else instead, options.w_threshold)
    n_iter = path.n_steps if path else sum(len(one.contributions) for one in found.records)
    trace = replace(path.trace if path else Trace(), search=found.records, plan=plan.why)
    finished, shaped = turn_by_shape(fit, found.finished, found.loss, found.record.price)
    return Learned(
        finished,
        found.loss,
        trace,
        Status.INTERRUPTED if interrupted else Status.SEARCHED,
        n_iter,
        options.w_threshold,
        choice=found.choice,
        shaped=shaped,
        searched_fit=fit,
    )


def _learned_from(read: Read, w_threshold: float) -> Learned:
    """Return a graph that was found with a reading of discrete columns of its own."""
    trace = replace(Trace(), search=(read.record,), plan=read.why)
    return Learned(
        read.finished,
        UnequalVariances.traits,
        trace,
        Status.INTERRUPTED if read.record.interrupted else Status.SEARCHED,
        len(read.record.contributions),
        w_threshold,
        reading=read.reading,
        searched_fit=read.searched_fit,
        apart=read.apart,
    )


def _loss_of_path(fit: Fit) -> LossClass:
    """Return the loss of the path.

    Under "auto" the path is only a start of the search, and takes the cheapest loss that can tell
    directions: least squares, or on standardised columns the likelihood.
    """
    if fit.options.loss is not None:
        return fit.options.loss
    return UnequalVariances if fit.for_starts.looks_standardised else LeastSquares


def _order_of(fit: Fit, path: PathState | None) -> dict[str, IntArray]:
    """Return the order in which the path ended, as a start of the search; nothing without one."""
    if path is None:
        return {}
    finished = finish(to_float64(path.weights), fit.options.w_threshold, fit.masks)
    # Among the orders that fit the path, one that does not depend on the places of the columns.
    return {"path": consistent_order(canonical_order(fit.for_starts.S), finished.adjacency)}


def _search(fit: Fit, starts: dict[str, IntArray], before: _Found | None = None) -> _Found:
    """Search under the loss, or under equal and then, unless that settles it, unequal variances.

    The second search takes by far longer, and is left out where equal variances are accepted and
    what is left of the columns agrees with them. The first is left out where equal variances cannot
    be accepted: on standardised data, where the variances differ by far, and where the search
    `before`, among more pairs, has not accepted them.
    """
    statistics = fit.statistics
    equal, unequal = EqualVariances.traits, UnequalVariances.traits
    if fit.options.loss is not None:
        finished, record = refine(fit, fit.options.traits, starts)
        return _Found(finished, fit.options.traits, (record,))
    if before is not None and before.loss is unequal:
        finished, record = refine(fit, unequal, starts)
        return _Found(finished, unequal, (record,), before.choice)
    if barred_beforehand(statistics):
        finished, record = refine(fit, unequal, starts)
        left = Residuals(statistics, finished.weights)
        return _Found(finished, unequal, (record,), choose_loss(left, left))
    # Without a floor on effects, which takes another search: most tables reject equal variances,
    # and this graph with them.
    finished, record = refine(fit, equal, starts, floor=0.0)
    left = Residuals(statistics, finished.weights)
    choice = choose_loss(left, left)
    if choice.loss == EQUAL:
        finished, record = with_floor(fit, equal, starts, (finished, record))
        if finished.weights is not left.W:
            left = Residuals(statistics, finished.weights)
            choice = choose_loss(left, left)
    if record.interrupted or (choice.loss == EQUAL and variances_agree(left)):
        return _Found(finished, equal, (record,), choice)
    other, other_record = refine(fit, unequal, starts)
    choice = choose_loss(left, Residuals(statistics, other.weights))
    records = (record, other_record)
    if choice.loss == EQUAL:
        return _Found(finished, equal, records, choice)
    return _Found(other, unequal, records, choice)


def _search_on(fit: Fit, found: _Found, starts: dict[str, IntArray]) -> _Found:
    """Search from the best graph and from further orders, and keep the better graph."""
    best = {"best so far": topological_order(found.finished.adjacency)}
    finished, record = refine(fit, found.loss, best | starts, like=found.record)
    better = record.score < found.record.score
    return replace(
        found,
        finished=finished if better else found.finished,
        records=(*found.records, record),
    )
