"""Rows in which something was done to a variable, and what may still be learned from them.

Where an experiment sets a variable, or changes how it comes about, the variable no longer follows
its own equation; all others still follow theirs. So every equation is learned from the rows that
left its own variable alone, and an intervention costs one equation some rows instead of costing
all equations those rows.

    intervention_mask(what the caller gave)  ->  (n, d) mask, mask[r, j]: row r perturbs node j
    Moments.of_rows(X, mask)                 ->  a covariance for every distinct set of rows
    separated(mask)                          ->  pairs of which some row perturbs exactly one
    equivalence_class(graph, mask)           ->  what interventions leave open of a graph

A separated pair, if joined, points the same way in every graph that fits equally well (Hauser and
Bühlmann 2012), and this holds for interventions that only change the mechanism too (Yang, Katcoff
and Uhler 2018).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from analyticdag._parameters import is_hashable, is_missing, shown
from analyticdag._typing import BinaryArray, BoolArray, FloatArray, IntArray
from analyticdag.errors import DataError
from analyticdag.graphs import orient_with_knowledge, to_cpdag

__all__ = ["Moments", "equivalence_class", "intervention_mask", "separated"]

_SHOWN = 5
# Nodes whose rows of a matrix are worked on together: large tables must not be there twice.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Moments:
    """Covariances S (g, d, d) and means (g, d) of g sets of rows, of `n_samples` (g,) each.

    The equation of node j is learned from set `of[j]`; the first set is all rows.
    """

    S: FloatArray
    mean: FloatArray
    n_samples: IntArray
    of: IntArray

    @classmethod
    def shared(cls, S: FloatArray, n_samples: int, mean: FloatArray | None = None) -> Moments:
        """Return the moments of data without interventions: one covariance for every node."""
        d = len(S)
        means = np.zeros((1, d)) if mean is None else mean[None]
        return cls(S[None], means, np.array([n_samples]), np.zeros(d, np.int64))

    @classmethod
    def of_rows(cls, X: FloatArray, mask: BoolArray | None = None) -> Moments:
        """Return the moments of rows with interventions; nodes with equal rows share them."""
        if mask is None:
            return cls._of_parts([X], [0] * X.shape[1])
        nobody = np.zeros(len(X), dtype=bool)
        numbers = {nobody.tobytes(): 0}
        of = [numbers.setdefault(column.tobytes(), len(numbers)) for column in mask.T]
        left_out = (mask[:, of.index(k)] for k in range(1, len(numbers)))
        return cls._of_parts([X, *(X[~rows] for rows in left_out)], of)

    @classmethod
    def _of_parts(cls, parts: list[FloatArray], of: list[int]) -> Moments:
        # Two columns of very different size share one S: scaling first keeps the digits of both.
        # A power of two costs no rounding.
        spread = np.ptp(parts[0], axis=0)
        size = np.exp2(np.round(np.log2(np.where(spread > 0.0, spread, 1.0))))
        means = [part.mean(axis=0) for part in parts]
        S = [_scaled_covariance(*pair, size) for pair in zip(parts, means, strict=True)]
        return cls(
            S=S[0][None] if len(S) == 1 else np.array(S),
            mean=np.array(means),
            n_samples=np.array([len(part) for part in parts]),
            of=np.array(of, dtype=np.int64),
        )

    @property
    def samples_of(self) -> IntArray:
        """How many rows the equation of each node is learned from."""
        return self.n_samples[self.of]

    @property
    def variances(self) -> FloatArray:
        """[i, j]: the variance of column i in the rows that the equation of j is learned from."""
        own: FloatArray = np.diagonal(self.S, axis1=1, axis2=2)[self.of].T
        return own

    @property
    def own_variances(self) -> FloatArray:
        """The variance of each column in the rows that its own equation is learned from."""
        diagonals = np.diagonal(self.S, axis1=1, axis2=2)
        own: FloatArray = diagonals[self.of, np.arange(len(self.of))]
        return own

    def covariance_of(self, node: int) -> FloatArray:
        """Return the covariance that the equation of a node is learned from."""
        S: FloatArray = self.S[self.of[node]]
        return S

    def of_parents(self, nodes: IntArray, parents: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return covariances among the parents (m, k) of each node, and of these with the node."""
        of = self.of[nodes]
        among: FloatArray = self.S[of[:, None, None], parents[:, :, None], parents[:, None, :]]
        with_node: FloatArray = self.S[of[:, None], parents, nodes[:, None]]
        return among, with_node

    def residual_variances(self, W: FloatArray) -> FloatArray:
        """Return what W leaves unexplained of every node, in the rows of its own equation."""
        # Sparse, and few nodes at a time: a dense product would cost more than the search.
        E = sparse.eye_array(len(W), format="csr") - sparse.csr_array(W.T)
        left = np.empty((len(self.S), len(W)))
        for k, S in enumerate(self.S):
            for first in range(0, len(W), _BLOCK):
                some = E[first : first + _BLOCK]
                left[k, first : first + _BLOCK] = some.multiply(some @ S).sum(axis=1)
        own: FloatArray = left[self.of, np.arange(len(W))]
        return own

    def scaled(self, scale: FloatArray) -> Moments:
        """Return the moments of the columns divided by `scale`."""
        if np.all(scale == 1.0):
            return self
        return replace(self, S=self.S / np.outer(scale, scale), mean=self.mean / scale)

    def undisturbed_mean(self, W: FloatArray) -> FloatArray:
        """Return the mean of all columns where nothing is done to any of them."""
        own = self.mean[self.of]
        intercepts = np.diag(own) - np.einsum("ji,ij->j", own, W)
        mean: FloatArray = np.linalg.solve((np.eye(len(W)) - W).T, intercepts)
        return mean


def intervention_mask(given: Any, names: Sequence[Hashable], n_rows: int) -> BoolArray | None:
    """Return which entries of the table were perturbed; None where none was.

    `given` is a boolean (n, d) table, or names for each row the column that was perturbed, with
    None (or NaN, or an empty text) where none was.
    """
    if given is None:
        return None
    values = _cells(given)
    if values.dtype == bool and values.ndim == 2:
        mask = _checked_mask(values, n_rows, len(names))
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
    """Return the given as an array; a masked entry would say that nobody knows what was done."""
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


def _checked_mask(mask: BoolArray, n_rows: int, n_columns: int) -> BoolArray:
    if mask.shape != (n_rows, n_columns):
        raise DataError(
            f"a mask of interventions must have the shape of X, {(n_rows, n_columns)}, but it has "
            f"{mask.shape}"
        )
    return mask


def _mask_of_targets(targets: Any, names: Sequence[Hashable], n_rows: int) -> BoolArray:
    if targets.shape != (n_rows,) or targets.dtype == bool:
        raise DataError(
            f"interventions must name a column or None for each of the {n_rows} rows, or be a "
            f"boolean mask of the shape of X; got shape {targets.shape} of {targets.dtype}"
        )
    index_of = {name: k for k, name in enumerate(names)}
    numbered = any(isinstance(name, int) for name in names)  # then a number is a name
    mask = np.zeros((n_rows, len(names)), dtype=bool)
    for row, target in enumerate(targets.tolist()):
        if is_missing(target) or (isinstance(target, str) and not target):
            continue
        may_name = is_hashable(target) and not isinstance(target, bool)
        index = index_of.get(target, None if numbered else target) if may_name else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(names):
            raise DataError(
                f"interventions name {shown(target)} in row {row}, which is not a column; the "
                f"columns are {list(names)[:_SHOWN]}, and None stands for a row without an "
                "intervention"
            )
        mask[row, index] = True
    return mask


def _scaled_covariance(X: FloatArray, mean: FloatArray, size: FloatArray) -> FloatArray:
    """Return the covariance of the rows by way of columns in units of `size`."""
    centred = X - mean
    centred /= size
    S: FloatArray = centred.T @ centred
    S /= len(X)
    for first in range(0, len(size), _BLOCK):
        rows = slice(first, first + _BLOCK)
        S[rows] *= np.outer(size[rows], size)
    return S
