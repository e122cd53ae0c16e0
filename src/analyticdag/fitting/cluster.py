"""A Dask DataFrame: added up where its parts are; only sums and answers come to the client.

    recipe_on(X, kinds)             how its columns are read, by a look at its first rows
    of_cluster(X, rule, recipe)     -> a tally, rows that stay on the cluster

The first pass adds up every part. The second keeps a sample of the rows on one worker, the same
rows that `Sample` would keep; questions about rows are sent there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from analyticdag._tables import read_columns
from analyticdag._typing import FloatArray
from analyticdag._validation import check_values, refuse_few_rows
from analyticdag.fitting.rows import Rows, sample_level, sampled
from analyticdag.fitting.tally import MetLevels, Tally
from analyticdag.tables.batches import BATCH_ROWS, with_first_look
from analyticdag.tables.python import frame_to_read
from analyticdag.tables.recipe import Recipe

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


def recipe_on(X: Any, kinds: Mapping[str, Any] | None) -> Recipe | None:
    """Return how the columns are read; None where all are plain numbers."""
    from dask.delayed import delayed

    if frame_to_read(X._meta, kinds) is None:
        return None
    heads, left = [], BATCH_ROWS
    for part in X.to_delayed():  # one after the other: the first is enough mostly
        head = delayed(_head, pure=False)(part, left).persist()
        n_rows = delayed(len, pure=False)(head).compute()
        heads += [head] if n_rows else []
        left -= n_rows
        if not left:
            break
    refuse_few_rows(BATCH_ROWS - left)
    return delayed(_recipe, pure=False)(heads, kinds).compute()


def _head(part: Any, n_rows: int) -> Any:
    return part.head(n_rows)


def _recipe(heads: list[Any], kinds: Mapping[str, Any] | None) -> Recipe | None:
    return next(with_first_look(iter(heads), kinds)).recipe


def names_of(X: Any) -> list[Hashable]:
    """Return the names of the columns, and refuse those that are no numbers."""
    return read_columns(X._meta)[1] or []


def of_cluster(X: Any, rule: str, recipe: Recipe | None = None) -> tuple[Tally, ClusterRows]:
    """Return all parts of a Dask DataFrame added up, and a sample of its rows."""
    from dask.delayed import delayed

    parts, look = X.to_delayed(), _Look.of(X, rule, recipe)
    found = [delayed(_tally)(part, look) for part in parts]
    while len(found) > 1:  # pair by pair: no worker ever holds the sums of all parts
        pairs = itertools.zip_longest(found[::2], found[1::2])
        found = [one if other is None else delayed(_merged)(one, other) for one, other in pairs]
    tally, counts = found[0].compute()
    refuse_few_rows(sum(counts))
    firsts = [0, *itertools.accumulate(counts)]
    level = sample_level(firsts[-1], len(look.names))
    kept = [
        delayed(_sample)(part, look, first, level)
        for part, first in zip(parts, firsts, strict=False)
    ]
    rows = delayed(np.concatenate)(kept).persist()
    return tally, ClusterRows(rows, whole=False)


@dataclass(frozen=True, eq=False)
class _Look:
    """What a worker needs to read a part: names, the rule for gaps, and the recipe."""

    names: list[Hashable]
    rule: str
    recipe: Recipe | None

    @classmethod
    def of(cls, X: Any, rule: str, recipe: Recipe | None) -> _Look:
        return cls(names_of(X) if recipe is None else list(recipe.names), rule, recipe)

    def values(self, part: Any) -> FloatArray:
        """Return the numbers of a part, without rows that have gaps."""
        values = self._read(part)
        checked = check_values(values, self.names, self.rule)
        return checked[~np.isnan(checked).any(axis=1)] if self.rule == "drop" else checked

    def _read(self, part: Any) -> FloatArray:
        if self.recipe is None:
            return read_columns(part)[0]
        return self.recipe.read(part, gaps=self.recipe.names if self.rule == "drop" else ())


def _tally(part: Any, look: _Look) -> tuple[Tally | None, list[int]]:
    values = look.values(part)
    if not len(values):
        return None, [0]
    kinds = () if look.recipe is None else look.recipe.kinds
    nothing = MetLevels.before_any_row(len(look.names), kinds)
    return Tally.of_rows(values, nothing), [len(values)]


def _merged(
    one: tuple[Tally | None, list[int]], other: tuple[Tally | None, list[int]]
) -> tuple[Tally | None, list[int]]:
    there = [tally for tally in (one[0], other[0]) if tally is not None]
    merged = there[0].merge(there[1]) if len(there) == 2 else next(iter(there), None)
    return merged, one[1] + other[1]


def _sample(part: Any, look: _Look, first: int, level: int) -> FloatArray:
    values = look.values(part)
    return values[sampled(first, len(values), level)]
