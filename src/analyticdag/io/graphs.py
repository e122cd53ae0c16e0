"""A graph by names from whatever holds one: a saved run, GraphML, a CSV list of edges."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import networkx as nx

from analyticdag._files import read_limited
from analyticdag.errors import DataError, InputError
from analyticdag.io.convert import to_networkx
from analyticdag.io.folder import load_run
from analyticdag.io.formats import without_apostrophe
from analyticdag.tables.text import decoded, parsed_rows

# A hundred edges for each of 20,000 columns, and 100 bytes for an edge.
_MAX_BYTES = 200 * 2**20


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
        if "direction" in header and row[header.index("direction")].strip() == "open":
            graph.add_edge(*reversed(ends))
    return graph
