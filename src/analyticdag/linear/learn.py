"""From statistics to a DAG: the path, the search, or one after the other.

    solver, refine    what is done
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

from dataclasses import dataclass, replace

from analyticdag._typing import IntArray
from analyticdag.graphs import topological_order
from analyticdag.knowledge import Constraints
from analyticdag.linear.choice import (
    EQUAL,
    UNEQUAL,
    LossChoice,
    choose_loss,
    least_squares_weights,
    variances_agree,
)
from analyticdag.linear.finish import Finished, finish
from analyticdag.linear.options import Options
from analyticdag.linear.paths import learn_path, path_options, path_statistics
from analyticdag.linear.placement import Placement, to_float64
from analyticdag.linear.refine import refine
from analyticdag.linear.statistics import Statistics
from analyticdag.optimize.trace import SearchRecord, Status, Trace


@dataclass(frozen=True, eq=False)
class Learned:
    """A DAG and how it was found."""

    finished: Finished
    loss: str
    trace: Trace
    status: Status
    n_iter: int
    choice: LossChoice | None = None


def learn(
    statistics: Statistics, options: Options, constraints: Constraints, place: Placement
) -> Learned:
    """Learn a DAG as the options say."""
    if options.refine:
        return _searched(statistics, options, constraints, place)
    if options.loss != "auto":
        return _path(statistics, options, constraints, place)
    equal, unequal = (
        _path(statistics, replace(options, loss=loss), constraints, place)
        for loss in (EQUAL, UNEQUAL)
    )
    refitted = [
        least_squares_weights(statistics.S, one.finished.adjacency) for one in (equal, unequal)
    ]
    choice = choose_loss(statistics, *refitted)
    return replace(equal if choice.loss == EQUAL else unequal, choice=choice)


def _path(
    statistics: Statistics, options: Options, constraints: Constraints, place: Placement
) -> Learned:
    """Follow the path and make a DAG of where it ends."""
    path = learn_path(statistics, options, constraints, place)
    finished = finish(to_float64(path.weights), options.w_threshold, constraints)
    status = path.status
    if status is Status.CONVERGED and finished.on_cycles:
        status = Status.CYCLES_LEFT
    return Learned(finished, options.loss, path.trace, status, path.n_steps)


def _searched(
    statistics: Statistics, options: Options, constraints: Constraints, place: Placement
) -> Learned:
    """Search over orders, from the path's order too where there is a path."""
    starts: dict[str, IntArray] = {}
    trace, status, n_iter = Trace(), Status.SEARCHED, 0
    seen = path_statistics(statistics, options)
    if options.minimiser is not None:
        path = _path(seen, path_options(options, seen), constraints, place)
        starts["path"] = topological_order(path.finished.adjacency)
        trace, n_iter = path.trace, path.n_iter
        status = Status.SEARCHED if path.status.converged else path.status
    if options.loss == "auto":
        finished, records, choice = _searched_for_both(statistics, options, constraints, starts)
    else:
        finished, record = refine(statistics, options, constraints, starts, options.loss)
        records, choice = (record,), None
    trace = trace.searched(records)
    n_iter = n_iter or sum(len(record.contributions) for record in records)
    loss = options.loss if choice is None else choice.loss
    return Learned(finished, loss, trace, status, n_iter, choice)


def _searched_for_both(
    statistics: Statistics, options: Options, constraints: Constraints, starts: dict[str, IntArray]
) -> tuple[Finished, tuple[SearchRecord, ...], LossChoice]:
    """Search under equal variances, and under unequal ones unless the first settles it.

    Where the variances are equal the second search is by far the longer, and needless.
    """
    equal, record = refine(statistics, options, constraints, starts, EQUAL)
    choice = choose_loss(statistics, equal.weights, equal.weights)
    if choice.loss == EQUAL and variances_agree(statistics, equal.weights):
        return equal, (record,), choice
    unequal, other = refine(statistics, options, constraints, starts, UNEQUAL)
    choice = choose_loss(statistics, equal.weights, unequal.weights)
    return equal if choice.loss == EQUAL else unequal, (record, other), choice
