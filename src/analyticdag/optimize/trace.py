"""What happened during a fit, as data: records, why a stage stopped, and the status of the result.

A `Trace` holds one `TraceRecord` at the end of every stage, and one every k steps where the
minimiser was asked to (`Adam(record_every=k)`). A `Status` is the outcome; its value says what to
do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import Any, Self


class Stop(Enum):
    """Why a stage stopped."""

    TOLERANCE = "the objective changed by less than the tolerance"
    MAX_STEPS = "all steps were used while the objective was still changing"
    NO_STEP_LEFT = "the step length shrank to nothing at the edge of the domain"
    NOT_FINITE = "the objective became infinite or NaN"


class Status(Enum):
    """How a fit ended, and what to do."""

    CONVERGED = "the last stage met its tolerance and left no cycle; nothing to do"
    MAX_STEPS = (
        "the last stage used all its steps while the objective was still changing; raise "
        "max_steps (in the schedule where there is one), or tol if this is accurate enough"
    )
    CYCLES_LEFT = (
        "the last stage met its tolerance but its weights still held a cycle, so the weakest "
        "edges on cycles were dropped (see removed_edges_); add a stage with a smaller mu, or "
        "raise lambda1 or w_threshold"
    )
    SEARCHED = (
        "the best graph of the order search, from every start in trace_.search (from others, by "
        "random_state, it may end elsewhere); nothing to do"
    )
    CLASS_FOUND = (
        "the best graph of the order search, from every start in trace_.search; the data fix the "
        "equivalence class, cpdag_, and graph_ is one member of it: edges_ says which directions "
        "are not fixed; pass a Knowledge(...) to fix them"
    )
    INTERRUPTED = (
        "interrupted (Ctrl-C) while the search went on: this is the best graph so far; fit again, "
        "with a smaller effort if it takes too long"
    )
    STEP_VANISHED = (
        "the step length shrank to nothing at the edge of the constraint's domain; use a larger s "
        "in the schedule, or Adam(on_leaving='reset')"
    )
    DIVERGED = (
        "the objective became infinite or NaN; rescale the columns, raise lambda1, or lower the "
        "learning rate"
    )

    @property
    def converged(self) -> bool:
        """Whether the fit ended as it should: at its tolerance, or with the best graph found."""
        return self in (Status.CONVERGED, Status.CYCLES_LEFT, Status.SEARCHED, Status.CLASS_FOUND)


STATUS_OF_STOP = {
    Stop.TOLERANCE: Status.CONVERGED,
    Stop.MAX_STEPS: Status.MAX_STEPS,
    Stop.NO_STEP_LEFT: Status.STEP_VANISHED,
    Stop.NOT_FINITE: Status.DIVERGED,
}


@dataclass(frozen=True)
class TraceRecord:
    """The state of a run after `step` steps of a stage.

    `s` is what the schedule asked for and `s_used` what the constraint was evaluated with: larger
    when the weights had left the domain. The gradient norms are Frobenius norms, of the loss
    without mu. `reason` is None while the stage is still running.
    """

    stage: int
    step: int
    mu: float
    s: float
    s_used: float
    objective: float
    loss: float
    h: float
    loss_gradient_norm: float
    constraint_gradient_norm: float
    reason: Stop | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain numbers and text, as JSON can hold them."""
        record = asdict(self)
        record["reason"] = None if self.reason is None else self.reason.value
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read a record back from `to_dict`."""
        reason = record["reason"]
        return cls(**{**record, "reason": None if reason is None else Stop(reason)})


@dataclass(frozen=True)
class SearchRecord:
    """A search: which start won, and what each start led to (smaller scores are better).

    `price` is what the score charges for an edge, log n + 4·gamma·log d. No edge has a partial
    correlation below `min_effect`. `returns` says from how many starts the search came to its best
    score.
    """

    loss: str
    score: float
    start: str
    price: float
    contributions: tuple[dict[str, Any], ...] = field(compare=False)  # they may hold times
    gamma: float = 0.0
    min_effect: float = 0.0
    returns: int = 0
    interrupted: bool = False  # by Ctrl-C: the best so far

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data, as JSON can hold it."""
        return asdict(self)


@dataclass(frozen=True)
class Trace:
    """Every record of a run, in order: of the path, then of the search.

    `start` names where the path began: "zero", "variance" (parents sorted by variance), "given",
    or "series" (where the path of the lambda1 before ended). `plan` says what `solver="auto"` did,
    and why; it is empty with other solvers.
    """

    records: tuple[TraceRecord, ...] = ()
    search: tuple[SearchRecord, ...] = ()
    start: str = ""
    plan: str = ""

    def __repr__(self) -> str:
        told = [self.plan] if self.plan else []
        for one in self.search:
            told.append(f"{one.loss}: best score {one.score:.6g}, reached {one.returns} times")
        if stages := self.stages():
            told.append(f"path: {len(stages)} stages from {self.start}, h={stages[-1].h:.3g}")
        return f"Trace({'; '.join(told) or 'empty'})"

    def __iter__(self) -> Iterator[TraceRecord]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def edge_price(self, loss: str) -> float:
        """Return what an edge had to be worth in the search under a loss; zero without one."""
        return next((record.price for record in self.search if record.loss == loss), 0.0)

    def gamma(self, loss: str) -> float | None:
        """Return the extended BIC's gamma in the search under a loss; None without one."""
        return next((record.gamma for record in self.search if record.loss == loss), None)

    def min_effect(self, loss: str) -> float | None:
        """Return the floor on effects in the search under a loss; None without one."""
        return next((record.min_effect for record in self.search if record.loss == loss), None)

    def stages(self) -> tuple[TraceRecord, ...]:
        """Return the record that closed each stage."""
        return tuple(record for record in self.records if record.reason is not None)

    def extended(self, records: Iterable[TraceRecord]) -> Trace:
        """Return a trace with more records at its end."""
        return replace(self, records=(*self.records, *records))

    def searched(self, search: Iterable[SearchRecord]) -> Trace:
        """Return a trace that goes on with these searches."""
        return replace(self, search=tuple(search))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the records of the path as plain mappings, a table row each."""
        return [record.to_dict() for record in self.records]
