"""Rows in which something was done to a variable, and what may still be learned from them.

Where an experiment sets a variable, or changes how it comes about, the variable no longer follows
its own equation; all others still follow theirs. So every equation is learned from the rows that
left its own variable alone (`moments.Moments`), and an intervention costs one equation some rows
instead of costing all equations those rows.

    intervention_mask(what the caller gave)  ->  (n, d) mask, mask[r, j]: row r perturbs node j
    separated(mask)                          ->  pairs of which some row perturbs exactly one
    equivalence_class(graph, mask)           ->  what interventions leave open of a graph

A separated pair, if joined, points the same way in every graph that fits equally well (Hauser and
Bühlmann 2012), and this holds for interventions that only change the mechanism too (Yang, Katcoff
and Uhler 2018).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from analyticdag._parameters import is_missing, shown
from analyticdag._tables import finder, meant
from analyticdag._typing import BinaryArray, BoolArray
from analyticdag.errors import DataError
from analyticdag.graphs import orient_with_knowledge, to_cpdag

__all__ = ["equivalence_class", "intervention_mask", "separated"]

_SHOWN = 5


def intervention_mask(given: Any, names: Sequence[Hashable], n_rows: int) -> BoolArray | None:
    """Return which entries of the table were perturbed; None where none was.

    `given` is a boolean (n, d) table, or names for each row the column that was perturbed, with
    None (or NaN, or an empty text) where none was.
    """
    if given is None:
        return None
    values = _cells(given)
    if values.dtype == bool and values.ndim == 2:
        mask = values
        if mask.shape != (n_rows, len(names)):
            raise DataError(
                f"a mask of interventions must have the shape of X, {(n_rows, len(names))}, but it "
                f"has {mask.shape}"
            )
    else:
        mask = _mask_of_targets(values, names, n_rows)
    kept = n_rows - mask.sum(axis=0)
    if kept.min() < 2:
        lost = [names[k] for k in np.flatnonzero(kept < 2).tolist()]
        raise DataError(
            f"interventions perturb {lost[:_SHOWN]} in all rows but {int(kept.min())}, so nothing "
            "is left to learn how they come about; add rows that leave them alone, or drop them"
        )
    return mask if mask.any() else None


def separated(mask: BoolArray) -> BoolArray:
    """Return the (d, d) pairs of which some row perturbs one and leaves the other alone."""
    kinds = np.unique(mask, axis=0).astype(np.float32)
    one_way: BoolArray = (kinds.T @ (1.0 - kinds)) > 0
    return one_way | one_way.T


def equivalence_class(graph: BoolArray, mask: BoolArray | None) -> BinaryArray:
    """Return the 0/1 CPDAG of a DAG, with the directions that interventions fix beyond it."""
    cpdag = to_cpdag(graph)
    if mask is None:
        return cpdag
    return orient_with_knowledge(cpdag, ~(graph.T & separated(mask)))


def _cells(given: Any) -> Any:
    """Return the given as an array; refuse masked entries: unknown interventions."""
    if np.ma.is_masked(given):
        raise DataError(
            "interventions have masked (missing) entries; fill them with None, or with False in a "
            "mask, where nothing was perturbed"
        )
    try:
        # NumPy would make a text of the NaN in a list of names.
        values = np.asarray(given, dtype=object if isinstance(given, list | tuple) else None)
    except ValueError as error:
        raise DataError(
            "interventions must name one column or None for each row; for several at once pass a "
            "boolean mask of the shape of X"
        ) from error
    is_mask = values.ndim == 2 and all(isinstance(entry, bool | np.bool_) for entry in values.flat)
    return values.astype(bool) if is_mask else values


def _mask_of_targets(targets: Any, names: Sequence[Hashable], n_rows: int) -> BoolArray:
    if targets.shape != (n_rows,) or targets.dtype == bool:
        raise DataError(
            f"interventions must name a column or None for each of the {n_rows} rows, or be a "
            f"boolean mask of the shape of X; got shape {targets.shape} of {targets.dtype}"
        )
    find = finder(names)
    mask = np.zeros((n_rows, len(names)), dtype=bool)
    for row, target in enumerate(targets.tolist()):
        if is_missing(target) or (isinstance(target, str) and not target):
            continue
        place = find(target)
        if place is None:
            raise DataError(
                f"interventions name {shown(target)} in row {row}, which is not a column "
                "(None stands for a row without an intervention); "
                f"{meant(target, list(names))}"
            )
        mask[row, place] = True
    return mask
