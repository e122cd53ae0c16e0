"""``analyticdag demo``: a real network, learned, compared with what experts agree on, reported."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from analyticdag.cli import options
from analyticdag.cli.progress import line

if TYPE_CHECKING:
    import networkx as nx

    from analyticdag import AnalyticDAG
    from analyticdag._tables import NamedColumns
    from analyticdag.datasets import Dataset
    from analyticdag.io.run import EdgeRecord, SavedRun


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the results; a free name is found.")] = Path(
        "runs/demo"
    ),
    force: options.Force = False,
) -> None:
    """Learn the Sachs protein network from 853 real cells and compare it with the consensus."""
    from analyticdag.datasets import load_sachs
    from analyticdag.io.outputs import reserved_run, room_for

    sachs, console = load_sachs(), Console(highlight=False)
    with reserved_run(
        out,
        "analyticdag demo",
        exact=False,
        inputs=(),
        force=force,
        room=room_for(len(sachs.names)),
    ) as folder:
        _show(sachs, folder, console)


def _show(sachs: Dataset, folder: Path, console: Console) -> None:
    """Learn, compare, save, and say what was found."""
    from analyticdag import AnalyticDAG
    from analyticdag.cli.record import save_with_page
    from analyticdag.datasets import load_sachs
    from analyticdag.io import to_networkx
    from analyticdag.metrics import compare
    from analyticdag.report.text import sentences

    shape = f"{len(sachs.values)} human cells, {len(sachs.names)} proteins"
    console.print(f"{shape} measured in each (Sachs et al. 2005).\nWhich acts on which?")
    with console.status("learning ..."):
        # Fluorescence is read on a log scale; unequal variances assume nothing about units.
        columns = load_sachs(log=True).columns
        model = AnalyticDAG(loss="likelihood-nv", standardize=True).fit(columns)
    run = _record(model, columns)
    found = compare(sachs.graph, to_networkx(run))
    console.print(_edge_table(run, sachs.graph))
    line(console, "\n".join(sentences(run)))
    counts = {
        "found as they are": found.correct,
        "found with their direction open": found.unoriented,
        "found reversed": found.reversed,
        "not found": found.missing,
    }
    told = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    line(
        console,
        f"Experts agree on {found.n_true} links: {told}; {found.extra or 'no'} others found.",
    )
    save_with_page(run, folder, folder / "report.html", "analyticdag demo", overwrite=True)
    line(console, f"\nsaved   {folder}\nreport  {folder / 'report.html'} (open it in a browser)\n")
    effects = f"analyticdag effects {shlex.quote(str(folder))} --on Akt"
    tries = {
        "analyticdag fit your-table.csv": "which links are certain?",
        effects: "what moves Akt?",
        "AnalyticDAG().fit(your_table).edges_": "the same in Python",
        "docs/questions.md": "what people ask next",
    }
    width = max(map(len, tries))
    line(console, "\n".join(["Next:", *(f"  {do:<{width}}  {why}" for do, why in tries.items())]))


def _edge_table(run: SavedRun, truth: nx.DiGraph) -> Table:
    from analyticdag.cli.answer import likelihoods, size
    from analyticdag.report.text import link, strongest_first

    table = Table(title="The learned graph", title_justify="left")
    table.add_column("link")
    for column in ("strength", "linked", "this way"):
        table.add_column(column, justify="right")
    table.add_column("do experts agree?")
    for edge in strongest_first(run):
        row = (link(run, edge), size(run, edge), *likelihoods(run, edge))
        table.add_row(*row, _verdict(run, edge, truth))
    return table


def _verdict(run: SavedRun, edge: EdgeRecord, truth: nx.DiGraph) -> str:
    source, target = run.edge_names(edge)
    there, back = truth.has_edge(source, target), truth.has_edge(target, source)
    if run.is_line(edge):
        return "yes" if there or back else "no"
    return "yes" if there else "reversed" if back else "no"


def _record(model: AnalyticDAG, columns: NamedColumns) -> SavedRun:
    """Return the run with its diagnostics."""
    from analyticdag.cli.record import recorded
    from analyticdag.io import hash_array, manifest_of

    manifest = manifest_of(
        source="Sachs protein signalling (log scale)",
        sha256=hash_array(columns.values, list(map(str, columns.names))),
        shape=columns.values.shape,
        parameters=model.get_params(deep=False),
        seed=model.random_state,
        command=["analyticdag", "demo"],
    )
    return recorded(model, columns, manifest=manifest)
