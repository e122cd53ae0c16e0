"""Parents of hubs: nodes with hundreds of parents among more candidates than there are samples.

Taking the best candidate first fails there: while most of the parents are missing, the residual is
so large that accidents look as good as parents. All candidates have to be weighed at once: each is
a parent with some probability, and if so its weight has a normal distribution ("spike and slab").
Expectation propagation finds those probabilities. It holds one normal factor for each candidate in
place of the spike and the slab; the factor is right when, with all the others as they are, it gives
the mean and the variance that spike and slab would give. The share of parents and the variance of
their weights are learned on the way. This finds supports up to about half the samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.special import expit

from analyticdag._typing import FloatArray, IntArray
from analyticdag.search.graph import Search
from analyticdag.search.kernels import Rules, Stop
from analyticdag.search.steps.given import GAIN

# Nodes with more parents than this share of the samples are hubs.
HUB = 0.2
# k parents leave a share 1 - k/n of the noise in n samples. A hub with this many times as much
# residual variance may lack a parent: it was 0.85 to 1.15 for hubs whose parents are found, and 3.4
# to 4.8 for others (docs/design/order-search.md).
UNEXPLAINED = 1.15
# Share of parents among the candidates to begin with. This and what follows is as first written; no
# trial of other values is on record.
SHARE = 0.3
# Factors go this part of the way to where they should be; all at once they would swing.
DAMPING = 0.5
ITERATIONS = 30
# The end: no probability moved by more than this.
SETTLED = 0.1
# Precisions of factors are kept in this range, in units of the noise.
LEAST, MOST = 1e-4, 1e9


@dataclass(frozen=True)
class Belief:
    """What is believed of one weight each: the probability that it is not zero, mean, variance."""

    probability: FloatArray
    mean: FloatArray
    variance: FloatArray
    square: FloatArray  # mean square of the weight if it is not zero


def spike_and_slab(m: FloatArray, v: FloatArray, share: float, slab: float) -> Belief:
    """Belief in weights of which a share is N(0, slab) and the rest zero, seen as m ± sqrt(v)."""
    odds = np.log(share / (1 - share)) - 0.5 * np.log1p(slab / v)
    odds += 0.5 * m * m * slab / (v * (v + slab))
    probability = expit(odds)
    mean, variance = m * slab / (v + slab), v * slab / (v + slab)
    square = variance + mean * mean
    variance = probability * square - (probability * mean) ** 2
    return Belief(probability, probability * mean, np.maximum(variance, 1 / MOST), square)


def marginals(A: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Means and variances of N(A^-1 r, A^-1); A is overwritten."""
    factor, failed = lapack.dpotrf(A, lower=1, overwrite_a=1)
    if failed:
        return None
    means = lapack.dpotrs(factor, r, lower=1)[0]
    inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
    return means, np.diag(inverse).copy()


def parent_probabilities(
    G: FloatArray, c: FloatArray, own: float, n: float, stop: Stop
) -> FloatArray:
    """How probable each candidate is as a parent.

    G is the candidates' covariance, c their covariance with the node, ``own`` its variance, all in
    units of the noise variance, and n the number of samples.
    """
    precision, pull, diagonal = n * G, n * c, np.diag_indices_from(G)
    share, slab = SHARE, own / (SHARE * G.trace())
    width, shift = np.full(len(c), 1 / (share * slab)), np.zeros(len(c))
    probability = np.full(len(c), share)
    for _ in range(ITERATIONS):
        A = np.asfortranarray(precision)
        A[diagonal] += width
        found = marginals(A, pull + shift)
        if found is None:  # collinear to the last digit
            break
        mean, variance = found
        rest = np.maximum(1 / variance - width, LEAST)  # precision without the factor at hand
        m = (mean / variance - shift) / rest
        belief = spike_and_slab(m, 1 / rest, share, slab)
        target = np.clip(1 / belief.variance - rest, LEAST, MOST)
        width = width + DAMPING * (target - width)
        shift = shift + DAMPING * (belief.mean * (target + rest) - rest * m - shift)
        moved = float(np.abs(belief.probability - probability).max())
        probability = belief.probability
        share = float(np.clip(probability.mean(), 1e-3, 0.9))
        slab = float(probability @ belief.square / probability.sum())
        if moved < SETTLED or stop.asked:
            break
    return probability


def likely_parents(
    S: FloatArray, node: int, candidates: IntArray, noise: float, n_samples: int, stop: Stop
) -> IntArray:
    """Candidates that are parents more probably than not, the most probable first."""
    G, c = S[np.ix_(candidates, candidates)] / noise, S[candidates, node] / noise
    probability = parent_probabilities(G, c, float(S[node, node]) / noise, n_samples, stop)
    ranked = np.argsort(-probability, kind="stable")
    return candidates[ranked[probability[ranked] > 0.5]]


def revisit_hubs(search: Search) -> None:
    """Weigh all candidates at once for nodes with very many parents, then try them swapped."""
    if not search.setting.equal:
        return
    rules = search.setting.rules(patience=0)
    for node in hubs(search):
        weigh_all(search, node, rules)
    for node in hubs(search):
        swap_with_next(search, node, rules)


def hubs(search: Search) -> IntArray:
    """Nodes with very many parents, in the order."""
    graph, many = search.graph, HUB * search.setting.moments.samples_of
    return graph.order[graph.count[graph.order] > many[graph.order]]


def weigh_all(search: Search, node: int, rules: Rules) -> None:
    """Offer a node its likely parents among those before it."""
    setting, order = search.setting, search.graph.order
    assert setting.noise is not None
    if search.stop.asked:
        return
    place = int(np.flatnonzero(order == node)[0])
    S, before = setting.moments.covariance_of(node), order[:place]
    candidates = before[np.diag(S)[before] > 0]
    if setting.forbidden is not None:
        candidates = candidates[~setting.forbidden[candidates, node]]
    n = int(setting.moments.samples_of[node])
    offered = likely_parents(S, node, candidates, setting.noise, n, search.stop)
    if setting.required is not None:
        needed = np.flatnonzero(setting.required[:, node])
        offered = np.concatenate([needed, offered[~np.isin(offered, needed)]])
    search.offer(node, offered, place, rules)


def swap_with_next(search: Search, first: int, rules: Rules) -> None:
    """Exchange a hub with the hub after it if that lowers the score.

    A hub that lacks one strong parent looks like one whose parents cannot be told: only a whole
    new regression of both, which no single step of the local search makes, shows the difference.
    """
    setting, graph = search.setting, search.graph
    place = int(np.flatnonzero(graph.order == first)[0])
    second = int(graph.order[min(place + 1, len(graph.order) - 1)])
    bound = setting.required is not None and setting.required[first, second]
    if second not in hubs(search) or bound or second == first or explained(search, first, second):
        return
    pair = [first, second]
    before = graph.value[pair].sum()
    old = [graph.parents[node, : graph.count[node]].copy() for node in pair]
    search.move(first, place + 1, rules)
    for node in reversed(pair):
        weigh_all(search, node, rules)
    if graph.value[pair].sum() < before - GAIN:
        return
    search.move(first, place, rules)
    for node, parents in zip(pair, old, strict=True):
        search.give_parents(node, parents, rules)


def explained(search: Search, *nodes: int) -> bool:
    """Whether none of these hubs leaves more variance than it should."""
    setting, hub = search.setting, list(nodes)
    assert setting.noise is not None
    usual = setting.noise * (1.0 - search.graph.count[hub] / setting.moments.samples_of[hub])
    return bool((search.graph.residuals(setting)[hub] < UNEXPLAINED * usual).all())
