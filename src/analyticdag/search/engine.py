"""The order search from end to end: starts, local search from each, iteration of the best, weights.

Every start gets parents and a local search. With the scale-free score the best `ITERATED` of them
go on to the iterated search; with equal variances the layered order hardly leaves anything to do,
unless there are fewer rows than nodes (`starts_disagree`) or effects are weak (`faint`): then all
starts are searched again, every node of them.
Starts are independent, so they run on threads (kernels release the interpreter lock), and nothing
depends on how many threads there are: random numbers derive from the seed and the start's label.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import correlations
from analyticdag.moments import Moments
from analyticdag.orders import consistent_order, precedence, r2_order
from analyticdag.search.checks import checked_covariance, checked_knowledge, checked_order
from analyticdag.search.kernels import Stop
from analyticdag.search.layers import layered_order
from analyticdag.search.runs import Run, in_threads, open_search, search_locally, search_on
from analyticdag.search.scores import ScoreName, default_gamma, edge_penalty, graph_score
from analyticdag.search.setting import Setting
from analyticdag.search.weights import FAINT_GAMMA, least_squares, many_are_faint

# With equal variances and fewer rows than nodes, graphs up to this size are searched on. ER2, own
# seeds: 50 rows of 200 nodes 34 errors instead of 50; 100 of 400 20.5 instead of 21.5; 200 of 800
# the same graph for seven times the time.
FEW_ROWS_NODES = 500
# How many of the starts go on to the iterated search.
ITERATED = 2
RANDOM_STARTS = 2
# Starts that meet in one graph differ by rounding, which must not rank them: decimals that count.
TIES = 6


@dataclass(frozen=True)
class Contribution:
    """What one start led to; scores are of the whole graph, smaller is better."""

    start: str
    initial: float  # parents for the start's own order
    local: float  # after the local search
    iterated: float  # after the iterated local search (the same for starts that did not qualify)
    edges: int
    seconds: float


@dataclass(frozen=True)
class SearchResult:
    """The best graph found; `weights[i, j]` is the least-squares weight of i -> j."""

    weights: FloatArray
    order: IntArray
    score: float
    price: float  # of an edge, in the score
    start: str
    contributions: tuple[Contribution, ...]


def named_rng(random_state: int | None, label: str) -> np.random.Generator:
    """Random numbers that depend on the seed and the start's label only."""
    name = zlib.crc32(label.encode())
    entropy = None if random_state is None else [random_state, name]
    return np.random.default_rng(entropy)


def cheap_starts(setting: Setting, random_state: int | None) -> dict[str, ArrayLike]:
    """Orders that cost next to nothing: R², and a few random ones."""
    starts: dict[str, ArrayLike] = {"r2": r2_order(setting.S, n_samples=setting.n_samples)}
    for number in range(1, RANDOM_STARTS + 1):
        label = f"random-{number}"
        starts[label] = named_rng(random_state, label).permutation(len(setting.S))
    return starts


def search_orders(
    S: ArrayLike,
    n_samples: int,
    *,
    score: ScoreName = "unequal",
    gamma: float | None = None,
    allowed: BoolArray | None = None,
    required: BoolArray | None = None,
    max_parents: int | None = None,
    moments: Moments | None = None,
    starts: Mapping[str, ArrayLike] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> SearchResult:
    """Search over orders of the variables for the graph with the lowest score.

    `S` is the covariance of n_samples rows. `allowed[i, j]` and `required[i, j]` speak about the
    edge i -> j; required edges stay, and orders respect them. `moments` gives nodes covariances of
    their own, where interventions left some of the rows out of their equations. `starts` maps
    labels to orders to start from (None: cheap ones); equal variances add an order of their own.
    `gamma` is the extended BIC's; None: the score's own, or a lower one where effects are weak.
    `n_jobs` threads are used, all processors if None; the result does not depend on it. `progress`
    is told what happens, in words.
    """
    cov = checked_covariance(S)
    wanted, gamma = gamma, default_gamma(score) if gamma is None else gamma
    tell = progress or (lambda message: None)
    moments = moments or Moments.shared(cov, n_samples)
    setting = make_setting(moments, score, gamma, allowed, required, max_parents)
    stop = Stop()
    setting, layered = with_noise(setting, stop)
    if layered is not None:
        starts = {"layered": layered, **(starts or {})}
    elif starts is None:
        starts = cheap_starts(setting, random_state)
    tell(f"order search from {len(starts)} starts: {', '.join(starts)}")
    runs = local_runs(setting, starts, n_jobs, stop)
    W = least_squares(setting, runs[0].graph, moments)
    if layered is not None and many_are_faint(setting, W):
        tell("many effects are weak: edges get cheaper, and every node is tried elsewhere")
        gamma = FAINT_GAMMA if wanted is None else wanted
        price = edge_penalty(n_samples, len(cov), gamma)
        setting = replace(setting, penalty=price, thorough=True)
        runs = local_runs(setting, starts, n_jobs, stop)
        W = least_squares(setting, runs[0].graph, moments)
    if layered is None or starts_disagree(setting, runs):
        tell(f"iterated search from {', '.join(run.label for run in runs[:ITERATED])}")
        runs = iterated_runs(setting, runs, random_state, n_jobs, stop)
        W = least_squares(setting, runs[0].graph, moments)
    return SearchResult(
        weights=W,
        order=runs[0].graph.order,
        score=graph_score(moments, W, score=score, gamma=gamma),
        price=setting.penalty,
        start=runs[0].label,
        contributions=tuple(contribution(run) for run in runs),
    )


def starts_disagree(setting: Setting, runs: list[Run]) -> bool:
    """Whether, with fewer rows than nodes, equal variances led different starts to different ends.

    With more rows the layered order hardly leaves anything to do; with so few it is often wrong.
    """
    few = setting.n_samples < len(setting.S) <= FEW_ROWS_NODES
    return few and len({round(run.local, TIES) for run in runs}) > 1


def local_runs(
    setting: Setting, starts: Mapping[str, ArrayLike], n_jobs: int | None, stop: Stop
) -> list[Run]:
    """Local search from every start, best first."""
    labelled = [
        (label, consistent_order(checked_order(order, len(setting.S), label), setting.required))
        for label, order in starts.items()
    ]
    runs = in_threads(lambda start: search_locally(setting, *start, stop), labelled, n_jobs, stop)
    return sorted(runs, key=lambda run: (round(run.local, TIES), run.label))


def iterated_runs(
    setting: Setting, runs: list[Run], random_state: int | None, n_jobs: int | None, stop: Stop
) -> list[Run]:
    """Iterated search from the best runs; all runs, best first."""
    leaders = in_threads(
        lambda run: search_on(setting, run, named_rng(random_state, run.label), stop),
        runs[:ITERATED],
        n_jobs,
        stop,
    )
    ended = leaders + runs[ITERATED:]
    return sorted(ended, key=lambda run: (round(run.iterated, TIES), run.label))


def with_noise(setting: Setting, stop: Stop) -> tuple[Setting, IntArray | None]:
    """For equal variances: the noise level, and the order that shows it."""
    if not setting.equal:
        return setting, None
    before = setting.required
    if setting.forbidden is not None:
        before = precedence(~setting.forbidden, setting.required)
    # On a thread, so that this one can be interrupted.
    ((order, noise),) = in_threads(
        lambda mask: layered_order(setting, mask, stop), [before], 1, stop
    )
    return replace(setting, noise=noise), order


def select_parents(
    S: ArrayLike,
    n_samples: int,
    order: ArrayLike,
    *,
    score: ScoreName = "unequal",
    gamma: float | None = None,
    allowed: BoolArray | None = None,
    required: BoolArray | None = None,
    max_parents: int | None = None,
) -> FloatArray:
    """Weights of every node on its parents: those among its predecessors that lower the score."""
    cov = checked_covariance(S)
    gamma = default_gamma(score) if gamma is None else gamma
    moments = Moments.shared(cov, n_samples)
    setting = make_setting(moments, score, gamma, allowed, required, max_parents)
    stop = Stop()
    setting, _ = with_noise(setting, stop)
    start = consistent_order(checked_order(order, len(cov), "order"), setting.required)
    (search,) = in_threads(lambda begin: open_search(setting, begin, stop), [start], 1, stop)
    return least_squares(setting, search.graph, moments)


def contribution(run: Run) -> Contribution:
    """The record of a finished run."""
    edges = int(run.graph.count.sum())
    return Contribution(run.label, run.initial, run.local, run.iterated, edges, run.seconds)


def make_setting(
    moments: Moments,
    score: ScoreName,
    gamma: float,
    allowed: BoolArray | None,
    required: BoolArray | None,
    max_parents: int | None,
) -> Setting:
    """Check what was asked and bring it into the form kernels want."""
    d = len(moments.of)
    forbidden, needed = checked_knowledge(allowed, required, max_parents, d)
    most = 0 if needed is None else int(needed.sum(axis=0).max())
    cap = max(0, min(d - 1, int(moments.samples_of.min()) - 2))
    if max_parents is not None:
        cap = min(cap, max_parents)
    cap = max(cap, most)
    penalty = edge_penalty(moments.n_samples, d, gamma)
    if score == "equal":
        return Setting(moments, forbidden, needed, penalty, 1.0, cap)
    matrices = [correlations(S) for S in moments.covariances]
    standardised = replace(
        moments, covariances=matrices[0][None] if len(matrices) == 1 else np.array(matrices)
    )
    return Setting(standardised, forbidden, needed, penalty, None, cap)
