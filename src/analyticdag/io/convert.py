"""A run as the objects of other packages, and `read_graph`: a graph by names from files.

Each takes a fitted estimator or its `SavedRun`; the packages are imported when asked for. Where
only a class is known, networkx and causal-learn get the class. DoWhy and pgmpy need a DAG: they
get the one that the fit returned, with a warning that lists the edges without a likely direction.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import networkx as nx

from analyticdag._files import read_limited
from analyticdag._tables import first_few
from analyticdag.errors import DataError, InputError, MissingDependencyError, OpenEdgesWarning
from analyticdag.io.folder import load_run
from analyticdag.io.formats import without_apostrophe
from analyticdag.io.run import SavedRun, record_of
from analyticdag.tables.text import decoded, parsed_rows

_LISTED = 10  # open edges that a warning names
# A hundred edges for each of 20,000 columns, and 100 bytes for an edge.
_MAX_BYTES = 200 * 2**20


def to_networkx(run: Any, *, member: bool = False) -> nx.DiGraph:
    """Return a DiGraph on the column names, edges with `weight`, `fixed_by` and `open`.

    An open edge is there in both directions, without a weight. `member=True` gives the DAG that
    the fit returned, one of several that fit as well.
    """
    run = _record(run)
    graph = nx.DiGraph()
    graph.add_nodes_from(run.names)
    for edge in run.edges:
        i, j, is_open = run.ends(edge, member=member)
        source, target = run.names[i], run.names[j]
        if is_open:
            graph.add_edge(source, target, fixed_by=edge.fixed_by, open=True)
            graph.add_edge(target, source, fixed_by=edge.fixed_by, open=True)
        else:
            graph.add_edge(source, target, weight=edge.weight, fixed_by=edge.fixed_by, open=False)
    return graph


def to_dowhy(run: Any) -> str:
    """Return a DAG as a GML string, which DoWhy takes: `CausalModel(..., graph=...)`.

    GML is the one of DoWhy's formats that needs no Graphviz binding.
    """
    run = _record(run)
    _warn_of_open(run, "DoWhy")
    graph = nx.DiGraph()
    graph.add_nodes_from(run.names)
    graph.add_edges_from(run.edge_names(edge) for edge in run.edges)
    return "\n".join(nx.generate_gml(graph))


def to_pgmpy(run: Any) -> Any:
    """Return a `pgmpy.base.DAG`."""
    run = _record(run)
    try:
        from pgmpy.base import DAG
    except ImportError as error:
        raise MissingDependencyError("pgmpy", "interop") from error
    _warn_of_open(run, "pgmpy")
    dag = DAG()
    dag.add_nodes_from(run.names)
    dag.add_edges_from(run.edge_names(edge) for edge in run.edges)
    return dag


def to_causallearn(run: Any, *, member: bool = False) -> Any:
    """Return a causal-learn `GeneralGraph` of the class, or of the DAG that the fit returned."""
    run = _record(run)
    try:
        from causallearn.graph.Edge import Edge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError as error:
        raise MissingDependencyError("causal-learn", "interop") from error
    nodes = [GraphNode(name) for name in run.names]
    graph = GeneralGraph(nodes)
    for edge in run.edges:
        i, j, is_open = run.ends(edge, member=member)
        head = Endpoint.TAIL if is_open else Endpoint.ARROW
        graph.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, head))
    return graph


def _record(run: Any) -> SavedRun:
    return run if isinstance(run, SavedRun) else record_of(run)


def _warn_of_open(run: SavedRun, package: str) -> None:
    pairs = [" — ".join(run.edge_names(edge)) for edge in run.lines]
    if pairs:
        warnings.warn(
            f"{package} needs a DAG and gets one of several: nothing fixes, or makes likely, the "
            f"direction of {first_few(pairs, _LISTED)}; do not read causes from these",
            OpenEdgesWarning,
            stacklevel=3,
        )


def read_graph(path: str | Path) -> nx.DiGraph:
    """Read a graph by names; what cannot be read for certain is refused by file and row.

    An edge that is open comes in both directions.
    """
    path = Path(path)
    try:
        is_there, is_folder = path.exists(), path.is_dir()
    except OSError as error:  # a name that no system takes
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}; check the path") from error
    if not is_there:
        raise DataError(f"there is no file or folder {str(path)!r}; check the path")
    if is_folder:
        return to_networkx(load_run(path))
    readers = {".graphml": _read_graphml, ".csv": _read_edges}
    if path.suffix.lower() not in readers:
        raise DataError(
            f"{path.name} is no graph that can be read; pass the folder of a saved run, a .graphml "
            "file, or a .csv file with the columns source and target"
        )
    return readers[path.suffix.lower()](path)


def _content(path: Path) -> bytes:
    try:
        return read_limited(path, _MAX_BYTES, "pass a file that holds a graph")
    except InputError as error:
        raise DataError(str(error)) from error


def _read_graphml(path: Path) -> nx.DiGraph:
    content = _content(path)
    if b"<!ENTITY" in content:
        raise DataError(f"{path.name} defines entities, which no graph needs; export it again")
    try:
        graph: Any = nx.read_graphml(io.BytesIO(content))
    except Exception as error:  # the parser raises whatever it meets
        raise DataError(f"{path.name} is not GraphML ({error}); export it again") from error
    return nx.DiGraph(graph)


def _read_edges(path: Path) -> nx.DiGraph:
    numbers, rows = parsed_rows(decoded(_content(path), path.name), ",", path.name)
    header = [cell.strip() for cell in rows[0]] if rows else []
    if header.count("source") != 1 or header.count("target") != 1:
        raise DataError(f"{path.name} needs the columns source and target in its first row")
    graph = nx.DiGraph()
    for number, row in zip(numbers[1:], rows[1:], strict=True):
        if len(row) != len(header):
            raise DataError(
                f"{path.name}, row {number} has {len(row)} cells and the header {len(header)}; put "
                "quotes around names with a comma, and fill in what is missing"
            )
        ends = [without_apostrophe(row[header.index(end)]) for end in ("source", "target")]
        if "" in ends:
            raise DataError(f"{path.name}, row {number} lacks a name; fill it in or drop the row")
        graph.add_edge(*ends)
        if "direction" in header and row[header.index("direction")].strip() in ("open", "unsure"):
            graph.add_edge(*reversed(ends))
    return graph
