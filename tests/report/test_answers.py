"""What happens if: the answers a page holds, and how it shows them in a real browser."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag._tables import NamedColumns
from analyticdag.effects import total_effect
from analyticdag.io import SavedRun, read_knowledge, record_of, run_of_weights
from analyticdag.report import write_report
from analyticdag.report.answers import MOST_COLUMNS, answers

NAMES = ("sbp", "age", "stroke", "<b>salt</b>")


def health() -> NamedColumns:
    """Age — sbp is open; sbp and salt meet at stroke."""
    rng = np.random.default_rng(0)
    age, salt, e, f = rng.normal(size=(4, 400))
    sbp = 0.8 * age + e
    return NamedColumns(np.column_stack([sbp, age, sbp - salt + f, salt]), NAMES)


@pytest.fixture(scope="module")
def run() -> SavedRun:
    known = Knowledge(forbidden_edges=[("<b>salt</b>", "age")])
    record = record_of(AnalyticDAG(loss="likelihood-nv", knowledge=known).fit(health()))
    return replace(
        record, manifest={"command": "analyticdag fit 'my data.csv' --out runs/a --force"}
    )


def test_every_pair_with_a_possible_effect_is_answered(run: SavedRun) -> None:
    found = answers(run)
    pairs = {(NAMES[p["x"]], NAMES[p["y"]]): p for p in found["pairs"]}
    assert set(pairs) == {
        ("age", "sbp"),
        ("sbp", "age"),
        ("age", "stroke"),
        ("sbp", "stroke"),
        ("<b>salt</b>", "stroke"),
    }
    model = run.to_estimator()
    for (cause, outcome), pair in pairs.items():
        assert pair["say"][0] == total_effect(model, cause, outcome).sentence()
    on_the_way = [run.edge_names(run.edges[k]) for k in pairs["age", "stroke"]["on"]]
    assert {frozenset(ends) for ends in on_the_way} == {
        frozenset(("age", "sbp")),
        frozenset(("sbp", "stroke")),
    }


def test_the_next_command_has_the_knowledge(run: SavedRun) -> None:
    found = answers(run)
    assert found["command"] == "analyticdag fit 'my data.csv' --knowledge knowledge.toml"
    assert found["knowledge"]["forbidden"] == [["<b>salt</b>", "age"]]
    again = replace(run, manifest={"command": "analyticdag fit a.csv --knowledge=k.toml --seed 1"})
    assert answers(again)["command"] == "analyticdag fit a.csv --seed 1 --knowledge knowledge.toml"
    assert "read_knowledge" in answers(replace(run, manifest={}))["command"]


def test_a_run_that_cannot_tell_says_so(run: SavedRun) -> None:
    assert not answers(run_of_weights(np.diag([0.5], 1), "ab"))["answered"]
    d = MOST_COLUMNS + 1
    drawn = np.random.default_rng(0).normal(size=(60, d))
    large = record_of(AnalyticDAG(loss="likelihood-nv", solver="order").fit(drawn))
    assert not answers(large)["answered"]
    assert answers(large)["pairs"] == []


sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
def test_a_person_asks_and_marks(run: SavedRun, tmp_path: Path) -> None:
    path = write_report(run, tmp_path / "report.html")
    trouble: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(path.as_uri())
        ask(page, run)
        mark(page, run, tmp_path / "knowledge.toml")
        browser.close()
    assert trouble == []


def ask(page: Any, run: SavedRun) -> None:
    page.select_option("#ask-cause", label="age")
    page.select_option("#ask-outcome", label="stroke")
    said = page.inner_text("#ask-answer")
    assert "not identified: age — sbp is open" in said
    assert "alone would settle it" in said
    lit = page.eval_on_selector_all("[data-edge].lit", "all => all.map(e => +e.dataset.edge)")
    ends = [set(run.edge_names(run.edges[k])) for k in lit]
    assert sorted(map(sorted, ends)) == [["age", "sbp"], ["sbp", "stroke"]]
    page.select_option("#ask-cause", label="<b>salt</b>")
    assert "<b>salt</b> → -" in page.inner_text("#ask-answer")
    page.select_option("#ask-outcome", label="age")
    assert "no effect" in page.inner_text("#ask-answer")
    assert page.locator("[data-edge].lit").count() == 0
    page.click("#ask-clear")
    assert page.locator("#ask-answer").is_hidden()


def mark(page: Any, run: SavedRun, file: Path) -> None:
    number = next(k for k, edge in enumerate(run.edges) if run.is_open(edge))
    page.click(f"#edge-table tr[data-row='{number}']")
    panel = page.inner_text("#panel")
    assert "one more unit of age → one of 0" in panel
    assert "one more unit of sbp → one of 0" in panel
    page.click("text=I know age → sbp")
    page.click("text=sbp → age is impossible")
    assert page.locator("#marks li").count() == 2
    assert "--knowledge knowledge.toml" in page.inner_text("#marks-command")
    with page.expect_download() as download:
        page.click("#save-knowledge")
    download.value.save_as(file)
    known = read_knowledge(file)
    assert list(known.required_edges) == [("age", "sbp")]
    assert set(known.forbidden_edges) == {("<b>salt</b>", "age"), ("sbp", "age")}
    page.click("text=I know age → sbp")
    assert page.locator("#marks li").count() == 1
