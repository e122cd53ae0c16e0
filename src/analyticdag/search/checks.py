"""Refusals: what `search_orders` and `select_parents` cannot work with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import DataError, KnowledgeError, ParameterError


def checked_covariance(S: ArrayLike) -> FloatArray:
    """S as a contiguous symmetric float matrix."""
    cov = np.ascontiguousarray(S, dtype=np.float64)
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1] or len(cov) == 0:
        raise DataError(f"S must be a square covariance matrix; got shape {cov.shape}.")
    if not np.isfinite(cov).all():
        raise DataError("S has NaN or infinite entries; impute or drop the columns they come from.")
    if (np.diag(cov) < 0).any() or not np.allclose(cov, cov.T, rtol=1e-6, atol=0.0):
        raise DataError("S is not a covariance: it must be symmetric with a non-negative diagonal.")
    return cov


def checked_order(order: ArrayLike, n_nodes: int, label: str) -> IntArray:
    """A permutation of the nodes."""
    result = np.asarray(order)
    if not np.array_equal(np.sort(result, axis=None), np.arange(n_nodes)) or result.ndim != 1:
        raise ParameterError(
            f"start {label!r} must be a permutation of 0..{n_nodes - 1}; got shape {result.shape}."
        )
    return result.astype(np.int64)


def checked_knowledge(
    allowed: BoolArray | None, required: BoolArray | None, max_parents: int | None, n_nodes: int
) -> tuple[BoolArray | None, BoolArray | None]:
    """Forbidden and required edges as (d, d) masks without contradictions; None for none."""
    shape = (n_nodes, n_nodes)
    forbidden = None if allowed is None else ~_mask(allowed, shape, "allowed")
    needed = None if required is None else _mask(required, shape, "required")
    if max_parents is not None and max_parents < 0:
        raise ParameterError(f"max_parents must be None or at least 0; got {max_parents}.")
    if needed is not None and needed.any():
        _check_required(needed, forbidden, max_parents)
    else:
        needed = None
    # No node is its own parent, whatever the mask says.
    if forbidden is not None and not (forbidden.sum() - np.diag(forbidden).sum()):
        forbidden = None
    return forbidden, needed


def _check_required(needed: BoolArray, forbidden: BoolArray | None, limit: int | None) -> None:
    refused = np.eye(len(needed), dtype=np.bool_)
    if forbidden is not None:
        refused |= forbidden
    clash = np.argwhere(needed & refused)
    if len(clash) > 0:
        i, j = clash[0].tolist()
        raise KnowledgeError(
            f"the edge {i} -> {j} is required but not allowed; drop one of the two."
        )
    if limit is not None and needed.sum(axis=0).max() > limit:
        node = int(needed.sum(axis=0).argmax())
        raise KnowledgeError(f"node {node} has more required parents than max_parents={limit}.")


def _mask(values: BoolArray, shape: tuple[int, int], name: str) -> BoolArray:
    mask = np.ascontiguousarray(values, dtype=np.bool_)
    if mask.shape != shape:
        raise ParameterError(f"{name} must be a boolean {shape} mask; got shape {mask.shape}.")
    return mask
