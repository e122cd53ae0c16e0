from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from matrices import weights
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyticdag.spectral import (
    cyclic_components,
    cyclic_members,
    dominance_scaling,
    spectral_radius,
)

few = settings(max_examples=40, deadline=None)


@few
@given(W=weights(max_nodes=25))
def test_components_agree_with_scipy(W: np.ndarray) -> None:
    _, labels = connected_components(csr_array(W), connection="strong")
    expected = {
        frozenset(np.flatnonzero(labels == label).tolist())
        for label in np.unique(labels)
        if (labels == label).sum() > 1 or W[labels == label][:, labels == label].any()
    }
    assert {frozenset(c.tolist()) for c in cyclic_components(W)} == expected


def test_a_deep_graph_needs_no_recursion() -> None:
    chain = np.diag(np.ones(2999), 1)
    assert cyclic_components(chain) == []
    chain[2999, 0] = 1.0
    members, starts = cyclic_members(chain)
    assert sorted(members) == list(range(3000))
    assert starts.tolist() == [0, 3000]


@few
@given(W=weights(max_nodes=12))
def test_radius_agrees_with_the_eigenvalues(W: np.ndarray) -> None:
    A = W * W
    exact = np.max(np.abs(np.linalg.eigvals(A)))
    if not cyclic_components(A):
        exact = 0.0  # eigenvalues of a nilpotent matrix are noise
    assert spectral_radius(A) == pytest.approx(exact, rel=1e-8)
    assert spectral_radius(array_api_strict.asarray(A)) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("period", [2, 3, 5])
def test_radius_of_periodic_and_badly_scaled_graphs(period: int) -> None:
    A = np.roll(np.eye(period), 1, axis=1)
    A[0, 1 % period] = 1e30
    assert spectral_radius(A) == pytest.approx(1e30 ** (1 / period), rel=1e-9)


def test_radius_of_nothing() -> None:
    assert spectral_radius(np.zeros((3, 3))) == 0.0
    assert spectral_radius(np.diag(np.full(5, 1e18), 1)) == 0.0
    assert spectral_radius(np.array([[0.3]])) == 0.3


@few
@given(W=weights(max_nodes=12))
def test_a_scaling_proves_what_it_says(W: np.ndarray) -> None:
    A = W * W
    v, proved = dominance_scaling(A, 1.0)
    if proved:
        scaled = A if v is None else A * v / v[:, None]
        assert scaled.sum(axis=1).max() < 1.0
        assert spectral_radius(A) < 1.0
    else:
        assert spectral_radius(A) > 0.5 or A.max() > 1.0


def test_scaling_tames_huge_entries() -> None:
    A = np.diag(np.full(9, 1e18), 1)
    A[9, 0] = 1e-170
    v, proved = dominance_scaling(A, 1.0)
    assert proved
    assert (A * v / v[:, None]).max() < 1
