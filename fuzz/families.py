"""The families of cases, by name."""

from __future__ import annotations

from collections.abc import Callable

from fuzz import files, kills, options, tables, tamper
from fuzz.case import Case, Draw


def draw_table(draw: Draw) -> Case:
    """Return a case that fits a table, a covariance, or resamples of a table."""
    call = draw.weighted({"fit": 85, "fit_covariance": 10, "resample": 5})
    lines = tables.values(draw)
    if call == "fit" and draw.chance(0.06):
        lines += [*options.nonlinear(draw), *tables.container(draw)]
        return Case("tables", tuple(lines), call)
    lines += options.linear(draw)
    if call == "fit_covariance":
        return Case("tables", (*lines, *options.covariance(draw)), call)
    if call == "resample":
        lines += options.resamples(draw)
    elif draw.chance(0.08):
        lines += options.interventions(draw)
    return Case("tables", (*lines, *tables.container(draw)), call)


FAMILIES: dict[str, Callable[[Draw], Case]] = {
    "tables": draw_table,
    "files": files.draw_case,
    "tamper": tamper.draw_case,
    "kills": kills.draw_case,
}
# Of a whole campaign; a budget is a multiple of these.
COUNTS = {"tables": 10_000, "files": 1_000, "tamper": 5_000, "kills": 200}
# Seconds for one case, a hundred times what most take; kills run several commands.
LIMITS = {"tables": 60.0, "files": 90.0, "tamper": 90.0, "kills": 600.0}


def drawn(seed: int, family: str, number: int) -> Case:
    """Return a case by its name."""
    return FAMILIES[family](Draw(seed, family, number))
