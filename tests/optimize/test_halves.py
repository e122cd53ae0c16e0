"""The inverse by halves: LAPACK's numbers, and the edge of the domain in every block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyticdag.optimize.halves import Halves

SIZES = (0, 1, 2, 64, 65, 80, 129, 200)  # eliminated, halved once, and twice


def walks(n: int, radius: float) -> Any:
    """A sparse non-negative matrix with the given spectral radius."""
    rng = np.random.default_rng(n)
    Y = rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.3) + 0.01
    return Y * (radius / np.abs(np.linalg.eigvals(Y)).max(initial=1e-9))


@pytest.mark.parametrize("n", SIZES)
def test_it_is_the_inverse_time_and_again(n: int) -> None:
    Y, work = walks(n, 0.9), np.empty((n, n))
    halves = Halves(work)
    for factor in (1.0, 0.5):
        work[...] = factor * Y
        assert halves.invert()
        np.testing.assert_allclose(work, np.linalg.inv(np.eye(n) - factor * Y), atol=1e-11)


@pytest.mark.parametrize("n", SIZES[1:])
def test_outside_the_domain_it_says_so(n: int) -> None:
    for radius, inside in ((0.999, True), (1.001, False), (3.0, False)):
        assert Halves(walks(n, radius)).invert() is inside


@pytest.mark.parametrize(("i", "j"), [(0, 1), (10, 120), (120, 10), (118, 119)])
def test_a_cycle_is_seen_wherever_it_is(i: int, j: int) -> None:
    Y = np.zeros((120 + 8, 120 + 8))
    Y[i, j], Y[j, i] = 2.0, 0.5
    assert not Halves(Y.copy()).invert()
    Y[j, i] = 0.49
    assert Halves(Y).invert()
