"""`GraphEstimator`: what both estimators are once they are fitted."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from analyticdag._typing import BinaryArray, FloatArray, IntArray
from analyticdag.drawing.figure import to_axes
from analyticdag.drawing.picture import BOXES, Link, Picture, draw, short_number
from analyticdag.drawing.svg import to_svg
from analyticdag.errors import MissingDependencyError
from analyticdag.fitting.edges import Edge, kind_of
from analyticdag.fitting.finish import Finished
from analyticdag.graphs import topological_order
from analyticdag.losses import LossTraits
from analyticdag.optimize.trace import Status, Trace

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class GraphEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that learns a DAG; the attributes are described where it is."""

    weights_: FloatArray
    adjacency_matrix_: BinaryArray
    graph_: nx.DiGraph
    cpdag_: BinaryArray
    class_graph_: nx.DiGraph
    causal_order_: IntArray
    edges_: tuple[Edge, ...]
    removed_edges_: list[tuple[Hashable, Hashable]]
    h_: float
    loss_: str
    loss_traits_: LossTraits
    loss_choice_: Any
    selection_: Any
    interventions_: Any
    trace_: Trace
    status_: Status
    advice_: str
    n_iter_: int
    mean_: FloatArray
    scale_: FloatArray
    noise_variances_: FloatArray

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw what is known with matplotlib and return the axes: causes above their effects.

        A line without a head is an edge whose direction nothing fixes, a hollow head one that
        only knowledge or an assumption does. Blue increases, red decreases; thicker is a larger
        partial correlation; numbers are weights.
        """
        check_is_fitted(self)
        return to_axes(self._picture(), axes)

    def edges_frame(self) -> pd.DataFrame:
        """Return the edges as a pandas DataFrame, the strongest first.

        An edge whose direction is open has its ends in the order of the columns, and neither a
        weight, nor a sign, nor anything else that belongs to one of its directions; its partial
        correlation is that in the member of the class that was returned.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError("pandas", "data") from error
        check_is_fitted(self)
        place = {name: k for k, name in enumerate(self.graph_)}
        rows = [_row(edge, place) for edge in self.edges_]
        rows.sort(key=lambda row: -abs(row["partial_correlation"]))
        columns = ["source", "target", "direction", *Edge._fields[2:]]
        frame = pd.DataFrame(rows, columns=columns, dtype=object)
        # Names stay what they are: not every one is text that pandas can store.
        texts = {name: frame[name].astype("str") for name in ("direction", "fixed_by")}
        numbers = {name: frame[name].astype("float64") for name in _NUMBERS}
        return frame.assign(near_threshold=frame["near_threshold"].astype(bool), **texts, **numbers)

    def _repr_html_(self) -> str:
        """Return scikit-learn's box, with the graph beside it once there is one."""
        box = super()._repr_mimebundle_().get("text/html", "")
        if not hasattr(self, "graph_"):
            return str(box)
        size = f"{len(self.graph_)} variables, {len(self.graph_.edges)} links"
        many = f"<p>{size}: plot() draws them</p>"
        graph = many if len(self.graph_) > BOXES else to_svg(self._picture())
        style = "display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start"
        return f'<div style="{style}"><div>{box}</div><div>{graph}</div></div>'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

    def _picture(self) -> Picture:
        place = {name: k for k, name in enumerate(self.graph_)}
        links = [_link(edge, place) for edge in self.edges_]
        return draw([str(n) for n in self.graph_], links, use_graphviz=False)

    def _keep_graph(
        self,
        names: Sequence[Hashable],
        finished: Finished,
        cpdag: BinaryArray,
        edges: tuple[Edge, ...],
    ) -> None:
        """Set the graph in every form that it is offered in."""
        self.weights_ = finished.weights
        self.adjacency_matrix_ = finished.adjacency.astype(np.int8)
        self.cpdag_ = cpdag
        self.edges_ = edges
        self.graph_ = nx.DiGraph()
        self.graph_.add_nodes_from(names)
        self.graph_.add_weighted_edges_from((e.source, e.target, e.weight) for e in edges)
        self.class_graph_ = _class_graph(names, edges, cpdag)
        self.causal_order_ = topological_order(finished.adjacency)
        self.removed_edges_ = [
            (names[i], names[j]) for i, j in (*finished.on_cycles, *finished.over_limit)
        ]


def _is_open(edge: Edge) -> bool:
    """Whether nothing fixes the direction; also of an identity, which can be turned in part."""
    return kind_of(edge.fixed_by) == "open"


def _ends(edge: Edge, place: Mapping[Hashable, int]) -> tuple[Hashable, Hashable]:
    """Return the ends of an edge; those of an open one in the order of the columns."""
    turned = _is_open(edge) and place[edge.source] > place[edge.target]
    return (edge.target, edge.source) if turned else (edge.source, edge.target)


# What is a number of an edge; NaN where there is none.
_NUMBERS = [
    "weight",
    "standard_error",
    "partial_correlation",
    "stability",
    "direction_stability",
    "probability",
    "direction_probability",
    "enters_at",
    "margin",
]


def _row(edge: Edge, place: Mapping[Hashable, int]) -> dict[str, Any]:
    """Return a row of the table; what belongs to a direction is left out where there is none."""
    source, target = _ends(edge, place)
    row = {**edge._asdict(), "source": source, "target": target, "direction": "directed"}
    if _is_open(edge):
        row |= {"direction": "open", "weight": np.nan, "standard_error": np.nan}
        row["partial_correlation"] = abs(edge.partial_correlation)
        row |= dict.fromkeys(("direction_stability", "direction_probability", "margin"))
    return {**row, "fixed_by": str(edge.fixed_by)}


def _link(edge: Edge, place: Mapping[Hashable, int]) -> Link:
    """Return an edge as it is drawn, without a number where the direction is open."""
    source, target = _ends(edge, place)
    is_open = _is_open(edge)
    what = "strength" if edge.parts else "weight"
    about = "direction open" if is_open else f"{what} {edge.weight:.4g}"
    return Link(
        source=place[edge.source],
        target=place[edge.target],
        weight=edge.weight,
        strength=abs(edge.partial_correlation),
        kind=kind_of(edge.fixed_by),
        is_open=is_open,
        label="" if is_open else short_number(edge.weight),
        description=f"{source} {'—' if is_open else '→'} {target}, {about}",
        signed=not edge.parts,
    )


def _class_graph(
    names: Sequence[Hashable], edges: tuple[Edge, ...], cpdag: BinaryArray
) -> nx.DiGraph:
    """Return what is known: both arcs, with open=True, where nothing fixes the direction."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    place = {name: k for k, name in enumerate(names)}
    for edge in edges:
        is_open = _is_open(edge) and bool(cpdag[place[edge.target], place[edge.source]])
        graph.add_edge(edge.source, edge.target, open=is_open)
        if is_open:
            graph.add_edge(edge.target, edge.source, open=True)
    return graph
