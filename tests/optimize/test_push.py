"""The fast gradient of the constraint: the same numbers as the careful one, or the careful one."""

from __future__ import annotations

from typing import Any

import array_api_strict as xp
import numpy as np
import pytest
from scipy.linalg import expm

from analyticdag.acyclicity import Acyclicity
from analyticdag.algorithm1 import OUTSIDE, SHORT_SERIES, Reset
from analyticdag.errors import DataError, OutsideDomainError
from analyticdag.functions import Exponential, Inverse, Truncated, named
from analyticdag.optimize.push import push_of

FUNCTIONS = {
    **{name: named(name) for name in ("order-1", "order-2", "order-3", "order-4", "order-7")},
    "exponential": named("exponential"),
    "order-2 scaled": named("order-2").scaled(0.7),
    "exponential scaled": named("exponential").scaled(0.6),
    "three times order-3": 3.0 * named("order-3"),
    "a sum": Inverse(1.0) + Exponential(2.0),
    "a tiny order-2": 1e-9 * named("order-2"),
    "a polynomial": Truncated(Inverse(1.0), 4),
}


def weights(size: float, d: int = 6) -> Any:
    """Dense cyclic weights with spectral radius of A = W∘W equal to `size`."""
    W = np.random.default_rng(3).normal(size=(d, d)) * (1.0 - np.eye(d))
    return W * np.sqrt(size / np.abs(np.linalg.eigvals(W * W)).max())


@pytest.mark.parametrize("reset", [SHORT_SERIES, OUTSIDE, None])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_inside_the_domain_it_is_the_gradient(name: str, reset: Reset | None) -> None:
    constraint = Acyclicity(FUNCTIONS[name])
    for W in (weights(0.5), np.triu(weights(0.5)), np.zeros((6, 6))):
        push = push_of(constraint, W, reset)
        np.testing.assert_allclose(push(W), constraint.gradient(W), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_outside_it_resets_as_algorithm_1_does(name: str) -> None:
    constraint, W = Acyclicity(FUNCTIONS[name]), weights(3.0)
    push = push_of(constraint, W, SHORT_SERIES)
    np.testing.assert_allclose(push(W), constraint.adaptive(W)[1], rtol=1e-6)


@pytest.mark.parametrize("name", ["order-1", "order-2", "a sum"])
def test_outside_without_reset_it_says_so(name: str) -> None:
    constraint, W = Acyclicity(FUNCTIONS[name]), weights(3.0)
    with pytest.raises(OutsideDomainError):
        push_of(constraint, W, None)(W)


def test_the_edge_of_the_domain_is_not_missed() -> None:
    constraint = Acyclicity(named("order-1"))
    inside, past = weights(0.999), weights(1.001)
    push = push_of(constraint, inside, None)
    np.testing.assert_allclose(push(inside), constraint.gradient(inside), rtol=1e-6)
    with pytest.raises(OutsideDomainError):
        push(past)


@pytest.mark.parametrize("kind", [np.asarray, xp.asarray])
@pytest.mark.parametrize("name", ["order-2", "order-4", "a sum", "a tiny order-2"])
def test_next_to_a_strong_pole_s_is_reset(name: str, kind: Any) -> None:
    constraint = Acyclicity(FUNCTIONS[name])
    near, clear = weights(0.97), weights(0.92)
    push = push_of(constraint, kind(near), SHORT_SERIES)
    reset = Acyclicity(constraint.function.scaled(0.97 + 0.1 * constraint.function.pole_order))
    np.testing.assert_allclose(np.asarray(push(kind(near))), reset.gradient(near), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(push(kind(clear))), constraint.gradient(clear), rtol=1e-6)


def test_the_more_nodes_the_closer_to_the_edge() -> None:
    constraint, W = Acyclicity(named("order-3")), weights(0.97, d=300)
    np.testing.assert_allclose(
        push_of(constraint, W, SHORT_SERIES)(W), constraint.gradient(W), rtol=1e-6
    )


def test_the_simple_pole_is_approached_as_in_dagma() -> None:
    constraint, W = Acyclicity(named("order-1")), weights(0.999)
    np.testing.assert_allclose(
        push_of(constraint, W, SHORT_SERIES)(W), constraint.gradient(W), rtol=1e-6
    )


def test_a_singular_matrix_is_outside() -> None:
    W = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(OutsideDomainError):
        push_of(Acyclicity(named("order-2")), W, None)(W)


def test_large_weights_do_not_lose_the_exponential() -> None:
    W = np.array([[0.0, 4.0], [3.0, 0.0]])
    constraint = Acyclicity(named("exponential"))
    push = push_of(constraint, W, SHORT_SERIES)
    np.testing.assert_allclose(push(W), constraint.gradient(W), rtol=1e-10)


def test_the_exponential_is_exact_where_the_norm_is_large_and_cycles_are_weak() -> None:
    rng = np.random.default_rng(4)
    W = np.triu(rng.normal(size=(40, 40)), 1) + 0.05 * rng.normal(size=(40, 40))
    assert (W * W).sum(axis=0).max() > 30.0
    push = push_of(Acyclicity(named("exponential")), W, SHORT_SERIES)
    np.testing.assert_allclose(push(W), 2 * W * expm(W * W).T, rtol=1e-10)


@pytest.mark.parametrize("name", ["order-1", "order-2", "order-7", "exponential"])
def test_what_it_returned_outlives_the_next_call(name: str) -> None:
    W = weights(0.5, d=80)
    push = push_of(Acyclicity(named(name)), W, SHORT_SERIES)
    first = push(W)
    before = first.copy()
    push(0.5 * W)
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(push(W), before)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["order-1", "order-3", "exponential"])
def test_weights_that_are_no_numbers_are_refused(name: str, bad: float) -> None:
    W = np.array([[0.0, bad], [0.0, 0.0]])
    with pytest.raises(DataError):
        push_of(Acyclicity(named(name)), W, SHORT_SERIES)(W)


@pytest.mark.parametrize("name", ["order-2", "exponential"])
def test_rows_need_not_be_consecutive(name: str) -> None:
    W = weights(0.5)
    push = push_of(Acyclicity(named(name)), W, SHORT_SERIES)
    np.testing.assert_array_equal(push(np.asfortranarray(W)), push(W))


def test_weights_are_not_changed() -> None:
    for name in ("order-2", "exponential"):
        W = weights(0.5)
        before = W.copy()
        push_of(Acyclicity(named(name)), W, SHORT_SERIES)(W)
        np.testing.assert_array_equal(W, before)


def test_a_second_look_is_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from the edge one evaluation does, and a simple pole never needs a second."""
    seen = []
    evaluate = Acyclicity.value_and_gradient
    monkeypatch.setattr(
        Acyclicity, "value_and_gradient", lambda self, W: seen.append(1) or evaluate(self, W)
    )
    for name, W in (("order-2", weights(1e-4)), ("order-1", weights(0.9))):
        seen.clear()
        push_of(Acyclicity(named(name)), xp.asarray(W), SHORT_SERIES)(xp.asarray(W))
        assert len(seen) == 1


def test_records_show_the_s_that_was_used() -> None:
    constraint, W = Acyclicity(named("order-2")), weights(0.97)
    h, gradient, s = constraint.adaptive(W, SHORT_SERIES)
    assert s == pytest.approx(0.97 + 0.2)
    np.testing.assert_allclose(gradient, push_of(constraint, W, SHORT_SERIES)(W), rtol=1e-6)
    assert h == pytest.approx(Acyclicity(constraint.function.scaled(s)).value(W))


@pytest.mark.parametrize("name", ["order-2", "exponential"])
def test_a_matrix_that_cannot_be_written(name: str) -> None:
    W = weights(0.5)
    push = push_of(Acyclicity(named(name)), W, None)
    expected = push(W)
    W.flags.writeable = False
    np.testing.assert_array_equal(push(W), expected)
