"""Where only a class is known, no file, object or print shows a direction that nothing fixes."""

from __future__ import annotations

import csv
import io
import re
import warnings
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.cli.answer import answer
from analyticdag.errors import OpenEdgesWarning
from analyticdag.io import (
    SavedRun,
    dagitty,
    dot,
    edges_csv,
    graphml,
    load_run,
    record_of,
    run_of_weights,
    save_run,
    to_causallearn,
    to_dowhy,
    to_networkx,
    to_pgmpy,
)
from analyticdag.io.convert import read_graph
from analyticdag.metrics import compare, differences
from analyticdag.report import render_report

NAMES = ("age", "sbp", "salt", "stroke")


def members_run() -> SavedRun:
    """A fit that returned sbp -> age, which the data leave open, beside a collider at stroke."""
    W = np.zeros((4, 4))
    W[1, 0], W[1, 3], W[2, 3] = 0.4, 0.8, -0.6  # sbp -> age, sbp -> stroke <- salt
    run = run_of_weights(W, NAMES)
    return replace(run, loss="likelihood-nv", status="CONVERGED")


@pytest.fixture
def run() -> SavedRun:
    return members_run()


def test_the_example_is_open_where_it_should_be(run: SavedRun) -> None:
    assert [run.edge_names(edge) for edge in run.open_edges] == [("sbp", "age")]
    assert run.ends(run.open_edges[0]) == (0, 1, True)
    assert run.ends(run.open_edges[0], member=True) == (1, 0, False)


def test_a_graph_that_was_given_has_no_open_edges() -> None:
    assert run_of_weights(np.diag([0.5, 0.5], 1), "abc").open_edges == ()


@pytest.mark.parametrize("render", [graphml, dot, dagitty, edges_csv])
def test_no_file_says_that_blood_pressure_causes_age(render: object, run: SavedRun) -> None:
    text = render(run)  # type: ignore[operator]
    assert not re.search(r'"?sbp"?\s*(->|,)\s*"?age', text)
    marked = render(run, member=True)  # type: ignore[operator]
    assert marked != text


def test_graphml_has_both_arcs(run: SavedRun) -> None:
    graph = nx.parse_graphml(graphml(run))
    for pair in (("age", "sbp"), ("sbp", "age")):
        assert graph.edges[pair]["open"] is True
        assert "weight" not in graph.edges[pair]
    assert graph.edges["sbp", "stroke"]["open"] is False
    assert graph.edges["salt", "stroke"]["weight"] == -0.6
    one = nx.parse_graphml(graphml(run, member=True))
    assert nx.is_directed_acyclic_graph(one)
    assert "one member of a class: 1 of 3 edges" in one.graph["comment"]


def test_dot_and_dagitty(run: SavedRun) -> None:
    assert '"age" -> "sbp" [dir=none' in dot(run)
    assert dagitty(run).startswith("pdag {")
    assert '"age" -- "sbp"\n' in dagitty(run)
    assert dagitty(run, member=True).startswith("dag {\n  // one member of a class")
    settled = replace(run, edges=tuple(replace(e, fixed_by="knowledge") for e in run.edges))
    assert dagitty(settled).startswith("dag {")
    assert "arrowtail=diamond" in dot(settled)
    assumed = replace(run, edges=tuple(replace(e, fixed_by="equal variances") for e in run.edges))
    assert "arrowhead=empty" in dot(assumed)


def test_the_table_says_open(run: SavedRun) -> None:
    rows = list(csv.DictReader(io.StringIO(edges_csv(run))))
    first = next(row for row in rows if row["direction"] == "open")
    assert (first["source"], first["target"], first["weight"]) == ("age", "sbp", "")
    assert float(first["strength"]) == 0.4
    assert [row["direction"] for row in rows].count("directed") == 2


def test_saved_files_hold_the_class_and_are_read_as_one(run: SavedRun, tmp_path: Path) -> None:
    folder = save_run(run, tmp_path / "run")
    for source in (folder, folder / "graph.graphml", folder / "edges.csv"):
        graph = read_graph(source)
        assert graph.has_edge("age", "sbp")
        assert graph.has_edge("sbp", "age")
        found = compare(to_networkx(run, member=True), graph)
        assert (found.correct, found.unoriented, found.reversed) == (2, 1, 0)
    one = save_run(run, tmp_path / "one", member=True)
    assert not read_graph(one / "graph.graphml").has_edge("age", "sbp")
    assert load_run(one).open_edges


def test_tools_that_need_a_dag_get_one_with_a_warning(run: SavedRun) -> None:
    with pytest.warns(OpenEdgesWarning, match="DoWhy needs a DAG.*sbp — age"):
        assert ("sbp", "age") in nx.parse_gml(to_dowhy(run)).edges
    pytest.importorskip("pgmpy")
    with pytest.warns(OpenEdgesWarning, match="pgmpy"):
        assert ("sbp", "age") in to_pgmpy(run).edges
    settled = replace(run, edges=tuple(replace(e, fixed_by="knowledge") for e in run.edges))
    with warnings.catch_warnings():
        warnings.simplefilter("error", OpenEdgesWarning)
        to_dowhy(settled)


def test_causallearn_gets_the_class(run: SavedRun) -> None:
    pytest.importorskip("causallearn")
    graph = to_causallearn(run)
    nodes = {node.get_name(): node for node in graph.get_nodes()}
    assert graph.is_undirected_from_to(nodes["age"], nodes["sbp"])
    assert graph.is_directed_from_to(nodes["salt"], nodes["stroke"])
    member = to_causallearn(run, member=True)
    assert member.is_directed_from_to(nodes["sbp"], nodes["age"])


def test_an_estimator_will_do() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[:, 1] += X[:, 0]
    model = AnalyticDAG(loss="likelihood-nv").fit(X)
    graph = to_networkx(model)
    assert set(graph.edges) == {("0", "1"), ("1", "0")}
    known = AnalyticDAG(loss="likelihood-nv", knowledge=Knowledge(required_edges=[(0, 1)])).fit(X)
    assert set(to_networkx(known).edges) == {("0", "1")}
    assert record_of(known).edges[0].kind == "knowledge"


def test_the_answer_in_words(run: SavedRun) -> None:
    lines = answer(run)
    assert re.fullmatch(r"  sbp → stroke +\+0\.80", lines[2])
    assert re.fullmatch(r"  age — sbp +0\.40  \(direction open\)", lines[4])
    assert lines[:2] == ["4 variables, 3 links", "                 strength"]
    assert lines[5:] == [
        "Of 3 links 2 have an arrow. 1 link is a line: the data do not decide which way it points.",
        "How likely each link is was not computed.",
        "Links are causes only if nothing unmeasured moves both of their ends.",
    ]
    none = replace(run_of_weights(np.zeros((2, 2)), "ab"), loss="mse", parameters={"refine": True})
    assert answer(none) == [
        "2 variables, 0 links",
        "No links found: none explains enough to be told from chance.",
    ]


def test_knowledge_and_assumptions_are_told_apart(run: SavedRun) -> None:
    labels = ("knowledge", "equal variances", "collider")
    edges = tuple(replace(e, fixed_by=by) for e, by in zip(run.edges, labels, strict=True))
    assert any(text.endswith("(known)") for text in answer(replace(run, edges=edges)))
    edges = tuple(
        replace(e, probability=0.98, direction_probability=0.97) if e.kind != "knowledge" else e
        for e in edges
    )
    lines = answer(replace(run, edges=edges))
    assert any(re.search(r" known +known$", text) for text in lines)
    assert any(text.endswith("(if equal variances)") for text in lines)
    assert (
        "Of 3 links the data fix the direction of 1, your knowledge that of 1; 1 arrow rests on "
        "an assumption."
    ) in lines


def test_an_arrow_that_is_hardly_likely_is_not_called_fixed(run: SavedRun) -> None:
    likely = iter((0.95, 0.71))
    edges = tuple(
        e if e.kind != "data" else replace(e, probability=1.0, direction_probability=next(likely))
        for e in run.edges
    )
    lines = answer(replace(run, edges=edges))
    assert (
        "Of 3 links the data fix the direction of 1; 1 arrow is less than 90 % likely. 1 link is a "
        "line: the data do not decide which way it points."
    ) in lines


def test_an_arrow_by_the_noise_says_why_it_has_no_share(run: SavedRun) -> None:
    edges = tuple(
        e if e.kind == "open" else replace(e, fixed_by="collider", probability=0.97, margin=4.13)
        for e in run.edges
    )
    lines = answer(replace(run, edges=edges))
    assert (
        sum(
            bool(re.search(r" 97 % {12}\(arrow by the shape of noise, by 4\.1 st", t))
            for t in lines
        )
        == 2
    )


def test_an_arrow_less_likely_than_not_is_a_line_in_print_and_page(run: SavedRun) -> None:
    likely = iter((0.95, 0.31))
    judged = replace(
        run,
        edges=tuple(
            replace(e, probability=0.97, direction_probability=next(likely))
            if e.kind == "data"
            else replace(e, probability=0.97)
            for e in run.edges
        ),
    )
    lines = answer(judged)
    assert re.fullmatch(r" +strength  linked  this way", lines[1])
    assert re.fullmatch(r"  sbp → stroke +\+0\.80 +97 % +95 %", lines[2])
    assert re.fullmatch(r"  salt — stroke +0\.60 +97 % +\(direction unsure\)", lines[3])
    assert re.fullmatch(r"  age — sbp +0\.40 +97 % +\(direction open\)", lines[4])
    said = "2 links are lines: the data do not decide which way they point."
    assert said in lines[5]
    page = render_report(judged)
    assert "salt → stroke" not in page
    assert page.count("salt — stroke, strength") == 1
    assert said in page
    assert '"salt" -> "stroke" [dir=none' in dot(judged)
    assert '"salt" -- "stroke"' in dagitty(judged)
    assert '"salt" -> "stroke"' not in dagitty(judged)
    assert to_networkx(judged).edges["stroke", "salt"]["open"]
    # The table says how likely it is.
    assert re.search(r"salt,stroke,unsure,.*,0\.31,", edges_csv(judged))
    with pytest.warns(OpenEdgesWarning, match="salt — stroke"):
        to_dowhy(judged)


@pytest.mark.parametrize(
    ("parameters", "why"), [({"search": {"gamma": 1.0}}, " (too many links)"), ({}, "")]
)
def test_where_nothing_was_judged_the_data_fix_no_direction(
    run: SavedRun, parameters: dict[str, object], why: str
) -> None:
    unjudged = replace(run, parameters=parameters)
    said = f"How likely each link is was not computed{why}."
    assert said in answer(unjudged)
    assert said in render_report(unjudged)
    assert "the data fix" not in " ".join(answer(unjudged))
    known = tuple(replace(edge, fixed_by="knowledge") for edge in run.edges)
    assert said not in answer(replace(unjudged, edges=known))


def test_many_links_are_cut_short() -> None:
    W = np.diag(np.linspace(0.1, 1, 30), 1)
    lines = answer(run_of_weights(W, [f"x{k}" for k in range(31)]))
    assert "  and 10 weaker ones (edges.csv has all)" in lines


def test_differences_are_listed_by_name(run: SavedRun) -> None:
    truth = nx.DiGraph([("age", "sbp"), ("stroke", "sbp"), ("age", "salt")])
    found = {(d.kind, d.true, d.estimated) for d in differences(truth, to_networkx(run))}
    assert found == {
        ("unoriented", "age → sbp", "age — sbp"),
        ("reversed", "stroke → sbp", "sbp → stroke"),
        ("missing", "age → salt", ""),
        ("extra", "", "salt → stroke"),
    }
    assert differences(truth, truth) == []


def test_a_class_with_knowledge_has_a_markov_class() -> None:
    # a - b - c with a -> b known: b -> c follows, and the class is still the undirected chain.
    known = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    half = np.array([[0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    assert compare(known, known).shd_cpdag == 0
    dag = np.triu(np.ones((4, 4)), 1)
    dag[0, 3] = 0
    assert compare(dag, half).shd_cpdag == 0
