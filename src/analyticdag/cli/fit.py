"""``analyticdag fit``: a table in; a folder of results and a page out.

read -> learn (with a checkpoint) -> record -> save -> report -> say so

Modules with a command import what it needs when it runs: --help is shown without NumPy, in a third
of the time.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analyticdag.cli import options
from analyticdag.cli.progress import Talk, line, shown
from analyticdag.errors import NotConvergedWarning

if TYPE_CHECKING:
    from analyticdag.cli.model import FitPlan
    from analyticdag.io import SavedRun, Table
    from analyticdag.knowledge import Knowledge


def fit_command(
    context: typer.Context,
    file: options.TableFile,
    out: options.Out = None,
    report: options.ReportFile = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    kind: options.Kinds = None,
    log: options.Log = None,
    na: options.Na = None,
    missing: options.Missing = None,
    groups: options.Groups = None,
    interventions: options.Interventions = None,
    model: options.Model = "linear",
    loss: options.Loss = None,
    constraint: options.Constraint = None,
    lambda1: options.Lambda1 = None,
    w_threshold: options.WThreshold = None,
    solver: options.Solver = None,
    gamma: options.Gamma = None,
    min_effect: options.MinEffect = None,
    effort: options.Effort = None,
    start: options.Start = None,
    refine: options.Refine = None,
    knowledge: options.KnowledgeFile = None,
    candidates: options.Candidates = None,
    standardize: options.Standardize = None,
    max_steps: options.MaxSteps = None,
    resamples: Annotated[
        int, typer.Option(help="Refit on so many resamples, to see which links come back.")
    ] = 0,
    covariance: options.Covariance = None,
    jobs: options.Jobs = None,
    seed: options.Seed = None,
    checkpoint: options.Checkpoint = None,
    refit: options.Refit = True,
    rows: options.Rows = True,
    member: options.Member = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Learn a causal graph from FILE; save it and write a report."""
    from analyticdag.cli.answer import tell
    from analyticdag.cli.model import FitPlan, check_model
    from analyticdag.cli.table import Asked
    from analyticdag.io import read_knowledge

    check_model(model, interventions=interventions is not None)
    check_numbers(resamples, seed, max_steps)
    talk = Talk(quiet=quiet, verbose=verbose)
    of_rows = (missing, interventions, groups)
    asked = Asked(columns, drop, kind, *of_rows, log, na, talk, kept=True)
    table = asked.read(file, in_batches=model != "nonlinear" and not resamples)
    known = None if knowledge is None else read_knowledge(knowledge)
    parameters = options.estimator_parameters(context.params)
    parameters |= {"missing": asked.rule} if table.has_gaps else {}
    plan = FitPlan(model, parameters, max_steps, refit=refit, keep_rows=rows)
    inputs, exact = files_read(file, knowledge, checkpoint), out is not None
    base = _base(file, out)
    places = Places(base, report, checkpoint, inputs, exact=exact, force=force, member=member)
    run, folder, page = _fit_and_save(table, known, plan, places, resamples, talk, context)
    tell(run, folder, page, talk, as_json=as_json, quiet=quiet)


@dataclasses.dataclass(frozen=True)
class Places:
    """Where results go: `base` itself if it is exact, else a free folder of that name."""

    base: Path
    report: Path | None
    checkpoint: Path | None
    inputs: Sequence[Path]
    exact: bool
    force: bool
    member: bool = False  # the files for other tools hold one DAG of the class


def _fit_and_save(
    table: Table,
    known: Knowledge | None,
    plan: FitPlan,
    places: Places,
    resamples: int,
    talk: Talk,
    context: typer.Context,
) -> tuple[SavedRun, Path, Path]:
    """Reserve, learn, save; the states of unfinished work go last, when all is on the disk."""
    from analyticdag.cli.record import save_with_page
    from analyticdag.io.folder import save_key
    from analyticdag.io.outputs import reserved_run, room_for

    path_state, resample_state = _states(table, known, plan, places.base)
    no_path = plan.model != "nonlinear" and plan.parameters.get("solver") == "order"
    state = places.checkpoint or (None if no_path else path_state)
    context.obj.advice = lambda: how_to_go_on(state, resample_state)
    command = shlex.join(["analyticdag", *sys.argv[1:]])
    key = save_key({"command": command, "data": {"sha256": table.sha256}})
    with (
        reserved_run(
            places.base,
            key,
            exact=places.exact,
            inputs=places.inputs,
            force=places.force,
            room=room_for(len(table.names)),
        ) as folder,
        _reserved_page(places, folder) as (page, left),
    ):
        run = _learn(table, known, plan, state, (resamples, resample_state), talk)
        save_with_page(run, folder, page, key, overwrite=places.force or left, member=places.member)
    for own in (path_state, resample_state):
        own.unlink(missing_ok=True)
    return run, folder, page


def check_numbers(resamples: int, seed: int | None, max_steps: int | None) -> None:
    """Refuse, before any work, numbers that would be refused after it."""
    from analyticdag._parameters import whole
    from analyticdag.stability.resamples import MOST_RESAMPLES

    whole("--resamples", resamples, 0, MOST_RESAMPLES)
    whole("--seed", 0 if seed is None else seed, 0)
    whole("--max-steps", 1 if max_steps is None else max_steps, 1)


@contextmanager
def _reserved_page(places: Places, folder: Path) -> Iterator[tuple[Path, bool]]:
    """Hold the file for the page; tell if one is there that a killed command like this wrote."""
    from analyticdag.io.folder import PAGE, unfinished
    from analyticdag.io.outputs import PAGE_MARK, reserved

    page = places.report or folder / PAGE
    left = unfinished(folder)
    if os.path.realpath(page) == os.path.realpath(folder / PAGE):
        yield page, left is not None
        return
    written = page.read_bytes() if left is not None and page.is_file() else b""
    own = left is not None and left.page == hashlib.sha256(written).hexdigest()
    force = places.force or own
    with reserved(page, inputs=places.inputs, force=force, marks=[PAGE_MARK], inside=folder):
        yield page, own


def _base(file: str, out: Path | None) -> Path:
    """Return the folder for the results, before it is known to be free."""
    if out is not None:
        return out
    if file == "-":
        return Path("analyticdag-run")
    return Path(file).with_name(f"{Path(file).stem}-analyticdag")


def files_read(table: str, knowledge: Path | None, checkpoint: Path | None) -> list[Path]:
    """Return the files that are read; a checkpoint is written too, and none of the others."""
    from analyticdag.io.outputs import refuse_input

    inputs = [Path(name) for name in (table, knowledge) if name not in (None, "-")]
    if checkpoint is None:
        return inputs
    refuse_input(checkpoint, inputs)
    return [*inputs, checkpoint]


def _learn(
    table: Table,
    known: Knowledge | None,
    plan: FitPlan,
    state: Path | None,
    resamples: tuple[int, Path],
    talk: Talk,
) -> SavedRun:
    from analyticdag.cli.record import judge_by_resamples, recorded
    from analyticdag.cli.table import table_record

    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with shown(talk):
            model, choice = plan.fit(table, known, state)
    seconds = time.perf_counter() - start
    # That a fit did not finish is said at the end.
    said = [str(one.message) for one in caught if one.category is not NotConvergedWarning]
    said += [plan.unused(model), f"--model auto: {choice}" if choice else ""]
    for note in filter(None, dict.fromkeys(said)):
        line(talk, f"note: {note}")
    if resamples[0]:
        judge_by_resamples(model, table, resamples[0], talk, resamples[1])
    manifest = _manifest(table, plan, model, resamples[0], seconds)
    manifest |= {"model_choice": choice} if choice else {}
    manifest["table"] = table_record(table, plan.parameters.get("missing", "em"))
    with shown(talk):
        run = recorded(
            model,
            table.columns,
            manifest=manifest,
            rows_dropped=table.rows_dropped,
            n_rows=table.n_rows,
            notes=table.notes,
            refit=plan.refit and table.summed is None,
            keep_rows=plan.keep_rows,
            look=table.look,
            drawn=_n_drawn(table) if resamples[0] else None,
        )
    shown_knowledge = None if known is None else known.to_dict()
    settings = {**run.parameters, "knowledge": shown_knowledge, "checkpoint": None}
    return dataclasses.replace(run, parameters=settings)


def _n_drawn(table: Table) -> int:
    """Return how many groups of rows a resample is drawn from; rows where there are none."""
    from analyticdag.tables.together import group_members

    if table.groups is None:
        return table.n_rows
    return len(group_members(table.groups, table.n_rows))


def _manifest(
    table: Table, plan: FitPlan, model: Any, resamples: int, seconds: float
) -> dict[str, Any]:
    """Return where the run came from: the table, the settings, the command."""
    from analyticdag.io import manifest_of

    return manifest_of(
        source=table.source,
        sha256=table.sha256,
        shape=(table.n_rows, len(table.names)),
        parameters={
            **plan.parameters,
            "max_steps": plan.max_steps,
            "resamples": resamples,
            "model": plan.model,
            "gamma": model.trace_.gamma(model.loss_),
            "min_effect": model.trace_.min_effect(model.loss_),
            "plan": model.trace_.plan,
        },
        seed=plan.parameters.get("random_state"),
        seconds=seconds,
        command=["analyticdag", *sys.argv[1:]],
    )


def _states(table: Table, known: Knowledge | None, plan: FitPlan, base: Path) -> tuple[Path, Path]:
    """Return the files that keep the stages of the path and the counts of the resamples."""
    read = None if table.look is None else table.look.columns
    identity = repr((table.sha256, table.names, read, table.groups, known, plan.identity))
    digest = hashlib.sha256(identity.encode("utf-8", errors="replace")).hexdigest()[:8]
    name = f".{base.name[:40]}-{digest}"
    return base.parent / f"{name}.checkpoint", base.parent / f"{name}.resamples"


def how_to_go_on(*states: Path | None) -> str:
    """Return what to say after Ctrl-C: where finished work is kept, if there is any."""
    kept = next((state for state in states if state is not None and state.exists()), None)
    if not any(states):
        return "interrupted"
    if kept is None:
        return "interrupted; nothing was finished that could be kept: the same command begins anew"
    return f"interrupted; what was finished is kept in {kept}: the same command goes on from there"
