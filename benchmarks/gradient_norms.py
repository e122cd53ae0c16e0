"""How large are the gradients along the path? The paper's figure, from the trace of a fit.

A cell follows the path by Adam and records the state every ``every`` steps. The paper compares
with DAGMA, which is order-1 with ``on_leaving = "restart"`` here. With ``sampled = true`` the
stages are solved exactly and the state is recorded where each begins and ends: what a graph of a
thousand nodes allows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.algorithm1 import SHORT_SERIES
from analyticdag.errors import NotConvergedWarning
from analyticdag.functions import named
from analyticdag.linear import AnalyticDAG
from analyticdag.losses import LeastSquares, covariance
from analyticdag.metrics import compare
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.columns import Columns
from analyticdag.optimize.path import PathState, follow
from analyticdag.optimize.problem import Problem
from analyticdag.optimize.schedule import Schedule
from analyticdag.optimize.trace import TraceRecord
from benchmarks.learn import draw_problem
from benchmarks.parts import thresholded
from benchmarks.plan import Method, Scalar

__all__ = ["gradient_norms"]


def gradient_norms(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Norms of the gradients of constraint and loss every so many steps, and the graph's SHD.

    The method calls a constraint; its options are ``every``, ``steps``, ``lambda1`` and
    ``on_leaving``, or ``sampled`` and ``lambda1``.
    """
    truth, X = draw_problem(setting, rng)
    options = dict(method.options)
    if options.pop("sampled", False):
        return _sampled(truth, X, method.call, **options)
    schedule = Schedule.paper()
    if "steps" in options:
        schedule = schedule.with_steps(options.pop("steps"))
    solver = Adam(
        record_every=options.pop("every", 500),
        on_leaving=options.pop("on_leaving", "reset"),
        schedule=schedule,
    )
    model = AnalyticDAG(
        loss="mse",
        constraint=method.call,
        solver=solver,
        refine=False,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # the status says so
        model.fit(X)
    return {
        "shd": compare(truth, model.weights_).shd,
        "steps": model.n_iter_,
        "status": model.status_.name.lower(),
        **_norms(list(model.trace_)),
    }


def _sampled(
    truth: FloatArray, X: FloatArray, constraint: str, lambda1: float, steps: int | None = None
) -> dict[str, Any]:
    """The same from the ends of the paper's stages, each solved exactly from zero."""
    S = covariance(X)
    problem = Problem(LeastSquares(S), named(constraint), lambda1, ~np.eye(len(S), dtype=bool))
    ends: dict[float, FloatArray] = {}
    schedule = Schedule.gentle() if steps is None else Schedule.gentle().with_steps(steps)

    def keep(state: PathState) -> None:
        ends[round(schedule.stages[state.stage - 1].mu, 9)] = state.weights

    end = follow(problem, schedule, Columns(), PathState(np.zeros_like(S)), on_stage=keep)
    W, records = np.zeros_like(S), []
    for number, stage in enumerate(Schedule.paper().stages):
        records.append(problem.record(W, stage, number, 0, reset=SHORT_SERIES))
        W = ends[round(stage.mu, 9)]
        records.append(problem.record(W, stage, number, stage.max_steps, reset=SHORT_SERIES))
    return {
        "shd": compare(truth, thresholded(np.asarray(end.weights), 0.3)).shd,
        **_norms(records),
        **{f"end_{record.stage}": record.constraint_gradient_norm for record in records[1::2]},
    }


def _norms(records: list[TraceRecord]) -> dict[str, Any]:
    """The figure: the norms by stage and step, and their median in each stage."""
    return {
        **{f"stage_{n}": _median(records, n) for n in sorted({r.stage for r in records})},
        "trace": {
            "stage": [record.stage for record in records],
            "step": [record.step for record in records],
            "constraint": [_short(record.constraint_gradient_norm) for record in records],
            "loss": [_short(record.loss_gradient_norm) for record in records],
            "h": [_short(record.h) for record in records],
        },
    }


def _median(records: list[TraceRecord], stage: int) -> float:
    """Median norm of the constraint's gradient in one stage: a figure in one number."""
    norms = [record.constraint_gradient_norm for record in records if record.stage == stage]
    return float(np.median(norms))


def _short(value: float) -> float:
    """Six digits are more than a figure shows, and a third of the file."""
    return float(f"{value:.6g}")
