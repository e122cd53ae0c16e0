"""Draws gradient-norms-by-order.svg: how strongly each constraint pushes on cycles.

Left, proposition 5: the norm of the gradient in A of a random graph, against rho(A). Right: the
push on the edge that closes a cycle, against the cycle's length; the exponential's vanishes
factorially, order-k's only geometrically, and later the higher k.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from analyticdag.acyclicity import Acyclicity
from analyticdag.spectral import spectral_radius

NAMES = ["exponential", "order-1", "order-2", "order-3", "order-4"]
COLOURS = ["#9a9a9a", "#1b6ca8", "#2a9d8f", "#e9a13b", "#c8553d"]


def norms_against_radius(name: str, shares: np.ndarray) -> list[float]:
    """Spectral norm of the gradient in A, for a random graph scaled to each rho."""
    rng = np.random.default_rng(0)
    A = rng.uniform(0.25, 4.0, (50, 50)) * (rng.random((50, 50)) < 0.08)
    A /= spectral_radius(A)
    return [float(np.linalg.norm(Acyclicity(name).evaluate(t * A)[1], 2)) for t in shares]


def push_against_length(name: str, lengths: range) -> list[float]:
    """Gradient in the missing edge of a chain, for chains of each length."""
    weight = 0.8
    chains = [weight * np.diag(np.ones(length - 1), 1) for length in lengths]
    return [float(Acyclicity(name).evaluate(A)[1][-1, 0]) for A in chains]


def main() -> None:
    """Draw both panels."""
    mpl.rcParams.update({"svg.hashsalt": "analyticdag", "font.size": 10, "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    shares, lengths = np.linspace(0.02, 0.95, 60), range(2, 31)
    for name, colour in zip(NAMES, COLOURS, strict=True):
        left.semilogy(shares, norms_against_radius(name, shares), color=colour, label=name)
        right.semilogy(lengths, push_against_length(name, lengths), color=colour, label=name)
    left.set(xlabel="ρ(A), at s = 1", title="norm of the gradient in A")
    right.set(xlabel="length of the cycle", title="push on the closing edge", ylim=(1e-12, 1e4))
    left.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    target = Path(__file__).with_name("gradient-norms-by-order.svg")
    figure.savefig(target, metadata={"Date": None})


main()
