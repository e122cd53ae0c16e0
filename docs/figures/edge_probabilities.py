"""Learns the constants of `analyticdag.linear.probabilities` and checks them on other tables.

Tables of 10 to 50 columns and 100 to 10,000 rows are simulated, a third of them as the model has
it, the others with one violation each or several. Every edge of every fit is a row: what the best
graph without it, or without its direction, would cost, what the rows show of misfit, and the truth.
The level and the slope of both curves are fitted to the tables without violations, the rest to all.
Tables that played no part then say how often edges are there, by what is claimed.

    python docs/figures/edge_probabilities.py learn         constants and calibration
    python docs/figures/edge_probabilities.py resamples     what a bootstrap is worth
    python docs/figures/edge_probabilities.py draw          the figure, from these numbers

The first two take some minutes each and write their numbers to edge_probabilities.json.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from scipy.optimize import minimize
from scipy.special import expit

from analyticdag import AnalyticDAG
from analyticdag.fitting.statistics import Statistics
from analyticdag.linear.learn import learn
from analyticdag.linear.options import Options
from analyticdag.linear.paths import Fit
from analyticdag.linear.probabilities import Evidence, edge_evidence
from analyticdag.simulate import simulate
from analyticdag.stability import bootstrap

SEED = (19, 77)  # of no benchmark
LEARNT, CHECKED, RESAMPLED = range(450), range(1000, 1250), range(2060, 2120)
RESAMPLES = 30
# Violations, and how many of the tables have each.
KINDS = {
    "none": 0.36, "student": 0.08, "exponential": 0.04, "bent": 0.10, "mlp": 0.06, "codes": 0.12,
    "hidden": 0.10, "regimes": 0.08, "several": 0.06,
}  # fmt: skip
# What the figure shows, in which words and colours; points of fewer edges are left out.
DRAWN = {
    "none": ("as the model has it", "#1b6ca8"),
    "bent": ("bent equations", "#2a9d8f"),
    "codes": ("two to eight codes", "#c8553d"),
    "regimes": ("pooled regimes", "#7a5195"),
    "hidden": ("hidden common causes", "#8a8a8a"),
}
FEWEST = 20
HERE = Path(__file__).with_suffix(".json")


def table(number: int, *, small: bool = False) -> tuple[str, Any]:
    """Simulate one table; its violation by name."""
    rng = np.random.default_rng([*SEED, number])
    d = int(rng.choice([10, 15, 20] if small else [10, 20, 30, 50]))
    n = int(rng.choice([100, 300, 1000] if small else [100, 300, 1000, 3000, 10000]))
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    asked: dict[str, Any] = {"graph": str(rng.choice(["UD1.5", "UD1.5", "ER1", "ER2", "SF2"]))}
    strength = rng.random()
    if kind == "mlp":
        return kind, simulate(**asked, n_nodes=d, n_samples=n, mechanism="mlp", standardize=True,
                              seed=[*SEED, number])  # fmt: skip
    if strength < 0.75:
        asked["effects"] = (0.02, 2.0) if strength < 0.5 else (0.1, 1.0)
    if kind != "codes" and (strength < 0.75 or rng.random() < 0.6):
        asked["units"] = (0.1, 10.0)
    asked |= violation(kind, d, rng)
    return kind, simulate(**asked, n_nodes=d, n_samples=n, seed=[*SEED, number])


def violation(kind: str, d: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the options of `simulate` that make a violation."""
    if kind == "several":
        return {
            "noise": str(rng.choice(["student", "gaussian"])),
            "mechanism": "bent",
            "hidden": int(rng.integers(0, d // 10 + 1)),
            "regimes": int(rng.choice([1, 3])),
        }
    return {
        "none": {},
        "student": {"noise": "student"},
        "exponential": {"noise": "exponential"},
        "bent": {"mechanism": "bent"},
        "codes": {"levels": int(rng.choice([2, 3, 5, 8]))},
        "hidden": {"hidden": max(1, int(d * rng.uniform(0.05, 0.2)))},
        "regimes": {"regimes": int(rng.choice([2, 3, 5]))},
    }[kind]


def edges_of(number: int) -> list[list[float]]:
    """Return the rows of one table: evidence, misfit, whether the direction is open, the truth."""
    kind, drawn = table(number)
    statistics = Statistics.from_table(drawn.data, list(range(drawn.n_nodes)), standardize=False)
    fit = Fit(statistics, Options.of(AnalyticDAG(n_jobs=1)))
    learned = learn(fit)
    evidence = edge_evidence(fit, learned)
    if evidence is None:
        return []
    return [
        [list(KINDS).index(kind), *measured(evidence, i, j), drawn.weights[i, j] != 0.0,
         drawn.weights[j, i] != 0.0]
        for i, j in np.argwhere(learned.finished.adjacency)
    ]  # fmt: skip


def measured(evidence: Evidence, i: int, j: int) -> list[float]:
    """Return what is known of one edge: gaps, price, then what misfit multiplies."""
    n, misfit = evidence.n_samples, evidence.misfit
    coarse = max(misfit.coarse[i], misfit.coarse[j])
    seen = (misfit.dependence, coarse, misfit.spread[i, j])
    return [evidence.apart[i, j], evidence.turned[i, j], evidence.price, *(n * v for v in seen)]


def joined(rows: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return P(joined): level, slope, logs of three factors, logits of doubt and base."""
    apart, price, excess = rows[:, 1], rows[:, 3], 1.0 + rows[:, 4:7] @ np.exp(c[2:5])
    root = np.sqrt(np.minimum(apart + price, 1e4) / excess) - np.sqrt(price)
    doubt = expit(c[5]) * (1.0 - 1.0 / excess)
    return (1.0 - doubt) * expit(c[0] + c[1] * root) + doubt * expit(c[6])


def directed(rows: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return P(this way, given joined): level, slope, logs of three factors."""
    excess = 1.0 + rows[:, 4:7] @ np.exp(c[2:5])
    return expit(c[0] + c[1] * np.sqrt(np.minimum(rows[:, 2], 1e4) / excess))


def fitted(curve: Any, rows: np.ndarray, true: np.ndarray, rest: list[float]) -> np.ndarray:
    """Fit level and slope to rows without violations, then the rest to all."""
    plain = rows[:, 0] == 0

    def surprise(c: np.ndarray, chosen: np.ndarray) -> float:
        p = np.clip(curve(rows[chosen], c), 1e-4, 1.0 - 1e-4)
        return -float(np.mean(np.where(true[chosen], np.log(p), np.log1p(-p))))

    nothing = np.r_[np.full(3, -30.0), rest[3:]]
    own = minimize(lambda c: surprise(np.r_[c, nothing], plain), [0.5, 1.0], method="Nelder-Mead").x
    # Factors that nothing speaks for go to zero.
    found = minimize(
        lambda c: surprise(np.r_[own, c], plain | True) + 1e-5 * np.sum(np.maximum(c[:3] + 12, 0)),
        rest, method="L-BFGS-B", bounds=[(-14.0, 5.0)] * 3 + [(-5.0, 5.0)] * (len(rest) - 3),
    ).x  # fmt: skip
    return np.r_[own, found]


def calibration(claimed: np.ndarray, true: np.ndarray, kinds: np.ndarray) -> dict[str, Any]:
    """Return, for each violation, edges, what was claimed, what was right, and the same by bins."""
    bins = np.array([0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01])
    found = {}
    for k, kind in enumerate(KINDS):
        p, y = claimed[kinds == k], true[kinds == k]
        place = np.digitize(p, bins) - 1
        groups = [(p[place == b], y[place == b]) for b in range(len(bins) - 1)]
        found[kind] = {
            "edges": len(p),
            "claimed": round(float(p.mean()), 3), "right": round(float(y.mean()), 3),
            "bins": [[len(a), round(float(a.mean()), 3), round(float(b.mean()), 3)]
                     for a, b in groups if len(a)],
        }  # fmt: skip
    return found


def collected(numbers: range) -> np.ndarray:
    """Return the rows of many tables."""
    return np.array([row for number in numbers for row in edges_of(number)], dtype=float)


def learn_constants() -> dict[str, Any]:
    """Learn on some tables, check on others."""
    rows = collected(LEARNT)
    there = rows[:, 7:].any(axis=1)
    pair = fitted(joined, rows, there, [-2.0, -4.0, -3.0, 0.0, 1.0])
    way = fitted(directed, rows[there], rows[there, 7] > 0, [-2.0, -4.0, -3.0])
    new = collected(CHECKED)
    p = np.minimum(joined(new, pair), 0.999)
    both, kinds = np.minimum(p * directed(new, way), 0.999), new[:, 0]
    true, fixed = new[:, 7] > 0, new[:, 2] >= 1e-6
    return {
        "joined": [*pair[:2], *np.exp(pair[2:5]), *expit(pair[5:])],
        "directed": [*way[:2], *np.exp(way[2:5])],
        "calibration": {
            "joined": calibration(p, new[:, 7:].any(axis=1), kinds),
            "direction, fixed by data": calibration(both[fixed], true[fixed], kinds[fixed]),
            "direction, open": calibration(both[~fixed], true[~fixed], kinds[~fixed]),
        },
    }


def resampled(number: int) -> list[list[float]]:
    """Return, for the edges of one table, how often they came back, and the truth."""
    kind, drawn = table(number, small=True)
    found = bootstrap(AnalyticDAG(n_jobs=1), drawn.data, RESAMPLES, random_state=number)
    true = drawn.weights != 0.0
    return [
        [list(KINDS).index(kind), found.skeleton_frequency[i, j], found.edge_frequency[i, j],
         true[i, j] | true[j, i], true[i, j]]
        for i, j in (e[:2] for e in AnalyticDAG(n_jobs=1).fit(drawn.data).edges_)
    ]  # fmt: skip


def check_resamples() -> dict[str, Any]:
    """Return how often edges are there that came back in a given share of the resamples."""
    rows = np.array([row for number in RESAMPLED for row in resampled(number)], dtype=float)
    return {
        "directed": calibration(rows[:, 2], rows[:, 4] > 0, rows[:, 0]),
        "joined": calibration(rows[:, 1], rows[:, 3] > 0, rows[:, 0]),
    }


def draw(kept: dict[str, Any]) -> None:
    """Draw claims against truth, for links and for directions."""
    mpl.rcParams.update({"svg.hashsalt": "analyticdag", "font.size": 10, "svg.fonttype": "none"})
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    titles = {"joined": "two columns are joined", "direction, fixed by data": "joined this way"}
    for axes, (key, title) in zip(panels, titles.items(), strict=True):
        for kind, (words, colour) in DRAWN.items():
            bins = [b for b in kept["learn"]["calibration"][key][kind]["bins"] if b[0] >= FEWEST]
            axes.plot([b[1] for b in bins], [b[2] for b in bins], "o-", color=colour, label=words)
        axes.plot([0.35, 1], [0.35, 1], color="#9a9a9a", lw=1)
        axes.set(
            xlim=(0.35, 1.02), ylim=(0, 1.03), xlabel="probability that is claimed", title=title
        )
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share in the true graph")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False
    )
    figure.savefig(HERE.with_name("edge-probabilities.svg"), metadata={"Date": None})


def main() -> None:
    """Do what was asked and keep the numbers."""
    warnings.simplefilter("ignore")
    kept = json.loads(HERE.read_text()) if HERE.exists() else {}
    if sys.argv[1] == "draw":
        draw(kept)
        return
    task = {"learn": learn_constants, "resamples": check_resamples}[sys.argv[1]]
    kept[sys.argv[1]] = task()
    HERE.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
