"""Nonlinear DAGs: the library's constraints inside neural structural equations.

| module            | holds                                                                      |
|-------------------|----------------------------------------------------------------------------|
| `estimator.py`    | `NonlinearDAG`, the scikit-learn estimator                                 |
| `options.py`      | its parameters, checked                                                    |
| `choice.py`       | may one noise variance stand for all columns?                              |
| `learn.py`        | from rows to a DAG: select, train, break cycles, prune, search, refit      |
| `training.py`     | what a method of training gets, and what it leaves behind                  |
| `gran_dag.py`     | GraN-DAG: augmented Lagrangian, RMSprop                                    |
| `mlp.py`          | DAGMA's network: a path of problems                                        |
| `autograd.py`     | any constraint of the library, differentiable in Torch                     |
| `networks.py`     | one network per node, all in one batched computation; their likelihood     |
| `quasi_newton.py` | OWL-QN: L-BFGS with an l1 penalty                                          |
| `pruning.py`      | does a node need a parent? F-tests on splines                              |
| `climb.py`        | the search after the networks: add, drop or turn the edge that gains most  |
| `surfaces.py`     | its score: splines of the parents and products of each two of them         |
| `what_if.py`      | rows and distributions when columns are set: `sample`, `intervene`         |

Torch is imported by `fit`, never by importing this package.
"""

from __future__ import annotations

from analyticdag.nonlinear.estimator import NonlinearDAG

__all__ = ["NonlinearDAG"]
