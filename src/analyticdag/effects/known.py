"""What effects are computed from: a class of graphs, one member of it, and the data's moments.

`Known.of(model)` reads a fitted estimator; `fit_graph(graph, data)` takes a graph from anywhere and
the data to fit its equations to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import networkx as nx
import numpy as np

from analyticdag._redundant import redundant_columns
from analyticdag._tables import finder, meant
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.effects.counted import CountEquations
from analyticdag.effects.equations import Equations
from analyticdag.effects.families import Families
from analyticdag.effects.hidden import looks_hidden
from analyticdag.effects.levels import LevelColumns, LevelEquations
from analyticdag.errors import InputError, ParameterError
from analyticdag.fitting.edges import SURE, Edge, FixedBy, is_below
from analyticdag.graphs.cpdag import count_members, member_of, open_edges, orientations
from analyticdag.moments import Moments
from analyticdag.tables.identities import Identity
from analyticdag.tables.recipe import COUNTS, Column

# With more open edges than this, 2^10 orientations or more are possible: too many to list.
MOST_OPEN = 10


def position_of(
    names: list[Hashable],
    node: Hashable,
    what: str,
    find: Callable[[Any], int | None] | None = None,
) -> int:
    """Return the column of a name, or of a position where names are not numbers.

    `find` is `finder(names)`, for who asks often.
    """
    place = (find or finder(names))(node)
    if place is None:
        raise InputError(f"{what}={node!r} is no column; {meant(node, names)}")
    return place


@dataclass(frozen=True, eq=False)
class Known:
    """A class (`edges`, open ones in both entries), a DAG in it, and moments in standard units.

    `mean` and `sd` are those of the columns in their own units: an effect in these units is the
    standardised one times sd[y] / sd[x]. `categories` have no such units, and no linear equation.
    """

    names: list[Hashable]
    edges: BoolArray
    member: BoolArray
    moments: Moments
    sd: FloatArray
    mean: FloatArray
    categories: frozenset[int] = frozenset()
    levels: LevelColumns | None = None  # of a table with categories
    columns: tuple[Column, ...] = ()  # how the table was read; nothing of plain numbers
    counted: bool = False  # whether the graph was found by counts
    families: Families | None = None  # what was counted
    judged: Callable[[], Sequence[Edge]] = tuple  # how sure the fit is of its edges; asked late

    @classmethod
    def of(cls, model: Any) -> Known:
        """Read a fitted estimator."""
        if isinstance(model, Known):
            return model
        moments = getattr(model, "moments_", None)
        if moments is None:
            raise ParameterError(
                "effects need a fitted AnalyticDAG, or a graph with data through "
                f"fit_graph(graph, data), not {type(model).__name__}; nonlinear equations have no "
                "one effect, use intervene there"
            )
        if model.loss_traits_.binary:
            raise ParameterError(
                f"effects are those of linear equations, and loss={model.loss_!r} learned "
                "log-odds; fit with another loss"
            )
        names = list(model.class_graph_.nodes)
        edges = nx.to_numpy_array(model.class_graph_, weight=None) != 0
        member = model.adjacency_matrix_ != 0
        # A fit gives constant columns variance one; here they must not vary.
        varies = model.noise_variances_ > 0
        moments = replace(moments, covariances=moments.covariances * np.outer(varies, varies))
        known = cls.standardised(names, edges, member, moments, model.mean_, model.scale_)
        counted, families = (getattr(model, name, None) for name in ("reading_", "families_"))
        judged = partial(getattr, model, "edges_")
        known = replace(known, counted=counted == COUNTS, families=families, judged=judged)
        if model.recipe_ is not None:
            taken = tuple(column for column in model.recipe_.columns if column.taken)
            known = replace(known, columns=taken)
        levels: LevelColumns | None = getattr(model, "level_columns_", None)
        if levels is None:
            return known if known.families is None else known.by_columns()
        places = frozenset(np.flatnonzero(levels.is_category).tolist())
        return replace(known, categories=places, levels=levels)

    @classmethod
    def standardised(
        cls,
        names: list[Hashable],
        edges: BoolArray,
        member: BoolArray,
        moments: Moments,
        mean: FloatArray,
        scale: FloatArray | float = 1.0,
    ) -> Known:
        """Bring moments to standard units; `scale` is what the columns were divided by before."""
        own = np.sqrt(np.diag(moments.S))
        sd = np.where(own > 0.0, own, 1.0)
        return cls(names, edges, member, moments.scaled(sd), sd * scale, mean)

    @cached_property
    def equations(self) -> Equations:
        """The equations of the member."""
        return self._made(self.member)

    def by_columns(self) -> Known:
        """Return the same with `levels`, of a table without categories too: a column a node."""
        if self.levels is not None:
            return self
        own = replace(
            self.moments, means=np.tile(self.mean / self.sd, (len(self.moments.means), 1))
        )
        nothing: tuple[tuple[()], ...] = ((),) * len(self.names)
        sizes = np.ones(len(self.names), dtype=np.int64)
        return replace(
            self, levels=LevelColumns(sizes, own.scaled(1.0 / self.sd), nothing, nothing)
        )

    def _made(self, graph: BoolArray) -> Equations:
        if self.levels is None:
            return Equations(graph, self.moments)
        if self.families is not None:
            return CountEquations(graph, self.moments, self.levels, self.families)
        return LevelEquations(graph, self.moments, self.levels)

    def choices_at(self, nodes: tuple[int, ...]) -> list[Equations]:
        """Return the `choices` at those of the nodes that have open edges, unless too many."""
        unsettled = self.unsettled(nodes)
        self.refuse_many_open(unsettled)
        return self.choices(unsettled)

    def unsettled(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of the nodes that have open edges."""
        return tuple(node for node in nodes if self.open_at(node))

    def refuse_many_open(self, unsettled: tuple[int, ...]) -> None:
        """Refuse what would have to try all members, where there are too many."""
        if sum(len(self.open_at(node)) for node in unsettled) > MOST_OPEN:
            raise ParameterError(
                f"{[self.names[x] for x in unsettled]} have more than {MOST_OPEN} open edges "
                "together, too many to try all members; settle some of them with knowledge, or set "
                "fewer columns"
            )

    def choices(self, nodes: tuple[int, ...]) -> list[Equations]:
        """Return the equations of one member for each way to point the open edges at `nodes`."""
        if nodes not in self._equations:
            self._equations[nodes] = [self._equations_of(edges) for edges in self._classes(nodes)]
        return self._equations[nodes]

    def counts(self, nodes: tuple[int, ...]) -> list[int | None]:
        """Return how many members there are for each of the `choices`; None where too many."""
        if nodes not in self._counts:
            self._counts[nodes] = [count_members(edges) for edges in self._classes(nodes)]
        return self._counts[nodes]

    def _classes(self, nodes: tuple[int, ...]) -> list[BoolArray]:
        """Return the class for each way to point the open edges at `nodes`."""
        classes = [self.edges]
        for node in nodes:
            classes = [after for before in classes for after in orientations(before, node)]
        return classes

    # All pairs ask for the same few members again and again.
    @cached_property
    def _equations(self) -> dict[tuple[int, ...], list[Equations]]:
        return {}

    @cached_property
    def _counts(self) -> dict[tuple[int, ...], list[int | None]]:
        return {}

    def _equations_of(self, edges: BoolArray) -> Equations:
        if (self.member <= edges).all():
            return self.equations
        return self._made(member_of(edges))

    @cached_property
    def unsure(self) -> FloatArray:
        """How likely each arrow is that the fit is not sure of; NaN of anything else."""
        found = np.full(self.edges.shape, np.nan)
        for edge in self.judged():
            likely = edge.direction_probability
            known = edge.fixed_by is FixedBy.KNOWLEDGE
            if likely is not None and is_below(likely, SURE) and not known:
                found[self._ends(edge)] = likely
        return found

    @cached_property
    def tied(self) -> BoolArray:
        """The links, either way, that are there only by an identity of columns."""
        found = np.zeros_like(self.edges)
        for edge in self.judged():
            found[self._ends(edge)] = edge.fixed_by is FixedBy.IDENTITY
        return found | found.T

    @cached_property
    def identities(self) -> tuple[Identity, ...]:
        """The sums, differences and means among the columns."""
        S = self.moments.S * np.outer(self.sd, self.sd)
        varies = np.diag(S) > 0.0
        return redundant_columns(S, varies, n_samples=self.moments.n_samples).identities

    @cached_property
    def across_ties(self) -> Known:
        """The same with links of an identity in either direction."""
        return replace(self, edges=self.edges | self.tied)

    def _ends(self, edge: Edge) -> tuple[int, int]:
        return self.position(edge.source, "source"), self.position(edge.target, "target")

    def reached(self, node: int, *, back: bool = False) -> BoolArray:
        """Return a node and all that it may cause; or, back, all that may cause it."""
        found = self._reached(self.edges.T if back else self.edges, node, avoiding=node)
        found[node] = True
        return found

    def position(self, node: Hashable, what: str) -> int:
        """Return the column of a name, or of a position where names are not numbers."""
        return position_of(self.names, node, what, self._find)

    @cached_property
    def _find(self) -> Callable[[Any], int | None]:
        return finder(self.names)

    def category_between(self, x: int, y: int) -> int | None:
        """Return x or y if it is a category."""
        return next((node for node in (x, y) if node in self.categories), None)

    def step(self, node: int) -> tuple[str, str]:
        """Return the two levels of a yes/no column, from which one more unit leads to which."""
        if not self.counted_level(node):
            return "", ""
        return self.counted_level(node), self.columns[node].levels[0]

    def counted_level(self, node: int) -> str:
        """Return the level of a yes/no column whose share its mean is; empty of any other."""
        return self.columns[node].counted if self.columns else ""

    def open_at(self, node: int) -> list[int]:
        """Return the nodes that share an open edge with `node`."""
        return np.flatnonzero(open_edges(self.edges)[node]).tolist()

    def open_pairs(self, nodes: Iterable[int]) -> tuple[tuple[Hashable, Hashable], ...]:
        """Return the open edges from some nodes to others by name: between two that are set, a
        direction does not matter."""
        chosen = list(nodes)
        pairs = ((x, v) for x in chosen for v in self.open_at(x) if v not in chosen)
        return tuple((self.names[x], self.names[v]) for x, v in pairs)

    def between(self, x: int, y: int) -> BoolArray:
        """Return the nodes that may lie on a directed path from x to y: y itself, but not x.

        Every open edge is taken either way, so there can be more than in any one member.
        """
        there = self._reached(self.edges, x, avoiding=x)
        back = self._reached(self.edges.T, y, avoiding=x)
        back[y] = True
        return there & back if there[y] else np.zeros_like(there)

    @staticmethod
    def _reached(edges: BoolArray, start: int, avoiding: int) -> BoolArray:
        seen = np.zeros(len(edges), dtype=bool)
        found = [start]
        while found:
            ahead = edges[found].any(axis=0) & ~seen
            ahead[avoiding] = False
            seen |= ahead
            found = np.flatnonzero(ahead).tolist()
        return seen

    def settled(self, node: int) -> BoolArray:
        """Return the nodes on which the effect of `node` is the same in every member.

        An effect can depend on the open edges at `node` only if something that it may cause lies
        behind one of them.
        """
        behind = np.zeros(len(self.names), dtype=bool)
        for neighbour in self.open_at(node):
            behind[neighbour] = True
            behind |= self._reached(self.edges, neighbour, avoiding=node)
        return ~behind

    def hidden_between(self, x: int, y: int) -> tuple[tuple[Hashable, Hashable], ...]:
        """Return the pairs on the way from x to y that look as if they had a hidden cause."""
        way = self.between(x, y)
        way[x] = way.any()
        return tuple((self.names[a], self.names[b]) for a, b in self._hidden_among(way))

    @property
    def hidden_pairs(self) -> list[tuple[int, int]]:
        """The pairs that look as if they had a common cause that was not measured."""
        return self._hidden_among(np.ones(len(self.names), dtype=bool))

    def _hidden_among(self, nodes: BoolArray) -> list[tuple[int, int]]:
        if self.counted:
            return []  # what linear equations leave is no sign of a cause where none was fitted
        places = np.flatnonzero(nodes)
        joined = np.triu((self.edges | self.edges.T)[np.ix_(places, places)])
        pairs = map(tuple, places[np.argwhere(joined)].tolist())
        return [pair for pair in pairs if self._looks_hidden(*pair)]

    def _looks_hidden(self, a: int, b: int) -> bool:
        if (a, b) not in self._judged:
            self._judged[a, b] = looks_hidden(self.edges, self.moments, a, b)
        return self._judged[a, b]

    @cached_property
    def _judged(self) -> dict[tuple[int, int], bool]:
        """Which pairs look as if they had a hidden cause, as far as anybody has asked."""
        return {}
