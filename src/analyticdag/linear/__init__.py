"""The linear estimator: data in, a DAG out, always.

| module          | holds                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `estimator.py`  | `AnalyticDAG`, the scikit-learn estimator                                    |
| `options.py`    | its parameters, checked; combinations that make no sense refused             |
| `learn.py`      | from statistics to a DAG: the path, the search, or one after the other       |
| `ranks.py`      | the numbers as they are, or their ranks                                      |
| `prepare.py`    | `Fit`, what a fit is about: values or ranks, readings of discrete columns     |
| `readings.py`   | both readings of discrete columns searched, and the better graph             |
| `by_counts.py`  | tables of discrete columns alone: parents that act together                  |
| `paths.py`      | the path of a fit: its problem, start and checkpoint                         |
| `refine.py`     | the order search: its starts, its score                                      |
| `misfit.py`     | how far the rows are from the model: the floor on effects                    |
| `tails.py`      | links that a few rows make: what gaps and ranks leave of the evidence        |
| `probabilities.py` | how probable edges and directions are, lowered by misfit                  |
| `judging.py`    | `edges_`: judged when somebody first asks for them                            |
| `blocks.py`     | probabilities and the ladder of graphs with categories, and by counts        |
| `edges.py`      | what is known about every edge; weights and parts of those of categories     |
| `ladder.py`     | `ladder_`: the graphs of a falling series of prices                          |
| `selection.py`  | lambda and threshold chosen by the data                                      |
| `choice.py`     | equal or unequal variances, by BIC                                           |
| `shape.py`      | what the shapes of the noise add: directions that the class leaves open      |
| `auto.py`       | `solver="auto"`: search first, the path where it can matter                  |
| `ignored.py`    | parameters that a combination ignores, said in one warning                   |
| `rows.py`       | which rows are used, what fills their gaps, how likely they are; more rows   |
|                 | than memory: files, iterables, `partial_fit`                                 |
| `resume.py`     | what `partial_fit` goes on from                                              |
"""

from __future__ import annotations

from analyticdag.fitting import Edge, FixedBy
from analyticdag.linear.estimator import AnalyticDAG

__all__ = ["AnalyticDAG", "Edge", "FixedBy"]
