"""Mixed tables of more rows than are kept: learned from all of them, beside a sample of 100,000.

Tables of 20 columns, half of them discrete, ER2, by both simulators, are written as Parquet, the
categories in words. The file is then read and thrown away (one pass alone), fitted by its path, and
the sample that such a fit keeps is fitted as a table of its own, as fits with categories did
before. Each in a process of its own, for its processor time and its peak of memory.

    python docs/figures/mixed_batches.py [rows]

It prints the rows of a table; a million rows take some minutes.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analyticdag import AnalyticDAG
from analyticdag._tables import NamedColumns
from analyticdag.fitting.rows import Seen
from analyticdag.simulate import simulate
from analyticdag.tables import read_batches

SEED = (21, 91)  # of no benchmark
MECHANISMS = ("linear", "conditional")
NUMBERS = range(3)


def write(path: Path, mechanism: str, number: int, rows: int) -> tuple[np.ndarray, dict[str, str]]:
    """Simulate a table, write it, and return its skeleton and the kinds of ordered columns."""
    drawn = simulate(
        "ER2", n_nodes=20, n_samples=rows, mechanism=mechanism, discrete=0.5,
        weight_range=(0.5, 1.0), seed=[*SEED, number],
    )  # fmt: skip
    frame = pd.DataFrame(drawn.data, columns=[f"x{k}" for k in range(20)])
    for name, kind in zip(frame.columns, drawn.kinds, strict=True):
        if kind == "category":
            codes, places = np.unique(frame[name], return_inverse=True)
            frame[name] = np.array([f"level {code:g}" for code in codes])[places]
    frame.to_parquet(path, index=False, row_group_size=100_000)
    graph = drawn.weights != 0
    ordered = zip(frame.columns, drawn.kinds, strict=True)
    return graph | graph.T, {name: kind for name, kind in ordered if kind == "ordered"}


def one_pass(path: Path, kinds: dict[str, str]) -> None:
    """Read the file as numbers, and throw them away."""
    for batch in read_batches(path, kinds=kinds):
        del batch


def of_all(path: Path, kinds: dict[str, str]) -> np.ndarray:
    """Return the graph of all rows."""
    return AnalyticDAG(kinds=kinds, n_jobs=1).fit(path).adjacency_matrix_


def of_sample(path: Path, kinds: dict[str, str]) -> np.ndarray:
    """Return the graph of the rows that a fit of all keeps."""
    seen, batches = Seen(), read_batches(path, kinds=kinds)
    for batch in batches:
        seen.add(batch.values, kinds=batches.look.recipe.kinds)
    recipe = batches.look.recipe
    table = NamedColumns(seen.sample.rows.values, list(recipe.names), recipe)
    return AnalyticDAG(n_jobs=1).fit(table).adjacency_matrix_


def measured(task: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    """Return an answer, its seconds of the processor, and the peak in MiB."""
    warnings.simplefilter("ignore")
    start = time.process_time()
    answer = task(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return answer, time.process_time() - start, peak


def alone(task: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    """Do the same in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured, (task, *arguments))


def main(rows: int) -> None:
    """Measure tables of so many rows."""
    for mechanism in MECHANISMS:
        found: dict[str, list[tuple[float, float, float]]] = {}
        for number in NUMBERS:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rows.parquet"
                (truth, kinds), _, _ = alone(write, path, mechanism, number, rows)
                for task in (one_pass, of_all, of_sample):
                    graph, seconds, peak = alone(task, path, kinds)
                    joined = truth if graph is None else (graph + graph.T) != 0
                    errors = int(np.triu(joined != truth).sum())
                    found.setdefault(task.__name__, []).append((seconds, peak, errors))
        for name, numbers in found.items():
            seconds, peak, errors = np.transpose(numbers)
            each = " ".join(f"{error:.0f}" for error in errors)
            line = f"| {mechanism} | {name} | {seconds.mean():.1f} | {peak.max():.0f} | {each} |"
            sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
