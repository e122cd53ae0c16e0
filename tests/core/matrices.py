"""Hypothesis strategies for weight matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from analyticdag.spectral import spectral_radius


@st.composite
def weights(draw: st.DrawFn, max_nodes: int = 8) -> np.ndarray:
    """A weight matrix of any support, cyclic or not."""
    d = draw(st.integers(1, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.1, 0.3, 0.6, 1.0]))
    W = rng.uniform(0.2, 2.0, (d, d)) * rng.choice([-1, 1], (d, d))
    return np.where(rng.random((d, d)) < density, W, 0.0)


@st.composite
def dags(draw: st.DrawFn, max_nodes: int = 8) -> np.ndarray:
    """A weight matrix whose support is acyclic, in a random labelling."""
    W = draw(weights(max_nodes))
    permutation = np.random.default_rng(draw(st.integers(0, 1000))).permutation(len(W))
    return np.triu(W, 1)[np.ix_(permutation, permutation)]


def inside(W: np.ndarray, radius: float, share: float = 0.6) -> np.ndarray:
    """W scaled so that rho(W * W) is the given share of the radius; acyclic W unchanged."""
    rho = spectral_radius(W * W)
    return W * np.sqrt(share * radius / rho) if rho > 0 else W
