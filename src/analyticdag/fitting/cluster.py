"""A Dask DataFrame: added up where its parts are; only sums and answers come to the client.

    of_cluster(X, rule)      -> a tally, rows that stay on the cluster

The first pass adds up every part. The second keeps a sample of the rows on one worker, the same
rows that `Sample` would keep; questions about rows are sent there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from analyticdag._tables import read_columns
from analyticdag._typing import FloatArray
from analyticdag._validation import check_values, refuse_few_rows
from analyticdag.fitting.rows import Rows, sample_level, sampled
from analyticdag.fitting.tally import MetLevels, Tally

_T = TypeVar("_T")


class ClusterRows(Rows):
    """A sample of rows on a cluster; `values` is a promise of them, never the rows."""

    values: Any

    def ask(self, question: Callable[[FloatArray, FloatArray | None], _T]) -> _T:
        """Return the answer to a question, which is asked on the cluster."""
        from dask.delayed import delayed

        return delayed(question, pure=False)(self.values, None).compute()

    def divided(self, scale: FloatArray) -> Rows:
        """Return the rows with their columns divided by a scale; where they are."""
        from dask.delayed import delayed

        return replace(self, values=delayed(np.divide, pure=False)(self.values, scale))


def is_on_cluster(X: Any) -> bool:
    """Whether X is a Dask DataFrame."""
    return type(X).__module__.startswith(("dask.dataframe", "dask_expr"))


def names_of(X: Any) -> list[Hashable]:
    """Return the names of the columns, and refuse those that are no numbers."""
    return read_columns(X._meta)[1] or []


def of_cluster(X: Any, rule: str) -> tuple[Tally, ClusterRows]:
    """Return all parts of a Dask DataFrame added up, and a sample of its rows."""
    from dask.delayed import delayed

    parts = X.to_delayed()
    names = names_of(X)
    found = [delayed(_tally)(part, names, rule) for part in parts]
    while len(found) > 1:  # pair by pair: no worker ever holds the sums of all parts
        pairs = itertools.zip_longest(found[::2], found[1::2])
        found = [one if other is None else delayed(_merged)(one, other) for one, other in pairs]
    tally, counts = found[0].compute()
    refuse_few_rows(sum(counts))
    firsts = [0, *itertools.accumulate(counts)]
    level = sample_level(firsts[-1], len(names))
    kept = [
        delayed(_sample)(part, names, rule, first, level)
        for part, first in zip(parts, firsts, strict=False)
    ]
    rows = delayed(np.concatenate)(kept).persist()
    return tally, ClusterRows(rows, whole=False)


def _values(part: Any, names: list[Hashable], rule: str) -> FloatArray:
    values = check_values(read_columns(part)[0], names, rule)
    return values[~np.isnan(values).any(axis=1)] if rule == "drop" else values


def _tally(part: Any, names: list[Hashable], rule: str) -> tuple[Tally | None, list[int]]:
    values = _values(part, names, rule)
    if not len(values):
        return None, [0]
    return Tally.of_rows(values, MetLevels.before_any_row(len(names))), [len(values)]


def _merged(
    one: tuple[Tally | None, list[int]], other: tuple[Tally | None, list[int]]
) -> tuple[Tally | None, list[int]]:
    there = [tally for tally in (one[0], other[0]) if tally is not None]
    merged = there[0].merge(there[1]) if len(there) == 2 else next(iter(there), None)
    return merged, one[1] + other[1]


def _sample(part: Any, names: list[Hashable], rule: str, first: int, level: int) -> FloatArray:
    values = _values(part, names, rule)
    return values[sampled(first, len(values), level)]
