"""Ctrl-C: the caller's loop ends, and the estimator holds the best graph so far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import NotConvergedWarning
from analyticdag.linear import learn, readings
from analyticdag.linear.refine import refine
from analyticdag.optimize.trace import Status
from analyticdag.search import Interrupted, engine, search_orders
from analyticdag.simulate import simulate

pandas = pytest.importorskip("pandas")
X = simulate("UD1.5", n_nodes=20, n_samples=300, effects=(0.05, 2.0), seed=[33, 0]).data


def interrupt_after(monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    """Let so many rounds of the iterated search end, and interrupt the next."""
    search_on, left = engine.Work._search_on, [rounds]

    def interrupted(self: engine.Work, *arguments: object) -> list[engine.Run]:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return search_on(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.Work, "_search_on", interrupted)
    monkeypatch.setattr(engine, "RETURNS", 10**6)  # so that there is a next


@pytest.mark.parametrize("rounds", [0, 1])
def test_an_estimator_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    interrupt_after(monkeypatch, rounds)
    model = AnalyticDAG(loss="likelihood-nv", n_jobs=1)
    with (
        pytest.warns(NotConvergedWarning, match="best graph so far"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(X)
    assert model.status_ is Status.INTERRUPTED
    assert model.edges_
    assert not model.trace_.plan or model.trace_.search[0].interrupted


def test_the_best_so_far_is_the_best_of_the_rounds_that_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    S = (X - X.mean(axis=0)).T @ X / len(X)
    whole = search_orders(S, len(X), random_state=0)
    interrupt_after(monkeypatch, 0)
    with pytest.raises(Interrupted) as stopped:
        search_orders(S, len(X), random_state=0)
    part = stopped.value.best
    assert part.interrupted
    assert not whole.interrupted
    assert part.score >= whole.score
    assert part.score == pytest.approx(min(run.local for run in part.contributions), rel=1e-9)


def discrete(kind: str) -> Any:
    """A table whose last column is of a kind, and follows the first."""
    rng = np.random.default_rng(2)
    last = np.digitize(X[:, 0] + rng.normal(size=len(X)), [-1.0, 0.0, 1.0])
    words = {"category": np.array(list("nsew"))[last], "yes/no": last > 1}
    table: Any = pandas.DataFrame(X[:, :6], columns=list("abcdef")).assign(g=words[kind])
    return table


def test_blocks_keep_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 0)
    model = AnalyticDAG()
    with pytest.warns(NotConvergedWarning), pytest.raises(KeyboardInterrupt):
        model.fit(discrete("category"))
    assert model.status_ is Status.INTERRUPTED
    assert model.edges_


def test_an_interrupt_begins_no_further_search_of_discrete_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    interrupt_after(monkeypatch, 0)
    asked: list[Any] = []
    monkeypatch.setattr(learn, "cuts_instead", lambda *arguments: asked.append(arguments))
    model = AnalyticDAG(loss="likelihood-nv", n_jobs=1)
    with pytest.warns(NotConvergedWarning), pytest.raises(KeyboardInterrupt):
        model.fit(discrete("yes/no"))
    assert model.status_ is Status.INTERRUPTED
    assert not asked


def test_an_interrupt_while_cuts_are_searched_keeps_the_graph_of_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = refine

    def interrupted(*arguments: Any) -> Any:
        finished, record = search(*arguments)
        return finished, replace(record, interrupted=True)

    monkeypatch.setattr(readings, "refine", interrupted)
    model = AnalyticDAG(loss="likelihood-nv")
    with pytest.warns(NotConvergedWarning), pytest.raises(KeyboardInterrupt):
        model.fit(discrete("yes/no"))
    assert model.status_ is Status.INTERRUPTED
    assert model.edges_
