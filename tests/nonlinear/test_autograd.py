"""The constraint inside Torch: gradients, precisions, what happens outside the domain."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analyticdag.acyclicity import Acyclicity
from analyticdag.errors import DataError
from analyticdag.functions import Exponential, Inverse, named
from analyticdag.nonlinear.autograd import acyclicity

CONSTRAINTS = [
    *(named(name) for name in ("exponential", "order-1", "order-2", "order-3", "order-4")),
    Exponential() + 0.5 * Inverse(2.0),
]


def matrix(seed: int = 0, size: float = 0.1, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    A = np.random.default_rng(seed).uniform(0.01, size, (5, 5))
    return torch.tensor(A, dtype=dtype)


@pytest.mark.parametrize("function", CONSTRAINTS, ids=str)
def test_the_gradient_is_that_of_the_value(function: object) -> None:
    constraint = Acyclicity(function)  # type: ignore[arg-type]
    A = matrix().requires_grad_()
    assert torch.autograd.gradcheck(lambda M: acyclicity(M, constraint), A)


@pytest.mark.parametrize("function", CONSTRAINTS, ids=str)
def test_single_precision_agrees_with_double(function: object) -> None:
    constraint = Acyclicity(function)  # type: ignore[arg-type]
    found = []
    for dtype in (torch.float64, torch.float32):
        A = matrix(dtype=dtype).requires_grad_()
        value = acyclicity(A, constraint)
        (gradient,) = torch.autograd.grad(value, A)
        assert value.dtype == gradient.dtype == dtype
        found.append((value.detach().double(), gradient.double()))
    torch.testing.assert_close(found[1], found[0], rtol=1e-5, atol=1e-7)


def test_it_is_zero_on_a_dag_and_positive_on_a_cycle() -> None:
    constraint = Acyclicity(named("order-2"))
    dag = torch.triu(matrix(), 1)
    assert float(acyclicity(dag, constraint)) == 0.0
    assert float(acyclicity(dag + dag.T, constraint)) > 0.0


def test_outside_the_domain_s_is_reset_or_the_barrier_is_infinite() -> None:
    constraint = Acyclicity(named("order-1"))
    A = matrix(size=2.0).requires_grad_()
    value = acyclicity(A, constraint)
    (gradient,) = torch.autograd.grad(value, A)
    assert 0.0 < float(value.detach()) < np.inf
    assert bool((gradient > 0).all())
    assert float(acyclicity(A, constraint, barrier=True).detach()) == np.inf


def test_weights_that_ran_away_give_nan_and_no_error() -> None:
    broken = torch.full((3, 3), torch.nan, dtype=torch.float64)
    assert np.isnan(float(acyclicity(broken, Acyclicity(named("order-1")))))
    huge = torch.full((3, 3), 1e300, dtype=torch.float64)
    assert np.isnan(float(acyclicity(huge, Acyclicity(named("exponential")))))


def test_what_is_no_matrix_of_strengths_is_refused() -> None:
    constraint = Acyclicity(named("order-1"))
    with pytest.raises(DataError, match="negative entries"):
        acyclicity(-matrix(), constraint)
    with pytest.raises(DataError, match="square matrix"):
        acyclicity(matrix()[:3], constraint)


def test_a_second_derivative_is_refused() -> None:
    A = matrix().requires_grad_()
    squared = acyclicity(A, Acyclicity(named("order-1"))) ** 2
    (slope,) = torch.autograd.grad(squared, A, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()
