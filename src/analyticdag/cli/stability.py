"""``analyticdag stability``: which edges come back when the rows are drawn again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from analyticdag.cli import options
from analyticdag.cli.interrupt import deaf_workers
from analyticdag.cli.progress import line, printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from analyticdag.stability import Stability

_SHOWN = 40
Complementary = Annotated[
    bool,
    typer.Option(
        "--complementary",
        help="Disjoint halves instead of the bootstrap: a bound.",
        show_default="off",
    ),
]


def stability_command(
    context: typer.Context,
    file: options.TableFile,
    resamples: Annotated[int, typer.Option(help="How many times to fit.")] = 200,
    complementary: Complementary = False,
    threshold: Annotated[float, typer.Option(help="Share of resamples that counts.")] = 0.9,
    loss: options.Loss = None,
    constraint: options.Constraint = None,
    lambda1: options.Lambda1 = None,
    solver: options.Solver = None,
    gamma: options.Gamma = None,
    min_effect: options.MinEffect = None,
    refine: options.Refine = None,
    knowledge: options.KnowledgeFile = None,
    candidates: options.Candidates = None,
    standardize: options.Standardize = None,
    interventions: options.Interventions = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    kind: options.Kinds = None,
    log: options.Log = None,
    na: options.Na = None,
    covariance: options.Covariance = None,
    missing: options.Missing = None,
    groups: options.Groups = None,
    jobs: options.Jobs = None,
    seed: Annotated[int, typer.Option(help="Of the resamples.")] = 0,
    checkpoint: options.Checkpoint = None,
    out: Annotated[
        Path | None, typer.Option(help="JSON file for the frequencies.", show_default="none")
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit FILE on many resamples of its rows and count how often each edge comes back."""
    from analyticdag import AnalyticDAG
    from analyticdag.cli.fit import files_read, how_to_go_on
    from analyticdag.cli.table import Asked
    from analyticdag.io import read_knowledge, write_text
    from analyticdag.io.outputs import STABILITY_MARK, reserved
    from analyticdag.stability import bootstrap
    from analyticdag.stability.result import check_share

    check_share(threshold, above=0.5 if complementary else 0.0)
    inputs = files_read(file, knowledge, checkpoint)
    talk = Console(stderr=True, quiet=quiet)
    of_rows = (missing, interventions, groups)
    asked = Asked(columns, drop, kind, *of_rows, log, na, talk)
    table = asked.read(file)
    known = None if knowledge is None else read_knowledge(knowledge)
    own = {**context.params, "seed": None, "jobs": None}  # these two are of the resamples
    model = AnalyticDAG(**options.estimator_parameters(own), knowledge=known)
    if table.has_gaps:
        model.set_params(missing=asked.rule)
    context.obj.advice = lambda: how_to_go_on(checkpoint)
    places = [] if out is None else [out]
    marks = [STABILITY_MARK] * len(places)
    held = reserved(*places, inputs=inputs, force=force, marks=marks)
    how: dict[str, Any] = {"n_jobs": jobs, "random_state": seed, "checkpoint": checkpoint}
    how |= {"interventions": table.targets, "groups": table.groups}
    how["subsample"] = "complementary" if complementary else None
    with held, deaf_workers(jobs), _bar(Console(stderr=True), resamples, quiet=quiet) as show:
        how["progress"] = lambda done, _: show.update(show.task_ids[0], completed=done)
        result = bootstrap(model, table.columns, resamples, **how)
        record = _record(result, threshold, complementary=complementary)
        if out is not None:
            write_text(out, json.dumps(record, indent=1) + "\n", overwrite=force)
    _tell(record, as_json=as_json, quiet=quiet)


def _bar(console: Console, total: int, *, quiet: bool) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("resamples"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeLeft())
    hidden = quiet or not console.is_terminal
    progress = Progress(*columns, console=console, transient=True, disable=hidden)
    progress.add_task("resamples", total=total)
    return progress


def _record(result: Stability, threshold: float, *, complementary: bool) -> dict[str, Any]:
    """Return the frequencies, the most frequent first."""
    record = result.as_dict()
    record["edges"].sort(
        key=lambda row: (-row["skeleton"], -row["edge"], row["source"], row["target"])
    )
    selected = [list(pair) for pair in result.select(threshold)]
    bound = result.error_bound(threshold) if complementary else None
    return {
        **record,
        "threshold": threshold,
        "selected": selected,
        "expected_wrong_at_most": bound,
    }


def _is_fixed(row: dict[str, Any]) -> bool:
    """Whether most resamples that join the two fix this direction, as in `consensus_cpdag`."""
    return bool(row["direction"] > 0.5 * row["skeleton"])


def _one_for_each_pair(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the row of the direction that is fixed, of an open pair the first by name."""
    pairs: dict[frozenset[str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (not _is_fixed(row), row["source"], row["target"])):
        pairs.setdefault(frozenset((row["source"], row["target"])), row)
    shown = {id(row) for row in pairs.values()}
    return [row for row in rows if id(row) in shown]


def _tell(record: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    console = Console(highlight=False, quiet=quiet)
    if as_json:
        line(Console(), json.dumps(record, ensure_ascii=True))
        return
    table = Table(title=f"share of {record['n_resamples']} resamples", title_justify="left")
    table.add_column("edge")
    for column in ("this way", "fixed this way", "joined"):
        table.add_column(column, justify="right")
    rows = _one_for_each_pair(record["edges"])
    for row in rows[:_SHOWN]:
        edge, direction, skeleton = (f"{row[key]:.2f}" for key in ("edge", "direction", "skeleton"))
        fixed = _is_fixed(row)
        name = printable(f"{row['source']} {'→' if fixed else '—'} {row['target']}")
        table.add_row(name.replace("[", "\\["), edge if fixed else "", direction, skeleton)
    console.print(table)
    more = len(rows) - _SHOWN
    if more > 0:
        line(console, f"and {more} rarer ones (--out FILE.json has all)")
    text = f"{len(record['selected'])} pairs joined in at least {record['threshold']:.0%}"
    bound = record["expected_wrong_at_most"]
    line(console, text if bound is None else f"{text}; expected wrong among them: ≤ {bound:.2f}")
