"""Refusals: what `search_orders` and `select_parents` cannot work with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from analyticdag._parameters import shown, whole
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag._validation import check_symmetric, covariance_matrix
from analyticdag.errors import KnowledgeError, ParameterError


def checked_covariance(S: ArrayLike) -> FloatArray:
    """S as a contiguous symmetric float matrix."""
    cov = covariance_matrix(S)
    check_symmetric(cov)
    return np.ascontiguousarray(cov)


def checked_order(order: ArrayLike, n_nodes: int, label: str) -> IntArray:
    """A permutation of the nodes."""
    result = np.asarray(order, dtype=object)
    numbers = [k for k in result.flat if isinstance(k, int | np.integer)]
    if result.ndim != 1 or sorted(numbers) != list(range(n_nodes)) or len(result) != n_nodes:
        raise ParameterError(
            f"start {label!r} must be a permutation of 0..{n_nodes - 1}; got {shown(order)}"
        )
    return result.astype(np.int64)


def checked_knowledge(
    allowed: BoolArray | None, required: BoolArray | None, max_parents: int | None, n_nodes: int
) -> tuple[BoolArray | None, BoolArray | None]:
    """Forbidden and required edges as (d, d) masks without contradictions; None for none."""
    shape = (n_nodes, n_nodes)
    forbidden = None if allowed is None else ~_mask(allowed, shape, "allowed")
    needed = None if required is None else _mask(required, shape, "required")
    if max_parents is not None:
        max_parents = whole("max_parents", max_parents, 0, what="None, or a whole number")
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
