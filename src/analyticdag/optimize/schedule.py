"""How mu and s shrink: a schedule is a sequence of stages, each a problem of its own.

Stage problem: mu·[loss(W) + lambda1·‖W‖₁] + h(W), with h = tr f(A/s) - c0·d. A small mu makes the
constraint weigh more; a small s makes its domain smaller. Each stage starts where the last ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analyticdag._parameters import whole
from analyticdag.errors import ParameterError


@dataclass(frozen=True)
class Stage:
    """One stage: its weights of loss and domain, and when to stop.

    `tol` is the relative change of the objective between two checks below which the stage is
    done for Adam; `max_steps` limits its steps, and the sweeps of the exact minimiser, those of
    all its rounds together.
    """

    mu: float
    s: float = 1.0
    max_steps: int = 30_000
    tol: float = 1e-6

    def __post_init__(self) -> None:
        check_positive("mu", self.mu)
        check_positive("s", self.s)
        check_positive("tol", self.tol)
        whole("max_steps", self.max_steps, 1)


@dataclass(frozen=True)
class Schedule:
    """The stages of a path, in order."""

    stages: Sequence[Stage]

    def __post_init__(self) -> None:
        stages: Iterable[Stage] = self.stages
        object.__setattr__(self, "stages", tuple(stages))
        if not self.stages:
            raise ParameterError("a schedule needs at least one stage")
        for stage in self.stages:
            if not isinstance(stage, Stage):
                raise ParameterError(f"a schedule is made of Stage objects, not {stage!r}")

    @classmethod
    def paper(cls) -> Schedule:
        """Return the paper's preset, which is DAGMA's: five stages, 3e4 steps (last: 6e4)."""
        return cls.geometric(
            s=(1.0, 0.9, 0.8, 0.7, 0.6), max_steps=30_000, last_steps=60_000, tol=1e-6
        )

    @classmethod
    def gentle(cls) -> Schedule:
        """Return the preset of the exact minimiser: the paper's path with stages in between.

        After mu has fallen, the column that is visited first loses its part of every cycle. With
        smaller steps of mu fewer directions are decided in this way, and each stage starts closer
        to its end.
        """
        halves = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
        return cls([Stage(mu=10.0**-k, s=1.0 - 0.1 * k) for k in halves])

    @classmethod
    def geometric(
        cls,
        *,
        s: Sequence[float],
        mu: float = 1.0,
        factor: float = 0.1,
        max_steps: int = 30_000,
        last_steps: int | None = None,
        tol: float = 1e-6,
    ) -> Schedule:
        """Return one stage per value of s, with mu multiplied by `factor` from stage to stage."""
        if not isinstance(s, Iterable):
            raise ParameterError(f"s must be a list with one number for each stage, not {s!r}")
        stages = [Stage(mu * factor**k, value, max_steps, tol) for k, value in enumerate(s)]
        if stages and last_steps is not None:
            stages[-1] = replace(stages[-1], max_steps=last_steps)
        return cls(stages)

    def with_steps(self, max_steps: int) -> Schedule:
        """Return the same schedule with at most `max_steps` steps in every stage."""
        return Schedule([replace(stage, max_steps=max_steps) for stage in self.stages])


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a positive number."""
    if not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise ParameterError(f"{name} must be a positive number, not {value!r}")
