"""Effects over a class against all of its members, one by one.

    python docs/figures/effects_brute_force.py      writes effects_brute_force.json beside it

Every class of DAGs on up to five nodes, under every naming, and a thousand random ones on six: the
set of possible effects of every pair, in how many members there is none, and the table of all
pairs. The members and their effects are found without the library (`tests/effects/classes.py`).
It takes some minutes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "effects"))
from classes import Class, classes, effects_of, members, random_dag

from analyticdag.effects import Known, effects, total_effect
from analyticdag.graphs import to_cpdag
from analyticdag.moments import Moments

OUT = Path(__file__).with_suffix(".json")
N_RANDOM = 1000


def covariance(d: int, seed: int) -> np.ndarray:
    """Return a covariance that no DAG fits by accident."""
    rng = np.random.default_rng([61, d, seed])
    return np.cov((rng.normal(size=(20, d)) @ rng.normal(size=(d, d))).T, bias=True)


def differences(one: Class, S: np.ndarray) -> int:
    """Return for how many pairs the library says anything else than the members do."""
    d = len(S)
    # So few rows that no pair is judged for hidden causes, which would take most of the time.
    moments = Moments.shared(S, 2)
    known = Known.standardised(list(range(d)), one.edges, one.members[0], moments, np.zeros(d))
    ends = {(row.cause, row.outcome): (row.smallest, row.largest) for row in effects(known)}
    wrong = 0
    for x, y in np.argwhere(~np.eye(d, dtype=bool)).tolist():
        each = one.effects[:, x, y]
        true = np.unique(np.round(each, 7))
        found = total_effect(known, x, y)
        same = len(found.possible) == len(true) and np.allclose(found.possible, true, atol=1e-6)
        n_zero = int(np.sum(np.abs(each) <= 1e-9))
        same &= (found.n_members, found.n_zero) == (len(each), n_zero)
        same &= np.allclose(ends.get((x, y), (0.0, 0.0)), (true[0], true[-1]), atol=1e-6)
        wrong += not same
    return wrong


def main() -> None:
    """Compare, and write what came out."""
    record = {}
    for d in (2, 3, 4, 5):
        S, start = covariance(d, 0), time.process_time()
        every = classes(d, S)
        record[f"all classes on {d} nodes"] = {
            "classes": len(every),
            "members": sum(len(one.members) for one in every),
            "pairs that differ": sum(differences(one, S) for one in every),
            "seconds": round(time.process_time() - start, 1),
        }
        OUT.write_text(json.dumps(record, indent=1) + "\n")
    start, wrong, n_members = time.process_time(), 0, 0
    different = set()
    for seed in range(N_RANDOM):
        S = covariance(6, seed)
        graph = random_dag(6, np.random.default_rng([62, seed]), 0.45)
        cpdag = to_cpdag(graph) != 0
        different.add(cpdag.tobytes())
        graphs = members(cpdag)
        n_members += len(graphs)
        wrong += differences(Class(cpdag, graphs, effects_of(graphs, S)), S)
    record["random classes on 6 nodes"] = {
        "classes": N_RANDOM,
        "different ones": len(different),
        "members": n_members,
        "pairs that differ": wrong,
        "seconds": round(time.process_time() - start, 1),
    }
    OUT.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
