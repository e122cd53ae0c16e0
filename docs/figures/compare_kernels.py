"""The path and the search of this checkout beside those of another one: seconds and results.

    python docs/figures/compare_kernels.py OTHER/src --python OTHER/bin/python --nodes 100 200
    python docs/figures/compare_kernels.py OTHER/src --python OTHER/bin/python --search

Both run on the same machine, each in a process of its own, through what both versions have: the
estimator for the path, from the same rows and the same start; `search_orders` for the search, from
the same covariance, with the same price of an edge and without further starts. Printed are medians
of five, in seconds of the processor and by the clock, how many edges of the two graphs differ, and
by what share of it our objective (of the search: the score) is above the other one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

ORDERS = (1, 2, 3, 4)
TITLES = "other: processor, ours, ratio, other: clock, ours, ratio, edges, that differ, objective"
# Edges of the path below this are not counted.
CUT = 0.1


def path_of(order: int, X: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, float]:
    """The weights at the end of the exact path with order-k, and the objective there."""
    from analyticdag import AnalyticDAG
    from analyticdag.optimize import columns

    options: dict[str, Any] = {"loss": "mse", "refine": False, "w_threshold": CUT}
    if "start" in AnalyticDAG().get_params():  # before it was a parameter of the solver
        options |= {"solver": "fast", "start": start}
    else:
        options |= {"solver": columns.Columns(start=start)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small weights may lie on cycles, which are cut
        model = AnalyticDAG(constraint=f"order-{order}", lambda1=0.03, **options).fit(X)
    return model.weights_, model.trace_.records[-1].objective


def search_of(score: str, S: np.ndarray, n: int, threads: int) -> tuple[np.ndarray, float]:
    """The weights that the search ends with, and their score."""
    from analyticdag.search import search_orders

    known, dear = signature(search_orders).parameters, math.log(n) + 4.0 * math.log(len(S))
    # Older searches took the extended BIC's gamma, and did not begin anew from random orders.
    same = {"price": dear} if "price" in known else {"gamma": 1.0}
    same |= {"effort": 0.0} if "effort" in known else {}
    found = search_orders(S, n, score=score, random_state=0, n_jobs=threads, **same)
    return found.weights, found.score


def tasks(file: str, threads: int) -> dict[str, Callable[[], tuple[np.ndarray, float]]]:
    """What is measured, by name."""
    with np.load(file) as table:
        X, start = table["X"], table["start"]
    if start.size:
        path_of(1, X[:, :5], np.zeros((5, 5)))  # loads, and compiles what is compiled at first use
        return {f"order-{k}": lambda k=k: path_of(k, X, start) for k in ORDERS}
    S, few = np.cov(X.T, bias=True), np.cov(X[:, :5].T, bias=True)
    for score in ("equal", "unequal"):
        search_of(score, few, len(X), threads)
    return {s: lambda s=s: search_of(s, S, len(X), threads) for s in ("equal", "unequal")}


def measured(file: str, threads: int, repeats: int) -> dict[str, list]:
    """Median seconds, edges and objective of each task."""
    from threadpoolctl import threadpool_limits

    answer = {}
    with threadpool_limits(threads):
        for name, task in tasks(file, threads).items():
            seconds = []
            for _ in range(repeats):
                begin = time.process_time(), time.perf_counter()
                W, objective = task()
                seconds.append((time.process_time() - begin[0], time.perf_counter() - begin[1]))
            middle = np.median(seconds, axis=0).tolist()
            answer[name] = [middle, np.argwhere(W).tolist(), float(objective)]
    return answer


def draw(nodes: int, file: str, *, search: bool) -> None:
    """Rows of a graph (ER4, for the search ER2) and the start that the exact path has."""
    from analyticdag.optimize.columns import starting_weights
    from analyticdag.simulate import simulate

    graph = "ER2" if search else "ER4"
    X = np.asarray(simulate(graph, n_nodes=nodes, n_samples=1000, seed=7).data)
    start = np.empty(0) if search else starting_weights(np.cov(X.T, bias=True), len(X))
    np.savez(file, X=X, start=start)


def in_process(python: str, source: Path, words: list[str]) -> dict[str, list]:
    """`measured` with the package of another checkout."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    command = [python, __file__, "--measure", *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def lines_of(runs: list[dict[str, list]], nodes: int, threads: int) -> str:
    """Rows of the table."""
    lines = []
    for name in runs[0]:
        (before, old, there), (now, new, here) = (run[name] for run in runs)
        differ = len(set(map(tuple, old)) ^ set(map(tuple, new)))
        pairs = zip(before, now, strict=True)
        times = " | ".join(f"{a:.3f} | {b:.3f} | {b / a:.2f}" for a, b in pairs)
        more = (here - there) / abs(there)
        lines.append(
            f"| {nodes} | {threads} | {name} | {times} | {len(new)} | {differ} | {more:.1e} |\n"
        )
    return "".join(lines)


def main() -> None:
    """Compare, or measure for the process that compares."""
    if sys.argv[1:2] == ["--measure"]:
        sys.stdout.write(json.dumps(measured(sys.argv[2], *map(int, sys.argv[3:5]))))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--nodes", type=int, nargs="+")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    sides = [(options.python, options.other), (sys.executable, Path(__file__).parents[2] / "src")]
    titles = ["nodes", "threads", "of", *TITLES.split(", ")]
    sys.stdout.write(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n")
    with tempfile.TemporaryDirectory() as folder:
        for nodes in options.nodes or ([100, 500, 1000] if options.search else [100, 200, 500]):
            draw(nodes, file := f"{folder}/{nodes}.npz", search=options.search)
            for threads in options.threads:
                words = [file, str(threads), str(options.repeats)]
                runs = [in_process(*side, words) for side in sides]
                sys.stdout.write(lines_of(runs, nodes, threads))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
