from __future__ import annotations

import sys
from importlib.resources import files

import networkx as nx
import numpy as np
import pytest

from analyticdag.datasets import load_sachs
from analyticdag.errors import MissingDependencyError
from analyticdag.graphs import from_networkx, to_cpdag


def test_sachs_has_the_published_shape_and_numbers() -> None:
    sachs = load_sachs()
    assert sachs.values.shape == (853, 11)
    assert (sachs.values > 0).all()
    assert sachs.names[:3] == ("Raf", "Mek", "Plcg")
    assert sachs.values[0].tolist() == [
        26.4, 13.2, 8.82, 18.3, 58.8, 6.61, 17.0, 414.0, 17.0, 44.9, 40.0,
    ]  # fmt: skip
    # Raf and Mek are the best known pair of these data.
    assert np.corrcoef(sachs.values[:, :2].T)[0, 1] > 0.6


def test_sachs_graph_is_the_consensus_network() -> None:
    sachs = load_sachs()
    graph = sachs.graph
    assert tuple(graph.nodes) == sachs.names
    assert graph.number_of_edges() == 17
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph.predecessors("Erk")) == {"Mek", "PKA"}
    assert set(graph.successors("Plcg")) == {"PIP2", "PIP3"}
    cpdag = to_cpdag(from_networkx(graph)[0])
    assert np.array_equal(cpdag, cpdag.T)


def test_sachs_data_is_a_named_dataframe() -> None:
    pytest.importorskip("pandas")
    sachs = load_sachs()
    assert list(sachs.data.columns) == list(sachs.names)
    assert np.array_equal(sachs.data.to_numpy(), sachs.values)


def test_values_need_no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    sachs = load_sachs()
    assert len(sachs.names) == 11
    with pytest.raises(MissingDependencyError, match=r"analyticdag\[data\]"):
        _ = sachs.data


def test_provenance_travels_with_the_data() -> None:
    assert "Science 308" in load_sachs().description
    readme = files("analyticdag").joinpath("data", "README.md").read_text(encoding="utf-8")
    assert "cdt 0.6.0" in readme
    assert "MIT License" in readme


def test_each_call_returns_its_own_copy() -> None:
    first = load_sachs()
    first.values[:] = 0
    first.graph.clear()
    assert load_sachs().values.any()
    assert load_sachs().graph.number_of_edges() == 17
