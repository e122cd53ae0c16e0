"""The task of a search: what is minimised, what is known, and what is refused.

The score is a sum over nodes of misfit plus a price per parent:

    unequal variances   sum_j n log(r_j) + price * |pa_j|                  (as the extended BIC)
    equal variances     n d log(mean_j r_j) + price * (number of edges)    (pooled variance)

where r_j is the residual variance of node j given its parents. The first score does not change when
variables are rescaled, so it is evaluated on the correlation matrix. The second is not a sum over
nodes; with the noise variance fixed at s2 it becomes one, sum_j n r_j / s2 + price * |pa_j|, and
that sum is what moves are judged by.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._parameters import shown, whole
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import check_symmetric, correlations, covariance_matrix
from analyticdag.errors import KnowledgeError, ParameterError
from analyticdag.knowledge import EdgeMasks
from analyticdag.least_squares import Regressions, regressions_of
from analyticdag.moments import Moments
from analyticdag.search import kernels
from analyticdag.search.steps.given import COLLINEAR, PATIENT

ScoreName: TypeAlias = Literal["unequal", "equal"]

# With equal variances: how many faint parents a regression may take that is only tried. What a node
# cannot explain must not be explained by hundreds of accidents. As first written; no trial of other
# values is on record.
TRIED_PATIENCE = 2
# The extended BIC's gamma for graphs that are given and for other programs. The search lets the
# data choose (`price.py`).
_GAMMA: dict[str, float] = {"unequal": 1.0, "equal": 0.75}


def default_gamma(score: str) -> float:
    """The extended BIC's gamma that goes with a score."""
    if score not in _GAMMA:
        raise ParameterError(f"score must be 'unequal' or 'equal'; got {score!r}.")
    return _GAMMA[score]


def graph_score(moments: Moments, weights: FloatArray, *, score: ScoreName, price: float) -> float:
    """Score of a weighted graph on data with these moments; smaller is better.

    The unequal-variance score is that of the standardised variables, so that it is the same for
    any rescaling of the data.
    """
    d, n = len(weights), moments.samples_of
    residuals = np.maximum(moments.residual_variances(weights), 0.0)
    paid = price * np.count_nonzero(weights)
    if score == "equal":
        pooled = max(np.average(residuals, weights=n), np.finfo(float).tiny)
        return float(n.sum() * np.log(pooled)) + paid
    variances = moments.own_variances
    shares = np.divide(residuals, variances, out=np.ones(d), where=variances > 0)
    return float(n @ np.log(np.maximum(shares, COLLINEAR))) + paid


@dataclass(frozen=True, eq=False)
class Setting:
    """The task in the form kernels want it; shared by all starts."""

    moments: Moments  # of the standardised variables, unless all noise has one variance
    forbidden: BoolArray | None  # None: nothing is
    required: BoolArray | None
    price: float
    noise: float | None  # the noise variance all nodes share; None: each has its own
    cap: int
    thorough: bool = False  # equal variances: try all nodes elsewhere, not only suspicious ones

    @property
    def S(self) -> FloatArray:  # noqa: N802 (a letter of the mathematics)
        """Covariance of all rows."""
        return self.moments.S

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.S)

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return self.moments.n_samples

    @property
    def equal(self) -> bool:
        """Whether the score is that of equal noise variances."""
        return self.noise is not None

    @property
    def share(self) -> FloatArray:
        """Share of a node's residual variance (equal: of the noise) a parent must explain."""
        relative = self.price / self.moments.samples_of
        return relative if self.equal else -np.expm1(-relative)

    def rules(self, noise: float | None = None, patience: int = PATIENT) -> kernels.Rules:
        """What a parent must be worth, at this noise level (None: the setting's)."""
        noise = self.noise if noise is None else noise
        return kernels.Rules(self.price, noise, self.share, self.cap, patience)

    def trial_rules(self) -> kernels.Rules:
        """What a parent must be worth where a move is only tried."""
        return self.rules(patience=TRIED_PATIENCE if self.equal else PATIENT)

    @property
    def data(self) -> kernels.Data:
        """Covariances, rows and knowledge for the kernels; nothing is copied."""
        return kernels.Data(**self.given(np.arange(self.n_nodes)))

    def given(self, first: IntArray) -> dict[str, Any]:
        """What the kernels' data are made of, for nodes that begin at these columns."""
        d = len(self.S)
        return {
            "S": np.ascontiguousarray(self.moments.covariances),
            "at": self.moments.of[first] * (d * d),
            "n": self.moments.samples_of[first].astype(np.float64),
            "floor": COLLINEAR * np.diag(self.S),
            "forbidden": self.forbidden,
            "required": self.required,
        }

    def memory(self, order: IntArray) -> kernels.Memory:
        """What the kernels work on."""
        return kernels.Memory(order, self.cap + 1)

    def among(self, nodes: IntArray) -> Setting:
        """Return the task among some nodes alone, in this order; of tasks that require no edge."""
        assert self.required is None
        forbidden = None if self.forbidden is None else self.forbidden[np.ix_(nodes, nodes)]
        cap = min(self.cap, len(nodes) - 1)
        return replace(self, moments=self.moments.among(nodes), forbidden=forbidden, cap=cap)

    def values(self, graph: BoolArray, nodes: IntArray) -> FloatArray:
        """Return the scores of some nodes, each with its own variance."""
        some = np.zeros_like(graph)
        some[:, nodes] = graph[:, nodes]
        own = self.moments.own_variances
        left = own.copy()
        for found in regressions_of(self.moments, some):
            left[found.nodes] -= found.explained
        values = self.moments.samples_of * np.log(np.maximum(left, COLLINEAR * own) / own)
        return (values + self.price * some.sum(axis=0))[nodes]

    def gains_in(self, regressions: Iterable[Regressions], moments: Moments) -> FloatArray:
        """What each edge of a graph gains, its price not counted, by regressions on parents.

        Only for equal variances do the units of the moments matter: they are the setting's then.
        """
        samples, gains = moments.samples_of, [np.empty(0)]
        own = moments.own_variances
        for found in regressions:
            n = samples[found.nodes, None].astype(np.float64)
            worth = found.slopes**2 / found.precisions
            if self.noise is None:
                left = np.maximum(own[found.nodes] - found.explained, COLLINEAR * own[found.nodes])
                gains.append((n * np.log1p(worth / left[:, None])).ravel())
            else:
                gains.append((n * worth / self.noise).ravel())
        return np.concatenate(gains)


def make_setting(
    moments: Moments,
    score: ScoreName,
    price: float,
    masks: EdgeMasks | None = None,
    *,
    noise: float = 1.0,
) -> Setting:
    """Check what was asked and bring it into the form kernels want.

    `noise` is the variance that all nodes share, if they do.
    """
    default_gamma(score)  # refuses an unknown score
    d = len(moments.of)
    most = max(0, min(d - 1, int(moments.samples_of.min()) - 2))
    forbidden, required, cap = checked_knowledge(masks, d, most)
    if score == "equal":
        return Setting(moments, forbidden, required, price, noise, cap)
    matrices = [correlations(S) for S in moments.covariances]
    standardised = replace(
        moments, covariances=matrices[0][None] if len(matrices) == 1 else np.array(matrices)
    )
    return Setting(standardised, forbidden, required, price, None, cap)


def checked_covariance(S: ArrayLike) -> FloatArray:
    """S as a contiguous symmetric float matrix."""
    cov = covariance_matrix(S)
    check_symmetric(cov)
    return np.ascontiguousarray(cov)


def checked_order(order: ArrayLike, n_nodes: int, label: str) -> IntArray:
    """A permutation of the nodes."""
    result = np.asarray(order, dtype=object)
    numbers = [k for k in result.flat if isinstance(k, int | np.integer)]
    if result.ndim != 1 or sorted(numbers) != list(range(n_nodes)) or len(result) != n_nodes:
        raise ParameterError(
            f"start {label!r} must be a permutation of 0..{n_nodes - 1}; got {shown(order)}"
        )
    return result.astype(np.int64)


def checked_knowledge(
    masks: EdgeMasks | None, n_nodes: int, most: int
) -> tuple[BoolArray | None, BoolArray | None, int]:
    """Forbidden and required edges without contradictions, None for none; and the cap of parents.

    `most` is the cap where nothing else is known; required parents may be more.
    """
    if masks is None:
        return None, None, most
    forbidden = ~_mask(masks.allowed, n_nodes, "allowed")
    required, limit = _mask(masks.required, n_nodes, "required"), masks.max_parents
    if limit is not None:
        most = min(most, whole("max_parents", limit, 0, what="None, or a whole number"))
    needed = required if required.any() else None
    if needed is not None:
        _check_required(needed, forbidden, limit)
        most = max(most, int(needed.sum(axis=0).max()))
    # No node is its own parent, whatever the mask says.
    any_forbidden = forbidden.sum() > np.diag(forbidden).sum()
    return forbidden if any_forbidden else None, needed, most


def _check_required(needed: BoolArray, forbidden: BoolArray, limit: int | None) -> None:
    clash = np.argwhere(needed & (forbidden | np.eye(len(needed), dtype=np.bool_)))
    if len(clash) > 0:
        i, j = clash[0].tolist()
        raise KnowledgeError(
            f"the edge {i} -> {j} is required but not allowed; drop one of the two."
        )
    if limit is not None and needed.sum(axis=0).max() > limit:
        node = int(needed.sum(axis=0).argmax())
        raise KnowledgeError(f"node {node} has more required parents than max_parents={limit}.")


def _mask(values: BoolArray, n_nodes: int, name: str) -> BoolArray:
    mask, shape = np.ascontiguousarray(values, dtype=np.bool_), (n_nodes, n_nodes)
    if mask.shape != shape:
        raise ParameterError(f"{name} must be a boolean {shape} mask; got shape {mask.shape}.")
    return mask
