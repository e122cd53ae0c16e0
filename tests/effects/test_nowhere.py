"""Age causes blood pressure; the graph returned has it the other way. Nothing may say so.

The data leave age — sbp open, and the member of the class that the fit returns has sbp -> age. From
there on everything that is printed, written or drawn is read; what
other tools get is in tests/io/test_open_edges.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG
from analyticdag.effects import total_effect
from analyticdag.io import dagitty, dot, edges_csv, graphml, record_of

Command: TypeAlias = Callable[..., Any]  # the fixture of tests/conftest.py
# sbp, then whatever stands for an arrow, then age. Age is the earlier column, so no file that goes
# by the order of the columns has them in this order.
CLAIM = re.compile(r"""sbp\W{0,12}?(->|→|-->|&rarr;|,|\bcauses\b)\W{0,12}?age\b""")


def health(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, n)
    sbp = 100 + 0.6 * age + rng.normal(0, 8, n)
    salt, water = rng.normal(8, 2, n), rng.normal(0, 2, n)
    return pd.DataFrame(
        {
            "age": age,
            "chol": 3 + 0.04 * age + rng.normal(0, 0.7, n),
            "sbp": sbp,
            "kidney": 0.1 * sbp + rng.normal(0, 1.2, n),
            "eye": 0.1 * sbp + rng.normal(0, 1.2, n),
            "salt": salt,
            "water": water,
            "urine": 0.7 * salt + 0.5 * water + rng.normal(0, 1, n),
        }
    )


@pytest.fixture(scope="module")
def model() -> AnalyticDAG:
    fitted = AnalyticDAG().fit(health())
    assert fitted.graph_.has_edge("sbp", "age")  # otherwise the tests below could not fail
    assert [edge.fixed_by for edge in fitted.edges_].count("not fixed") == 4
    return fitted


def test_what_a_claim_looks_like() -> None:
    for text in ("sbp → age", '"sbp" -> "age"', "sbp,age,directed", "sbp causes age"):
        assert CLAIM.search(text)
    for text in ("age → sbp", "age — sbp", '"age" -- "sbp"', "sbp — age is open"):
        assert not CLAIM.search(text)


def test_no_object_claims_it(model: AnalyticDAG) -> None:
    frame = model.edges_frame()
    row = frame[(frame.source == "age") & (frame.target == "sbp")].iloc[0]
    assert (row.direction, row.fixed_by) == ("open", "not fixed")
    assert pd.isna(row.weight)
    assert pd.isna(row.direction_probability)
    run = record_of(model)
    said = [
        frame.to_csv(),
        model._repr_html_(),
        *(write(run) for write in (dagitty, dot, edges_csv)),
    ]
    assert [text for text in said if CLAIM.search(text)] == []
    assert graphml(run).count("<edge ") == 10  # both arcs of the four open ones
    assert total_effect(model, "sbp", "age").n_zero > 0
    assert not total_effect(model, "sbp", "age").identified


def test_no_command_and_no_file_claims_it(command: Command, tmp_path: Path) -> None:
    table, run = tmp_path / "health.csv", tmp_path / "run"
    health().to_csv(table, index=False)
    truth = tmp_path / "truth.csv"
    truth.write_text("source,target\nage,sbp\n")
    said = {
        words[0]: command(*words)
        for words in (
            ("fit", table, "--out", run, "-v"),
            ("effect", run, "--of", "sbp", "--on", "age"),
            ("effects", run, "--on", "age"),
            ("compare", truth, run),
            ("check", run, table),
        )
    }
    assert all(result.code == 0 for result in said.values())
    assert "age — sbp" in said["fit"].out
    assert "not identified: sbp — age" in said["effect"].out
    assert "unoriented  age → sbp" in said["compare"].out
    texts = [result.out + result.err for result in said.values()]
    files = [path for path in run.iterdir() if path.suffix not in (".npz", ".graphml", ".json")]
    assert {path.suffix for path in files} == {".html", ".csv", ".dot", ".dagitty"}
    for text in (*texts, *(path.read_text() for path in files)):
        found = CLAIM.search(text)
        assert found is None, text[max(found.start() - 80, 0) : found.end() + 80]
