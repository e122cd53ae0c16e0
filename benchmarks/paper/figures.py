"""The figures that the paper prints, from ``figures.csv``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

from benchmarks.summary import format_number

__all__ = ["Figure", "paper_figures"]


@dataclass(frozen=True)
class Figure:
    """One entry of one of the paper's tables; Table 4 has one data set, so no deviation."""

    plan: str
    graph: str
    noise: str
    nodes: int
    precision: str
    method: str
    metric: str
    mean: float
    std: float | None

    def text(self) -> str:
        """Mean ± standard deviation, as in our own tables."""
        mean = format_number(self.mean)
        return mean if self.std is None else f"{mean} ± {format_number(self.std)}"


def paper_figures(plan: str) -> list[Figure]:
    """Every figure of the table that ``plan`` repeats, in the paper's order."""
    file = resources.files("benchmarks.paper") / "figures.csv"
    with file.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["plan"] == plan]
    return [_figure(row) for row in rows]


def _figure(row: dict[str, str]) -> Figure:
    std = float(row["std"]) if row["std"] else None
    numbers = {"nodes": int(row["nodes"]), "mean": float(row["mean"]), "std": std}
    return Figure(**{**row, **numbers})  # type: ignore[arg-type]
