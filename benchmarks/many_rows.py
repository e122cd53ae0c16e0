"""More rows than memory: a fit of a file beside reading the file alone.

A cell writes a file, reads it with pyarrow and does nothing with it, fits it by its path, and
removes it. The peak of the memory is that of the whole cell.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.errors import ParameterError
from analyticdag.linear import AnalyticDAG
from analyticdag.metrics import compare
from analyticdag.simulate import simulate
from analyticdag.tables import read_batches
from benchmarks.memory import peak_rss_mib
from benchmarks.optional import optional
from benchmarks.plan import Method, Scalar

__all__ = ["many_rows"]

_CHUNK = 100_000


def many_rows(
    setting: Mapping[str, Scalar], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Seconds and memory of a fit of ``samples`` rows of ``nodes`` columns in ``file`` format."""
    nodes, samples, kind = int(setting["nodes"]), int(setting["samples"]), str(setting["file"])
    if kind not in ("parquet", "csv"):
        raise ParameterError(f"file must be parquet or csv, not {kind!r}")
    seed = int(rng.integers(2**31))
    drawn = simulate("ER2", n_nodes=nodes, n_samples=2, noise_scale=(0.5, 1.5), seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{kind}"
        _write(path, kind, drawn.weights, samples, rng)
        reading = _seconds(lambda: _read_alone(path, kind))
        passing = _seconds(lambda: sum(len(batch.values) for batch in read_batches(path)))
        model = AnalyticDAG(n_jobs=1)
        fitting = _seconds(lambda: model.fit(path))
        size = path.stat().st_size
    return {
        "shd_cpdag": compare(drawn.weights, model.adjacency_matrix_).shd_cpdag,
        "rows_counted": model.moments_.n_samples,
        "file_gb": size / 1e9,
        "read_alone_seconds": reading,
        "to_numbers_seconds": passing,
        "fit_seconds": fitting,
        "fit_to_reading": fitting / reading,
        "peak_rss_mib": peak_rss_mib(),
    }


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _write(path: Path, kind: str, W: FloatArray, samples: int, rng: np.random.Generator) -> None:
    """Write rows of a linear model, some at a time."""
    arrow = optional("pyarrow", "pyarrow")
    names = [f"x{k}" for k in range(len(W))]
    spread = rng.uniform(0.5, 1.5, len(W)).astype(np.float32)
    paths = np.linalg.inv(np.eye(len(W)) - W).astype(np.float32)
    schema = arrow.schema([(name, arrow.float32()) for name in names])
    writer = (
        optional("pyarrow.parquet", "pyarrow").ParquetWriter(path, schema, use_dictionary=False)
        if kind == "parquet"
        else optional("pyarrow.csv", "pyarrow").CSVWriter(path, schema)
    )
    with writer:
        for first in range(0, samples, _CHUNK):
            count = min(_CHUNK, samples - first)
            rows = (spread * rng.standard_normal((count, len(W)), np.float32)) @ paths
            writer.write_table(arrow.table(dict(zip(names, rows.T, strict=True)), schema=schema))


def _read_alone(path: Path, kind: str) -> int:
    """Read with pyarrow, buffered: it would fill the memory with whole row groups otherwise."""
    if kind == "csv":
        return sum(batch.num_rows for batch in optional("pyarrow.csv", "pyarrow").open_csv(path))
    dataset = optional("pyarrow.dataset", "pyarrow")
    options = dataset.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
    batches = dataset.dataset(path).to_batches(batch_readahead=1, fragment_scan_options=options)
    return sum(batch.num_rows for batch in batches)
