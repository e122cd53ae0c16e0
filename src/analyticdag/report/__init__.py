"""The report: one HTML file that works offline, made from a saved run and nothing else.

| module        | holds                                                                         |
|---------------|-------------------------------------------------------------------------------|
| `plots.py`    | the trace of the solver, and the choice of lambda, as line plots              |
| `text.py`     | what the report says in words                                                 |
| `methods.py`  | the paragraph for the methods section of a paper                              |
| `cautions.py` | what to know before the graph is believed, in a line and in full               |
| `answers.py`  | effects of all pairs, for the page's question "what happens if"               |
| `discrete.py` | what weights of yes/no, ordered and categorical variables mean                |
| `page.py`     | everything put into the template, with names escaped as data; the graph as    |
|               | shapes, which the page shows even without JavaScript                          |
| `assets/`     | the template, the style, and a small viewer in plain JavaScript               |
"""

from __future__ import annotations

from analyticdag.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]
