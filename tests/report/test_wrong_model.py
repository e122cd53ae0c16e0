"""Where the rows contradict the model, the page says so before it shows arrows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analyticdag import AnalyticDAG
from analyticdag.cli.answer import tell
from analyticdag.cli.progress import Talk
from analyticdag.io import SavedRun, record_of
from analyticdag.report.cautions import notices
from analyticdag.report.page import render_report
from analyticdag.simulate import simulate


def run_of(mechanism: Any) -> SavedRun:
    X = simulate(
        "ER1", n_nodes=12, n_samples=3000, mechanism=mechanism, standardize=True, seed=8
    ).data
    return record_of(AnalyticDAG(solver="order", n_jobs=1).fit(X), manifest={"seconds": 1.0})


def page_of(mechanism: str) -> tuple[list[str], str]:
    run = run_of(mechanism)
    return notices(run), render_report(run)


def test_a_wrong_model_is_named_before_the_graph() -> None:
    said, page = page_of("mlp")
    assert said[0].startswith("The model is clearly wrong for these rows")
    assert page.index("The model is clearly wrong") < page.index('id="graph-section"')


def test_a_model_that_fits_is_not() -> None:
    said, page = page_of("linear")
    assert not any("clearly wrong" in text for text in said)
    assert "Linked</abbr>" in page


def test_the_command_line_says_it_before_the_first_arrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(quiet=False)
    monkeypatch.setattr(talk, "stderr", False)  # both on one stream: what comes first?
    tell(run_of("mlp"), Path("run"), Path("page"), talk, as_json=False, quiet=False)
    said = capsys.readouterr().out
    assert said.index("The model is clearly wrong") < said.index("→") < said.index("saved")
