"""`lambda1="auto"`, `w_threshold="auto"`: let the data choose how sparse the path ends.

The path is followed for a falling series of lambdas, each from where the one before ended, and
one of them is chosen by

| lambda1            | the lambda with                                                            |
|--------------------|----------------------------------------------------------------------------|
| "auto" or "ebic"   | the best EBIC of its graph, parents refitted by least squares              |
| "cv"               | the best likelihood on held-out fifths of the rows                         |
| "stars"            | the least value whose graphs still agree between subsamples (StARS, Liu et |
|                    | al. 2010: average instability at most 0.05)                                |

`w_threshold="auto"` picks for each lambda, among the sizes of its weights, the threshold with the
best EBIC: it needs no units. The whole series is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.extended_bic import MODERATE, edge_price
from analyticdag.fitting.finish import finish
from analyticdag.fitting.placement import to_float64
from analyticdag.fitting.rows import Rows
from analyticdag.fitting.statistics import Statistics
from analyticdag.least_squares import weights_on_parents
from analyticdag.linear.options import Options
from analyticdag.linear.paths import Start, follow_path
from analyticdag.linear.prepare import Fit
from analyticdag.losses import VARIANCE_FLOOR, LossClass, covariance, loss_traits
from analyticdag.moments import Moments

logger = logging.getLogger(__name__)

# Powers of two around sqrt(log d / n), the size at which chance correlations are cut off.
_POWERS = range(3, -5, -1)
_THRESHOLDS = 20  # tried for each lambda, evenly spread over the sizes of its weights
_FOLDS = 5
# The instability is that of Liu et al.; how many subsamples is as first written.
_SUBSAMPLES, _INSTABILITY = 10, 0.05


@dataclass(frozen=True)
class SelectionPoint:
    """One lambda: its threshold, how many edges are left, and its score (smaller is better).

    A score that was not finite is None in a saved run.
    """

    lambda1: float
    w_threshold: float
    n_edges: int
    score: float | None


@dataclass(frozen=True)
class Selection:
    """The series of lambdas, largest first, and the one that was chosen."""

    criterion: str
    points: tuple[SelectionPoint, ...]
    chosen: int

    @property
    def best(self) -> SelectionPoint:
        """The point that was chosen."""
        return self.points[self.chosen]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, a row for each lambda."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class _Scored:
    """Where one lambda ended on some rows, and where its path had begun."""

    start: Start
    threshold: float
    adjacency: BoolArray
    weights: FloatArray  # refitted by least squares
    score: float


@dataclass(frozen=True, eq=False)
class _Series:
    """A series of lambdas that can be followed again and again, on other rows each time."""

    fit: Fit
    loss: LossClass
    start: Start
    lambdas: list[float]
    rng: np.random.Generator

    @property
    def pooled(self) -> bool:
        """Whether likelihoods are those of equal noise variances."""
        return bool(loss_traits(self.loss).reads_scales)

    def on(self, statistics: Statistics) -> Iterator[_Scored]:
        """Follow the path for each lambda, from where the one before ended."""
        start = self.start
        for number, lam in enumerate(self.lambdas, start=1):
            logger.debug("choosing lambda1: %d of %d, %.3g", number, len(self.lambdas), lam)
            path = follow_path(self.fit, statistics, self.loss, lam, start, aside=True)
            weights = np.nan_to_num(to_float64(path.weights))
            graphs = [
                self._graph(statistics, start, weights, threshold)
                for threshold in _thresholds(self.fit.options, weights)
            ]
            yield min(graphs, key=lambda graph: graph.score)
            start = Start("series", weights)

    def on_subsets(
        self, rows: FloatArray, subsets: Iterable[IntArray]
    ) -> Iterator[tuple[IntArray, Statistics, list[_Scored]]]:
        """Follow the series on some of the rows, and on others: each subset with its results."""
        for chosen in subsets:
            some = _on_rows(self.fit.statistics, rows[chosen])
            yield chosen, some, list(self.on(some))

    def _graph(
        self, statistics: Statistics, start: Start, weights: FloatArray, threshold: float
    ) -> _Scored:
        adjacency = finish(weights, threshold, self.fit.masks).adjacency
        refitted = weights_on_parents(statistics.moments, adjacency)
        score = _ebic(statistics, refitted, int(adjacency.sum()), pooled=self.pooled)
        return _Scored(start, threshold, adjacency, refitted, score)


def select(fit: Fit, loss: LossClass, start: Start) -> tuple[Selection, Start]:
    """Return the series of lambdas with its choice, and where the chosen path began."""
    options, statistics = fit.options, fit.statistics
    criterion = options.criterion or "ebic"
    lambdas = [options.lambda1]
    if options.criterion is not None:
        in_units = loss_traits(loss).variances == "unit"
        lambdas = _lambdas(statistics, in_units_of_noise=in_units)
    series = _Series(fit, loss, start, lambdas, np.random.default_rng(options.seed))
    graphs = list(series.on(statistics))
    if criterion == "ebic":
        scores = [graph.score for graph in graphs]
    else:
        scores = _held_out(series) if criterion == "cv" else _instability(series)
    points = tuple(
        SelectionPoint(lam, graph.threshold, int(graph.adjacency.sum()), float(score))
        for lam, graph, score in zip(lambdas, graphs, scores, strict=True)
    )
    chosen = _most_detailed(scores) if criterion == "stars" else int(np.argmin(scores))
    return Selection(criterion, points, chosen), graphs[chosen].start


def _most_detailed(instability: list[float]) -> int:
    """Return the least lambda that is stable, or the most stable one if none is."""
    stable = [k for k, value in enumerate(instability) if value <= _INSTABILITY]
    return stable[-1] if stable else int(np.argmin(instability))


def _lambdas(statistics: Statistics, *, in_units_of_noise: bool) -> list[float]:
    """Return the series, from hardly any edge to too many; lambda is in units of the loss."""
    S, n = statistics.S, statistics.n_samples
    base = np.sqrt(np.log(max(len(S), 2)) / n)
    if in_units_of_noise:
        # Least squares is in squared units of the noise: what all other columns leave of each.
        ridge = np.diag(S).copy() * 1e-3
        base *= float(np.median(1.0 / np.diag(np.linalg.inv(S + np.diag(ridge)))))
    return [float(base * 2.0**power) for power in _POWERS]


def _thresholds(options: Options, weights: FloatArray) -> list[float]:
    """Return the threshold, or some to choose from: sizes that weights have."""
    if not options.choose_threshold:
        return [options.w_threshold]
    sizes = np.unique(np.abs(weights[weights != 0.0]))
    places = np.linspace(0, len(sizes) - 1, min(_THRESHOLDS, len(sizes))).astype(int)
    return [float(size) for size in sizes[places]] or [0.0]


def _ebic(statistics: Statistics, W: FloatArray, n_edges: int, *, pooled: bool) -> float:
    """Return the extended BIC of refitted weights, under equal variances if `pooled`."""
    n, v = statistics.n_samples, _noise(statistics, W, pooled=pooled)
    return float(n * np.log(v).sum() + edge_price(n, len(W), MODERATE) * n_edges)


def _noise(statistics: Statistics, W: FloatArray, *, pooled: bool) -> FloatArray:
    v: FloatArray = statistics.residual_variances(W)[~statistics.constant]
    return np.full(len(v), v.mean()) if pooled and len(v) else v


def _on_rows(statistics: Statistics, rows: FloatArray) -> Statistics:
    """Return the statistics of some of the rows, in the units of all of them."""
    S = np.where(statistics.touchable, covariance(rows), np.eye(rows.shape[1]))
    # A column may be constant in these rows alone.
    np.fill_diagonal(S, np.maximum(np.diag(S), VARIANCE_FLOOR * np.diag(statistics.S)))
    return replace(statistics, moments=Moments.shared(S, len(rows)), rows=Rows(rows))


def _held_out(series: _Series) -> list[float]:
    """Return, for each lambda, minus twice the log-likelihood of rows left out of its series."""
    statistics, pooled = series.fit.statistics, series.pooled
    rows = _rows(statistics, "cv")
    everything = np.arange(len(rows))
    order = series.rng.permutation(len(rows))
    kept = [np.delete(everything, part) for part in np.array_split(order, _FOLDS)]
    total = np.zeros(len(series.lambdas))
    for chosen, training, graphs in series.on_subsets(rows, kept):
        test = np.delete(rows, chosen, axis=0) - rows[chosen].mean(axis=0)
        for k, graph in enumerate(graphs):
            left = (test - test @ graph.weights)[:, ~statistics.constant]
            v = _noise(training, graph.weights, pooled=pooled)
            total[k] += float(np.sum(left**2 / v) + len(test) * np.log(v).sum())
    return [float(value) for value in total]


def _instability(series: _Series) -> list[float]:
    """Return, for each lambda, how much pairs differ between subsamples: the mean of 2p(1 - p)."""
    rows = _rows(series.fit.statistics, "stars")
    n, d = rows.shape
    size = int(min(10.0 * np.sqrt(n), 0.8 * n))
    drawn = (series.rng.choice(n, size=size, replace=False) for _ in range(_SUBSAMPLES))
    joined = np.zeros((len(series.lambdas), d, d))
    for _, _, graphs in series.on_subsets(rows, drawn):
        joined += [graph.adjacency | graph.adjacency.T for graph in graphs]
    share = joined / _SUBSAMPLES
    upper = np.triu_indices(d, 1)
    return [float(np.mean(2.0 * p[upper] * (1.0 - p[upper]))) if d > 1 else 0.0 for p in share]


def _rows(statistics: Statistics, criterion: str) -> FloatArray:
    if statistics.rows is None:
        raise ParameterError(
            f"lambda1={criterion!r} needs the rows, which fit_covariance does not have; use "
            "lambda1='ebic', or fit(X)"
        )
    rows = statistics.rows.values
    if len(rows) < 2 * _FOLDS:
        raise ParameterError(
            f"lambda1={criterion!r} needs at least {2 * _FOLDS} rows, but there are "
            f"{len(rows)}; use lambda1='ebic' or a number"
        )
    return rows
