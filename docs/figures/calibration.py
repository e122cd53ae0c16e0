"""Draws calibration.svg: are labels and frequencies as good as they sound?

Left: how often an edge is right, by what its label says fixed the direction (ER1 and ER2, 50 nodes,
1000 rows, unknown scale). Right: of the edges that came back in a given share of 100 bootstrap
resamples, how many are in the true graph (ER2, 20 nodes, 300 rows); on the diagonal a frequency
could be read as a probability. Takes some minutes; numbers behind the bars go to calibration.json.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from analyticdag import AnalyticDAG
from analyticdag.simulate import simulate
from analyticdag.stability import bootstrap

LABELS = ["collider", "orientation rules", "not fixed"]
COLOURS = {"skeleton": "#1b6ca8", "edge": "#c8553d"}
BINS = np.linspace(0.0, 1.0, 11)
SETS, RESAMPLES = 20, 100


def estimator() -> AnalyticDAG:
    """Return the scale-free search that both panels use."""
    return AnalyticDAG(loss="likelihood-nv", solver="order", refine=True, n_jobs=1)


def labels() -> dict[str, list[int]]:
    """Return, for each label, how many edges carry it and how many are in the true graph."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for code in ("ER1", "ER2"):
        for seed in range(SETS):
            sim = simulate(code, n_nodes=50, n_samples=1000, standardize=True, seed=[7, seed])
            for edge in estimator().fit(sim.data).edges_:
                counts[str(edge.fixed_by)][0] += 1
                counts[str(edge.fixed_by)][1] += int(sim.weights[edge.source, edge.target] != 0)
    return dict(counts)


def reliability() -> dict[str, tuple[list[float], list[float], list[int]]]:
    """Return, for pairs and for edges: mean frequency, share that is true, and count by bin."""
    seen: dict[str, list[np.ndarray]] = {"skeleton": [], "edge": []}
    for seed in range(SETS):
        sim = simulate("ER2", n_nodes=20, n_samples=300, standardize=True, seed=[8, seed])
        result = bootstrap(estimator(), sim.data, RESAMPLES, random_state=seed)
        true = sim.weights != 0
        upper, off = np.triu_indices(20, 1), ~np.eye(20, dtype=bool)
        seen["skeleton"].append(np.c_[result.skeleton_frequency[upper], (true | true.T)[upper]])
        seen["edge"].append(np.c_[result.edge_frequency[off], true[off]])
    return {kind: binned(np.concatenate(rows)) for kind, rows in seen.items()}


def binned(rows: np.ndarray) -> tuple[list[float], list[float], list[int]]:
    """Average frequency and truth over the bins that hold anything."""
    rows = rows[rows[:, 0] > 0]
    place = np.minimum(np.digitize(rows[:, 0], BINS) - 1, len(BINS) - 2)
    groups = [rows[place == k] for k in range(len(BINS) - 1) if (place == k).any()]
    means = [group.mean(axis=0) for group in groups]
    return (
        [float(mean[0]) for mean in means],
        [float(mean[1]) for mean in means],
        [len(group) for group in groups],
    )


def main() -> None:
    """Measure, keep the numbers, draw both panels."""
    found, curves = labels(), reliability()
    here = Path(__file__).parent
    numbers = {"labels": found, "reliability": curves}
    (here / "calibration.json").write_text(json.dumps(numbers, indent=1) + "\n")
    mpl.rcParams.update({"svg.hashsalt": "analyticdag", "font.size": 10, "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    shares = [found[label][1] / found[label][0] for label in LABELS]
    left.barh(LABELS, shares, color="#2a9d8f")
    for k, label in enumerate(LABELS):
        left.text(0.02, k, f"{shares[k]:.1%} of {found[label][0]}", va="center", color="white")
    left.set(xlim=(0, 1), xlabel="share in the true graph", title="by what fixed the direction")
    for kind, (frequency, true, _) in curves.items():
        right.plot(frequency, true, "o-", color=COLOURS[kind], label=kind)
    right.plot([0, 1], [0, 1], color="#9a9a9a", lw=1)
    right.set(xlabel="share of resamples", ylabel="share true", title="by how often it came back")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(here / "calibration.svg", metadata={"Date": None})


main()
