"""What must hold of a fit, of an error, of the caller's data and of a saved run."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from analyticdag.errors import AnalyticDAGError, AnalyticDAGWarning
from fuzz.case import Violation, place_of

_LONGEST = 4000  # letters in a message; more is a dump of the data


def judge_error(error: BaseException) -> str:
    """Return the name of an error of our own tree with a message of one line; refuse others."""
    place = place_of(error)
    if not isinstance(error, AnalyticDAGError):
        raise Violation("raw exception", f"{type(error).__name__}: {error}", place) from error
    text = str(error)
    if len(text.splitlines()) != 1:
        raise Violation("message of several lines", text, place)
    if len(text) > _LONGEST:
        raise Violation("message without end", text, place)
    return type(error).__name__


def judge_warnings(caught: list[Any]) -> None:
    """Refuse warnings that are not ours, above all NumPy's."""
    for warning in caught:
        if not issubclass(warning.category, AnalyticDAGWarning):
            place = f"{warning.category.__name__} in {_short(warning.filename)}"
            raise Violation("foreign warning", str(warning.message), place)
        if len(str(warning.message).splitlines()) != 1:
            raise Violation("message of several lines", str(warning.message), "a warning")


def _short(filename: str) -> str:
    return "/".join(filename.split("/")[-2:])


def judge_fit(model: Any, knowledge: Any) -> None:
    """Check a fitted estimator: acyclic, finite, true to what is known."""
    adjacency = np.asarray(model.adjacency_matrix_)
    d = len(adjacency)
    _judge_acyclic(adjacency, model.causal_order_, model.graph_)
    for name in ("weights_", "mean_", "scale_", "noise_variances_", "h_"):
        if not np.all(np.isfinite(np.asarray(getattr(model, name), dtype=float))):
            raise Violation("not finite", f"{name} = {getattr(model, name)}", name)
    if not np.array_equal(adjacency != 0, model.weights_ != 0) and (
        np.asarray(model.weights_)[adjacency == 0].any()
    ):
        raise Violation("contradiction", "weights_ has edges that adjacency_matrix_ has not")
    for edge in model.edges_:
        # An infinite standard error says that nothing is left to judge by; a negative one lies.
        if not math.isfinite(edge.weight) or edge.standard_error < 0.0:
            raise Violation("not finite", str(edge), "edges_")
    if len(model.edges_) != int((adjacency != 0).sum()):
        raise Violation("contradiction", "edges_ does not list the edges of adjacency_matrix_")
    if knowledge is not None:
        names = list(model.graph_)
        _judge_knowledge(adjacency != 0, knowledge.resolve(names), d)


def _judge_acyclic(adjacency: Any, order: Any, graph: nx.DiGraph) -> None:
    if sorted(np.asarray(order).tolist()) != list(range(len(adjacency))):
        raise Violation("cycle", f"causal_order_ is no order: {order}")
    position = np.argsort(np.asarray(order, dtype=np.int64))
    tails, heads = np.nonzero(adjacency)
    if np.any(position[tails] >= position[heads]) or not nx.is_directed_acyclic_graph(graph):
        raise Violation("cycle", f"edges {list(zip(tails, heads, strict=True))}, order {order}")


def _judge_knowledge(adjacency: Any, known: Any, d: int) -> None:
    if np.any(adjacency & ~known.allowed):
        raise Violation("broken knowledge", f"has {np.argwhere(adjacency & ~known.allowed)}")
    if np.any(known.required & ~adjacency):
        raise Violation("broken knowledge", f"lacks {np.argwhere(known.required & ~adjacency)}")
    most = adjacency.sum(axis=0).max() if d else 0
    if known.max_parents is not None and most > known.max_parents:
        raise Violation("broken knowledge", f"{most} parents, max_parents={known.max_parents}")


def judge_same(model: Any, plain: Any) -> None:
    """Check that two fits of the same numbers in different containers are one."""
    if not np.array_equal(model.adjacency_matrix_, plain.adjacency_matrix_) or not np.allclose(
        model.weights_, plain.weights_, rtol=1e-6, atol=0.0
    ):
        raise Violation("misread", "the graph differs from that of the plain array")


def judge_run(run: Any) -> None:
    """Check that the parts of a saved run agree with each other."""
    d = len(run.names)
    order = np.array(run.order)
    graph = nx.DiGraph(list(zip(*np.nonzero(run.adjacency), strict=True)))
    graph.add_nodes_from(range(d))
    _judge_acyclic(run.adjacency, order, graph)
    if not all(isinstance(name, str) for name in run.names) or len(set(run.names)) != d:
        raise Violation("contradiction", f"names {run.names!r}", "names")
    for edge in run.edges:
        _judge_edge(edge, run)
    for a, b in run.removed_edges:
        if a not in run.names or b not in run.names:
            raise Violation("contradiction", f"removed {(a, b)}", "removed_edges")
    _judge_scalars(run)
    if run.audit is not None and len(run.audit.columns) != d:
        raise Violation("contradiction", "the audit has other columns", "audit")


def _judge_edge(edge: Any, run: Any) -> None:
    from analyticdag.fitting.edges import FixedBy

    if edge.weight != run.weights[edge.source, edge.target]:
        raise Violation("contradiction", f"{edge} but {run.weights}", "edges.weight")
    numbers = (edge.weight, edge.standardized, edge.standard_error, edge.stability)
    if not all(v is None or (_is_number(v) and math.isfinite(v)) for v in numbers):
        raise Violation("contradiction", str(edge), "edges")
    if edge.fixed_by not in list(FixedBy):
        raise Violation("contradiction", str(edge), "edges.fixed_by")
    if edge.standard_error is not None and edge.standard_error < 0:
        raise Violation("contradiction", str(edge), "edges.standard_error")
    if edge.stability is not None and not 0 <= edge.stability <= 1:
        raise Violation("contradiction", str(edge), "edges.stability")
    if not isinstance(edge.near_threshold, bool | None):
        raise Violation("contradiction", str(edge), "edges.near_threshold")


def _judge_scalars(run: Any) -> None:
    from analyticdag.optimize.trace import Status

    if run.status not in Status.__members__ and run.status != "":
        raise Violation("contradiction", f"status {run.status!r}", "status")
    if run.status and Status[run.status].converged != run.converged:
        raise Violation("contradiction", f"{run.status}, converged={run.converged!r}", "converged")
    if not isinstance(run.converged, bool):
        raise Violation("contradiction", f"converged={run.converged!r}", "converged")
    if not _is_number(run.h) or not math.isfinite(run.h):
        raise Violation("contradiction", f"h={run.h!r}", "h")
    for name in ("loss", "advice"):
        if not isinstance(getattr(run, name), str):
            raise Violation("contradiction", f"{name}={getattr(run, name)!r}", name)
    if not isinstance(run.n_iter, int) or isinstance(run.n_iter, bool) or run.n_iter < 0:
        raise Violation("contradiction", f"n_iter={run.n_iter!r}", "n_iter")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
