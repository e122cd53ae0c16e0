"""``fit --model linear | nonlinear | auto``: which estimator, and why.

"auto" fits straight lines first. Where the diagnostics find that the noise depends on the causes
on too many edges, lines do not tell the story, and networks are fitted as well.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyticdag import AnalyticDAG, NonlinearDAG
from analyticdag.diagnostics import Level, diagnose
from analyticdag.errors import MissingDependencyError, ParameterError
from analyticdag.io import Table
from analyticdag.knowledge import Knowledge
from analyticdag.linear.options import solver_with

MODELS = ("linear", "nonlinear", "auto")
# Parameters of a fit that networks have too; the others are for lines only.
_SHARED = ("constraint", "lambda1", "w_threshold", "refine", "random_state")
_NEVER_MIND = ("n_jobs",)  # processes change no result
# Networks of more columns take more than minutes: who wants that says so.
MOST_COLUMNS = 50


@dataclass(frozen=True)
class FitPlan:
    """What a command is to fit: a model, parameters of the linear estimator, steps, a refit."""

    model: str
    parameters: Mapping[str, Any]
    max_steps: int | None
    refit: bool
    keep_rows: bool = True

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells this plan from another one that would give other results."""
        return self.model, self.max_steps, sorted(self.parameters.items())

    def fit(
        self, table: Table, known: Knowledge | None, checkpoint: Path | None
    ) -> tuple[AnalyticDAG | NonlinearDAG, str]:
        """Return the fitted estimator and, for "auto", why it was taken."""
        if self.model == "nonlinear":
            if table.has_gaps:
                raise ParameterError(
                    "--model nonlinear cannot learn from rows with gaps; use --missing drop, or "
                    "--model linear"
                )
            return self._networks(known, checkpoint).fit(table.columns), ""
        lines = self._lines(known, checkpoint).fit(table.data, interventions=table.targets)
        if self.model == "linear":
            return lines, ""
        curved, reason = judged(lines, table)
        if not curved:
            return lines, reason
        # The checkpoint is that of the lines: after a kill they are there at once.
        return self._networks(known, None).fit(table.columns), reason

    def unused(self, fitted: Any) -> str:
        """Return a sentence about options that the fitted networks do not have, or nothing."""
        names = [name for name in self.parameters if name not in (*_SHARED, *_NEVER_MIND)]
        if not names or not hasattr(fitted, "variance_"):
            return ""
        options = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        return f"{options}: for the linear model only, not used for the nonlinear one"

    def _lines(self, known: Knowledge | None, checkpoint: Path | None) -> AnalyticDAG:
        given = dict(self.parameters)
        # A search takes no steps: beside "auto" they are those of the networks.
        networks_only = self.model == "auto" and given.get("solver") == "order"
        steps = None if networks_only else self.max_steps
        given["solver"] = solver_with(
            given.get("solver"), max_steps=steps, start=given.pop("start", None)
        )
        return AnalyticDAG(**given, knowledge=known, verbose=1, checkpoint=checkpoint)

    def _networks(self, known: Knowledge | None, checkpoint: Path | None) -> NonlinearDAG:
        """Return DAGMA's network, which takes seconds where GraN-DAG takes minutes."""
        return NonlinearDAG(
            model="mlp",
            **{name: value for name, value in self.parameters.items() if name in _SHARED},
            max_steps=self.max_steps,
            knowledge=known,
            verbose=1,
            checkpoint=checkpoint,
        )


def check_model(model: str, *, interventions: bool) -> None:
    """Refuse, before any work, a model that is unknown or cannot be had here."""
    if model not in MODELS:
        raise ParameterError(f"--model must be one of {', '.join(MODELS)}, not {model!r}")
    if model == "nonlinear" and interventions:
        raise ParameterError(
            "--model nonlinear cannot use --interventions; use --model linear, or leave the "
            "perturbed rows out"
        )
    if model == "nonlinear" and not _has_torch():
        raise MissingDependencyError("torch", "nonlinear")


def judged(lines: AnalyticDAG, table: Table) -> tuple[bool, str]:
    """Return whether networks are wanted after a fit of lines, and the sentence that says why."""
    if table.targets is not None:
        return False, "linear, because only the linear model uses interventions"
    if table.summed is not None:
        return False, "linear, because the rows of a large table are only added up"
    if table.has_gaps:
        return False, "linear, because only the linear model learns from rows with gaps"
    check = diagnose(lines, table.columns, refit=False)["residual independence"]
    if check.level is not Level.WARNING:
        return False, "linear, because at most one edge in ten shows curvature or changing spread"
    share = f"{check.numbers['share']:.0%}"
    seen = f"under the linear one the noise depends on the cause on {share} of the edges"
    if len(table.names) > MOST_COLUMNS:
        many = f"{len(table.names)} columns would take long, and --model nonlinear does it anyway"
        return False, f"linear, although {seen}: {many}"
    if not _has_torch():
        return False, f"linear, although {seen}: {MissingDependencyError('torch', 'nonlinear')}"
    return True, f"nonlinear, because {seen}"


def _has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None
