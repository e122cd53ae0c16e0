"""The path of this checkout beside that of another one: seconds, and whether the graphs agree.

    python docs/figures/compare_kernels.py path/to/other/src --nodes 100 200 --threads 1

Both run in turns on the same machine, each in a process of its own. The medians of five paths after
one that is not counted are printed, and how many edges of the two graphs differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ORDERS = (1, 2, 3, 4)


def path_of(order: int, S: np.ndarray, n_samples: int) -> np.ndarray:
    """The weights at the end of the exact path with order-k."""
    from analyticdag.functions import named
    from analyticdag.losses import LeastSquares
    from analyticdag.optimize.columns import Columns, starting_weights
    from analyticdag.optimize.path import PathState, follow
    from analyticdag.optimize.problem import Problem
    from analyticdag.optimize.schedule import Schedule

    d = len(S)
    problem = Problem(
        loss=LeastSquares(S),
        function=named(f"order-{order}"),
        lambda1=0.03,
        allowed=~np.eye(d, dtype=bool),
    )
    return follow(
        problem, Schedule.gentle(), Columns(), PathState(starting_weights(S, n_samples))
    ).weights


def measured(nodes: int, threads: int, repeats: int) -> dict[str, tuple[float, list[list[int]]]]:
    """Median seconds and edges of each order, on an ER4 graph with 1,000 rows."""
    from threadpoolctl import threadpool_limits

    from analyticdag.simulate import simulate

    X = np.asarray(simulate("ER4", n_nodes=nodes, n_samples=1000, seed=7).data)
    S = np.cov(X.T, bias=True)
    answer = {}
    with threadpool_limits(threads):
        path_of(1, S[:5, :5], len(X))  # loads, and with a just-in-time compiler compiles
        for order in ORDERS:
            seconds = []
            for _ in range(repeats):
                begin = time.perf_counter()
                W = path_of(order, S, len(X))
                seconds.append(time.perf_counter() - begin)
            answer[str(order)] = (float(np.median(seconds)), np.argwhere(W).tolist())
    return answer


def in_process(source: Path, nodes: int, threads: int, repeats: int) -> dict[str, list]:
    """`measured` with the package of another checkout."""
    words = [str(nodes), str(threads), str(repeats)]
    command = [sys.executable, __file__, "--measure", *words]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Compare, or measure for the process that compares."""
    if sys.argv[1:2] == ["--measure"]:
        sys.stdout.write(json.dumps(measured(*map(int, sys.argv[2:5]))))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 200, 500])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    ours = Path(__file__).parents[2] / "src"
    sys.stdout.write("| nodes | threads | order | other | ours | ratio | edges that differ |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- | --- |\n")
    for nodes in options.nodes:
        for threads in options.threads:
            runs = [in_process(s, nodes, threads, options.repeats) for s in (options.other, ours)]
            for order in runs[0]:
                (before, old), (now, new) = (run[order] for run in runs)
                differ = len(set(map(tuple, old)) ^ set(map(tuple, new)))
                sys.stdout.write(
                    f"| {nodes} | {threads} | {order} | {before:.3f} | {now:.3f} "
                    f"| {now / before:.2f} | {differ} of {len(new)} |\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
