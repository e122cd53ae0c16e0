"""How often a hidden common cause is suspected, where there is none and where there is one.

    python docs/figures/hidden_causes.py            resumes; writes hidden_causes.json beside it
    python docs/figures/hidden_causes.py --tell     what the records say

Each record is one simulated table, without a hidden cause (0) or with one (1): how many pairs the
learned class joins, and the leads of a hidden cause over an edge that exceed 2
(`analyticdag.effects.hidden.lead`). The threshold was chosen on the seeds "choice"; those of
"check" say what it is worth; with 200,000 rows they say how many hidden causes can show at all.
"""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag import AnalyticDAG
from analyticdag.effects import Known
from analyticdag.effects.hidden import LEAST_LEAD, lead
from analyticdag.errors import AnalyticDAGWarning
from analyticdag.simulate import Simulation, simulate

OUT = Path(__file__).with_suffix(".json")
SEEDS = {"choice": range(71_000, 71_016), "check": range(75_000, 75_019)}
SETTINGS: list[tuple[str, str, int, dict[str, Any]]] = [
    *((f"{graph}, {d} columns", graph, d, {}) for graph in ("ER1", "ER2") for d in (8, 15)),
    ("ER1, 8 columns, Gumbel noise", "ER1", 8, {"noise": "gumbel"}),
    ("ER1, 15 columns, bent equations", "ER1", 15, {"mechanism": "bent"}),
]
ROWS, MANY_ROWS = (200, 1000), 200_000


def random_table(graph: str, d: int, other: Any, n: int, seed: int, hidden: int) -> Simulation:
    """A random graph; a hidden cause, if any, has three children."""
    return simulate(graph, n_nodes=d, n_samples=n, hidden=hidden, seed=seed, **other)


def instruments(n: int, seed: int, hidden: int) -> np.ndarray:
    """x and y, each with a cause of its own; both with a hidden cause, or with x -> y."""
    rng = np.random.default_rng(seed)
    of_x, of_y, common, e, f = rng.normal(size=(5, n))
    x = of_x + e + hidden * common
    y = of_y + f + (common if hidden else x)
    return np.column_stack([of_x, x, y, of_y])


def learned(X: np.ndarray) -> AnalyticDAG:
    """Learn a graph from standardised columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalyticDAGWarning)
        return AnalyticDAG(loss="likelihood-nv").fit(X / X.std(axis=0))


def leads(X: np.ndarray) -> list[float]:
    """Return the number of pairs that a learned graph joins, and the leads above 2."""
    known = Known.of(learned(X))
    pairs = np.argwhere(np.triu(known.edges | known.edges.T)).tolist()
    found = [round(lead(known.edges, known.moments, *pair), 3) for pair in pairs]
    return [len(pairs), *(one for one in found if one > 2.0)]


def cells() -> Iterator[tuple[str, Callable[[], list[float]]]]:
    """Yield the name of each table, and what makes its record."""
    for part, seeds in SEEDS.items():
        for seed, n, hidden in itertools.product(seeds, ROWS, (0, 1)):
            key = f"{part}|x and y with causes of their own|{n}|{hidden}|{seed}"
            yield key, lambda n=n, s=seed, h=hidden: leads(instruments(n, s, h))
            yield from of_random_graphs(part, n, hidden, seed)
    for seed in SEEDS["check"][:10]:
        yield from of_random_graphs("check", MANY_ROWS, 1, seed)


def of_random_graphs(
    part: str, n: int, hidden: int, seed: int
) -> Iterator[tuple[str, Callable[[], list[float]]]]:
    """Yield the tables of one seed."""
    for name, *how in SETTINGS:
        key = f"{part}|{name}|{n}|{hidden}|{seed}"
        yield key, lambda a=how: leads(random_table(*a, n, seed, hidden).data)


def main() -> None:
    """Fill in the records that are not there yet."""
    records = json.loads(OUT.read_text()) if OUT.exists() else {}
    for number, (key, record) in enumerate(cells()):
        if key not in records:
            records[key] = record()
        if number % 12 == 11:
            OUT.write_text(json.dumps(records, indent=0) + "\n")
    OUT.write_text(json.dumps(records, indent=0) + "\n")


def tell(limit: float = LEAST_LEAD) -> None:
    """Print the share of pairs, and of tables, that are named."""
    found: dict[tuple[str, ...], list[list[float]]] = defaultdict(list)
    for key, value in json.loads(OUT.read_text()).items():
        found[tuple(key.split("|")[:4])].append(value)
    sys.stdout.write(
        "| | rows | hidden cause | tables | pairs named | tables with a pair named |\n"
    )
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for (part, name, n, hidden), records in sorted(found.items()):
        if part == "check":
            named = [sum(one > limit for one in leads[1:]) for leads in records]
            pairs = sum(int(leads[0]) for leads in records)
            share = f"{sum(named)} of {pairs}"
            tables = f"{sum(map(bool, named))} of {len(records)}"
            kind = "yes" if hidden == "1" else "no"
            sys.stdout.write(f"| {name} | {n} | {kind} | {len(records)} | {share} | {tables} |\n")


if __name__ == "__main__":
    words = sys.argv[1:]
    tell(*map(float, words[1:])) if words[:1] == ["--tell"] else main()
