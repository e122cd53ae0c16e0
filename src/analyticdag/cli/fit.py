"""``analyticdag fit``: a table in; a folder of results and a page out.

read -> learn (with a checkpoint) -> record -> save -> report -> say so
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from analyticdag.cli.model import Plan, check_model
from analyticdag.cli.options import (
    AsJson,
    Candidates,
    Checkpoint,
    Constraint,
    Drop,
    DropMissing,
    Interventions,
    Jobs,
    KnowledgeFile,
    Lambda1,
    Loss,
    Model,
    Quiet,
    Refine,
    Refit,
    Solver,
    Standardize,
    Start,
    TableFile,
)
from analyticdag.cli.progress import line, shown
from analyticdag.cli.record import judge_by_resamples, recorded
from analyticdag.errors import DataWarning, NotConvergedWarning, ParameterError

if TYPE_CHECKING:
    from analyticdag.io import SavedRun, Table
    from analyticdag.knowledge import Knowledge


def fit_command(
    file: TableFile,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML file for the report.")] = None,
    model: Model = "linear",
    loss: Loss = None,
    constraint: Constraint = None,
    lambda1: Lambda1 = None,
    w_threshold: Annotated[str | None, typer.Option(help="Weights below go; or auto.")] = None,
    solver: Solver = None,
    start: Start = None,
    refine: Refine = None,
    knowledge: KnowledgeFile = None,
    candidates: Candidates = None,
    standardize: Standardize = None,
    interventions: Interventions = None,
    max_steps: Annotated[
        int | None, typer.Option(help="Steps or sweeps in a stage, at most.")
    ] = None,
    resamples: Annotated[int, typer.Option(help="Refit so often, to see which edges hold.")] = 0,
    drop: Drop = None,
    drop_missing: DropMissing = False,
    jobs: Jobs = None,
    seed: Annotated[int | None, typer.Option(help="For whatever is random.")] = None,
    checkpoint: Checkpoint = None,
    refit: Refit = True,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Learn a causal graph from FILE; save it and write a report."""
    from analyticdag.io import read_knowledge, read_table, refuse_used_folder

    check_model(model, interventions=interventions is not None)
    if out is not None:
        refuse_used_folder(out)  # before the work, not after it
    talk = Console(stderr=True, quiet=quiet)
    table = read_table(
        file,
        stdin=sys.stdin.buffer,
        drop=drop or (),
        drop_missing=drop_missing,
        interventions=interventions,
    )
    known = None if knowledge is None else read_knowledge(knowledge)
    for note in table.notes:
        line(talk, f"note: {note}")
    given = {
        "loss": loss,
        "constraint": constraint,
        "lambda1": number_or_word(lambda1),
        "w_threshold": number_or_word(w_threshold),
        "solver": solver,
        "start": start,
        "refine": refine,
        "candidates": candidates,
        "standardize": standardize,
        "random_state": seed,
        "n_jobs": jobs,
        "schedule": _schedule(solver, max_steps),
    }
    parameters = {name: value for name, value in given.items() if value is not None}
    plan = Plan(model, parameters, max_steps, refit=refit)
    run = _learn(table, known, plan, checkpoint, resamples, _base(file, out), talk)
    folder, page = _save(run, out, report, _base(file, out))
    _tell(run, folder, page, talk, as_json=as_json, quiet=quiet)


def _base(file: str, out: Path | None) -> Path:
    """Return the folder for the results, before it is known to be free."""
    if out is not None:
        return out
    if file == "-":
        return Path("analyticdag-run")
    return Path(file).with_name(f"{Path(file).stem}-analyticdag")


def number_or_word(text: str | None) -> float | str | None:
    """Return a number where there is one; which words are known, the estimator says."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _schedule(solver: str | None, max_steps: int | None) -> Any:
    if max_steps is None:
        return None
    if max_steps < 1:
        raise ParameterError(f"--max-steps must be at least 1, not {max_steps}")
    from analyticdag.linear.options import preset_schedule

    return preset_schedule(solver).with_steps(max_steps)


def _learn(
    table: Table,
    known: Knowledge | None,
    plan: Plan,
    checkpoint: Path | None,
    resamples: int,
    base: Path,
    talk: Console,
) -> SavedRun:
    from analyticdag.io import manifest_of

    parameters = plan.parameters
    state = checkpoint or _own_checkpoint(table, known, plan, base)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with shown(talk, quiet=talk.quiet):
                model, choice = plan.fit(table, by_index(known, table.names), state)
        except KeyboardInterrupt:
            _say_how_to_resume(talk, state)
            raise typer.Exit(1) from None
    seconds = time.perf_counter() - start
    for warning in caught:
        # These two are said again at the end, there with the names of the columns.
        if not issubclass(warning.category, DataWarning | NotConvergedWarning):
            line(talk, f"note: {warning.message}")
    for note in (plan.unused(model), f"--model auto: {choice}" if choice else ""):
        if note:
            line(talk, f"note: {note}")
    if checkpoint is None and state is not None:
        state.unlink(missing_ok=True)
    if resamples:
        judge_by_resamples(model, table.values, resamples, talk)
    manifest = manifest_of(
        source=table.source,
        sha256=table.sha256,
        shape=(len(table.values), len(table.names)),
        parameters={
            **parameters,
            "schedule": str(parameters.get("schedule") or "default"),
            "resamples": resamples,
            "model": plan.model,
        },
        seed=parameters.get("random_state"),
        seconds=seconds,
        command=["analyticdag", *sys.argv[1:]],
    )
    with shown(talk, quiet=talk.quiet):
        run = recorded(
            model,
            table.values,
            table.names,
            manifest={**manifest, "model_choice": choice} if choice else manifest,
            rows_dropped=table.rows_dropped,
            notes=table.notes,
            refit=plan.refit,
        )
    shown_knowledge = None if known is None else known.to_dict()
    settings = {**run.parameters, "knowledge": shown_knowledge, "checkpoint": None}
    return dataclasses.replace(run, parameters=settings)


def by_index(known: Knowledge | None, names: Sequence[str]) -> Knowledge | None:
    """Return the knowledge with indices for names; unknown names are refused here, by name."""
    if known is None:
        return None
    known.resolve(names)
    index_of = {name: k for k, name in enumerate(names)}

    def index(column: Any) -> int:
        return int(index_of.get(column, column))

    from analyticdag.knowledge import Knowledge

    return Knowledge(
        [(index(a), index(b)) for a, b in known.required_edges],
        [(index(a), index(b)) for a, b in known.forbidden_edges],
        [[index(column) for column in tier] for tier in known.tiers],
        known.max_parents,
    )


def _own_checkpoint(table: Table, known: Knowledge | None, plan: Plan, base: Path) -> Path | None:
    """Return a file whose name only the same fit would choose: the same command goes on."""
    if plan.model != "nonlinear" and plan.parameters.get("solver") == "order":
        return None  # no path, no stages to go on from
    identity = repr((table.sha256, table.names, known, plan.identity))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    folder = base.parent
    if not os.access(folder, os.W_OK):
        return None
    return folder / f".{base.name}-{digest}.checkpoint"


def _say_how_to_resume(talk: Console, state: Path | None) -> None:
    if state is not None and state.exists():
        line(
            talk,
            f"interrupted; the finished stages are kept in {state}: the same command goes on "
            "from there",
        )
    else:
        line(talk, "interrupted before the first stage was finished; nothing was kept")


def _save(run: SavedRun, out: Path | None, report: Path | None, base: Path) -> tuple[Path, Path]:
    from analyticdag.io import free_folder, save_run
    from analyticdag.report import write_report

    folder = save_run(run, base if out is not None else free_folder(base))
    return folder, write_report(run, report or folder / "report.html")


def _tell(
    run: SavedRun, folder: Path, page: Path, talk: Console, *, as_json: bool, quiet: bool
) -> None:
    from analyticdag.report.text import count, notices

    for notice in notices(run):
        line(talk, f"note: {notice}")
    out = Console(highlight=False)
    if as_json:
        line(out, json.dumps(_summary(run, folder, page), ensure_ascii=True))
    elif not quiet:
        fixed = sum(edge.kind == "data" for edge in run.edges)
        line(
            out,
            f"{count(run.n_nodes, 'variable')}, {count(len(run.edges), 'edge')}, {fixed} with a "
            f"direction that the data fix\nsaved   {folder}\nreport  {page}",
        )


def _summary(run: SavedRun, folder: Path, page: Path) -> dict[str, Any]:
    edges = [
        {
            "source": run.names[edge.source],
            "target": run.names[edge.target],
            "weight": edge.weight,
            "fixed_by": edge.fixed_by,
        }
        for edge in run.edges
    ]
    return {
        "names": list(run.names),
        "n_nodes": run.n_nodes,
        "n_edges": len(run.edges),
        "edges": edges,
        "causal_order": [run.names[k] for k in run.order],
        "loss": run.loss,
        "h": run.h,
        "status": run.status,
        "converged": run.converged,
        "seconds": run.manifest["seconds"],
        "out": str(folder),
        "report": str(page),
    }
