"""Losses x solvers x refine x constraints, every member: each fits, or says in a line why not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pytest
from minimisers import MINIMISERS, Slope

from analyticdag import AnalyticDAG
from analyticdag.errors import ParameterError
from analyticdag.functions import Exponential, Inverse, Truncated, as_function
from analyticdag.linear import FixedBy
from analyticdag.losses import LOSSES, LeastSquares, LossTraits, loss_traits
from analyticdag.optimize.path import Traits, traits_of
from analyticdag.optimize.schedule import Schedule
from analyticdag.simulate import simulate

SHORT = Schedule.geometric(s=[1.0, 0.8], max_steps=20)
X = simulate("ER1", n_nodes=4, n_samples=60, seed=2).data


@dataclass(frozen=True, eq=False)
class Untold:
    """A user's loss that says nothing about itself: least squares, with only the three methods."""

    S: Any

    def value(self, W: Any) -> float:
        return LeastSquares(self.S).value(W)

    def gradient(self, W: Any) -> Any:
        return LeastSquares(self.S).gradient(W)

    def value_and_gradient(self, W: Any) -> tuple[float, Any]:
        return self.value(W), self.gradient(W)


class Equal(Untold):
    """One that says what it is."""

    traits: ClassVar[LossTraits] = LossTraits(score="equal", variances="unit")


class Unequal(Untold):
    """One whose search has another score, and so another label."""

    traits: ClassVar[LossTraits] = LossTraits("own", "my own", score="unequal", variances="each")


class Huber:
    """One that needs the rows: large residuals count less."""

    traits: ClassVar[LossTraits] = LossTraits(needs_rows=True, reads_scales=True)

    def __init__(self, X: Any) -> None:
        self.X = X - X.mean(axis=0)

    def value(self, W: Any) -> float:
        return self.value_and_gradient(W)[0]

    def gradient(self, W: Any) -> Any:
        return self.value_and_gradient(W)[1]

    def value_and_gradient(self, W: Any) -> tuple[float, Any]:
        left = self.X - self.X @ W
        root = np.sqrt(1.0 + left**2)
        return float((root - 1.0).sum()) / len(left), -self.X.T @ (left / root) / len(left)


class ShortSlope(Slope):
    """A minimiser of a user's own, on a short path."""

    traits = Traits(schedule=SHORT)


# A new member is tested by being added to these.
EVERY_LOSS: dict[str, Any] = {
    **{name: name for name in ("auto", *LOSSES)},
    **{loss.__name__: loss for loss in (Untold, Equal, Unequal, Huber)},
}
EVERY_SOLVER: dict[str, Any] = {
    **{name: name for name in ("auto", "fast", "order")},
    **{
        name: ShortSlope() if isinstance(one, Slope) else replace(one, schedule=SHORT)  # type: ignore[type-var]
        for name, one in MINIMISERS.items()
    },
}
CONSTRAINTS = ["exponential", "order-1", "order-3", Inverse() ** 2 + Exponential(), "cut"]
CUT = Truncated(Inverse(), 4)


def why_not(loss: Any, solver: Any, refine: bool, constraint: Any) -> str:
    """What has to be refused, by what the parts say about themselves."""
    traits = LossTraits(score="equal", variances="each") if loss == "auto" else loss_traits(loss)
    able = traits_of(MINIMISERS["columns"] if isinstance(solver, str) else solver)
    if traits.binary and (solver == "order" or not able.any_loss):
        return "is for the path of Adam"
    if refine and traits.score is None and not traits.binary:
        return "cannot be refined"
    if solver != "order" and not able.any_loss and traits.variances is None:
        return "does not say that it is least squares"
    if solver == "order" and not refine:
        return "nothing to do"
    if solver != "order" and able.objection(as_function(constraint)):
        return "a polynomial outside of it"
    return ""


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
@pytest.mark.parametrize("solver", EVERY_SOLVER)
@pytest.mark.parametrize("loss", EVERY_LOSS)
def test_every_combination_fits_or_is_refused_in_a_line(loss: str, solver: str) -> None:
    if (loss, solver) == ("logistic", "auto"):
        pytest.skip("all of Adam's path, which is long: tests/linear/test_mixed.py")
    table = (X.mean(axis=0) < X).astype(float) if loss == "logistic" else X
    for refine in (True, False):
        for constraint in (*CONSTRAINTS[:-1], CUT):
            model = AnalyticDAG(
                loss=EVERY_LOSS[loss],
                solver=EVERY_SOLVER[solver],
                refine=refine,
                constraint=constraint,
                w_threshold=0.1,
            )
            message = why_not(EVERY_LOSS[loss], EVERY_SOLVER[solver], refine, constraint)
            if message:
                with pytest.raises(ParameterError, match=message) as caught:
                    model.fit(table)
                assert "\n" not in str(caught.value)
            else:
                check(model.fit(table), loss)


def check(model: AnalyticDAG, loss: str) -> None:
    """A DAG, and labels that agree with the score it was searched with."""
    assert nx.is_directed_acyclic_graph(model.graph_)
    traits = model.loss_traits_
    if loss != "auto":
        assert traits == loss_traits(EVERY_LOSS[loss])
    assert model.loss_ == traits.name
    by_method = {edge.fixed_by for edge in model.edges_} & {
        FixedBy.EQUAL_VARIANCES,
        FixedBy.NOTHING,
    }
    assert by_method <= {FixedBy(traits.fixed_by)}
    for record in model.trace_.search:
        assert record.loss in (traits.name, "likelihood-ev", "likelihood-nv")
    if model.trace_.search:
        assert (traits.score == "equal") == (traits.fixed_by == "equal variances")


@pytest.mark.parametrize(("loss", "twin"), [("Equal", "mse"), ("Unequal", "likelihood-nv")])
def test_a_users_loss_is_searched_with_the_score_that_it_names(loss: str, twin: str) -> None:
    """Before, every loss with a strange name was searched with the score of equal variances."""
    own, ours = (AnalyticDAG(loss=EVERY_LOSS[name], solver="order").fit(X) for name in (loss, twin))
    np.testing.assert_array_equal(own.weights_, ours.weights_)
    assert [e.fixed_by for e in own.edges_] == [e.fixed_by for e in ours.edges_]


def test_traits_cannot_contradict_each_other() -> None:
    with pytest.raises(ParameterError, match="reads_scales=False contradicts score='equal'"):
        LossTraits(score="equal", reads_scales=False)
    with pytest.raises(ParameterError, match="reads_scales=True contradicts score='unequal'"):
        LossTraits(score="unequal", reads_scales=True)
    with pytest.raises(ParameterError, match="score must be"):
        LossTraits(score="bic")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="variances must be"):
        LossTraits(variances="own")  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", [3, "hinge", LeastSquares(np.eye(4)), int, None])
def test_what_is_no_class_of_losses_is_refused(loss: Any) -> None:
    with pytest.raises(ParameterError, match=r"loss must be one of .* or a class of losses"):
        AnalyticDAG(loss=loss).fit(X)
