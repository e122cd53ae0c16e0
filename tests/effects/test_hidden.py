"""Pairs that look as if they had a common cause that was not measured."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag._tables import NamedColumns
from analyticdag.cli.answer import answer
from analyticdag.effects import Known, effects, total_effect
from analyticdag.effects.hidden import _log_left, _log_left_together, lead
from analyticdag.io import edges_csv, record_of
from analyticdag.moments import Moments

NAMES = ("rain", "wet", "mud", "dog")  # rain wets, a dog brings mud; wet and mud belong together


def table(n: int, seed: int, *, hidden: bool) -> NamedColumns:
    """With `hidden` a spring that nobody measured makes both wet and mud; else wet makes mud."""
    rng = np.random.default_rng(seed)
    rain, dog, spring, e, f = rng.normal(size=(5, n))
    wet = rain + e + hidden * spring
    mud = dog + f + (spring if hidden else wet)
    return NamedColumns(np.column_stack([rain, wet, mud, dog]), NAMES)


def model(*, hidden: bool, seed: int = 1) -> AnalyticDAG:
    return AnalyticDAG(loss="likelihood-nv").fit(table(2000, seed, hidden=hidden))


def test_a_hidden_cause_is_named_on_the_edge_and_on_effects_across_it() -> None:
    fitted = model(hidden=True)
    assert {frozenset(pair) for pair in Known.of(fitted).hidden_pairs} == {frozenset((1, 2))}
    effect = total_effect(fitted, "wet", "mud")
    if effect.possible == (0.0,):  # the arrow may point either way
        effect = total_effect(fitted, "mud", "wet")
    assert {frozenset(pair) for pair in effect.hidden} == {frozenset(("wet", "mud"))}
    assert "may be due to a common cause that was not measured" in str(effect)
    moved = effects(fitted, on=str(effect.outcome))
    assert any(row.hidden for row in moved if row.cause == effect.cause)
    run = record_of(fitted)
    assert [edge.hidden_cause for edge in run.edges].count(True) == 1
    named = [text for text in answer(run) if "not measured)" in text]
    assert len(named) == 1
    assert "wet" in named[0]
    assert "mud" in named[0]
    rows = csv.DictReader(io.StringIO(edges_csv(run)))
    assert [row["hidden_cause"] for row in rows].count("true") == 1


@pytest.mark.parametrize("seed", range(3))
def test_an_edge_is_no_hidden_cause(seed: int) -> None:
    fitted = model(hidden=False, seed=seed)
    assert Known.of(fitted).hidden_pairs == []
    assert total_effect(fitted, "wet", "mud").hidden == ()


def test_equivalent_explanations_are_a_tie() -> None:
    """Where parents do not tell the two apart, neither leads."""
    rng = np.random.default_rng(0)
    S = np.cov(rng.normal(size=(3, 3)) @ rng.normal(size=(3, 50)))
    moments = Moments.shared(S, 50)
    complete = ~np.eye(3, dtype=bool)
    assert lead(complete, moments, 0, 1) == pytest.approx(0.0, abs=1e-6)


def test_correlated_noise_never_fits_worse_than_uncorrelated() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        S = np.cov(rng.normal(size=(6, 6)) @ rng.normal(size=(6, 40)))
        apart = _log_left(S, 0, [2, 3]) + _log_left(S, 1, [3, 4, 5])
        together = _log_left_together(S, 0, 1, [2, 3], [3, 4, 5])
        everything = [2, 3, 4, 5]
        best = _log_left(S, 0, everything) + _log_left(S, 1, [*everything, 0])
        assert best - 1e-6 <= together <= apart + 1e-9
