"""The path of this checkout beside that of another one: seconds, and whether the graphs agree.

    python docs/figures/compare_kernels.py OTHER/src --python OTHER/bin/python --nodes 100 200

Both run in turns on the same machine, each in a process of its own, through the estimator, which
both versions have, from the same rows and the same start. Printed are the medians of five paths, in
seconds of the processor and by the clock, and how many edges of the two graphs differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ORDERS = (1, 2, 3, 4)
TITLES = "nodes, threads, order, other: processor, ours, ratio, other: clock, ours, ratio, edges"


def path_of(order: int, X: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The weights at the end of the exact path with order-k."""
    from analyticdag import AnalyticDAG
    from analyticdag.optimize import columns

    options = {"loss": "mse", "refine": False, "w_threshold": 0.1}
    if "start" in AnalyticDAG().get_params():  # before it was a parameter of the solver
        options |= {"solver": "fast", "start": start}
    else:
        options |= {"solver": columns.Columns(start=start)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small weights may lie on cycles, which are cut
        model = AnalyticDAG(constraint=f"order-{order}", lambda1=0.03, **options).fit(X)
    return model.weights_


def measured(file: str, threads: int, repeats: int) -> dict[str, tuple[list[float], list]]:
    """Median seconds and edges of each order."""
    from threadpoolctl import threadpool_limits

    with np.load(file) as table:
        X, start = table["X"], table["start"]
    answer = {}
    with threadpool_limits(threads):
        path_of(1, X[:, :5], np.zeros((5, 5)))  # loads, and compiles what is compiled at first use
        for order in ORDERS:
            seconds = []
            for _ in range(repeats):
                begin = time.process_time(), time.perf_counter()
                W = path_of(order, X, start)
                seconds.append((time.process_time() - begin[0], time.perf_counter() - begin[1]))
            answer[str(order)] = (np.median(seconds, axis=0).tolist(), np.argwhere(W).tolist())
    return answer


def draw(nodes: int, file: str) -> None:
    """Rows of an ER4 graph and the start that the exact path has by default."""
    from analyticdag.optimize.columns import starting_weights
    from analyticdag.simulate import simulate

    X = np.asarray(simulate("ER4", n_nodes=nodes, n_samples=1000, seed=7).data)
    np.savez(file, X=X, start=starting_weights(np.cov(X.T, bias=True), len(X)))


def in_process(python: str, source: Path, words: list[str]) -> dict[str, list]:
    """`measured` with the package of another checkout."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    command = [python, __file__, "--measure", *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def lines_of(runs: list[dict[str, list]], nodes: int, threads: int) -> str:
    """Rows of the table."""
    lines = []
    for order in runs[0]:
        (before, old), (now, new) = (run[order] for run in runs)
        differ = len(set(map(tuple, old)) ^ set(map(tuple, new)))
        pairs = zip(before, now, strict=True)
        times = " | ".join(f"{a:.3f} | {b:.3f} | {b / a:.2f}" for a, b in pairs)
        lines.append(f"| {nodes} | {threads} | {order} | {times} | {len(new)} | {differ} |\n")
    return "".join(lines)


def main() -> None:
    """Compare, or measure for the process that compares."""
    if sys.argv[1:2] == ["--measure"]:
        sys.stdout.write(json.dumps(measured(sys.argv[2], *map(int, sys.argv[3:5]))))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 200, 500])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    sides = [(options.python, options.other), (sys.executable, Path(__file__).parents[2] / "src")]
    sys.stdout.write(f"| {' | '.join([*TITLES.split(', '), 'that differ'])} |\n")
    with tempfile.TemporaryDirectory() as folder:
        for nodes in options.nodes:
            draw(nodes, file := f"{folder}/{nodes}.npz")
            for threads in options.threads:
                words = [file, str(threads), str(options.repeats)]
                runs = [in_process(*side, words) for side in sides]
                sys.stdout.write(lines_of(runs, nodes, threads))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
