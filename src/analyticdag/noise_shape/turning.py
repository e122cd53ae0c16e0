"""The members of one undirected component, from the best on.

The nodes of an undirected component of a CPDAG have the same parents outside it. Inside, a member
is an orientation without cycles and v-structures, and any two members are joined by turning one
covered edge after the other (Chickering 1995): an edge a -> b is covered where a is the only parent
of b that a does not have itself. Turning it changes the parents of a and b alone.

The search goes on from the best member that it has not gone on from yet. Small classes it visits
whole, and then it is exact; a tree of m nodes has only m members. In large ones it ends after
`MOST` members, and begins once more from every node as a root, so that each edge is seen both ways.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from analyticdag._typing import BoolArray
from analyticdag.graphs.cpdag import open_parts
from analyticdag.noise_shape.local import Family, LocalGains

MOST = 2000  # all orientations of six nodes that are all joined are 720
# Parents of every node, as bits: bit k stands for the k-th node of the component.
Member: TypeAlias = tuple[int, ...]
Arc: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Component:
    """Nodes that undirected edges join, and the parents that all of them have outside."""

    nodes: tuple[int, ...]
    outside: tuple[int, ...]

    def family(self, k: int, bits: int) -> Family:
        """Return the k-th node with its parents."""
        inside = (self.nodes[i] for i in _ones(bits))
        return self.nodes[k], tuple(sorted((*self.outside, *inside)))

    def families(self, member: Member) -> list[Family]:
        """Return every node with its parents."""
        return [self.family(k, bits) for k, bits in enumerate(member)]

    def arcs(self, member: Member, without: Member | None = None) -> set[Arc]:
        """Return the edges of a member by nodes of the graph, without those of another one."""
        less = (0,) * len(member) if without is None else without
        return {
            (self.nodes[i], self.nodes[k])
            for k, bits in enumerate(member)
            for i in _ones(bits & ~less[k])
        }

    def in_trees(self, start: Member) -> list[Family]:
        """Return the families that turning the edges of a tree needs: one parent inside or none."""
        pairs = [(k, i) for k, bits in enumerate(start) for i in _ones(bits)]
        one = [self.family(k, 1 << i) for k, i in (*pairs, *((i, k) for k, i in pairs))]
        return [*(self.family(k, 0) for k in range(len(start))), *one]

    def inside(self, graph: BoolArray) -> Member:
        """Return who points to whom in a graph, inside the component."""
        block = graph[np.ix_(self.nodes, self.nodes)]
        return tuple(sum(1 << int(i) for i in np.flatnonzero(one)) for one in block.T)


def components(cpdag: BoolArray) -> list[Component]:
    """Return the components of a class that undirected edges join."""
    directed, found = cpdag & ~cpdag.T, []
    for nodes in open_parts(cpdag):
        outside = np.flatnonzero(directed[:, nodes].any(axis=1))
        found.append(Component(tuple(nodes.tolist()), tuple(outside.tolist())))
    return found


@dataclass
class _Visits:
    """Members with their gains, and those to go on from, the best first."""

    component: Component
    gains: LocalGains
    seen: dict[Member, float] = field(default_factory=dict)
    ahead: list[tuple[float, Member]] = field(default_factory=list)

    def add(self, member: Member, gain: float) -> None:
        if member not in self.seen:
            self.seen[member] = gain
            heapq.heappush(self.ahead, (-gain, member))

    def add_whole(self, member: Member) -> None:
        families = self.component.families(member)
        self.gains.prepare(families)
        self.add(member, sum(map(self.gains.total, families)))

    def go_on(self, most: int) -> None:
        """Turn edges until nothing is left to visit, or `most` members were visited."""
        while self.ahead and len(self.seen) < most:
            gain, member = heapq.heappop(self.ahead)
            self._turn_from(member, -gain)

    def _turn_from(self, member: Member, gain: float) -> None:
        family, total = self.component.family, self.gains.total
        turned = [(a, b, _turned(member, a, b)) for a, b in _covered(member)]
        turned = [(a, b, new) for a, b, new in turned if new not in self.seen]
        self.gains.prepare(family(k, new[k]) for a, b, new in turned for k in (a, b))
        for a, b, new in turned:
            change = sum(total(family(k, new[k])) - total(family(k, member[k])) for k in (a, b))
            self.add(new, gain + change)


def visited(
    component: Component, start: Member, gains: LocalGains, most: int = MOST
) -> dict[Member, float]:
    """Return members of a component with the gains of their noise, all members if they are few."""
    visits = _Visits(component, gains)
    visits.add_whole(start)
    visits.go_on(most)
    if visits.ahead:
        for root in range(len(component.nodes)):
            visits.add_whole(_rooted(start, root))
        visits.go_on(len(visits.seen) + most)
    return visits.seen


def _covered(member: Member) -> Iterator[tuple[int, int]]:
    """Yield the covered edges a -> b."""
    for b, bits in enumerate(member):
        for a in _ones(bits):
            if member[a] == bits ^ (1 << a):
                yield a, b


def _turned(member: Member, a: int, b: int) -> Member:
    new = list(member)
    new[b] ^= 1 << a
    new[a] ^= 1 << b
    return tuple(new)


def _rooted(member: Member, root: int) -> Member:
    """Return the member of maximum cardinality search from a root: most visited neighbours first.

    Pointing every edge forward in that order makes no v-structure, as the component is chordal.
    """
    m = len(member)
    joined = list(member)
    for k, bits in enumerate(member):
        for i in _ones(bits):
            joined[i] |= 1 << k
    earlier, new = 0, [0] * m
    left, count = set(range(m)), [0] * m
    k = root
    while True:
        new[k] = joined[k] & earlier
        earlier |= 1 << k
        left.discard(k)
        if not left:
            return tuple(new)
        for i in _ones(joined[k]):
            count[i] += 1
        k = max(left, key=lambda i: (count[i], -i))


def _ones(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
