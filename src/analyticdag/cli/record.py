"""From a fitted estimator and its table to a record: what every command saves and reports."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from sklearn.base import clone

from analyticdag import AnalyticDAG
from analyticdag._files import write_bytes
from analyticdag._tables import NamedColumns
from analyticdag.cli.interrupt import deaf_workers
from analyticdag.diagnostics import diagnose
from analyticdag.io import SavedRun, Table, audit_table, record_of
from analyticdag.io.folder import SavingNote, note, saving, write_run
from analyticdag.report import render_report
from analyticdag.stability import bootstrap
from analyticdag.tables import Look

# A fit that took longer than this is not repeated to see what standardising would change.
REFIT_SECONDS = 20.0
# Columns up to which the page has graphs of other prices: beyond, nobody could tell them apart.
LADDER_COLUMNS = 200


def recorded(
    model: AnalyticDAG,
    columns: NamedColumns,
    *,
    manifest: Mapping[str, Any],
    rows_dropped: int = 0,
    n_rows: int | None = None,
    notes: Sequence[str] = (),
    refit: bool = True,
    look: Look | None = None,
    keep_rows: bool = True,
    drawn: int | None = None,
) -> SavedRun:
    """Return the record of a fit, with the audit of its table and its diagnostics.

    The time of the diagnostics counts; `refit` allows them a fit of their own, after a quick one.
    `n_rows` is how many rows there are where the columns hold some of them only, `drawn` is that
    of `diagnose`.
    """
    edges = model.adjacency_matrix_.astype(bool)
    start, before = time.perf_counter(), manifest.get("seconds") or 0.0
    if edges.shape[0] <= LADDER_COLUMNS:
        getattr(model, "ladder_", ())  # made when asked for; other models have none
    audit = audit_table(
        columns.values,
        edges,
        rows_dropped=rows_dropped,
        notes=notes,
        keep_rows=keep_rows,
        recipe=columns.recipe,
    )
    audit = dataclasses.replace(audit, n_rows=audit.n_rows if n_rows is None else n_rows)
    run = record_of(model, audit=audit, manifest=manifest, look=look)
    # In a sample of the rows, neighbours were none in the table: their order tells nothing.
    seen = look if audit.n_rows == len(columns.values) else None
    again = refit and before < REFIT_SECONDS
    found = _diagnostics(model, columns, seen, refit=again, drawn=drawn)
    seconds = round(before + time.perf_counter() - start, 3)
    return dataclasses.replace(
        run, diagnostics=found, manifest={**run.manifest, "seconds": seconds}
    )


def save_with_page(
    run: SavedRun, folder: Path, page: Path, key: str, *, overwrite: bool, member: bool = False
) -> None:
    """Write a run and its page into places that are reserved; a kill leaves a note of the key.

    A page that appeared meanwhile stays as it is, unless `overwrite` is set.
    """
    text = render_report(run).encode("utf-8", errors="replace")
    with saving(folder, key):
        write_run(run, folder, member=member)
        note(folder, SavingNote(key, hashlib.sha256(text).hexdigest()))
        write_bytes(page, text, overwrite=overwrite)


def judge_by_resamples(
    model: AnalyticDAG, table: Table, resamples: int, talk: Console, kept: Path
) -> None:
    """Write into the model's edges how often they come back; `kept` is a file for the counts."""
    jobs = getattr(model, "n_jobs", None)
    with talk.status(f"refitting on {resamples} resamples"), deaf_workers(jobs):
        found = bootstrap(
            clone(model).set_params(checkpoint=None, verbose=0),
            table.columns,
            resamples,
            n_jobs=jobs,
            random_state=model.random_state or 0,
            checkpoint=kept,
            interventions=model.interventions_,
            groups=table.groups,
        )
    model.edges_ = found.annotate(model.edges_)


def _diagnostics(
    model: AnalyticDAG, columns: NamedColumns, look: Look | None, *, refit: bool, drawn: int | None
) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"name": check.name, "level": str(check.level), "advice": check.advice}
        for check in diagnose(model, columns, refit=refit, look=look, drawn=drawn)
    )
