"""A fitted model in a notebook: plot, table, what its cell shows, what it says while fitting."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from analyticdag import AnalyticDAG
from analyticdag._tables import NamedColumns
from analyticdag.drawing.picture import Link, draw
from analyticdag.simulate import simulate

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    """A collider a -> c <- b and an open edge d - e; one name looks like markup and a formula."""
    rng = np.random.default_rng(0)
    a, b, d = rng.normal(size=(3, 800))
    c = a - b + rng.normal(size=800)
    e = d + 2.0 * rng.normal(size=800)
    X = np.column_stack([a, b, c, e, d])
    names = ("a", "<b>$x_1$", "c", "e", "d")
    return AnalyticDAG(loss="likelihood-nv", solver="order").fit(NamedColumns(X, names))


def test_plot_draws_every_name_and_no_head_on_an_open_edge(model: AnalyticDAG) -> None:
    matplotlib.use("agg")
    axes = model.plot()
    directed = [edge for edge in model.edges_ if edge.fixed_by != "not fixed"]
    assert len(directed) == 2
    triangles = [p for p in axes.patches if len(p.get_path().vertices) == 4 and p.get_fill()]
    closed = [p for p in triangles if p.get_path().codes[-1] == p.get_path().CLOSEPOLY]
    assert len(closed) == len(directed)
    written = {text.get_text() for text in axes.texts}
    assert {"a", "<b>$x_1$", "c", "d", "e"} <= written
    axes.get_figure().canvas.draw()  # a formula in a name would fail here
    own = matplotlib.figure.Figure().add_subplot()
    assert model.plot(own) is own


def test_edges_frame_has_no_weight_where_the_direction_is_open(model: AnalyticDAG) -> None:
    frame = model.edges_frame()
    assert list(frame["partial_correlation"].abs()) == sorted(
        frame["partial_correlation"].abs(), reverse=True
    )
    is_open = frame["direction"] == "open"
    assert frame.loc[is_open, "weight"].isna().all()
    assert not frame.loc[~is_open, "weight"].isna().any()
    assert frame.loc[is_open, ["source", "target"]].to_numpy().tolist() == [["e", "d"]]
    pairs = {frozenset(pair) for pair in frame[["source", "target"]].to_numpy().tolist()}
    assert pairs == {frozenset(edge) for edge in model.graph_.edges}
    empty = AnalyticDAG(solver="order").fit(np.random.default_rng(0).normal(size=(50, 3)))
    assert list(empty.edges_frame().columns) == list(frame.columns)
    assert isinstance(empty.edges_frame(), pd.DataFrame)


def test_the_cell_of_a_fitted_model_draws_its_graph(model: AnalyticDAG) -> None:
    fresh = clone(model)
    assert '<svg class="adag"' not in fresh._repr_html_()
    shown = model._repr_html_()
    assert "AnalyticDAG" in shown
    assert "&lt;b&gt;$x_1$" in shown
    assert "<b>$x_1$" not in shown
    assert "e — d, direction open" in shown
    assert "e — d, direction open" in model._repr_mimebundle_()["text/html"]
    assert shown.count("<title>a → c") == 1


def test_a_large_model_is_not_drawn_in_its_cell() -> None:
    sim = simulate("ER1", n_nodes=130, n_samples=400, seed=0)
    shown = AnalyticDAG(solver="order").fit(sim.data)._repr_html_()
    assert "130 variables" in shown
    assert '<svg class="adag"' not in shown


def test_reprs_say_what_was_decided() -> None:
    sim = simulate("ER1", n_nodes=6, n_samples=500, seed=0)
    model = AnalyticDAG().fit(sim.data)
    assert repr(model.loss_choice_).startswith(f"LossChoice({model.loss_}: equal noise variances")
    assert model.trace_.plan in repr(model.trace_)
    assert "reached" in repr(model.trace_)
    assert len(repr(model.trace_)) < 400
    path = AnalyticDAG(loss="mse", solver="fast", refine=False).fit(sim.data)
    assert repr(path.trace_).startswith("Trace(path: 8 stages from ")


WATCHED = """
import json, logging, sys
import numpy as np
from analyticdag import AnalyticDAG
X = np.random.default_rng(0).normal(size=(80, 4))
AnalyticDAG(loss="mse", solver="fast", refine=False, verbose=int(sys.argv[1])).fit(X)
logger = logging.getLogger("analyticdag")
print(json.dumps([len(logger.handlers), logger.level]))
"""


@pytest.mark.parametrize("verbose", [0, 1])
def test_verbose_shows_in_a_script_without_any_setup(verbose: int) -> None:
    found = subprocess.run(
        [sys.executable, "-c", WATCHED, str(verbose)], capture_output=True, text=True, check=True
    )
    assert ("stage 8 of 8" in found.stderr) == bool(verbose)
    assert json.loads(found.stdout) == [0, logging.NOTSET]


def test_a_picture_bends_by_its_own_edges_whatever_their_order() -> None:
    """Layouts list bends by rows of the matrix; edges may come in any order."""
    graph = nx.DiGraph([(0, 1), (1, 2), (2, 3), (0, 3)])
    links = [Link(i, j, 1.0, 1.0, "data", False, "", "") for i, j in graph.edges]
    names = list("abcd")
    forth = {(c.path) for c in draw(names, links, use_graphviz=False).curves}
    back = {(c.path) for c in draw(names, links[::-1], use_graphviz=False).curves}
    assert forth == back
