"""The task in the form kernels want it, and the memory of one search around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.moments import Moments
from analyticdag.search import kernels
from analyticdag.search.kernels import Stop
from analyticdag.search.local import DRAWS
from analyticdag.search.records import COLLINEAR, PATIENT


@dataclass(frozen=True, eq=False)
class Setting:
    """The task in the form kernels want it; shared by all starts."""

    moments: Moments  # of the standardised variables, unless all noise has one variance
    forbidden: BoolArray | None  # None: nothing is
    required: BoolArray | None
    penalty: float
    noise: float | None  # the noise variance all nodes share; None: each has its own
    cap: int
    thorough: bool = False  # equal variances: try all nodes elsewhere, not only suspicious ones

    @property
    def S(self) -> FloatArray:  # noqa: N802 (a letter of the mathematics)
        """Covariance of all rows."""
        return self.moments.S

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return self.moments.n_samples

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

    def rules(self, noise: float | None = None, patience: int = PATIENT) -> kernels.Rules:
        """What a parent must be worth, at this noise level (None: the setting's)."""
        noise = self.noise if noise is None else noise
        return kernels.Rules(self.penalty, noise, self.price, self.cap, patience)

    @property
    def data(self) -> kernels.Data:
        """Covariances, rows and knowledge for the kernels; nothing is copied."""
        d = len(self.S)
        return kernels.Data(
            S=np.ascontiguousarray(self.moments.covariances),
            at=self.moments.of * (d * d),
            n=self.moments.samples_of.astype(np.float64),
            floor=COLLINEAR * np.diag(self.S),
            forbidden=self.forbidden,
            required=self.required,
        )


@dataclass(frozen=True, eq=False)
class Graph:
    """An order with parents, as the kernels left it."""

    order: IntArray
    count: IntArray
    parents: IntArray
    value: FloatArray

    @property
    def adjacency(self) -> BoolArray:
        """The graph as a (d, d) mask."""
        d, most = len(self.order), int(self.count.max(initial=0))
        used = np.arange(most) < self.count[:, None]
        edges = np.zeros((d, d), np.bool_)
        edges[self.parents[:, :most][used], np.repeat(np.arange(d), self.count)] = True
        return edges

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


class Search:
    """A graph under search, and the memory that kernels need for it.

    Memory is two d x d tables of floats and one of bytes beside the data; the factors share a pool
    and take sum_j |pa_j|^2 / 2. Tables are reserved with `np.empty` and `np.zeros`, which use
    memory only where something is written: generous widths cost nothing.
    """

    def __init__(self, setting: Setting, order: IntArray, stop: Stop) -> None:
        d, width = len(order), setting.cap + 1
        self.setting, self.data, self.stop = setting, setting.data, stop
        table = new_state(order, width)
        self.graph = Graph(*(table[name] for name in ("order", "count", "parents", "value")))
        self.link, self.spread = table["link"], table["spread"]
        self.memory = kernels.Memory(
            kernels.State(table),
            kernels.Plan(new_rows(2 * d + 1, width)),
            kernels.Undo(
                {**new_rows(d, width), "order": np.array(order), "noted": np.zeros(d, np.int8)}
            ),
            kernels.Queue(new_queue(d)),
            kernels.Regression(new_regression(d, width)),
            kernels.Regression(new_regression(d, width)),
        )

    def fit(self, nodes: IntArray, ends: IntArray, rules: kernels.Rules) -> None:
        """Parents from scratch: of nodes[k] among the first ends[k] of the order."""
        memory = self.memory
        kernels.fit(self.data, rules, memory.state, memory.mover, nodes, ends, self.stop)

    def descend(self, nodes: IntArray, rules: kernels.Rules) -> float:
        """Put these nodes where the score is lowest, and whom that concerns; the change."""
        nothing = np.empty((0, DRAWS))
        return kernels.search(self.data, rules, self.memory, nodes, nothing, self.stop)

    def disturb(self, draws: FloatArray, rules: kernels.Rules) -> float:
        """One disturbance for each row of uniform numbers; the change."""
        nobody = np.empty(0, np.int64)
        return kernels.search(self.data, rules, self.memory, nobody, draws, self.stop)

    def move(self, node: int, place: int, rules: kernels.Rules) -> float:
        """Put a node at a place of the order (ANYWHERE: the best); the change."""
        return kernels.move_node(self.data, rules, self.memory, node, place, self.stop)

    def give_parents(self, node: int, parents: IntArray, rules: kernels.Rules) -> None:
        """Give a node exactly these parents."""
        memory = self.memory
        kernels.give_parents(self.data, rules, memory.state, memory.mover, node, parents)

    def offer(self, node: int, parents: IntArray, end: int, rules: kernels.Rules) -> None:
        """Give a node these parents, shrunk and grown, if that lowers its score."""
        memory = self.memory
        kernels.offer(self.data, rules, memory.state, memory.mover, node, parents, end, self.stop)


def new_state(order: IntArray, width: int) -> dict[str, np.ndarray]:
    """Tables of a `kernels.State` without parents as yet."""
    d = len(order)
    nodes = ("count", "age", "pool_at", "pool_room")
    return {
        **{name: np.zeros(d, np.int64) for name in nodes},
        "order": np.array(order, np.int64),
        "place": np.argsort(order),
        "parents": np.empty((d, width), np.int64),
        "value": np.zeros(d),
        "link": np.empty((d, d)),
        "spread": np.empty((d, d)),
        "tie": np.zeros((d, d), np.int8),
        # Room is taken in powers of two: up to four times what is needed, and again for what was
        # outgrown. A node that finds no room is regressed anew whenever it is looked at.
        "pool": np.empty(min(2 * d * (width + 4) ** 2, 2 * d * d + 2**20)),
    }


def new_rows(rows: int, width: int) -> dict[str, np.ndarray]:
    """Rows of a node and its parents each."""
    nodes, parents = np.zeros((2, rows), np.int64), np.empty((rows, width), np.int64)
    return {"node": nodes[0], "size": nodes[1], "parents": parents}


def new_queue(d: int) -> dict[str, np.ndarray]:
    """Tables of a `kernels.Queue`."""
    (nodes, corners), (waiting, flag) = np.zeros((2, d), np.int64), np.zeros((2, d), np.int8)
    return {"nodes": nodes, "corners": corners, "waiting": waiting, "flag": flag}


def new_regression(d: int, width: int) -> dict[str, np.ndarray]:
    """Tables of a `kernels.Regression` on less than `width` parents."""
    return {
        "members": np.empty(width, np.int64),
        "slot": np.full(d, -1, np.int64),
        "factor": np.empty((width, width)),
        **{name: np.empty(width) for name in ("weights", "sharp", "mix")},
        **{name: np.empty(d) for name in ("link", "spread", "direction")},
    }
