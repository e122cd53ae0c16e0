"""What is known before the data are seen, as masks over edges.

`Knowledge` holds what an expert says: edges that must be there, edges that must not, tiers (causes
come from the same or an earlier tier) and a limit on the number of parents. Contradictions are
refused when it is built, and again when names and indices of a data set are put together.

    Knowledge.resolve(names) -> EdgeMasks(allowed, required, max_parents)

`allowed[i, j]` is False wherever i -> j cannot be: on the diagonal, where forbidden, against the
tiers, and where it would close a cycle with required edges. `candidate_mask` (candidates.py) adds
what the data make plausible. Every solver takes these masks; none of them sees the names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import networkx as nx
import numpy as np

from analyticdag._parameters import is_hashable, is_missing, shown, whole
from analyticdag._tables import finder, meant
from analyticdag._typing import BoolArray, IntArray
from analyticdag.errors import KnowledgeError, ParameterError
from analyticdag.graphs import reachability

__all__ = ["Edge", "EdgeMasks", "Knowledge", "Tiers", "as_knowledge"]

Edge: TypeAlias = tuple[Hashable, Hashable]
Tiers: TypeAlias = tuple[tuple[Hashable, ...], ...]


@dataclass(frozen=True, eq=False)
class EdgeMasks:
    """Knowledge on the columns of one data set: two (d, d) masks and a limit."""

    allowed: BoolArray
    required: BoolArray
    max_parents: int | None = None

    @classmethod
    def free(cls, n_features: int) -> EdgeMasks:
        """Return constraints that allow every edge except self-loops."""
        return cls(~np.eye(n_features, dtype=bool), np.zeros((n_features, n_features), dtype=bool))

    def in_order(self, order: IntArray) -> EdgeMasks:
        """Return the constraints on the columns in another order."""
        block = np.ix_(order, order)
        return EdgeMasks(self.allowed[block], self.required[block], self.max_parents)

    def restricted_to(self, candidates: BoolArray) -> EdgeMasks:
        """Return the same constraints with edges only among the candidates; required ones stay."""
        allowed = (self.allowed & candidates) | self.required
        return EdgeMasks(allowed, self.required, self.max_parents)


@dataclass(frozen=True)
class Knowledge:
    """Hard constraints on the graph, by column name or by column index.

    Parameters
    ----------
    required_edges, forbidden_edges : iterables of (cause, effect)
    tiers : sequence of collections of columns, causes first. No edge goes from a later tier to an
        earlier one; columns in no tier are free.
    max_parents : the most parents any column may have; None for no limit.
    """

    required_edges: Iterable[Edge] = ()
    forbidden_edges: Iterable[Edge] = ()
    tiers: Iterable[Collection[Hashable]] = ()
    max_parents: int | None = None

    def __post_init__(self) -> None:
        # Frozen: the given iterables are replaced, once, by tuples that compare and hash.
        put = object.__setattr__
        put(self, "required_edges", _edges(self.required_edges, "required_edges"))
        put(self, "forbidden_edges", _edges(self.forbidden_edges, "forbidden_edges"))
        put(self, "tiers", _tiers(self.tiers))
        if self.max_parents is not None:
            words = "None, or a whole number"
            limit = whole("max_parents", self.max_parents, 1, what=words, error=KnowledgeError)
            put(self, "max_parents", limit)
        self._refuse_contradictions(lambda column: column)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Knowledge:
        """Build knowledge from a mapping with the constructor's keys, as a JSON file holds it."""
        known = ("required_edges", "forbidden_edges", "tiers", "max_parents")
        if not isinstance(record, Mapping):
            raise KnowledgeError(
                f"knowledge is a mapping with the keys {list(known)}, not {shown(record)}"
            )
        unknown = sorted((key for key in record if key not in known), key=str)
        if unknown:
            raise KnowledgeError(f"unknown knowledge {unknown}; the keys are {list(known)}")
        return cls(**record)

    def to_dict(self) -> dict[str, Any]:
        """Return a mapping that `from_dict` reads back and JSON can hold."""
        return {
            "required_edges": [list(edge) for edge in self.required_edges],
            "forbidden_edges": [list(edge) for edge in self.forbidden_edges],
            "tiers": [list(tier) for tier in self.tiers],
            "max_parents": self.max_parents,
        }

    def resolve(self, names: Sequence[Hashable]) -> EdgeMasks:
        """Return the masks for data with these column names."""
        find = _column_finder(names)
        # Again, now that "Raf" and 0 are known to be one column.
        self._refuse_contradictions(find, show=lambda index: names[index])
        required = _mask(self.required_edges, find, len(names))
        allowed = ~(
            _mask(self.forbidden_edges, find, len(names)) | self._against_tiers(find, names)
        )
        # i -> j is out when j reaches i through required edges (or is i): it would close a cycle.
        allowed &= ~reachability(required).T
        return EdgeMasks(allowed, required, self.max_parents)

    def allowed(self, names: Sequence[Hashable]) -> BoolArray:
        """Return the mask of edges that may exist."""
        return self.resolve(names).allowed

    def required(self, names: Sequence[Hashable]) -> BoolArray:
        """Return the mask of edges that must exist."""
        return self.resolve(names).required

    def _against_tiers(
        self, find: Callable[[Hashable], int], names: Sequence[Hashable]
    ) -> BoolArray:
        tier_of = np.full(len(names), np.nan)  # comparisons with NaN are False: free columns
        for number, tier in enumerate(self.tiers):
            tier_of[[find(column) for column in tier]] = number
        return tier_of[:, None] > tier_of[None, :]

    def _refuse_contradictions(
        self,
        find: Callable[[Hashable], Any],
        show: Callable[[Any], Hashable] = lambda column: column,
    ) -> None:
        """Raise KnowledgeError naming the culprits; `find` maps a column to its identity."""

        def text(edges: Iterable[tuple[Any, Any]]) -> str:
            return ", ".join(f"{show(a)!r} -> {show(b)!r}" for a, b in edges)

        required = [(find(a), find(b)) for a, b in self.required_edges]
        forbidden = [(find(a), find(b)) for a, b in self.forbidden_edges]
        tier_of = _tier_numbers([[find(c) for c in tier] for tier in self.tiers], show)
        both = sorted(set(required) & set(forbidden), key=repr)
        if both:
            raise KnowledgeError(f"{text(both)} is both required and forbidden; drop one of them")
        graph = nx.DiGraph(required)
        if not nx.is_directed_acyclic_graph(graph):
            cycle = text(nx.find_cycle(graph))
            raise KnowledgeError(f"the required edges close a cycle: {cycle}; drop one of them")
        backward = [(a, b) for a, b in required if tier_of.get(a, -1) > tier_of.get(b, np.inf)]
        if backward:
            raise KnowledgeError(
                f"{text(backward)} is required but goes from a later tier to an earlier one; "
                "drop the edge or move the columns"
            )
        if self.max_parents is not None:
            crowded = [node for node, degree in graph.in_degree() if degree > self.max_parents]
            if crowded:
                raise KnowledgeError(
                    f"more than max_parents={self.max_parents} required edges point at "
                    f"{[show(node) for node in crowded]}; raise max_parents or drop some"
                )


def as_knowledge(given: Any) -> Knowledge:
    """Return the knowledge that an estimator was given; None is no knowledge."""
    if not isinstance(given, Knowledge | None):
        raise ParameterError(f"knowledge must be a Knowledge or None, not {type(given).__name__}")
    return given or Knowledge()


def _edges(edges: Iterable[Edge], argument: str) -> tuple[Edge, ...]:
    """Return the edges as a tuple of pairs, in the given order, each once."""
    pairs: dict[Edge, None] = {}
    for edge in _each(edges, argument):
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise KnowledgeError(f"{argument} takes (cause, effect) pairs, not {shown(edge)}")
        cause, effect = (_column(end, argument) for end in edge)
        if cause == effect:
            raise KnowledgeError(f"{argument} has an edge from {cause!r} to itself; drop it")
        pairs[(cause, effect)] = None
    return tuple(pairs)


def _each(items: Any, argument: str) -> Iterable[Any]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise KnowledgeError(
            f"{argument} must be a list, empty if there are none, not {shown(items)}"
        )
    return items


def _column(column: Any, argument: str) -> Hashable:
    """Return what names a column: a text, a number, or whatever else the table has as a name."""
    if isinstance(column, bool) or is_missing(column) or not is_hashable(column):
        raise KnowledgeError(
            f"{argument} names columns by their name or position, and {shown(column)} is neither"
        )
    return column


def _tiers(tiers: Iterable[Collection[Hashable]]) -> Tiers:
    tiers = list(_each(tiers, "tiers"))
    for tier in tiers:
        if isinstance(tier, str) or not isinstance(tier, Collection):
            raise KnowledgeError(f"a tier is a collection of columns, not {shown(tier)}")
    return tuple(tuple(_column(column, "tiers") for column in tier) for tier in tiers)


def _tier_numbers(tiers: list[list[Any]], show: Callable[[Any], Hashable]) -> dict[Any, int]:
    numbers: dict[Any, int] = {}
    for number, tier in enumerate(tiers):
        for column in tier:
            if column in numbers:
                raise KnowledgeError(f"{show(column)!r} is in the tiers twice; keep one of them")
            numbers[column] = number
    return numbers


def _column_finder(names: Sequence[Hashable]) -> Callable[[Hashable], int]:
    """Return a function from a name, or an index where names are text, to the index."""
    place_of = finder(names)

    def find(column: Hashable) -> int:
        place = place_of(column)
        if place is not None:
            return place
        raise KnowledgeError(
            f"knowledge names {shown(column)}, which is not a column; {meant(column, names)}"
        )

    return find


def _mask(edges: Iterable[Edge], find: Callable[[Hashable], int], n_features: int) -> BoolArray:
    mask = np.zeros((n_features, n_features), dtype=bool)
    for cause, effect in edges:
        mask[find(cause), find(effect)] = True
    return mask
