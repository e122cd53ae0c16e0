"""Discrete columns: search both readings of them, and take the better graph.

    cuts_instead(fit, found)     columns alone: the graph of "cuts", where it is the better one
    search_readings(fit)         blocks of columns: the better graph of both readings

`fitting/design.py` says what readings are. A graph with its reading says what the correlations of
the scores should be: what its equations imply, for "cuts" of the latent correlations, brought back
to scores by the series. The better graph has the lower

    Σ_pairs n (observed - implied)²/variance  +  Σ_edges price

This is the usual fit of models with latent correlations (diagonally weighted least squares), plus
the price of the search. So a reading loses if it needs further edges, and if edges are missing that
its fewer rows did not show.

Edges whose evidence does not pay in the rows that hold both ends are left out, and the search is
made again without them (`without_unpaid`), as in tables of numbers (`tails.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.fitting.design import Design, Reading
from analyticdag.fitting.finish import Finished
from analyticdag.graphs import topological_order
from analyticdag.least_squares import block_slopes, weights_on_parents
from analyticdag.linear.prepare import ROUNDS, Fit
from analyticdag.linear.refine import SearchTable, record_of_search, refine, starting_orders
from analyticdag.losses import UnequalVariances
from analyticdag.moments import Moments
from analyticdag.optimize.trace import SearchRecord
from analyticdag.search import block_prices, effect_price, search_blocks
from analyticdag.search.blocks import BlockResult, make_block_setting
from analyticdag.search.price import as_single, cautious_price
from analyticdag.tables.latent import MOST, score_correlations
from analyticdag.tables.recipe import CUTS, LEVELS

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Read:
    """A graph, the record of its search, the reading that it was found with, and why."""

    finished: Finished
    record: SearchRecord
    reading: Reading
    why: str
    searched_fit: Fit | None = None  # where every node is a column
    apart: BoolArray | None = None  # pairs that were kept apart


def cuts_instead(fit: Fit, levels: BoolArray, price: float) -> Read | None:
    """Search with discrete columns as cuts; None where the graph of levels is no worse.

    After Ctrl-C in that search, the graph of levels is not thrown away: KeyboardInterrupt.
    """
    if fit.options.traits.score == "equal":
        return None  # the loss reads scales, which cuts do not have
    reading = next((one for one in fit.readings if one.name == CUTS), None)
    if reading is None:
        return None
    moments = varying(reading, fit)
    standard = fit.options.standardize
    moments = moments.standardised() if standard else moments.scaled(fit.statistics.scale)
    cut = replace(fit, statistics=replace(fit.statistics, moments=moments))
    starts = {"levels": topological_order(levels)}
    read = without_unpaid(cut, partial(_refined, reading=reading, starts=starts))
    if read.record.interrupted:
        raise KeyboardInterrupt
    costs = _costs(fit, reading, {LEVELS: levels, CUTS: read.finished.adjacency}, price)
    return None if costs[CUTS] >= costs[LEVELS] else replace(read, why=_why(CUTS, costs))


def _refined(fit: Fit, *, reading: Reading, starts: dict[str, IntArray]) -> Read:
    """Search a reading in which every node is a column."""
    finished, record = refine(fit, UnequalVariances.traits, starts)
    return Read(finished, record, reading, "", searched_fit=fit)


def without_unpaid(fit: Fit, search: Callable[[Fit], Read]) -> Read:
    """Search, and search again without the edges that the rows with both ends do not pay."""
    read = search(fit)
    for _ in range(ROUNDS):
        doubtful = _unpaid(fit, read)
        if doubtful is None:
            break
        fit = fit.kept_apart(doubtful)
        try:
            read = search(fit)
        except KeyboardInterrupt:
            return as_far(read)
    return read


def _unpaid(fit: Fit, read: Read) -> BoolArray | None:
    """Return the edges that the rows with both ends do not pay, if any; none after Ctrl-C."""
    graph, sizes, price = read.finished.adjacency, read.reading.design.sizes, read.record.price
    setting = make_block_setting(varying(read.reading, fit), sizes, price)
    if setting.held is None or read.record.interrupted:
        return None
    gains = as_single(setting.gains(graph) * setting.held, np.outer(sizes, sizes))
    dropped: BoolArray = graph & (setting.held < 1.0) & (gains < price)
    return dropped if dropped.any() else None


def search_readings(fit: Fit) -> Read:
    """Search every reading where some nodes are blocks, and take the better graph.

    Readings differ by far more than what a longer search finds: a short one of each decides, and
    the better one is searched on.
    """
    table = SearchTable.of(fit)
    starts = starting_orders(table, equal=False)
    search = partial(_searched, fit, table)
    only = len(fit.readings) == 1
    found: dict[str, Read] = {}
    for reading in fit.readings:
        try:
            effort = fit.options.effort if only else None
            read = search(reading, starts, effort)
        except KeyboardInterrupt:
            if not found:
                raise
            return as_far(found[LEVELS])
        if read.record.interrupted:
            return read  # the best so far
        found[reading.name] = read
    if only:
        return replace(found[LEVELS], why=f"discrete columns {_WORDS[LEVELS]}")
    graphs = {name: read.finished.adjacency for name, read in found.items()}
    costs = _costs(fit, found[CUTS].reading, graphs, found[LEVELS].record.price)
    name = CUTS if costs[CUTS] < costs[LEVELS] else LEVELS
    first = replace(found[name], why=_why(name, costs))
    best = np.argsort(table.order)[topological_order(first.finished.adjacency)]
    try:
        read = search(first.reading, {**starts, "first": best}, fit.options.effort)
    except KeyboardInterrupt:
        return as_far(first)
    return replace(read, why=first.why)


def as_far(read: Read) -> Read:
    """Return what there is when Ctrl-C ends a search."""
    return replace(read, record=replace(read.record, interrupted=True))


# Beyond, a cost was none: columns that follow from each other have no finite likelihood.
_PLAIN = 1e6
_WORDS = {LEVELS: "by their levels", CUTS: "as cuts of normal variables"}


def _why(name: str, costs: dict[str, float]) -> str:
    other = next(key for key in costs if key != name)
    margin = costs[other] - costs[name]
    by = f" by {margin:.1f}" if margin < _PLAIN else ""
    return f"discrete columns {_WORDS[name]}, better{by} than {_WORDS[other]}"


def _costs(
    fit: Fit, reading: Reading, graphs: dict[str, BoolArray], price: float
) -> dict[str, float]:
    """Return misfit and price of the graph of each reading."""
    design, scores = fit.design, reading.scores
    assert design is not None
    assert scores is not None
    costs, apart = {}, reading.design.node[:, None] < reading.design.node
    for name, graph in graphs.items():
        if name == LEVELS:
            sizes, S = design.sizes, _implied(design, scores.levels, graph)
            implied = correlations(scores.blend.T @ S @ scores.blend)
        else:
            sizes, latent = reading.design.sizes, correlations(reading.moments.S)
            implied = np.clip(_implied(reading.design, latent, graph), -MOST, MOST)
            implied = score_correlations(implied, scores.series)
        left = (scores.R - implied) ** 2 / scores.variance
        paid = block_prices(price, sizes)[graph].sum()
        costs[name] = float(scores.n_samples * left[apart].sum() + paid)
    return costs


def _implied(design: Design, R: FloatArray, graph: BoolArray) -> FloatArray:
    """Return the correlations that the equations of a graph make, fitted to the correlations R."""
    W, noise = np.zeros_like(R), np.zeros_like(R)
    for j in range(len(graph)):
        own = design.columns_of(j)
        others = design.columns_of(*np.flatnonzero(graph[:, j]))
        left = R[np.ix_(own, own)]
        if len(others):
            found = block_slopes(R, others, own)
            W[np.ix_(others, own)] = found
            left = left - found.T @ R[np.ix_(others, own)]
        noise[np.ix_(own, own)] = left
    paths = np.linalg.inv(np.eye(len(R)) - W)
    S = paths.T @ noise @ paths
    sd = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    return S / np.outer(sd, sd)


def _searched(
    fit: Fit,
    table: SearchTable,
    reading: Reading,
    starts: dict[str, IntArray],
    effort: float | None,
) -> Read:
    """Search one reading; the floor on effects that the rows ask for is known after a first.

    Without `effort` the search is a local one, at a price that stays the cautious one.
    """
    design, columns = reading.design.in_order(table.order)
    moments = varying(reading, fit).in_order(columns)
    asked, n = fit.options.min_effect, moments.n_samples
    best = _blocks(fit, table, design, moments, starts, asked or 0.0, effort)
    floor = asked
    if asked is None:
        W = weights_on_parents(fit.statistics.moments, table.back_matrix(best.adjacency))
        floor = fit.misfit.floor(W)
        if effect_price(floor, n, equal=False) > best.price and not best.interrupted:
            best = _blocks(fit, table, design, moments, starts, floor, effort)
    return read_of(fit, table, best, floor or 0.0, reading)


def read_of(
    fit: Fit, table: SearchTable, best: BlockResult, floor: float, reading: Reading, why: str = ""
) -> Read:
    """Return what a search with a reading found, in the order of the fit's columns."""
    record = record_of_search(best, UnequalVariances.traits, floor)
    adjacency = table.back_matrix(best.adjacency) | fit.masks.required
    finished = Finished(adjacency.astype(np.float64), adjacency)
    return Read(finished, record, reading, why, apart=fit.apart)


def _blocks(
    fit: Fit,
    table: SearchTable,
    design: Design,
    moments: Moments,
    starts: dict[str, IntArray],
    min_effect: float,
    effort: float | None,
) -> BlockResult:
    options, d = fit.options, len(design.sizes)
    price = options.price(moments.n_samples, d)
    if price is None and effort is None:
        price = cautious_price(d)
    return search_blocks(
        moments,
        design.sizes,
        starts=starts,
        price=price,
        min_effect=min_effect,
        effort=effort or 0.0,
        masks=table.masks,
        random_state=table.seed,
        n_jobs=options.n_jobs,
        progress=logger.info if options.verbose else None,
    )


def varying(reading: Reading, fit: Fit) -> Moments:
    """Return moments in which constant columns have variance one and nothing in common."""
    moments = reading.moments
    constant: BoolArray = np.diag(moments.S) <= 0.0
    constant = constant | fit.statistics.constant[reading.design.node]
    if not constant.any():
        return moments
    S = np.where(constant[:, None] | constant, np.eye(len(constant)), moments.covariances)
    return replace(moments, covariances=S)
