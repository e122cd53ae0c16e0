"""The page as text: complete without a browser, and nothing in it but what we put there."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyticdag import AnalyticDAG
from analyticdag.diagnostics import diagnose
from analyticdag.drawing.layout import layered_layout
from analyticdag.drawing.picture import BOXES, short_label
from analyticdag.io import EdgeRecord, SavedRun, audit_table, record_of, run_of_weights
from analyticdag.linear.choice import LossChoice
from analyticdag.report import render_report, write_report
from analyticdag.report.cautions import in_short, notices
from analyticdag.report.methods import methods
from analyticdag.report.page import picture_of, safe_json
from analyticdag.report.plots import selection_panels, trace_panels
from analyticdag.report.text import certainty
from analyticdag.simulate import simulate

W = np.array([[0, 0, 1.5, 0], [0, 0, -0.5, 0], [0, 0, 0, 0.7], [0, 0, 0, 0]])
HOSTILE = (
    "<script>alert('x')</script>",
    "</script><script>alert(2)</script>",
    '" onmouseover="alert(3)',
    "{{ 7 * 7 }}",
    "🧬\u2028line separator",
    "n" * 10_000,
)


class Scripts(HTMLParser):
    """Collects what a browser would run: scripts, handlers, links to elsewhere."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[dict[str, str | None]] = []
        self.suspects: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.append(dict(attrs))
        for name, value in attrs:
            outside = name in ("src", "href") and not (value or "").startswith("#")
            if name.startswith("on") or outside or tag in ("iframe", "link", "object", "img"):
                self.suspects.append(f"{tag} {name}={value}")


def chain(names: tuple[str, ...]) -> SavedRun:
    return run_of_weights(np.diag(np.full(len(names) - 1, 0.5), 1), names)


def complete_run() -> SavedRun:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1.0, 3.0, 2.0, 1.0]
    run = run_of_weights(W, ["a", "b", "c", "d"], audit=audit_table(X, W != 0.0))
    trace = [
        {"stage": k, "step": 1000, "loss": 2.0 - k, "h": 10.0**-k, "loss_gradient_norm": 1.0}
        for k in range(3)
    ]
    return replace(
        run,
        loss="mse",
        status="CONVERGED",
        advice="nothing to do",
        parameters={"constraint": "order-2", "lambda1": 0.05, "solver": "adam", "refine": False,
                    "w_threshold": 0.3},
        trace=tuple(trace),
        manifest={"created": "2026-01-01T00:00:00", "command": "analyticdag fit x.csv",
                  "data": {"source": "x.csv"}, "versions": {"analyticdag": "1.2"}},
        edges=tuple(replace(edge, stability=0.25) for edge in run.edges),
    )  # fmt: skip


def test_a_complete_page_has_every_section() -> None:
    page = render_report(complete_run())
    sections = re.findall(r'<section id="(\w+)-section"', page)
    assert sections == [
        *("graph", "effects", "edges", "sure", "data", "solver", "methods", "manifest")
    ]
    assert "Causal graph of x.csv" in page
    assert "Stability" in page
    assert page.count('<g class="node"') == 4
    assert page.count('class="edge ') == 3


def test_only_our_script_runs_and_nothing_is_fetched() -> None:
    page = render_report(complete_run())
    parser = Scripts()
    parser.feed(page)
    assert parser.scripts == [{"type": "application/json", "id": "run-data"}, {}]
    assert parser.suspects == []
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])  # type: ignore[index]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)[1]  # type: ignore[index]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_hostile_names_are_text() -> None:
    page = render_report(chain(HOSTILE))
    parser = Scripts()
    parser.feed(page)
    assert len(parser.scripts) == 2
    assert parser.suspects == []
    assert "{{ 7 * 7 }}" in page
    assert "\u2028" not in page.split('id="run-data">')[1].split("</script>")[0]
    data = json.loads(page.split('id="run-data">')[1].split("</script>")[0])
    assert [node["name"] for node in data["nodes"]] == list(HOSTILE)


@given(st.text())
def test_json_cannot_leave_its_element(text: str) -> None:
    written = safe_json({"name": text})
    assert not set(written) & {"<", ">", "&", "\u2028", "\u2029"}
    assert json.loads(written) == {"name": text}


def test_a_run_without_anything_still_has_a_page(tmp_path: Path) -> None:
    lonely = run_of_weights(np.zeros((1, 1)), ["only"])
    page = write_report(lonely, tmp_path / "new" / "r.html").read_text(encoding="utf-8")
    assert "There are no links" in page
    assert "saved without an audit" in page
    assert "solver-section" not in page
    assert "not learned by analyticdag" in html.unescape(page)


def test_notices_name_what_is_wrong() -> None:
    run = complete_run()
    assert notices(run) == []
    assert run.audit is not None
    columns = (replace(run.audit.columns[0], constant=True), *run.audit.columns[1:])
    audit = replace(
        run.audit, columns=columns, copies=((1, 2),), collinear=True, n_rows=3, notes=("a note",)
    )
    bad = replace(
        run, converged=False, status="MAX_STEPS", advice="do more", removed_edges=(("a", "b"),) * 7,
        audit=audit,
    )  # fmt: skip
    text = "\n".join(notices(bad))
    for words in (
        "did not finish (MAX_STEPS): do more.",
        "a → b and 1 more.",
        "A note.",
        "Constant columns, kept as nodes without edges: a.",
        "b and c.",
        "exact combinations",
        "no more rows than columns",
    ):
        assert words in text


def test_scales_are_spoken_of_where_the_loss_reads_them() -> None:
    run = complete_run()
    assert run.audit is not None
    standardised = replace(run, audit=replace(run.audit, standardised=True))
    assert "reads directions from scales" in notices(standardised)[0]
    assert notices(replace(standardised, loss="likelihood-nv")) == []
    sorted_by_scale = replace(run, audit=replace(run.audit, varsortability=0.97))
    assert "Varsortability is 0.97" in notices(sorted_by_scale)[0]


def test_diagnostics_speak_instead_of_the_audit_where_they_were_run() -> None:
    checks = (
        {"name": "tails", "level": "warning", "advice": "the noise of <b>a</b> has heavy tails"},
        {"name": "rows", "level": "fine", "advice": "50 rows are plenty"},
    )
    run = replace(complete_run(), diagnostics=checks)
    assert run.audit is not None
    run = replace(run, audit=replace(run.audit, varsortability=0.97, notes=("a note",)))
    assert notices(run) == ["A note.", "Tails: the noise of <b>a</b> has heavy tails."]
    assert in_short(run) == "tails; 1 note on the table"
    page = render_report(run)
    assert "50 rows are plenty" in page
    assert "<b>a</b>" not in page


def test_a_warning_is_seen_without_unfolding_anything() -> None:
    warning = {"name": "heavy tails", "level": "warning", "advice": "do"}
    page = render_report(replace(complete_run(), diagnostics=(warning,)))
    assert '<p class="notices" id="care">Take care: a few rows weigh a lot</p>' in page
    assert 'id="care"' not in render_report(complete_run())


def test_levels_are_counted_and_links_go_by_strength() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    k = rng.integers(0, 3, 400)
    words = np.array(["G1", "G2", "G3"])[k]
    table = pandas.DataFrame({"group": words, "x": k + rng.normal(size=400)})
    model = AnalyticDAG().fit(table)
    values = model.recipe_.read(table, "X", gaps=())
    audit = audit_table(values, model.adjacency_matrix_ != 0, recipe=model.recipe_)
    page = render_report(record_of(model, audit=audit))
    first, second, third = sorted(np.bincount(k).tolist(), reverse=True)
    assert re.search(rf'<td colspan="4">G\d {first}, G\d {second}, G\d {third}<', page)
    page = render_report(complete_run())
    found = re.findall(r'data-row="\d+">.*?data-value="([\d.]+)"', page)
    strengths = list(map(float, found))
    assert len(strengths) == 3
    assert strengths == sorted(strengths, reverse=True)


def test_every_check_that_can_warn_has_plain_words() -> None:
    """The page opens with them; a name such as "collinearity" is for the table further down."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    names = [check.name for check in diagnose(AnalyticDAG().fit(X), X)]
    for name in set(names) - {"R2-sortability", "constant columns"}:  # notes at most
        run = replace(
            complete_run(), diagnostics=({"name": name, "level": "warning", "advice": "do"},)
        )
        assert in_short(run) not in ("", name)


def test_the_page_speaks_of_no_python_names() -> None:
    page = render_report(replace(complete_run(), status="CLASS_FOUND", advice="cpdag_ is it"))
    assert "cpdag_" not in page
    assert "The search ended with the best graph" in page


def test_certainty_counts_every_edge_once() -> None:
    run = complete_run()
    counted = {(label, kind): count for label, kind, count, _ in certainty(run) if count}
    assert counted == {("collider", "data"): 2, ("orientation rules", "data"): 1}


def test_the_methods_paragraph_says_what_was_done() -> None:
    text = methods(complete_run())
    for words in (
        "50 observations of 4 variables",
        "analyticdag 1.2",
        "least squares",
        "lambda1 = 0.05",
        "order-2",
        "Adam",
        "below 0.3",
        "Of 3 links 3 have an arrow. The interpretation",
    ):
        assert words in text


def test_panels_leave_out_what_is_not_there() -> None:
    titles = [panel.title for panel in trace_panels(complete_run().trace)]
    assert titles == ["Score", "Acyclicity", "Gradients"]
    broken = [{"stage": 0, "step": 5, "loss": None, "h": 0.0}]
    assert trace_panels(broken) == ()
    flat = trace_panels([{"stage": 0, "step": 0, "loss": 1.0}])
    assert len(flat[0].series[0].points) == 1


def test_plots_put_a_log_scale_in_order() -> None:
    panel = trace_panels(complete_run().trace)[1]
    heights = [y for _, y in panel.series[0].points]
    assert heights == sorted(heights)  # h falls, so the line goes down the page
    assert [label for _, label in panel.y_ticks][::2] == ["1e-2", "1e0"]
    assert len(panel.borders) == 2


SELECTION = {
    "criterion": "ebic",
    "chosen": 1,
    "points": [
        {"lambda1": lam, "w_threshold": 0.3, "n_edges": edges, "score": score}
        for lam, edges, score in ((0.4, 2, 900.0), (0.1, 3, 850.0), (0.025, 6, 880.0))
    ],
}


def test_the_lambdas_that_were_tried_are_drawn() -> None:
    score, edges = selection_panels(SELECTION)
    assert [label for _, label in score.x_ticks] == ["0.025", "0.1", "0.4"]
    (_, low), (x, best), (_, right) = score.series[0].points
    assert best > max(low, right)  # the smallest score is lowest on the page
    assert score.borders == edges.borders == (x,)
    assert selection_panels(None) == ()
    assert selection_panels({**SELECTION, "points": SELECTION["points"][:1]}) == ()
    chosen = {"criterion": "ebic", "lambda1": 0.1, "w_threshold": 0.3}
    run = complete_run()
    page = render_report(
        replace(run, selection=SELECTION, parameters={**run.parameters, "chosen": chosen})
    )
    assert "How lambda1 was chosen" in page
    assert "EBIC of the refitted graph" in page
    assert "How lambda1 was chosen" not in render_report(run)


def test_a_class_opens_as_a_class_and_says_why() -> None:
    run = replace(chain(("a", "b", "c")), loss="likelihood-nv")
    page = render_report(run)
    assert "2 of 2 links carry no arrow head: the reverse fits" in page
    assert "Of 2 links the data fix the direction of none. 2 links are lines: the" in page
    assert "a → b" not in page
    assert re.search(r'<svg id="graph"[^>]*class-view"', page)
    known = tuple(replace(edge, fixed_by="knowledge") for edge in run.edges)
    for decided in (replace(run, edges=known), replace(run, loss=""), complete_run()):
        page = render_report(decided)
        assert '<fieldset class="toggle" hidden' in page
        assert 'id="class-note"' not in page.split("<body>")[1]


def test_the_choice_of_the_loss_is_reported_with_both_scores() -> None:
    choice = LossChoice(equal=812.34, unequal=700.0, kurtosis=3.1)
    page = render_report(replace(complete_run(), loss_choice=choice.as_dict()))
    assert "equal noise variances are rejected (BIC worse by 112.3)" in page
    assert "equal variances 812.3, with unequal 700.0" in page
    assert "BIC" not in render_report(complete_run())


@pytest.mark.parametrize(("code", "d"), [("ER1", 12), ("ER2", 40), ("SF2", 150)])
def test_causes_are_above_effects_and_boxes_do_not_overlap(code: str, d: int) -> None:
    edges = simulate(code, n_nodes=d, n_samples=2, seed=1).weights != 0.0
    layout = layered_layout(edges, [60.0] * d)
    tails, heads = np.nonzero(edges)
    assert np.all(layout.y[tails] < layout.y[heads])
    for y in np.unique(layout.y):
        x = np.sort(layout.x[layout.y == y])
        assert np.all(np.diff(x) >= 60.0 - 1e-6)
    assert layout.x.min() >= 30.0
    assert layout.x.max() + 30.0 <= layout.width
    assert layout.y.max() <= layout.height
    # Long edges bend at every layer they pass.
    assert len(layout.bends) == len(tails)


def test_a_planar_drawing_has_no_crossing() -> None:
    # Two chains listed crosswise: the order of the columns would cross them.
    edges = np.zeros((4, 4), dtype=bool)
    edges[0, 3] = edges[1, 2] = True
    layout = layered_layout(edges, [60.0] * 4)
    assert (layout.x[0] - layout.x[1]) * (layout.x[3] - layout.x[2]) > 0


def test_nodes_without_edges_are_set_apart() -> None:
    edges = np.zeros((30, 30), dtype=bool)
    edges[0, 1] = True
    layout = layered_layout(edges, [60.0] * 30)
    assert layout.y[2:].min() > layout.y[1]
    assert len(np.unique(layout.y[2:])) > 1


def test_too_many_long_edges_are_drawn_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyticdag.drawing.layout.MAX_DUMMIES", 3)
    edges = np.triu(np.ones((6, 6), dtype=bool), 1)
    assert sum(map(len, layered_layout(edges, [60.0] * 6).bends)) < 10


def test_many_nodes_become_dots_and_names_fit() -> None:
    d = BOXES + 1
    assert picture_of(chain(tuple(map(str, range(d))))).dots
    assert not picture_of(chain(tuple(map(str, range(3))))).dots
    assert short_label("a\n b\0c") == "a b c"
    assert short_label(" \t") == "(blank)"
    assert len(short_label("x" * 99)) == 18


def test_an_edge_of_weight_zero_can_be_drawn() -> None:
    run = chain(("a", "b"))
    zero = replace(run, weights=np.zeros((2, 2)), edges=(EdgeRecord(0, 1, 0.0, "knowledge"),))
    assert "by-knowledge" in render_report(zero)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"solver": "fast", "refine": False}, "smaller lambda1"),
        ({"solver": "fast", "refine": True}, "told from chance"),
        ({"solver": "order", "refine": True}, "told from chance"),
        ({"model": "gran-dag", "refine": None}, "level of the tests"),
        ({"model": "mlp", "refine": False}, "level of the tests"),
        ({"model": "mlp", "refine": None}, "told from chance"),
    ],
)
def test_an_empty_graph_says_what_would_let_edges_through(
    parameters: dict[str, Any], words: str
) -> None:
    lonely = run_of_weights(np.zeros((2, 2)), ["a", "b"])
    page = render_report(replace(lonely, loss="likelihood-ev", parameters=parameters))
    assert words in page
    assert ("went on from there" in page) == ("model" in parameters and "chance" in words)
