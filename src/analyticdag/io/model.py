"""`model.json`: what it holds, and how a run is read from it.

`Model` is the schema. Facts that are there twice have to agree: an edge's weight with the matrix
of weights, the chosen lambda with the series it was chosen from, the status with its outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np

from analyticdag._parameters import shown
from analyticdag._schema import checked_as, plain_key
from analyticdag.io.audit import Audit
from analyticdag.io.run import EdgeRecord, SavedRun
from analyticdag.io.state import Fitted, RungRecord
from analyticdag.linear.selection import Selection
from analyticdag.optimize.trace import Status
from analyticdag.tables.look import Look

SCHEMA: Literal["analyticdag-run"] = "analyticdag-run"
SCHEMA_VERSION: Literal[2] = 2
Number = int | float | None


@dataclass(frozen=True)
class Certificate:
    """The order that proves the graph acyclic, and the constraint's value."""

    order: tuple[int, ...]
    h: float


@dataclass(frozen=True)
class Chosen:
    """What the data chose, as the parameters repeat it."""

    criterion: str
    lambda1: float
    w_threshold: float


@dataclass(frozen=True)
class SearchNote:
    """What the order search did and why, and its price of an edge, as the parameters repeat it."""

    plan: str
    gamma: float | None
    min_effect: float | None = None
    excess: float | None = None
    reading: str | None = None


@dataclass(frozen=True)
class Choice:
    """Why `loss="auto"` took the loss it took."""

    equal: float | None
    unequal: float | None
    kurtosis: float | None
    loss: str
    margin: float | None
    reason: str


@dataclass(frozen=True)
class CheckRecord:
    """One diagnostic."""

    name: str
    level: str
    advice: str


@dataclass(frozen=True)
class Model:
    """All of `model.json`."""

    schema: Literal["analyticdag-run"]
    version: Literal[2]
    names: tuple[str, ...]
    certificate: Certificate
    h: float
    loss: str
    n_iter: int
    status: str
    advice: str
    converged: bool
    edges: tuple[EdgeRecord, ...]
    removed_edges: tuple[tuple[str, str], ...]
    parameters: Mapping[str, Any]
    trace: tuple[Mapping[str, Number | str], ...]
    loss_choice: Choice | None
    selection: Selection | None
    audit: Audit | None
    diagnostics: tuple[CheckRecord, ...]
    weights_sha256: str
    look: Look | None
    n_sets: int  # sets of rows with moments of their own, in the arrays beside
    ladder: tuple[RungRecord, ...]
    n_levels: int  # columns with one for each level of a category, in the arrays beside
    n_cells: int  # cells that were counted of a graph by counts, in the arrays beside


def model_of(run: SavedRun, weights_sha256: str) -> dict[str, Any]:
    """Return what is written to `model.json`."""
    own = {
        "schema": SCHEMA,
        "version": SCHEMA_VERSION,
        "certificate": {"order": list(run.order), "h": run.h},
        "edges": [asdict(edge) for edge in run.edges],
        "audit": None if run.audit is None else run.audit.to_dict(),
        "weights_sha256": weights_sha256,
        "look": None if run.look is None else asdict(run.look),
        "n_sets": 0 if run.fitted is None else run.fitted.n_sets,
        "ladder": [asdict(rung) for rung in run.ladder],
        "n_levels": 0 if run.fitted is None else run.fitted.n_levels,
        "n_cells": 0 if run.fitted is None else run.fitted.n_cells,
    }
    return {f.name: own.get(f.name, getattr(run, f.name, None)) for f in fields(Model)}


def run_of(model: Model, arrays: Mapping[str, Any], manifest: Mapping[str, Any]) -> SavedRun:
    """Return the run; ValueError says which facts contradict each other."""
    _check_manifest(manifest, len(model.names))
    _check_outcome(model)
    _check_trace(model.trace)
    _check_choice(model)
    if model.look is not None and model.look.recipe.names != model.names:
        raise ValueError("look is of a table with other columns")
    for rung in model.ladder:
        rung.check(len(model.names))
    series, d, sizes = model.selection, len(model.names), (model.n_levels, model.n_cells)
    own = {
        "weights": arrays["weights"].astype(np.float64),
        "adjacency": arrays["adjacency"].astype(bool),
        "cpdag": arrays["cpdag"].astype(np.int64),
        "order": model.certificate.order,
        "loss_choice": None if model.loss_choice is None else asdict(model.loss_choice),
        "selection": series and {**asdict(series), "points": list(map(asdict, series.points))},
        "diagnostics": tuple(map(asdict, model.diagnostics)),
        "manifest": manifest,
        "fitted": Fitted.from_arrays(arrays, model.n_sets, d, *sizes) if model.n_sets else None,
    }
    names = {field.name for field in fields(SavedRun)} & {field.name for field in fields(Model)}
    return SavedRun(**{name: getattr(model, name) for name in names} | own)


@dataclass(frozen=True)
class Source:
    """Where the data came from."""

    source: str
    sha256: str
    rows: int
    columns: int


@dataclass(frozen=True)
class TableRecord:
    """What was found and decided about the table."""

    columns: Mapping[str, str]
    decisions: tuple[tuple[str, str], ...]
    gaps: Mapping[str, int]
    missing: str
    explicit: str


def _check_manifest(manifest: Mapping[str, Any], n_columns: int) -> None:
    """Check what a report reads; a manifest may hold more, or nothing."""
    kinds: dict[str, Any] = {"data": Source, "versions": Mapping[str, str], "table": TableRecord}
    kinds |= dict.fromkeys(("created", "command", "model_choice"), str)
    for key, kind in kinds.items():
        if key in manifest:
            value = checked_as(manifest[key], kind, key)
            if isinstance(value, Source) and value.columns != n_columns:
                raise ValueError(f"the manifest is of {value.columns} columns, not {n_columns}")


def _check_outcome(model: Model) -> None:
    if model.certificate.h != model.h:
        raise ValueError("h is there twice, with two values")
    rows = (model.audit.n_rows, model.audit.rows_dropped) if model.audit else ()
    if min((model.n_iter, *rows)) < 0:
        raise ValueError("it counts fewer than no steps or rows")
    if model.audit and {len(row) for row in model.audit.sample} - {len(model.names)}:
        raise ValueError("audit.sample has rows of another length")
    if bool(model.loss) != bool(model.status):
        raise ValueError("a run that was learned has a loss and a status, any other has neither")
    if not model.status:
        return
    if model.status not in Status.__members__:
        raise ValueError(f"status must be one of {', '.join(Status.__members__)}")
    if Status[model.status].converged != model.converged:
        raise ValueError(f"the status {model.status} contradicts converged={model.converged}")


def _check_trace(trace: tuple[Mapping[str, Number | str], ...]) -> None:
    for k, record in enumerate(trace):
        for key, value in record.items():
            if isinstance(value, str) and key != "reason":
                raise ValueError(f"trace[{k}].{plain_key(key)} must be a number, not text")
        for key in ("stage", "step"):
            checked_as(record.get(key), int, f"trace[{k}].{key}")


def _check_choice(model: Model) -> None:
    """Check what the parameters repeat of the search and of the selection."""
    checked_as(model.parameters.get("search"), SearchNote | None, "parameters.search")
    if model.loss_choice is not None and model.loss_choice.loss != model.loss:
        raise ValueError(f"the loss {shown(model.loss)} is not the one that was chosen")
    chosen = checked_as(model.parameters.get("chosen"), Chosen | None, "parameters.chosen")
    series = model.selection
    if (chosen is None) != (series is None):
        raise ValueError("the chosen lambda1 and the series it was chosen from need each other")
    if chosen is None or series is None:
        return
    if not 0 <= series.chosen < len(series.points):
        raise ValueError("selection.chosen must be the number of one of its points")
    # Beyond these a logarithm of base ten and back is not finite.
    if not all(1e-300 < point.lambda1 < 1e300 for point in series.points):
        raise ValueError("the lambdas of a selection must be above 0")
    if chosen.lambda1 != series.best.lambda1:
        raise ValueError("the chosen lambda1 is not the one that the selection chose")
