"""The task in the form kernels want it, and the memory of one search around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.interventions import Moments
from analyticdag.search.parents import PATIENT
from analyticdag.search.tables import COLLINEAR, Bench, Task, make_bench, make_task


@dataclass(frozen=True)
class Setting:
    """The task in the form kernels want it; shared by all starts."""

    moments: Moments  # of the standardised variables, unless all noise has one variance
    forbidden: BoolArray
    required: BoolArray
    penalty: float
    noise: float | None  # the noise variance all nodes share; None: each has its own
    cap: int
    thorough: bool = False  # equal variances: try all nodes elsewhere, not only suspicious ones

    @property
    def S(self) -> FloatArray:  # noqa: N802 (a letter of the mathematics)
        """Covariance of all rows."""
        S: FloatArray = self.moments.S[0]
        return S

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.moments.n_samples[0])

    @property
    def equal(self) -> bool:
        """Whether the score is that of equal noise variances."""
        return self.noise is not None

    @property
    def price(self) -> FloatArray:
        """Share of a node's residual variance (equal: of the noise) a parent must explain."""
        relative = self.penalty / self.moments.samples_of
        price: FloatArray = relative if self.equal else -np.expm1(-relative)
        return price


@dataclass(frozen=True)
class Graph:
    """An order with parents, as the kernels left it."""

    order: IntArray
    count: IntArray
    parents: IntArray
    value: FloatArray

    def residuals(self, setting: Setting) -> FloatArray:
        """Residual variances, for equal variances."""
        assert setting.noise is not None
        misfit = self.value - setting.penalty * self.count
        return misfit * (setting.noise / setting.moments.samples_of)

    def score(self, setting: Setting) -> float:
        """Score of the whole graph; with equal variances, with the noise level that fits it."""
        if not setting.equal:
            return float(self.value.sum())
        n = setting.moments.samples_of
        pooled = max(np.average(self.residuals(setting), weights=n), np.finfo(float).tiny)
        return float(n.sum() * np.log(pooled) + setting.penalty * self.count.sum())


@dataclass(frozen=True)
class Desk:
    """A graph under search with everything the kernels need."""

    graph: Graph
    task: Task
    mover: Bench
    passed: Bench
    noise: FloatArray  # one number, shared with the kernels
    patience: IntArray  # likewise
    link: FloatArray  # likewise: row j belongs to the regression of node j
    spread: FloatArray
    n: FloatArray  # likewise: the samples behind it


def new_desk(setting: Setting, order: IntArray) -> Desk:
    """Memory for a search from `order`, without parents as yet."""
    d, cap = len(order), setting.cap
    graph = Graph(
        order=np.array(order, np.int64),
        count=np.zeros(d, np.int64),
        parents=np.empty((d, cap + 1), np.int64),
        value=np.zeros(d),
    )
    noise, patience = np.array([setting.noise or 1.0]), np.array([PATIENT])
    link, spread = np.empty((2, d, d))
    n = setting.moments.samples_of.astype(np.float64)
    task = make_task(
        {
            **vars(graph),
            "place": np.argsort(graph.order),
            "S": np.ascontiguousarray(setting.moments.S.reshape(-1, d)),
            "at": setting.moments.of * d,
            "floor": COLLINEAR * np.diag(setting.S),
            "forbidden": setting.forbidden,
            "required": setting.required,
            "n": n,
            "penalty": setting.penalty,
            "price": setting.price,
            "noise": noise,
            "patience": patience,
            "equal": setting.equal,
            "cap": cap,
            "link": link,
            "spread": spread,
        }
    )
    mover, passed = make_bench(d, cap), make_bench(d, cap)
    return Desk(graph, task, mover, passed, noise, patience, link, spread, n)
