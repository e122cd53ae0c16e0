"""How large are the gradients along the path? The paper's figure, from the trace of a fit.

A cell follows the path by Adam and records the state every ``every`` steps. The paper compares
with DAGMA, which is order-1 with ``on_leaving = "restart"`` here.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from analyticdag.errors import NotConvergedWarning
from analyticdag.linear import AnalyticDAG
from analyticdag.metrics import compare
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.schedule import Schedule
from benchmarks.learn import draw_problem
from benchmarks.plan import Method, Scalar

__all__ = ["gradient_norms"]


def gradient_norms(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Norms of the gradients of constraint and loss every so many steps, and the graph's SHD.

    The method calls a constraint; its options are ``every``, ``steps``, ``lambda1`` and
    ``on_leaving``.
    """
    truth, X = draw_problem(setting, rng)
    options = dict(method.options)
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
    records = list(model.trace_)
    return {
        "shd": compare(truth, model.weights_).shd,
        "steps": model.n_iter_,
        "status": model.status_.name.lower(),
        **{f"stage_{n}": _median(records, n) for n in sorted({r.stage for r in records})},
        "trace": {
            "stage": [record.stage for record in records],
            "step": [record.step for record in records],
            "constraint": [_short(record.constraint_gradient_norm) for record in records],
            "loss": [_short(record.loss_gradient_norm) for record in records],
            "h": [_short(record.h) for record in records],
        },
    }


def _median(records: list[Any], stage: int) -> float:
    """Median norm of the constraint's gradient in one stage: a figure in one number."""
    norms = [record.constraint_gradient_norm for record in records if record.stage == stage]
    return float(np.median(norms))


def _short(value: float) -> float:
    """Six digits are more than a figure shows, and a third of the file."""
    return float(f"{value:.6g}")
