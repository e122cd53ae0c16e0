"""Directed graphs as matrices: ``W[i, j] != 0`` means i -> j, everywhere in this package.

- ``convert``: foreign matrices and networkx graphs in and out, with the orientation said aloud;
- ``acyclic``: is it a DAG, in which order, and the nearest DAG when it is not;
- ``cpdag``: the equivalence class of a DAG, what knowledge adds to a class, and its members, by the
  parents that a node can have.
"""

from __future__ import annotations

from analyticdag.graphs.acyclic import (
    is_dag,
    nearest_dag,
    reachability,
    strong_components,
    topological_order,
)
from analyticdag.graphs.convert import (
    adjacency,
    edge_list,
    from_matrix,
    from_networkx,
    to_networkx,
)
from analyticdag.graphs.cpdag import (
    count_members,
    member_of,
    orient_with_knowledge,
    orientations,
    random_member,
    to_cpdag,
)

__all__ = [
    "adjacency",
    "count_members",
    "edge_list",
    "from_matrix",
    "from_networkx",
    "is_dag",
    "member_of",
    "nearest_dag",
    "orient_with_knowledge",
    "orientations",
    "random_member",
    "reachability",
    "strong_components",
    "to_cpdag",
    "to_networkx",
    "topological_order",
]
