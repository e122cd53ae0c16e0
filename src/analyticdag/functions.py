"""The class F: analytic functions whose power series gives an acyclicity constraint.

f(x) = c0 + sum_i c_i x^i belongs to F when c_i > 0 for every i >= 1 and the series converges
on some interval (-r, r). For a non-negative matrix A with spectral radius below r,
tr f(A) = c0 d holds exactly when A is the adjacency matrix of a DAG.

Every member is kept as a sum of terms (see ``_terms``), a form closed under sum, product and
differentiation, so equality is equality of functions: ``Inverse(1.0) ** 2 ==
Inverse(1.0).derivative()``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np

from analyticdag._parameters import shown
from analyticdag._terms import Atom, ExpAtom, InvAtom, LogAtom, Term, collected
from analyticdag._typing import FloatArray
from analyticdag.errors import NotInClassError, OutsideDomainError, ParameterError

__all__ = [
    "AnalyticFunction",
    "Exponential",
    "Inverse",
    "Logarithm",
    "Truncated",
    "as_function",
    "named",
]


_HIGHEST_POWER = 10**15  # whole numbers that a float still holds
_MOST_TERMS = 300  # beyond, seconds for each operation


class AnalyticFunction:
    """A member of F. Immutable; combine with ``+``, ``*``, ``**`` and ``derivative``."""

    __slots__ = ("terms",)
    terms: tuple[Term, ...]

    def __init__(self, terms: Iterable[Term]) -> None:
        object.__setattr__(self, "terms", collected(terms))
        _check_in_class(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; build a new function instead")

    def __reduce__(self) -> tuple[Any, ...]:
        return AnalyticFunction, (self.terms,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnalyticFunction) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    @property
    def radius(self) -> float:
        """Radius of convergence, ``math.inf`` for the exponential."""
        return min(atom.radius for atom in self.atoms)

    @property
    def scale(self) -> float:
        """The s of the family f(x/s): the radius, or the smallest s where that is infinite."""
        return self.radius if math.isfinite(self.radius) else min(a.s for a in self.atoms)

    @property
    def order(self) -> int | None:
        """k when this is the paper's order-k at some scale (up to a factor), else None."""
        if len(self.terms) != 1 or len(self.terms[0].factors) != 1:
            return None
        atom, power = self.terms[0].factors[0]
        return atom.order(power)

    @property
    def pole_order(self) -> int:
        """1 + the strongest pole at the radius: k for order-k, 1 where there is only a log."""
        return 1 + max(term.pole(self.radius) for term in self.terms)

    @property
    def atoms(self) -> frozenset[Atom]:
        """The distinct atoms the function is made of."""
        return frozenset(atom for term in self.terms for atom, _ in term.factors)

    @property
    def constant(self) -> float:
        """c0, the value of tr f(A)/d on every DAG."""
        return sum(term.constant for term in self.terms)

    def coefficients(self, count: int) -> FloatArray:
        """The first ``count`` coefficients c_0, c_1, … as an array."""
        _check_whole(count, "number of coefficients", least=0)
        length = max(count, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            found = sum((term.series(length) for term in self.terms), np.zeros(length))
        if not np.all(np.isfinite(found)):
            raise ParameterError(
                f"the first {count} coefficients of {self!r} are too large for numbers; "
                "ask for fewer, or use f.scaled(s) with a larger s"
            )
        return found[:count]

    def coefficient(self, i: int) -> float:
        """The coefficient of x^i."""
        _check_whole(i, "index of a coefficient", least=0)
        return float(self.coefficients(i + 1)[i])

    def __call__(self, x: Any) -> Any:
        """f at a number (or an array of numbers) with |x| below the radius."""
        try:
            x = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"f takes numbers, got {type(x).__name__}") from None
        largest = float(np.max(np.abs(x), initial=0.0))
        if math.isnan(largest):
            raise ParameterError("f was asked for at NaN")
        if largest >= self.radius:
            raise OutsideDomainError(largest, self.radius)
        value = sum(term.value(x) for term in self.terms)
        return float(value) if np.ndim(value) == 0 else value

    def derivative(self, n: int = 1) -> AnalyticFunction:
        """The n-th derivative, again a member of F."""
        _check_whole(n, "derivative order", least=0)
        f = self
        for _ in range(n):
            f = AnalyticFunction(new for term in f.terms for new in term.derivative())
        return f

    def scaled(self, s: float) -> AnalyticFunction:
        """x -> f(x/s): the radius is multiplied by s."""
        return AnalyticFunction(term.scaled(s) for term in self.terms)

    def __add__(self, other: object) -> AnalyticFunction:
        if not isinstance(other, AnalyticFunction):
            return NotImplemented
        return AnalyticFunction(self.terms + other.terms)

    def __mul__(self, other: object) -> AnalyticFunction:
        if isinstance(other, AnalyticFunction):
            return AnalyticFunction(_products(self.terms, other.terms))
        if isinstance(other, int | float | np.floating | np.integer):
            return self._times_number(float(other))
        return NotImplemented

    __rmul__ = __mul__

    def __pow__(self, n: int) -> AnalyticFunction:
        _check_whole(n, "power", least=0)
        if n == 0:
            raise NotInClassError("f ** 0 is constant: the coefficient of x^1 is 0; use n >= 1")
        _check_power(n, len(self.terms))
        if len(self.terms) == 1:
            return AnalyticFunction([_power(self.terms[0], int(n))])
        # One by one: squares would reach equal terms on several ways, apart by rounding.
        terms = reduce(_products, [self.terms] * int(n))
        return AnalyticFunction(terms)

    def _times_number(self, c: float) -> AnalyticFunction:
        if not (c > 0 and math.isfinite(c)):
            first = c * self.coefficient(1)
            raise NotInClassError(
                f"{c:g} * f leaves the class F: the coefficient of x^1 would be {first:g}; "
                "multiply by a finite number above 0"
            )
        return AnalyticFunction(Term(c * t.coefficient, t.factors) for t in self.terms)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))

    def latex(self) -> str:
        """The formula in LaTeX."""
        return " + ".join(term.latex() for term in self.terms)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


class Exponential(AnalyticFunction):
    """exp(x/s): NOTEARS' function, convergent everywhere."""

    __slots__ = ()

    def __init__(self, s: float = 1.0) -> None:
        super().__init__([Term(1.0, ((ExpAtom(s), 1),))])


class Logarithm(AnalyticFunction):
    """-log(1 - x/s): order-1; tr f(A) = -log det(I - A/s), DAGMA's function."""

    __slots__ = ()

    def __init__(self, s: float = 1.0) -> None:
        super().__init__([Term(1.0, ((LogAtom(s), 1),))])


class Inverse(AnalyticFunction):
    """(1 - x/s)^-1: order-2; its powers are the orders above."""

    __slots__ = ()

    def __init__(self, s: float = 1.0) -> None:
        super().__init__([Term(1.0, ((InvAtom(s), 1),))])


@dataclass(frozen=True)
class Truncated:
    """The polynomial of f up to a degree. Not in F: cycles longer than the degree are missed."""

    function: AnalyticFunction
    degree: int

    radius = math.inf
    order = None
    pole_order = 1  # no pole: as the exponential

    def __post_init__(self) -> None:
        if not isinstance(self.function, AnalyticFunction):
            raise ParameterError(
                f"what is cut must be a function such as Inverse(), got {self.function!r}"
            )
        _check_whole(self.degree, "degree", least=1)

    @property
    def scale(self) -> float:
        """The s of the function that was cut."""
        return self.function.scale

    @property
    def constant(self) -> float:
        """c0."""
        return self.function.constant

    def sees_every_cycle(self, n_nodes: int) -> bool:
        """Whether tr f(A) = c0 d proves a DAG on that many nodes (degree >= n_nodes)."""
        return self.degree >= n_nodes

    def coefficients(self, count: int) -> FloatArray:
        """The first ``count`` coefficients, zero past the degree."""
        _check_whole(count, "number of coefficients", least=0)
        kept = self.function.coefficients(min(count, self.degree + 1))
        return np.concatenate((kept, np.zeros(count - len(kept))))

    def coefficient(self, i: int) -> float:
        """The coefficient of x^i."""
        _check_whole(i, "index of a coefficient", least=0)
        return self.function.coefficient(i) if i <= self.degree else 0.0

    def __call__(self, x: Any) -> Any:
        """The polynomial at a number, or at an array of numbers."""
        try:
            x = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"f takes numbers, got {type(x).__name__}") from None
        value = np.polynomial.polynomial.polyval(x, self.coefficients(self.degree + 1))
        return float(value) if np.ndim(value) == 0 else value

    def scaled(self, s: float) -> Self:
        """x -> f(x/s)."""
        return type(self)(self.function.scaled(s), self.degree)

    def latex(self) -> str:
        """The formula in LaTeX."""
        return rf"\left[{self.function.latex()}\right]_{{\deg \le {self.degree}}}"


def named(name: str, s: float = 1.0) -> AnalyticFunction:
    """The paper's constraints by name: "exponential", "order-1", "order-2", … any order."""
    if name == "exponential":
        return Exponential(s)
    match = re.fullmatch(r"order-([1-9][0-9]{0,8})", str(name))
    if match is None:
        raise ParameterError(
            f"constraint {shown(name)} is not known; use 'exponential', 'order-1', 'order-2', … "
            "(any whole number below a thousand million), or a function built from "
            "analyticdag.functions"
        )
    order = int(match[1])
    return Logarithm(s) if order == 1 else Inverse(s) ** (order - 1)


def as_function(constraint: str | AnalyticFunction | Truncated) -> AnalyticFunction | Truncated:
    """A function from a name, or the function itself."""
    if isinstance(constraint, str):
        return named(constraint)
    if isinstance(constraint, AnalyticFunction | Truncated):
        return constraint
    raise ParameterError(
        f"a constraint is a name such as 'order-2' or a function of analyticdag.functions, "
        f"not {type(constraint).__name__}"
    )


def _products(left: tuple[Term, ...], right: tuple[Term, ...]) -> tuple[Term, ...]:
    return collected(a.times(b) for a in left for b in right)


def _power(term: Term, n: int) -> Term:
    """By squaring; only the final power has to be in F."""
    if n == 1:
        return term
    half = _power(term, n // 2)
    square = half.times(half)
    return square.times(term) if n % 2 else square


def _check_power(n: int, n_terms: int) -> None:
    if n > _HIGHEST_POWER:
        raise ParameterError(f"the power must be at most {_HIGHEST_POWER:g}, got {shown(n)}")
    # A sum to a power has a term for every way of sharing the power out.
    if n_terms > 1 and (n > _MOST_TERMS or math.comb(n + n_terms - 1, n) > _MOST_TERMS):
        raise ParameterError(
            f"the power {n} of a sum of {n_terms} functions has more than {_MOST_TERMS} terms; "
            "use a lower one"
        )


def _check_in_class(f: AnalyticFunction) -> None:
    # A term with k logarithms starts at x^k; some term must reach down to x^1.
    first_positive = min((term.valuation for term in f.terms), default=math.inf)
    if first_positive > 1:
        gap = "x^1" if first_positive == 2 else f"x^1 … x^{first_positive - 1:g}"
        raise NotInClassError(
            f"{f!r} leaves the class F: the coefficient of {gap} is 0, so short cycles are "
            "missed; multiply by a function with a constant term, such as Inverse or Exponential"
        )
    if not all(0 < term.coefficient < math.inf for term in f.terms):
        raise NotInClassError(
            f"a coefficient of {f!r} is not finite or vanishes; use a milder s or factor"
        )


def _check_whole(n: object, what: str, least: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < least:
        raise ParameterError(f"the {what} must be a whole number >= {least}, got {n!r}")
