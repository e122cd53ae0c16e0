"""The acyclicity constraint inside Torch's automatic differentiation.

`acyclicity(A, constraint)` is h(A) = tr f(A) - c0·d for a non-negative tensor A. Value and gradient
come from one call of `Acyclicity.evaluate`, in the precision and on the device of A. Where A has
left the domain of f, s is reset for that evaluation, as in the paper's Algorithm 1; or h is
infinite, for a minimiser that steps back from a barrier.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from analyticdag._arrays import host_view
from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import DataError, OutsideDomainError


class _Constraint(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, A: torch.Tensor, constraint: Acyclicity, barrier: bool) -> torch.Tensor:
        value, gradient = _evaluate(A.detach(), constraint, barrier)
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Any) -> Any:
        (gradient,) = ctx.saved_tensors
        return upstream[0] * gradient, None, None


def acyclicity(A: torch.Tensor, constraint: Acyclicity, *, barrier: bool = False) -> torch.Tensor:
    """Return h(A), to be differentiated once; outside the domain infinite if it is a barrier."""
    return _Constraint.apply(A, constraint, barrier)  # type: ignore[no-untyped-call]


def _evaluate(
    A: torch.Tensor, constraint: Acyclicity, barrier: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    # On the CPU the same memory as a NumPy array: checks of a small matrix cost less there.
    host = host_view(A)
    matrix = A if host is None else host
    try:
        try:
            value, gradient = constraint.evaluate(matrix)
        except OutsideDomainError as outside:
            if barrier:
                return torch.full_like(A[0, 0], torch.inf), torch.zeros_like(A)
            value, gradient = constraint.widened(outside).evaluate(matrix)
    except DataError:
        if A.ndim != 2 or A.shape[0] != A.shape[1] or bool((A < 0).any()):
            raise
        # The weights have diverged: on NaN a method stops and says so, an error would end it.
        return torch.full_like(A[0, 0], torch.nan), torch.zeros_like(A)
    if host is None:
        return value, gradient
    return torch.as_tensor(value, dtype=A.dtype), torch.from_numpy(np.ascontiguousarray(gradient))
