"""What is run after the lines of a case, and which promises are then checked.

Each call is written twice: as the source that a reproduction prints, and as the function that
judges it.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz import command, kills, snapshot, tamper
from fuzz.case import PRELUDE, Case, Outcome, Violation, place_of, set_up
from fuzz.promises import judge_error, judge_fit, judge_same, judge_warnings

Names = dict[str, Any]


def fit(names: Names) -> str:
    """Fit a table, score it, and use what was fitted."""
    model = names["Model"](**names["options"])
    knowledge = model.knowledge
    model.fit(names["X"], **names["extra"])
    judge_fit(model, knowledge)
    _refuse_masked(names)
    if "plain" in names:
        again = clone(model).set_params(checkpoint=None)
        judge_same(model, again.fit(names["plain"], **names["extra"]))
    score = model.score(names["X"])
    if not np.isfinite(score):
        raise Violation("not finite", f"score = {score}", "score")
    _use(model, names["X"])
    return "fitted"


def _use(model: Any, X: Any) -> None:
    """Do what users do with a fitted model; it may refuse, in its own words."""
    first = next(iter(model.graph_), None)
    for use in (
        lambda: getattr(model, "ladder_", None),
        lambda: model.predict(X),
        lambda: model.sample(3, seed=0),
        lambda: model.intervene({first: 1.0}),
        model.edges_frame,
        model._repr_html_,
    ):
        try:
            use()
        except Exception as error:
            judge_error(error)


def fit_covariance(names: Names) -> str:
    """Fit a covariance."""
    model = names["Model"](**names["options"])
    model.fit_covariance(names["S"], **names["extra"])
    judge_fit(model, model.knowledge)
    _refuse_masked(names)
    return "fitted"


def resample(names: Names) -> str:
    """Refit on resamples."""
    from analyticdag.stability import bootstrap

    found = bootstrap(names["Model"](**names["options"]), names["X"], **names["extra"])
    _refuse_masked(names)
    for name in ("edge_frequency", "direction_frequency", "skeleton_frequency"):
        share = getattr(found, name)
        if not np.all((share >= 0) & (share <= 1)):
            raise Violation("not finite", f"{name} = {share}", name)
    found.consensus_dag()
    return "fitted"


def _refuse_masked(names: Names) -> None:
    if names.get("must_refuse"):
        raise Violation("misread", "masked values were taken for data", "mask")


CALLS: dict[str, tuple[str, Callable[[Names], str]]] = {
    "fit": ("model = Model(**options).fit(X, **extra); model.score(X)", fit),
    "fit_covariance": ("Model(**options).fit_covariance(S, **extra)", fit_covariance),
    "resample": (
        "from analyticdag.stability import bootstrap; bootstrap(Model(**options), X, **extra)",
        resample,
    ),
    "command": ("from fuzz.command import show; show(locals())", command.judged),
    "load": ("from fuzz.tamper import load; load(locals())", tamper.load),
    "resume": ("from fuzz.tamper import resume; resume(locals())", tamper.resume),
    "kill": ("from fuzz.kills import kill; kill(locals())", kills.kill),
}
_INPUTS = ("X", "S", "plain")


def program(case: Case) -> str:
    """Return the case as a program that can be run in an empty folder."""
    return "\n".join([PRELUDE + "\n".join(case.lines), CALLS[case.call][0], ""])


def run(case: Case) -> Outcome:
    """Run a case in an empty folder of its own and say what came of it."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        try:
            return _judged(case)
        finally:
            os.chdir(home)


def _judged(case: Case) -> Outcome:
    try:
        status = _run(case)
        if Path("EXECUTED").exists():
            raise Violation("executed", "code from data was run")
    except Violation as violation:
        return violation.outcome()
    except Exception as error:  # of the campaign's own, outside the call that is judged
        return Unbuildable(f"{type(error).__name__}: {error}").outcome()
    return Outcome(status)


def _run(case: Case) -> str:
    try:
        names = set_up(case)
    except Exception as error:
        if not place_of(error):
            return _unbuildable(error)
        return f"refused: {judge_error(error)}"
    before = {name: snapshot.of_value(names[name]) for name in _INPUTS if name in names}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            status = CALLS[case.call][1](names)
        except Violation:
            raise
        except Exception as error:
            status = f"refused: {judge_error(error)}"
    judge_warnings(caught)
    for name, value in before.items():
        if snapshot.of_value(names[name]) != value:
            raise Violation("changed input", f"{name} is not what it was", name)
    return status


def _unbuildable(error: Exception) -> str:
    raise Unbuildable(f"{type(error).__name__}: {error}")


class Unbuildable(Violation):
    """The generator wrote a program that does not run: a mistake of the campaign."""

    def __init__(self, message: str) -> None:
        super().__init__("unbuildable", message, message[:80])

    def outcome(self) -> Outcome:
        """Return it as data."""
        return Outcome("unbuildable", self.kind, self.place, str(self))
