"""Are columns and rows fit to be used: constant, codes, copies, collinear, enough rows.

Rows that belong together are worth fewer rows than there are, and links look too sure. Two signs:
an identifier that stands in several rows, and rows in the order of a date or a row number whose
residuals repeat themselves from one row to the next.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from analyticdag._redundant import COLLINEAR, copied_pairs, redundant_columns
from analyticdag._tables import constant_columns
from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import correlations
from analyticdag.diagnostics.result import Check, Level, listing
from analyticdag.tables.decisions import quoted
from analyticdag.tables.look import Look
from analyticdag.tables.together import autocorrelation, block_length, worth

# A column explained by the others to 99 % (variance inflation 100).
INFLATION = 100.0
# Rows per column below which correlations are noisy, and below which they are singular.
FEW_ROWS, TOO_FEW_ROWS = 10.0, 1.0
_NAME = "rows that belong together"
_SURER = "so links look surer than they are"


def check_few_values(X: FloatArray, few: BoolArray, names: Sequence[Hashable]) -> Check:
    """Find columns that may hold codes and not numbers."""
    counts = {k: len(np.unique(X[:, k])) for k in map(int, np.flatnonzero(few))}
    found = [f"{names[k]} ({count} values)" for k, count in counts.items()]
    numbers = {"columns": [names[k] for k in counts], "values": list(counts.values())}
    if not found:
        return Check("few values", Level.FINE, "no column holds a few values only", numbers)
    advice = (
        f"{listing(found)}: few values, taken as numbers; where they are codes for categories, "
        "their size and order mean nothing, and neither do the weights of their edges: say what "
        "they are (--kind NAME=category or --kind NAME=ordered)"
    )
    # Two values are two groups, however they are coded.
    level = Level.WARNING if max(counts.values()) > 2 else Level.NOTE
    return Check("few values", level, advice, numbers)


def not_judged(few: BoolArray, names: Sequence[Hashable]) -> str:
    """Return the words for columns that a check passes over."""
    passed = [names[int(k)] for k in np.flatnonzero(few)]
    return f"; not judged for columns of few values: {listing(passed)}" if passed else ""


def check_constant(
    X: FloatArray, names: Sequence[Hashable], undisturbed: FloatArray | None = None
) -> Check:
    """Find columns of one value in all rows, and in the undisturbed ones, if some were not."""
    constant = constant_columns(X)
    found = [names[int(k)] for k in np.flatnonzero(constant)]
    still = np.zeros_like(constant) if undisturbed is None else constant_columns(undisturbed)
    moved = [names[int(k)] for k in np.flatnonzero(still & ~constant)]
    advice = []
    if found:
        advice.append(f"{listing(found)} never vary and can have no edge; drop them (--drop NAME)")
    if moved:
        advice.append(
            f"{listing(moved)} vary only in rows in which something was perturbed; keep them, but "
            "no other row tells what they depend on"
        )
    level = Level.NOTE if found or moved else Level.FINE
    numbers = {"columns": found, "only_perturbed": moved}
    return Check("constant columns", level, "; ".join(advice) or "every column varies", numbers)


def check_copies(
    R: FloatArray, names: Sequence[Hashable], gapped: FloatArray | None = None
) -> Check:
    """Find columns that are copies of each other up to scale; `gapped` are rows with gaps."""
    pairs = [(names[i], names[j]) for i, j in copied_pairs(R, gapped)]
    advice = (
        f"{listing(pairs)} carry the same information, so which of them has the edges is "
        "arbitrary; keep one of each"
        if pairs
        else "no column is a copy of another"
    )
    level = Level.WARNING if pairs else Level.FINE
    return Check("duplicate columns", level, advice, {"pairs": [list(pair) for pair in pairs]})


def check_collinearity(S: FloatArray, names: Sequence[Hashable], n_samples: int) -> Check:
    """Find columns that the others determine, exactly or almost."""
    name, varies = "collinearity", np.diag(S) > 0.0
    R = np.where(varies[:, None] & varies, correlations(S), np.eye(len(S)))
    if n_samples <= len(R) + 1:
        return Check(
            name,
            Level.NOTE,
            "with no more rows than columns every column is a combination of the others; "
            "collinearity cannot be judged",
        )
    inflation = np.diag(np.linalg.inv(R + COLLINEAR * np.eye(len(R))))
    # Explained by chance alone: (d - 1)/n of the variance.
    adjusted = inflation * (n_samples - len(R)) / n_samples
    found = [names[k] for k in np.argsort(-adjusted) if adjusted[k] > INFLATION]
    numbers = {"largest_inflation": float(inflation.max()), "columns": found}
    same = redundant_columns(S, varies, n_samples=n_samples)
    if same.identities:
        found = list(dict.fromkeys(names[k] for one in same.identities for k in one.columns))
        advice = "; ".join(one.advice(names, same.copies) for one in same.identities)
        return Check(name, Level.WARNING, advice, {**numbers, "columns": found})
    advice = (
        f"{listing(found)} are explained to over 99 % by the other columns, so edges among them "
        "may swap with small changes of the data; check that none is computed from others"
        if found
        else "no column is nearly determined by the others"
    )
    return Check(name, Level.WARNING if found else Level.FINE, advice, numbers)


def check_rows(
    n_samples: int, n_features: int, most_parents: int, *, drawn: int | None = None
) -> Check:
    """Compare the rows with what is estimated from them."""
    shows = "the share of resamples in which each came back shows"
    shows = "bootstrap (--resamples 100) shows" if drawn is None else shows
    ratio = n_samples / n_features
    numbers = {"rows": n_samples, "columns": n_features, "most_parents": most_parents}
    if ratio < TOO_FEW_ROWS:
        level, advice = (
            Level.WARNING,
            f"{n_samples} rows for {n_features} columns: some links will be there by chance, and "
            f"weak ones are missed; {shows} which hold",
        )
    elif ratio < FEW_ROWS:
        level, advice = (
            Level.NOTE,
            f"{n_samples} rows for {n_features} columns is little; weak edges will be missed, "
            f"and {shows} which of the others hold",
        )
    else:
        level, advice = Level.FINE, f"there are {ratio:.0f} rows for each column"
    return Check("rows against columns", level, advice, numbers)


def check_together(
    look: Look,
    residuals: FloatArray | None,
    names: Sequence[Hashable],
    *,
    drawn: int | None = None,
) -> Check:
    """Look for repeated identifiers, and for residuals that follow each other.

    `drawn` is how many groups or rows were resampled, if that was done.
    """
    if look.repeated:
        column = look.repeated[0]
        advice = (
            f"{listing(look.repeated)} stands in several rows: such rows repeat each other, "
            f"{_SURER}; "
        )
        advice += _drawn(drawn, look.n_rows) or (
            f"resample by group to see which hold (--groups {quoted(column)} --resamples 100)"
        )
        return Check(_NAME, Level.WARNING, advice, {"columns": list(look.repeated)})
    if look.ordering and residuals is not None:
        return _in_order(look.ordering[0], residuals, names, drawn)
    return Check(_NAME, Level.FINE, "nothing in the table says that rows belong together")


def _drawn(drawn: int | None, fewer: int) -> str:
    """Say that groups of rows were resampled, if there were fewer than so many."""
    if drawn is None or drawn >= fewer:
        return ""
    return f"{drawn} groups of rows were resampled, so how often links came back allows for that"


def _in_order(
    column: str, residuals: FloatArray, names: Sequence[Hashable], drawn: int | None
) -> Check:
    found, chance = autocorrelation(residuals)
    order = np.argsort(-found)
    strong = [names[k] for k in order.tolist() if found[k] > chance]
    largest = float(found.max(initial=0.0))
    numbers = {"largest": largest, "columns": strong}
    if not strong:
        advice = f"the rows stand in the order of {column}, and no residual follows the one before"
        return Check(_NAME, Level.FINE, advice, numbers)
    n = len(residuals)
    left, length = worth(n, [largest]), block_length(n, largest)
    advice = (
        f"the rows stand in the order of {column}, and what is left of {listing(strong)} follows "
        f"the row before: {n} rows are worth about {left}, {_SURER}; "
    )
    advice += _drawn(drawn, 2 * n // length) or (
        f"resample by blocks of rows to see which hold (--groups {length} --resamples 100)"
    )
    return Check(_NAME, Level.WARNING, advice, numbers)
