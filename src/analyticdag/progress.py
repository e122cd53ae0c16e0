"""What happens during a fit, as events; whoever listens decides how to show them.

An event is the message of a log record: `logger.info(StageEnds(...))`. A log prints its text, the
bar of the command line reads its numbers. The end of a stage is at INFO, what happens inside one
at DEBUG.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["StageBegins", "StageEnds", "Step"]


@dataclass(frozen=True)
class StageBegins:
    """A stage of the path begins; stages are counted from 1."""

    stage: int
    n_stages: int

    def __str__(self) -> str:
        return f"stage {self.stage} of {self.n_stages} begins"


@dataclass(frozen=True)
class Step:
    """One step of Adam or one sweep over the columns; `limit` is reached only if `exact`."""

    word: str
    number: int
    limit: int
    objective: float
    h: float | None = None
    exact: bool = True

    def __str__(self) -> str:
        h = "" if self.h is None else f" h={self.h:.3g}"
        most = "" if self.exact else "at most "
        return f"{self.word} {self.number} of {most}{self.limit}: objective={self.objective:.6g}{h}"


@dataclass(frozen=True)
class StageEnds:
    """A stage of the path is over."""

    stage: int
    n_stages: int
    mu: float
    s: float
    objective: float
    h: float
    n_steps: int
    reason: str

    def __str__(self) -> str:
        return (
            f"stage {self.stage} of {self.n_stages}: mu={self.mu:g} s={self.s:g} "
            f"objective={self.objective:.6g} h={self.h:.3g} after {self.n_steps} steps: "
            f"{self.reason}"
        )
