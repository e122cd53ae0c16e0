from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from registry import FUNCTIONS

from analyticdag.errors import NotInClassError, OutsideDomainError, ParameterError
from analyticdag.functions import (
    AnalyticFunction,
    Exponential,
    Inverse,
    Logarithm,
    Truncated,
    as_function,
    named,
)

every_function = pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS.keys())


@every_function
def test_coefficients_after_the_constant_are_positive(f: AnalyticFunction) -> None:
    assert (f.coefficients(40)[1:] > 0).all()
    assert f.coefficient(7) == f.coefficients(40)[7]


@every_function
@pytest.mark.parametrize("share", [-0.5, 0.0, 0.3, 0.6])
def test_series_sums_to_the_function(f: AnalyticFunction, share: float) -> None:
    x = share * min(f.radius, 1.0)
    series = np.polynomial.polynomial.polyval(x, f.coefficients(200))
    assert f(x) == pytest.approx(series, rel=1e-12, abs=1e-14)


@every_function
def test_derivative_differentiates_the_series(f: AnalyticFunction) -> None:
    c = f.coefficients(13)
    np.testing.assert_allclose(f.derivative().coefficients(12), c[1:] * np.arange(1, 13))
    assert f.derivative(0) == f
    assert f.derivative(2) == f.derivative().derivative()
    assert f.derivative().radius == f.radius


@every_function
def test_scaling_multiplies_the_radius(f: AnalyticFunction) -> None:
    g = f.scaled(0.5)
    assert g.radius == 0.5 * f.radius
    assert g(0.1) == pytest.approx(f(0.2))


@every_function
def test_functions_are_values(f: AnalyticFunction) -> None:
    assert pickle.loads(pickle.dumps(f)) == f == copy.deepcopy(f)
    assert hash(copy.deepcopy(f)) == hash(f)
    assert f.latex()
    assert f._repr_latex_() == f"${f.latex()}$"
    with pytest.raises(AttributeError, match="immutable"):
        f.terms = ()


@pytest.mark.parametrize("g", [Exponential(0.7), Inverse(1.2), Logarithm(0.9) + Exponential()])
@every_function
def test_sum_and_product_of_series(f: AnalyticFunction, g: AnalyticFunction) -> None:
    a, b = f.coefficients(20), g.coefficients(20)
    np.testing.assert_allclose((f + g).coefficients(20), a + b)
    if f.constant > 0 or g.constant > 0:
        np.testing.assert_allclose((f * g).coefficients(20), np.convolve(a, b)[:20])
        assert (f * g).radius == min(f.radius, g.radius)


def test_the_algebra_knows_when_two_functions_are_one() -> None:
    assert Inverse() ** 2 == Inverse().derivative()
    assert Logarithm(0.5).derivative() == 2.0 * Inverse(0.5)
    assert Logarithm().derivative(4) == 6.0 * named("order-5")
    assert Inverse() + Exponential() == Exponential() + Inverse()
    assert Exponential(1.0) ** 2 == Exponential(1.0) * Exponential(1.0) == Exponential(0.5)
    assert Inverse(2.0) == Inverse().scaled(2)
    assert Inverse() != Inverse(2.0)
    assert Inverse() != "Inverse(1.0)"


@pytest.mark.parametrize("f", [f for f in FUNCTIONS.values() if "Logarithm(1.0)**2" not in repr(f)])
def test_repr_is_python(f: AnalyticFunction) -> None:
    assert eval(repr(f), {**globals()}) == f


def test_readable_forms() -> None:
    assert repr(2 * Inverse(1) ** 2 + Exponential()) == "Exponential(1.0) + 2.0*Inverse(1.0)**2"
    assert Exponential().latex() == "e^{x}"
    assert (2 * Logarithm(0.5)).latex() == r"2\,\log\frac{1}{1 - x/0.5}"
    assert named("order-4").latex() == r"\left(1 - x\right)^{-3}"


def test_known_values() -> None:
    f = Inverse() ** 2 + Exponential()
    assert f.coefficient(5) == pytest.approx(6 + 1 / 120)
    assert f(0.3) == pytest.approx(0.7**-2 + math.exp(0.3))
    assert isinstance(f(0.3), float)
    np.testing.assert_allclose(Inverse()(np.array([0.0, 0.5])), [1, 2])
    np.testing.assert_allclose(Inverse()([0.0, 0.5]), [1, 2])
    assert Exponential().radius == math.inf
    assert (Inverse(0.5) * Exponential()).radius == 0.5


@pytest.mark.parametrize(("k", "n"), [(2, 1), (3, 2), (6, 5)])
def test_order_k_has_the_coefficients_of_the_binomial_series(k: int, n: int) -> None:
    expected = [math.comb(n + i - 1, i) / 0.8**i for i in range(10)]
    np.testing.assert_allclose(named(f"order-{k}", s=0.8).coefficients(10), expected)


def test_order_and_scale_are_recognised() -> None:
    assert [named(f"order-{k}", 0.6).order for k in (1, 2, 5)] == [1, 2, 5]
    assert named("order-3", 0.6).scale == 0.6
    assert (2 * Inverse()).order == 2
    assert Exponential(0.3).order is None
    assert Exponential(0.3).scale == 0.3
    assert (Logarithm() * Inverse()).order is None
    assert (Inverse(2.0) ** 3 + Inverse(1.0)).pole_order == 2


@pytest.mark.parametrize(
    "leave", [lambda: Logarithm() * Logarithm(2.0), lambda: Logarithm() ** 2], ids=["*", "**"]
)
def test_two_logarithms_leave_the_class(leave: object) -> None:
    with pytest.raises(NotInClassError, match=r"coefficient of x\^1 is 0"):
        leave()


def test_three_logarithms_name_both_missing_coefficients() -> None:
    with pytest.raises(NotInClassError, match=r"x\^1 … x\^2"):
        Logarithm() ** 3


@pytest.mark.parametrize("c", [0, -1.5, math.inf, math.nan])
def test_only_positive_multiples_stay(c: float) -> None:
    with pytest.raises(NotInClassError, match=r"coefficient of x\^1"):
        c * Inverse()


def test_other_refusals() -> None:
    with pytest.raises(NotInClassError, match="constant"):
        Inverse() ** 0
    with pytest.raises(ParameterError, match="whole number"):
        Inverse() ** 1.5
    with pytest.raises(ParameterError, match="derivative order"):
        Inverse().derivative(-1)
    with pytest.raises(ParameterError, match="index of a coefficient"):
        Inverse().coefficient(-1)
    with pytest.raises(ParameterError, match="takes numbers"):
        Inverse()("a")
    with pytest.raises(ParameterError, match="NaN"):
        Exponential()(math.nan)
    with pytest.raises(NotInClassError, match="vanishes"):
        1e-320 * (1e-10 * Inverse())
    with pytest.raises(ParameterError, match="above 0"):
        Exponential(0)
    with pytest.raises(ParameterError, match="above 0"):
        Inverse("a")
    with pytest.raises(ParameterError, match="above 0"):
        Inverse().scaled(math.nan)
    with pytest.raises(NotInClassError, match="not finite"):
        1e308 * (1e308 * Inverse())
    with pytest.raises(OutsideDomainError, match="rho"):
        Inverse()(1.0)
    with pytest.raises(TypeError):
        Inverse() + 1
    with pytest.raises(TypeError):
        Inverse() * "x"


@pytest.mark.parametrize(
    "name", ["order-0", "order-1.5", "Order-2", "cubic", "order-", "order-1٣", 3]
)
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="not known; use 'exponential'"):
        named(name)


def test_as_function_takes_names_and_functions() -> None:
    assert as_function("order-2") == Inverse()
    assert as_function(Inverse()) == Inverse()
    with pytest.raises(ParameterError, match="not int"):
        as_function(2)


def test_truncated_is_the_polynomial_and_says_what_it_misses() -> None:
    f = Truncated(Inverse(0.5), 3)
    np.testing.assert_allclose(f.coefficients(6), [1, 2, 4, 8, 0, 0])
    assert f.coefficient(3) == 8
    assert f.coefficient(4) == 0
    assert f(0.1) == pytest.approx(1 + 0.2 + 0.04 + 0.008)
    assert f.radius == math.inf
    assert f.sees_every_cycle(3)
    assert not f.sees_every_cycle(4)
    assert f.scaled(2.0) == Truncated(Inverse(1.0), 3)
    assert r"\deg \le 3" in f.latex()
    with pytest.raises(ParameterError, match="degree"):
        Truncated(Inverse(), 0)


def test_scales_that_leave_the_numbers_are_refused_by_every_operation() -> None:
    for operation in (
        lambda: Inverse().scaled(1e-300).scaled(1e-300),
        lambda: Inverse().scaled(1e300).scaled(1e300),
        lambda: Exponential(1e-308) * Exponential(1e-308),
        lambda: Inverse(10**400),
    ):
        with pytest.raises(ParameterError, match="s must be a finite number above 0, got "):
            operation()
    assert Inverse(1e-310).pole_order == 2


@every_function
def test_no_coefficients(f: AnalyticFunction) -> None:
    assert f.coefficients(0).shape == (0,)
    assert Truncated(f, 2).coefficients(0).shape == (0,)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", [Logarithm(1e-200), Inverse(1e-200), Exponential(1e-200)], ids=repr)
def test_coefficients_too_large_for_numbers(f: AnalyticFunction) -> None:
    assert f.coefficient(1) == pytest.approx(1e200)
    with pytest.raises(ParameterError, match="too large for numbers; ask for fewer"):
        f.coefficients(5)


@pytest.mark.parametrize("i", ["a", 4.5, -1, True])
def test_the_index_of_a_coefficient_is_a_whole_number(i: object) -> None:
    for f in (Inverse(), Truncated(Inverse(), 3)):
        with pytest.raises(ParameterError, match="must be a whole number"):
            f.coefficient(i)
        with pytest.raises(ParameterError, match="must be a whole number"):
            f.coefficients(i)


def test_powers_take_no_longer_the_higher_they_are() -> None:
    assert Exponential() ** 10**10 == Exponential(1e-10)
    assert named("order-999999999") == Inverse() ** 999_999_998
    assert (2 * Inverse()) ** 13 == 8192 * Inverse() ** 13
    assert len(((Inverse() + Exponential()) ** 20).terms) == 21


def test_absurd_powers_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"at most 1e\+15, got 1000"):
        Inverse() ** 10**400
    with pytest.raises(ParameterError, match="more than 300 terms"):
        (Inverse() + Exponential()) ** 10**10
