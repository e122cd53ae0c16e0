"""Terms: the normal form in which members of the class F are written.

A *term* is a positive number times a product of powers of *atoms*; the atoms are exp(x/s),
-log(1 - x/s) and (1 - x/s)^-1. Sums of terms are closed under sum, product and
differentiation. To add an atom, subclass ``Atom``: it answers for itself, nothing else changes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import groupby
from numbers import Real
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from analyticdag._parameters import as_float, shown
from analyticdag._typing import Array, FloatArray
from analyticdag.errors import ParameterError

_FAR = 1000  # index at which the growth of the coefficients gives the pole to within 1/100


Factors: TypeAlias = "tuple[tuple[Atom, int], ...]"


class Pieces(Protocol):
    """What an atom may ask for when it is evaluated at a matrix A (see matrix_functions)."""

    def resolvent(self, s: float) -> Array:
        """(I - A/s)^-1 - I."""

    def expm1(self, s: float) -> Array:
        """exp(A/s) - I."""

    def log(self, s: float) -> Array:
        """-log(I - A/s)."""

    def log_det(self, s: float) -> Array:
        """-log det(I - A/s)."""

    def trace_of(self, atom: Atom) -> Array:
        """Trace of the atom's remainder."""


@dataclass(frozen=True, order=True)
class Atom(ABC):
    """One generator of the algebra, at scale s: a function of x/s."""

    s: float

    name = "Atom"
    constant = 1.0  # the coefficient c0
    valuation = 0  # all coefficients from this index on are positive, those before are zero

    def __post_init__(self) -> None:
        # Here, since scaling and products make new atoms too.
        object.__setattr__(self, "s", _positive(self.s))

    @property
    @abstractmethod
    def radius(self) -> float:
        """Radius of convergence."""

    @abstractmethod
    def series(self, power: int, count: int) -> FloatArray:
        """First ``count`` coefficients of atom(x) ** power."""

    @abstractmethod
    def value(self, x: Any) -> Any:
        """The atom at a number or an array of numbers."""

    @abstractmethod
    def derivative(self) -> Term:
        """d/dx of the atom, as a term."""

    @abstractmethod
    def remainder(self, pieces: Pieces) -> Array:
        """atom(A) - constant * I, formed without subtraction."""

    @abstractmethod
    def latex(self, power: int) -> str:
        """LaTeX of atom ** power."""

    @cached_property
    def pole(self) -> int:
        """Order of the pole at the radius; 0 where there is none, or something weaker.

        Read off the series: next to a pole of order p at 1, c_{i+1}/c_i is 1 + (p - 1)/i.
        """
        if math.isinf(self.radius):
            return 0
        unit = replace(self, s=1.0)
        c = unit.scaled(1.0 / unit.radius).series(1, _FAR + 2)
        return max(0, round(1.0 + _FAR * float(c[_FAR + 1] / c[_FAR] - 1.0)))

    def trace(self, pieces: Pieces) -> Array:
        """tr atom(A) - constant * d; for those who need not form the matrix for it."""
        return pieces.trace_of(self)

    def order(self, power: int) -> int | None:
        """k when atom ** power is the paper's order-k, else None."""
        return None

    def scaled(self, s: float) -> Self:
        """The atom at x/s."""
        return replace(self, s=self.s * s)

    @classmethod
    def merged(cls, factors: Factors) -> Factors:
        """The product of these powers of atoms of this class, in as few factors as possible."""
        return factors


class ExpAtom(Atom):
    """exp(x/s)."""

    name = "Exponential"

    @property
    def radius(self) -> float:
        return math.inf

    def series(self, power: int, count: int) -> FloatArray:
        steps = power / self.s / np.arange(1.0, count)
        return np.multiply.accumulate(np.concatenate((np.ones(1), steps)))

    def value(self, x: Any) -> Any:
        return np.exp(x / self.s)

    def derivative(self) -> Term:
        return Term(1.0 / self.s, ((self, 1),))

    def remainder(self, pieces: Pieces) -> Array:
        return pieces.expm1(self.s)

    @classmethod
    def merged(cls, factors: Factors) -> Factors:
        # exp(x/a) exp(x/b) = exp(x (1/a + 1/b))
        return ((cls(1.0 / sum(n / atom.s for atom, n in factors)), 1),)

    def latex(self, power: int) -> str:
        rate = _latex_ratio(power, self.s)
        return rf"e^{{{rate}}}"


class LogAtom(Atom):
    """-log(1 - x/s); its constant is zero, so products with itself lose the linear term."""

    name = "Logarithm"
    constant = 0.0
    valuation = 1

    @property
    def radius(self) -> float:
        return self.s

    def series(self, power: int, count: int) -> FloatArray:
        index = np.arange(1.0, count)
        once = np.concatenate(([0.0], self.s**-index / index))
        return reduce(lambda a, b: np.convolve(a, b)[:count], [once] * power)

    def value(self, x: Any) -> Any:
        return -np.log1p(-x / self.s)

    def derivative(self) -> Term:
        return Term(1.0 / self.s, ((InvAtom(self.s), 1),))

    def remainder(self, pieces: Pieces) -> Array:
        return pieces.log(self.s)

    def trace(self, pieces: Pieces) -> Array:
        return pieces.log_det(self.s)

    def order(self, power: int) -> int | None:
        return 1 if power == 1 else None

    def latex(self, power: int) -> str:
        # log(1/(1 - x)) rather than -log(1 - x): no sign to bracket inside a product.
        body = rf"\log\frac{{1}}{{1 - {_latex_ratio(1, self.s)}}}"
        return body if power == 1 else rf"\left({body}\right)^{{{power}}}"


class InvAtom(Atom):
    """(1 - x/s)^-1."""

    name = "Inverse"

    @property
    def radius(self) -> float:
        return self.s

    def series(self, power: int, count: int) -> FloatArray:
        index = np.arange(1.0, count)
        return np.multiply.accumulate(
            np.concatenate((np.ones(1), (power + index - 1) / index / self.s))
        )

    def value(self, x: Any) -> Any:
        return 1.0 / (1.0 - x / self.s)

    def derivative(self) -> Term:
        return Term(1.0 / self.s, ((self, 2),))

    def remainder(self, pieces: Pieces) -> Array:
        return pieces.resolvent(self.s)

    def order(self, power: int) -> int | None:
        return power + 1

    def latex(self, power: int) -> str:
        return rf"\left(1 - {_latex_ratio(1, self.s)}\right)^{{-{power}}}"


@dataclass(frozen=True)
class Term:
    """coefficient * product of atom ** power; without atoms it is a constant."""

    coefficient: float
    factors: Factors = ()

    @property
    def valuation(self) -> float:
        """Index from which every coefficient is positive (infinite for a constant)."""
        if not self.factors:
            return math.inf
        return sum(power * atom.valuation for atom, power in self.factors)

    @property
    def constant(self) -> float:
        """The coefficient of x^0."""
        return self.coefficient * math.prod(a.constant**n for a, n in self.factors)

    def pole(self, radius: float) -> int:
        """Order of the pole at ``radius``."""
        return sum(n * atom.pole for atom, n in self.factors if atom.radius == radius)

    def scaled(self, s: float) -> Term:
        """The term at x/s."""
        return Term(self.coefficient, tuple((atom.scaled(s), n) for atom, n in self.factors))

    def series(self, count: int) -> FloatArray:
        """First ``count`` power-series coefficients."""
        total = np.zeros(count)
        total[0] = self.coefficient
        for atom, power in self.factors:
            total = np.convolve(total, atom.series(power, count))[:count]
        return total

    def value(self, x: Any) -> Any:
        """The term at x."""
        return reduce(lambda y, f: y * f[0].value(x) ** f[1], self.factors, self.coefficient)

    def times(self, other: Term) -> Term:
        """Product of two terms: powers of equal atoms add."""
        powers = Counter(dict(self.factors))
        powers.update(dict(other.factors))
        return Term(self.coefficient * other.coefficient, _sorted_factors(powers))

    def derivative(self) -> Iterable[Term]:
        """The terms of d/dx, by the product rule."""
        for atom, power in self.factors:
            rest = Counter(dict(self.factors))
            rest[atom] -= 1
            outer = Term(self.coefficient * power, _sorted_factors(rest))
            yield outer.times(atom.derivative())

    def __repr__(self) -> str:
        parts = [f"{a.name}({a.s!r})" + (f"**{n}" if n > 1 else "") for a, n in self.factors]
        if self.coefficient != 1.0 or not parts:
            parts.insert(0, repr(self.coefficient))
        return "*".join(parts)

    def latex(self) -> str:
        """LaTeX of the term."""
        body = r" \cdot ".join(a.latex(n) for a, n in self.factors)
        return body if self.coefficient == 1.0 else rf"{self.coefficient:g}\,{body}"


def collected(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Add up terms with equal factors, in an order that depends on the terms alone."""
    total: dict[Factors, float] = {}
    for term in terms:
        total[term.factors] = total.get(term.factors, 0.0) + term.coefficient
    ordered = sorted(total, key=lambda factors: [(a.name, a.s, n) for a, n in factors])
    return tuple(Term(total[factors], factors) for factors in ordered)


def _sorted_factors(powers: Counter[Atom]) -> Factors:
    """Factors in a fixed order; each kind of atom merges what it can."""
    kept = [(atom, n) for atom, n in powers.items() if n > 0]
    kept.sort(key=lambda factor: (factor[0].name, factor[0].s))
    kinds = [tuple(group) for _, group in groupby(kept, key=lambda factor: type(factor[0]))]
    return tuple(factor for group in kinds for factor in type(group[0][0]).merged(group))


def _positive(s: object) -> float:
    is_number = isinstance(s, Real) and not isinstance(s, bool)
    number = as_float(s) if is_number else math.nan
    if not (number > 0 and math.isfinite(number)):
        raise ParameterError(f"s must be a finite number above 0, got {shown(s)}")
    return number


def _latex_ratio(power: int, s: float) -> str:
    top = "x" if power == 1 else f"{power}x"
    return top if s == 1.0 else f"{top}/{s:g}"
