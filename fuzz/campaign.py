"""Which cases are left, the log of those that are done, and the counts.

The log belongs to one state of the package and of the generators (a digest of both) and to one
seed. A campaign that was stopped goes on; after any change of the code it begins anew.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import analyticdag
from fuzz.calls import program
from fuzz.case import Case, Outcome
from fuzz.families import COUNTS, LIMITS, drawn
from fuzz.pool import Answer, Pool, Request
from fuzz.shrink import shrink

_SHOWN = 30  # reproductions at the end of a run
_FEW = {"hang": 3, "crash": 20}  # runs of the shrinker for what takes long


def digest() -> str:
    """Return eight letters for the state of the package and of the campaign."""
    found = hashlib.sha256()
    for folder in (Path(analyticdag.__file__).parent, Path(__file__).parent):
        for file in sorted(folder.rglob("*.py")):
            found.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return found.hexdigest()[:8]


@dataclass(frozen=True)
class Log:
    """One line for every case that is done."""

    path: Path

    def entries(self) -> list[dict[str, Any]]:
        """Return what is done; a line that a kill cut off is not."""
        if not self.path.exists():
            return []
        lines = self.path.read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def add(self, answer: Answer) -> None:
        """Note an answer."""
        assert answer.request.name is not None
        _, family, number = answer.request.name
        entry = {"family": family, "number": number, "seconds": round(answer.seconds, 3)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**entry, **asdict(answer.outcome)}) + "\n")


def wanted(budget: float, families: list[str]) -> dict[str, int]:
    """Return how many cases of each family a budget asks for."""
    return {family: max(1, round(budget * COUNTS[family])) for family in families}


def run(
    log: Log,
    wanted: dict[str, int],
    seed: int,
    pool: Pool,
    deadline: float,
    tell: Callable[[str], None],
) -> None:
    """Run what is left, until the deadline; print a reproduction of each new violation."""
    done = {(entry["family"], entry["number"]) for entry in log.entries()}
    known = {(e["kind"], e["place"]) for e in log.entries() if e["kind"]}
    left = [
        Request((seed, family, number), LIMITS[family])
        for family, count in wanted.items()
        for number in range(count)
        if (family, number) not in done
    ]
    fresh: list[Answer] = []
    for answer in pool.run(_until(left, deadline)):
        log.add(answer)
        if answer.outcome.is_violation and answer.outcome.identity not in known:
            known.add(answer.outcome.identity)
            fresh.append(answer)
            tell(f"violation: {answer.outcome.kind} {answer.outcome.place} {answer.request.name}")
    for answer in fresh[:_SHOWN]:
        tell(reproduction(answer, pool))


def _until(requests: list[Request], deadline: float) -> Iterator[Request]:
    for request in requests:
        if time.monotonic() > deadline:
            return
        yield request


def reproduction(answer: Answer, pool: Pool) -> str:
    """Return the smallest program with the same violation."""
    assert answer.request.name is not None
    seed, family, number = answer.request.name

    def again(case: Case) -> Outcome:
        return pool.ask(Request(None, LIMITS[family], case)).outcome

    most = 12 if family == "kills" else _FEW.get(answer.outcome.kind, 120)
    case = answer.case or drawn(seed, family, number)
    case, outcome = shrink(case, answer.outcome, again, most)
    return (
        f"# {outcome.kind}: {outcome.message[:300]!r} {outcome.place}\n"
        f"# python -m fuzz case {family} {number} --seed {seed}\n{program(case)}"
    )


def counts(log: Log) -> dict[str, Any]:
    """Return the outcomes of each family, counted."""
    # Two commands that ran side by side may have done a case twice: it is one case, and a
    # violation if it was one once.
    listed = sorted(log.entries(), key=lambda entry: bool(entry["kind"]))
    entries = {(entry["family"], entry["number"]): entry for entry in listed}.values()
    found: dict[str, Any] = {}
    for family in COUNTS:
        mine = [entry for entry in entries if entry["family"] == family]
        found[family] = {
            "cases": len(mine),
            "violations": sum(entry["status"] in ("violation", "unbuildable") for entry in mine),
            "hangs": sum(entry["kind"] == "hang" for entry in mine),
            "raw_exceptions": sum(entry["kind"] == "raw exception" for entry in mine),
            "seconds": round(sum(entry["seconds"] for entry in mine)),
            "outcomes": dict(Counter(_outcome(entry) for entry in mine).most_common()),
        }
    return found


def _outcome(entry: dict[str, Any]) -> str:
    return f"{entry['kind']}: {entry['place']}" if entry["kind"] else str(entry["status"])
