"""Draw the graph of the home page: python docs/figures/sachs_graph.py"""

from __future__ import annotations

from pathlib import Path

from analyticdag import AnalyticDAG
from analyticdag.datasets import load_sachs
from analyticdag.drawing.svg import to_svg
from analyticdag.io import record_of
from analyticdag.report.page import picture_of

model = AnalyticDAG(loss="likelihood-nv", standardize=True).fit(load_sachs(log=True).columns)
drawing = to_svg(picture_of(record_of(model)))
(Path(__file__).parent / "sachs.svg").write_text(drawing + "\n", encoding="utf-8")
