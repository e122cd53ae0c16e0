"""What a cell does: the registry of tasks.

A task is a function ``(setting, method, rng) -> metrics``. The generator is the same for every
method of a setting, so whatever a task draws first (its data) is shared by all methods. A plan
may also name a task of your own as ``"package.module:function"``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from analyticdag.errors import ParameterError
from benchmarks.plan import Method, Scalar

__all__ = ["TASKS", "Task", "find_function", "find_task"]

Task: TypeAlias = Callable[[Mapping[str, Scalar], Method, np.random.Generator], Mapping[str, Any]]

# By name, not by object: a cell imports only the task it runs.
TASKS: dict[str, str] = {
    "constraint-cost": "benchmarks.constraint_cost:constraint_cost",
    "gaps": "benchmarks.gaps:gaps",
    "gradient-norms": "benchmarks.gradient_norms:gradient_norms",
    "learn": "benchmarks.learn:learn",
    "many-rows": "benchmarks.many_rows:many_rows",
    "mixed": "benchmarks.mixed:mixed",
    "noise-shape": "benchmarks.noise_shape:noise_shape",
    "nonlinear-variance": "benchmarks.nonlinear_variance:nonlinear_variance",
    "variance-choice": "benchmarks.variance_choice:variance_choice",
}


def find_task(name: str) -> Task:
    """The task with this name, or the function at ``package.module:function``."""
    if name not in TASKS and ":" not in name:
        raise ParameterError(
            f"no task is called {name!r}; known: {', '.join(sorted(TASKS))}; "
            "or give your own as 'package.module:function'"
        )
    task: Task = find_function(TASKS.get(name, name))
    return task


def find_function(reference: str) -> Callable[..., Any]:
    """Import ``package.module:function``."""
    module, _, function = reference.partition(":")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ParameterError(f"cannot import {reference!r}: {error}") from error
    return found
