"""Options that several commands take, each written once: its type, its name and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TableFile = Annotated[str, typer.Argument(help="CSV, TSV or Parquet; - for standard input.")]
Loss = Annotated[
    str | None, typer.Option(help="mse, likelihood-ev, likelihood-nv, logistic or auto.")
]
Constraint = Annotated[
    str | None, typer.Option(help="exponential, order-1, order-2, … (see: constraints).")
]
Lambda1 = Annotated[
    str | None, typer.Option(help="Sparsity, more gives fewer edges; auto, cv or stars.")
]
Solver = Annotated[str | None, typer.Option(help="adam, fast or order.")]
Refine = Annotated[
    bool | None, typer.Option("--refine/--no-refine", help="Search over orders afterwards.")
]
KnowledgeFile = Annotated[
    Path | None, typer.Option(help="Required and forbidden edges: TOML or Tetrad's format.")
]
Candidates = Annotated[
    str | None, typer.Option(help="Only plausible edges: correlation, markov or pc.")
]
Standardize = Annotated[
    bool | None, typer.Option("--standardize", help="Scale every column to variance one.")
]
Interventions = Annotated[
    str | None, typer.Option(help="Column that names what was perturbed in each row.")
]
Drop = Annotated[list[str] | None, typer.Option(help="Leave a column out; repeatable.")]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")
]
Jobs = Annotated[int | None, typer.Option(help="Processes to use.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="File that keeps the state, to go on after a kill.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Result as JSON, even if quiet.")]
