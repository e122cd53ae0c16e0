"""Real data with a graph that experts agree on, shipped inside the package.

``load_sachs()`` is the one everybody uses: protein signalling in single human cells. Where
the numbers come from, and under which licence, is written in ``data/README.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from analyticdag._tables import NamedColumns
from analyticdag._typing import FloatArray
from analyticdag.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "load_sachs"]

_SACHS_EFFECTS = {
    "Raf": ["Mek"],
    "Mek": ["Erk"],
    "Plcg": ["PIP2", "PIP3"],
    "PIP3": ["PIP2"],
    "Erk": ["Akt"],
    "PKA": ["Raf", "Mek", "Erk", "Akt", "P38", "Jnk"],
    "PKC": ["Raf", "Mek", "PKA", "P38", "Jnk"],
}

_SACHS_DESCRIPTION = """\
Sachs protein signalling: 853 human immune cells, 11 phosphorylated proteins and phospholipids
measured in each by flow cytometry, under general stimulation and no targeted intervention.
The graph is the consensus network of 17 edges; no member of its equivalence class can be told
from another by Gaussian observations (its CPDAG is fully undirected).

Source: K. Sachs, O. Perez, D. Pe'er, D. A. Lauffenburger, G. P. Nolan, "Causal protein-signaling
networks derived from multiparameter single-cell data", Science 308 (2005) 523-529.
The rows are the first 853 of cyto_full_data.csv in the package cdt 0.6.0 (MIT licence, copyright
2018 Diviyan Kalainathan), columns renamed, numbers unchanged. Fluorescence units, not scaled.
"""


@dataclass(frozen=True)
class Dataset:
    """A table and the graph behind it.

    ``values`` (n, d), ``names`` and ``columns``, which an estimator takes as it is, need NumPy
    only; ``data`` is the same as a pandas DataFrame. ``graph`` has the names as nodes.
    """

    values: FloatArray = field(repr=False, compare=False)
    names: tuple[str, ...]
    graph: nx.DiGraph = field(repr=False, compare=False)
    description: str = field(repr=False)

    @property
    def columns(self) -> NamedColumns:
        """The table with its names, for `fit`."""
        return NamedColumns(self.values, self.names)

    @cached_property
    def data(self) -> pd.DataFrame:
        """The table as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError("pandas", "data") from error
        return pd.DataFrame(self.values, columns=list(self.names), copy=True)


def load_sachs(*, log: bool = False) -> Dataset:
    """Load the Sachs protein signalling data: 853 cells, 11 proteins, 17 true edges.

    `log` takes natural logarithms, as fluorescence is read.
    """
    text = files("analyticdag").joinpath("data", "sachs.csv").read_text(encoding="utf-8")
    header, *rows = text.splitlines()
    names = tuple(header.split(","))
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((i, j) for i, effects in _SACHS_EFFECTS.items() for j in effects)
    values = np.array([row.split(",") for row in rows], dtype=np.float64)
    if log:
        values = np.log(values)
    return Dataset(values, names, graph, _SACHS_DESCRIPTION)
