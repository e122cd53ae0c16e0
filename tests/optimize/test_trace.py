"""Trace and status: outcomes are data, and their text is advice."""

from __future__ import annotations

import json

import pytest

from analyticdag.optimize.trace import STATUS_OF_STOP, Status, Stop, Trace, TraceRecord


def record(stage: int, step: int, reason: Stop | None) -> TraceRecord:
    return TraceRecord(stage, step, 1.0, 1.0, 1.2, 3.0, 2.0, 1.0, 0.5, 0.25, reason)


def test_stages_are_the_records_that_closed_one() -> None:
    trace = Trace().extended([record(0, 10, None), record(0, 20, Stop.TOLERANCE)])
    trace = trace.extended([record(1, 5, Stop.MAX_STEPS)])
    assert len(trace) == 3
    assert [(r.stage, r.step) for r in trace.stages()] == [(0, 20), (1, 5)]
    assert [r.step for r in trace] == [10, 20, 5]


def test_records_are_plain_data() -> None:
    trace = Trace((record(0, 1, None), record(0, 2, Stop.TOLERANCE)))
    rows = json.loads(json.dumps(trace.to_dicts()))
    assert rows[0]["reason"] is None
    assert rows[1]["reason"] == Stop.TOLERANCE.value
    assert rows[0]["s_used"] == 1.2
    assert tuple(TraceRecord.from_dict(row) for row in rows) == trace.records


def test_every_stop_has_a_status() -> None:
    assert set(STATUS_OF_STOP) == set(Stop)


@pytest.mark.parametrize("status", Status)
def test_every_status_that_is_not_success_says_what_to_do(status: Status) -> None:
    advice = ("raise", "pass a", "add a stage", "use a larger", "rescale", "fit again")
    assert status.value.endswith("nothing to do") or any(word in status.value for word in advice)


def test_only_a_met_tolerance_counts_as_converged() -> None:
    assert {s for s in Status if s.converged} == {
        Status.CONVERGED,
        Status.CYCLES_LEFT,
        Status.SEARCHED,
        Status.CLASS_FOUND,
    }
