"""The worked page on Sachs says what its own lines compute."""

from __future__ import annotations

from pathlib import Path

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.datasets import load_sachs
from analyticdag.effects import check_graph, fit_graph, total_effect

PAGE = (Path(__file__).parents[2] / "docs" / "sachs.md").read_text("utf-8")


def test_the_effects_are_those_of_the_page() -> None:
    sachs = load_sachs(log=True)
    known = Knowledge(forbidden_edges=[("Mek", "Raf"), ("Akt", "Erk")])
    model = AnalyticDAG(loss="likelihood-nv").fit(sachs.columns)
    settled = AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(sachs.columns)
    effect = total_effect(model, "Raf", "Mek")
    assert f"# {effect.sentence()}\n" in PAGE
    assert f"{effect.n_zero} of {effect.n_members} graphs" in PAGE
    for pair in (("Raf", "Mek"), ("Erk", "PKA")):
        assert f"# {total_effect(settled, *pair).sentence()}\n" in PAGE
    for edge in model.edges_:
        ends = sorted((edge.source, edge.target), key=sachs.names.index)
        row = f"| {' — '.join(ends)} | {edge.partial_correlation:.2f} | open |"
        assert edge.fixed_by == "not fixed"
        assert row in PAGE, row


def test_the_experts_graph_is_as_the_page_says() -> None:
    sachs = load_sachs(log=True)
    found = check_graph(sachs.graph, sachs.columns)
    assert (found.violated, found.n_tests, len(found.unsupported)) == ((), 38, 10)
    assert (
        f"its score is {found.score:.0f} where the best graph\nhas {found.best_score:.0f}" in PAGE
    )
    expert = fit_graph(sachs.graph, sachs.columns)
    words = " ".join(PAGE.split())
    for cause, outcome in (("PKA", "Erk"), ("PKC", "P38"), ("Raf", "Erk"), ("PKC", "Akt")):
        effect = total_effect(expert, cause, outcome)
        low, high = effect.interval
        assert f"{cause} on {outcome} {effect.value:+.2f} [{low:.2f}, {high:.2f}]" in words
