"""From a class to directions: the best member, what it claims, and what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from analyticdag._typing import BoolArray
from analyticdag.graphs import orient_with_knowledge
from analyticdag.knowledge import EdgeMasks
from analyticdag.noise_shape.evidence import (
    MARGIN_BESIDE_DOUBT,
    WORTH_TURNING,
    Preference,
    compare,
    in_doubt,
    noise_depends,
)
from analyticdag.noise_shape.local import LocalGains, family_in
from analyticdag.noise_shape.revising import Reviser
from analyticdag.noise_shape.turning import Arc, Component, Member, components, visited

# From a DAG to its class, given interventions if there were any, and what knowledge leaves of it.
ClassOf: TypeAlias = Callable[[BoolArray], tuple[BoolArray, BoolArray]]


# Edges with dependent noise, in a table where they are common too, of which trying every turn takes
# seconds (10,000 rows), to be given up in the end: bent equations have them.
_MANY = 10
# What one noise gains, or each on average, if it has a shape: Gaussian ones gained up to 13, among
# 200 columns, and 0.3 on average (own seeds).
_ONE, _EACH = 20.0, 2.0


@dataclass(frozen=True, eq=False)
class Shaped:
    """A member of a class, and what the shapes of noise fix.

    `of_class` is what the class and knowledge leave of it, open edges in both entries. `margins`
    has, for edges of the member that the class left open, the standard errors by which the shapes
    prefer them; below zero where they prefer the reverse, but not clearly. Edges at columns without
    a shape of noise have none.
    """

    member: BoolArray
    of_class: BoolArray
    claims: frozenset[Arc]
    margins: dict[Arc, float]
    turned: dict[Arc, float]  # margins of edges that were turned against the class found first
    misfit: bool = False  # at many edges the noise depends on the cause
    doubtful: bool = False  # edges are not probable enough for some claims

    @property
    def known(self) -> BoolArray:
        """The class with the claimed directions and what follows from them."""
        allowed = np.ones_like(self.of_class)
        for i, j in self.claims:
            allowed[j, i] = False
        return orient_with_knowledge(self.of_class, allowed) != 0

    def where(self, sure: BoolArray) -> Shaped:
        """Return it with claims of sure edges only, clear ones where an open edge beside is not.

        Members that share a wrong edge are all wrong: which of them fits better says less.
        """
        doubtful = self.of_class & self.of_class.T & self.member & ~sure
        ends = set(np.argwhere(doubtful).ravel().tolist())
        kept = frozenset(
            arc
            for arc in self.claims
            if ends.isdisjoint(arc) or (sure[arc] and self.margins[arc] >= MARGIN_BESIDE_DOUBT)
        )
        return replace(self, claims=kept, doubtful=len(kept) < len(self.claims))


@dataclass(frozen=True, eq=False)
class _Judged:
    """A component, its member in the graph that was found, its best one, and how clear that is."""

    component: Component
    start: Member
    best: Member
    gained: float  # of the best member beyond the start
    preferences: dict[Arc, Preference]  # of its edges

    def claims(self, barred: set[Arc]) -> set[Arc]:
        """Return the edges that clearly point as the best member has them."""
        return {arc for arc, one in self.preferences.items() if one.is_clear} - barred

    def turned_edges(self) -> set[Arc]:
        """Return the edges that point another way than they did."""
        return self.component.arcs(self.best, without=self.start)


@dataclass(frozen=True, eq=False)
class _Class:
    """A graph, what is known given its class, its components, and the best member."""

    dag: BoolArray
    known: BoolArray
    judged: list[_Judged]
    best: BoolArray


def orient(
    gains: LocalGains,
    dag: BoolArray,
    class_of: ClassOf,
    masks: EdgeMasks,
    no_shape: BoolArray,
    price: float,
) -> Shaped:
    """Choose among the members of the class of `dag`, or of one that the noise clearly prefers.

    Edges at columns marked in `no_shape` are not claimed. `price` is that of an edge in the score
    of the search.
    """
    found = _best_of_class(gains, dag, class_of, masks, no_shape)
    # Digits that were drawn at random would pass for a measurement error.
    reviser = Reviser(gains, masks, no_shape | gains.rounded, price)
    revised, turned, dependent = dag, dict[Arc, float](), noise_depends(gains, found.best)
    # Where the noise depends on many causes the model is wrong, and no turns mend that.
    wrong = len(dependent) > _MANY and in_doubt(dependent, found.best)
    if not wrong and _speaks(gains, found.best):
        revised, turned = reviser.revise(found.best)
    if turned:
        other = _best_of_class(gains, revised, class_of, masks, no_shape)
        shaped = _claimed(gains, other, no_shape, turned)
        if not shaped.misfit:
            return shaped
    return _claimed(gains, found, no_shape, {})


def _speaks(gains: LocalGains, graph: BoolArray) -> bool:
    """Whether some noise of a graph has a shape; without one, columns are Gaussian all together."""
    families = [family_in(graph, node) for node in range(len(graph))]
    gains.prepare(families)
    found = np.array([gains.total(one) for one in families])
    return bool(found.max(initial=0.0) >= _ONE or found.sum() >= _EACH * len(found))


def _best_of_class(
    gains: LocalGains, dag: BoolArray, class_of: ClassOf, masks: EdgeMasks, no_shape: BoolArray
) -> _Class:
    cpdag, known = class_of(dag)
    permitted, parts = known & masks.allowed, components(cpdag)
    gains.prepare(family for one in parts for family in one.in_trees(one.inside(dag)))
    judged = [
        _judge(one, gains, one.inside(dag), one.inside(permitted), masks.max_parents, no_shape)
        for one in parts
    ]
    best = dag.copy()
    for one in judged:
        _put(best, one.component, one.best)
    return _Class(dag, known, judged, best)


def _claimed(
    gains: LocalGains, of: _Class, no_shape: BoolArray, turned: dict[Arc, float]
) -> Shaped:
    """Claim what is clear, and keep the member that was given where nothing speaks against it."""
    dependent = noise_depends(gains, of.best)
    misfit = in_doubt(dependent, of.best)
    barred = {(i, j) for i, j in np.argwhere(of.best).tolist() if no_shape[i] or no_shape[j]}
    member, claimed, margins = of.dag.copy(), set[Arc](), {}
    for one in of.judged:
        claims = set() if misfit else one.claims(barred | dependent)
        worth = one.gained >= WORTH_TURNING and not misfit
        if worth or claims & one.turned_edges():
            _put(member, one.component, one.best)
        claimed |= claims
        for (i, j), found in one.preferences.items():
            arc, sign = ((i, j), 1.0) if member[i, j] else ((j, i), -1.0)
            margins[arc] = sign * found.margin + 0.0  # no minus zero
    return Shaped(member, of.known, frozenset(claimed), margins, turned, misfit)


def _put(graph: BoolArray, component: Component, member: Member) -> None:
    """Point the edges of a component as a member has them."""
    graph[np.ix_(component.nodes, component.nodes)] = False
    for arc in component.arcs(member):
        graph[arc] = True


def _judge(
    component: Component,
    gains: LocalGains,
    start: Member,
    permitted: Member,
    max_parents: int | None,
    no_shape: BoolArray,
) -> _Judged:
    """Find the best member, and for its edges how clearly it beats those that turn them.

    Columns without a shape of noise must not decide. So members are compared that have the edges at
    these columns the same way, and an edge is clear where it is so for all ways of these edges that
    leave it open. The best member is chosen where most members are.

    An edge that no member turns has nothing to be compared with, and gets no preference.
    """
    found = visited(component, start, gains)
    most = len(start) if max_parents is None else max_parents - len(component.outside)
    groups: dict[frozenset[Arc], list[Member]] = {}
    for one in sorted(found, key=lambda one: (-found[one], one)):
        if one == start or _is_permitted(one, permitted, most):
            groups.setdefault(_arcs_at(component, one, no_shape), []).append(one)
    first = max(groups.values(), key=lambda group: (len(group), start in group))
    preferences = _preferences(component, gains, first)
    for group in groups.values():
        if group is not first:
            other = _preferences(component, gains, group)
            preferences = {arc: _weaker(arc, one, other) for arc, one in preferences.items()}
    return _Judged(component, start, first[0], found[first[0]] - found[start], preferences)


def _arcs_at(component: Component, member: Member, nodes: BoolArray) -> frozenset[Arc]:
    """Return the edges of a member at some nodes."""
    if not nodes[list(component.nodes)].any():
        return frozenset()
    return frozenset((i, j) for i, j in component.arcs(member) if nodes[i] or nodes[j])


def _preferences(
    component: Component, gains: LocalGains, members: list[Member]
) -> dict[Arc, Preference]:
    """Compare the best of some members, which comes first, with the best that turns each edge."""
    best, *others = members
    left, preferences = component.arcs(best), {}
    for other in others:
        turned = left & component.arcs(best, without=other)
        if turned:
            preferences.update(dict.fromkeys(turned, compare(component, gains, best, other)))
            left -= turned
        if not left:
            break
    return preferences


def _weaker(arc: Arc, one: Preference, other: dict[Arc, Preference]) -> Preference:
    """Return the weaker of two preferences for an edge; none where they contradict each other."""
    if arc[::-1] in other:
        return Preference(0.0, 0.0)
    return min(one, other.get(arc, one), key=lambda one: one.margin)


def _is_permitted(member: Member, permitted: Member, most: int) -> bool:
    return all(
        not bits & ~may and bits.bit_count() <= most
        for bits, may in zip(member, permitted, strict=True)
    )
