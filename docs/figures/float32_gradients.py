"""Draws float32-gradients.svg: which constraint still feels a long cycle in single precision.

The gradient in the edge that closes a cycle of a given length, all other edges of strength 0.2 (a
usual connectivity of GraN-DAG in mid-training), as `Acyclicity.evaluate` returns it in float32.
The dotted lines are the same in float64. A curve ends where float32 has rounded the push to zero.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from analyticdag.acyclicity import Acyclicity

NAMES = ["exponential", "order-1", "order-2", "order-3", "order-4"]
COLOURS = ["#9a9a9a", "#1b6ca8", "#2a9d8f", "#e9a13b", "#c8553d"]
STRENGTH = 0.2
LENGTHS = range(2, 61)


def push(name: str, dtype: type) -> list[float]:
    """Gradient in the missing edge of a chain, for chains of each length; NaN where it is zero."""
    chains = [STRENGTH * np.diag(np.ones(length - 1), 1) for length in LENGTHS]
    found = [float(Acyclicity(name).evaluate(A.astype(dtype))[1][-1, 0]) for A in chains]
    return [value or float("nan") for value in found]


def main() -> None:
    """Draw one panel."""
    mpl.rcParams.update({"svg.hashsalt": "analyticdag", "font.size": 10, "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for name, colour in zip(NAMES, COLOURS, strict=True):
        axes.semilogy(LENGTHS, push(name, np.float64), ":", color=colour, linewidth=1)
        axes.semilogy(LENGTHS, push(name, np.float32), color=colour, label=name)
    tiny = float(np.finfo(np.float32).tiny)
    axes.axhline(tiny, color="#444", linewidth=0.8)
    axes.text(2, tiny * 1e-4, "smallest normal float32", fontsize=8, color="#444")
    axes.set(xlabel="length of the cycle", title="push on the closing edge", ylim=(1e-60, 10))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    target = Path(__file__).with_name("float32-gradients.svg")
    figure.savefig(target, metadata={"Date": None})


main()
