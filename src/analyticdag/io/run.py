"""A fit as plain data: `SavedRun` holds all that files and reports show, and no estimator.

`record_of(estimator)` is the one place that reads the estimator's attributes. Every `EdgeRecord`
says what fixed its direction, in the words of `analyticdag.fitting.edges.FixedBy`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from analyticdag._parameters import shown
from analyticdag._schema import plain
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import column_names
from analyticdag.effects import Known
from analyticdag.errors import InputError
from analyticdag.fitting import Edge, FixedBy
from analyticdag.fitting.edges import FIXED_IN_CLASS, directions, is_unlikely, kind_of
from analyticdag.graphs import edge_list, to_cpdag, topological_order
from analyticdag.io.audit import Audit
from analyticdag.io.state import Fitted, RungRecord, estimator_of, ladder_of
from analyticdag.knowledge import Knowledge
from analyticdag.linear.estimator import AnalyticDAG
from analyticdag.linear.options import settled
from analyticdag.optimize.trace import Trace
from analyticdag.tables.look import Look

# With more edges than this none is judged for hidden causes: so many take about a second.
MOST_JUDGED = 100


@dataclass(frozen=True)
class EdgeRecord:
    """One edge, by column index; `standardized` is the weight in standard deviations.

    `hidden_cause`: whether its ends look as if they had a common cause that was not measured, if
    judged. An edge of a category has `parts`, coefficients by level, and a strength for a weight.
    """

    source: int
    target: int
    weight: float
    fixed_by: str
    standardized: float | None = None
    standard_error: float | None = None
    near_threshold: bool | None = None
    stability: float | None = None
    direction_stability: float | None = None
    hidden_cause: bool | None = None
    probability: float | None = None
    direction_probability: float | None = None
    enters_at: float | None = None
    margin: float | None = None
    parts: tuple[tuple[str, float], ...] = ()
    partial_correlation: float | None = None

    @property
    def kind(self) -> str:
        """What the direction rests on: "data", "knowledge", "assumption" or nothing: "open"."""
        return kind_of(self.fixed_by)

    @property
    def strength(self) -> float:
        """How strong the edge is: comparable between columns of different units where known.

        Of an open edge it is that in the member of the class that was returned.
        """
        return abs(self.weight if self.standardized is None else self.standardized)


@dataclass(frozen=True, eq=False)
class SavedRun:
    """One fit: graph, certificate, how it was reached, and where it came from.

    `order` lists every cause before its effects: whoever reads the run can check it. `cpdag` is
    0/1 with undirected edges set both ways. `trace` holds one mapping per record, `diagnostics` one
    per check, with its name, level and advice. `loss_choice` says why `loss="auto"` took the loss
    it took, `selection` which lambdas were tried; both are None where nothing was to be chosen.
    `look` says how the columns of the table were read, `fitted` is what a model needs beside its
    graph, `ladder` holds the graphs of other prices, where somebody asked for them.
    """

    names: tuple[str, ...]
    weights: FloatArray = field(repr=False)
    adjacency: BoolArray = field(repr=False)
    cpdag: IntArray = field(repr=False)
    order: tuple[int, ...] = field(repr=False)
    edges: tuple[EdgeRecord, ...] = field(repr=False)
    removed_edges: tuple[tuple[str, str], ...] = ()
    h: float = 0.0
    loss: str = ""
    n_iter: int = 0
    status: str = ""
    advice: str = ""
    converged: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trace: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    loss_choice: Mapping[str, Any] | None = field(default=None, repr=False)
    selection: Mapping[str, Any] | None = field(default=None, repr=False)
    audit: Audit | None = field(default=None, repr=False)
    diagnostics: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    manifest: Mapping[str, Any] = field(default_factory=dict, repr=False)
    look: Look | None = field(default=None, repr=False)
    fitted: Fitted | None = field(default=None, repr=False)
    ladder: tuple[RungRecord, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_certificate(self)

    def to_estimator(self) -> AnalyticDAG:
        """Return a fitted `AnalyticDAG`: for effects, scores, and new rows read as these were."""
        return estimator_of(self)

    @property
    def n_nodes(self) -> int:
        """How many columns the data had."""
        return len(self.names)

    def edge_names(self, edge: EdgeRecord) -> tuple[str, str]:
        """Return the names of the two ends of an edge."""
        return self.names[edge.source], self.names[edge.target]

    def is_open(self, edge: EdgeRecord) -> bool:
        """Whether the reverse fits as well; of a graph that was given no edge is known to be such.

        Between columns of an identity the class says it: not every way to turn such edges fits.
        """
        in_class = bool(self.cpdag[edge.target, edge.source])
        return bool(self.loss) and edge.kind == "open" and in_class

    def is_line(self, edge: EdgeRecord) -> bool:
        """Whether a link has no arrow: nothing fixes its direction, or not likely enough."""
        unlikely = is_unlikely(edge.fixed_by, edge.direction_probability)
        return unlikely or edge.fixed_by == FixedBy.IDENTITY or self.is_open(edge)

    @property
    def lines(self) -> tuple[EdgeRecord, ...]:
        """The links without an arrow."""
        return tuple(edge for edge in self.edges if self.is_line(edge))

    @property
    def open_edges(self) -> tuple[EdgeRecord, ...]:
        """The edges that could as well point the other way."""
        return tuple(edge for edge in self.edges if self.is_open(edge))

    def ends(self, edge: EdgeRecord, *, member: bool = False) -> tuple[int, int, bool]:
        """Return the two columns of an edge and whether it is a line, as files show it.

        The ends of a line come in the order of the columns, which says nothing about causes.
        `member` takes all edges as the one graph has them that the fit returned.
        """
        if member or not self.is_line(edge):
            return edge.source, edge.target, False
        return min(edge.source, edge.target), max(edge.source, edge.target), True


def record_of(
    estimator: Any,
    *,
    audit: Audit | None = None,
    manifest: Mapping[str, Any] | None = None,
    look: Look | None = None,
) -> SavedRun:
    """Return the record of a fitted estimator; `look` is of the table that it was fitted on."""
    check_is_fitted(estimator)
    known = column_names(estimator, estimator.n_features_in_)
    adjacency = np.asarray(estimator.adjacency_matrix_, dtype=bool)
    return SavedRun(
        names=tuple(map(str, known)),
        weights=np.array(estimator.weights_, dtype=np.float64),
        adjacency=adjacency,
        cpdag=np.array(estimator.cpdag_, dtype=np.int64),
        order=tuple(map(int, estimator.causal_order_)),
        edges=_edges(estimator, known, audit),
        removed_edges=tuple((str(a), str(b)) for a, b in estimator.removed_edges_),
        h=float(estimator.h_),
        loss=str(estimator.loss_),
        n_iter=int(estimator.n_iter_),
        status=estimator.status_.name,
        advice=estimator.advice_,
        converged=bool(estimator.status_.converged),
        parameters=_parameters(estimator),
        trace=tuple(plain(record) for record in estimator.trace_.to_dicts()),
        loss_choice=_plain_or_none(estimator.loss_choice_),
        selection=_plain_or_none(estimator.selection_),
        audit=audit,
        manifest=plain(manifest or {}),
        look=look or _look_of(estimator),
        fitted=Fitted.of(estimator),
        ladder=ladder_of(estimator),
    )


def _look_of(estimator: Any) -> Look | None:
    """Return how a data frame was read, for an estimator that was given one."""
    recipe = getattr(estimator, "recipe_", None)
    if recipe is None:
        return None
    return Look(estimator.moments_.n_samples, recipe.columns, (), {})


def _plain_or_none(value: Any) -> dict[str, Any] | None:
    return None if value is None else plain(value.as_dict())


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters, and as "chosen" the values that the data chose for them."""
    found = {key: plain(value) for key, value in estimator.get_params(deep=False).items()}
    if isinstance(estimator, AnalyticDAG):
        found |= settled(estimator)
    found["start"] = estimator.trace_.start or None
    if isinstance(estimator.trace_, Trace) and estimator.trace_.search:
        trace, loss = estimator.trace_, estimator.loss_
        found["search"] = {
            "plan": trace.plan,
            "reading": getattr(estimator, "reading_", None),
            "gamma": trace.gamma(loss),
            "min_effect": trace.min_effect(loss),
            "excess": plain(getattr(estimator, "excess_", None)),
        }
    if estimator.selection_ is not None:
        best = estimator.selection_.best
        found["chosen"] = {
            "criterion": estimator.selection_.criterion,
            "lambda1": float(best.lambda1),
            "w_threshold": float(best.w_threshold),
        }
    return found


def run_of_weights(
    weights: ArrayLike,
    names: Sequence[str],
    *,
    knowledge: Knowledge | None = None,
    audit: Audit | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> SavedRun:
    """Return the record of a DAG that came from elsewhere, so that it can be saved and shown."""
    W = np.array(weights, dtype=np.float64)
    adjacency: BoolArray = W != 0.0
    order = topological_order(adjacency, names)
    cpdag = to_cpdag(adjacency)
    allowed = (knowledge or Knowledge()).resolve(names).allowed
    fixed = directions(adjacency, cpdag, allowed, FixedBy.NOTHING)
    edges = tuple(
        EdgeRecord(i, j, float(W[i, j]), str(fixed[i, j]), _in_sd(W, i, j, audit))
        for i, j in edge_list(W)
    )
    return SavedRun(
        tuple(names),
        W,
        adjacency,
        cpdag.astype(np.int64),
        tuple(order.tolist()),
        edges,
        audit=audit,
        manifest=plain(manifest or {}),
    )


def _edges(
    estimator: Any, names: Sequence[Hashable], audit: Audit | None
) -> tuple[EdgeRecord, ...]:
    """Read the rows of `edges_`."""
    position = {name: k for k, name in enumerate(names)}
    scaled = getattr(estimator, "standardize", False)
    hidden = _hidden(estimator)
    records = []
    for edge in estimator.edges_:
        i, j = position[edge.source], position[edge.target]
        in_sd = _in_sd(estimator.weights_, i, j, audit)
        own = {
            "source": i,
            "target": j,
            "fixed_by": str(edge.fixed_by),
            "standardized": float(edge.weight) if scaled or edge.parts else in_sd,
            "hidden_cause": _is_hidden(hidden, edge, i, j),
            "parts": tuple((str(label), float(size)) for label, size in edge.parts),
        }
        records.append(EdgeRecord(**plain(edge._asdict()) | own))
    return tuple(sorted(records, key=lambda edge: (edge.source, edge.target)))


def _is_hidden(pairs: set[frozenset[int]] | None, edge: Edge, i: int, j: int) -> bool | None:
    """Say whether the ends have a hidden cause; None where that was not, or cannot be, judged."""
    if pairs is None or edge.fixed_by is FixedBy.IDENTITY:
        return None
    return frozenset((i, j)) in pairs


def _hidden(estimator: Any) -> set[frozenset[int]] | None:
    """Return the pairs that look as if they had a hidden cause; None where none was judged."""
    linear = hasattr(estimator, "moments_") and not estimator.loss_traits_.binary
    if not linear or len(estimator.edges_) > MOST_JUDGED or any(e.parts for e in estimator.edges_):
        return None
    return {frozenset(pair) for pair in Known.of(estimator).hidden_pairs}


def _in_sd(W: FloatArray, i: int, j: int, audit: Audit | None) -> float | None:
    """Return a weight in standard deviations of its effect per one of its cause."""
    if audit is None or not audit.columns[j].sd:
        return None
    return float(W[i, j]) * audit.columns[i].sd / audit.columns[j].sd


def check_certificate(run: SavedRun) -> None:
    """Raise InputError unless the order proves the graph acyclic and all parts agree."""
    d = len(run.names)
    shapes = {run.weights.shape, run.adjacency.shape, run.cpdag.shape}
    if shapes != {(d, d)}:
        raise InputError(f"a run on {d} columns needs ({d}, {d}) matrices, not {sorted(shapes)}")
    if d == 0:
        raise InputError("a run needs at least one column; the run is damaged")
    if len(set(run.names)) != d:
        raise InputError("the columns of a run need names that differ; rename them")
    if sorted(run.order) != list(range(d)):
        raise InputError("the causal order must list every column once; the run is damaged")
    position = np.empty(d, dtype=np.int64)
    position[list(run.order)] = np.arange(d)
    tails, heads = np.nonzero(run.adjacency)
    if np.any(position[tails] >= position[heads]):
        topological_order(run.adjacency, run.names)  # raises and names the cycle, if there is one
        raise InputError("the causal order does not fit the graph; the run is damaged")
    if np.any((run.weights != 0.0) & ~run.adjacency) or not np.isfinite(run.weights).all():
        raise InputError("the weights do not fit the graph; the run is damaged")
    _check_class(run)
    _check_edges(run, list(zip(tails.tolist(), heads.tolist(), strict=True)))
    _check_columns(run)


def _check_class(run: SavedRun) -> None:
    """Refuse a class that does not join what the graph joins, or points the other way."""
    kept, turned = run.cpdag != 0, run.cpdag.T != 0
    skeleton = run.adjacency | run.adjacency.T
    if not np.array_equal(kept | turned, skeleton) or np.any(run.adjacency & ~kept):
        raise InputError("the CPDAG does not fit the graph; the run is damaged")


def _check_edges(run: SavedRun, found: list[tuple[int, int]]) -> None:
    """Refuse a table of edges that says anything else than the matrices."""
    if [(edge.source, edge.target) for edge in run.edges] != found:
        raise InputError("the table of edges does not fit the graph; the run is damaged")
    for edge in run.edges:
        pair = " -> ".join(map(shown, run.edge_names(edge)))
        if edge.weight != run.weights[edge.source, edge.target]:
            raise InputError(
                f"{pair} has the weight {edge.weight!r} in the table of edges and "
                f"{float(run.weights[edge.source, edge.target])!r} in the matrix; the run is "
                "damaged"
            )
        _check_direction(edge, pair, is_open=bool(run.cpdag[edge.target, edge.source]))
        shares = (
            *(edge.stability, edge.direction_stability),
            *(edge.probability, edge.direction_probability),
        )
        sizes = (edge.standard_error, edge.enters_at)
        if any(s is not None and not 0.0 <= s <= 1.0 for s in shares) or any(
            size is not None and size < 0.0 for size in sizes
        ):
            raise InputError(
                f"a share, a probability or an error of {pair} cannot be; the run is damaged"
            )


def _check_direction(edge: EdgeRecord, pair: str, *, is_open: bool) -> None:
    """Refuse an edge whose label is unknown, or says anything else than the class."""
    if edge.fixed_by not in list(FixedBy):
        raise InputError(f"what fixed {pair} is not one of {', '.join(FixedBy)}")
    if edge.fixed_by in FIXED_IN_CLASS and is_open:
        raise InputError(
            f"{pair} is said to be fixed by the data, and the CPDAG leaves it open; the run is "
            "damaged"
        )
    said = {FixedBy.NOTHING: "open", FixedBy.NOISE_SHAPE: "fixed by the shape of noise"}
    if edge.fixed_by in said and not is_open:
        raise InputError(
            f"{pair} is said to be {said[FixedBy(edge.fixed_by)]}, and the CPDAG fixes its "
            "direction; the run is damaged"
        )


def _check_columns(run: SavedRun) -> None:
    """Refuse an audit or a list of dropped edges that is of other columns."""
    names = set(run.names)
    if any(a not in names or b not in names for a, b in run.removed_edges):
        raise InputError("an edge was dropped between columns that are not there")
    if run.audit is None:
        return
    copies = {k for pair in run.audit.copies for k in pair}
    if len(run.audit.columns) != len(names) or not copies <= set(range(len(names))):
        raise InputError("the audit is of other columns than the run; the run is damaged")
