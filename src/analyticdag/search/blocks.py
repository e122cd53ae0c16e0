"""The search where some nodes are blocks of columns, such as the levels of a category.

It is the search of `engine.py` with another task: what a node leaves unexplained is a determinant
(`steps/blocks.py`), and an edge between blocks of k and l columns buys k·l coefficients. The gain
of an accident is then a chi-square with so many degrees of freedom, and its price is what such an
accident exceeds as rarely as that of a single column exceeds its own (`price.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.extended_bic import gamma_of
from analyticdag.knowledge import EdgeMasks
from analyticdag.least_squares import NodeColumns, block_log_det
from analyticdag.moments import Moments
from analyticdag.search import kernels
from analyticdag.search.engine import (
    NOTICEABLE,
    Contribution,
    Run,
    Work,
    contribution,
    local_runs,
    returns,
    silent,
)
from analyticdag.search.price import (
    as_single,
    block_prices,
    cautious_price,
    checked_effect,
    effect_price,
    fair_price,
)
from analyticdag.search.setting import Setting, checked_knowledge
from analyticdag.search.steps.given import PATIENT

__all__ = ["BlockResult", "BlockSetting", "block_result", "make_block_setting", "search_blocks"]


@dataclass(frozen=True)
class BlockResult:
    """The best graph of blocks."""

    adjacency: BoolArray
    score: float
    price: float  # of an edge between single columns
    gamma: float
    start: str
    returns: int  # runs that ended at this score
    contributions: tuple[Contribution, ...]
    interrupted: bool = False  # by Ctrl-C: the best of the rounds that ended


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockSetting(Setting):
    """The task where nodes are blocks of columns; `moments` are those of the columns."""

    nodes: NodeColumns

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.nodes.sizes)

    @cached_property
    def prices(self) -> FloatArray:
        """Prices of all edges, where one between single columns has that of the setting."""
        return block_prices(self.price, self.nodes.sizes)

    @property
    def held(self) -> FloatArray | None:
        """Shares of the rows counted that hold both of two nodes; None without gaps."""
        held, first = self.moments.held, self.nodes.first
        return None if held is None else held[np.ix_(first, first)]

    def rules(self, noise: float | None = None, patience: int = PATIENT) -> kernels.Rules:
        """What a parent must be worth."""
        return kernels.Rules(self.price, noise, self.share, self.cap, patience, self.prices)

    @property
    def data(self) -> kernels.Data:
        """Covariances, rows, knowledge and blocks for the kernels."""
        return kernels.Data(**self.given(self.nodes.first), sizes=self.nodes.sizes)

    def memory(self, order: IntArray) -> kernels.Memory:
        """What the kernels work on."""
        return kernels.Memory(order, self.cap + 1, self.nodes.sizes)

    def misfit(self, node: int, parents: IntArray) -> float:
        """Misfit of a node on some parents."""
        own, others = self.nodes.columns_of(node), self.nodes.columns_of(*parents)
        left = block_log_det(self.moments.covariance_of(own[0]), own, others)
        return float(self.moments.samples_of[own[0]]) * left

    def values(self, graph: BoolArray, nodes: IntArray) -> FloatArray:
        """Return the scores of some nodes."""
        misfits = [self.misfit(node, np.flatnonzero(graph[:, node])) for node in nodes.tolist()]
        return np.array(misfits) + (self.prices * graph).sum(axis=0)[nodes]

    def gains(self, graph: BoolArray) -> FloatArray:
        """What each edge of a graph is worth, as a (d, d) matrix: how the misfit would rise."""
        gains = np.zeros(graph.shape)
        for i, j in np.argwhere(graph).tolist():
            parents = np.flatnonzero(graph[:, j])
            rise = self.misfit(j, parents[parents != i]) - self.misfit(j, parents)
            gains[i, j] = max(rise, 0.0)
        return gains

    def edge_gains(self, graph: BoolArray) -> FloatArray:
        """What the edges gain, as those of single columns that accidents exceed as rarely."""
        sizes = self.nodes.sizes
        return as_single(self.gains(graph)[graph], np.outer(sizes, sizes)[graph])


def make_block_setting(
    moments: Moments, sizes: IntArray, price: float, masks: EdgeMasks | None = None
) -> BlockSetting:
    """Check what is known about the edges, and return all that a search needs."""
    forbidden, required, cap = checked_knowledge(masks, len(sizes), len(sizes))
    nodes = NodeColumns(np.ascontiguousarray(sizes, np.int64))
    return BlockSetting(moments, forbidden, required, price, None, cap, nodes=nodes)


def search_blocks(
    moments: Moments,
    sizes: IntArray,
    *,
    starts: Mapping[str, ArrayLike],
    price: float | None = None,
    min_effect: float = 0.0,
    effort: float = 1.0,
    masks: EdgeMasks | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> BlockResult:
    """Search over orders of the blocks; arguments are those of `search_orders`.

    `moments` are those of the columns, block after block, scaled in any way. Without `effort` the
    search is a local one from these starts. Ctrl-C ends the search with the best graph so far, once
    there is one.
    """
    d, n = len(sizes), moments.n_samples
    floor = effect_price(checked_effect(min_effect), n, equal=False)
    automatic = price is None
    price = max(cautious_price(d) if price is None else price, floor)
    setting = make_block_setting(moments, sizes, price, masks)
    stop, tell = kernels.Stop(), progress or silent
    work = Work(moments, dict(starts), random_state, n_jobs, effort, tell, stop)
    tell(f"search over {d} nodes, some of them blocks, from {', '.join(starts)}")
    runs = local_runs(setting, starts, n_jobs, stop)
    try:
        fair = price
        if automatic:
            fair = max(fair_price(setting.edge_gains(runs[0].graph.adjacency), price, d), floor)
        if fair < price - NOTICEABLE:
            tell("weak effects are common: edges get cheaper")
            cheaper, work.starts["cautious"] = replace(setting, price=fair), runs[0].graph.order
            runs, setting = local_runs(cheaper, work.starts, n_jobs, stop), cheaper
        if effort:
            runs = work.iterated(setting, runs)
    except KeyboardInterrupt:
        work.interrupted = True
    return block_result(runs, work, setting.price)


def block_result(runs: list[Run], work: Work, price: float) -> BlockResult:
    """The best run, and what is to be known about it."""
    best, n = runs[0], work.moments.n_samples
    return BlockResult(
        adjacency=best.graph.adjacency,
        score=best.iterated,
        price=price,
        gamma=gamma_of(price, n, len(best.graph.order)),
        start=best.label,
        returns=returns(runs),
        contributions=tuple(contribution(run) for run in runs),
        interrupted=work.interrupted,
    )
