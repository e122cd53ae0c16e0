"""Are the columns fit to be used: constant, copies, collinear, enough rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag._validation import COLLINEAR, constant_columns
from analyticdag.diagnostics.result import Check, Level, listing

# A column explained by the others to 99 % (variance inflation 100).
INFLATION = 100.0
# Rows per column below which correlations are noisy, and below which they are singular.
FEW_ROWS, TOO_FEW_ROWS = 10.0, 1.0


def check_constant(X: FloatArray, names: Sequence[Hashable]) -> Check:
    """Find columns of one value."""
    found = [names[int(k)] for k in np.flatnonzero(constant_columns(X))]
    advice = (
        f"{listing(found)} never vary and can have no edge; drop them"
        if found
        else "every column varies"
    )
    level = Level.WARNING if found else Level.FINE
    return Check("constant columns", level, advice, {"columns": found})


def check_copies(R: FloatArray, names: Sequence[Hashable]) -> Check:
    """Find columns that are copies of each other up to scale."""
    pairs = [(names[i], names[j]) for i, j in np.argwhere(np.triu(np.abs(R), 1) > 1 - COLLINEAR)]
    advice = (
        f"{listing(pairs)} carry the same information, so which of them has the edges is "
        "arbitrary; keep one of each"
        if pairs
        else "no column is a copy of another"
    )
    level = Level.WARNING if pairs else Level.FINE
    return Check("duplicate columns", level, advice, {"pairs": [list(pair) for pair in pairs]})


def check_collinearity(R: FloatArray, names: Sequence[Hashable], n_samples: int) -> Check:
    """Find columns that the others determine almost entirely."""
    name = "collinearity"
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
    advice = (
        f"{listing(found)} are explained to over 99 % by the other columns, so edges among them "
        "may swap with small changes of the data; check that none is computed from others"
        if found
        else "no column is nearly determined by the others"
    )
    numbers = {"largest_inflation": float(inflation.max()), "columns": found}
    return Check(name, Level.WARNING if found else Level.FINE, advice, numbers)


def check_rows(n_samples: int, n_features: int, most_parents: int) -> Check:
    """Compare the rows with what is estimated from them."""
    ratio = n_samples / n_features
    numbers = {"rows": n_samples, "columns": n_features, "most_parents": most_parents}
    if ratio < TOO_FEW_ROWS:
        level, advice = (
            Level.WARNING,
            f"{n_samples} rows for {n_features} columns: only strong edges can be found; expect "
            "missing ones, and use bootstrap to see which hold",
        )
    elif ratio < FEW_ROWS:
        level, advice = (
            Level.NOTE,
            f"{n_samples} rows for {n_features} columns is little; weak edges will be missed, "
            "and bootstrap shows which of the others hold",
        )
    else:
        level, advice = Level.FINE, f"{n_samples} rows for {n_features} columns is plenty"
    return Check("rows against columns", level, advice, numbers)
