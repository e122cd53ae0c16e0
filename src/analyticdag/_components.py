"""Strongly connected components of a dense matrix, compiled.

SciPy's csgraph needs the edges as a sparse matrix; building that costs more than the inverse of
a small matrix. Tarjan's algorithm on the dense matrix itself is 10 to 30 times faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from analyticdag._jit import kernel
from analyticdag._typing import IntArray

__all__ = ["cyclic_members"]


def cyclic_members(A: np.ndarray[Any, Any]) -> tuple[IntArray, IntArray]:
    """Nodes of every component that holds a cycle, component by component, and where each starts.

    Component c is members[starts[c]:starts[c + 1]]; a self-loop is a cycle of one.
    """
    n = len(A)
    members, starts = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    n_components = tarjan(A, members, starts, np.zeros((6, n), np.int64))
    return members[: starts[n_components]], starts[: n_components + 1]


@kernel
def tarjan(A: np.ndarray[Any, Any], members: IntArray, starts: IntArray, zeros: IntArray) -> int:
    """Fill members and starts; returns how many components there are. `zeros` is scratch."""
    n = A.shape[0]
    number = zeros[0]  # order of discovery, from 1; 0 where nobody has been
    low = zeros[1]  # earliest node on the stack that is reachable
    child = zeros[2]  # next neighbour to look at
    path, stack, on_stack = zeros[3], zeros[4], zeros[5]
    n_found, n_stack, n_members, n_components = 0, 0, 0, 0
    for root in range(n):
        if number[root] > 0:
            continue
        depth = 0
        fresh = root
        while fresh >= 0 or depth > 0:
            if fresh >= 0:
                n_found += 1
                number[fresh] = low[fresh] = n_found
                path[depth], stack[n_stack] = fresh, fresh
                depth, n_stack = depth + 1, n_stack + 1
                on_stack[fresh] = 1
            v = path[depth - 1]
            fresh = -1
            while child[v] < n and fresh < 0:
                w = child[v]
                child[v] += 1
                if A[v, w] != 0:
                    if number[w] == 0:
                        fresh = w
                    elif on_stack[w] > 0:
                        low[v] = min(low[v], number[w])
            if fresh >= 0:
                continue
            depth -= 1
            if depth > 0:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[v])
            if low[v] != number[v]:
                continue
            first = n_members
            while on_stack[v] > 0:
                n_stack -= 1
                members[n_members] = stack[n_stack]
                on_stack[stack[n_stack]] = 0
                n_members += 1
            if n_members - first == 1 and A[v, v] == 0:
                n_members = first
            else:
                n_components += 1
                starts[n_components] = n_members
    return n_components
