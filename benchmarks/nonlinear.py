"""Learners of nonlinear graphs: ours, and the network of the package dagma."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.nonlinear import NonlinearDAG
from benchmarks.optional import optional

__all__ = ["dagma_nonlinear", "nonlinear"]


def nonlinear(X: FloatArray, seed: int, **options: Any) -> tuple[FloatArray, dict[str, Any]]:
    """Our estimator, on the CPU so that times compare."""
    model = NonlinearDAG(random_state=seed, device="cpu", **options).fit(X)
    numbers = {
        "steps": model.n_iter_,
        "status": model.status_.name.lower(),
        "n_edges": len(model.edges_),
    }
    return model.adjacency_matrix_.astype(np.float64), numbers


def dagma_nonlinear(
    X: FloatArray, seed: int, hidden_units: int = 10, **options: Any
) -> tuple[FloatArray, dict[str, Any]]:
    """dagma's network with its own defaults, in double precision."""
    package = optional("dagma.nonlinear", "dagma")
    torch = optional("torch", "dagma")
    with _seeded(torch, seed), redirect_stderr(io.StringIO()):  # its bar cannot be turned off
        equations = package.DagmaMLP([X.shape[1], hidden_units, 1], dtype=torch.double)
        weights: FloatArray = package.DagmaNonlinear(equations).fit(X, **options)
    return weights, {"n_edges": int(np.count_nonzero(weights))}


@contextmanager
def _seeded(torch: Any, seed: int) -> Iterator[None]:
    """The package draws from Torch's generator and sets its default precision: undo both."""
    before = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            yield
        finally:
            torch.set_default_dtype(before)
