"""The task in the form kernels want it, and the memory of one search around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.search.parents import PATIENT
from analyticdag.search.tables import Bench, Task, make_bench, make_tables, make_task


@dataclass(frozen=True)
class Setting:
    """The task in the form kernels want it; shared by all starts."""

    S: FloatArray
    forbidden: BoolArray
    required: BoolArray
    n_samples: int
    penalty: float
    noise: float | None  # the noise variance all nodes share; None: each has its own
    cap: int

    @property
    def equal(self) -> bool:
        """Whether the score is that of equal noise variances."""
        return self.noise is not None

    @property
    def price(self) -> float:
        """Share of the residual variance (equal: of the noise) a parent must explain."""
        relative = self.penalty / self.n_samples
        return relative if self.equal else -float(np.expm1(-relative))


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
        return (self.value - setting.penalty * self.count) * (setting.noise / setting.n_samples)

    def score(self, setting: Setting) -> float:
        """Score of the whole graph; with equal variances, with the noise level that fits it."""
        if not setting.equal:
            return float(self.value.sum())
        pooled = max(float(self.residuals(setting).mean()), float(np.finfo(float).tiny))
        return float(
            setting.n_samples * len(self.order) * np.log(pooled)
            + setting.penalty * self.count.sum()
        )


@dataclass(frozen=True)
class Desk:
    """A graph under search with everything the kernels need."""

    graph: Graph
    task: Task
    mover: Bench
    passed: Bench
    noise: FloatArray  # one number, shared with the kernels
    patience: IntArray  # likewise


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
    task = make_task(
        setting.S,
        setting.forbidden,
        setting.required,
        float(setting.n_samples),
        setting.penalty,
        setting.price,
        noise,
        patience,
        setting.equal,
        cap,
        (graph.order, graph.count, graph.parents, graph.value),
    )
    make_tables(task)
    return Desk(graph, task, make_bench(d, cap), make_bench(d, cap), noise, patience)
