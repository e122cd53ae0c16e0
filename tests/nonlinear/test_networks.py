"""The batched networks: one computation for all nodes, the same as node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from analyticdag.nonlinear import gran_dag, mlp
from analyticdag.nonlinear.networks import (
    Networks,
    Shape,
    moments,
    negative_log_likelihood,
    sensitivity,
    slopes,
)

D = 4
MASK = torch.triu(torch.ones(D, D, dtype=torch.float64), 1)
COLUMNS = torch.tensor(np.random.default_rng(1).normal(size=(D, 30)))


def drawn(**changes: Any) -> Networks:
    shape = Shape(**{"nodes": D, "hidden": (5, 3), "outputs": 2, **changes})
    return Networks.drawn(shape, 7, torch.float64, "cpu")


def test_the_batch_is_what_each_node_would_compute_alone() -> None:
    networks = drawn()
    outputs = networks(COLUMNS, MASK)
    for t in range(D):
        layer = COLUMNS * MASK[:, t, None]
        for k, (weight, bias) in enumerate(zip(networks.weights, networks.biases, strict=True)):
            layer = weight[t] @ (layer if k == 0 else functional.leaky_relu(layer)) + bias[t]
        torch.testing.assert_close(outputs[t], layer)


def test_the_vector_and_the_tensors_share_memory() -> None:
    networks = drawn()
    networks.values.zero_()
    assert all(not bool(tensor.any()) for tensor in networks.parameters)
    assert bool(drawn().copy().values.any())


def test_the_gradient_is_in_the_order_of_the_vector() -> None:
    networks = drawn()
    gradient = networks.gradient(networks(COLUMNS, MASK).square().sum())

    def value(vector: torch.Tensor) -> float:
        return float(Networks(networks.shape, vector)(COLUMNS, MASK).square().sum().detach())

    for k in (0, 50, len(gradient) - 1):
        step = torch.zeros_like(gradient)
        step[k] = 1e-6
        slope = (value(networks.values + step) - value(networks.values - step)) / 2e-6
        assert slope == pytest.approx(float(gradient[k]), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("connectivity", [gran_dag.connectivity, mlp.connectivity])
def test_the_connectivity_is_zero_exactly_where_nothing_can_flow(connectivity: Any) -> None:
    networks = drawn()
    with torch.no_grad():
        networks.weights[0][2, :, 1] = 0.0
    A = connectivity(networks, MASK).detach()
    assert A.shape == (D, D)
    expected = MASK.bool().clone()
    expected[1, 2] = False
    assert torch.equal(A > 0, expected)


def test_the_likelihood_is_that_of_a_gaussian() -> None:
    networks = drawn()
    mean, scale = moments(networks, COLUMNS, MASK)
    expected = -torch.distributions.Normal(mean, scale.exp()).log_prob(COLUMNS)
    torch.testing.assert_close(negative_log_likelihood(networks, COLUMNS, MASK), expected)


def test_slopes_and_sensitivities_of_a_linear_network() -> None:
    networks = drawn(hidden=(), outputs=1, own_scale=True)
    found = slopes(networks, COLUMNS, MASK)
    torch.testing.assert_close(found, networks.weights[0][:, 0].detach().T * MASK)
    mean, _ = moments(networks, COLUMNS, MASK)
    expected = (COLUMNS - mean).detach().abs().mean(dim=1) * found.abs()
    torch.testing.assert_close(sensitivity(networks, COLUMNS, MASK), expected)


def test_both_precisions_start_at_the_same_point() -> None:
    shape = Shape(D, (5,))
    double = Networks.drawn(shape, 3, torch.float64, "cpu").values
    single = Networks.drawn(shape, 3, torch.float32, "cpu").values
    assert torch.equal(double.float(), single)
    assert not torch.equal(double, Networks.drawn(shape, 4, torch.float64, "cpu").values)
