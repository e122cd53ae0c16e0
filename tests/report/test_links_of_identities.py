"""Links that are there only by an identity of columns: last, thin and dashed."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG
from analyticdag.cli.answer import answer
from analyticdag.errors import DataWarning
from analyticdag.io import SavedRun, record_of
from analyticdag.report import render_report
from analyticdag.report.page import picture_of


@pytest.fixture(scope="module")
def run() -> SavedRun:
    rng = np.random.default_rng(0)
    rent, food = rng.gamma(3.0, 10.0, (2, 400)).round(2)
    stress = 0.1 * (rent + food) + rng.normal(0.0, 1.0, 400)
    table = pd.DataFrame({"rent": rent, "food": food, "total": rent + food, "stress": stress})
    with pytest.warns(DataWarning, match="total = rent"):
        return record_of(AnalyticDAG().fit(table))


def test_they_come_last(run: SavedRun) -> None:
    lines = answer(run)
    by_identity = ["only by an identity" in line for line in lines[2 : 2 + len(run.edges)]]
    assert True in by_identity
    assert False in by_identity
    assert by_identity == sorted(by_identity)


def test_they_are_thin_and_dashed(run: SavedRun) -> None:
    curves = picture_of(run).curves
    tied = [curve for curve in curves if curve.link.kind == "identity"]
    others = [curve for curve in curves if curve not in tied]
    assert {curve.thickness for curve in tied} == {1.2}
    assert max(curve.thickness for curve in others) == pytest.approx(3.8)
    page = render_report(run)
    assert len(re.findall(r'class="edge [^"]* by-identity"', page)) == len(tied)
    assert re.search(r"by-identity \.line[^{]*{ stroke-dasharray", page)
    assert "</svg>only by an identity of columns<" in page
