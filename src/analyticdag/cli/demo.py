"""``analyticdag demo``: a real network, learned, compared with what experts agree on, reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from analyticdag.cli.options import Force
from analyticdag.cli.progress import line
from analyticdag.cli.record import recorded, save_with_page

if TYPE_CHECKING:
    from analyticdag import AnalyticDAG
    from analyticdag._typing import FloatArray
    from analyticdag.datasets import Dataset


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the results; a free name is found.")] = Path(
        "runs/demo"
    ),
    force: Force = False,
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
    import numpy as np

    from analyticdag import AnalyticDAG
    from analyticdag.graphs import from_networkx
    from analyticdag.metrics import compare

    console.print(f"Sachs: {len(sachs.values)} human cells, {len(sachs.names)} proteins each.")
    with console.status("learning ..."):
        # Fluorescence is read on a log scale; unequal variances assume nothing about units.
        values = np.log(sachs.values)
        model = AnalyticDAG(loss="likelihood-nv", standardize=True).fit(values)
    truth, _ = from_networkx(sachs.graph, sachs.names)
    found = compare(truth, model.weights_)
    console.print(_edge_table(model.weights_, sachs.names, truth))
    console.print(
        f"SHD {found.shd} to the consensus network of {found.n_true} edges:\n"
        f"  {found.correct} correct, {found.reversed} reversed, {found.extra} extra, "
        f"{found.missing} missing; a graph without edges has SHD {found.n_true}.\n"
        f"How the fit ended: {model.status_.value}."
    )
    _save(model, values, sachs.names, folder)
    line(console, f"Saved:  {folder}\nReport: {folder / 'report.html'}\n")
    console.print(
        "What to try next:\n"
        "  analyticdag fit your-table.csv                             graph and report\n"
        "  AnalyticDAG(constraint='order-3').fit(your_table).graph_   in Python\n"
        "  analyticdag constraints                                    which there are\n"
        "  docs/how-to-choose.md                                      when to use which"
    )


def _edge_table(W: FloatArray, names: Sequence[str], truth: FloatArray) -> Table:
    table = Table(title="The learned graph", title_justify="left")
    for column in ("edge", "weight", "in the consensus network"):
        table.add_column(column, justify="right" if column == "weight" else "left")
    for i, j in _strongest_first(W):
        verdict = "yes" if truth[i, j] else "reversed" if truth[j, i] else "no"
        table.add_row(f"{names[i]} → {names[j]}", f"{W[i, j]:+.2f}", verdict)
    return table


def _strongest_first(W: FloatArray) -> list[tuple[int, int]]:
    from analyticdag.graphs import edge_list

    return sorted(edge_list(W), key=lambda edge: -abs(W[edge]))


def _save(model: AnalyticDAG, values: FloatArray, names: Sequence[str], folder: Path) -> None:
    """Save the run and its report in a folder of its own."""
    from analyticdag.io import hash_array, manifest_of

    manifest = manifest_of(
        source="Sachs protein signalling (log scale)",
        sha256=hash_array(values, names),
        shape=(len(values), len(names)),
        parameters=model.get_params(deep=False),
        seed=model.random_state,
        command=["analyticdag", "demo"],
    )
    run = recorded(model, values, names, manifest=manifest)
    save_with_page(run, folder, folder / "report.html", "analyticdag demo", overwrite=True)
