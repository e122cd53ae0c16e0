"""Saved runs, checkpoints and undisturbed results, made once in each process."""

from __future__ import annotations

import functools
import logging
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag import AnalyticDAG, NonlinearDAG
from analyticdag.optimize.columns import Columns
from analyticdag.optimize.schedule import Schedule
from fuzz import command

RUNS = ("plain", "resampled", "chosen", "nonlinear")
_EXTRA = {
    "plain": ["--solver", "order"],
    "resampled": ["--solver", "order", "--resamples", "3"],
    "chosen": ["--lambda1", "auto", "--no-refine"],
    "nonlinear": ["--model", "nonlinear", "--max-steps", "20"],
}


def rows(seed: int = 0, n: int = 60, d: int = 4) -> Any:
    """Return a small table with a known order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] += 1.5 * X[:, j - 1]
    return X


def csv(seed: int = 0, n: int = 60, d: int = 4) -> bytes:
    """Return the same as the bytes of a CSV file."""
    lines = [",".join(f"x{k}" for k in range(d))]
    lines += [",".join(f"{cell:.17g}" for cell in row) for row in rows(seed, n, d)]
    return ("\n".join(lines) + "\n").encode()


@functools.cache
def _store() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fuzz-material-")


@functools.cache
def original(kind: str) -> Path:
    """Return the folder of a saved run that nobody changes."""
    folder = Path(_store().name) / kind
    folder.mkdir()
    data = folder / "d.csv"
    data.write_bytes(csv(RUNS.index(kind)))
    ended = command.here(["fit", str(data), "--out", str(folder / "run"), *_EXTRA[kind], "-q"])
    assert ended.code == 0, ended.err
    return folder / "run"


def saved_run(kind: str, to: str = "run") -> Path:
    """Return a fresh copy of a saved run, in the current folder."""
    return Path(shutil.copytree(original(kind), to))


ESTIMATORS = {
    "fast": (AnalyticDAG, {"lambda1": 0.1}),
    "auto": (AnalyticDAG, {"loss": "auto", "refine": False}),
    "mse": (AnalyticDAG, {"loss": "mse", "refine": False}),
    "mlp": (NonlinearDAG, {"model": "mlp", "max_steps": 15, "hidden_units": 2, "refine": False}),
    "gran-dag": (NonlinearDAG, {"model": "gran-dag", "max_steps": 40, "hidden_units": 2}),
}


def estimator(kind: str, checkpoint: Any = None) -> Any:
    """Return one of the estimators whose checkpoints are tampered with."""
    model, parameters = ESTIMATORS[kind]
    if model is AnalyticDAG:
        schedule = Schedule.geometric(s=(1.0, 0.9, 0.8), max_steps=20)
        parameters = {**parameters, "solver": Columns(schedule=schedule)}
    return model(**parameters, checkpoint=checkpoint, verbose=1)


class _Copies(logging.Handler):
    """Keeps what the checkpoint held whenever a stage was reported."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.states: list[bytes] = []

    def emit(self, record: logging.LogRecord) -> None:
        if self.file.is_file():
            self.states.append(self.file.read_bytes())


@functools.cache
def undisturbed(kind: str) -> tuple[Any, tuple[bytes, ...]]:
    """Return the fit that nothing disturbed, and the states its checkpoint went through."""
    file = Path(_store().name) / f"{kind}.state"
    copies, logger = _Copies(file), logging.getLogger("analyticdag")
    level = logger.level
    logger.addHandler(copies)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = estimator(kind, file).fit(rows())
    finally:
        logger.removeHandler(copies)
        logger.setLevel(level)
    last = [file.read_bytes()] if file.is_file() else []
    return model, tuple(dict.fromkeys([*copies.states, *last]))


def state(kind: str, number: int) -> bytes:
    """Return one of the states of a fit's checkpoint."""
    states = counts()[1] if kind == "stability" else undisturbed(kind)[1]
    return states[number % len(states)]


def resampled(checkpoint: Any, n_resamples: int = 14) -> Any:
    """Run the bootstrap whose checkpoints are tampered with."""
    from analyticdag.stability import bootstrap

    return bootstrap(AnalyticDAG(solver="order"), rows(), n_resamples, checkpoint=checkpoint)


@functools.cache
def counts() -> tuple[Any, tuple[bytes, ...]]:
    """Return undisturbed frequencies, and the checkpoint after ten of fourteen resamples."""
    file = Path(_store().name) / "stability.state"
    resampled(file, 10)
    states = file.read_bytes()
    return resampled(file), (states, file.read_bytes())
