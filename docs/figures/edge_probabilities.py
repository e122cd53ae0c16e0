"""Learns the constants that make probabilities of edges, and checks them on other tables.

Tables of 10 to 100 columns and 100 to 10,000 rows are simulated, two fifths of them as the model
has it (a third of these with trees, or hubs that are causes), the others with one violation each or
several. Every edge of every fit is a row: what the best
graph without it, or without its direction, would cost, what the rows show of misfit, and the truth.
Smaller tables are resampled as well. The constants of `analyticdag.linear.probabilities` and of
`analyticdag.stability.judged` are fitted to some tables; others, which played no part, say how
often edges are there, by what is claimed.

    python docs/figures/edge_probabilities.py collect FILE      a line of JSON a table; resumes
    python docs/figures/edge_probabilities.py learn FILE        constants and calibration
    python docs/figures/edge_probabilities.py check FILE        calibration of the constants in use
    python docs/figures/edge_probabilities.py tell              the tables of the page
    python docs/figures/edge_probabilities.py draw              the figure, from these numbers

The first takes some minutes. Numbers are written to edge_probabilities.json.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from scipy.optimize import minimize

from analyticdag import AnalyticDAG
from analyticdag.fitting.statistics import Statistics
from analyticdag.linear import probabilities
from analyticdag.linear.learn import learned_by_search
from analyticdag.linear.options import Options
from analyticdag.linear.prepare import Fit
from analyticdag.linear.probabilities import Directed, Evidence, Joined, edge_evidence
from analyticdag.simulate import simulate
from analyticdag.stability import bootstrap, judged
from analyticdag.stability.judged import Links, Ways

SEED = (19, 77)  # of no benchmark
LEARNT, CHECKED = range(450), range(1000, 1300)
LEARNT_RESAMPLED, CHECKED_RESAMPLED = range(5000, 5050), range(6000, 6040)
RESAMPLES = 20
# Violations, and how many of the tables have each; the first two are as the model has it.
KINDS = {
    "none": 0.28, "hubs": 0.14, "student": 0.08, "exponential": 0.04, "bent": 0.10, "mlp": 0.06,
    "codes": 0.10, "hidden": 0.08, "regimes": 0.06, "several": 0.06,
}  # fmt: skip
# What the figure shows, in which words and colours; points of fewer edges are left out.
DRAWN = {
    "none": ("as the model has it", "#1b6ca8"),
    "hubs": ("trees, hubs that are causes", "#7f9f3f"),
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
    d = int(rng.choice([10, 15, 20] if small else [10, 20, 30, 50, 100]))
    n = int(rng.choice([100, 300, 1000] if small else [100, 300, 1000, 3000, 10000]))
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    graphs = ["SC1", "SC2"] if kind == "hubs" else ["UD1.5", "UD1.5", "ER1", "ER2", "SF2"]
    asked: dict[str, Any] = {"graph": str(rng.choice(graphs))}
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
        "hubs": {},
        "student": {"noise": "student"},
        "exponential": {"noise": "exponential"},
        "bent": {"mechanism": "bent"},
        "codes": {"levels": int(rng.choice([2, 3, 5, 8]))},
        "hidden": {"hidden": max(1, int(d * rng.uniform(0.05, 0.2)))},
        "regimes": {"regimes": int(rng.choice([2, 3, 5]))},
    }[kind]


# What a row holds: the place of its kind in KINDS, the evidence, in which share of the resamples
# the edge came back (and with its direction), whether it is there in truth, or its reverse.
COLUMNS = ("kind", *Evidence.__dataclass_fields__, "back", "back_so", "true", "reverse")


def edges_of(number: int) -> list[list[float]]:
    """Return the rows of one table."""
    small = number in LEARNT_RESAMPLED or number in CHECKED_RESAMPLED
    kind, drawn = table(number, small=small)
    model = AnalyticDAG(n_jobs=1)
    statistics = Statistics.from_table(drawn.data, list(range(drawn.n_nodes)), standardize=False)
    fit = Fit(statistics, Options.of(model))
    learned = learned_by_search(fit)
    evidence = edge_evidence(fit, learned)
    if evidence is None:
        return []
    often = {}
    if small:
        found = bootstrap(model, drawn.data, RESAMPLES, random_state=number)
        edges = found.annotate(model.fit(drawn.data).edges_)
        often = {edge[:2]: (edge.stability, edge.direction_stability) for edge in edges}
    rows = []
    for k, (i, j) in enumerate(np.argwhere(learned.finished.adjacency).tolist()):
        known = [column[k] for column in vars(evidence).values()]
        truth = [drawn.weights[i, j] != 0.0, drawn.weights[j, i] != 0.0]
        rows.append([list(KINDS).index(kind), *known, *often.get((i, j), (0.0, 0.0)), *truth])
    return rows


def collect(path: Path) -> None:
    """Add what is not there yet."""
    done = {json.loads(line)["number"] for line in path.open()} if path.exists() else set()
    with path.open("a") as file:
        for number in (*LEARNT, *LEARNT_RESAMPLED, *CHECKED, *CHECKED_RESAMPLED):
            if number not in done:
                rows = [[float(value) for value in row] for row in edges_of(number)]
                file.write(json.dumps({"number": number, "rows": rows}) + "\n")
                file.flush()


class Rows:
    """The edges of some tables, by column."""

    def __init__(self, path: Path, *numbers: range) -> None:
        tables = [json.loads(line) for line in path.open()]
        rows = [row for one in tables if any(one["number"] in n for n in numbers)
                for row in one["rows"]]  # fmt: skip
        self.columns = dict(zip(COLUMNS, np.array(rows, dtype=float).T, strict=True))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def where(self, chosen: np.ndarray) -> Rows:
        """Return some of the rows."""
        some = Rows.__new__(Rows)
        some.columns = {name: column[chosen] for name, column in self.columns.items()}
        return some

    @property
    def evidence(self) -> Evidence:
        """What the library knows of the edges."""
        return Evidence(*(self[name] for name in Evidence.__dataclass_fields__))

    @property
    def fixed(self) -> np.ndarray:
        """Whether the score prefers the direction."""
        return self["turned"] > 1e-6

    @property
    def joined(self) -> np.ndarray:
        """Whether the two columns are joined in truth."""
        return (self["true"] + self["reverse"]) > 0


def surprise(p: np.ndarray, true: np.ndarray, weights: Any = None) -> float:
    """Return the mean surprise of claims about the truth."""
    p = np.clip(p, 1e-4, 1.0 - 1e-4)
    return -float(np.average(np.where(true, np.log(p), np.log1p(-p)), weights=weights))


def fitted(
    made: Any, start: list[float], claims: Callable[[Any], np.ndarray], true: np.ndarray, rows: Rows
) -> Any:
    """Return the positive constants that surprise least; those that do nothing are zero."""
    # Twice for tables as the model has it: there claims have to be right.
    weights = np.where(rows["kind"] <= 1.0, 2.0, 1.0)

    def badness(logs: np.ndarray) -> float:
        idle = 1e-5 * float(np.sum(np.maximum(logs + 12.0, 0.0)))
        return surprise(claims(made(*np.exp(logs))), true, weights) + idle

    bounds = [(-14.0, 3.0)] * len(start)
    best = minimize(badness, np.log(start), method="L-BFGS-B", bounds=bounds).x
    return made(*(round(float(c), 4) for c in np.exp(best)))


def learn_constants(path: Path) -> dict[str, Any]:
    """Learn the constants: of edges and directions by the score, then with resamples."""
    rows = Rows(path, LEARNT, LEARNT_RESAMPLED)
    start = [0.84, 1.44, 2.94, 2.05, 4.49, 1.82, 0.78, 1.19]
    joined = fitted(Joined, start, lambda c: c.probability(rows.evidence), rows.joined, rows)
    way = rows.where(rows.joined & rows.fixed)
    true = way["true"] > 0.0
    directed = fitted(Directed, [1.2, 2.0, 0.9], lambda c: c.probability(way.evidence), true, way)
    found = {"joined": vars(joined), "directed": vars(directed)}
    again = Rows(path, LEARNT_RESAMPLED)
    for name, some, p, k, n in looks(again, joined, directed):
        true = some.joined if name == "joined" else some["true"] > 0.0
        links = partial(Links, usual=judged.JOINED.usual)
        made, start = (links, [0.3]) if name == "joined" else (Ways, [0.7, 0.4])
        both = fitted(
            made,
            start,
            lambda c, p=p, k=k, n=n: c.probability(p, k, n),
            true,
            some,
        )
        found[f"{name}, resampled"] = vars(both)
    return found


def looks(rows: Rows, joined: Joined, directed: Directed) -> Iterator[tuple[Any, ...]]:
    """Yield, of edges and of directions given an edge, what the score and what resamples say."""
    p = np.minimum(joined.probability(rows.evidence), probabilities.SUREST)
    n = np.full(len(p), float(RESAMPLES))
    yield "joined", rows, p, n * rows["back"], n
    some = rows.where(rows.joined & rows.fixed)
    way = np.minimum(directed.probability(some.evidence), probabilities.SUREST)
    yield "directed", some, way, RESAMPLES * some["back_so"], RESAMPLES * some["back"]


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
            "surprise": round(surprise(p, y), 3),
            "bins": [[len(a), round(float(a.mean()), 3), round(float(b.mean()), 3)]
                     for a, b in groups if len(a)],
        }  # fmt: skip
    return found


def check_constants(path: Path) -> dict[str, Any]:
    """Return what the constants in use claim of tables that played no part, and what is right."""
    rows = Rows(path, CHECKED, CHECKED_RESAMPLED)
    found = compared("", rows, *by_score(rows))
    rows = Rows(path, CHECKED_RESAMPLED)
    p, way = by_score(rows)
    found |= compared(", before resamples", rows, p, way)
    n = np.full(len(p), float(RESAMPLES))
    both = judged.JOINED.probability(p, n * rows["back"], n)
    so = judged.DIRECTED.probability(
        np.minimum(way, probabilities.SUREST), n * rows["back_so"], n * rows["back"]
    )
    found |= compared(", resampled", rows, both, so)
    found |= compared(
        ", frequency alone", rows, rows["back"], rows["back_so"] / np.maximum(rows["back"], 1e-9)
    )
    return found


def by_score(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return how probable edges are, and their directions given that they are there."""
    p = np.minimum(probabilities.JOINED.probability(rows.evidence), probabilities.SUREST)
    return p, probabilities.DIRECTED.probability(rows.evidence)


def compared(name: str, rows: Rows, p: np.ndarray, way: np.ndarray) -> dict[str, Any]:
    """Return claims and truth of edges, and of directions that the data fix."""
    fixed = rows.fixed
    some = rows.where(fixed)
    return {
        f"joined{name}": calibration(p, rows.joined, rows["kind"]),
        f"direction{name}": calibration((p * way)[fixed], some["true"] > 0.0, some["kind"]),
    }


def draw(kept: dict[str, Any]) -> None:
    """Draw claims against truth, for links and for directions."""
    mpl.rcParams.update({"svg.hashsalt": "analyticdag", "font.size": 10, "svg.fonttype": "none"})
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    titles = {"joined": "two columns are joined", "direction": "joined this way"}
    for axes, (key, title) in zip(panels, titles.items(), strict=True):
        for kind, (words, colour) in DRAWN.items():
            bins = [b for b in kept["check"][key][kind]["bins"] if b[0] >= FEWEST]
            axes.plot([b[1] for b in bins], [b[2] for b in bins], "o-", color=colour, label=words)
        axes.plot([0.35, 1], [0.35, 1], color="#9a9a9a", lw=1)
        axes.set(
            xlim=(0.35, 1.02), ylim=(0, 1.03), xlabel="probability that is claimed", title=title
        )
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share in the true graph")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    figure.savefig(HERE.with_name("edge-probabilities.svg"), metadata={"Date": None})


def tell(kept: dict[str, Any]) -> None:
    """Print what is claimed and what is right, by violation."""
    ways = ("joined", "direction")
    for name, *columns in (("", *ways), (", resampled", *ways)):
        compare = ("", ", before resamples", ", frequency alone") if name else ("",)
        for kind in KINDS:
            cells = [kind, str(kept["check"][f"joined{name}"][kind]["edges"])]
            for column in columns:
                for other in (name, *compare[1:]):
                    one = kept["check"][f"{column}{other}"][kind]
                    cells.append(f"{100 * one['claimed']:.1f} / {100 * one['right']:.1f}")
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.write("\n")


def main() -> None:
    """Do what was asked and keep the numbers."""
    warnings.simplefilter("ignore")
    kept = json.loads(HERE.read_text()) if HERE.exists() else {}
    task, path = sys.argv[1], Path(*sys.argv[2:3])
    if task in ("draw", "tell"):
        {"draw": draw, "tell": tell}[task](kept)
    elif task == "collect":
        collect(path)
    else:
        kept[task] = {"learn": learn_constants, "check": check_constants}[task](path)
        HERE.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
